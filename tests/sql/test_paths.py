"""critical_path, slowest_path and critical_packages: the program's own ingest of all recorded
logs against what Buck2 prints of them, and made rows for what no log here has."""
import os
import sqlite3
import subprocess

import pytest

from builds import S, START, digest
import buck2_paths
import samples
from samples import rows
import tables

LOGS = {path.name.split('_')[2]: path for path in sorted(samples.LOGS.rglob('*_events.pb.zst'))}


@pytest.fixture(scope='module')
def ingested(tmp_path_factory):
    folder = tmp_path_factory.mktemp('paths')
    subprocess.run([os.environ['BR2_INGEST'], '--quiet', '--no-remote', '--db', folder / 'x.db', samples.LOGS], check=True,
                   env={**os.environ, 'HOME': str(folder)}, stdin=subprocess.DEVNULL)
    db = sqlite3.connect(f'file:{folder}/x.db?mode=ro', uri=True)
    yield db
    db.close()


# ---- as Buck2 prints it ----

# Its columns, µs; off_path_s is its non_critical_path_time. Its start_offset is cut to µs.
PRINTED = """SELECT kind || char(9) || name || char(9) || ifnull(category, '') || char(9) || ifnull(identifier, '') || char(9) ||
    ifnull('ACTION_EXECUTION_KIND_' || upper(execution_kind), '') || char(9) || ifnull(CAST(round(total_s * 1e6) AS INTEGER), '')
    || char(9) || ifnull(CAST(round(user_s * 1e6) AS INTEGER), '')
    || char(9) || ifnull(CAST(round(potential_improvement_s * 1e6) AS INTEGER), '')
    || char(9) || ifnull(CAST(round(off_path_s * 1e6) AS INTEGER), '')
    || char(9) || ifnull(CAST(round(start_s * 1e9) AS INTEGER) / 1000, 0) AS line
    FROM {view} WHERE run = ? ORDER BY idx"""


@pytest.mark.parametrize('trace', LOGS)
@pytest.mark.parametrize('view, which', [('critical_path', buck2_paths.CRITICAL), ('slowest_path', buck2_paths.SLOWEST)])
def test_the_lines_are_those_of_buck2(ingested, trace, view, which):
    found = [r['line'] for r in rows(ingested, PRINTED.format(view=view), trace)]
    assert found == buck2_paths.lines(LOGS[trace], which)


def test_most_logs_have_a_path(ingested):
    """So that the test above compares something."""
    with_path = {r['run'] for r in rows(ingested, 'SELECT DISTINCT run FROM critical_path')}
    assert with_path == {trace for trace, path in LOGS.items() if buck2_paths.lines(path, buck2_paths.CRITICAL)}
    assert len(with_path) > 15


# ---- usage, over the samples ----

@pytest.mark.parametrize('sample', ['demo-x86_64', 'cells', 'cells-lost'])
def test_usage_is_that_of_the_step_s_digest(sample):
    db = samples.load(sample)
    usage = {r['digest']: r for r in samples.expected(sample)['results'] if r['source'] == 'action_cache'}
    known = 0
    for step in rows(db, "SELECT * FROM critical_path WHERE kind = 'action'"):
        want = usage.get(step['digest'], {})
        remote = step['execution_kind'] in ('remote', 'action_cache')
        if not remote or 'cpu_ns' not in want:
            assert step['cpu_s'] is None and step['why'] in ('local', 'no_command', 'uploaded_by_client', 'evicted', 'failed')
            continue
        known += 1
        assert step['why'] is None
        assert step['wall_s'] == want['wall_ns'] / 1e9 and step['cpu_s'] == want['cpu_ns'] / 1e9
        assert step['executed_in_this_run'] == (want['invocation_id'] == step['run'])
        assert step['queued_s'] == pytest.approx((want['times_ns']['worker_start'] - want['times_ns']['queued']) / 1e9)
    assert known > 5


