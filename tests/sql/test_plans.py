"""How SQLite runs the views: a filter on the first column of the _by_ forms, and the
equality filters that people type on usage and run_usage, are searches. Read from the
byte code: which b-trees are walked from one end (Rewind, Last)."""
import pytest

from samples import rows
import tables

# Indexes of few rows; a walk over them is no scan.
SMALL = {'lookup_open', 'result_no_usage', 'result_time_irregular', 'attempt_unsuccessful', 'action_test', 'action_failed',
         'result_signal', 'result_historical'}
BIG = {'action', 'attempt', 'lookup', 'path_step', 'result', 'result_time', 'rusage'}
FORMS = ['summary', 'wall_time_buckets', 'top_actions', 'oom_kills', 'packages', 'heavy_packages', 'phases', 'missing_results',
         'cache_use', 'signals', 'failures', 'oom_checked']
# They begin with the few failed attempts and results on a signal, and look whose each is.
OF_FEW = {'oom_kills', 'signals', 'failures', 'oom_checked'}
FILTERS = ["= '83f0c2aa'", "GLOB '83f0*'", "IN ('83f0c2aa', '83f0c2ab')"]


@pytest.fixture(scope='module')
def db():
    return tables.create()


BY_DIGEST = 'lookup_by_digest (ANY(batch) AND digest_key=?)'  # begins at one end, and skips from batch to batch


def walked(db, sql, *parameters):
    """Names of the large tables and indexes that the statement reads from one end."""
    names = {r['rootpage']: r for r in rows(db, 'SELECT rootpage, name, tbl_name FROM sqlite_schema WHERE rootpage > 0')}
    cursors, found = {}, set()
    for row in rows(db, f'EXPLAIN {sql}', *parameters):
        if row['opcode'] == 'OpenRead':
            cursors[row['p1']] = names[row['p2']]
        if row['opcode'] in ('Rewind', 'Last') and row['p1'] in cursors:
            tree = cursors[row['p1']]
            if tree['tbl_name'] in BIG and tree['name'] not in SMALL:
                found.add(tree['name'])
    if any(BY_DIGEST in r['detail'] for r in rows(db, f'EXPLAIN QUERY PLAN {sql}', *parameters)):
        found.discard('lookup_by_digest')
    return found


def plan(db, sql):
    return [r['detail'] for r in rows(db, f'EXPLAIN QUERY PLAN {sql}')]


@pytest.mark.parametrize('view', FORMS)
@pytest.mark.parametrize('condition', FILTERS)
def test_filter_on_run_is_pushed_down(db, view, condition):
    sql = f'SELECT * FROM {view}_by_run WHERE run {condition}'
    assert walked(db, sql) == set()
    assert any('trace_id' in step or 'sqlite_autoindex_run_1' in step for step in plan(db, sql)) or view in OF_FEW


@pytest.mark.parametrize('view', FORMS)
@pytest.mark.parametrize('condition', FILTERS)
def test_filter_on_project_is_pushed_down(db, view, condition):
    """One walk over the results for one project, not one for each project of the file."""
    sql = f'SELECT * FROM {view}_by_project WHERE project {condition}'
    assert walked(db, sql) <= {'result', 'result_bucket', 'result_wall'}
    if walked(db, sql) - {'result_wall', 'result_bucket'}:  # of all counted results, in some order
        assert any('sqlite_autoindex_project_1 (name' in step for step in plan(db, sql))


@pytest.mark.parametrize('view', ['usage', 'run_usage'])
@pytest.mark.parametrize('column', ['label', 'package', 'digest', 'executed_by'])
def test_equality_on_usage_is_a_search(db, view, column):
    assert walked(db, f"SELECT * FROM {view} WHERE {column} = 'x'") == set()


@pytest.mark.parametrize('view', ['usage', 'run_usage', '_lookup'])
def test_a_digest_is_searched_in_each_batch(db, view):
    assert any(BY_DIGEST in step for step in plan(db, f"SELECT * FROM {view} WHERE digest = 'x'"))


@pytest.mark.parametrize('condition', FILTERS)
def test_filter_on_run_usage_is_a_search(db, condition):
    sql = f'SELECT * FROM run_usage WHERE run {condition}'
    assert walked(db, sql) == set()
    # Whoever knows the lookup must find its result by it: by package took 20 times as long.
    assert not any('result_package' in step for step in plan(db, sql))


