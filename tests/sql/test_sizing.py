"""worker_sizing: percentiles, weights and what is recommended, against plain Python."""
import math

import pytest

from builds import POD, WORKER, at
from samples import rows
from sizes import GIB, MIB, S, POOLS, Sized, group, percentile, random_sizes, weighted

PERCENTS = (50, 90, 95, 99)


def hundredths(cores):
    return math.floor(100 * cores + 0.5) / 100


def gib(mib):
    """Half a digit goes up, as SQLite has it."""
    return None if mib is None else math.floor(mib / 1024 * 1000 + 0.5) / 1000


def step(mib):
    return math.ceil(mib / 256) * 256


def share(part, whole):
    return pytest.approx(100 * part / whole, abs=0.0500001) if whole else None


def expected(results, least=100):
    """A row of worker_sizing of results of one group."""
    of_workers = [r for r in results if r.cpu_ns is not None or r.worker]
    used = [r for r in results if r.cpu_ns is not None]
    known = [r.mib for r in used if r.mib]
    sampled = [r for r in used if r.samples >= 3]
    cores = [(hundredths(r.cores), r.wall_ns) for r in used]
    found = {f'peak_p{q}_gib': gib(percentile(known, q)) for q in PERCENTS}
    found |= {f'cores_p{q}': weighted(cores, q) for q in PERCENTS}
    enough = len(known) >= least
    found |= {
        'results': len(known), 'unknown': len(of_workers) - len(known), 'sampled_pct': share(len(sampled), len(used)),
        'sampled_wall_pct': share(sum(r.wall_ns for r in sampled), sum(r.wall_ns for r in used)),
        'peak_max_gib': gib(max(known, default=None)), 'cores_max': max((c for c, _ in cores), default=None),
        'new_request_gib': gib(step(max(percentile(known, 95) * 1.15, max(known)))) if enough else None,
        'new_limit_gib': gib(step(max(known) * 1.15)) if enough else None,
        'new_cpu_request': found['cores_p95'] if enough else None}
    return found


def compare(db, view, results, where='1', least=100):
    """The view has a row of each group of these results, and no other."""
    db.execute("UPDATE setting SET value = ? WHERE key = 'sizing_min_results'", (least,))
    found = {}
    for row in rows(db, f'SELECT * FROM {view} WHERE {where}'):
        key = None if row['pool'] is None else (row['pool'], row['limit_gib'], row['cpu_request'])
        assert key not in found
        found[key] = row
    groups = {r.group for r in results if r.cpu_ns is not None or r.worker}
    assert set(found) == {g and (g[0], g[1] and g[1] / GIB, g[2] / 1000) for g in groups}
    for g in groups:
        row = found[g and (g[0], g[1] and g[1] / GIB, g[2] / 1000)]
        wanted = expected([r for r in results if r.group == g], least)
        assert {k: row[k] for k in wanted} == wanted


@pytest.mark.parametrize('seed', range(16))
def test_percentiles_and_recommendations(seed):
    made = random_sizes(seed, [1, 2, 3, 19, 20, 21, 60, 150][seed % 8])
    db = made.made.finish()
    compare(db, 'worker_sizing', made.results, least=1 + seed % 5)
    for trace, project in (('r', 'one'), ('s', 'two')):
        part = [r for r in made.results if r.trace == trace]
        compare(db, 'worker_sizing_by_run', part, f"run = '{trace}'", 1 + seed % 5)
        compare(db, 'worker_sizing_by_project', part, f"project = '{project}'", 1 + seed % 5)


def test_hits_are_part_of_a_run_and_count_once():
    made = Sized(r='one', s='one')
    digest = made.add('r', rss=GIB, allotment=POOLS[1])
    for number in (1, 2):
        made.made.action('s', 'root//x:p', 'c', f'again {number}', [{'digest': digest}])
    db = made.made.finish()
    for trace in 'rs':
        compare(db, 'worker_sizing_by_run', made.results, f"run = '{trace}'")
    compare(db, 'worker_sizing', made.results)


def filled(count, rss=GIB, allotment=POOLS[1], **row):
    made = Sized()
    for _ in range(count):
        made.add('r', rss=rss, allotment=allotment, **row)
    return made


