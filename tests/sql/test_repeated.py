"""The same digests referred to by run after run, as when a warm tree is built all week: what the views and the
report's statements cost must grow with the references, not with their square. Counted in steps of SQLite's machine."""
import json

import pytest

from builds import S, START, digest
from samples import rows
import tables

FEW, MANY = 20, 80  # runs
DIGESTS, TESTS, FAILED = 12, 4, 2
SQL = tables.ROOT / 'ingest/sql'
STATEMENTS = sorted([*SQL.glob('report_*.sql'), *SQL.glob('html_*.sql')])
STATEMENTS.remove(SQL / 'report_scope.sql')


def made(runs):
    """Dev runs that all refer to the same digests: of actions, of tests and of an action that fails each time."""
    made = tables.Tables()
    for number in range(runs):
        trace, start = f'{number:08x}', START + number * 100 * S
        made.run(trace, start_ns=start, config={'br2.dev_tools': 'true'})
        for action in range(DIGESTS):
            made.action(trace, f'root//x:p{action}', 'br2_package', 'build', [{'digest': digest(action), 'cache_hit': int(number > 0)}])
        for test in range(TESTS):
            made.action(trace, f'root//t:t{test}', attempts=[{'digest': digest(100 + test)}], type=2)
        for failed in range(FAILED):
            span = made.action(trace, f'root//x:bad{failed}', 'br2_package', 'build', failed=1,
                               attempts=[{'digest': digest(200 + failed), 'status': 3, 'exit_code': 137}])
            made.result(digest(200 + failed), exit_code=137, attempt=(trace, span, 0), worker='w', invocation=trace,
                        wall_ns=S, usage={'user_ns': S}, times={'execution_start': start, 'execution_completed': start + S})
    for number in [*range(DIGESTS), *range(100, 100 + TESTS)]:
        made.result(digest(number), wall_ns=S, worker='w', invocation='00000000', usage={'user_ns': S},
                    times={'execution_start': START, 'execution_completed': START + S})
    return made.finish()


@pytest.fixture(scope='module')
def both():
    return made(FEW), made(MANY)


def steps(db, sql, parameters=()):
    """Hundreds of steps of SQLite's machine that the statement takes."""
    taken = 0

    def count():
        nonlocal taken
        taken += 1

    db.set_progress_handler(count, 100)
    db.execute(sql, parameters).fetchall()
    db.set_progress_handler(None, 0)
    return taken


def assert_linear(both, sql, parameters=lambda db: ()):
    few, many = (steps(db, sql, parameters(db)) for db in both)
    assert many <= 1.4 * MANY / FEW * max(few, 10)


def of_runs(db, runs, **others):
    chosen = [r['run_id'] for r in rows(db, 'SELECT run_id FROM run ORDER BY run_id LIMIT ?', runs)]
    return {'runs': json.dumps(chosen), 'min_wall_s': 0, 'top': 10, 'invocation': '00000000', **others}


# Of each pair of runs they have rows; run_usage looks, for each run, at each historical result of its digests.
SQUARE = {'_pair_item', '_pair_judged', '_pair_noise', '_pair_shown', '_pair_sum', 'run_compare', 'run_compare_packages', 'run_usage'}
VIEWS = [r['name'] for r in rows(tables.create(), "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")]


@pytest.mark.parametrize('view', [v for v in VIEWS if v not in SQUARE])
def test_a_view_grows_with_the_references(both, view):
    assert_linear(both, f'SELECT * FROM "{view}"')


@pytest.mark.parametrize('view', ['run_usage', *(v for v in VIEWS if v.endswith('_by_run'))])
def test_a_run_of_a_view_grows_with_the_references(both, view):
    assert_linear(both, f"SELECT * FROM {view} WHERE run = '00000003'")


@pytest.mark.parametrize('no_tests', [0, 1])
@pytest.mark.parametrize('runs', [1, MANY], ids=['one_run', 'all_runs'])
@pytest.mark.parametrize('file', STATEMENTS, ids=lambda file: file.stem)
def test_a_statement_of_the_report_grows_with_the_references(both, file, runs, no_tests):
    sql = (SQL / 'report_scope.sql').read_text() + file.read_text()
    assert_linear(both, sql, lambda db: of_runs(db, runs, no_tests=no_tests))


def notes(db, no_tests):
    cursor = db.execute((SQL / 'report_scope.sql').read_text() + (SQL / 'report_notes.sql').read_text(),
                        of_runs(db, MANY, no_tests=no_tests))
    return dict(zip([d[0] for d in cursor.description], cursor.fetchone()))


def test_the_report_counts_each_digest_once(both):
    for db in both:
        found = notes(db, no_tests=0)
        assert (found['test_digests'], found['unmeasured'], found['failed_found']) == (TESTS, DIGESTS + TESTS + FAILED, FAILED)
        found = notes(db, no_tests=1)
        assert (found['unmeasured'], found['failed_found']) == (DIGESTS + FAILED, FAILED)
