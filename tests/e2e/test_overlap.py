"""Results are asked for while logs are still read: by when, and that the rows are the same."""
import contextlib
import hashlib
import re
import sqlite3
import subprocess
import threading
from concurrent import futures

import grpc
import pytest

import harness
from harness import value

METHOD = '/build.bazel.remote.execution.v2.ActionCache/GetActionResult'
EXIT_CODE_1 = b'\x20\x01'
PROBES = 9  # one digest that may prove an instance name, then eight
NOTED = 100


class Cache(grpc.GenericRpcHandler):
    """Has a result of every action. Notes by the first questions how many logs the database has whole."""

    def __init__(self, db):
        self.db, self.lock = db, threading.Lock()
        self.asked, self.stored = [], []
        self.connection = None

    def service(self, details):
        if details.method != METHOD:
            return None
        return grpc.unary_unary_rpc_method_handler(self.answer)

    def answer(self, request, context):
        with self.lock:
            self.asked.append(request)
            if len(self.stored) < NOTED:
                self.stored.append(self.logs())
        return EXIT_CODE_1

    def logs(self):
        """None: the database is just being written."""
        with contextlib.suppress(sqlite3.OperationalError):
            if not self.connection:
                self.connection = sqlite3.connect(f'file:{self.db}?mode=ro', uri=True, timeout=0.05, check_same_thread=False)
            return self.connection.execute('SELECT count(*) FROM log_file WHERE ending IS NOT NULL').fetchone()[0]
        return None

    def before(self, count):
        """How many questions came when fewer logs than `count` were stored for certain."""
        return sum(stored is not None and stored < count for stored in self.stored)


@pytest.fixture
def cache(tmp_path):
    handler = Cache(tmp_path / 'br2.db')
    server = grpc.server(futures.ThreadPoolExecutor(8), handlers=[handler])
    handler.address = f'127.0.0.1:{server.add_insecure_port("127.0.0.1:0")}'
    server.start()
    yield handler
    server.stop(None).wait()
    if handler.connection:
        handler.connection.close()


def dump(db):
    return subprocess.run(['/usr/bin/python3', harness.ROOT / 'tests/dump_rows.py', db], check=True,
                          capture_output=True, text=True).stdout


def test_asked_before_all_logs_are_read(br2, project, cache, tmp_path):
    root = project('cells')
    logs = len(harness.log_files(root))
    done = br2.run(root, '--db', cache.db, '--endpoint', cache.address, '--no-report')
    assert value(cache.db, 'SELECT count(*) FROM log_file WHERE ending IS NOT NULL') == logs
    assert cache.stored[0] == 1, 'the first log proves its instance name as soon as it is stored'
    assert cache.before(logs) > 2 * PROBES, 'and its results are asked for beside the next ones'
    assert len(set(cache.asked)) == len(cache.asked), 'nothing is asked twice'
    assert f'{len(cache.asked)} results asked of' in done.stderr
    br2.run('check', '--db', cache.db, '--integrity')


def test_asked_inside_of_a_log_under_the_name_given(br2, project, cache):
    root = project('demo-x86_64')
    br2.run(root, '--db', cache.db, '--endpoint', cache.address, '--no-report', '--instance', 'x')
    assert cache.before(1) > 0, 'the first log was still read'


@pytest.mark.parametrize('options', [[], ['--instance', 'x']])
@pytest.mark.parametrize('sample', ['cells', 'demo-x86_64', 'failures', 'flaky'])
def test_rows_are_those_of_one_after_the_other(br2, project, cache, tmp_path, sample, options):
    root, apart = project(sample), tmp_path / 'apart.db'
    server = ['--endpoint', cache.address, '--no-report', *options]
    br2.run(root, '--db', apart, '--no-remote', '--no-report', *options)
    asked_apart = re.search(r'\d+ results asked', br2.run(root, '--db', apart, *server).stderr)
    asked = re.search(r'\d+ results asked', br2.run(root, '--db', cache.db, *server).stderr)
    assert dump(cache.db) == dump(apart)
    assert asked and asked[0] == asked_apart[0]


def few_under_each_name(cache):
    """Other results under one name than under another: so several names answer, and many a run's first one does not."""
    def answer(request, context):
        with cache.lock:
            cache.asked.append(request)
        if hashlib.sha256(request).digest()[0] > 16:
            context.abort(grpc.StatusCode.NOT_FOUND, 'Object not found')
        return EXIT_CODE_1

    cache.answer = answer


@pytest.mark.parametrize('options', [[], ['--pool', 'shared']])
@pytest.mark.parametrize('sample', ['cells', 'demo-x86_64'])
def test_names_are_chosen_as_by_one_after_the_other(br2, project, cache, tmp_path, sample, options):
    """Where several names answer, which one wins does not depend on when it is asked."""
    few_under_each_name(cache)
    root, apart = project(sample), tmp_path / 'apart.db'
    server = ['--endpoint', cache.address, '--no-report', *options]
    br2.run(root, '--db', apart, '--no-remote', '--no-report', *options)
    br2.run(root, '--db', apart, *server)
    br2.run(root, '--db', cache.db, *server)
    assert dump(cache.db) == dump(apart)
    # GetActionResultRequest begins with the name.
    assert len({asked[2:2 + asked[1]] for asked in cache.asked}) > 1, 'several names are tried'
    assert value(apart, 'SELECT count(*) FROM result') > 0


def test_an_answer_that_never_comes_holds_no_log_up(br2, project, cache):
    """Logs are stored while the server keeps its answers to itself; the end waits for them."""
    root = project('demo-x86_64')
    logs, all_stored = len(harness.log_files(root)), threading.Event()

    def answer(request, context):
        with cache.lock:
            cache.asked.append(request)
            first = len(cache.asked) == 1
        assert first or all_stored.wait(60)
        return EXIT_CODE_1

    cache.answer = answer
    process = br2.start(root, '--db', cache.db, '--endpoint', cache.address, '--no-report', '--instance', 'x')
    for _ in range(600):
        if cache.db.exists() and cache.asked and (cache.logs() or 0) == logs:
            break
        threading.Event().wait(0.1)
    all_stored.set()
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert cache.logs() == logs
    assert value(cache.db, 'SELECT count(*) FROM result') == len(set(cache.asked))