@pytest.mark.parametrize('sample', ['demo-x86_64', 'cells'])
def test_packages_are_sums_of_the_path(sample):
    db = samples.load(sample)
    sums = {}
    path = {}
    for step in rows(db, 'SELECT * FROM critical_path'):
        path[step['run']] = path.get(step['run'], 0) + step['duration_s']
        if step['package']:
            sums.setdefault((step['run'], step['package']), []).append(step)
    found = rows(db, 'SELECT * FROM critical_packages')
    assert {(r['run'], r['package']) for r in found} == sums.keys()
    for row in found:
        steps = sums[row['run'], row['package']]
        known = [s for s in steps if s['cpu_s'] is not None]
        assert (row['steps'], row['with_usage']) == (len(steps), len(known))
        assert row['duration_s'] == pytest.approx(sum(s['duration_s'] for s in steps), abs=6e-4)
        assert row['share_pct'] == pytest.approx(100 * sum(s['duration_s'] for s in steps) / path[row['run']], abs=0.06)
        assert (row['cores'] is None) == (not known)
        if known:
            assert row['cores'] == pytest.approx(sum(s['cpu_s'] for s in known) / sum(s['wall_s'] for s in known), abs=6e-3)
            assert row['max_rss_gib'] == pytest.approx(max(s['max_rss_gib'] for s in known), abs=6e-4)


# ---- made rows ----

class Made:
    """One run `r`; each action of it has a result with usage unless told otherwise."""

    def __init__(self):
        self.made = tables.Tables()
        self.made.run('r', 'p', start_ns=START, duration_us=1000 * 10**6)
        self.number, self.steps = 0, []

    def action(self, package='pkg', wall_s=1, cpu_s=1, execution_kind=2, attempt=(), result=True, logged=True, invocation='r'):
        self.number += 1
        name = {'label': f'root//x:{package}', 'category': 'br2_package', 'identifier': f'a{self.number}'}
        if logged:
            self.made.action('r', *name.values(), [{'digest': digest(self.number), **dict(attempt)}],
                             span_id=100 + self.number, execution_kind=execution_kind)
        if result:
            self.made.result(digest(self.number), wall_ns=None if wall_s is None else round(wall_s * S), usage={'user_ns': round(cpu_s * S)},
                             invocation=invocation, worker='w', times={'execution_start': START, 'execution_completed': START + S})
        self.steps.append({'kind': 101, 'span_id': 100 + self.number, 'execution_kind': execution_kind,
                           'digest': digest(self.number), 'duration_us': 10**6, **name})
        return self

    def step(self, **row):
        self.steps.append(row)
        return self

    def path(self):
        self.made.graph('r', self.steps)
        return rows(self.made.finish(), 'SELECT * FROM critical_path')


@pytest.mark.parametrize('action, why', [
    ({}, None),
    ({'execution_kind': 3, 'attempt': {'cache_hit': 1}}, None),
    ({'execution_kind': 1, 'attempt': {'kind': 1}, 'result': False}, 'local'),
    ({'execution_kind': 4, 'logged': False, 'result': False}, 'no_command'),
    ({'execution_kind': 2, 'logged': False, 'result': False}, 'not_logged'),
    ({'execution_kind': 1, 'logged': False, 'result': False}, 'local'),
    ({'result': False}, 'not_asked'),
    ({'result': False, 'attempt': {'status': 3}}, 'failed'),
])
def test_why_no_usage_is_known(action, why):
    (row,) = Made().action(**action).path()
    assert row['why'] == why
    assert (row['cpu_s'] is None) == (why is not None)


@pytest.mark.parametrize('kind', [100, 102, 103, 104, 105, 106, 109, 110, 111, 112, 113, None])
def test_what_runs_no_command_has_no_usage(kind):
    (row,) = Made().step(kind=kind, detail='word', span_id=5).path()
    assert (row['why'], row['label'], row['heavy']) == ('no_command', None, None)
    assert (row['kind'] is None) == (kind is None)


