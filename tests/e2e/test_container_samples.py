"""What containers used while actions ran: Prometheus's raw samples, joined to stored results."""
import csv
import sqlite3
import subprocess
import sys
import time

import pytest

import harness
from harness import rows, value

sys.path.insert(0, str(harness.ROOT / 'tests/prometheus'))
from servers import HERE, RECORDED, Fake, Prometheus, series, success  # noqa: E402

S = 10 ** 9
BASE = int(RECORDED['BASE'])
PHASE = {'worker-shared-5b6dd8dff9-2bv88': 3.137, 'worker-shared-5b6dd8dff9-x7k4q': 6.274}
IDLE = 0.01  # cores that every container of the recipe takes besides
FIGURES = ('SELECT l.digest, n.identifier, c.* FROM result_container c JOIN result r USING (result_id)'
           ' JOIN lookup l USING (lookup_id) JOIN action_name n ON n.name_id = r.name_id')


def truth():
    """The recorded actions: those of 0.4 s or more."""
    with open(HERE / 'recorded-actions.tsv') as file:
        for pod, start, end, peak, cores, kill, name, digest in csv.reader(
                (line for line in file if not line.startswith('#')), delimiter='\t'):
            yield {'pod': pod, 'start': float(start), 'end': float(end), 'peak': int(peak), 'cores': float(cores),
                   'kill': kill, 'name': name, 'digest': digest}


def samples_in(action, step):
    """When the recipe's container was sampled while the action ran, seconds after BASE."""
    first = PHASE[action['pod']]
    times = [first + step * k for k in range(int(900 / step))]
    return [t for t in times if action['start'] <= t <= action['end']]


def prometheus_of(factory, **more):
    return Prometheus(factory.mktemp('prometheus'), **{**RECORDED, **more})


@pytest.fixture(scope='module')
def prometheus(tmp_path_factory):
    with prometheus_of(tmp_path_factory) as running:
        yield running


@pytest.fixture(scope='module')
def minutely(tmp_path_factory):
    """Scraped as the user's cluster is, by two jobs."""
    with prometheus_of(tmp_path_factory, STEP='60', DUPLICATE='1') as running:
        yield running


def ingest(br2, root, db, server, *options, **more):
    return br2.run(root, '--db', db, '--endpoint', server.address, '--no-report', *options, **more)


def set_setting(db, key, number):
    connection = sqlite3.connect(db)
    with connection:
        assert connection.execute('UPDATE setting SET value = ? WHERE key = ?', (number, key)).rowcount == 1
    connection.close()


@pytest.fixture
def stored(br2, project, tmp_path, server):
    """(roots, db): logs and results are stored, and the retention holds however long ago they were made."""
    roots, db = [project('demo-x86_64'), project('failures')], tmp_path / 'br2.db'
    for root in roots:
        ingest(br2, root, db, server)
    set_setting(db, 'prometheus_hours', 10 ** 6)
    return roots, db


def figures(db):
    """By the beginning of the digest, as the truth has it; of twins (two attempts, one execution) one."""
    return {row['digest'][:12]: row for row in rows(db, FIGURES)}


def check_against_truth(db, step):
    found, sampled = figures(db), 0
    for action in truth():
        row, times = found[action['digest']], samples_in(action, step)
        assert row['memory_samples'] == row['cpu_samples'] == len(times), action
        assert row['status'] == (1 if times else 2), action
        assert row['working_set_peak_bytes'] == (action['peak'] if times else None), action
        assert row['anon_peak_bytes'] == (pytest.approx(0.8 * action['peak'], abs=1) if times else None)
        if len(times) > 1:
            cores = action['cores'] + IDLE
            assert row['cpu_ns'] / row['cpu_window_ns'] == pytest.approx(cores, abs=1e-6), action
            assert row['cpu_window_ns'] == pytest.approx((times[-1] - times[0]) * S, abs=10 ** 6)
            assert row['cores_peak_milli'] == pytest.approx(1000 * cores, abs=1)
        else:
            assert row['cpu_ns'] is None and row['cores_peak_milli'] is None
        sampled += bool(times)
    return sampled


