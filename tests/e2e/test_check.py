"""`check`: its exit codes and lines, against the real server and the real Prometheus."""
import csv
import io
import json
import sqlite3
import sys
import time

import pytest

import harness
from harness import rows, value

sys.path.insert(0, str(harness.ROOT / 'tests/prometheus'))
from servers import HERE, RECORDED, Prometheus  # noqa: E402

PODS = harness.ROOT / 'tests/data/pods/recorded.json'
RUN = '56520016-da55-4c50-8488-db84d84c4ea1'


@pytest.fixture(scope='module')
def prometheus(tmp_path_factory):
    variables = {**RECORDED, 'SPAN': '2100', 'ACTIONS': str(HERE / 'recorded-child-kill.tsv')}
    with Prometheus(tmp_path_factory.mktemp('prometheus'), **variables) as running:
        yield running


@pytest.fixture
def failures(br2, project, server, tmp_path):
    """The database of the sample with all results, no cluster asked."""
    db = tmp_path / 'br2.db'
    br2.run(project('failures'), '--db', db, '--endpoint', server.address, '--no-report')
    change(db, "UPDATE setting SET value = 1000000 WHERE key = 'prometheus_hours'")
    return db


def change(db, sql, *parameters):
    connection = sqlite3.connect(db)
    with connection:
        connection.execute(sql, parameters)
    connection.close()


def check(br2, db, *options, code=0, **more):
    return br2.run('check', '--db', db, *options, code=code, **more)


def told(said):
    """{identifier: what: evidence} of the breaches."""
    found = {}
    for line in said.stdout.splitlines():
        run, rest = line.split(' ', 1)
        assert run == RUN
        where, what = rest.split(': ', 1)
        found[where] = what
    return found


# ---- kills -------------------------------------------------------------------------------

def test_kills_by_action_and_text(br2, failures):
    said = check(br2, failures, '--max-oom', '0', code=4)
    assert told(said) == {
        'root//:bad-oom (bad-oom)': 'suspected: exit code 137: its shell saw a child killed; text: Killed',
        'root//:bad-oom-child (bad-oom-child)': 'suspected: text: Killed signal terminated program',
        'root//:bad-kill (bad-kill)': 'killed by a signal: ended on signal KILL'}
    assert '3 breaches in the whole file: failures, 4 runs' in said.stderr


@pytest.mark.parametrize('layers, kills', [('action', 2), ('text', 2), ('action,text', 3)])
def test_only_the_layers_that_are_named(br2, failures, layers, kills):
    said = check(br2, failures, '--max-oom', '0', '--layers', layers, code=4)
    assert len(told(said)) == kills
    check(br2, failures, '--max-oom', kills - 1, '--layers', layers, code=4)
    said = check(br2, failures, '--max-oom', kills, '--layers', layers)
    (line,) = said.stdout.splitlines()
    assert line.startswith('ok: the whole file: failures, 4 runs; at most ') and f'({layers.replace(",", ", ")})' in line


def test_no_kill(br2, project, server, tmp_path):
    db = tmp_path / 'br2.db'
    br2.run(project('demo-x86_64'), '--db', db, '--endpoint', server.address, '--no-report')
    said = check(br2, db, '--max-oom', '0', '--max-rss', '8GiB')
    (line,) = said.stdout.splitlines()
    largest = max(r['max_rss_bytes'] or 0 for r in harness.expected('demo-x86_64')['results']) / 2 ** 30
    assert line == ('ok: the whole file: demo-x86_64, 7 runs, 4 cells; at most 0 killed for memory (action, text); '
                    f'max RSS of 1772 executions: {largest:.3f} GiB, at most 8.000')
    assert said.stderr == ''


def test_pods_and_prometheus(br2, failures, prometheus):
    for layer, words in (('pods', 'list that was made after'), ('prometheus', '--prometheus URL')):
        said = check(br2, failures, '--max-oom', '0', '--layers', layer, code=2)
        assert said.stdout == ''
        assert f'not asked: layer {layer} of 3 runs, the first is {RUN}' in said.stderr and words in said.stderr
    br2.run(failures.parent / 'failures', '--db', failures, '--no-remote', '--no-report', '--prometheus',
            prometheus.url, '--pods', PODS)
    said = check(br2, failures, '--max-oom', '0', '--layers', 'pods', code=4)
    assert told(said) == {'root//:bad-oom (bad-oom)': 'OOM killer: pod: OOMKilled, exit code 137'}
    said = check(br2, failures, '--max-oom', '0', '--layers', 'prometheus', code=4)
    assert told(said) == {
        'root//:bad-oom (bad-oom)': 'OOM killer: Prometheus: OOMKilled, exit code 137',
        'root//:bad-oom-child (bad-oom-child)':
            'child killed, container survived: Prometheus: a kill inside of it counted'}
    check(br2, failures, '--max-oom', '3', '--layers', 'action,text,pods,prometheus')


