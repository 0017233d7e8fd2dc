"""package_sizes: the smallest shape that suits all executions of a package, against plain Python."""
import collections

import pytest

from builds import POD, WORKER, at
from samples import rows
from sizes import GIB, MIB, S, POOLS, Sized, random_sizes

SHAPES = [('small', 1500, 4 * GIB), ('big', 6000, 12 * GIB)]


def under(r):
    return r.allotment and r.allotment['memory_limit_bytes']


def heavy(r):
    return r.wall_ns > 60 * S or r.wall_ns > 5 * S and r.cores > 4


def without_outliers(results, odd, repeats):
    """Those of `odd`, but for one alone of an action that has 20 `repeats`."""
    of_action = collections.Counter((r.category, r.identifier) for r in odd)
    all_of = collections.Counter((r.category, r.identifier) for r in repeats)
    return [r for r in odd if of_action[r.category, r.identifier] > 1 or all_of[r.category, r.identifier] < 20]


def decisive(results, is_odd, is_repeat):
    """Those that are odd, but for outliers: actions are compared under the same limit alone."""
    parts = collections.defaultdict(list)
    for r in results:
        parts[under(r)].append(r)
    return [r for part in parts.values()
            for r in without_outliers(part, [r for r in part if is_odd(r)], [r for r in part if is_repeat(r)])]