# ---- exact ------------------------------------------------------------------------------------

def test_every_second(br2, stored, server, prometheus):
    roots, db = stored
    said = ingest(br2, roots[0], db, server, '--prometheus', prometheus.url)
    assert check_against_truth(db, 1) == 16, 'one of 17 is shorter than the second between two samples, and in none'
    assert {row['interval_ms'] for row in rows(db, FIGURES)} == {1000}
    assert 'memory and CPU were sampled while 25 of 1782 executions ran (view sample_coverage)' in said.stderr
    assert value(db, 'SELECT count(*) FROM result_container') == value(db, 'SELECT count(*) FROM result')
    assert value(db, 'SELECT ctr_confidence FROM usage WHERE digest GLOB ?', 'a1507c4d19b6*') == 'high'
    page = br2.run('digest', 'a1507c4d19b6', '--db', db).stdout
    for name, shown in (('ctr_status', 'sampled'), ('ctr_confidence', 'high'), ('ctr_interval_s', '1')):
        assert f'  {name:<26} {shown}\n' in page


def test_every_minute_by_two_jobs(br2, stored, server, minutely):
    """A scrape a minute sees the long ones alone, and nobody's figures stand in for the others'."""
    roots, db = stored
    ingest(br2, roots[0], db, server, '--prometheus', minutely.url)
    assert check_against_truth(db, 60) == len([a for a in truth() if samples_in(a, 60)]) < 6
    assert {row['interval_ms'] for row in rows(db, FIGURES)} == {60000}


def test_two_lives_of_a_container(br2, stored, server, prometheus):
    """The runner was killed while bad-oom ran: what ran there next has the next life's figures."""
    roots, db = stored
    ingest(br2, roots[0], db, server, '--prometheus', prometheus.url)
    lives = rows(db, 'SELECT f.container_id, min(u.minute) AS first, max(u.minute) AS last FROM container_usage u'
                 ' JOIN container_life f USING (life_id) JOIN pod p USING (pod_id) WHERE p.name GLOB ? GROUP BY life_id'
                 ' ORDER BY 1', '*2bv88')
    assert [life['container_id'][-7:] for life in lives] == ['runner0', 'runner1']
    assert lives[0]['last'] == lives[1]['first'] == (BASE + 141) // 60, 'it was killed in the middle of that minute'
    child = figures(db)['5fe95dd2471e']
    assert (child['identifier'], child['lives'], child['working_set_peak_bytes']) == ('bad-oom-child', 1, 1437515084)


def test_a_restart_inside_of_an_action(br2, stored, server):
    """Peaks span the lives; a rise never goes from one to the next. Falling counters, NaN and a second job's series are passed over."""
    roots, db = stored
    pod = 'worker-shared-5b6dd8dff9-2bv88'
    labels = {'pod': pod, 'namespace': 'buildbarn', 'container': 'runner', 'job': 'kubelet'}
    values = {'container_memory_working_set_bytes': ([(20, 5e8), (30, 'NaN'), (40, 7e8)], [(50, 3e8)]),
              'container_memory_rss': ([(20, 4e8)], [(50, 2e8)]),
              'container_cpu_usage_seconds_total': ([(20, 1000), (40, 1040)], [(50, 1), (60, 31), (70, 2), (80, 12)])}

    def answer(verb, fields):
        metric = fields['query'].split('{')[0]
        lives = values.get(metric, ())
        found = [series([(BASE + t, v) for t, v in life], id=f'/{i}', **labels) for i, life in enumerate(lives)]
        found += [series([(BASE + t + 1, 9e9) for t in range(20, 80)], id='/0', **{**labels, 'job': 'a-job'})] if lives else []
        return success(*found)
    with Fake(answer) as prom:
        ingest(br2, roots[0], db, server, '--prometheus', prom.url)
    row = figures(db)['b5840338b273']
    assert (row['identifier'], row['lives'], row['memory_samples'], row['cpu_samples']) == ('long-minute', 2, 3, 6)
    assert (row['working_set_peak_bytes'], row['anon_peak_bytes']) == (7 * 10 ** 8, 4 * 10 ** 8)
    assert (row['cpu_ns'], row['cpu_window_ns'], row['cores_peak_milli']) == ((40 + 30 + 10) * S, 40 * S, 3000)