def test_asked_too_early(br2, failures, prometheus):
    """What Prometheus may not have scraped yet was not looked at."""
    last = value(failures, 'SELECT max(to_ns) FROM _run_time')
    change(failures, "UPDATE setting SET value = ? WHERE key = 'prometheus_lag_s'", (time.time_ns() - last) / 1e9 + 5)
    ask = ['--db', failures, '--no-remote', '--no-report', '--prometheus', prometheus.url]
    br2.run(failures.parent / 'failures', *ask)
    said = check(br2, failures, '--max-oom', '3', '--layers', 'prometheus', code=2)
    assert 'not asked: layer prometheus of 1 run,' in said.stderr
    change(failures, "UPDATE setting SET value = 120 WHERE key = 'prometheus_lag_s'")
    br2.run(failures.parent / 'failures', *ask)
    check(br2, failures, '--max-oom', '3', '--layers', 'prometheus')


# ---- max RSS -----------------------------------------------------------------------------------

def test_max_rss(br2, failures):
    wanted = {(r['max_rss_bytes'], r['digest']) for r in rows(
        failures, 'SELECT DISTINCT r.max_rss_bytes, l.digest FROM result r JOIN lookup l USING (lookup_id)')}
    largest = max(size for size, _ in wanted)
    check(br2, failures, '--max-rss', largest)
    said = check(br2, failures, '--max-rss', largest - 1, code=4)
    assert said.stdout.count('max RSS over the limit') == sum(size == largest for size, _ in wanted)
    said = check(br2, failures, '--max-rss', '900MiB', code=4)
    for line in said.stdout.splitlines():
        assert line.startswith(f'{RUN} root//:bad-oom')
        assert f'{largest / 2 ** 30:.3f} GiB on worker-shared-5b6dd8dff9-2bv88, digest ' in line
    assert len(said.stdout.splitlines()) == sum(size > 900 << 20 for size, _ in wanted) == 2


@pytest.mark.parametrize('size', ['1Gi', '1GiB', '1024MiB', '1048576Ki', '1073741824', '1.0GiB'])
def test_sizes(br2, failures, size):
    said = check(br2, failures, '--max-rss', size)
    assert said.stdout.rstrip().endswith('at most 1.000')


def test_a_hit_counts_once(br2, project, server, tmp_path):
    """An execution that several runs refer to is one breach, of the first of them in scope."""
    db = tmp_path / 'br2.db'
    br2.run(project('demo-x86_64'), '--db', db, '--endpoint', server.address, '--no-report')
    said = check(br2, db, '--max-rss', '64MiB', '--format', 'csv', code=4)
    found = list(csv.DictReader(io.StringIO(said.stdout)))
    assert len(found) == value(db, 'SELECT count(*) FROM result WHERE max_rss_bytes > 67108864') == 10
    firsts = dict(tuple(r.values()) for r in rows(db, 'SELECT l.digest, g.trace_id FROM lookup l'
                                                  ' JOIN run g ON g.run_id = l.first_run_id'))
    assert all(firsts[r['evidence'].rsplit(' ', 1)[1]] == r['run'] for r in found)


# ---- what was not asked ---------------------------------------------------------------------------

def test_no_server_was_asked(br2, project, server, tmp_path):
    root, db = project('failures'), tmp_path / 'br2.db'
    br2.run(root, '--db', db, '--no-remote', '--no-report')
    for limit in (['--max-oom', '100'], ['--max-rss', '8GiB']):
        said = check(br2, db, *limit, code=2)
        assert 'not asked: layer action of ' in said.stderr and said.stdout == ''
    check(br2, db, '--max-oom', '100', '--layers', 'text')
    # A breach is one, whatever else was not looked at.
    said = check(br2, db, '--max-oom', '0', code=4)
    assert 'not asked: layer action' in said.stderr
    br2.run(root, '--db', db, '--endpoint', server.address, '--no-report')
    check(br2, db, '--max-oom', '100', '--max-rss', '8GiB')


def test_stderr_that_was_not_kept(br2, project, server, tmp_path):
    db = tmp_path / 'br2.db'
    br2.run(project('failures'), '--db', db, '--endpoint', server.address, '--no-report', '--no-stderr')
    said = check(br2, db, '--max-oom', '100', code=2)
    assert 'not asked: layer text of ' in said.stderr
    check(br2, db, '--max-oom', '100', '--layers', 'action')


def test_no_run_at_all(br2, failures):
    said = check(br2, failures, '--project', 'unknown', '--max-oom', '0', code=2)
    assert 'not asked: no run is stored' in said.stderr
    said = check(br2, failures, '/nowhere', '--max-oom', '0', code=3)
    assert 'no stored log at or below /nowhere' in said.stderr
    said = check(br2, failures.parent / 'none.db', '--max-oom', '0', code=2)
    assert 'no database' in said.stderr


