"""Usage that is not known, or whose wall time is not: it is counted, and no average divides it by the wall time of others."""
import pytest

from builds import S, START, digest
from samples import rows
import tables


@pytest.fixture(scope='module')
def db():
    """Of two results of one package, run, worker and invocation one tells its CPU time alone."""
    made = tables.Tables()
    made.run('run', 'project', start_ns=START)
    for number, wall in ((1, 10 * S), (2, None)):
        made.action('run', 'root//:pkg', 'br2_package', f'step-{number}', [{'digest': digest(number)}])
        made.result(digest(number), wall_ns=wall, max_rss_bytes=2**30, worker='worker', invocation='run', usage={'user_ns': 5 * S * number})
    return made.finish()


def test_summary_by_project_adds_up_to_summary(db):
    whole, project = (rows(db, f'SELECT digests, with_usage, wall_h, cpu_h, only_historical FROM {view}')
                      for view in ('summary', 'summary_by_project'))
    assert project == whole
    assert (whole[0]['digests'], whole[0]['with_usage']) == (2, 2)


@pytest.mark.parametrize('view, column', [('summary', 'avg_cores'), ('summary_by_project', 'avg_cores'), ('summary_by_run', 'avg_cores'),
                                          ('packages', 'avg_cores'), ('packages_by_project', 'avg_cores'), ('packages_by_run', 'avg_cores'),
                                          ('workers', 'avg_cores'), ('executions', 'avg_cores'), ('trend', 'cores')])
def test_no_average_divides_it_by_the_wall_time_of_others(db, view, column):
    assert rows(db, f'SELECT {column} FROM {view}') == [{column: 0.5}]


@pytest.mark.parametrize('view', ['packages', 'packages_by_project', 'packages_by_run'])
def test_a_package_without_usage_used_nobody_knows_what(view):
    made = tables.Tables()
    made.run('run', 'project', start_ns=START)
    made.action('run', 'root//:pkg', attempts=[{'digest': digest(1), 'status': 3}], failed=1)
    (row,) = rows(made.finish(), f'SELECT * FROM {view}')
    assert (row['actions'], row['unknown']) == (0, 1)
    assert {row[column] for column in ('wall_h', 'cpu_h', 'avg_cores', 'max_cores', 'longest_s', 'max_rss_gib')} == {None}