def shape_of(results):
    """By the rule, without kills: the smallest that suits under whatever limit they ran."""
    is_heavy = decisive(results, heavy, lambda r: True)
    for name, cpu_milli, limit in SHAPES:
        over = decisive(results, lambda r: (r.mib or 0) * 115 > limit // MIB * 100, lambda r: r.rss)
        if any(r.mib for r in results) and (cpu_milli > 4000 or not is_heavy) and not over:
            return name
    return None


def compare(db, view, results, where='1'):
    groups = collections.defaultdict(list)
    for r in results:
        if r.cpu_ns is not None:
            groups[r.package].append(r)
    found = {r['package']: r for r in rows(db, f'SELECT * FROM {view} WHERE {where}')}
    assert set(found) == set(groups)
    for package, part in groups.items():
        largest = max((r.peak for r in part if r.peak), default=None)
        want = {'results': sum(bool(r.mib) for r in part), 'unknown': sum(not r.mib for r in part), 'heavy_results': sum(map(heavy, part)),
                'largest_gib': largest and pytest.approx(largest / GIB, abs=0.0006), 'shape': shape_of(part)}
        assert {k: found[package][k] for k in want} == want, package


@pytest.mark.parametrize('seed', range(56))
def test_shapes(seed):
    made = random_sizes(seed, [1, 5, 20, 40, 150, 300][seed % 6], calm=seed >= 32)
    db = made.made.finish()
    compare(db, 'package_sizes', made.results)
    for trace, project in (('r', 'one'), ('s', 'two')):
        compare(db, 'package_sizes_by_project', [r for r in made.results if r.trace == trace], f"project = '{project}'")


def one(made, view='package_sizes'):
    (row,) = rows(made.made.finish(), f'SELECT * FROM {view}')
    return row


def filled(count, **row):
    made = Sized()
    for _ in range(count):
        made.add('r', **{'rss': 100 * MIB, 'allotment': POOLS[1], **row})
    return made


ODD = [{'rss': 5 * GIB}, {'wall_ns': 61 * S}, {'wall_ns': 6 * S, 'cpu_ns': 30 * S}, {'rss': 100 * MIB, 'peak': 5 * GIB, 'samples': 3},
       {'rss': 5 * GIB, 'wall_ns': 50 * S}]


@pytest.mark.parametrize('others, shape', [(18, 'big'), (19, 'small')])
@pytest.mark.parametrize('odd', ODD)
def test_one_of_twenty_of_an_action_does_not_decide(others, shape, odd):
    for view in ('package_sizes', 'package_sizes_by_project'):
        made = filled(others, identifier='x')
        made.add('r', **{'rss': 100 * MIB, 'allotment': POOLS[1], 'identifier': 'x', **odd})
        row = one(made, view)
        assert row['shape'] == shape
        assert ('left out' in row['reason']) == (shape == 'small')


@pytest.mark.parametrize('odd', ODD)
@pytest.mark.parametrize('other', [{'identifier': 'y'}, {'category': 'd'}, {'allotment': POOLS[3]}, {'trace': 's'}])
def test_one_of_many_other_actions_decides(odd, other):
    """It is all that is known of its action, and comes again with each cold build."""
    made = Sized(r='one', s='two')
    for _ in range(1500 if other == {'identifier': 'y'} and 'peak' not in odd else 30):
        made.add(**{'trace': 'r', 'rss': 100 * MIB, 'allotment': POOLS[1], 'identifier': 'x', **other})
    made.add('r', **{'rss': 100 * MIB, 'allotment': POOLS[1], 'identifier': 'x', **odd})
    view = 'package_sizes_by_project' if 'trace' in other else 'package_sizes'
    found = rows(made.made.finish(), f'SELECT * FROM {view}' + (" WHERE project = 'one'" if 'trace' in other else ''))
    assert [r['shape'] for r in found] == ['big']


def test_what_is_known_of_memory_makes_an_outlier():
    made = filled(10, identifier='x')
    for number in range(10):
        made.add('r', rss=5 * GIB if number == 0 else None, allotment=POOLS[1], identifier='x')
    row = one(made)
    assert (row['results'], row['unknown'], row['shape']) == (11, 9, 'big')


def test_where_no_memory_is_known_no_shape_is():
    row = one(filled(30, rss=None))
    assert (row['results'], row['unknown'], row['largest_gib'], row['shape']) == (0, 30, None, None)
    assert row['reason'] == 'no memory is known'


def failing(others, rss, **row):
    """A failed execution of package p, of which no container tells, with others that are in the cache."""
    made = filled(others, identifier='x')
    span = made.made.action('r', 'root//x:p', 'c', 'x', [{'digest': f'{999:064x}:141', 'status': 3, 'exit_code': -1}], failed=1)
    made.made.result(f'{999:064x}:141', exit_code=-1, termination_signal='KILL', worker='w', invocation='r', usage={'user_ns': S},
                     max_rss_bytes=rss, attempt=('r', span, 0), allotment=POOLS[1])
    return made.made.finish()


@pytest.mark.parametrize('others', [0, 30])
@pytest.mark.parametrize('rss, shape', [(GIB, 'small'), (5 * GIB, 'big'), (13 * GIB, None)])
def test_what_failed_decides(others, rss, shape):
    """Also where nothing else is known of the package, and however often it went well."""
    db = failing(others, rss)
    for view in ('package_sizes', 'package_sizes_by_project'):
        (row,) = rows(db, f'SELECT * FROM {view}')
        assert (row['results'], row['failed'], row['largest_gib'], row['oom_kills']) == (others, 1, rss / GIB, 0)
        assert row['shape'] == shape
        assert 'suspected ones, of which no container tells: 1' in row['reason']


@pytest.mark.parametrize('key', ['heavy_wall_s', 'heavy_cores', 'heavy_cores_min_s', 'sizing_margin_pct', 'outlier_results', 'sizing_oom_pct'])
def test_without_a_setting_no_shape_is_said_to_suit(key):
    db = failing(30, GIB)
    db.execute('DELETE FROM setting WHERE key = ?', (key,))
    for view in ('package_sizes', 'package_sizes_by_project'):
        (row,) = rows(db, f'SELECT * FROM {view}')
        assert (row['results'], row['shape']) == (30, None) and 'is missing' in row['reason']


def test_without_the_setting_of_outliers_none_is_left_out():
    db = filled(30, identifier='x', wall_ns=61 * S).made.finish()
    db.execute("DELETE FROM setting WHERE key = 'outlier_results'")
    for view in ('package_sizes', 'package_sizes_by_project'):
        (row,) = rows(db, f'SELECT * FROM {view}')
        assert (row['heavy_results'], row['shape']) == (30, None) and row['reason'].endswith('is missing; heavy: 30 results')


def test_where_nothing_fits_under_one_limit_nothing_suits_the_package():
    made = filled(30)
    made.add('r', rss=11 * GIB, allotment=POOLS[-1])
    db = made.made.finish()
    for form in ('', '_by_project'):
        (row,) = rows(db, f'SELECT * FROM package_sizes{form}')
        assert (row['results'], row['shape'], row['reason']) == (31, None, 'no shape is large enough')


def test_two_of_many_decide():
    made = filled(100)
    for _ in range(2):
        made.add('r', rss=5 * GIB, allotment=POOLS[1])
    assert one(made)['shape'] == 'big'


@pytest.mark.parametrize('margin, shape', [(15, 'big'), (0, 'small')])
def test_nothing_eats_up_the_margin(margin, shape):
    """Two over 3561 MiB and below 4096 MiB, however short they are: as `br2-ingest plan` has it."""
    made = filled(95, wall_ns=20 * S)
    for _ in range(2):
        made.add('r', rss=4000 * MIB, wall_ns=1, allotment=POOLS[1])
    db = made.made.finish()
    db.execute("UPDATE setting SET value = ? WHERE key = 'sizing_margin_pct'", (margin,))
    (row,) = rows(db, 'SELECT * FROM package_sizes')
    assert row['shape'] == shape


@pytest.mark.parametrize('count, words', [(1, 'heavy: 1 result'), (2, 'heavy: 2 results')])
def test_one_heavy_result_is_not_several(count, words):
    made = filled(3)
    for _ in range(count):
        made.add('r', rss=100 * MIB, wall_ns=61 * S, allotment=POOLS[1])
    assert one(made)['reason'].endswith(words)


@pytest.mark.parametrize('seed', range(6))
def test_what_is_not_summed_up_yet_is_added_up(seed):
    """A package that is due has no sums: an ingest was cut short, or goes on. Nothing that is shown changes."""
    views = ('package_sizes', 'package_sizes_by_project', 'packages', 'packages_by_project', 'heavy_packages', 'heavy_packages_by_project',
             'heavy_json')
    made = random_sizes(seed, 150, calm=seed >= 3)
    made.made.lists('one', ['p', 'q', 'none'])
    db = made.made.finish()
    before = {view: rows(db, f'SELECT * FROM {view}') for view in views}
    assert before['packages']
    for package in ('p', 'q'):
        db.execute('INSERT INTO package_due SELECT package_id FROM package WHERE name = ?', (package,))
        db.execute('DELETE FROM package_sum WHERE package_id = (SELECT package_id FROM package WHERE name = ?)', (package,))
        assert {view: rows(db, f'SELECT * FROM {view}') for view in views} == before


def test_nothing_fits():
    row = one(filled(1, rss=11 * GIB))
    assert (row['shape'], row['reason']) == (None, 'no shape is large enough')


def test_the_largest_counts_under_whatever_limit():
    made = filled(30)
    for _ in range(2):
        made.add('r', rss=5 * GIB, allotment=POOLS[-1])
    row = one(made)
    assert (row['results'], row['largest_gib'], row['shape']) == (32, 5.0, 'big')


def test_all_that_is_asked_for_one_shape_must_have():
    """Heavy under one limit and large under another: neither the wide nor the large one suits."""
    made = filled(1, wall_ns=61 * S)
    made.add('r', rss=6 * GIB, allotment=POOLS[3])
    db = made.made.finish()
    db.execute('DELETE FROM shape')
    db.executemany('INSERT INTO shape VALUES (?, ?, 1, ?)', [('wide', 6000, 5 * GIB), ('large', 2000, 12 * GIB), ('both', 6000, 13 * GIB)])
    for view in ('package_sizes', 'package_sizes_by_project'):
        (row,) = rows(db, f'SELECT * FROM {view}')
        assert row['shape'] == 'both'


@pytest.mark.parametrize('limit, shape', [(3 * GIB, 'small'), (4 * GIB, 'big'), (11 * GIB, None), (None, 'big')])
def test_a_kill_asks_for_more_than_its_limit(limit, shape):
    """Though each result that is known fits the small one."""
    made = filled(100, allotment={**POOLS[1], 'memory_limit_bytes': limit})
    pod = made.made.pod(POD, limit)
    worker = WORKER % POD
    span = made.made.action('r', 'root//x:p', 'c', 'bad', [{'digest': f'{999:064x}:141', 'status': 3, 'exit_code': -1}], failed=1)
    made.made.result(f'{999:064x}:141', exit_code=-1, termination_signal='KILL', worker=worker, invocation='r', usage={'user_ns': S},
                     attempt=('r', span, 0), times={'execution_start': at(1), 'execution_completed': at(5)})
    made.made.ended(pod, at(5))
    for view in ('package_sizes', 'package_sizes_by_project'):
        (row,) = rows(made.db if hasattr(made, 'db') else made.__dict__.setdefault('db', made.made.finish()), f'SELECT * FROM {view}')
        assert (row['oom_kills'], row['shape']) == (1, shape)
        assert 'killed for memory: 1' in row['reason']
