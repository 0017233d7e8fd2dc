"""shape_fit: what fits which shape, against plain Python."""
import pytest

from samples import rows
from sizes import GIB, MIB, S, POOLS, Sized, random_sizes

NOW = {'small': (1500, 4 * GIB), 'big': (6000, 12 * GIB), 'pool shared': (4500, 9 * GIB), 'pool c/legacy': (7000, 12 * GIB)}

FUTURE = 7 * 10 ** 18


def with_pools(made):
    spec = 'INSERT INTO pool_spec (cache, pool, valid_from_ns, enabled, cpu_request_milli, memory_request_bytes, memory_limit_bytes)' \
        ' VALUES (?, ?, ?, ?, ?, ?, ?)'
    made.made.db.executemany(spec, [
        ('', 'shared', 1, 1, 7000, 12 * GIB, 12 * GIB), ('', 'shared', 2, None, 4500, 8 * GIB, 9 * GIB),
        # Not in force yet: neither is it today's, nor does it hide what is.
        ('', 'shared', FUTURE, 1, 1000, GIB, GIB), ('', 'later', FUTURE, 1, 1000, GIB, GIB),
        ('', 'off', 2, 0, 1000, GIB, GIB), ('', 'again', 1, 0, 1000, GIB, GIB), ('', 'again', FUTURE, 1, 1000, GIB, GIB),
        ('c', 'legacy', 1, 1, 7000, 12 * GIB, None), ('', 'off', 1, 1, 7000, 12 * GIB, 12 * GIB), ('', 'none', 1, 1, 1000, None, None)])
    return made


def share(part, whole):
    return pytest.approx(100 * part / whole, abs=0.0500001) if whole else None


def wall(results):
    return sum(r.wall_ns for r in results)


def expected(results, cpu_milli, limit_bytes):
    """A row of results of one group, category and limit."""
    used = [r for r in results if r.cpu_ns is not None]
    known = [r for r in used if r.mib]
    fit = [r for r in known if r.mib * 115 <= limit_bytes // MIB * 100]
    over = [r for r in used if int(r.cores * 100 + 0.5) * 10 > cpu_milli]
    of_workers = [r for r in results if r.cpu_ns is not None or r.worker]
    return {'cpu_request': cpu_milli / 1000, 'limit_gib': limit_bytes / GIB, 'actions': len(known), 'unknown': len(of_workers) - len(known),
            'misfits': len(known) - len(fit), 'fit_pct': share(len(fit), len(known)), 'fit_wall_pct': share(wall(fit), wall(known)),
            'over_cpu_pct': share(len(over), len(used)), 'over_cpu_wall_pct': share(wall(over), wall(used))}


def under(r):
    limit = r.allotment and r.allotment['memory_limit_bytes']
    return limit and limit / GIB


def compare(db, view, results, where='1', key='category'):
    found = {(r['shape'], r['under_gib'], r.get('category')): r for r in rows(db, f'SELECT * FROM {view} WHERE {where}')}
    results = [r for r in results if r.cpu_ns is not None or r.worker]
    categories = [None] if key == 'package' else sorted({r.category for r in results}) + ['*']
    wanted = {}
    for shape, spec in NOW.items():
        for limit in {under(r) for r in results}:
            for category in categories:
                part = [r for r in results if under(r) == limit and category in (r.category, '*', None)]
                if part:
                    wanted[shape, limit, category] = expected(part, *spec)
    assert set(found) == set(wanted)
    for name, want in wanted.items():
        assert {k: found[name][k] for k in want} == want, name


@pytest.mark.parametrize('seed', range(24))
def test_shares(seed):
    made = with_pools(random_sizes(seed, [1, 2, 5, 20, 60, 120][seed % 6]))
    db = made.made.finish()
    compare(db, 'shape_fit', made.results)
    for trace, project in (('r', 'one'), ('s', 'two')):
        part = [r for r in made.results if r.trace == trace]
        compare(db, 'shape_fit_by_run', part, f"run = '{trace}'")
        compare(db, 'shape_fit_by_project', part, f"project = '{project}'")
    for package in 'pq':
        compare(db, 'shape_fit_by_package', [r for r in made.results if r.package == package], f"package = '{package}'", 'package')


@pytest.mark.parametrize('mib, fits', [(3561, 1), (3562, 0)])
def test_margin(mib, fits):
    """3561 MiB and 15 % are just below 4 GiB."""
    made = Sized()
    made.add('r', rss=mib * MIB)
    db = made.made.finish()
    for form in ('', '_by_project', '_by_run'):
        (row,) = rows(db, f"SELECT * FROM shape_fit{form} WHERE shape = 'small' AND category = '*'")
        assert (row['misfits'], row['fit_pct']) == (1 - fits, 100.0 * fits)


@pytest.mark.parametrize('cores, over', [(1.5, 0.0), (1.51, 100.0)])
def test_more_cores_are_no_misfit(cores, over):
    made = Sized()
    made.add('r', rss=MIB, cpu_ns=round(cores * S), allotment=POOLS[1])
    db = made.made.finish()
    for form in ('', '_by_project', '_by_run'):
        (row,) = rows(db, f"SELECT * FROM shape_fit{form} WHERE shape = 'small' AND category = '*'")
        assert (row['misfits'], row['over_cpu_pct'], row['over_cpu_wall_pct']) == (0, over, over)
    (row,) = rows(db, "SELECT * FROM shape_fit_by_package WHERE shape = 'small'")
    assert (row['misfits'], row['over_cpu_pct'], row['over_cpu_wall_pct']) == (0, over, over)


def test_own_shapes_are_shown():
    made = Sized()
    made.add('r', rss=MIB)
    db = made.made.finish()
    db.execute("INSERT INTO shape VALUES ('tiny', 500, 1, 1048576)")
    assert {r['shape']: r['misfits'] for r in rows(db, "SELECT * FROM shape_fit WHERE category = '*'")} == {'tiny': 1, 'small': 0, 'big': 0}


def test_without_the_margin_nothing_is_said_to_misfit():
    made = Sized()
    made.add('r', rss=GIB, allotment=POOLS[1])
    db = made.made.finish()
    db.execute("DELETE FROM setting WHERE key = 'sizing_margin_pct'")
    for form in ('', '_by_project', '_by_run', '_by_package'):
        for row in rows(db, f'SELECT * FROM shape_fit{form}'):
            assert (row['actions'], row['misfits'], row['fit_pct'], row['fit_wall_pct']) == (1, None, None, None)
