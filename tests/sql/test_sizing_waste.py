"""waste: what executions held of their workers against what they used, against plain Python."""
import random

import pytest

from samples import rows
from sizes import GIB, MIB, S, POOLS, Sized, random_result, vars_of

CPU, MEMORY = 0.26, 0.516  # of the pod's other containers
PHASES = ['fetch_start', 'fetch_completed', 'execution_start', 'execution_completed', 'upload_start', 'upload_completed']

FIGURES = ['busy_h', 'requested_core_h', 'used_core_h', 'used_core_pct', 'requested_gib_h', 'used_gib_h', 'used_gib_pct']


def busy(r):
    """ns; None: not known."""
    if not r.times or any(r.times.get(p) is None for p in PHASES):
        return None
    parts = [r.times[b] - r.times[a] for a, b in zip(PHASES[::2], PHASES[1::2])]
    return sum(parts) if min(parts) >= 0 else None


def is_known(r):
    a = r.allotment
    return bool(a and a['cpu_request_milli'] and a['memory_request_bytes'] and busy(r) is not None and r.peak)


def hours(ns):
    return pytest.approx(ns / 3.6e12, abs=0.00050001)


def percent(part, whole):
    return pytest.approx(100 * part / whole, abs=0.0500001) if whole else None


def expected(results):
    known = [r for r in results if is_known(r)]
    cores = sum(busy(r) * (r.allotment['cpu_request_milli'] / 1000 + CPU) for r in known)
    gib = sum(busy(r) * (r.allotment['memory_request_bytes'] / GIB + MEMORY) for r in known)
    if not known:
        return {'results': 0, 'unknown': len(results), **dict.fromkeys(FIGURES)}
    used, used_gib = sum(r.cpu_ns for r in known), sum(r.peak / GIB * r.wall_ns for r in known)
    return {'results': len(known), 'unknown': len(results) - len(known), 'busy_h': hours(sum(map(busy, known))),
            'requested_core_h': hours(cores), 'used_core_h': hours(used), 'used_core_pct': percent(used, cores),
            'requested_gib_h': hours(gib), 'used_gib_h': hours(used_gib), 'used_gib_pct': percent(used_gib, gib)}


def compare(db, view, results, of, columns):
    groups = {}
    for r in results:
        if r.cpu_ns is not None:
            groups.setdefault(of(r), []).append(r)
    found = {tuple(r[c] for c in columns): r for r in rows(db, f'SELECT * FROM {view}')}
    assert set(found) == set(groups)
    for key, part in groups.items():
        want = expected(part)
        assert {k: found[key][k] for k in want} == want, key


def random_times(rng):
    if rng.random() < 0.1:
        return None
    at, times = 10**15, {}
    for phase in PHASES:
        times[phase] = at
        at += rng.choice([0, 5, S, rng.randint(0, 500 * S)])
    if rng.random() < 0.1:
        times['fetch_completed'] = times['fetch_start'] - 1
    if rng.random() < 0.1:
        del times[rng.choice(PHASES)]
    return times


@pytest.mark.parametrize('seed', range(24))
def test_sums(seed):
    rng = random.Random(seed)
    made = Sized(r='one', s='two')
    for _ in range([1, 5, 60, 200][seed % 4]):
        made.add(**vars_of(random_result(rng, rng.choice('rs'))), times=random_times(rng))
    db = made.made.finish()
    db.execute("UPDATE request SET invocation = NULL WHERE invocation = 's'")
    limit = (lambda r: r.group and (r.group[0], r.group[1] and r.group[1] / GIB, r.group[2] / 1000) or (None, None, None))
    compare(db, 'waste', made.results, limit, ('pool', 'limit_gib', 'cpu_request'))
    compare(db, 'waste_by_project', made.results, lambda r: ({'r': 'one', 's': 'two'}[r.trace],), ('project',))
    compare(db, 'waste_by_package', made.results, lambda r: (r.package,), ('package',))
    compare(db, 'waste_by_invocation', made.results, lambda r: ({'r': 'r'}.get(r.trace),), ('invocation',))


def test_one_by_hand():
    """An hour held, half of it run on two cores with 3 GiB: of 4.76 core hours 1, of 9.516 GiB hours 1.5."""
    made = Sized()
    hour = 3600 * S
    times = dict(zip(PHASES, (0, hour // 4, hour // 4, hour * 3 // 4, hour * 3 // 4, hour)))
    made.add('r', rss=GIB, peak=3 * GIB, samples=5, wall_ns=hour // 2, cpu_ns=hour, allotment=POOLS[1],
             times={'queued': -7 * hour, **{k: v + 1 for k, v in times.items()}})
    (row,) = rows(made.made.finish(), 'SELECT * FROM waste')
    assert row == {'pool': 'shared', 'limit_gib': 9.0, 'cpu_request': 4.5, 'results': 1, 'unknown': 0, 'busy_h': 1.0,
                   'requested_core_h': 4.76, 'used_core_h': 1.0, 'used_core_pct': 21.0, 'requested_gib_h': 9.516,
                   'used_gib_h': 1.5, 'used_gib_pct': 15.8}


def test_an_invocation_without_a_log_has_its_row():
    made = Sized(r='one')
    digest = made.add('r', rss=MIB, allotment=POOLS[1])
    db = made.made.finish()
    db.execute("UPDATE request SET invocation = 'gone'")
    assert [(r['invocation'], r['unknown']) for r in rows(db, 'SELECT * FROM waste_by_invocation')] == [('gone', 1)]
    assert digest
