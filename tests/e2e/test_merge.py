"""Merging databases: the laws of storing, what stays the user's own, and files that are not to be trusted."""
import os
import random
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

import harness
from harness import rows, value
from test_laws import digest_of, dump

ANSWERS = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
PODS = harness.ROOT / 'tests/data/pods/recorded.json'
CHART = harness.ROOT / 'tests/data/cluster/values.yaml'
HALVES = [['demo-x86_64', 'flaky'], ['cells', 'failures', 'cut']]


def ingest(br2, db, *what):
    """Logs and recorded answers; the cluster's options are among `what`."""
    return br2.run(*what, '--db', db, '--no-report', '--replay', ANSWERS)


def merge(br2, db, *sources, code=0):
    return br2.run('merge', *sources, '--db', db, code=code)


def execute(db, sql):
    connection = sqlite3.connect(db)
    with connection:
        connection.executescript(sql)
    connection.close()


def sound(br2, db):
    br2.run('check', '--integrity', '--db', db)
    assert value(db, 'PRAGMA integrity_check') == 'ok'
    assert rows(db, 'PRAGMA foreign_key_check') == []


def wait_for_lock(process, source):
    """Until it has the source open and does nothing."""
    folder, before = Path(f'/proc/{process.pid}'), None
    for _ in range(200):
        state, *figures = folder.joinpath('stat').read_text().rsplit(')', 1)[1].split()
        looked = (state, figures[10:12])
        if looked == ('S', before) and any(os.path.realpath(fd) == str(source) for fd in (folder / 'fd').iterdir()):
            return
        before = figures[10:12]
        time.sleep(0.3)
    raise AssertionError('it does not wait')


@pytest.fixture
def halves(br2, project, tmp_path):
    """([A, B], whole): two databases of a half each, and one of all."""
    databases = []
    for name, samples in zip('ab', HALVES):
        databases.append(tmp_path / f'{name}.db')
        ingest(br2, databases[-1], *map(project, samples))
    whole = tmp_path / 'whole.db'
    ingest(br2, whole, *(tmp_path / sample for half in HALVES for sample in half))
    return databases, whole


# ---- laws -----------------------------------------------------------------------------

def test_halves_are_the_whole_and_twice_is_once(br2, halves, tmp_path):
    sources, whole = halves
    before = [digest_of(db) for db in sources]
    both = tmp_path / 'both.db'
    said = merge(br2, both, *sources).stderr
    assert f'a.db: new {value(sources[0], "SELECT count(*) FROM run")} runs, ' in said
    assert 'b.db: new 12 runs, 160 actions, 131 results, 13 logs; known 1 runs, 1 actions, 3 results, 0 logs' in said
    assert dump(both) == dump(whole)
    sound(br2, both)
    once = digest_of(both)
    said = merge(br2, both, *sources).stderr
    assert 'new 0 runs, 0 actions, 0 results, 0 logs; known ' in said
    assert digest_of(both) == once
    assert [digest_of(db) for db in sources] == before
    assert sorted(p.name for p in tmp_path.glob('*.db*')) == ['a.db', 'b.db', 'both.db', 'whole.db']


def test_any_order_and_way(br2, halves, tmp_path):
    (a, b), whole = halves
    for number, steps in enumerate([[('x', b), ('x', a)], [('x', a), ('y', b), ('y', 'x')],
                                    [('y', a), ('x', b), ('x', 'y'), ('y', 'x')]]):
        named = {name: tmp_path / f'{name}{number}.db' for name in 'xy'}
        for into, source in steps:
            merge(br2, named[into], named.get(source, source))
        assert dump(named[steps[-1][0]]) == dump(whole)
        sound(br2, named[steps[-1][0]])


def test_into_a_database_that_has_some_of_it(br2, halves, tmp_path):
    """What is known is merged with what is new. The next ingest notes that it proposed this machine's names to the
    runs that came, and later ones find nothing to do."""
    (a, b), whole = halves
    logs = [tmp_path / sample for half in HALVES for sample in half]
    merge(br2, a, b)
    assert dump(a) == dump(whole)
    ingest(br2, a, *logs)
    assert dump(a) == dump(whole)
    before = digest_of(a)
    ingest(br2, a, *logs)
    assert digest_of(a) == before


def test_two_at_once_are_one_after_the_other(br2, halves, tmp_path):
    (a, b), whole = halves
    both = tmp_path / 'both.db'
    processes = [br2.start('merge', db, '--db', both) for db in (a, b, b)]
    for process in processes:
        _, err = process.communicate(timeout=200)
        assert process.returncode == 0, err
    assert dump(both) == dump(whole)
    sound(br2, both)


