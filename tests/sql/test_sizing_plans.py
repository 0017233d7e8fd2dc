"""How SQLite runs the views of sizes: as test_plans.py has it for the others."""
import pytest

from test_plans import FILTERS, plan, walked
import tables

# Of these the kills begin with the few failed attempts and look whose each is; their filter is looked at last.
BY_RUN = ['worker_sizing_by_run', 'shape_fit_by_run']
KEPT_BY_PROJECT = ['worker_sizing_by_project', 'shape_fit_by_project', 'waste_by_project']


@pytest.fixture(scope='module')
def db():
    return tables.create()


@pytest.mark.parametrize('view', BY_RUN)
@pytest.mark.parametrize('condition', FILTERS)
def test_filter_on_run_is_pushed_down(db, view, condition):
    sql = f'SELECT * FROM {view} WHERE run {condition}'
    assert walked(db, sql) == set()
    assert any('sqlite_autoindex_run_1 (trace_id' in step for step in plan(db, sql))


@pytest.mark.parametrize('view', KEPT_BY_PROJECT)
@pytest.mark.parametrize('condition', ['', *(f'WHERE project {f}' for f in FILTERS)])
def test_sizes_of_a_project_are_read_off_what_is_kept(db, view, condition):
    assert walked(db, f'SELECT * FROM {view} {condition}') == set()


@pytest.mark.parametrize('sql', ['package_sizes', 'packages', 'heavy_json', 'heavy_packages', *(
    f'{view}_by_project WHERE project {f}' for view in ('package_sizes', 'packages') for f in FILTERS)])
def test_sums_of_packages_are_kept(db, sql):
    """Of the results only those that are heavy or large are looked at, each by an index."""
    assert walked(db, f'SELECT * FROM {sql}') == set()


@pytest.mark.parametrize('condition', FILTERS)
def test_sums_of_a_project_are_searched(db, condition):
    steps = plan(db, f'SELECT * FROM packages_by_project WHERE project {condition}')
    assert any('SEARCH s USING PRIMARY KEY (project_id=?)' in step for step in steps)
    assert any('sqlite_autoindex_project_1 (name' in step for step in steps)


@pytest.mark.parametrize('view', ['shape_fit_by_package', 'waste_by_package'])
@pytest.mark.parametrize('condition', FILTERS)
def test_filter_on_package_is_a_search(db, view, condition):
    assert walked(db, f'SELECT * FROM {view} WHERE package {condition}') == set()


def test_filter_on_invocation_is_a_search(db):
    sql = "SELECT * FROM waste_by_invocation WHERE invocation = 'x'"
    assert any('request_by_invocation (invocation=' in step for step in plan(db, sql))


@pytest.mark.parametrize('view', ['worker_sizing', 'shape_fit', 'waste'])
def test_sizes_are_read_off_what_is_kept(db, view):
    assert walked(db, f'SELECT * FROM {view}') == set()
