"""The views over the recorded samples: each figure that expected.json has."""
import collections

import pytest

from samples import expected, load, rows

SAMPLES = ['demo-x86_64', 'failures', 'flaky', 'cells', 'cells-lost', 'cut', 'encodings']
CLASSES = {'0-5 s': (0, 5), '5-20 s': (5, 20), '20-60 s': (20, 60), '60-300 s': (60, 300), '300+ s': (300, None)}


class Sample:
    def __init__(self, name):
        self.name, self.expected, self.db = name, expected(name), load(name)

    def rows(self, sql, *parameters):
        return rows(self.db, sql, *parameters)

    def of_cache(self):
        return [r for r in self.expected['results'] if r['source'] == 'action_cache']


@pytest.fixture(scope='module', params=SAMPLES)
def sample(request):
    return Sample(request.param)


def runs_of(wanted):
    return {r['trace_id']: r for r in wanted['runs']}.values()


def test_summary(sample):
    (row,) = sample.rows('SELECT * FROM summary')
    runs, wanted = runs_of(sample.expected), sample.expected['summary']
    assert row == {
        'runs': len(runs), 'actions': sum(r['actions'] for r in runs), 'tests': sum(r['tests'] for r in runs),
        'in_flight': sum(len(r['in_flight']) for r in runs), 'digests': wanted['of_digests'],
        'with_usage': wanted['stored_with_usage'], 'wall_h': round(wanted['wall_s'] / 3600, 2),
        'cpu_h': round(wanted['cpu_s'] / 3600, 2), 'avg_cores': round(wanted['average_cores'], 2),
        'only_historical': 0}


def test_summary_of_the_one_project(sample):
    (row,) = sample.rows('SELECT * FROM summary_by_project')
    (whole,) = sample.rows('SELECT * FROM summary')
    del row['project']
    assert row == whole


def test_summary_by_run_counts_as_the_log(sample):
    found = {r['run']: r for r in sample.rows('SELECT * FROM summary_by_run')}
    wanted = runs_of(sample.expected)
    assert len(found) == len(wanted)
    for run in wanted:
        row = found[run['trace_id']]
        assert (row['actions'], row['tests'], row['in_flight'], row['digests']) == \
            (run['actions'], run['tests'], len(run['in_flight']), run['remote_digests'])


def test_a_package_has_no_more_cores_on_average_than_at_most(sample):
    for form in ('', '_by_project', '_by_run'):
        found = sample.rows(f'SELECT avg_cores, max_cores FROM packages{form} WHERE actions > 0')
        assert found or not sample.of_cache()
        assert all(r['avg_cores'] <= r['max_cores'] for r in found)


def test_wall_time_buckets(sample):
    found = sample.rows('SELECT * FROM wall_time_buckets')
    assert [(r['wall_time'], (r['from_s'], r['to_s'])) for r in found] == list(CLASSES.items())
    wanted = {b['from_s']: b for b in sample.expected['buckets']}
    for row in found:
        want = wanted.get(row['from_s'])
        if not want:
            assert (row['actions'], row['p90_cores'], row['max_rss_gib']) == (0, None, None)
            continue
        assert (row['actions'], row['wall_pct'], row['avg_cores'], row['p90_cores'], row['max_rss_gib']) == (
            want['actions'], round(want['wall_pct'], 1), round(want['avg_cores'], 2), round(want['p90_cores'], 2),
            round(want['max_rss_bytes'] / 2**30, 2))


def test_wall_time_buckets_of_the_one_project(sample):
    found = sample.rows('SELECT * FROM wall_time_buckets_by_project')
    for row in found:
        del row['project']
    assert found == sample.rows('SELECT * FROM wall_time_buckets')


def test_sources(sample):
    found = collections.Counter(r['source'] for r in sample.rows('SELECT source FROM usage'))
    assert found == {k: n for k, n in sample.expected['by_source'].items() if k == 'action_cache'}


def test_usage_is_each_result_of_the_cache(sample):
    found = {r['digest']: r for r in sample.rows('SELECT * FROM usage')}
    wanted = sample.of_cache()
    assert len(found) == len(wanted)
    for want in wanted:
        row = found[want['digest']]
        assert (row['label'], row['identifier'], row['category']) == \
            (want['label'], want['identifier'] or '', want['category'] or '')
        assert (row['wall_ns'], row['cpu_ns'], row['max_rss_bytes'] or 0, row['exit_code']) == \
            (want['wall_ns'], want.get('cpu_ns'), want.get('max_rss_bytes') or 0, want['exit_code'])
        assert (row['executed_by'], row['worker'] or '') == (want.get('invocation_id'), want['worker'] or '')
        times = {k: v for k, v in want['times_ns'].items() if v}  # 0 is unknown
        if 'queued' in times:
            assert row['queued_s'] == pytest.approx((times['worker_start'] - times['queued']) / 1e9)
            assert row['fetch_s'] == pytest.approx((times['input_fetch_completed'] - times['input_fetch_start']) / 1e9)
            assert row['upload_s'] == pytest.approx((times['output_upload_completed'] - times['output_upload_start']) / 1e9)
        assert row['clock_skew'] == (0 if 'queued' in times else None)


