"""The laws of storing over made trees of logs: twice is once, halves are the whole, any order, two at
once, growing logs, kills, a server that fails at random, merged parts; and SQLite's checks after each.

A tree and all that is random about it come from a number, which the test's name shows; BR2_SEED=n runs
that one alone. scripts/test --long takes more trees, from a number that nobody chose."""
import os
import random
import re
import sys
import threading
from pathlib import Path

import pytest

import harness
from harness import dump
from kills import Unsynced, remove, sound
from test_faulty_servers import NOT_FOUND, recorded
from test_laws import digest_of
from test_merge import ANSWERS
from trees import Tree

sys.path.insert(0, str(Path(__file__).parents[1] / 'server'))
from peer import Peer, each  # noqa: E402

FEW, MANY = 6, 100
FIRST = int.from_bytes(os.urandom(4), 'big')


def pytest_generate_tests(metafunc):
    """The trees' numbers."""
    if 'BR2_SEED' in os.environ:
        seeds = [pytest.param(int(os.environ['BR2_SEED']), marks=mark) for mark in ([], pytest.mark.long)]
    else:
        seeds = [*range(FEW), *(pytest.param(FIRST + n, marks=pytest.mark.long) for n in range(MANY))]
    metafunc.parametrize('seed', seeds, scope='module')


class Case:
    """A tree, and the rows of one ingest of it that nothing disturbed."""

    def __init__(self, br2, folder, seed):
        self.br2, self.folder, self.rng = Unsynced(br2.binary, br2.home), folder, random.Random(seed)
        self.tree = Tree(folder / 'tree', seed)
        print(f'BR2_SEED={seed}\n{self.tree}')
        self.roots = [self.tree.folder / project for project in 'pq']
        self.clean = self.new()
        self.ingest(self.clean, self.roots)
        self.wanted = dump(self.clean)

    def new(self):
        db = self.folder / 'br2.db'
        remove(db)
        return db

    def options(self, db):
        return ['--db', db, '--no-report', '--replay', ANSWERS]

    def ingest(self, db, paths):
        if paths:
            self.br2.run(*paths, *self.options(db))

    def check(self, db):
        assert dump(db) == self.wanted
        sound(db)
        self.br2.run('check', '--integrity', '--db', db)


@pytest.fixture(scope='module', autouse=True)
def told():
    yield
    if os.environ.get('BR2_LONG') == '1' and 'BR2_SEED' not in os.environ:
        harness.figure('laws: made trees', MANY, f'numbers from {FIRST}; each under all laws of test_trees.py')


@pytest.fixture
def case(br2, tmp_path, seed):
    return Case(br2, tmp_path, seed)


def test_twice_is_once(case):
    before = digest_of(case.clean)
    case.ingest(case.clean, case.roots)
    assert digest_of(case.clean) == before
    case.check(case.clean)


def test_parts_are_the_whole_in_any_order(case):
    for count in (2, 3, len(case.tree.files)):
        db = case.new()
        for part in case.tree.parts(count):
            case.ingest(db, part)
        case.ingest(db, case.roots)
        case.check(db)


def test_at_once_is_one_after_the_other(case):
    db = case.new()
    parts = [*case.tree.parts(2), case.roots]
    processes = [case.br2.start(*part, *case.options(db)) for part in parts if part]
    for process in processes:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    case.check(db)


def test_logs_that_grow(case):
    """Any of them, by any amount, any number of times."""
    db, share = case.new(), dict.fromkeys(case.tree.files, 0)
    for _ in range(4):
        for path in case.rng.sample(sorted(share), case.rng.randint(1, len(share))):
            share[path] = case.rng.uniform(share[path], 1)
        for path in share:
            case.tree.cut(path, share[path])
        case.ingest(db, case.roots)
    case.tree.write()
    case.ingest(db, case.roots)
    case.check(db)


def test_kills_between(case):
    db = case.new()
    for part in case.tree.parts(3):
        if part:
            process = case.br2.start(*part, *case.options(db))
            threading.Timer(case.rng.uniform(0.01, 0.25), process.kill).start()
            process.communicate(timeout=300)
        sound(db) if case.rng.random() < 0.5 else None
    case.ingest(db, case.roots)
    case.check(db)


def test_merged_parts_are_the_whole(case):
    parts = []
    for number, part in enumerate(case.tree.parts(3)):
        parts.append(case.folder / f'part{number}.db')
        case.ingest(parts[-1], part)
    parts = [part for part in parts if part.exists()]
    db = case.new()
    for part in case.rng.sample(parts + parts[:1], len(parts) + 1):
        case.br2.run('merge', part, '--db', db)
    case.ingest(db, case.roots)
    case.check(db)


# ---- a server that fails at random -------------------------------------------------------------------

ANSWERED = recorded()


class Failing:
    """Answers as recorded; or badly, so often."""

    def __init__(self, share, rng):
        self.share, self.rng, self.lock = share, rng, threading.Lock()

    def answer(self, connection, stream):
        hashed = re.search(rb'[0-9a-f]{64}', connection.frames[-1][3])[0].decode()
        with self.lock:
            fails, way = self.rng.random() < self.share, self.rng.randrange(6)
        if fails and self.fail(connection, stream, way):
            return
        if hashed in ANSWERED:
            connection.answer(stream, ANSWERED[hashed])
        else:
            connection.headers(stream, NOT_FOUND, end=True)

    @staticmethod
    def fail(connection, stream, way):
        """Is that all of the answer?"""
        if way == 0:
            connection.reset(stream, 7)
        elif way == 1:
            connection.answer(stream, b'\xff' * 9)
        elif way == 2:
            connection.headers(stream, NOT_FOUND, end=True)
        elif way == 3:
            connection.headers(stream, [*NOT_FOUND[:-2], ('grpc-status', '14'), ('grpc-message', 'later')], end=True)
        elif way == 4:
            connection.answer(stream, b'', trailers=[('grpc-status', '13'), ('grpc-message', 'oh')])
        else:
            connection.goaway(stream)
            return False
        return True


def ask(case, db, share, code):
    with Peer(each(Failing(share, case.rng).answer)) as peer:
        command = [*case.roots, '--db', db, '--no-report', '--instance', 'qemu-mini', '--endpoint', peer.address, '--retry-missing']
        process = case.br2.start(*command)
        _, err = process.communicate(timeout=300)
        assert process.returncode in code, err


def test_a_server_that_fails_at_random(case):
    clean = case.new()
    ask(case, clean, 0, [0])
    case.wanted = dump(clean)
    db = case.new()
    for _ in range(2):
        ask(case, db, 0.15, [0, 2])
        sound(db)
    ask(case, db, 0, [0])
    case.check(db)
