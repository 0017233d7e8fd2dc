"""Values files and what each result was given by them: dates, order, edits; the heavy list of project.json."""
import datetime
import json
import os
import sqlite3
import subprocess
import sys

import pytest

import harness
from harness import rows, value

CHART = harness.ROOT / 'tests/data/cluster/values.yaml'
PODS = harness.ROOT / 'tests/data/pods/recorded.json'
ANSWERS = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
GIB = 1 << 30
# Before all recorded actions.
PAST = '2026-01-01'


@pytest.fixture
def stored(br2, project, tmp_path):
    """(root, db): logs and results are stored, nothing is known of the cluster."""
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    br2.run(root, '--db', db, '--no-report', '--replay', ANSWERS)
    return root, db


@pytest.fixture
def nowhere(tmp_path):
    """A folder outside of any project."""
    folder = tmp_path / 'chart'
    folder.mkdir()
    return folder


def values(br2, db, folder, *options, **more):
    """Values alone: no log is read, nobody is asked."""
    return br2.run('--db', db, *options, cwd=folder, **more)


def execute(db, sql):
    connection = sqlite3.connect(db)
    with connection:
        connection.executescript(sql)
    connection.close()


def given(db):
    """{(source, memory limit in GiB): results}; None where nothing is known."""
    return {(row['source'], row['gib']): row['n'] for row in rows(
        db, 'SELECT a.source, a.memory_limit_bytes / 1073741824.0 AS gib, count(*) AS n FROM result r'
        ' LEFT JOIN allotment a USING (allotment_id) GROUP BY 1, 2')}


def sound(br2, db):
    br2.run('check', '--db', db, '--integrity')


def dump(db):
    return subprocess.run([sys.executable, harness.ROOT / 'tests/dump_rows.py', db], check=True,
                          capture_output=True, text=True).stdout


def chart(folder, name, memory):
    """Another values file over CHART."""
    path = folder / name
    path.write_text(f'pools: {{shared: {{worker: {{resources: {{requests: {{memory: {memory}}},'
                    f' limits: {{memory: {memory}}}}}}}}}}}\n')
    return path


# ---- pools ---------------------------------------------------------------------------

def test_pools_alone(br2, nowhere, tmp_path):
    db = tmp_path / 'br2.db'
    said = values(br2, db, nowhere, '--values', CHART, '--valid-from', '2026-10-01')
    assert said.stdout == ''
    assert 'no project here, so no log is read' in said.stderr
    assert '3 pools read, 3 of them new or changed from 2026-10-01 00:00:00.000 on' in said.stderr
    assert rows(db, 'SELECT pool, valid_from_ns / 1000000000 AS since, enabled, instance_prefix, concurrency,'
                ' cpu_request_milli, cpu_limit_milli, memory_request_bytes, memory_limit_bytes, workers_min, workers_max,'
                " cooldown_s FROM pool_spec WHERE cache = '' AND pool = 'shared'") == [
        {'pool': 'shared', 'since': 1790812800, 'enabled': 1, 'instance_prefix': '', 'concurrency': 1,
         'cpu_request_milli': 4500, 'cpu_limit_milli': None, 'memory_request_bytes': 9 * GIB,
         'memory_limit_bytes': 9 * GIB, 'workers_min': 0, 'workers_max': 8, 'cooldown_s': 300}]


def test_twice_is_once(br2, nowhere, tmp_path):
    db = tmp_path / 'br2.db'
    values(br2, db, nowhere, '--values', CHART, '--shape', 'tiny=500m,1Gi')
    before = db.read_bytes()
    said = values(br2, db, nowhere, '--values', CHART, '--shape', 'tiny=0.5,1GiB,1GiB')
    assert db.read_bytes() == before
    assert '3 pools read, nothing new' in said.stderr
    values(br2, db, nowhere, '--values', CHART, '--values', chart(nowhere, 'more.yaml', '10Gi'))
    assert value(db, "SELECT group_concat(memory_limit_bytes >> 30) FROM (SELECT * FROM pool_spec WHERE pool = 'shared'"
                 ' ORDER BY valid_from_ns)') == '9,10'
    assert value(db, "SELECT count(*) FROM pool_spec WHERE pool <> 'shared'") == 2
    assert rows(db, "SELECT * FROM shape WHERE shape = 'tiny'") == [
        {'shape': 'tiny', 'cpu_milli': 500, 'memory_request_bytes': GIB, 'memory_limit_bytes': GIB}]