# ---- scope and form ----------------------------------------------------------------------------------

def test_scope(br2, project, failures, server):
    br2.run(project('flaky'), '--db', failures, '--endpoint', server.address, '--no-report')
    root = failures.parent
    assert 'in failures, 4 runs' in check(br2, failures, '--max-oom', '0', root / 'failures', code=4).stderr
    assert 'in failures, 4 runs' in check(br2, failures, '--max-oom', '0', code=4, cwd=root / 'failures').stderr
    assert 'in flaky, 3 runs' in check(br2, failures, '--max-oom', '0', '--project', 'flaky', code=4).stderr
    assert '7 runs' in check(br2, failures, '--max-oom', '0', '--all', code=4).stderr


def test_formats(br2, failures):
    said = check(br2, failures, '--max-oom', '0', '--format', 'jsonl', code=4)
    lines = [json.loads(line) for line in said.stdout.splitlines()]
    assert [list(line) for line in lines] == [['run', 'project', 'label', 'identifier', 'what', 'evidence']] * 3
    said = check(br2, failures, '--max-oom', '3', '--format', 'csv')
    assert said.stdout == 'run,project,label,identifier,what,evidence\n'
    assert 'at most 3 killed' in said.stderr


@pytest.mark.parametrize('options, words', [
    ([], 'nothing to check'), (['--max-rss', '8gigs'], 'not a size'), (['--max-rss', ''], 'not a size'),
    (['--max-rss', '-1'], 'not a size'), (['--max-oom', '0', '--layers', 'pod'], "'pod' is no layer"),
    (['--max-oom', '0', '--layers', ''], "'' is no layer"), (['--max-rss', '1Gi', '--layers', 'text'], '--max-oom N'), (['--max-oom', 'x'], '--max-oom'),
    (['--max-oom', '0', '--format', 'xml'], 'xml'),
    (['--max-oom', '0', '--all', '--project', 'x'], 'exclude each other')])
def test_command_lines_that_cannot_be_right(br2, failures, options, words):
    said = check(br2, failures, *options, code=3)
    assert words in said.stderr and said.stdout == ''


# ---- the database ---------------------------------------------------------------------------------------

def test_a_whole_database(br2, failures):
    said = check(br2, failures, '--integrity')
    assert said.stdout == f'ok: {failures}: pages, references and kept sums agree\n'


@pytest.mark.parametrize('damage, words', [
    ('UPDATE worker SET cpu_ns = cpu_ns + 1 WHERE worker_id = 1', 'its sums are not those of its results'),
    ('UPDATE worker SET rss_max_bytes = NULL WHERE worker_id = 1', 'its sums are not those of its results'),
    ('UPDATE request SET first_ns = first_ns + 1 WHERE request_id = 1', 'its sums are not those of its results'),
    ('UPDATE request SET results = 0 WHERE request_id = 1', 'its sums are not those of its results'),
    ('UPDATE bucket_sum SET wall_s = wall_s + 1', 'their kept sums are others'),
    ('DELETE FROM bucket_sum', 'their kept sums are others'),
    ('UPDATE phase_sum SET max_ns = max_ns + 1 WHERE phase_id = 2', 'phase 2: its kept sums are others'),
    ('DELETE FROM phase_sum', 'its kept sums are others'),
    ('UPDATE size_count SET results = results + 1', 'the kept counts of them are others'),
    ('DELETE FROM size_count WHERE kind = 2', 'the kept counts of them are others'),
    ('UPDATE size_count SET project_id = project_id + 1', 'the kept counts of them are others'),
    ('UPDATE busy_sum SET held_low = held_low + 1', 'the kept sums of what they held and used are others'),
    ('DELETE FROM busy_sum', 'the kept sums of what they held and used are others'),
    *((f'UPDATE package_sum SET {column} = {column} + 1 WHERE project_id {of} 0', 'its kept sums are not those of its results')
      for column, of in (('results', '='), ('unknown', '>'), ('wall_s', '>'), ('wall_rest_ns', '='), ('cpu_s', '>'), ('cpu_rest_ns', '='),
                         ('wall_max_ns', '>'), ('rss_max_bytes', '='), ('cores_max', '>'), ('limit_bytes', '='))),
    *((f'UPDATE invocation_sum SET {column} = {column} + 1', 'its kept figures over time are not those of its results')
      for column in ('results', 'ended', 'begun', 'workers', 'timed', 'held_low', 'span_ns', 'ran_ns', 'waited_ns', 'peak_running',
                     'peak_waiting')),
    ('DELETE FROM invocation_sum', 'its kept figures over time are not those of its results'),
    ('DELETE FROM package_sum WHERE project_id = 0', 'its kept sums are not those of its results'),
    ('INSERT INTO package_due SELECT min(package_id) FROM package_sum', 'its kept sums are not those of its results'),
    ('UPDATE action_count SET actions = actions + 1 WHERE run_id = 1', 'the kept counts of its actions are others'),
    ('DELETE FROM action_count WHERE run_id = 1', 'the kept counts of its actions are others'),
    ('UPDATE lookup SET first_seq = first_seq + 1 WHERE lookup_id = 1', 'its first reference is another one'),
    ('UPDATE result SET package_id = package_id + 1 WHERE result_id = 1', 'under another name, package'),
    ('INSERT INTO lookup (instance_id, function, hash, size_bytes, state, first_run_id, first_seq, name_id) SELECT instance_id,'
     ' function, hash, size_bytes, 2, first_run_id, first_seq, name_id FROM lookup WHERE lookup_id = 1', 'it is stored twice'),
    ('UPDATE lookup_keyed SET until_batch = 1, due_batch = 1', 'its key is not kept, by which an ingest finds it'),
    ('UPDATE lookup_keyed SET until_batch = 1', 'how far their keys are kept is not known'),
    ('DELETE FROM lookup_keyed', 'how far their keys are kept is not known'),
    ("INSERT INTO lookup_key SELECT '00000000', lookup_id FROM lookup WHERE lookup_id = 1", 'it is kept, and no such digest'),
    ('UPDATE lookup SET state = 2 WHERE lookup_id = 1', 'a result is stored, and it was not found'),
    ('DELETE FROM result WHERE result_id = (SELECT min(result_id) FROM result WHERE source = 1)',
     'it was found, and no result is stored'),
    ('DELETE FROM target WHERE target_id = 1', 'refers to a row of target that is not there')])