@pytest.mark.parametrize('view', ['critical_path', 'slowest_path', 'critical_packages'])
@pytest.mark.parametrize('condition', FILTERS)
def test_filter_on_paths_is_a_search(db, view, condition):
    sql = f'SELECT * FROM {view} WHERE run {condition}'
    assert walked(db, sql) == set()
    assert any('SEARCH s USING PRIMARY KEY (run_id=? AND path=?)' in step for step in plan(db, sql))
    assert any('SEARCH g USING INDEX sqlite_autoindex_run_1 (trace_id' in step for step in plan(db, sql))


@pytest.mark.parametrize('condition', FILTERS)
def test_filter_on_runs_is_a_search(db, condition):
    assert walked(db, f'SELECT * FROM runs WHERE run {condition}') == set()


def test_parameter_is_pushed_down_as_a_literal(db):
    assert walked(db, 'SELECT * FROM wall_time_buckets_by_run WHERE run = ?', '83f0c2aa') == set()


def test_top_actions_stops_at_its_limit(db):
    """The index gives the order: nothing is sorted."""
    steps = [r['detail'] for r in rows(db, 'EXPLAIN QUERY PLAN SELECT * FROM top_actions LIMIT 20') if r['parent'] == 0]
    assert steps[0].startswith('SCAN r USING INDEX result_wall')
    assert 'USE TEMP B-TREE FOR ORDER BY' not in steps


def test_percentile_walks_an_index_only(db):
    assert walked(db, 'SELECT * FROM wall_time_buckets') == set()
    assert any('result_bucket (bucket=?)' in step for step in plan(db, 'SELECT * FROM wall_time_buckets'))


@pytest.mark.parametrize('view', ['workers', 'executions', 'cells', 'runs'])
def test_views_of_runs_and_workers_scan_no_results(db, view):
    assert walked(db, f'SELECT * FROM {view}') == set()


@pytest.mark.parametrize('form, value, searched', [('', None, 2), ('_by_run', 'a', 1), ('_by_project', 'one', 1), ('_by_run', 'none', 0)])
def test_texts_are_searched_once_and_only_where_asked(form, value, searched):
    """What a failed action printed is the largest that oom_kills looks at."""
    made = tables.Tables()
    for trace, project in (('a', 'one'), ('b', 'two')):
        made.run(trace, project)
        made.action(trace, 'root//:x', failed=1, attempts=[{'digest': f'{1:064x}:141', 'status': 3, 'exit_code': 1, 'stderr': 'error'}])
    db = made.finish()
    seen = []
    db.create_function('instr', 2, lambda text, word: seen.append(text) or 0, deterministic=True)
    where = f" WHERE {form[4:]} = '{value}'" if form else ''
    db.execute(f'SELECT * FROM oom_kills{form}{where}').fetchall()
    assert seen.count('error') == searched * rows(db, 'SELECT count(*) AS n FROM oom_pattern')[0]['n']


@pytest.mark.parametrize('view', ['run_compare', 'run_compare_packages'])
@pytest.mark.parametrize('other', ["= '83f0c2aa'", "IN ('83f0c2aa', '83f0c2ab')"])
def test_two_runs_are_searches(db, view, other):
    """Of a side only its run's attempts or its invocation's results are read."""
    assert walked(db, f"SELECT * FROM {view} WHERE run_a = '83f0c2aa' AND run_b {other}") == set()


@pytest.mark.parametrize('column', ['package', 'label'])
def test_trend_of_a_package_is_a_search(db, column):
    assert walked(db, f"SELECT * FROM trend WHERE {column} = 'x'") == set()


@pytest.mark.parametrize('view', ['concurrency', '_invocation_made', 'worker_skew', 'phases_by_invocation'])
@pytest.mark.parametrize('condition', FILTERS)
def test_filter_on_invocation_is_pushed_down(db, view, condition):
    sql = f'SELECT * FROM {view} WHERE invocation {condition}'
    assert walked(db, sql) == set()
    assert any('request_by_invocation (invocation' in step for step in plan(db, sql))


@pytest.mark.parametrize('condition', FILTERS)
def test_concurrency_summary_is_kept(db, condition):
    """Its other half is made under a limit, which is 0 where nothing is due: see test_executions.py."""
    steps = plan(db, f'SELECT * FROM concurrency_summary WHERE invocation {condition}')
    assert any('SEARCH invocation_sum USING PRIMARY KEY (invocation' in step for step in steps)


def test_concurrency_sorts_changes_once(db):
    """To add them up; and then its tenths of a second, by its window, an order on which the view relies."""
    steps = plan(db, "SELECT * FROM concurrency WHERE invocation = 'x'")
    assert [step for step in steps if 'USE TEMP B-TREE' in step] == \
        ['USE TEMP B-TREE FOR GROUP BY', 'USE TEMP B-TREE FOR RIGHT PART OF ORDER BY']
