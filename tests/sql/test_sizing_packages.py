"""package_sizes: the smallest shape that suits all executions of a package, against plain Python."""
import pytest

from builds import POD, WORKER, at
from samples import rows
from sizes import GIB, MIB, S, POOLS, Sized, random_sizes

SHAPES = [('small', 1500, 4 * GIB), ('big', 6000, 12 * GIB)]
ORDER = {name: place for place, (name, _, _) in enumerate(SHAPES)}


def under(r):
    return r.allotment and r.allotment['memory_limit_bytes']


def heavy(r):
    return r.wall_ns > 60 * S or r.wall_ns > 5 * S and r.cores > 4


def suits(results, cpu_milli, limit_bytes):
    """By the rule, without kills."""
    spare = len(results) >= 20
    known = [r for r in results if r.mib]
    over = [r for r in known if r.mib * 115 > limit_bytes // MIB * 100]
    killed = [r for r in known if r.mib * MIB > limit_bytes]
    little = sum(r.wall_ns for r in over) * 20 <= sum(r.wall_ns for r in results)
    return (cpu_milli > 4000 or sum(map(heavy, results)) <= spare) and (len(over) <= spare or little and len(killed) <= spare)


def shape_of(results):
    return next((name for name, cpu, limit in SHAPES if suits(results, cpu, limit)), None)


def compare(db, view, results, where='1'):
    used = [r for r in results if r.cpu_ns is not None]
    groups = {}
    for r in used:
        groups.setdefault((r.package, under(r)), []).append(r)
    shapes = {key: shape_of(part) for key, part in groups.items()}
    wanted = {}
    for (package, limit), part in groups.items():
        of_package = [s for (p, _), s in shapes.items() if p == package]
        largest = max((r.peak for r in part if r.peak), default=None)
        wanted[package, limit and limit / GIB] = {
            'results': sum(bool(r.mib) for r in part), 'unknown': sum(not r.mib for r in part), 'heavy_results': sum(map(heavy, part)),
            'largest_gib': largest and pytest.approx(largest / GIB, abs=0.0006), 'shape': shapes[package, limit],
            'package_shape': None if None in of_package else max(of_package, key=ORDER.get)}
    found = {(r['package'], r['under_gib']): r for r in rows(db, f'SELECT * FROM {view} WHERE {where}')}
    assert set(found) == set(wanted)
    for key, want in wanted.items():
        assert {k: found[key][k] for k in want} == want, key


@pytest.mark.parametrize('seed', range(32))
def test_shapes(seed):
    made = random_sizes(seed, [1, 5, 20, 40, 150, 300][seed % 6])
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


@pytest.mark.parametrize('others, shape', [(18, 'big'), (19, 'small')])
@pytest.mark.parametrize('odd', [{'rss': 5 * GIB}, {'wall_ns': 61 * S}, {'peak': 5 * GIB, 'samples': 3}, {'rss': 5 * GIB, 'wall_ns': 50 * S}])
def test_one_of_twenty_does_not_decide(others, shape, odd):
    made = filled(others)
    made.add('r', **{'rss': 100 * MIB, 'allotment': POOLS[1], **odd})
    row = one(made)
    assert (row['shape'], row['package_shape']) == (shape, shape)
    assert ('left out' in row['reason']) == (shape == 'small')


def test_results_of_unknown_memory_are_among_the_many():
    made = filled(10)
    for number in range(10):
        made.add('r', rss=5 * GIB if number == 0 else None, allotment=POOLS[1])
    row = one(made)
    assert (row['results'], row['unknown'], row['shape']) == (11, 9, 'small')


def test_where_nothing_fits_under_one_limit_nothing_suits_the_package():
    made = filled(30)
    made.add('r', rss=11 * GIB, allotment=POOLS[-1])
    db = made.made.finish()
    for form in ('', '_by_project'):
        found = {r['under_gib']: (r['shape'], r['package_shape']) for r in rows(db, f'SELECT * FROM package_sizes{form}')}
        assert found == {9.0: ('small', None), None: (None, None)}


def test_two_of_many_decide():
    made = filled(100)
    for _ in range(2):
        made.add('r', rss=5 * GIB, allotment=POOLS[1])
    assert one(made)['shape'] == 'big'


@pytest.mark.parametrize('wall_s, shape', [(2, 'small'), (3, 'big')])
def test_few_percent_of_the_time_may_eat_up_the_margin(wall_s, shape):
    """Two over 3561 MiB and below 4096 MiB; 100 s are all."""
    made = filled(95)
    for _ in range(2):
        made.add('r', rss=4000 * MIB, wall_ns=wall_s * S, allotment=POOLS[1])
    assert one(made)['shape'] == shape


def test_nothing_fits():
    row = one(filled(1, rss=11 * GIB))
    assert (row['shape'], row['package_shape'], row['reason']) == (None, None, 'no shape is large enough')


def test_limits_are_told_apart_and_the_larger_shape_counts():
    made = filled(30)
    for _ in range(2):
        made.add('r', rss=5 * GIB, allotment=POOLS[-1])
    found = {r['under_gib']: (r['shape'], r['package_shape']) for r in rows(made.made.finish(), 'SELECT * FROM package_sizes')}
    assert found == {9.0: ('small', 'big'), None: ('big', 'big')}


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
        assert (row['oom_kills'], row['shape'], row['package_shape']) == (1, shape, shape)
        assert 'killed for memory: 1' in row['reason']