def test_a_damaged_database(br2, failures, damage, words):
    change(failures, damage)
    said = check(br2, failures, '--integrity', code=4)
    assert words in said.stdout
    check(br2, failures, '--integrity', '--max-oom', '100', code=4)


def test_what_is_due_is_summed_up_by_the_next_ingest(br2, server, failures):
    """As a kill leaves it: packages whose results have moved, and which are not summed up anew yet."""
    kept, over_time = (rows(failures, f'SELECT * FROM {table}') for table in ('package_sum', 'invocation_sum'))
    for damage in ('INSERT INTO package_due SELECT DISTINCT package_id FROM package_sum', 'DELETE FROM package_sum',
                   'INSERT INTO invocation_due SELECT invocation FROM invocation_sum', 'UPDATE invocation_sum SET results = results + 1'):
        change(failures, damage)
    check(br2, failures, '--integrity')
    br2.run(failures.parent / 'failures', '--db', failures, '--endpoint', server.address, '--no-report')
    assert kept and rows(failures, 'SELECT * FROM package_sum') == kept
    assert over_time and rows(failures, 'SELECT * FROM invocation_sum') == over_time
    assert not rows(failures, 'SELECT * FROM package_due') and not rows(failures, 'SELECT * FROM invocation_due')
    check(br2, failures, '--integrity')


def test_many_faults_are_counted(br2, failures):
    """A hundred of a kind are shown, all are counted."""
    assert 'fault' not in check(br2, failures, '--integrity').stderr
    change(failures, 'UPDATE worker SET results = results + 1 WHERE worker_id = 1')
    assert ': 1 fault\n' in check(br2, failures, '--integrity', code=4).stderr
    change(failures, 'INSERT INTO worker (name, results) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n'
           " WHERE i < 250) SELECT 'w-' || i, 1 FROM n")
    change(failures, 'INSERT INTO target (label, buck_package, package_id) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1'
           " FROM n WHERE i < 120) SELECT 't-' || i, '', 1000000 + i FROM n")
    said = check(br2, failures, '--integrity', code=4)
    assert ': 371 faults, 200 of them shown\n' in said.stderr
    assert len(said.stdout.splitlines()) == 200


def test_damaged_pages(br2, failures):
    size = failures.stat().st_size
    with open(failures, 'r+b') as file:
        file.seek(size // 2 // 4096 * 4096)
        file.write(b'\xff' * 4096 * 4)
    done = br2.start('check', '--db', failures, '--integrity')
    out, err = done.communicate(timeout=60)
    assert done.returncode in (2, 4) and (out or err)
    assert 'ok:' not in out


def test_another_programs_database(br2, tmp_path):
    db = tmp_path / 'other.db'
    connection = sqlite3.connect(db)
    with connection:
        connection.execute('CREATE TABLE t (a)')
    connection.close()
    said = check(br2, db, '--integrity', code=2)
    assert 'another program' in said.stderr