def one(db, view='worker_sizing'):
    (row,) = rows(db, f'SELECT * FROM {view}')
    return row


@pytest.mark.parametrize('count, verdict', [(99, 'not enough data'), (100, 'lower')])
def test_threshold(count, verdict):
    row = one(filled(count).made.finish())
    assert row['verdict'] == verdict
    assert (row['new_limit_gib'], row['new_request_gib'], row['new_cpu_request']) == \
        ((1.25, 1.25, 1.0) if count == 100 else (None, None, None))
    assert ('99 results with known memory, 100 needed' in row['reason']) == (count == 99)


@pytest.mark.parametrize('largest_mib, limit_mib, verdict, new_mib', [
    (890, 1024, 'keep', 1024), (891, 1024, 'raise', 1280), (668, 1024, 'lower', 1024 - 256 + 256 * (668 * 1.15 > 768)),
    (667, 1024, 'lower', 768), (1024, 1024, 'raise', 1280)])
def test_verdict_on_the_limit(largest_mib, limit_mib, verdict, new_mib):
    allotment = {**POOLS[1], 'memory_limit_bytes': limit_mib * MIB}
    made = filled(199, 10 * MIB, allotment)
    made.add('r', rss=largest_mib * MIB, allotment=allotment)
    row = one(made.made.finish())
    wanted = 'keep' if new_mib == limit_mib else verdict
    assert (row['verdict'], row['new_limit_gib']) == (wanted, gib(new_mib))
    assert row['new_limit_gib'] >= row['new_request_gib'] >= row['peak_max_gib'] >= row['peak_p99_gib']
    assert row['new_request_gib'] == gib(-(-largest_mib // 256) * 256) and 'request: largest seen' in row['reason']


def test_without_a_limit_there_is_no_verdict():
    for allotment in (POOLS[-1], None):
        assert one(filled(100, allotment=allotment).made.finish())['verdict'] == 'limit not known'


def test_samples_outweigh_the_process_where_they_are_larger():
    made = filled(1, rss=GIB, peak=2 * GIB, samples=1)
    row = one(made.made.finish())
    assert (row['peak_max_gib'], row['sampled_pct']) == (2.0, 0.0)
    assert 'largest process only for 100 % of the wall time' in row['reason']
    row = one(filled(1, rss=GIB, peak=GIB // 2, samples=3).made.finish())
    assert (row['peak_max_gib'], row['sampled_pct'], row['sampled_wall_pct']) == (1.0, 100.0, 100.0)
    assert 'lower bound' not in row['reason']


@pytest.mark.parametrize('limit_mib, new_mib', [(1024, 1280), (160, 512), (640, 768), (4096, 5120)])
@pytest.mark.parametrize('survived', [False, True])
def test_a_kill_for_memory_raises_the_limit(limit_mib, new_mib, survived):
    """+ 20 % and + 100 MiB at least, rounded up: the largest process of the survivors says nothing of it."""
    worker = WORKER % POD
    allotment = {**POOLS[1], 'memory_limit_bytes': limit_mib * MIB}
    made = filled(100, 10 * MIB, allotment, worker=worker)
    pod = made.made.pod(POD, limit_mib * MIB)
    if survived:
        made.made.counted(pod, at(0), at(60))
    else:
        made.made.ended(pod, at(5))
    row = one(made.made.finish())
    assert (row['oom_kills'], row['verdict'], row['new_limit_gib']) == (1, 'raise', gib(new_mib))
    assert 'killed under this one' in row['reason'] and 'kills for memory: 1' in row['reason']


def test_a_kill_counts_for_its_own_limit_only():
    worker = WORKER % POD
    made = filled(100, 10 * MIB, POOLS[1], worker=worker)
    pod = made.made.pod(POD, 4 * GIB)
    made.made.ended(pod, at(5))
    row = one(made.made.finish())
    assert (row['oom_kills'], row['verdict']) == (0, 'lower')


def test_kills_of_a_project_and_of_a_run():
    worker = WORKER % POD
    made = Sized(r='one', s='two')
    for trace in 'rs':
        for _ in range(100):
            made.add(trace, rss=MIB, allotment=POOLS[1], worker=worker)
    pod = made.made.pod(POD, 9 * GIB)
    span = made.made.action('r', 'root//x:p', 'c', 'bad', [{'digest': f'{999:064x}:141', 'status': 3, 'exit_code': -1}], failed=1)
    made.made.result(f'{999:064x}:141', exit_code=-1, termination_signal='KILL', worker=worker, invocation='r', usage={'user_ns': S},
                     attempt=('r', span, 0), times={'execution_start': at(1), 'execution_completed': at(5)})
    made.made.ended(pod, at(5))
    db = made.made.finish()
    assert {r['run']: r['oom_kills'] for r in rows(db, 'SELECT run, oom_kills FROM worker_sizing_by_run')} == {'r': 1, 's': 0}
    assert {r['project']: r['oom_kills'] for r in rows(db, 'SELECT project, oom_kills FROM worker_sizing_by_project')} == {'one': 1, 'two': 0}
    assert one(db)['oom_kills'] == 1


def test_groups_are_told_apart():
    assert group(POOLS[1]) == group(POOLS[2])
    assert len({group(p) for p in POOLS[2:]}) == len(POOLS) - 2


def failing(rss, signal='KILL', **projects):
    """100 results of 100 MiB, and a failed execution under the same limit, of which no container tells."""
    made = Sized(**projects)
    for trace in projects or 'r':
        for _ in range(100):
            made.add(trace, rss=100 * MIB, allotment=POOLS[1])
    span = made.made.action('r', 'root//x:p', 'c', 'bad', [{'digest': f'{999:064x}:141', 'status': 3, 'exit_code': -1}], failed=1)
    made.made.result(f'{999:064x}:141', exit_code=-1 if signal else 1, termination_signal=signal, worker='w', invocation='r', usage={'user_ns': S},
                     max_rss_bytes=rss, attempt=('r', span, 0), allotment=POOLS[1])
    return made


@pytest.mark.parametrize('mib, new_mib', [(115, 256), (256, 256), (257, 512), (5000, 5120)])
def test_what_failed_is_a_floor(mib, new_mib):
    made = failing(mib * MIB)
    row = one(made.made.finish())
    assert (row['results'], row['peak_max_gib'], row['failed_max_gib']) == (100, gib(100), gib(mib))
    assert (row['new_limit_gib'], row['new_request_gib'], row['oom_kills']) == (gib(new_mib), gib(new_mib), 0)
    assert ('of one that failed' in row['reason']) == (mib > 115)
    assert 'suspected ones, of which no container tells: 1' in row['reason']


def test_what_failed_without_a_kill_is_no_suspect():
    row = one(failing(300 * MIB, signal=None).made.finish())
    assert row['new_limit_gib'] == gib(512) and 'suspected' not in row['reason']


def test_what_failed_is_a_floor_of_its_own_project_and_run():
    db = failing(5000 * MIB, r='one', s='two').made.finish()
    assert {r['project']: r['failed_max_gib'] for r in rows(db, 'SELECT * FROM worker_sizing_by_project')} == {'one': gib(5000), 'two': None}
    found = {r['run']: (r['new_limit_gib'], 'suspected' in r['reason']) for r in rows(db, 'SELECT * FROM worker_sizing_by_run')}
    assert found == {'r': (gib(5120), True), 's': (gib(256), False)}


@pytest.mark.parametrize('key', ['sizing_min_results', 'sizing_margin_pct', 'sizing_step_mib', 'sizing_oom_pct', 'sizing_oom_mib'])
def test_without_a_setting_nothing_is_recommended(key):
    db = failing(5000 * MIB).made.finish()
    db.execute('DELETE FROM setting WHERE key = ?', (key,))
    for view in ('worker_sizing', 'worker_sizing_by_project', 'worker_sizing_by_run'):
        (row,) = rows(db, f'SELECT * FROM {view}')
        assert {row[c] for c in ('verdict', 'new_limit_gib', 'new_request_gib', 'new_cpu_request')} == {None}
        assert row['results'] == 100 and row['reason'].startswith('a setting sizing_* is missing')
