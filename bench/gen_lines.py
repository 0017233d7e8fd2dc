"""The JSON form of what gen_log.py makes: the lines of a recorded warm build, repeated with fresh values."""
import random
import re
import subprocess
from pathlib import Path

import template

SAMPLE = next((Path(__file__).parents[1] / 'tests/data/logs/encodings').glob('*_events.json-lines.zst'))
# What each copy makes anew: times, spans, hashes and tiny digests, and the recorded names of targets.
PARTS = re.compile(rb'"timestamp":\[(?P<seconds>\d+),\d+\]'
                   rb'|"(?P<key>span_id|parent_id)":(?P<span>[1-9]\d*)'
                   rb'|(?P<hash>(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f]))'
                   rb'|"tiny_digest":"(?P<tiny>[0-9a-f]{8})"'
                   rb'|"(?P<name>fetch)(?=["-])')
REMOTE = re.compile(rb'"RemoteCommand":\{"action_digest":"([0-9a-f]{64}):')
SPAN_STEP = 4096  # more than the recorded build has spans


def trace_id(rng):
    return '-'.join(rng.randbytes(n).hex() for n in (4, 2, 2, 2, 6)).encode()


def cut(line):
    """A line as the parts of a template; keys are pairs of a kind and what was found."""
    parts, at = [], 0
    for found in PARTS.finditer(line):
        parts += [line[at:found.start()], *part(found)]
        at = found.end()
    return [*parts, line[at:] + b'\n']


def part(found):
    """What stands for one recorded value."""
    if found['seconds']:
        return [b'"timestamp":[', ('seconds', int(found['seconds'])), b',', ('nanos', found.start(), found.string), b']']
    if found['span']:
        return [b'"%s":' % found['key'], ('span', int(found['span']))]
    if found['hash']:
        return [('hash', found['hash'])]
    if found['tiny']:
        return [b'"tiny_digest":"', ('tiny', found['tiny']), b'"']
    return [b'"', ('name', found['name'])]


def fresh(key, number, rng):
    """The value that stands for `key` in copy `number`."""
    kind, old = key[:2]
    if kind == 'seconds':
        return b'%d' % (old + number)
    if kind == 'nanos':
        return b'%d' % rng.randrange(1_000_000_000)
    if kind == 'span':
        return b'%d' % (old + number * SPAN_STEP)
    if kind == 'name':
        return b'f%04x' % (number & 0xffff)
    return rng.randbytes(len(old) // 2).hex().encode()


def is_repeated(line):
    """Spans of actions and what hangs on them: not the command's own, no instants, not the one that printed 600 KB."""
    return b'"data":{"Span' in line[:300] and b'"data":{"Command":' not in line[:300] and len(line) < 1 << 16


def render(seed):
    """Yields as gen_log.render() does."""
    first, *rest = subprocess.run(['zstd', '-dcq', SAMPLE], check=True, capture_output=True).stdout.splitlines()
    rng = random.Random(seed)
    old_trace = re.search(rb'[0-9a-f]{8}-[0-9a-f-]{27}', first).group()
    trace = trace_id(rng)
    first, *rest = [line.replace(old_trace, trace) for line in (first, *rest)]
    repeated = [is_repeated(line) for line in rest]
    begin, end = repeated.index(True), len(rest) - repeated[::-1].index(True)
    middle = template.Template(p for line, again in zip(rest, repeated) if again for p in cut(line))
    asked = {h for line, again in zip(rest, repeated) if again for h in REMOTE.findall(line)}
    hashes = [key for key in middle.keys if key[0] == 'hash' and key[1] in asked]
    enough = yield b''.join(line + b'\n' for line in [first, *rest[:begin]]), []
    number = 0
    while not enough:
        values = {key: fresh(key, number, rng) for key in middle.keys}
        enough = yield middle.fill(values), [values[h].decode() + ':141' for h in hashes]
        number += 1
    yield b''.join(line + b'\n' for line in rest[end:]), []
