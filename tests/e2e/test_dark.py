"""A network that goes dark: packets are dropped and nobody says so. In a namespace of its own,
whose only network is its loopback; no packet leaves the machine."""
import contextlib
import subprocess
import threading
import time

import pytest

import harness
from harness import dump, value
from namespace import Namespace

RESULTS = 'SELECT count(*) FROM result WHERE source = 1'
WANTED = 1772

pytestmark = pytest.mark.namespace


class DarkRelay(harness.Relay):
    """Takes the network down once so many bytes came back."""

    def spend(self, count):
        with self.lock:
            before, self.left = self.left, self.left - count
        if before > 0 >= self.left:
            subprocess.run(['ip', 'link', 'set', 'lo', 'down'], check=True)
            print('dark', flush=True)
        return False


RELAY = f'''
import sys, threading
sys.path.insert(0, {str(harness.ROOT / 'tests/e2e')!r})
from test_dark import DarkRelay
print(DarkRelay(int(sys.argv[1]), int(sys.argv[2]), 0).port, flush=True)
threading.Event().wait()
'''


class Relayed:
    """The real server behind a relay, both in a namespace."""

    def __init__(self, namespace, server):
        self.namespace, self.server = namespace, server

    @contextlib.contextmanager
    def dark_after(self, count):
        """Its address, and the process that prints a line when it is dark."""
        relay = subprocess.Popen([*self.namespace.inside, '/usr/bin/python3', '-B', '-c', RELAY, str(self.server.port),
                                  str(count)], stdout=subprocess.PIPE, text=True)
        try:
            yield f'127.0.0.1:{int(relay.stdout.readline())}', relay
        finally:
            harness.kill(relay)


@pytest.fixture
def relayed(tmp_path):
    with Namespace() as namespace:
        namespace.light()
        with harness.Server(tmp_path, under=namespace.inside) as server:
            yield Relayed(namespace, server.load())


@pytest.fixture
def inside(br2, relayed):
    return br2.under(*relayed.namespace.inside)


def ingest(inside, root, db, address, code=0):
    return inside.run(root, '--db', db, '--endpoint', address, '--no-report', code=code, timeout=200)


def check_whole(inside, relayed, root, db, tmp_path):
    """In the light again, the next ingest has the rows of one that nothing held up."""
    relayed.namespace.light()
    for file in (db, tmp_path / 'clean.db'):
        ingest(inside, root, file, relayed.server.address)
    assert dump(db) == dump(tmp_path / 'clean.db')


def test_dark_from_the_start(inside, relayed, project, tmp_path):
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    relayed.namespace.light(False)
    begun = time.monotonic()
    said = ingest(inside, root, db, relayed.server.address, code=2)
    assert time.monotonic() - begun < 15
    (error,) = harness.troubles(said)
    assert f'{relayed.server.address} does not answer' in error and f'{WANTED} results wanted' in error
    assert value(db, 'SELECT count(*) FROM run WHERE complete') == 7
    check_whole(inside, relayed, root, db, tmp_path)


def test_dark_for_seconds(inside, relayed, project, tmp_path):
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    with relayed.dark_after(200_000) as (address, relay):
        process = inside.start(root, '--db', db, '--endpoint', address, '--no-report')
        assert relay.stdout.readline() == 'dark\n'
        timer = threading.Timer(5, relayed.namespace.light)
        timer.start()
        _, err = process.communicate(timeout=100)
        timer.join()
    assert process.returncode == 0 and 'warning' not in err, err
    assert value(db, RESULTS) == WANTED
    check_whole(inside, relayed, root, db, tmp_path)


@pytest.mark.long
def test_dark_for_ever(inside, relayed, project, tmp_path):
    """Given up after a minute, and what one call may take; what came before stands."""
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    with relayed.dark_after(200_000) as (address, relay):
        begun = time.monotonic()
        said = ingest(inside, root, db, address, code=2)
        assert relay.stdout.readline() == 'dark\n'
        assert 55 < time.monotonic() - begun < 130
    (warning,) = harness.troubles(said)
    assert f'{address} went away: ' in warning and 'results wanted' in warning
    assert 0 < value(db, RESULTS) < WANTED
    check_whole(inside, relayed, root, db, tmp_path)


@pytest.mark.parametrize('lit', [True, False])
def test_no_name_server(br2, project, tmp_path, lit):
    """Nobody answers, or no network is there: the name cannot be told."""
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    with Namespace() as namespace:
        namespace.light(lit)
        begun = time.monotonic()
        said = ingest(br2.under(*namespace.inside), root, db, 'cache.invalid:8980', code=2)
        assert time.monotonic() - begun < 30
    (error,) = harness.troubles(said)
    assert 'cache.invalid:8980 is not found' in error and f'{WANTED} results wanted' in error
    assert value(db, 'SELECT count(*) FROM run WHERE complete') == 7