def test_a_kill_at_any_moment_is_repaired(br2, halves, tmp_path):
    sources, whole = halves
    before, wanted = [digest_of(db) for db in sources], dump(whole)
    both = tmp_path / 'both.db'
    started = time.monotonic()
    merge(br2, both, *sources)
    needed = time.monotonic() - started
    rng = random.Random(7)
    for _ in range(10):
        for left in tmp_path.glob('both.db*'):
            left.unlink()
        process = br2.start('merge', *sources, '--db', both)
        time.sleep(needed * rng.random())
        harness.kill(process)
        merge(br2, both, *sources)
        assert dump(both) == wanted
        sound(br2, both)
    assert [digest_of(db) for db in sources] == before


def test_better_knowledge_wins(br2, project, tmp_path):
    """Found over wanted, whatever comes first; both ways."""
    root = project('cells')
    vain, found = tmp_path / 'vain.db', tmp_path / 'found.db'
    br2.run(root, '--db', vain, '--no-report', '--no-remote')
    ingest(br2, found, root)
    for number, order in enumerate(([vain, found], [found, vain])):
        db = tmp_path / f'{number}.db'
        merge(br2, db, *order)
        assert dump(db) == dump(found)
    merge(br2, vain, found)
    assert dump(vain) == dump(found)


def test_of_two_results_the_earlier_one_stays(br2, project, tmp_path):
    """The cache had another one later: whichever comes first, and however often."""
    one, other = tmp_path / 'one.db', tmp_path / 'other.db'
    ingest(br2, one, project('cells'), project('failures'))
    shutil.copyfile(one, other)
    execute(other, "INSERT INTO worker (name) VALUES ('elsewhere');"
                   'UPDATE result_time SET base_ns = base_ns + (result_id % 3 - 1) * 1000000000'
                   ' WHERE result_id IN (SELECT result_id FROM result WHERE source = 1);'
                   "UPDATE result SET worker_id = (SELECT max(worker_id) FROM worker), max_rss_bytes = 9 << 30,"
                   ' cpu_ns = cpu_ns + 5 WHERE result_id % 3 <> 1 AND source = 1;'
                   'UPDATE rusage SET user_ns = user_ns + 5 WHERE result_id % 3 <> 1'
                   ' AND result_id IN (SELECT result_id FROM result WHERE source = 1)')
    dumps = []
    for number, order in enumerate([[one, other], [other, one], [one, other, one, other]]):
        db = tmp_path / f'{number}.db'
        for source in order:
            merge(br2, db, source)
        sound(br2, db)
        dumps.append(dump(db))
    assert dumps[0] == dumps[1] == dumps[2]
    counts = rows(tmp_path / '0.db', "SELECT w.name = 'elsewhere' AS other, count(*) AS n FROM result JOIN worker w USING"
                                     ' (worker_id) WHERE source = 1 GROUP BY 1')
    assert len(counts) == 2 and min(row['n'] for row in counts) > 30


def grow(log, whole, share):
    log.write_bytes(whole[:max(1, int(len(whole) * share))])


def history(br2, project, tmp_path, seed):
    """Logs grow, and three places look at some of them at some time, a fourth one each time. (the three, the fourth)"""
    rng = random.Random(seed)
    logs = {log: log.read_bytes() for name in ('cells', 'flaky', 'failures') for log in harness.log_files(project(name))}
    share = dict.fromkeys(logs, 0)
    places, whole = [tmp_path / f'place{n}.db' for n in range(3)], tmp_path / 'whole.db'
    for _ in range(9):
        for log in rng.sample(sorted(logs), 6):
            share[log] = min(1, share[log] + rng.choice([0.3, 0.6, 1]))
            grow(log, logs[log], share[log])
        seen = [log for log in rng.sample(sorted(logs), 8) if share[log]]
        more = rng.choice([[], [], ['--pods', PODS], ['--values', CHART, '--valid-from', f'2026-0{rng.randint(1, 9)}-01']])
        for db in (rng.choice(places), whole):
            ingest(br2, db, *seen, *more)
    return [place for place in places if place.exists()], whole


@pytest.mark.parametrize('seed', range(4))
def test_random_histories(br2, project, tmp_path, seed):
    places, whole = history(br2, project, tmp_path, seed)
    rng = random.Random(seed)
    for number in range(2):
        db = tmp_path / f'merged{number}.db'
        for place in rng.sample(places + places[:1], len(places) + 1):
            merge(br2, db, place)
        sound(br2, db)
        assert dump(db) == dump(whole)


