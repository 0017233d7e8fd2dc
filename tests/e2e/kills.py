"""Killing the program at a chosen moment: at the nth call that changes a file, by way of
tests/tools/kill_at.c, which knows what lies inside COMMIT; and at a moment of its life."""
import collections
import random
import shutil
import signal
import sqlite3
import time
from pathlib import Path

import harness
from harness import dump

FOUND = ('SELECT digest, source, attempt_span_id FROM result JOIN lookup USING (lookup_id)'
         ' UNION ALL SELECT trace_id, span_id, NULL FROM action JOIN run USING (run_id)')
ROW = 3 # deaths in a row before the run that completes it


class Call:
    """One that changes a file."""

    def __init__(self, line):
        inside, self.name, self.file = line.split()
        self.in_commit = inside == 'COMMIT'

    @property
    def kind(self):
        """The step of a COMMIT that it is, or what else."""
        part = next((end for end in ('-journal', '-wal') if self.file.endswith(end)), '')
        return f'{self.name} {"COMMIT" if self.in_commit else "before"} {part[1:] or "file"}'


def preload(note=None, at=0, half=False):
    """Without a note: nobody dies, and nobody waits for the disk."""
    noted = {'BR2_KILL_NOTE': str(note), 'BR2_KILL_AT': str(at), **({'BR2_KILL_HALF': '1'} if half else {})}
    return harness.preload('BR2_KILL_AT_SO', **(noted if note else {}))


class Unsynced(harness.Program):
    """Nobody waits for the disk: for tests that only kill, and do so often."""

    def environment(self, extra):
        return super().environment({**preload(), **extra})


def files_of(db):
    return [Path(f'{db}{end}') for end in ('', '-journal', '-wal', '-shm')]


def remove(db):
    for path in files_of(db):
        path.unlink(missing_ok=True)


def start_anew(db, before=None):
    remove(db)
    if before:
        shutil.copyfile(before, db)


def sound(db):
    """SQLite's own two checks. The results and actions that it holds: to see them, a journal is played back first."""
    connection = sqlite3.connect(db)
    try:
        assert connection.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
        assert connection.execute('PRAGMA foreign_key_check').fetchall() == []
        tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'result'").fetchone()[0]
        return set(connection.execute(FOUND)) if tables else set()
    finally:
        connection.close()


class Victim:
    """A database, and a command on it that is killed and then run to its end."""

    def __init__(self, br2, folder, command, before=None, keeps=True):
        self.br2 = Unsynced(br2.binary, br2.home)
        self.folder, self.before, self.keeps = folder, before, keeps
        self.db, self.note = folder / 'br2.db', folder / 'note'
        self.command = [*command, '--db', self.db]
        self.kills, self.moments = 0, collections.Counter()
        self.begin()
        self.calls, self.seconds = self.trace()
        self.wanted = dump(self.db)

    def begin(self):
        start_anew(self.db, self.before)

    def trace(self):
        """All calls of a run that nothing stops, and how long it took."""
        begun = time.monotonic()
        self.br2.run(*self.command, env=preload(self.note))
        calls = [Call(line) for line in self.note.read_text().splitlines()]
        assert sum(call.in_commit for call in calls) > 10, 'the program has COMMITs of its own'
        self.note.unlink()
        return calls, time.monotonic() - begun

    def kill_at(self, number, half):
        """Runs it until call `number`. Did it come so far?"""
        process = self.br2.start(*self.command, env=preload(self.note, number, half))
        _, err = process.communicate(timeout=300)
        if not self.note.exists():
            assert process.returncode == 0, err
            return False
        assert process.returncode == -signal.SIGKILL, err
        call = Call(self.note.read_text())
        self.note.unlink()
        self.killed(('half ' if half and call.name == 'pwrite' else '') + call.kind)
        return True

    def kill_after(self, seconds):
        process = self.br2.start(*self.command)
        time.sleep(seconds)
        harness.kill(process)
        self.killed('at a time')

    def killed(self, kind):
        self.kills += 1
        self.moments[kind] += 1

    def left(self):
        """What a reader of the killed database finds; seen in a copy, so that the program meets it as it is."""
        copy = self.folder / 'copy.db'
        remove(copy)
        for path, to in zip(files_of(self.db)[:3], files_of(copy)):
            if path.exists():
                shutil.copyfile(path, to)
        return sound(copy)

    def die(self, *deaths):
        """From the beginning: each death is a call of kill_at() or kill_after(); then a run to the end."""
        self.begin()
        known = self.left()
        for death in deaths:
            death()
            now = self.left()
            assert not self.keeps or known <= now, 'nothing that was found is lost'
            known = now
        self.br2.run(*self.command)
        assert dump(self.db) == self.wanted
        sound(self.db)
        assert not any(path.exists() and path.read_bytes()[:1] != b"\0" for path in files_of(self.db)[1:])

    def at(self, number, half):
        return lambda: self.kill_at(number, half)

    def after(self, share):
        return lambda: self.kill_after(self.seconds * share)

    def sweep(self, count, seed):
        """`count` deaths at calls, or more: half over all of them, half inside COMMIT, evenly; some in a row."""
        rng = random.Random(seed)
        within = [n for n, call in enumerate(self.calls, 1) if call.in_commit]
        chosen = spread(range(1, len(self.calls) + 1), count - count // 2, rng) + spread(within, count // 2, rng)
        for number in chosen:
            row = [number, *rng.choices(within, k=ROW - 1)] if rng.random() < 0.15 else [number]
            halves = [rng.random() < 0.4 for _ in row]
            try:
                self.die(*map(self.at, row, halves))
            except BaseException:
                print(f'seed {seed}: died at the calls {row} of {len(self.calls)}, with half a write: {halves}')
                raise
        self.br2.run('check', '--integrity', '--db', self.db)

    def sweep_time(self, count, seed):
        rng = random.Random(seed)
        for number in range(count):
            self.die(self.after((number + rng.random()) / count))
        self.br2.run('check', '--integrity', '--db', self.db)


def spread(values, count, rng):
    """So many of them, one out of each of as many equal parts."""
    step = len(values) / count
    return [values[min(len(values) - 1, int((n + rng.random()) * step))] for n in range(count)]
