"""kill -9 at any moment, inside COMMIT and in the middle of a write too: the next run makes of it what
a run that nothing stopped would have made.

Ordinary runs die about 100 times, scripts/test --long over 1,000 times. BR2_SEED=n chooses other moments."""
import os
import shutil
import sqlite3
import subprocess
import time

import pytest

import harness
from harness import dump, rows, value
from kills import Call, Victim, preload, remove, sound
from test_merge import ANSWERS, CHART, PODS
from test_prune import age, traces
from test_watch import Watcher, wait_for

SEED = int(os.environ.get('BR2_SEED', 1))
BOTH = pytest.mark.parametrize('times', [1, pytest.param(11, marks=pytest.mark.long)])
QUIET = ['--no-report', '--replay', ANSWERS]


@pytest.fixture
def roots(project):
    """Two small projects: failures, a cold and a warm build among them."""
    cells = project('cells')
    shutil.rmtree(cells / 'buck-out/wrapped-remote-cache')
    return [project('flaky'), cells]


def tell(name, victim):
    """What died where, for people and for tests/LONG.md."""
    inside = sum(count for kind, count in victim.moments.items() if 'COMMIT' in kind)
    print(f'{name}: {victim.kills} kills, {inside} inside COMMIT: {dict(victim.moments)}')
    harness.figure(f'kills: {name}', victim.kills, f'{inside} of them inside COMMIT; seed {SEED}, {len(victim.calls)} calls')


def sweep(name, victim, count):
    victim.sweep(count, SEED)
    assert victim.kills >= count
    tell(name, victim)


def half_known(br2, roots, folder):
    """A database that saw all logs while half of each was written, without any result."""
    db = folder / 'before.db'
    for root in roots:
        for log in harness.log_files(root):
            whole, stat = log.read_bytes(), log.stat()
            log.write_bytes(whole[:len(whole) // 2])
            br2.run(log, '--db', db, '--no-report', '--no-remote')
            log.write_bytes(whole)
            os.utime(log, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return db


def known(br2, folder, *what):
    """A database that knows these."""
    db = folder / f'before{len(what)}.db'
    br2.run(*what, '--db', db, *QUIET)
    return db


# ---- at each kind of call -----------------------------------------------------------------------------

@BOTH
def test_in_the_first_ingest(br2, roots, tmp_path, times):
    sweep('a first ingest', Victim(br2, tmp_path, [*roots, *QUIET]), 24 * times)


@BOTH
def test_in_an_ingest_of_logs_that_grew(br2, roots, tmp_path, times):
    before = half_known(br2, roots, tmp_path)
    sweep('an ingest of grown logs', Victim(br2, tmp_path, [*roots, *QUIET], before), 24 * times)


@BOTH
def test_in_an_ingest_of_the_cluster(br2, roots, tmp_path, times):
    command = [*QUIET, '--pods', PODS, '--values', CHART, '--valid-from', '2026-01-01', roots[0]]
    sweep("an ingest of the cluster's facts", Victim(br2, tmp_path, command, known(br2, tmp_path, *roots)), 8 * times)


@BOTH
def test_in_a_database_with_a_write_ahead_log(br2, roots, tmp_path, times):
    before = half_known(br2, roots, tmp_path)
    connection = sqlite3.connect(before)
    assert connection.execute('PRAGMA journal_mode = WAL').fetchall() == [('wal',)]
    connection.close()
    sweep('an ingest with a write-ahead log', Victim(br2, tmp_path, [*roots, *QUIET], before), 8 * times)


@BOTH
def test_in_a_merge(br2, roots, tmp_path, times):
    source, before = known(br2, tmp_path, *roots), half_known(br2, roots[1:], tmp_path)
    digest = source.read_bytes()
    sweep('a merge', Victim(br2, tmp_path, ['merge', source], before), 16 * times)
    assert source.read_bytes() == digest


@BOTH
def test_in_a_prune(br2, roots, tmp_path, times):
    before = known(br2, tmp_path, *roots)
    age(before, traces(before)[:5])
    sweep('a prune', Victim(br2, tmp_path, ['prune', '--keep', '90d'], before, keeps=False), 10 * times)


def complete_batches(db, count):
    """The newer half of its lookups gets numbers so much higher that before them this many batches are complete."""
    connection = sqlite3.connect(db)
    (last,) = connection.execute('SELECT max(lookup_id) FROM lookup').fetchone()
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        refers = [r[3] for r in connection.execute(f'PRAGMA foreign_key_list({table})') if r[2] == 'lookup']
        for column in refers + ['lookup_id'] * (table == 'lookup'):
            connection.execute(f'UPDATE {table} SET {column} = {column} + ({count} << 17) WHERE {column} > {last // 2}')
    connection.commit()
    connection.close()
    return last // 2


@BOTH
def test_while_keys_of_digests_are_put_in_order(br2, roots, tmp_path, times):
    before = known(br2, tmp_path, roots[1])
    keys = complete_batches(before, 3)
    victim = Victim(br2, tmp_path, [roots[0], *QUIET], before)
    ends = [number for number, call in enumerate(victim.calls, 1) if call.kind == 'unlink COMMIT journal']
    assert len(ends) > keys / 2 > 10, 'keys are put in several transactions'
    for number in ends[::2]:
        victim.die(victim.at(number, False))
        br2.run('check', '--integrity', '--db', victim.db)
    sweep('an ingest that completes batches of digests', victim, 16 * times)
    clean = tmp_path / 'keyed.db'
    shutil.copy(before, clean)
    br2.run(roots[0], '--db', clean, *QUIET)
    assert rows(clean, 'SELECT until_batch, due_batch FROM lookup_keyed') == [{'until_batch': 3, 'due_batch': 3}]
    assert value(clean, 'SELECT count(*) FROM lookup_key') == keys


# ---- at other moments -----------------------------------------------------------------------------------

@BOTH
def test_at_any_time_with_a_server(br2, roots, server, tmp_path, times):
    victim = Victim(br2, tmp_path, [*roots, '--no-report', '--endpoint', server.address])
    victim.sweep_time(8 * times, SEED)
    assert victim.kills == 8 * times
    tell('an ingest with a server, at a time', victim)


@BOTH
def test_in_a_pass_of_watch(br2, roots, tmp_path, times):
    """The process of a pass dies; the next one does its work, and the watching goes on."""
    db, clean, note = tmp_path / 'br2.db', tmp_path / 'clean.db', tmp_path / 'note'
    br2.run(*roots, '--db', clean, '--no-report', '--no-remote', env=preload(note))
    # A pass can do with fewer calls, if it takes in all logs at once.
    calls = len(note.read_text().splitlines()) * 3 // 4
    note.unlink()
    wanted, inside = dump(clean, without_files=True), 0
    logs = value(clean, 'SELECT count(*) FROM log_file')
    for number in range(2 * times):
        remove(db)
        watching = br2.under('env', *(f'{k}={v}' for k, v in preload(note, 1 + number * calls // (2 * times)).items()))
        with Watcher(watching, db, *roots, '--no-remote') as watcher:
            wait_for(note.exists, 'a death')
            watcher.wait_logs(logs)
            assert watcher.end() == 0
            assert 'signal 9' in watcher.text()
        inside += Call(note.read_text()).in_commit
        note.unlink()
        watcher.said.unlink()
        assert dump(db, without_files=True) == wanted
        sound(db)
    harness.figure('kills: a pass of --watch', 2 * times, f'{inside} of them inside COMMIT')