def test_made_rows_of_every_table(br2, tmp_path):
    """What the generator makes is read back as it was; allotments are decided anew."""
    made, once, twice = (tmp_path / f'{name}.db' for name in ('made', 'once', 'twice'))
    subprocess.run(['/usr/bin/python3', '-B', harness.ROOT / 'tests/tools/gen_db.py', '--actions', '1500', made], check=True,
                   capture_output=True)
    merge(br2, once, made)
    merge(br2, twice, once)
    sound(br2, once)
    assert dump(twice) == dump(once)
    left_out = ('allot', 'pool_allot', 'size_count', 'busy_sum', 'package_', 'result\t', 'run\t', 'canned_view', 'listed_package')
    kept = [[line for line in dump(db).splitlines() if not line.startswith(left_out) and 'results=0\t' not in line]
            for db in (made, once)]
    assert kept[0] == kept[1] and len(kept[0]) > 10000


# ---- whose rows they are -----------------------------------------------------------------

def test_settings_and_edits_stay(br2, halves):
    (a, b), _ = halves
    execute(a, "UPDATE setting SET value = 99 WHERE key = 'heavy_wall_s'; DELETE FROM variant WHERE variant = 'native';"
               "UPDATE shape SET cpu_milli = 7 WHERE shape = 'small'; INSERT INTO shape VALUES ('mine', 1, 1, 1)")
    execute(b, "UPDATE setting SET value = 11 WHERE key = 'heavy_wall_s'; INSERT INTO variant VALUES ('theirs');"
               "UPDATE shape SET cpu_milli = 8 WHERE shape = 'small'; INSERT INTO shape VALUES ('mine', 2, 2, 2);"
               "INSERT INTO shape VALUES ('theirs', 3, 3, 3)")
    said = merge(br2, a, b).stderr
    assert '1 of its pools, shapes and names are not as yours here' in said
    assert value(a, "SELECT value FROM setting WHERE key = 'heavy_wall_s'") == 99
    assert [row['variant'] for row in rows(a, 'SELECT variant FROM variant ORDER BY 1')] == ['theirs', 'wrapped']
    assert {row['shape']: row['cpu_milli'] for row in rows(a, 'SELECT shape, cpu_milli FROM shape')} == {
        'big': 6000, 'small': 7, 'mine': 1, 'theirs': 3}


def test_pools_by_their_dates_decide_what_was_given(br2, halves, tmp_path):
    (a, b), whole = halves
    nowhere = tmp_path / 'nowhere'
    nowhere.mkdir()
    for db in (b, whole):
        br2.run('--db', db, '--values', CHART, '--valid-from', '2026-01-01', cwd=nowhere)
    merge(br2, a, b)
    assert dump(a) == dump(whole)
    assert value(a, 'SELECT count(*) FROM result WHERE allotment_id IS NOT NULL') > 100
    sound(br2, a)


# ---- sources ---------------------------------------------------------------------------------

def test_a_source_in_wal_mode_gets_no_file(br2, halves, tmp_path):
    (a, b), whole = halves
    execute(b, 'PRAGMA journal_mode = WAL')
    before = digest_of(b)
    merge(br2, a, b)
    assert dump(a) == dump(whole)
    assert digest_of(b) == before
    assert list(tmp_path.glob('b.db-*')) == []


def test_rows_in_a_wal_file_are_not_passed_over(br2, halves, tmp_path):
    (a, b), _ = halves
    before = dump(a)
    writer = sqlite3.connect(b)
    writer.executescript("PRAGMA journal_mode = WAL; UPDATE shape SET cpu_milli = 9 WHERE shape = 'small'")
    said = merge(br2, a, b, code=2).stderr
    assert 'its newest rows are still in' in said and 'wal_checkpoint' in said
    writer.close()
    assert dump(a) == before


def test_a_source_that_was_killed_is_left_to_its_owner(br2, halves, tmp_path):
    """A journal beside it means rows that are half written."""
    (a, b), _ = halves
    copy, before = tmp_path / 'copy.db', dump(a)
    writer = sqlite3.connect(b)
    writer.executescript("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; UPDATE result SET exit_code = 5;"
                         "UPDATE action SET wall_us = 1;")
    for end in ('', '-journal'):
        shutil.copy2(f'{b}{end}', f'{copy}{end}')
    writer.rollback()
    writer.close()
    files = [digest_of(path) for path in (copy, tmp_path / 'copy.db-journal')]
    said = merge(br2, a, copy, code=2).stderr
    assert 'killed while it wrote' in said
    assert [digest_of(path) for path in (copy, tmp_path / 'copy.db-journal')] == files
    assert dump(a) == before


