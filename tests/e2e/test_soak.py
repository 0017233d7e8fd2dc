"""A soak: builds go on, the server comes and goes, one process watches all the time and others ingest in
a loop, under the sanitizers (or valgrind, where they are not built in). No leak, no growth, nothing lost.

BR2_SOAK_SECONDS says how long; 180 by itself. BR2_SEED=n repeats the builds and the server's absences."""
import contextlib
import os
import random
import signal
import subprocess
import time

import pytest

import harness
from harness import dump, value
from soak import INSTANCE, Builds, Coming, Held, watched
from test_watch import Watcher

SECONDS = int(os.environ.get('BR2_SOAK_SECONDS', 180))
SEED = int(os.environ.get('BR2_SEED', 1))
# What is freed is kept for a while by the sanitizer, to find uses of it; less of it shows growth sooner.
SANITIZER = 'quarantine_size_mb=4:' + os.environ.get('ASAN_OPTIONS', '')
GROWN_KIB, GROWN = 8 << 10, 1.15 # what is flat: between the second quarter of the time and the last
LOGS, OTHERS = 256, 16 # descriptors of --watch: of logs, at most, and others
PAUSE_S = 0.3 # between ingests
SERVER_TROUBLE = 2


class Loop:
    """Ingests one after the other, into a database of their own; some are killed."""

    def __init__(self, br2, folder, builds, coming):
        self.br2, self.builds, self.coming = br2, builds, coming
        self.db, self.said = folder / 'loop.db', folder / 'loop.said'
        self.rng = random.Random(SEED)
        self.codes, self.peaks, self.killed = {}, [], False

    def start(self):
        with open(self.said, 'wb') as said:
            command = [*harness.pairs.PEAK, *self.br2.prefix, self.br2.binary, self.builds.root, '--db', self.db,
                       *where(self.coming)]
            return subprocess.Popen(command, cwd=self.br2.home, env=self.br2.environment({'ASAN_OPTIONS': SANITIZER}),
                                    stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)

    def once(self):
        changes, away = self.coming.changes, self.coming.away
        # What one does not see, the next one does, before it is gone.
        killed = not self.killed and self.rng.random() < 0.05
        process, self.killed = self.start(), killed
        if killed:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.rng.random())
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        if not code:
            cost = harness.pairs.told(self.said.read_text())
            code = cost['code']
            self.peaks.append(cost['max_rss_bytes'] >> 10)
        self.check(code, killed, away or self.coming.changes != changes)

    def check(self, code, killed, trouble):
        """0; 2 where the server was away; a death by the hand of this test."""
        allowed = {0} | ({SERVER_TROUBLE} if trouble else set()) | ({-signal.SIGKILL} if killed else set())
        assert code in allowed, f'exit {code}\n{self.said.read_text()}'
        self.codes[code] = self.codes.get(code, 0) + 1


def where(coming):
    return ['--endpoint', coming.server.address, '--instance', INSTANCE, '--no-report']


def mend(br2, builds, coming, db):
    """What was not there when it was asked for is asked for again."""
    br2.run(builds.root, '--db', db, *where(coming), '--retry-missing')
    br2.run('check', '--integrity', '--db', db)


def is_flat(before, after):
    return after <= before * GROWN + GROWN_KIB


def soak(loop, held):
    """Rounds until the time is over. How many."""
    end, rounds = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        loop.builds.round()
        if not loop.coming.away:
            loop.coming.fill()
        loop.once()
        held.look()
        time.sleep(PAUSE_S)
        rounds += 1
        if rounds % 25 == 0:
            loop.br2.run('check', '--integrity', '--db', loop.db)
    loop.builds.end()
    loop.once()
    return rounds


@pytest.fixture
def under(br2, monkeypatch):
    """The program, so that its memory is watched."""
    monkeypatch.setenv('ASAN_OPTIONS', SANITIZER)
    return br2.under(*watched(br2.binary))


def tell(builds, coming, loop, held, rounds):
    share = f'{SECONDS} s, seed {SEED}'
    harness.figure('soak: ingests', rounds, f'{share}; exit codes {dict(sorted(loop.codes.items()))}')
    harness.figure('soak: builds', len(builds.logs), f'{len(builds.results)} results, {coming.starts} starts of the server')
    for what, which, unit in (('resident memory', 0, 'KiB'), ('descriptors', 1, 'open')):
        early, late = held.of(1, which), held.of(3, which)
        harness.figure(f'soak: {what} of --watch', late, f'{unit}, {early} in the second quarter of the time')
    harness.figure('soak: peak memory of an ingest', max(loop.peaks), 'KiB, sanitizer or valgrind included')


def test_nothing_grows_and_nothing_is_lost(under, tmp_path):
    builds = Builds(tmp_path, SEED)
    with Coming(tmp_path, builds.results, SEED) as coming:
        loop = Loop(under, tmp_path, builds, coming)
        with Watcher(under, tmp_path / 'watch.db', builds.root, *where(coming)) as watcher:
            held = Held(watcher.process.pid)
            rounds = soak(loop, held)
            coming.settle()
            # Whatever it waits for, it takes in now what it holds.
            assert watcher.end(signal.SIGTERM) == 0, watcher.text()
            assert value(watcher.db, 'SELECT count(*) FROM run WHERE complete') == len(builds.logs)
        tell(builds, coming, loop, held, rounds)
        for db in (loop.db, watcher.db):
            mend(under, builds, coming, db)
        builds.show_all()
        under.run(builds.root, '--db', tmp_path / 'clean.db', *where(coming))
    clean = dump(tmp_path / 'clean.db', without_files=True)
    assert value(tmp_path / 'clean.db', 'SELECT count(*) FROM result') > len(builds.logs)
    assert dump(loop.db, without_files=True) == clean
    assert dump(watcher.db, without_files=True) == clean
    assert is_flat(held.of(1, 0), held.of(3, 0)), held.samples
    assert held.of(3, 1) <= LOGS + OTHERS, held.samples
    assert len(loop.peaks) >= 8, 'too short a soak for its machine: see BR2_SOAK_SECONDS'
    quarter = len(loop.peaks) // 4
    assert is_flat(max(loop.peaks[quarter:2 * quarter]), max(loop.peaks[3 * quarter:])), loop.peaks
