"""Two runs side by side and packages over time: against plain definitions in Python over random
databases, and by exact values on recorded runs."""
import collections
import itertools
import random
import statistics

import pytest

from builds import digest
from samples import expected, load, rows
import tables

S, GIB = 10**9, 2**30
START = 1_796_000_000 * S
FLOOR_S, FLOOR_PCT, REPEATS, NOISE = 1, 10, 3, 3  # as schema/ has the settings
KINDS = ['br2_slice', 'br2_package', 'br2_native_package']
PROJECTS = {'a': 'p', 'b': 'p', 'c': 'p', 'd': 'p', 'e': 'other', 'warm': 'p'}


class Build:
    """Random runs over few packages: hits, failed and local actions, digests of one run that another
    refers to, and `lost`, which executed what `warm` hit and has no log."""

    def __init__(self, seed):
        self.rng, self.made, self.number = random.Random(seed), tables.Tables(), itertools.count(1)
        self.items = collections.defaultdict(list)  # run -> [{key, digest, known, wall, cpu, rss, limit, executed, hit}]
        self.limits = self.rng.choice([[None], [GIB], [GIB, None], [GIB, 2 * GIB]])
        self.executions = []  # (executor, project, package, kind, identifier, wall, limit)
        self.results = {}     # digest -> its figures
        for i, (trace, project) in enumerate(PROJECTS.items()):
            self.made.run(trace, project, start_ns=START + i * 1000 * S)
        for trace in PROJECTS:
            self.fill(trace, 'lost' if trace == 'warm' else trace)
        self.db = self.finish()

    def fill(self, trace, executor):
        for package in 'xyz':
            for kind in self.rng.sample(KINDS, self.rng.randint(0, 3)):
                for identifier in self.rng.sample(['', 'one'], self.rng.randint(1, 2)):
                    for _ in range(self.rng.choice([1, 1, 1, 2])):
                        self.action(trace, executor, package, kind, identifier)

    def action(self, trace, executor, package, kind, identifier):
        key = (PROJECTS[trace], package, kind, identifier)
        configuration = self.rng.choice(['', 'cfg#1'])
        label = self.rng.choice(['root//x:', 'root//y:']) + package
        roll = self.rng.random()
        if roll < 0.1:  # local
            self.made.action(trace, label, kind, identifier, [{'kind': 1}], configuration)
            self.items[trace].append({'key': key, 'digest': None, 'known': False, 'executed': 0, 'hit': 0})
            return
        known = [d for d, r in self.results.items() if r['key'] == key]
        if roll < 0.3 and known and executor == trace:  # a hit on what an earlier run executed
            name = self.rng.choice(known)
            if any(i['digest'] == name for i in self.items[trace]):
                return
            self.made.action(trace, label, kind, identifier, [{'digest': name, 'cache_hit': 1}], configuration)
            self.items[trace].append({**self.results[name], 'executed': 0, 'hit': 1})
            return
        name = digest(next(self.number))
        self.made.action(trace, label, kind, identifier, [{'digest': name, 'cache_hit': int(executor != trace)}], configuration)
        item = {'key': key, 'digest': name, 'known': roll < 0.9, 'executed': int(executor == trace), 'hit': int(executor != trace)}
        if item['known']:
            item |= {'wall': self.rng.choice([S, 10 * S, 100 * S]) + self.rng.randint(-S, S * 3), 'rss': self.rng.randint(1, GIB),
                     'limit': self.rng.choice(self.limits)}
            item['cpu'] = int(item['wall'] * self.rng.random() * 4) // 1000 * 1000
            self.made.result(name, wall_ns=item['wall'], max_rss_bytes=item['rss'], usage={'user_ns': item['cpu']}, invocation=executor,
                             worker='w', times={'execution_start': START})
            self.results[name] = item
            self.executions.append((executor, *key, item['wall'], item['limit']))
        self.items[trace].append(item)
        if executor != trace and item['known']:
            self.items[executor].append({**item, 'executed': 1, 'hit': 0})

    def finish(self):
        db = self.made.finish()
        for limit in {i['limit'] for i in self.results.values()} - {None}:
            tables.insert(db, 'allotment', allotment_id=limit // GIB, source=1, memory_limit_bytes=limit)
        db.executemany('UPDATE result SET allotment_id = ? WHERE lookup_id = (SELECT lookup_id FROM lookup WHERE digest = ?)',
                       [(i['limit'] and i['limit'] // GIB, d) for d, i in self.results.items()])
        return db

    def grouped(self, trace, by_package):
        found = collections.defaultdict(list)
        for item in self.items[trace]:
            found[item['key'][:2] if by_package else item['key']].append(item)
        return found


def way(items):
    """Who executed the same actions of a package has the same one."""
    return len(items), sorted(i['key'][2] for i in items)


def noise(build, key, a, b, limit, runs):
    """(repeats, median of what executed as b, noise): see run_compare."""
    totals = collections.defaultdict(list)
    for executor, *names, wall, at in build.executions:
        if executor not in runs and tuple(names[:len(key)]) == key and at == limit:
            totals[executor].append((names[2], wall))
    same = collections.defaultdict(list)
    for parts in totals.values():
        same[len(parts), tuple(sorted(k for k, _ in parts))].append(sum(w for _, w in parts))
    ways = {(n, tuple(kinds)) for n, kinds in (way(a), way(b))}
    spread = sum(statistics.median(abs(t - statistics.median(same[w])) for t in same[w]) for w in ways if same[w])
    of_b = same[way(b)[0], tuple(way(b)[1])]
    return min(len(same[w]) for w in ways), statistics.median(of_b) if of_b else None, NOISE * spread


def judge(build, key, a, b, runs):
    """(status, delta in ns or None, repeats or None)"""
    if not b or not a:
        return ('only in a' if a else 'only in b'), None, None
    digests = [sorted(str(i['digest']) for i in side) for side in (a, b)]
    if digests[0] == digests[1] and all(i['digest'] for i in a):
        return 'same digest', None, None
    if not all(i['known'] for i in a + b):
        return 'unknown', None, None
    limits = {i['limit'] for i in a + b}
    if len(limits - {None}) > 1:
        return 'other limit', None, None
    walls = [sum(i['wall'] for i in side) for side in (a, b)]
    delta = walls[1] - walls[0]
    if abs(delta) <= FLOOR_S * S or abs(delta) <= FLOOR_PCT / 100 * min(walls):
        return 'within noise', delta, None
    limit = min((i['limit'] for i in a if i['limit']), default=None)
    repeats, _, spread = noise(build, key, a, b, limit, runs)
    if repeats >= REPEATS and abs(delta) <= spread:
        return 'within noise', delta, repeats
    return ('faster' if delta < 0 else 'slower'), delta, repeats


def limits_of(items):
    found = {i['limit'] for i in items if i['known']}
    if len(found - {None}) > 1:
        return 'differ'
    return 'same' if found and None not in found else 'not known'


def near(ns, seconds):
    return seconds is None if ns is None else seconds == pytest.approx(ns / S, abs=0.00051)


def check_side(row, side, items):
    known = [i for i in items if i['known']]
    assert (row[f'actions_{side}'], row[f'unknown_{side}']) == (len(items), len(items) - len(known))
    assert (row[f'executed_{side}'], row[f'hits_{side}']) == \
        (sum(i['executed'] for i in known), sum(i['hit'] for i in items))
    assert near(sum(i['wall'] for i in known) if known else None, row[f'wall_{side}_s'])
    assert near(sum(i['cpu'] for i in known) if known else None, row[f'cpu_{side}_s'])
    rss = max((i['rss'] for i in known), default=None)
    assert row[f'max_rss_{side}_gib'] == (rss and round(rss / GIB, 3))


def check_view(build, view, by_package, a, b):
    found = rows(build.db, f'SELECT * FROM {view} WHERE run_a = ? AND run_b = ?', a, b)
    left, right = build.grouped(a, by_package), build.grouped(b, by_package)
    names = ('project', 'package') if by_package else ('project', 'package', 'category', 'identifier')
    assert sorted(tuple(r[n] for n in names) for r in found) == sorted(left.keys() | right.keys())
    for row in found:
        key = tuple(row[n] for n in names)
        status, delta, repeats = judge(build, key, left[key], right[key], (a, b))
        assert (row['status'], row['repeats']) == (status, repeats), (a, b, key)
        assert row['limits'] == limits_of(left[key] + right[key])
        assert near(delta, row['wall_delta_s'])
        check_side(row, 'a', left[key])
        check_side(row, 'b', right[key])
    return collections.Counter(r['status'] for r in found)


@pytest.mark.parametrize('seed', range(16))
def test_pairs_are_the_definition(seed):
    build = Build(seed)
    for a, b in [('a', 'b'), ('b', 'a'), ('c', 'warm'), ('lost', 'd'), ('warm', 'lost'), ('a', 'e'), ('a', 'a')]:
        for view, by_package in (('run_compare', False), ('run_compare_packages', True)):
            check_view(build, view, by_package, a, b)


def test_every_word_is_met():
    """What the seeds above cover: none of the words is asserted on nothing."""
    seen = collections.Counter()
    for seed in range(16):
        build = Build(seed)
        for view, by_package in (('run_compare', False), ('run_compare_packages', True)):
            for pair in (('a', 'b'), ('warm', 'lost'), ('c', 'd')):
                seen += check_view(build, view, by_package, *pair)
    assert min(seen[w] for w in ('only in a', 'only in b', 'same digest', 'unknown', 'other limit', 'within noise', 'faster', 'slower')) > 1


SWAPPED = {'only in a': 'only in b', 'only in b': 'only in a', 'faster': 'slower', 'slower': 'faster'}


@pytest.mark.parametrize('view', ['run_compare', 'run_compare_packages'])
def test_swapped_runs_say_the_opposite(view):
    for seed in range(5):
        db = Build(seed).db
        there, back = (rows(db, f"SELECT project, package, status, wall_delta_s FROM {view} WHERE run_a = '{a}' AND run_b = '{b}'"
                                f" ORDER BY {'1, 2' if view.endswith('packages') else '1, 2, category, identifier'}")
                       for a, b in (('a', 'b'), ('b', 'a')))
        assert there == [{**r, 'status': SWAPPED.get(r['status'], r['status']),
                          'wall_delta_s': r['wall_delta_s'] and -r['wall_delta_s']} for r in back]


def repeated(walls, a, b, pct=10):
    """Status of one action that took a and b seconds in runs a and b, and these in others."""
    made = tables.Tables()
    for number, (trace, wall) in enumerate([('a', a), ('b', b), *((f'r{i}', w) for i, w in enumerate(walls))], 1):
        made.run(trace, start_ns=START + number)
        made.action(trace, 'root//:x', 'k', 'i', [{'digest': digest(number)}])
        made.result(digest(number), wall_ns=round(wall * S), usage={'user_ns': S}, invocation=trace)
    db = made.finish()
    db.execute("UPDATE setting SET value = ? WHERE key = 'compare_floor_pct'", (pct,))
    (row,) = rows(db, "SELECT * FROM run_compare WHERE run_a = 'a' AND run_b = 'b'")
    return row['status'], row['repeats'], row['usual_s'], row['noise_s']


def test_floor_and_noise():
    assert repeated([], 100, 110) == ('within noise', None, None, None)
    assert repeated([], 100, 110, pct=9) == ('slower', 0, None, None)
    assert repeated([], 2, 3) == ('within noise', None, None, None)
    assert repeated([90, 100], 100, 130) == ('slower', 2, 95, None)
    # Median 100, distances 10, 0, 10: three times their median is 30.
    assert repeated([90, 100, 110], 100, 130) == ('within noise', 3, 100, 30)
    assert repeated([90, 100, 110], 100, 130.5) == ('slower', 3, 100, 30)
    assert repeated([90, 100, 110, 1000], 130.5, 100) == ('faster', 4, 105, 30)


@pytest.mark.parametrize('gone, delta, status', [
    ('compare_floor_s', 8, 'within noise'), ('compare_floor_s', 40, None), ('compare_floor_pct', 0.5, 'within noise'),
    ('compare_floor_pct', 40, None), ('compare_repeats', 8, 'within noise'), ('compare_repeats', 20, None), ('compare_noise', 20, None)])
def test_without_a_setting_no_difference_counts(gone, delta, status):
    """Three others took 90, 100 and 110 s, so up to 30 s are noise."""
    made = Repeats([100, 100 + delta, 90, 100, 110])
    made.db.execute('DELETE FROM setting WHERE key = ?', (gone,))
    for view in ('run_compare', 'run_compare_packages'):
        (row,) = rows(made.db, f"SELECT * FROM {view} WHERE run_a = 'r0' AND run_b = 'r1'")
        assert row['status'] == status


class Repeats:
    """Runs r0, r1, ... that execute one package, each in so many seconds and in actions of these categories."""

    def __init__(self, walls, categories=()):
        made, number = tables.Tables(), itertools.count(1)
        for i, wall in enumerate(walls):
            made.run(f'r{i}', start_ns=START + i)
            of_it = categories[i] if i < len(categories) else 'k'
            for kind in of_it:
                name = digest(next(number))
                made.action(f'r{i}', 'root//:x', kind, 'i', [{'digest': name}])
                made.result(name, wall_ns=round(wall * S / len(of_it)), usage={'user_ns': S}, invocation=f'r{i}')
        self.db = made.finish()


@pytest.mark.parametrize('order', ['abcd', 'acbd', 'badc', 'dcba'])
def test_a_repeat_executed_the_same_categories_and_not_the_same_sum_of_their_numbers(order):
    """a + d is b + c as numbers, whatever the order in which they were first seen."""
    made = Repeats([1, 100, 130, 90, 100, 110], [order, 'ad', 'ad', 'bc', 'bc', 'bc'])
    (row,) = rows(made.db, "SELECT * FROM run_compare_packages WHERE run_a = 'r1' AND run_b = 'r2'")
    assert (row['status'], row['repeats']) == ('slower', 0)
    made = Repeats([1, 100, 130, 90, 100, 110], [order, 'ad', 'ad', 'da', 'ad', 'da'])
    (row,) = rows(made.db, "SELECT * FROM run_compare_packages WHERE run_a = 'r1' AND run_b = 'r2'")
    assert (row['status'], row['repeats'], row['noise_s']) == ('within noise', 3, 30)


def test_an_unknown_wall_time_is_not_compared():
    made = Repeats([100, 200])
    made.db.execute('UPDATE result SET wall_ns = NULL WHERE request_id = (SELECT request_id FROM request WHERE invocation = ?)', ('r1',))
    for view in ('run_compare', 'run_compare_packages'):
        (row,) = rows(made.db, f"SELECT * FROM {view} WHERE run_a = 'r0' AND run_b = 'r1'")
        assert (row['status'], row['wall_a_s'], row['wall_b_s'], row['unknown_b']) == ('unknown', 100, None, 1)


# ---- recorded --------------------------------------------------------------------------------------

COLD, LATER = 'ebb4affa-bb6d-4c4c-9946-31c980b6c3a4', '6746f215-b757-49e7-a3f5-6faa62cecebf'
NATIVE = '0a4afb48-2807-4cc3-b075-c88e410758a7'


@pytest.fixture(scope='module')
def cells():
    return load('cells')


def walls_of(invocation):
    """(package, category, identifier) -> [wall_ns] of what it executed, from expected.json."""
    found = collections.defaultdict(list)
    for result in expected('cells')['results']:
        if result.get('invocation_id') == invocation and 'cpu_ns' in result:
            found[result['label'].partition(':')[2], result['category'], result['identifier']].append(result['wall_ns'])
    return found


def test_lost_cold_runs_side_by_side(cells):
    """Both logs are gone: what the warm runs hit tells of them."""
    found = rows(cells, 'SELECT * FROM run_compare WHERE run_a = ? AND run_b = ?', COLD, LATER)
    a, b = walls_of(COLD), walls_of(LATER)
    assert {(r['package'], r['category'], r['identifier']) for r in found} == a.keys() | b.keys() and len(found) == 20
    for row in found:
        key = row['package'], row['category'], row['identifier']
        assert (row['project'], row['limits'], row['executed_a'], row['executed_b']) == ('qemu-mini', 'not known', 1, 1)
        assert near(sum(a[key]), row['wall_a_s']) and near(sum(b[key]), row['wall_b_s'])
        assert near(sum(b[key]) - sum(a[key]), row['wall_delta_s'])


def test_wrapped_against_native_by_package(cells):
    found = rows(cells, 'SELECT * FROM run_compare_packages WHERE run_a = ? AND run_b = ?', COLD, NATIVE)
    by = {side: collections.Counter() for side in 'ab'}
    for side, invocation in (('a', COLD), ('b', NATIVE)):
        for (package, _, _), walls in walls_of(invocation).items():
            by[side][package] += sum(walls)
    assert {r['package'] for r in found} == by['a'].keys() | by['b'].keys()
    assert all(near(by[side].get(r['package']), r[f'wall_{side}_s']) for r in found for side in 'ab')


def test_warm_run_is_its_cold_run(cells):
    """A warm run's hits are the executions of the lost cold one: nothing to compare."""
    (warm,) = [r['invocation'] for r in rows(cells, "SELECT * FROM cells WHERE salt = 'wrapped-remote-cache-30022034' AND run = 'warm'")]
    for view, count in (('run_compare', 20), ('run_compare_packages', 10)):
        found = rows(cells, f'SELECT status, wall_delta_s, hits_b, executed_b FROM {view} WHERE run_a = ? AND run_b = ?', COLD, warm)
        assert {(r['status'], r['wall_delta_s'], r['executed_b']) for r in found} == {('same digest', None, 0)}
        assert (len(found), sum(r['hits_b'] for r in found)) == (count, 20)


@pytest.mark.parametrize('samples', [('cells',), ('cells', 'cells-lost')])
def test_lost_logs_change_no_comparison(samples):
    """The logs that `clean` took add no figure to what the results tell."""
    columns = 'package, category, identifier, status, wall_a_s, wall_b_s, wall_delta_s, executed_a, executed_b'
    sql = f'SELECT {columns} FROM run_compare WHERE run_a = ? AND run_b = ? ORDER BY 1, 2, 3'
    assert rows(load(*samples), sql, COLD, LATER) == rows(load('cells'), sql, COLD, LATER)


def test_trend_holds_each_execution(cells):
    found = rows(cells, 'SELECT * FROM trend')
    counted = [r for r in expected('cells')['results'] if 'cpu_ns' in r]
    assert sum(r['actions'] for r in found) == len(counted)
    for row in found:
        mine = [r for r in counted if r['label'] == row['label'] and r['invocation_id'] == row['invocation']]
        assert row['actions'] == len(mine) and near(sum(r['wall_ns'] for r in mine), row['wall_s'] or 0)
        assert near(sum(r['cpu_ns'] for r in mine), row['cpu_s'] or 0)
        assert row['max_rss_gib'] == (max((round(r['max_rss_bytes'] / GIB, 3) for r in mine), default=None))
    (uploaded,) = {(r['is_named'], r['wall_s']) for r in found if r['unknown']}
    assert uploaded == (0, None) and sum(r['unknown'] for r in found) == 20


def test_trend_of_a_package(cells):
    found = rows(cells, "SELECT * FROM trend WHERE package = 'host-cmake' AND actions > 0 ORDER BY started_utc")
    assert [r['invocation'] for r in found][:2] == [COLD, NATIVE]
    assert [r['variant'] for r in found][:2] == ['wrapped', 'native'] and len(found) == 5
    assert found == rows(cells, 'SELECT * FROM trend WHERE label = ? AND actions > 0 ORDER BY started_utc', found[0]['label'])


def test_trend_keeps_limits_apart():
    made = tables.Tables()
    made.run('a', start_ns=START)
    for number in (1, 2, 3):
        made.action('a', 'root//:x', 'k', str(number), [{'digest': digest(number)}])
        made.result(digest(number), wall_ns=number * S, usage={'user_ns': S}, invocation='a')
    db = made.finish()
    tables.insert(db, 'allotment', allotment_id=1, source=2, memory_limit_bytes=4 * GIB)
    db.execute('UPDATE result SET allotment_id = 1 WHERE wall_ns > ?', (S,))
    assert rows(db, 'SELECT limit_gib, actions, wall_s FROM trend ORDER BY 1') == \
        [{'limit_gib': None, 'actions': 1, 'wall_s': 1}, {'limit_gib': 4, 'actions': 2, 'wall_s': 5}]
