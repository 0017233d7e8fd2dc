"""Making one call of the program fail, by way of tests/tools/fail_at.c: each place from which it calls
SQLite, the network or a file, in turn."""
import errno
import os
import subprocess
from typing import NamedTuple

import harness
from harness import dump, errors
from kills import files_of, sound, start_anew

# SQLite's: the disk fails, is full (the transaction is over, too); the file is damaged, locked by others.
IOERR, FULL, CORRUPT, BUSY, TOOBIG = 10, 13, 11, 5, 18
CODES = [IOERR, FULL, CORRUPT, BUSY]
SQLITE = {'db', 'exec', 'prepare', 'step', 'bind'}
FILES = {'open', 'fopen', 'close', 'read', 'write', 'pread', 'stat', 'mkdir', 'mkstemp', 'fdopen', 'fwrite', 'fflush', 'fsync',
         'rename'}
FEW, SEED = 4, int(os.environ.get('BR2_SEED', 1))
LOW = {'prepare': 2, 'bind': 3} # their innermost callers do not look at the outcome: store_db.c


class Place(NamedTuple):
    kind: str
    name: str
    callers: tuple

    @property
    def sites(self):
        """The calls that see an error if it fails."""
        return frozenset(self.callers[LOW.get(self.kind, 0):])


def preload(note, at=None):
    return harness.preload('BR2_FAIL_AT_SO', BR2_FAIL_NOTE=str(note), **({'BR2_FAIL_AT': at} if at else {}))


def read_places(note):
    for line in note.read_text().splitlines():
        kind, name, *callers = line.split()
        yield Place(kind, name, tuple(callers))


def cover(places):
    """So few of them that each site sees one fail; the best of the rest, again and again."""
    left, chosen = set().union(*(place.sites for place in places)), []
    while left:
        best = max(places, key=lambda place: len(place.sites & left))
        left -= best.sites
        chosen.append(best)
    return chosen


def code_of(place, number):
    if place.kind in FILES:
        return [errno.EIO, errno.EACCES][number % 2]
    return TOOBIG if place.kind == 'bind' else CODES[number % len(CODES)]


class Faulty:
    """A command on a database, of which one call fails."""
    ends = (2,) # exit codes

    def __init__(self, br2, folder, command, before=None, code=0, kinds=SQLITE):
        self.br2, self.before = br2, before
        self.db, self.note = folder / 'br2.db', folder / 'note'
        self.command, self.code = [*command, '--db', self.db], code
        self.failed = self.through = 0
        self.begin()
        self.was = self.bytes()
        self.out = br2.run(*self.command, env=preload(self.note), code=code).stdout
        self.places = [place for place in read_places(self.note) if place.kind in kinds]
        self.note.unlink()
        self.wanted = self.rows()

    def begin(self):
        start_anew(self.db, self.before)

    def rows(self):
        return dump(self.db)

    def bytes(self):
        return self.db.read_bytes() if self.db.exists() else b''

    def run(self, place, code, time=1):
        """The finished process, or None if the call was not come to."""
        env = preload(self.note, f'{place.kind} {place.name} {time} {code}')
        process = self.br2.start(*self.command, env=env)
        out, err = process.communicate(timeout=120)
        if not self.note.exists():
            return None
        self.note.unlink()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def fail(self, place, code):
        """An error is an end with one line; else all is as if there had been none. Either way no row is spoiled."""
        self.begin()
        said = self.run(place, code)
        if not said:
            return
        assert not any(path.exists() for path in files_of(self.db)[1:])
        if said.returncode == self.code:
            self.through += 1
            assert said.stdout == self.out and errors(said) == []
            assert self.rows() == self.wanted
            return
        self.failed += 1
        assert said.returncode in self.ends, f'exit {said.returncode}: {said.stderr}'
        assert len(errors(said)) == 1, said.stderr
        self.complete()

    def complete(self):
        """What was stored is sound, and the next run does the rest."""
        if self.bytes() == self.was:
            return
        sound(self.db)
        self.br2.run(*self.command, code=self.code)
        assert self.rows() == self.wanted

    def sweep(self, all_of_them=False):
        """At all places, or at one in FEW of those by which each call that can see an error sees one. How many were tried."""
        chosen = self.places if all_of_them else cover(self.places)[SEED % FEW::FEW]
        for number, place in enumerate(chosen):
            code = code_of(place, number)
            try:
                self.fail(place, code)
            except BaseException:
                print(f'{place.kind} {place.name} reports {code}; called by {" ".join(place.callers)}')
                raise
        return len(chosen)


def sweep(name, faulty, everywhere, least):
    """Tells what failed, for people and for tests/LONG.md."""
    tried = faulty.sweep(everywhere)
    print(f'{name}: {tried} of {len(faulty.places)} places: {faulty.failed} errors, {faulty.through} faults without effect')
    assert faulty.failed >= (least if everywhere else least // FEW)
    if everywhere:
        harness.figure(f'SQLite fails: {name}', tried, f'{faulty.failed} errors')
