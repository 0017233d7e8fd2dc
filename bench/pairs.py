"""What commands cost, ours and a peer's in turn, and what the pairs say.

Each pair runs ours and theirs one after the other, so that a busy machine slows
both. Only the ratios of the pairs mean something elsewhere.
"""
import json
import os
import subprocess
import sys
import textwrap
import time
from collections import namedtuple
from pathlib import Path

# What forks a command to measure it; peak.py says why.
PEAK = [sys.executable, '-I', '-S', Path(__file__).with_name('peak.py')]

# Seconds on the clock, and of CPU with all that it started.
Cost = namedtuple('Cost', 'wall cpu')


def cost(command, **popen):
    """Runs the command to its end; one that fails ends the bench."""
    started = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), **{'stdin': subprocess.DEVNULL, **popen})
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f'exit {process.returncode} of: {shown(command)}')
    return Cost(wall, usage.ru_utime + usage.ru_stime)


def shown(command):
    return textwrap.shorten(' '.join(map(str, command)), 400)


def told(said):
    """What PEAK said last on standard error: code, wall and cpu in seconds, max_rss_bytes."""
    return json.loads(said.splitlines()[-1])


def peaked(command, **popen):
    """(cost, peak of its memory in bytes)"""
    done = subprocess.run([*map(str, PEAK), *map(str, command)], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, **popen)
    of = told(done.stderr)
    if of['code']:
        raise SystemExit(f'exit {of["code"]} of: {shown(command)}\n{done.stderr}')
    return Cost(of['wall'], of['cpu']), of['max_rss_bytes']


def settled(measure):
    """What it costs when nothing that was written before still goes to the disk: that takes a core."""
    os.sync()
    return measure()


def rounds(count, *measures):
    """One round to warm up, then `count` rounds: the costs of all in turn."""
    return [tuple(map(settled, measures)) for _ in range(count + 1)][1:]


def paired(count, mine, theirs):
    """One pair to warm up, then `count` pairs of costs."""
    return rounds(count, mine, theirs)


def ratios(pairs, what='wall'):
    """Ours / theirs of each pair."""
    return [getattr(a, what) / getattr(b, what) for a, b in pairs]


def times_faster(pairs, what='wall'):
    """Theirs / ours of each pair."""
    return [1 / r for r in ratios(pairs, what)]


def beyond(pairs, what='wall'):
    """Ours less theirs of each pair, in milliseconds."""
    return [1000 * (getattr(a, what) - getattr(b, what)) for a, b in pairs]