@pytest.mark.parametrize('version, words', [(1, 'made by an older'), (99, 'made by a newer')])
def test_another_schema_is_refused(br2, halves, version, words):
    (a, b), _ = halves
    before = dump(a)
    execute(b, f'PRAGMA user_version = {version}')
    assert words in merge(br2, a, b, code=2).stderr
    assert dump(a) == before


def test_hostile_schemas_run_nothing(br2, halves, tmp_path):
    """Triggers on both sides, views and functions that a stranger wrote."""
    (a, b), whole = halves
    execute(b, "CREATE TABLE loot (x); CREATE VIEW zz AS SELECT load_extension('x');"
               "CREATE TRIGGER t AFTER INSERT ON action BEGIN INSERT INTO loot VALUES (1); END")
    execute(a, 'CREATE TABLE loot (x); CREATE TRIGGER t AFTER INSERT ON action BEGIN INSERT INTO loot VALUES (1); END;'
               'CREATE TRIGGER u BEFORE INSERT ON run BEGIN DELETE FROM result; END')
    merge(br2, a, b)
    assert value(a, 'SELECT count(*) FROM loot') == 0
    assert dump(a) == dump(whole)


@pytest.mark.parametrize('sql', [
    'DROP TABLE expense; CREATE VIEW expense AS SELECT 1 AS result_id',
    'ALTER TABLE run ADD COLUMN x INTEGER AS (length(zeroblob(900000000)))',
    'DROP TABLE rusage'])
def test_other_tables_are_refused(br2, halves, sql):
    (a, b), _ = halves
    before = dump(a)
    execute(b, sql)
    assert 'br2-ingest' in merge(br2, a, b, code=2).stderr
    assert dump(a) == before


