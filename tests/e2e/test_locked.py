"""Somebody else has the database open, or its file system has no locks: what is waited for, how long,
and what is said then."""
import contextlib
import errno
import sqlite3
import threading
import time

import pytest

import harness
from harness import dump, value

RECORDING = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
BUSY = 'another program has it locked, and did not let go within a minute'


@contextlib.contextmanager
def holding(db, *statements, seconds=None):
    """Somebody who does that and stays; for so long, if it is said."""
    connection = sqlite3.connect(db, isolation_level=None, check_same_thread=False)
    for statement in statements:
        connection.execute(statement).fetchone()
    timer = threading.Timer(seconds or 1e6, connection.close)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        connection.close()


def reading(db, seconds=None):
    """A report that goes on and on: its SELECT holds a lock as long as it has rows to come."""
    return holding(db, 'BEGIN', 'SELECT * FROM action', seconds=seconds)


def writing(db, seconds=None):
    return holding(db, 'BEGIN EXCLUSIVE', seconds=seconds)


def ingest(br2, root, db, *options, code=0):
    return br2.run(root, '--db', db, '--replay', RECORDING, '--no-report', *options, code=code, timeout=150)


@pytest.fixture
def known(br2, project, tmp_path):
    """A project, a database that knows its newest log, and the rows of the whole."""
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    ingest(br2, root, db)
    clean = dump(db)
    db.unlink()
    br2.run(root, '--db', db, '--no-remote', '--no-report', '--last', 1)
    return root, db, clean


@pytest.mark.parametrize('somebody', [reading, writing])
def test_who_lets_go_is_waited_for(br2, known, somebody):
    root, db, clean = known
    with somebody(db, seconds=3):
        begun = time.monotonic()
        said = ingest(br2, root, db)
        assert 2 < time.monotonic() - begun
    assert 'error' not in said.stderr
    assert dump(db) == clean


def check_given_up(br2, known, somebody):
    root, db, clean = known
    with somebody(db):
        begun = time.monotonic()
        said = ingest(br2, root, db, code=2)
        assert 55 < time.monotonic() - begun < 90
    (error,) = harness.errors(said)
    assert error == f'br2-ingest: error: {db}: cannot use the database: {BUSY}'
    assert value(db, 'PRAGMA integrity_check') == 'ok'
    ingest(br2, root, db)
    assert dump(db) == clean


@pytest.mark.long
def test_a_reader_for_more_than_a_minute(br2, known):
    check_given_up(br2, known, reading)


@pytest.mark.long
def test_a_writer_that_does_not_let_go(br2, known):
    check_given_up(br2, known, writing)


@pytest.mark.long
def test_a_report_while_somebody_writes(br2, known):
    """It waits, and says the same."""
    _, db, _ = known
    with writing(db):
        said = br2.run('report', '--all', '--db', db, code=2, timeout=150)
    assert said.stderr == f'br2-ingest: error: {db}: cannot use the database: {BUSY}\n'


def test_reports_while_others_read(br2, known):
    _, db, _ = known
    with reading(db):
        begun = time.monotonic()
        br2.run('report', '--all', '--db', db)
        assert time.monotonic() - begun < 20


def test_readers_with_wal_hold_up_nobody(br2, known):
    root, db, clean = known
    with sqlite3.connect(db) as connection:
        connection.execute('PRAGMA journal_mode = WAL')
    connection.close()
    with reading(db):
        ingest(br2, root, db)
    assert dump(db) == clean


def test_interrupted_while_waiting(br2, known):
    """Ctrl-C twice: nobody has to wait for the minute."""
    root, db, clean = known
    with writing(db):
        process = br2.start(root, '--db', db, '--replay', RECORDING, '--no-report')
        time.sleep(1)
        for _ in range(2):
            process.terminate()
            time.sleep(0.3)
        assert process.wait(5) in (-15, 143)
        process.communicate()
    ingest(br2, root, db)
    assert dump(db) == clean


# ---- no locks at all ------------------------------------------------------------------------

NO_LOCKS = 'its file system lets no file be locked (NFS without locks?): have it on a local disk, by --db FILE'


def check_without_locks(br2, root, db, number, seconds):
    """As on such a mount: made by tests/tools/no_locks.c, since a test can mount no NFS."""
    env = harness.preload('BR2_NO_LOCKS_SO', BR2_LOCK_ERRNO=str(number))
    begun = time.monotonic()
    said = br2.run(root, '--db', db, '--no-remote', '--no-report', env=env, code=2, timeout=150)
    assert time.monotonic() - begun < seconds
    (error,) = harness.errors(said)
    assert error == f'br2-ingest: error: {db}: cannot use the database: {NO_LOCKS}'


@pytest.mark.parametrize('refusal', ['ENOSYS', 'EOPNOTSUPP'])
@pytest.mark.parametrize('is_there', [False, True], ids=['new', 'known'])
def test_a_file_system_without_locks(br2, project, tmp_path, refusal, is_there):
    root, db = project('flaky'), tmp_path / 'br2.db'
    if is_there:
        ingest(br2, root, db)
    before = dump(db) if is_there else None
    check_without_locks(br2, root, db, getattr(errno, refusal), 30)
    assert not is_there or dump(db) == before


@pytest.mark.long
def test_nfs_without_a_lock_daemon(br2, project, tmp_path):
    """It may be passing: so it is waited for as for a program, but nobody is blamed."""
    check_without_locks(br2, project('flaky'), tmp_path / 'br2.db', errno.ENOLCK, 100)