# ---- what is not known ---------------------------------------------------------------------------

def test_a_pod_that_is_unknown_and_one_that_is_shared(br2, stored, server, prometheus):
    """Of several actions at a time in one container nobody knows which one took what; its minutes are its own."""
    roots, db = stored
    connection = sqlite3.connect(db)
    with connection:
        connection.execute("UPDATE worker SET name = replace(name, 'x7k4q', 'zzzzz')")
        connection.execute("""UPDATE worker SET name = replace(name, '2bv88"', '2bv88","thread":"3"')""")
    connection.close()
    ingest(br2, roots[0], db, server, '--prometheus', prometheus.url)
    found = rows(db, 'SELECT DISTINCT k.pod, c.status, c.memory_samples, c.lives FROM result_container c'
                 ' JOIN result USING (result_id) JOIN _worker k USING (worker_id) WHERE k.pod GLOB ? OR k.pod GLOB ?'
                 ' ORDER BY pod', '*2bv88', '*zzzzz')
    assert [tuple(row.values())[1:] for row in found] == [(5, 0, 0), (3, 0, 0)]
    assert {row['pod'][-5:] for row in rows(db, 'SELECT pod FROM worker_minutes')} == {'2bv88'}


def test_what_prometheus_forgot(br2, stored, server, tmp_path_factory):
    """Its data begin when the last actions ran: what ended five minutes and more before is expired."""
    roots, db = stored
    late = tmp_path_factory.mktemp('late') / 'actions.tsv'
    late.write_text('')
    with Prometheus(late.parent, BASE=str(BASE + 390), SPAN='900', STEP='1', ACTIONS=str(late)) as running:
        ingest(br2, roots[0], db, server, '--prometheus', running.url)
    found = rows(db, 'SELECT t.execution_completed_ns AS ended_ns, c.status FROM result_container c JOIN _time t USING (result_id)')
    edge = round((BASE + 390 + 3.137 - 300) * S)
    assert {r['status'] for r in found if r['ended_ns'] < edge} == {4}
    assert {r['status'] for r in found if r['ended_ns'] >= edge} <= {1, 2}
    assert figures(db)['b5840338b273']['status'] == 4 and figures(db)['610a4da3e9bf']['memory_samples'] == 17


def test_a_server_that_knows_nothing_is_no_answer(br2, stored, server, prometheus, tmp_path_factory):
    roots, db = stored
    with prometheus_of(tmp_path_factory, EMPTY='1') as empty:
        said = ingest(br2, roots[0], db, server, '--prometheus', empty.url)
    assert "has no memory and CPU of a container 'runner' in namespace 'buildbarn' in the time of 1782 executions" in said.stderr
    assert value(db, 'SELECT count(*) FROM result_container') == 0
    ingest(br2, roots[0], db, server, '--prometheus', prometheus.url, '--namespace', 'elsewhere')
    assert value(db, 'SELECT count(*) FROM result_container') == 0
    ingest(br2, roots[0], db, server, '--prometheus', prometheus.url)
    assert check_against_truth(db, 1) == 16


# ---- laws -------------------------------------------------------------------------------------------

def dump(db):
    """The rows of all tables that this is about."""
    text = subprocess.run([sys.executable, harness.ROOT / 'tests/dump_rows.py', db], check=True, capture_output=True,
                          text=True).stdout
    return [line for line in text.splitlines() if line.startswith(('result_container', 'container_', 'pod'))]


def test_nothing_is_asked_twice(br2, stored, server, prometheus):
    roots, db = stored
    ingest(br2, roots[0], db, server, '--prometheus', prometheus.url)
    before = db.read_bytes()
    with harness.Listener() as nobody:
        ingest(br2, roots[0], db, server, '--prometheus', f'http://127.0.0.1:{nobody.port}')
        assert nobody.connections == 0
    assert db.read_bytes() == before