def test_a_step_whose_span_is_not_in_the_log_is_found_by_its_digest():
    """Another command of the same daemon ran it."""
    made = Made()
    made.made.run('other', 'p', start_ns=START)
    made.made.action('other', 'root//x:pkg', 'br2_package', 'a1', [{'digest': digest(1)}])
    (row,) = made.action(logged=False, invocation='other').path()
    assert (row['why'], row['wall_s'], row['executed_in_this_run'], row['executed_by']) == (None, 1.0, 0, 'other')


def test_the_local_fallback_is_what_ran():
    """A remote attempt was given up: its digest's result is not what the path waited for."""
    made = Made()
    made.made.action('r', 'root//x:pkg', 'br2_package', 'a1', [{'digest': digest(1), 'status': 5}, {'digest': digest(1), 'kind': 1}],
                     span_id=101, execution_kind=1)
    (row,) = made.action(execution_kind=1, logged=False).path()
    assert (row['why'], row['wall_s'], row['executed_in_this_run']) == ('local', None, None)


@pytest.mark.parametrize('wall_s, cpu_s, heavy', [(59, 59, 0), (61, 1, 1), (6, 30, 1), (4, 30, 0)])
def test_heavy_is_judged_by_the_package_s_results(wall_s, cpu_s, heavy):
    made = Made().action('big', wall_s, cpu_s).action('big').action('small')
    assert [r['heavy'] for r in made.path()] == [heavy, heavy, 0]


def test_heavy_is_judged_in_the_run_s_project():
    made = Made()
    made.made.run('other', 'q', start_ns=START)
    made.made.action('other', 'root//x:pkg', 'br2_package', 'long', [{'digest': digest(99)}])
    made.made.result(digest(99), wall_ns=100 * S, usage={'user_ns': S})
    assert [r['heavy'] for r in made.action('pkg').path()] == [0]


def test_listed_needs_a_project_json():
    assert [r['listed'] for r in Made().action().path()] == [None]
    made = Made()
    project_id = made.made.intern('project', name='p')
    tables.insert(made.made.db, 'project_file', project_id=project_id, path='/p/project.json', mtime_ns=1)
    tables.insert(made.made.db, 'listed_package', project_id=project_id, package='big', position=0)
    assert [r['listed'] for r in made.action('big').action('small').step(kind=109).path()] == [1, 0, None]


def test_shares_and_order():
    made = Made().step(kind=106, detail='init', duration_us=10**6).action().step(kind=109, duration_us=0, off_path_us=5 * 10**6)
    assert [(r['idx'], r['share_pct'], r['off_path_s']) for r in made.path()] == [(0, 50.0, None), (1, 50.0, None), (2, 0.0, 5.0)]


def test_a_path_of_no_time_has_no_shares():
    assert [r['share_pct'] for r in Made().step(kind=109, duration_us=0).path()] == [None]


def test_a_package_averages_what_tells_both_times():
    made = Made().action(wall_s=10, cpu_s=5).action(wall_s=None, cpu_s=90)
    made.path()
    (row,) = rows(made.made.db, 'SELECT with_usage, wall_s, cpu_s, cores FROM critical_packages')
    assert row == {'with_usage': 2, 'wall_s': 10, 'cpu_s': 95, 'cores': 0.5}


def test_the_largest_numbers_spoil_no_view():
    made = Made()
    for _ in range(3):
        made.action()
        made.steps[-1] |= {'start_off_ns': 2**63 - 1, **{f'{n}_us': 2**63 - 1 for n in ('duration', 'user', 'total', 'potential', 'queue')}}
    assert [round(r['share_pct'], 3) for r in made.path()] == [33.333] * 3
    (row,) = rows(made.made.db, 'SELECT * FROM critical_packages')
    assert row['duration_s'] == pytest.approx(3 * 2**63 / 1e6)