def test_executed_by(sample):
    found = collections.Counter(str(r['executed_by']) for r in sample.rows('SELECT executed_by FROM usage'))
    wanted = collections.Counter(str(r.get('invocation_id')) for r in sample.of_cache())
    assert found == wanted
    if not sample.expected['historical']:
        assert wanted == sample.expected['executed_by']


def test_executions_hold_every_invocation(sample):
    found = {r['invocation']: r for r in sample.rows('SELECT * FROM executions')}
    wanted = collections.Counter(r['invocation_id'] for r in sample.of_cache() if r.get('invocation_id'))
    known = {r['trace_id'] for r in sample.expected['runs']}
    assert {k: r['results'] for k, r in found.items()} == wanted
    assert {k: r['run'] for k, r in found.items()} == {k: k if k in known else None for k in wanted}


def test_missing_results_are_the_rest(sample):
    found = {r['digest']: r['reason'] for r in sample.rows('SELECT * FROM missing_results')}
    wanted = {r['digest']: 'failed' for r in sample.expected['results'] if r['source'] != 'action_cache'}
    wanted |= {r['digest']: 'uploaded_by_client' for r in sample.of_cache() if 'cpu_ns' not in r}
    assert found == wanted


def test_cache_use_counts_as_the_log(sample):
    found = {r['run']: r for r in sample.rows('SELECT * FROM cache_use_by_run')}
    for run in runs_of(sample.expected):
        row, kinds = found[run['trace_id']], run['execution_kinds']
        assert (row['cached'], row['remote'], row['local']) == \
            tuple(kinds.get(k, 0) for k in ('action_cache', 'remote', 'local'))
        assert row['other'] == run['actions'] - sum(kinds.get(k, 0) for k in ('action_cache', 'remote', 'local'))


def test_failures_are_told_by_source():
    """With the historical executions: one row a digest, the cache's first."""
    for name in ('failures', 'flaky'):
        wanted, db = expected(name), load(name, historical=True)
        found = collections.Counter(r['source'] for r in rows(db, 'SELECT source FROM usage'))
        assert found == {k: n for k, n in wanted['by_source'].items() if k != 'None'}
        by = collections.Counter(str(r['executed_by']) for r in rows(db, 'SELECT executed_by FROM usage'))
        assert by == {k: n for k, n in wanted['executed_by'].items() if k != 'None'}


@pytest.mark.parametrize('name', ['failures', 'flaky'])
def test_digests_add_up(name):
    """What has usage, what has that of a failed execution only, and what has none are all digests."""
    db = load(name, historical=True)
    only = [r['digest'] for r in expected(name)['results'] if r['source'] == 'historical']
    none = {r['digest']: 'failed' for r in expected(name)['results'] if r['source'] is None}
    assert {r['digest']: r['reason'] for r in rows(db, 'SELECT digest, reason FROM missing_results')} == none
    for view in ('summary', 'summary_by_project'):
        (row,) = rows(db, f'SELECT digests, with_usage, only_historical FROM {view}')
        assert row['only_historical'] == len(only)
        assert row['digests'] == row['with_usage'] + len(only) + len(none)
    by_run = rows(db, 'SELECT run, digests - with_usage - only_historical AS missing FROM summary_by_run ORDER BY run')
    missing = collections.Counter(r['run'] for r in rows(db, 'SELECT run FROM missing_results_by_run'))
    assert {r['run']: r['missing'] for r in by_run} == {r['run']: missing[r['run']] for r in by_run}


FAILURE = 'SELECT t.label, f.reason, f.no_result FROM _failure f JOIN action_name n USING (name_id) JOIN target t USING (target_id) WHERE f.kind = 2'


def test_failures_say_why():
    found = {r['label']: (r['reason'], r['no_result']) for r in rows(load('failures', historical=True), FAILURE)}
    linked = {h['label'] for h in expected('failures')['historical']}
    assert {label for label, (_, words) in found.items() if words is None} == linked
    assert found['root//:bad-timeout'] == ('timeout', 'timed out: the worker told no usage, and Buck2 drops the link')
    assert found['root//:bad-start'] == ('start_failure', 'never started')
    assert (found['root//:bad-segv'][0], found['root//:bad-exit'][0]) == ('signal', 'exit')
    before = {r['no_result'] for r in rows(load('flaky'), FAILURE)}
    assert before == {'its result was not asked for yet'}