def test_any_order(br2, project, tmp_path, server, prometheus):
    """All at once; Prometheus with each project, in both orders; before there are results."""
    roots = [project('demo-x86_64'), project('failures')]
    first = roots[0]
    dumps = []
    for number, steps in enumerate(([(roots, True)], [([first], True), ([roots[1]], True)], [([roots[1]], True), ([first], True)],
                                    [([roots[1]], 'no results'), (roots, True)])):
        db = tmp_path / f'{number}.db'
        br2.run(first, '--db', db, '--no-remote', '--no-report')
        set_setting(db, 'prometheus_hours', 10 ** 6)
        for some, how in steps:
            options = ['--no-remote'] if how == 'no results' else ['--endpoint', server.address]
            br2.run(*some, '--db', db, '--no-report', '--prometheus', prometheus.url, *options)
        dumps.append(dump(db))
    assert dumps[0] == dumps[1] == dumps[2] == dumps[3]
    assert len(dumps[0]) > 1782


def test_what_is_young_is_asked_again(br2, stored, server, prometheus, tmp_path_factory):
    """And what was found stays when Prometheus forgets it meanwhile."""
    roots, db = stored
    set_setting(db, 'prometheus_lag_s', time.time_ns() / 1e9 - BASE - 100)
    ingest(br2, roots[0], db, server, '--prometheus', prometheus.url)
    assert check_against_truth(db, 1) == 16, 'what is there already is stored'
    assert value(db, 'SELECT count(*) FROM result_container WHERE settled = 0') > 0
    before = rows(db, FIGURES + ' ORDER BY result_id')
    set_setting(db, 'prometheus_lag_s', 120)
    with prometheus_of(tmp_path_factory, STEP='60') as poorer:
        ingest(br2, roots[0], db, server, '--prometheus', poorer.url)
    after = rows(db, FIGURES + ' ORDER BY result_id')
    assert [r['working_set_peak_bytes'] for r in before] == [r['working_set_peak_bytes'] for r in after]
    ingest(br2, roots[0], db, server, '--prometheus', prometheus.url)
    assert check_against_truth(db, 1) == 16


def test_one_question_a_metric(br2, stored, server):
    """Of all pods at once, about the time of the executions."""
    roots, db = stored
    with Fake(lambda verb, fields: success()) as prom:
        ingest(br2, roots[0], db, server, '--prometheus', prom.url)
    asked = [fields for _, _, fields in prom.asked if fields['query'].startswith(('container_memory', 'container_cpu'))]
    assert [fields['query'].split('{')[0] for fields in asked] == [
        'container_memory_working_set_bytes', 'container_memory_rss', 'container_cpu_usage_seconds_total']
    assert all('{namespace="buildbarn",container="runner"}[' in fields['query'] for fields in asked)


# ---- what a person sees -------------------------------------------------------------------------------

def test_the_report_says_what_was_sampled(br2, stored, server, minutely):
    roots, db = stored
    assert 'container memory' not in br2.run('report', '--db', db, roots[0]).stdout
    ingest(br2, roots[0], db, server, '--prometheus', minutely.url)
    said = br2.run('report', '--db', db, roots[0]).stdout
    (line,) = [x for x in said.splitlines() if x.startswith('container memory: ')]
    assert 'of 1772 actions' in line and 'a sample each 60 s sees 8 % of 5 s actions' in line
    assert 'let Prometheus scrape cAdvisor each 15 s' in said


def test_busiest_runners(br2, stored, server, prometheus):
    roots, db = stored
    ingest(br2, roots[0], db, server, '--prometheus', prometheus.url)
    found = rows(db, 'SELECT pod, pool, node, peak_gib, limit_gib FROM worker_peaks')
    assert found[0] == {'pod': 'worker-shared-5b6dd8dff9-2bv88', 'pool': 'shared', 'node': 'nodes-1', 'peak_gib': 1.339,
                        'limit_gib': 1.0}
    assert [r['peak_gib'] for r in found] == sorted((r['peak_gib'] for r in found), reverse=True)
