"""Pruning: what goes, what younger runs need, what logs on disk do afterwards, and a kill at any moment."""
import random
import shutil
import sqlite3
import time

import pytest

import harness
from harness import rows, value
from test_laws import digest_of, dump
from test_merge import ANSWERS, ingest, merge, sound

SAMPLES = ['demo-x86_64', 'failures', 'cells', 'flaky', 'cut']
DAY = 86400 * 10**9
LEFT_OUT = ('prune', 'log_file', 'canned_view')


def prune(br2, db, *options, code=0):
    return br2.run('prune', '--db', db, *options, code=code)


def age(db, runs):
    """These runs began 200 days earlier, and all others that are older go with them: the order stays."""
    connection = sqlite3.connect(db)
    with connection:
        connection.executemany(f'UPDATE run SET start_ns = start_ns - {200 * DAY} WHERE trace_id = ?', [(run,) for run in runs])
    connection.close()


def traces(db):
    return [row['trace_id'] for row in rows(db, 'SELECT trace_id FROM run ORDER BY start_ns, trace_id')]


def needed(db, old):
    """Which old runs executed what a young one refers to: from the definition, slowly."""
    return {row['invocation'] for row in rows(
        db, 'SELECT DISTINCT q.invocation FROM result s JOIN request q USING (request_id) JOIN attempt a USING (lookup_id)'
        ' JOIN run r USING (run_id) WHERE r.start_ns > ?', time.time_ns() - 90 * DAY)} & set(old)


def told(db):
    return [line for line in dump(db).splitlines() if not line.startswith(LEFT_OUT)]


@pytest.fixture
def stored(br2, project, tmp_path):
    """(roots, db): all samples, with their results."""
    roots, db = [project(sample) for sample in SAMPLES], tmp_path / 'br2.db'
    ingest(br2, db, *roots)
    return roots, db


def log_of(roots, run):
    return [log for root in roots for log in harness.log_files(root) if run in log.name]


@pytest.mark.parametrize('share', [0.1, 0.5, 0.8, 1])
def test_what_is_left_is_as_if_the_rest_had_never_been(br2, stored, tmp_path, share):
    roots, db = stored
    runs = traces(db)
    old = runs[:int(len(runs) * share)]
    age(db, old)
    kept = [run for run in runs if run not in old or run in needed(db, old)]
    said = prune(br2, db, '--keep', '90d').stdout
    assert f'dropped {len(runs) - len(kept)} runs' in said
    assert traces(db) and set(traces(db)) == set(kept) if kept else traces(db) == []
    sound(br2, db)
    fresh = tmp_path / 'fresh.db'
    if kept:
        ingest(br2, fresh, *(log for run in kept for log in log_of(roots, run)))
        age(fresh, [run for run in kept if run in old])
        assert told(db) == told(fresh)
    assert value(db, 'SELECT count(*) FROM pruned_run') == len(runs) - len(kept)


def test_warm_runs_keep_their_cold_one(br2, project, tmp_path):
    """The view of cells shows young warm runs beside the cold one that executed their results."""
    db = tmp_path / 'br2.db'
    ingest(br2, db, project('cells'), project('cells-lost'))
    (cold,) = rows(db, 'SELECT invocation AS trace, salt FROM cells WHERE salt IN (SELECT salt FROM cells WHERE log_known'
                      " GROUP BY salt HAVING count(DISTINCT run) = 2) AND log_known AND run = 'cold' AND hours > 0 LIMIT 1")
    (warm, *_) = rows(db, "SELECT * FROM cells WHERE salt = ? AND run = 'warm'", cold['salt'])
    others = [run for run in traces(db) if run != warm['invocation']]
    age(db, others)
    spared = needed(db, others)
    said = prune(br2, db, '--keep', '90d').stdout
    assert cold['trace'] in spared
    assert f'kept {len(spared)} older runs: they executed what younger ones refer to' in said
    assert set(traces(db)) == spared | {warm['invocation']}
    shown = {row['invocation']: row['run'] for row in rows(db, 'SELECT invocation, run FROM cells')}
    assert shown[cold['trace']] == 'cold' and shown[warm['invocation']] == 'warm'
    sound(br2, db)


def test_twice_is_once_and_the_file_shrinks(br2, stored):
    roots, db = stored
    size = db.stat().st_size
    age(db, traces(db))
    said = prune(br2, db, '--keep', '90d')
    assert 'MiB, was' in said.stderr
    assert db.stat().st_size < size * 0.7
    once = digest_of(db)
    assert 'dropped 0 runs' in prune(br2, db, '--keep', '90d').stdout
    assert digest_of(db) == once


def test_a_dry_run_says_the_same_and_changes_nothing(br2, stored):
    _, db = stored
    age(db, traces(db)[:12])
    before = digest_of(db)
    said = prune(br2, db, '--keep', '90d', '--dry-run').stdout
    assert digest_of(db) == before
    assert prune(br2, db, '--keep', '90d').stdout == said.replace('would drop', 'dropped')


def test_logs_on_disk_do_not_bring_them_back(br2, stored, tmp_path):
    """Neither the same file, nor one that has been touched, nor a copy."""
    roots, db = stored
    runs = traces(db)
    age(db, runs[:12])
    prune(br2, db, '--keep', '90d')
    left = set(traces(db))
    before = digest_of(db)
    ingest(br2, db, *roots)
    assert digest_of(db) == before
    rows_before = told(db)
    gone = sorted(set(runs) - left)
    for run in gone[:3]:
        for log in log_of(roots, run):
            shutil.copyfile(log, log.with_name(f'dl-{run}.pb.zst'))
            log.touch()
    ingest(br2, db, *roots)
    assert told(db) == rows_before
    sound(br2, db)