def test_values_from_a_pipe(br2, nowhere, tmp_path):
    db = tmp_path / 'br2.db'
    with open(CHART) as text:
        done = subprocess.run([br2.binary, '--db', db, '--values', '-', '--cache', 'east'], stdin=text, cwd=nowhere,
                              env=br2.environment({}), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert value(db, "SELECT count(*) FROM pool_spec WHERE cache = 'east'") == 3
    fifo = nowhere / 'fifo'
    os.mkfifo(fifo)
    process = br2.start('--db', db, '--values', fifo, cwd=nowhere)
    fifo.write_bytes(CHART.read_bytes())
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert value(db, "SELECT count(*) FROM pool_spec WHERE cache = ''") == 3


def test_pods_alone(br2, nowhere, tmp_path):
    db = tmp_path / 'br2.db'
    values(br2, db, nowhere, '--pods', PODS)
    assert value(db, 'SELECT count(*) FROM pod') == 2


def test_nobody_is_asked_outside_of_a_project(br2, project, tmp_path, nowhere):
    db = tmp_path / 'br2.db'
    br2.run(project('flaky'), '--db', db, '--no-remote', '--no-report')
    with harness.Listener() as nobody:
        said = values(br2, db, nowhere, '--values', CHART, env={'BR2_RE_ENDPOINT': f'127.0.0.1:{nobody.port}'})
        assert nobody.connections == 0
    assert said.stdout == ''


@pytest.mark.parametrize('options', [['--last', '1'], ['--project', 'x'], ['PATH']])
def test_who_names_logs_wants_them(br2, nowhere, tmp_path, options):
    options = [nowhere if option == 'PATH' else option for option in options]
    values(br2, tmp_path / 'br2.db', nowhere, '--values', CHART, *options, code=3)
    assert not (tmp_path / 'br2.db').exists()


# ---- faults ----------------------------------------------------------------------------

@pytest.mark.parametrize('options', [
    ['--valid-from', '2d'], ['--values', CHART, '--valid-from', 'yesterday'], ['--values', '-', '--values', '-'],
    ['--values', '-', '--pods', '-'], ['--shape', 'x=1'], ['--shape', 'x=1,2Gi,1Gi'], ['--shape', '=1,1Gi'],
    ['--shape', 'x=1,1Gi', '--shape', 'x=2,2Gi']])
def test_what_cannot_be_right_stops_at_once(br2, project, tmp_path, options):
    said = br2.run(project('failures'), '--db', tmp_path / 'br2.db', *options, code=3)
    assert not (tmp_path / 'br2.db').exists()
    assert len(said.stderr.splitlines()) == 1


@pytest.mark.parametrize('options, words', [
    (['--values', '-', '--values', '-'], '--values - twice: standard'), (['--pods', '-', '--pods', '-'], '--pods - twice: standard'),
    (['--pods', '-', '--values', '-'], '--pods - and --values -: standard'),
    (['--shape', 'x=1,1Gi', '--shape', 'y=1,1Gi', '--shape', 'x=1,1Gi'], 'two shapes are named x')])
def test_what_is_said_of_it(br2, nowhere, tmp_path, options, words):
    assert words in values(br2, tmp_path / 'br2.db', nowhere, *options, code=3).stderr


@pytest.mark.parametrize('text, words', [
    (None, 'cannot open'), ('', 'no `pools` in it'), ('image: x\n', 'no `pools` in it'),
    ('pools:\n\tshared: {}\n', ':2:1: found character'), ('- x\n', ':1:1: no values file')])
def test_values_that_cannot_be_read(br2, project, tmp_path, text, words):
    """One error, with what to do; the logs are stored all the same."""
    bad, db = tmp_path / 'bad.yaml', tmp_path / 'br2.db'
    if text is not None:
        bad.write_text(text)
    said = br2.run(project('failures'), '--db', db, '--no-remote', '--no-report', '--values', bad, code=2)
    (error,) = [line for line in said.stderr.splitlines() if 'error' in line]
    assert str(bad) in error and words in error
    assert value(db, 'SELECT count(*) FROM run') == 4 and value(db, 'SELECT count(*) FROM pool_spec') == 0


def test_a_bad_pool(br2, nowhere, tmp_path):
    """What is stored of it stays; the others are stored; the exit code tells."""
    db, bad = tmp_path / 'br2.db', nowhere / 'bad.yaml'
    bad.write_text('pools: {legacy: {worker: {resources: {requests: {cpu: many}}}}}\n')
    said = values(br2, db, nowhere, '--values', CHART, '--values', bad, code=2)
    assert '2 pools read, 2 of them new or changed' in said.stderr and '1 pool cannot be read' in said.stderr
    (warning,) = [line for line in said.stderr.splitlines() if 'warning' in line]
    assert f"{bad}:1:55: pools.legacy.worker.resources.requests.cpu: 'many'" in warning
    assert value(db, 'SELECT group_concat(pool) FROM (SELECT pool FROM pool_spec ORDER BY pool)') == 'dedicated,shared'
    values(br2, db, nowhere, '--values', CHART)
    said = values(br2, db, nowhere, '--values', CHART, '--values', bad, code=2)
    assert 'stored and not in' not in said.stderr
    assert value(db, "SELECT count(*) FROM pool_spec WHERE pool = 'legacy'") == 1
    values(br2, db, nowhere, '--values', CHART, '--values', bad, '--dry-run', code=2)


def test_a_pool_that_is_gone(br2, nowhere, tmp_path):
    """Files may be a part of the chart's values: it stays, which is said; who retires it says so."""
    db, less = tmp_path / 'br2.db', nowhere / 'less.yaml'
    values(br2, db, nowhere, '--values', CHART, '--valid-from', '2026-10-01')
    less.write_text('pools: {shared: {}}\n')
    said = values(br2, db, nowhere, '--values', CHART, '--valid-from', '2026-10-02')
    assert 'not in these files' not in said.stderr
    # dedicated is not enabled.
    said = values(br2, db, nowhere, '--values', less)
    assert ('values: pool legacy is stored and not in these files: it stays as it is; enabled: false retires it'
            in said.stderr)
    less.write_text('pools: {legacy: {enabled: false}}\n')
    values(br2, db, nowhere, '--values', less)
    less.write_text('pools: {shared: {}}\n')
    assert 'not in these files' not in values(br2, db, nowhere, '--values', less).stderr
    # They were not there then.
    assert 'not in these files' not in values(br2, db, nowhere, '--values', less, '--valid-from', '2025-01-01').stderr


def test_dry_run(br2, stored):
    root, db = stored
    before = db.read_bytes()
    said = br2.run(root, '--db', db, '--dry-run', '--values', CHART, '--shape', 'x=1,1Gi')
    assert '3 pools read' in said.stderr
    assert db.read_bytes() == before


# ---- what each result was given -----------------------------------------------------------

def test_from_now_on(br2, stored, nowhere):
    """What ran before is not covered, which is said."""
    _, db = stored
    results = value(db, 'SELECT count(*) FROM result')
    said = values(br2, db, nowhere, '--values', CHART)
    assert f'{results} stored results of these pools ran before' in said.stderr and '--valid-from DATE' in said.stderr
    assert given(db) == {(None, None): results}
    said = values(br2, db, nowhere, '--values', CHART)
    assert 'ran before' not in said.stderr
    said = values(br2, db, nowhere, '--values', CHART, '--valid-from', PAST)
    assert 'ran before' not in said.stderr
    assert given(db) == {(2, 9.0): results}
    sound(br2, db)


def test_only_what_an_older_row_would_cover_is_counted(br2, stored, nowhere):
    """Neither what has its size already, nor what another cluster ran, nor what a pool without sizes did."""
    _, db = stored
    bare = nowhere / 'bare.yaml'
    bare.write_text('pools: {shared: {enabled: true}}\n')
    for options in (['--values', CHART, '--cache', 'east'], ['--values', bare], ['--values', CHART, '--valid-from', PAST],
                    ['--values', CHART, '--values', chart(nowhere, 'now.yaml', '12Gi')]):
        assert 'ran before' not in values(br2, db, nowhere, *options).stderr
    assert value(db, "SELECT count(*) FROM pool_spec WHERE pool = 'shared' AND cache = ''") == 3


def test_what_is_in_force_and_until_when_is_told(br2, nowhere, tmp_path):
    """A row that says what is in force already is kept, for one may come between, and is no news."""
    db = tmp_path / 'br2.db'
    then = chart(nowhere, 'then.yaml', '12Gi')
    values(br2, db, nowhere, '--values', CHART, '--valid-from', '2026-09-01')
    said = values(br2, db, nowhere, '--values', CHART, '--values', then, '--valid-from', '2026-03-01').stderr
    assert '3 pools read, 3 of them new or changed from 2026-03-01 00:00:00.000 on' in said
    assert 'later rows of pool_spec say something else: shared until 2026-09-01 00:00:00.000\n' in said
    said = values(br2, db, nowhere, '--values', CHART, '--valid-from', '2026-06-01').stderr
    assert '3 pools read, 1 of them new or changed from 2026-06-01 00:00:00.000 on' in said and 'later rows' not in said
    said = values(br2, db, nowhere, '--values', CHART, '--valid-from', '2026-07-01').stderr
    assert '3 pools read, nothing new' in said
    assert value(db, "SELECT count(*) FROM pool_spec WHERE pool = 'dedicated'") == 4


def middle_of(db):
    """A moment between two executions, half of them before it."""
    return value(db, 'SELECT execution_start_ns FROM _time WHERE execution_start_ns IS NOT NULL'
                 ' ORDER BY 1 LIMIT 1 OFFSET (SELECT count(*) / 2 FROM _time)')


def as_date(ns):
    second = datetime.datetime.fromtimestamp(ns // 10 ** 9, datetime.timezone.utc)
    return f'{second:%Y-%m-%dT%H:%M:%S}.{ns % 10 ** 9:09d}Z'


def test_a_change_among_the_results(br2, stored, nowhere):
    """Those that began before it have the former limit, those from it on the new one."""
    _, db = stored
    middle = middle_of(db)
    before = value(db, 'SELECT count(*) FROM _time WHERE execution_start_ns < ?', middle)
    results = value(db, 'SELECT count(*) FROM result')
    assert 0 < before < results
    values(br2, db, nowhere, '--values', CHART, '--values', chart(nowhere, 'then.yaml', '12Gi'), '--valid-from', PAST)
    assert given(db) == {(2, 12.0): results}
    values(br2, db, nowhere, '--values', CHART, '--valid-from', as_date(middle))
    assert given(db) == {(2, 12.0): before, (2, 9.0): results - before}
    sound(br2, db)


def test_any_order(br2, project, nowhere, tmp_path):
    """Logs, answers, values and pods, each way round."""
    root = project('demo-x86_64')
    then = ['--values', CHART, '--values', chart(nowhere, 'then.yaml', '12Gi'), '--valid-from', PAST]
    steps = {'logs': [root, '--no-remote', '--no-report'], 'results': [root, '--no-report', '--replay', ANSWERS],
             'then': then, 'now': ['--values', CHART, '--valid-from', '2026-11-30T01:30:00Z'], 'pods': ['--pods', PODS]}
    dumps = {}
    for number, order in enumerate(['logs results then now pods', 'pods now then results', 'then results now pods',
                                    'now logs pods then results', 'results pods then now']):
        db = tmp_path / f'{number}.db'
        for step in order.split():
            br2.run('--db', db, *steps[step], cwd=nowhere)
        dumps[order] = dump(db)
        sound(br2, db)
        assert sum(n for (source, _), n in given(db).items() if source == 1) > 0
    first = next(iter(dumps.values()))
    assert [order for order, rows_of in dumps.items() if rows_of != first] == []


def test_a_pod_that_came_again(br2, stored, nowhere, tmp_path):
    """A StatefulSet's, under another limit: which of them an execution had is not known."""
    _, db = stored
    lists = []
    for uid, limit in (('u-old', '12Gi'), ('u-new', '9Gi')):
        lists.append(nowhere / f'{uid}.json')
        lists[-1].write_text(PODS.read_text().replace('"uid-1"', f'"{uid}"').replace('"1Gi"', f'"{limit}"'))
    values(br2, db, nowhere, '--pods', lists[0])
    first = given(db)
    assert first[1, 12.0] > 0
    other = tmp_path / 'other.db'
    other.write_bytes(db.read_bytes())
    values(br2, db, nowhere, '--pods', lists[1])
    now = given(db)
    assert (1, 12.0) not in now and (1, 9.0) not in now
    assert now[None, None] == first.get((None, None), 0) + first[1, 12.0]
    assert value(db, "SELECT group_concat(uid) FROM (SELECT uid FROM container_said WHERE name = 'runner' AND uid GLOB 'u-*'"
                 ' ORDER BY 1)') == 'u-new,u-old'
    sound(br2, db)
    before = db.read_bytes()
    values(br2, db, nowhere, '--pods', lists[0], '--pods', lists[1])
    assert db.read_bytes() == before
    fresh = tmp_path / 'fresh.db'
    fresh.write_bytes(other.read_bytes())
    values(br2, fresh, nowhere, '--pods', lists[1], '--pods', lists[0])
    assert dump(fresh) == dump(db)


def test_edits(br2, stored, nowhere):
    """`check` finds them, the next ingest follows them."""
    root, db = stored
    results = value(db, 'SELECT count(*) FROM result')
    values(br2, db, nowhere, '--values', CHART, '--valid-from', PAST)
    execute(db, f"UPDATE pool_spec SET memory_limit_bytes = {7 * GIB} WHERE pool = 'shared'")
    assert 'another allotment' in br2.run('check', '--db', db, '--integrity', code=4).stdout
    br2.run(root, '--db', db, '--no-remote', '--no-report')
    assert given(db) == {(2, 7.0): results}
    sound(br2, db)
    execute(db, 'DELETE FROM pool_spec')
    br2.run(root, '--db', db, '--no-remote', '--no-report')
    assert given(db) == {(None, None): results}


def test_nothing_learned_nothing_written(br2, stored, nowhere):
    root, db = stored
    values(br2, db, nowhere, '--values', CHART, '--valid-from', PAST, '--pods', PODS)
    before = db.read_bytes()
    br2.run(root, '--db', db, '--no-remote', '--no-report', '--pods', PODS)
    assert db.read_bytes() == before
    assert value(db, 'SELECT count(*) FROM allotment_due') == 0


# ---- the heavy list -------------------------------------------------------------------------

def listed(db):
    return [row['package'] for row in rows(db, 'SELECT package FROM listed_package ORDER BY position')]


def test_the_heavy_list(br2, project, tmp_path):
    root, db = project('cells'), tmp_path / 'br2.db'
    file = root / 'project.json'
    wanted = json.loads(file.read_text())['heavy']
    assert wanted

    def again():
        return br2.run(root, '--db', db, '--no-remote', '--no-report')
    again()
    assert listed(db) == wanted
    before = db.read_bytes()
    again()
    assert db.read_bytes() == before
    file.write_text('{"name": "qemu-mini", "heavy": ["b", "a"]}')
    again()
    assert listed(db) == ['b', 'a']
    file.write_text('{"name": "qemu-mini", "heavy": ["b", 7]}')
    (warning,) = [line for line in again().stderr.splitlines() if 'warning' in line]
    assert str(file) in warning and 'entry 2' in warning
    assert listed(db) == ['b', 'a']
    file.write_text('{"name": "qemu-mini"}')
    again()
    assert listed(db) == [] and value(db, 'SELECT path FROM project_file') == str(file)


@pytest.mark.parametrize('text, options, name', [
    ('{"name": "named", "heavy": ["a"]}', [], 'named'), ('{"heavy": ["a"]}', [], 'cells'),
    ('{"name": "named", "heavy": ["a"]}', ['--project', 'said'], 'said')])
def test_whose_list_it_is(br2, project, tmp_path, text, options, name):
    root, db = project('cells'), tmp_path / 'br2.db'
    (root / 'project.json').write_text(text)
    br2.run(root, '--db', db, '--no-remote', '--no-report', *options)
    assert rows(db, 'SELECT p.name, l.package FROM listed_package l JOIN project p USING (project_id)') == [
        {'name': name, 'package': 'a'}]
    assert value(db, 'SELECT group_concat(DISTINCT project) FROM runs') == name


def test_two_roots_of_one_name(br2, project, tmp_path):
    roots = [project('cells'), tmp_path / 'other']
    (roots[1] / 'buck-out/v2/log').mkdir(parents=True)
    (roots[1] / 'project.json').write_text('{"name": "qemu-mini", "heavy": ["newer"]}')
    os.utime(roots[0] / 'project.json', ns=(10 ** 18, 10 ** 18))
    dumps = []
    for number, order in enumerate([roots, roots[::-1]]):
        db = tmp_path / f'{number}.db'
        for root in order:
            br2.run(root, '--db', db, '--no-remote', '--no-report')
        assert listed(db) == ['newer']
        dumps.append(dump(db))
    assert dumps[0] == dumps[1]