@pytest.mark.parametrize('seed', range(6))
def test_damaged_sources_leave_nothing(br2, halves, seed):
    """Pages overwritten with noise, or missing."""
    (a, b), _ = halves
    before, rng = dump(a), random.Random(seed)
    data = bytearray(b.read_bytes())
    if seed == 0:
        data = data[:len(data) // 2]
    for _ in range(3 if seed else 0):
        at = rng.randrange(100, len(data) // 4096) * 4096
        data[at:at + 600] = rng.randbytes(600)
    b.write_bytes(data)
    said = merge(br2, a, b, code=2).stderr
    assert f'{b}' in said and 'error' in said
    assert dump(a) == before


@pytest.mark.parametrize('change, words', [(lambda db: os.utime(db), 'changed while it was read'),
                                           (lambda db: db.unlink(), 'cannot read the database'),
                                           (lambda db: Path(f'{db}-wal').write_text('rows'), 'its newest rows are still in')])
def test_a_source_that_changes_meanwhile(br2, halves, change, words):
    """The program waits for a writer of its own database, with the source read at first."""
    (a, b), whole = halves
    copy = b.with_name('copy.db')
    shutil.copy2(b, copy)
    writer = sqlite3.connect(a, isolation_level=None)
    writer.execute('BEGIN IMMEDIATE')
    process = br2.start('merge', copy, '--db', a)
    wait_for_lock(process, copy)
    change(copy)
    writer.rollback()
    _, err = process.communicate(timeout=100)
    assert (process.returncode, words in err) == (2, True), err
    sound(br2, a)
    merge(br2, a, b)
    assert dump(a) == dump(whole)


MUCH = "printf('%.*c', 50 << 20, 'x')"  # more than a record of a log holds


NO_LOG_HAS = [
    ("UPDATE lookup SET hash = x'00' WHERE lookup_id = 1", 'damaged: a digest of 1 bytes'),
    ("INSERT INTO lookup (instance_id, function, hash, size_bytes, state, first_run_id, first_seq, name_id) SELECT instance_id,"
     " function, x'00', size_bytes, state, first_run_id, first_seq, name_id FROM lookup LIMIT 1", 'damaged: a digest of 1 bytes'),
    ("UPDATE attempt_digest SET hash = x'00'", 'damaged: a digest of 1 bytes'),
    ("UPDATE historical SET hash = zeroblob(99)", 'damaged: a digest of 99 bytes'),
    ("UPDATE path_step SET hash = x'00' WHERE hash IS NOT NULL", 'damaged: a digest of 1 bytes'),
    ("UPDATE in_flight SET hash = x'00', size_bytes = 1, function = 1", 'damaged: a digest of 1 bytes'),
    ("UPDATE attempt SET idx = idx + 1 WHERE NOT EXISTS (SELECT 1 FROM attempt_text x WHERE x.span_id = attempt.span_id)"
     " AND NOT EXISTS (SELECT 1 FROM attempt_digest x WHERE x.span_id = attempt.span_id)"
     " AND NOT EXISTS (SELECT 1 FROM attempt_stderr x WHERE x.span_id = attempt.span_id)"
     " AND NOT EXISTS (SELECT 1 FROM historical x WHERE x.span_id = attempt.span_id)", 'attempts have gaps'),
    *((sql, 'a row of it is larger than any log') for sql in [
        f"UPDATE attempt_text SET error = {MUCH} WHERE (run_id, span_id, idx) = (SELECT run_id, span_id, idx FROM"
        " attempt_text LIMIT 1)",
        f"UPDATE attempt_stderr SET stderr = {MUCH} WHERE (run_id, span_id, idx) = (SELECT run_id, span_id, idx FROM"
        " attempt_stderr LIMIT 1)",
        f"UPDATE rule SET name = {MUCH} WHERE rule_id = (SELECT min(detail_id) FROM path_step)",
        f"UPDATE result SET status_message = {MUCH} WHERE result_id = 1",
        f"INSERT INTO expense VALUES (1, 'cpu', {MUCH}, NULL)", f"INSERT INTO aux_message VALUES (1, 0, {MUCH}, x'')",
        f"INSERT INTO listed_package SELECT project_id, {MUCH}, 999 FROM project_file LIMIT 1"])]


def test_rows_that_no_log_has(br2, halves):
    """What the file says of itself is whole: what is read until then stays, and a good copy brings the rest."""
    (a, b), whole = halves
    ours, theirs, wanted = a.with_name('ours.db'), a.with_name('theirs.db'), dump(whole)
    for sql, words in NO_LOG_HAS:
        print(sql)
        shutil.copyfile(a, ours)
        shutil.copyfile(b, theirs)
        execute(theirs, sql)
        said = merge(br2, ours, theirs, code=2).stderr
        assert f'{theirs}: ' in said and words in said
        sound(br2, ours)
        merge(br2, ours, b)
        assert dump(ours) == wanted


@pytest.mark.parametrize('sql', [f"UPDATE lookup SET state = 7, message = {MUCH} WHERE lookup_id = 1",
                                 f"UPDATE historical SET state = 7, message = {MUCH} WHERE span_id = (SELECT min(span_id)"
                                 " FROM historical)"])
def test_answers_that_no_server_gave(br2, project, tmp_path, sql):
    """Of the database itself, somebody's edit: the source is not to blame, and is not changed."""
    a, b = tmp_path / 'a.db', tmp_path / 'b.db'
    ingest(br2, a, project('failures'))
    shutil.copy2(a, b)
    execute(a, sql)
    before = digest_of(b)
    assert 'a row of it is larger than any log' in merge(br2, a, b, code=2).stderr
    assert digest_of(b) == before


def test_references_to_nothing_are_refused(br2, halves):
    (a, b), _ = halves
    before = dump(a)
    execute(b, 'DELETE FROM run WHERE run_id = 1')
    assert 'refers to one of' in merge(br2, a, b, code=2).stderr
    assert dump(a) == before


# ---- the command line -------------------------------------------------------------------------

def test_one_that_fails_does_not_spoil_the_others(br2, halves, tmp_path):
    (a, b), whole = halves
    said = merge(br2, a, tmp_path / 'none.db', b, code=2).stderr
    assert 'none.db' in said and 'no database' in said
    assert dump(a) == dump(whole)
    assert not (tmp_path / 'none.db').exists()


def test_wrong_command_lines(br2, halves, tmp_path):
    (a, _), _ = halves
    (tmp_path / 'link.db').symlink_to(a)
    assert 'wants a database' in merge(br2, a, code=3).stderr
    assert 'is the database that is merged into' in merge(br2, a, tmp_path / 'link.db', code=3).stderr


def test_odd_names_are_files(br2, halves, tmp_path):
    (a, b), whole = halves
    odd = tmp_path / 'a?mode=rwc#%41 \u00e4.db'
    shutil.copy2(b, odd)
    execute(odd, 'PRAGMA journal_mode = WAL')
    merge(br2, a, odd)
    assert dump(a) == dump(whole)