def test_one_can_be_had_back(br2, stored):
    roots, db = stored
    whole, runs = traces(db), traces(db)[:12]
    age(db, runs)
    prune(br2, db, '--keep', '90d')
    connection = sqlite3.connect(db)
    with connection:
        connection.executescript('DELETE FROM pruned_run; DELETE FROM log_file WHERE log_file_id NOT IN'
                                 ' (SELECT log_file_id FROM run_log)')
    connection.close()
    ingest(br2, db, *roots)
    assert set(traces(db)) == set(whole)
    sound(br2, db)


def test_a_merge_brings_them_back(br2, stored, tmp_path):
    """Whoever still has a run gives it to those who dropped it, in any order."""
    _, db = stored
    age(db, traces(db)[:12])
    kept, both, other = tmp_path / 'kept.db', tmp_path / 'both.db', tmp_path / 'other.db'
    shutil.copyfile(db, kept)
    prune(br2, db, '--keep', '90d')
    dropped = value(db, 'SELECT count(*) FROM pruned_run')
    merge(br2, both, db)
    assert value(both, 'SELECT count(*) FROM pruned_run') == dropped > 0
    merge(br2, both, kept)
    merge(br2, other, kept, db)
    assert dump(both) == dump(other)
    assert told(both) == told(kept)
    assert value(both, 'SELECT count(*) FROM pruned_run') == 0
    sound(br2, both)


def test_of_one_project(br2, stored):
    _, db = stored
    age(db, traces(db))
    count = 'SELECT count(*) FROM run JOIN project USING (project_id) WHERE name = ?'
    others = value(db, 'SELECT count(*) FROM run') - value(db, count, 'failures')
    prune(br2, db, '--keep', '12w', '--project', 'failures')
    assert value(db, count, 'failures') == 0
    assert value(db, 'SELECT count(*) FROM run') == others
    sound(br2, db)


def test_a_run_without_a_start_stays(br2, stored):
    _, db = stored
    connection = sqlite3.connect(db)
    with connection:
        connection.execute('UPDATE run SET start_ns = NULL WHERE trace_id = ?', (traces(db)[0],))
    connection.close()
    ages = traces(db)
    age(db, ages)
    assert 'kept 1 runs whose start is not known' in prune(br2, db, '--keep', '90d').stdout
    assert value(db, 'SELECT count(*) FROM run WHERE start_ns IS NULL') == 1


def test_a_kill_at_any_moment_is_repaired(br2, stored, tmp_path):
    """The old rows or the new ones; once more is as if nothing had happened."""
    _, db = stored
    age(db, traces(db)[:20])
    clean, copy = tmp_path / 'clean.db', tmp_path / 'copy.db'
    shutil.copyfile(db, clean)
    started = time.monotonic()
    prune(br2, clean, '--keep', '90d')
    whole = time.monotonic() - started
    rng = random.Random(5)
    for _ in range(10):
        for left in tmp_path.glob('copy.db*'):
            left.unlink()
        shutil.copyfile(db, copy)
        process = br2.start('prune', '--keep', '90d', '--db', copy)
        time.sleep(whole * rng.random())
        harness.kill(process)
        prune(br2, copy, '--keep', '90d')
        assert dump(copy) == dump(clean)
        sound(br2, copy)


def test_who_writes_meanwhile_stops(br2, stored):
    """An ingest that holds ids of rows that have gone says so, and the next one is right."""
    roots, db = stored
    age(db, traces(db)[:20])
    for log in harness.log_files(roots[0]):
        log.touch()
    process = br2.start(*roots, '--db', db, '--no-report', '--replay', ANSWERS)
    prune(br2, db, '--keep', '90d')
    _, err = process.communicate(timeout=200)
    assert process.returncode == 0 or (process.returncode == 2 and 'has dropped rows meanwhile' in err), err
    ingest(br2, db, *roots)
    sound(br2, db)
    assert value(db, 'SELECT count(*) FROM run JOIN pruned_run USING (trace_id)') == 0


def test_no_room_for_a_copy(br2, stored, tmp_path):
    """The rows are gone, the file keeps its size, and the program says so."""
    _, db = stored
    size = db.stat().st_size
    age(db, traces(db))
    process = br2.start('prune', '--keep', '90d', '--db', db, env={'SQLITE_TMPDIR': '/nonexistent', 'TMPDIR': '/nonexistent'},
                        preexec_fn=lambda: limit(size * 5 // 4))
    out, err = process.communicate(timeout=100)
    assert process.returncode in (0, 2), err
    if process.returncode == 2:
        assert 'keeps its size' in err
    assert 'dropped' in out
    sound(br2, db)


def limit(size):
    import resource
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize('options, words', [
    (['--keep', '90'], 'not an age'), (['--keep', '0d'], 'from 1d to'), (['--keep', '-1d'], 'not an age'),
    (['--keep', '90d5'], 'not an age'), (['--keep', ''], 'not an age'), (['--keep', '1y'], 'not an age'),
    (['--keep', '99999999999999999999w'], 'from 1w to'), ([], 'wants --keep'), (['--keep', '1d', 'x'], 'no operands'),
    (['--keep', '1d', '--project', 'nobody'], 'nobody')])
def test_wrong_command_lines(br2, stored, options, words):
    _, db = stored
    before = digest_of(db)
    assert words in prune(br2, db, *options, code=3).stderr
    assert digest_of(db) == before


def test_no_database_is_made(br2, tmp_path):
    assert 'no database' in prune(br2, tmp_path / 'none.db', '--keep', '90d', code=2).stderr
    assert list(tmp_path.glob('none*')) == []