def test_signals():
    db = load('failures', historical=True)
    found = sorted((r['identifier'], r['termination_signal']) for r in rows(db, 'SELECT * FROM signals'))
    assert found == [('', 'SEGV'), ('bad-kill', 'KILL'), ('bad-segv', 'SEGV')]
    db = load('flaky', historical=True)
    killed = [r for r in expected('flaky')['historical'] if r['usage']['termination_signal']]
    assert [(r['run'], r['digest']) for r in rows(db, 'SELECT * FROM signals')] == \
        [(r['trace_id'], r['digest']) for r in killed]


# ---- cells: what is left after the wrapper's clean, and what it took ---------------------

LOST = {'native-remote-cache-30022046': '0a4afb48-2807-4cc3-b075-c88e410758a7',
        'wrapped-remote-cache-30022034': 'ebb4affa-bb6d-4c4c-9946-31c980b6c3a4',
        'wrapped-remote-cache-30022208': '6746f215-b757-49e7-a3f5-6faa62cecebf'}


def hours_of(invocation, *samples):
    """From expected.json: wall hours of the results that it executed."""
    walls = {r['digest']: r['wall_ns'] for s in samples for r in expected(s)['results']
             if r.get('invocation_id') == invocation and 'cpu_ns' in r}
    return round(sum(walls.values()) / 3.6e12, 6), len(walls)


def cells(*samples):
    return {(r['salt'], r['run']): r for r in rows(load(*samples), 'SELECT * FROM cells')}


def test_cells_show_the_cold_runs_whose_logs_are_gone():
    found = cells('cells')
    for salt, invocation in LOST.items():
        row = found[salt, 'cold']
        assert (row['invocation'], row['log_known'], row['ok'], row['seconds'], row['commands']) == \
            (invocation, 0, None, None, None)
        assert (row['hours'], row['with_usage']) == hours_of(invocation, 'cells-lost')
        assert row['with_usage'] == expected('cells-lost')['executed_by'][invocation] == 20
        variant, mode = salt.rsplit('-', 1)[0].split('-', 1)
        assert (row['variant'], row['mode'], row['project']) == (variant, mode, 'qemu-mini')
        warm = found[salt, 'warm']
        assert (warm['ok'], warm['commands'], warm['cached'], warm['hours']) == (1, 20, 20, 0)


def test_cells_of_modes_without_a_second_run():
    found = cells('cells')
    local = found['wrapped-local-30022126', 'cold']
    assert (local['mode'], local['local'], local['hours'], local['with_usage']) == ('local', 20, 0, 0)
    remote = found['wrapped-remote-30022116', 'cold']
    assert (remote['mode'], remote['remote'], (remote['hours'], remote['with_usage'])) == \
        ('remote', 20, hours_of(remote['invocation'], 'cells'))
    uploaded = found['wrapped-local-cache-30022156', 'warm']
    assert (uploaded['mode'], uploaded['cached'], uploaded['hours']) == ('local-cache', 20, 0)
    assert len(found) == 9


def test_cells_with_all_logs_say_the_same_and_more():
    left, whole = cells('cells'), cells('cells', 'cells-lost')
    assert left.keys() < whole.keys()
    for key, row in left.items():
        told = {k: v for k, v in row.items() if v is not None and k not in ('log_known', 'started_utc')}
        assert {k: whole[key][k] for k in told} == told
        assert whole[key]['log_known'] == 1
    for salt in LOST:
        assert (whole[salt, 'cold']['ok'], whole[salt, 'cold']['remote']) == (1, 20)


def test_viewcheck_run_is_no_cell():
    (run,) = rows(load('cells'), "SELECT * FROM runs WHERE tag = 'viewcheck'")
    assert (run['is_dev'], run['salt'], run['mode'], run['variant']) == (1, None, 'remote-cache', 'wrapped')


def test_run_usage_tells_who_executed():
    db = load('cells')
    found = rows(db, 'SELECT run, sum(executed_in_this_run) AS own, count(*) AS n FROM run_usage GROUP BY run')
    by = expected('cells')['executed_by']
    # What a client uploaded names no invocation: its times decide, and they are long before the warm run.
    assert {r['run']: r['own'] for r in found if r['own']} == \
        {r['trace_id']: by[r['trace_id']] for r in expected('cells')['runs'] if r['trace_id'] in by}
    assert {r['run']: r['n'] for r in found} == \
        {r['trace_id']: r['remote_digests'] for r in expected('cells')['runs'] if r['remote_digests']}
