"""The views over small made databases, against plain definitions in Python."""
import itertools
import random
import sqlite3

import pytest

from builds import digest
from samples import rows
import tables

S = 10**9
EDGES_S = [0, 5, 20, 60, 300]
NAMES = ['0-5 s', '5-20 s', '20-60 s', '60-300 s', '300+ s']
START = 1_796_000_000 * S
SWITCHES = {'local': 'false false false true', 'local-cache': 'true true false true',
            'remote': 'false false true false', 'remote-cache': 'true true true false'}


def switches(mode):
    names = ('remote_cache', 'cache_uploads', 'remote_execution', 'local_execution')
    return {f'br2.{n}': v for n, v in zip(names, SWITCHES[mode].split())}


def one(db, sql, *parameters):
    (row,) = rows(db, sql, *parameters)
    return row


# ---- classes of wall time and the 90th percentile ------------------------------------------

WALLS = [0, 1, 999_999, 1_000_000, 4_999_999_999, 5 * S, 19_999_999_999, 20 * S, 59_999_999_999, 60 * S, 299_999_999_999,
         300 * S, 900 * S]


def class_of(wall_ns):
    return sum(wall_ns >= edge * S for edge in EDGES_S) - 1


def table_of(results):
    """What wall_time_buckets must say of [(wall_ns, cpu_ns, rss)]."""
    all_wall = sum(r[0] for r in results)
    found = []
    for number, name in enumerate(NAMES):
        part = [r for r in results if class_of(r[0]) == number]
        wall, cpu = sum(r[0] for r in part), sum(r[1] for r in part)
        cores = sorted(r[1] / max(r[0], 1_000_000) for r in part)
        rss = [r[2] for r in part if r[2]]
        found.append((name, len(part), 100 * wall / all_wall if all_wall else None, cpu / wall if wall else None,
                      cores[min(len(cores) - 1, len(cores) * 9 // 10)] if cores else None, max(rss) / 2**30 if rss else None))
    return found


def shown(found):
    return [(r['wall_time'], r['actions'], r['wall_pct'], r['avg_cores'], r['p90_cores'], r['max_rss_gib']) for r in found]


def assert_same(found, wanted):
    assert len(found) == len(wanted)
    for got, want in zip(found, wanted):
        assert got[:2] == want[:2]
        for figure, exact, digits in zip(got[2:], want[2:], (1, 2, 2, 2)):
            if exact is None:
                assert figure is None
            else:
                assert figure == pytest.approx(exact, abs=0.5000001 * 10**-digits)


def random_results(rng, count):
    found = []
    for _ in range(count):
        wall = rng.choice([rng.choice(WALLS), int(rng.lognormvariate(21, 2)), int(rng.lognormvariate(21, 2))])
        found.append((wall, int(wall * rng.choice([0, 0.5, rng.random() * 9])) // 1000 * 1000, rng.choice([0, rng.randint(1, 2**32)])))
    return found


@pytest.mark.parametrize('seed', range(40))
def test_buckets_are_the_definition(seed):
    """Two projects, two runs; the second run refers to all of the first one's digests, and to some twice."""
    rng = random.Random(seed)
    made = tables.Tables()
    made.run('a', 'one', start_ns=START)
    made.run('b', 'two', start_ns=START + 1)
    sets = {'a': random_results(rng, rng.choice([0, 1, 2, 3, 9, 10, 11, 20, 100])), 'b': random_results(rng, rng.choice([0, 1, 10, 37]))}
    number = itertools.count(1)
    for trace, results in sets.items():
        for wall, cpu, rss in results:
            name = digest(next(number))
            for run in ('a', 'b') if trace == 'a' else ('b',):
                for _ in range(rng.choice([1, 1, 2])):
                    made.action(run, 'root//:x', attempts=[{'digest': name}])
            made.result(name, wall_ns=wall, max_rss_bytes=rss, usage={'user_ns': cpu})
    db = made.finish()
    assert_same(shown(rows(db, 'SELECT * FROM wall_time_buckets')), table_of(sets['a'] + sets['b']))
    by_project = rows(db, 'SELECT * FROM wall_time_buckets_by_project')
    assert [r['project'] for r in by_project] == ['one'] * 5 + ['two'] * 5
    assert_same(shown(by_project[:5]), table_of(sets['a']))
    assert_same(shown(by_project[5:]), table_of(sets['b']))
    by_run = rows(db, 'SELECT * FROM wall_time_buckets_by_run')
    assert [r['run'] for r in by_run] == ['a'] * 5 + ['b'] * 5
    assert_same(shown(by_run[:5]), table_of(sets['a']))
    assert_same(shown(by_run[5:]), table_of(sets['a'] + sets['b']))
    for trace, part in (('a', sets['a']), ('b', sets['a'] + sets['b'])):
        row = one(db, 'SELECT * FROM summary_by_run WHERE run = ?', trace)
        assert (row['digests'], row['with_usage']) == (len(part), len(part))
        assert row['wall_h'] == pytest.approx(sum(r[0] for r in part) / 3600 / S, abs=0.0051)


# ---- what a digest's row is -----------------------------------------------------------------

def test_first_reference_is_the_earliest_run_whatever_came_first():
    made = tables.Tables()
    made.run('late', 'late-project', start_ns=START + 5)
    made.run('early', 'early-project', start_ns=START)
    for trace in ('late', 'early'):
        made.action(trace, f'root//{trace}:pkg', 'br2_package', trace, [{'digest': digest(1)}])
    made.result(digest(1), wall_ns=S, usage={'user_ns': S})
    row = one(made.finish(), 'SELECT * FROM usage')
    assert (row['first_run'], row['project'], row['label'], row['package'], row['buck_package'], row['identifier']) == \
        ('early', 'early-project', 'root//early:pkg', 'pkg', 'root//early', 'early')


def test_usage_prefers_the_cache_and_then_the_newest_execution():
    made = tables.Tables()
    made.run('one', start_ns=START)
    made.run('two', start_ns=START + S)
    killed = [{'digest': digest(1), 'status': 3}, ]
    spans = {t: made.action(t, 'root//:x', attempts=killed, failed=1) for t in ('one', 'two')}
    both = made.action('one', 'root//:y', attempts=[{'digest': digest(2), 'status': 3}], failed=1)
    for trace, at in (('two', START + 9 * S), ('one', START + 2 * S)):
        made.result(digest(1), exit_code=-1, termination_signal='KILL', invocation=trace, usage={'user_ns': 1000},
                    times={'execution_start': at}, attempt=(trace, spans[trace], 0))
    made.result(digest(2), exit_code=137, times={'execution_start': START}, attempt=('one', both, 0))
    made.result(digest(2), wall_ns=S, invocation='gone', usage={'user_ns': 1})
    db = made.finish()
    found = {r['digest']: r for r in rows(db, 'SELECT * FROM usage')}
    assert {k: (r['source'], r['executed_by']) for k, r in found.items()} == \
        {digest(1): ('historical', 'two'), digest(2): ('action_cache', 'gone')}
    assert one(db, 'SELECT with_usage, digests FROM summary') == {'with_usage': 1, 'digests': 2}
    assert [r['run'] for r in rows(db, 'SELECT run FROM signals ORDER BY run')] == ['one', 'two']


@pytest.mark.parametrize('seed', range(5))
def test_usage_takes_the_latest_execution_in_whatever_order_they_came(seed):
    """By its own time, then by its run's start and trace id, then by its place in the log; an unknown time is before all."""
    rng = random.Random(seed)
    made, latest = tables.Tables(), {}
    for number in rng.sample(range(20), 12):
        trace, start = f'{number:08x}', rng.choice([None, START, START + 1])
        made.run(trace, start_ns=start)
        for key in rng.choices(range(4), k=5):
            at = rng.choice([None, START + 1, START + 2])
            span = made.action(trace, 'root//:x', attempts=[{'digest': digest(key), 'status': 3}] * 2, failed=1)
            for idx in rng.sample([0, 1], rng.choice([1, 2])):
                made.result(digest(key), exit_code=1, invocation=f'{trace} {span} {idx}', usage={'user_ns': 1},
                            times={'execution_start': at}, attempt=(trace, span, idx))
                latest[digest(key)] = max(latest.get(digest(key), ()), (at or 0, start or 0, trace, span, idx))
    found = {r['digest']: r['executed_by'] for r in rows(made.finish(), 'SELECT digest, executed_by FROM usage')}
    assert found == {key: f'{trace} {span} {idx}' for key, (_, _, trace, span, idx) in latest.items()}


def test_unknown_is_null():
    made = tables.Tables()
    made.run('r')
    made.action('r', 'root//:x', attempts=[{'digest': digest(1)}])
    made.result(digest(1), wall_ns=None, exit_code=None)
    row = one(made.finish(), 'SELECT * FROM usage')
    unknown = ['wall_ns', 'wall_s', 'cpu_ns', 'cpu_s', 'user_s', 'system_s', 'cores', 'max_rss_bytes', 'max_rss_gib',
               'major_faults', 'termination_signal', 'exit_code', 'worker', 'pool', 'pod', 'executed_utc', 'executed_by',
               'queued_s', 'fetch_s', 'upload_s', 'variant', 'mode', 'salt', 'portal_url', 'rss_at_floor', 'clock_skew']
    assert [k for k in unknown if row[k] is not None] == []


def test_skewed_clocks_give_null_and_a_mark():
    made = tables.Tables()
    made.run('r', start_ns=START)
    for number, worker_start in enumerate([START + 7, START - S, START], 1):
        made.action('r', 'root//:x', attempts=[{'digest': digest(number)}])
        made.result(digest(number), wall_ns=S, worker='w', usage={'user_ns': S}, times={
            'queued': START, 'worker_start': worker_start, 'fetch_start': START + 10, 'fetch_completed': START + 20,
            'execution_start': START + 20, 'execution_completed': START + 20 + S, 'upload_start': START + 20 + S,
            'upload_completed': START + 30 + S, 'worker_completed': START + 30 + S})
    db = made.finish()
    found = {r['digest']: (r['queued_s'], r['clock_skew']) for r in rows(db, 'SELECT * FROM usage')}
    assert found == {digest(1): (7e-9, 0), digest(2): (None, 1), digest(3): (0, 0)}
    for view in ('phases', 'phases_by_project', 'phases_by_run'):
        queued = rows(db, f'SELECT * FROM {view}')[0]
        assert (queued['phase'], queued['actions'], queued['unknown'], queued['skewed']) == ('queued', 2, 0, 1)
    assert one(db, 'SELECT results, skewed FROM workers') == {'results': 3, 'skewed': 1}


def test_phases_are_the_definition():
    """Random times with gaps: each phase from both its ends, unknown and reversed ones left out."""
    rng = random.Random(7)
    made = tables.Tables()
    made.run('r', start_ns=START)
    ends = {'queued': ('queued', 'worker_start'), 'fetch': ('fetch_start', 'fetch_completed'),
            'run': ('execution_start', 'execution_completed'), 'upload': ('upload_start', 'upload_completed')}
    known = {phase: [] for phase in ends}
    for number in range(1, 121):
        times = {t: START + rng.randint(0, 50) * S for t in tables.TIMES if rng.random() > 0.1}
        historical = number % 10 == 0
        span = made.action('r', 'root//:x', attempts=[{'digest': digest(number)}])
        made.result(digest(number), wall_ns=S, times=times, worker='w', attempt=('r', span, 0) if historical else None)
        for phase, (begin, end) in ends.items():
            if not historical:
                known[phase].append(times[end] - times[begin] if begin in times and end in times else None)
    db = made.finish()
    whole = sum(d for spans in known.values() for d in spans if d is not None and d >= 0)
    for view in ('phases', 'phases_by_project', 'phases_by_run'):
        for row in rows(db, f'SELECT * FROM {view}'):
            good = [d for d in known[row['phase']] if d is not None and d >= 0]
            assert (row['actions'], row['unknown'], row['skewed']) == \
                (len(good), known[row['phase']].count(None), sum(d is not None and d < 0 for d in known[row['phase']]))
            assert (row['total_h'], row['pct'], row['avg_s'], row['max_s']) == (
                round(sum(good) / 3.6e12, 3), round(100 * sum(good) / whole, 1), round(sum(good) / S / len(good), 3), max(good) / S)


@pytest.mark.parametrize('queued', [None, START + 60 * S])
def test_a_phase_of_which_nothing_is_known_took_no_known_time(queued):
    """Never told, or all of it by a clock ahead."""
    made = tables.Tables()
    made.run('r', start_ns=START)
    made.action('r', 'root//:x', attempts=[{'digest': digest(1)}])
    times = {'queued': queued, 'worker_start': START + S, 'execution_start': START + S, 'execution_completed': START + 2 * S}
    made.result(digest(1), wall_ns=S, worker='w', invocation='r', times={k: v for k, v in times.items() if v})
    db = made.finish()
    for form in ('', '_by_project', '_by_run', '_by_invocation'):
        found = {r['phase']: (r['actions'], r['skewed'], r['total_h'], r['pct'], r['avg_s'], r['max_s']) for r in
                 rows(db, f'SELECT * FROM phases{form}')}
        assert found['queued'] == (0, int(queued is not None), None, None, None, None)
        assert found['fetch'] == (0, 0, None, None, None, None) and found['run'] == (1, 0, 0.0, 100.0, 1.0, 1.0)


# ---- why a digest has no usage ---------------------------------------------------------------

REASONS = [
    # reason, state, attempts
    ('refused_upload', 0, [{'status': 5, 'error_stage': 'remote_upload_error', 'error': 'Buffer has checksum'}]),
    ('local_only', 0, [{'status': 5, 'error_stage': 'remote_prepare',
                        'error': 'Trying to execute a `local_only = True` action on remote executor for x'}]),
    ('failed', 0, [{'status': 3, 'exit_code': 1}]),
    ('failed', 0, [{'status': 5, 'error_stage': 'remote_call_error', 'error': 'context deadline exceeded'}]),
    ('failed', 0, [{'status': 7}]),
    ('evicted', 2, [{'status': 2}]),
    ('evicted', 2, [{'status': 3, 'exit_code': 1}, {'status': 2, 'cache_hit': 1}]),
    ('outputs_evicted', 3, [{'status': 2}]),
    ('refused', 4, [{'status': 2}]),
    ('malformed', 6, [{'status': 2}]),
    ('unreachable', 8, [{'status': 2}]),
    ('malformed', 9, [{'status': 2}]),
    ('not_asked', 0, [{'status': 2}]),
]


@pytest.fixture(scope='module')
def missing():
    made = tables.Tables()
    made.run('r', 'p', start_ns=START, config=switches('remote'))
    made.run('lost', 'p', instance='unproved', instance_proved=0, start_ns=START + 1)
    wanted = {}
    for number, (reason, state, attempts) in enumerate(REASONS, 1):
        made.action('r', f'root//:t{number}', 'c', f'i{number}', [{'digest': digest(number), **a} for a in attempts])
        if state:
            made.state(digest(number), state, 'said the server' if state > 3 else None)
        wanted[digest(number)] = reason
    made.action('r', 'root//:up', attempts=[{'digest': digest(100), 'cache_hit': 1}])
    made.result(digest(100), wall_ns=S)
    made.action('r', 'root//:no', attempts=[{'digest': digest(101)}])
    made.result(digest(101), wall_ns=S, worker='w')
    made.action('r', 'root//:has', attempts=[{'digest': digest(102)}])
    made.result(digest(102), wall_ns=S, worker='w', usage={'user_ns': 1})
    made.action('lost', 'root//:ns', attempts=[{'digest': digest(103)}])
    made.state(digest(103), 2, instance='unproved')
    wanted |= {digest(100): 'uploaded_by_client', digest(101): 'no_usage', digest(103): 'never_stored'}
    return wanted, made.finish()


def test_missing_reasons(missing):
    wanted, db = missing
    assert {r['digest']: r['reason'] for r in rows(db, 'SELECT * FROM missing_results')} == wanted
    for view in ('missing_results_by_project', 'missing_results_by_run'):
        assert {r['digest']: r['reason'] for r in rows(db, f'SELECT * FROM {view}')} == wanted
    assert {r['reason'] for r in rows(db, "SELECT * FROM missing_results_by_run WHERE run = 'lost'")} == {'never_stored'}


def test_missing_and_known_make_up_all(missing):
    wanted, db = missing
    for view in ('summary', 'summary_by_project'):
        row = one(db, f'SELECT * FROM {view}')
        assert row['digests'] == row['with_usage'] + len(wanted) == 17
    packages = rows(db, 'SELECT * FROM packages')
    assert sum(r['unknown'] for r in packages) == len(wanted)
    assert packages == [{k: v for k, v in r.items() if k != 'project'} for r in rows(db, 'SELECT * FROM packages_by_project')]


def test_missing_says_what_the_server_said(missing):
    _, db = missing
    row = one(db, 'SELECT * FROM missing_results WHERE digest = ?', digest(9))
    assert (row['project'], row['run'], row['label'], row['identifier'], row['mode'], row['message'], row['instance']) == \
        ('p', 'r', 'root//:t9', 'i9', 'remote', 'said the server', 'instance')
    assert 'local_only' in one(db, 'SELECT message FROM missing_results WHERE digest = ?', digest(2))['message']


# ---- the wrapper's words ---------------------------------------------------------------------

CELLS = [
    # config, isolation dir, expected variant, mode, salt, pool, tag, is_dev
    ({}, 'v2', (None, None, None, None, None, 0)),
    (switches('local-cache'), 'v2', (None, 'local-cache', None, None, None, 0)),
    ({'br2.native': ''}, 'v2', ('wrapped', None, None, None, None, 0)),
    ({'br2.native': 'zlib'}, 'v2', ('native', None, None, None, None, 0)),
    ({'br2.cache_salt': 'native-remote-cache-30022034'}, 'v2', ('native', 'remote-cache', 'native-remote-cache-30022034', None, None, 0)),
    ({'br2.cache_salt': 'native-remote-30022034'}, 'v2', ('native', 'remote', 'native-remote-30022034', None, None, 0)),
    ({'br2.cache_salt': ''}, 'v2', (None, None, None, None, None, 0)),
    ({'br2.cache_salt': 'mine'}, 'wrapped-local', ('wrapped', 'local', 'mine', None, None, 0)),
    ({}, 'native-remote-cache', ('native', 'remote-cache', None, None, None, 0)),
    ({'buck2_re_client.instance_name': 'big/qemu-remote-cache-wrapped-viewcheck'}, 'v2', ('wrapped', 'remote-cache', None, 'big', 'viewcheck', 1)),
    ({'buck2_re_client.instance_name': 'qemu-remote-native-022116'}, 'v2', ('native', 'remote', None, None, '022116', 0)),
    ({'buck2_re_client.instance_name': 'qemu-remote-native'}, 'v2', ('native', 'remote', None, None, None, 0)),
    ({'buck2_re_client.instance_name': 'qemu-remote-nativeish'}, 'v2', (None, None, None, None, None, 0)),
    ({'br2.dev_tools': 'true'}, 'v2', (None, None, None, None, None, 1)),
    # What Buck2 acted on outranks what a name says.
    ({**switches('remote'), 'br2.native': 'zlib', 'br2.cache_salt': 'wrapped-local-30022034'}, 'wrapped-local-cache',
     ('native', 'remote', 'wrapped-local-30022034', None, None, 0)),
]


@pytest.mark.parametrize('config, isolation_dir, wanted', CELLS)
def test_cell_of_a_run(config, isolation_dir, wanted):
    made = tables.Tables()
    made.run('r', config=config, isolation_dir=isolation_dir)
    row = one(made.finish(), 'SELECT variant, mode, salt, pool, tag, is_dev FROM runs')
    assert tuple(row.values()) == wanted


def test_variants_and_modes_are_rows_that_a_user_can_add():
    made = tables.Tables()
    tables.insert(made.db, 'variant', variant='hybrid')
    tables.insert(made.db, 'mode', mode='mixed', remote_cache='true', cache_uploads='true', remote_execution='true', local_execution='true')
    made.run('r', config={'br2.cache_salt': 'hybrid-mixed-30022034'})
    assert one(made.finish(), 'SELECT variant, mode FROM runs') == {'variant': 'hybrid', 'mode': 'mixed'}


def test_pool_of_a_proved_instance():
    made = tables.Tables()
    made.run('r', 'qemu', instance='legacy/qemu')
    made.run('s', 'qemu', instance='team/other')
    found = {r['run']: r['pool'] for r in rows(made.finish(), 'SELECT run, pool FROM runs')}
    assert found == {'r': 'legacy', 's': None}


def cell_run(made, trace, salt, at, digests, hit, **row):
    made.run(trace, config={'br2.cache_salt': salt} if salt else {}, start_ns=START + at * S, duration_us=5_000_000, **row)
    for number in digests:
        made.action(trace, 'root//:x', attempts=[{'digest': digest(number), 'cache_hit': hit}], execution_kind=3 if hit else 2)


def result_of(made, number, invocation, at):
    made.result(digest(number), wall_ns=S, invocation=invocation, usage={'user_ns': S},
                times={'execution_start': START + at * S, 'execution_completed': START + (at + 1) * S})


def test_passes():
    made = tables.Tables()
    cell_run(made, 'first', 'a', 0, [1], 0)
    cell_run(made, 'second', 'a', 10, [1, 2], 0)
    cell_run(made, 'after-a-lost-one', 'b', 100, [3], 1)
    made.action('after-a-lost-one', 'root//:x', attempts=[{'digest': digest(4)}])
    cell_run(made, 'alone', 'c', 200, [5], 0)
    cell_run(made, 'all-hits', None, 300, [1], 1)
    cell_run(made, 'unsalted', None, 400, [6], 0)
    for number, invocation, at in ((1, 'first', 1), (2, 'second', 11), (3, 'lost', 50), (4, 'after-a-lost-one', 101), (5, 'alone', 201)):
        result_of(made, number, invocation, at)
    db = made.finish()
    assert {r['run']: r['pass'] for r in rows(db, 'SELECT run, pass FROM runs')} == {
        'first': 'cold', 'second': 'warm', 'after-a-lost-one': 'warm', 'alone': 'cold', 'all-hits': 'warm', 'unsalted': 'cold'}
    found = [(r['salt'], r['run'], r['invocation'], r['log_known'], r['with_usage']) for r in rows(db, 'SELECT * FROM cells')]
    assert found == [('a', 'cold', 'first', 1, 1), ('a', 'warm', 'second', 1, 1), ('b', 'cold', 'lost', 0, 1),
                     ('b', 'warm', 'after-a-lost-one', 1, 1), ('c', 'cold', 'alone', 1, 1)]


def test_lost_invocation_belongs_to_the_salt_of_most_of_its_results():
    """An action that ignores the salt may be known from an earlier cell."""
    made = tables.Tables()
    cell_run(made, 'before', 'a', 0, [1], 0)
    cell_run(made, 'warm', 'b', 100, [1, 2, 3], 1)
    for number in (1, 2, 3):
        result_of(made, number, 'lost', 50)
    db = made.finish()
    assert [(r['salt'], r['run'], r['hours'], r['with_usage']) for r in rows(db, "SELECT * FROM cells WHERE invocation = 'lost'")] == \
        [('b', 'cold', round(3 / 3600, 6), 3)]
    row = one(db, 'SELECT * FROM executions')
    assert (row['run'], row['known_by'], row['salt'], row['results'], row['seconds']) == (None, 'warm', 'b', 3, 1)


def test_results_that_name_no_invocation_are_told_by_time():
    made = tables.Tables()
    cell_run(made, 'r', 'a', 0, [1, 2, 3, 4], 0)
    cell_run(made, 'hit', 'a', 3, [1], 1)
    for number, at in ((1, 2), (2, -1.5), (3, -2.5), (4, 7.5)):
        result_of(made, number, None, at)
    db = made.finish()
    found = {(r['run'], r['digest']): r['executed_in_this_run'] for r in rows(db, 'SELECT * FROM run_usage')}
    assert found == {('r', digest(1)): 1, ('r', digest(2)): 1, ('r', digest(3)): 0, ('r', digest(4)): 0, ('hit', digest(1)): 0}
    assert {r['invocation']: r['with_usage'] for r in rows(db, 'SELECT * FROM cells')} == {'r': 2, 'hit': 0}


# ---- workers ----------------------------------------------------------------------------------

WORKERS = [
    ('{"pool":"shared","slot":"worker-shared-5b6dd8dff9-x7k4q"}', 'shared', 'worker-shared-5b6dd8dff9-x7k4q'),
    ('{"node":"n1","pod":"worker-big-6f7c-abcde","thread":"0"}', 'big', 'worker-big-6f7c-abcde'),
    ('{"hostname":"worker-shared-small-5b6dd8dff9-x7k4q"}', 'shared-small', 'worker-shared-small-5b6dd8dff9-x7k4q'),
    ('{"hostname":"build-7"}', None, 'build-7'),
    ('{"thread":"3"}', None, None),
    ('build-7', None, 'build-7'),
    ('some words', None, None),
    ('{broken', None, None),
    ('["worker-shared-5b6dd8dff9-x7k4q"]', None, None),
]


@pytest.mark.parametrize('text, pool, pod', WORKERS)
def test_pool_and_pod_of_a_worker(text, pool, pod):
    made = tables.Tables()
    made.run('r')
    made.action('r', 'root//:x', attempts=[{'digest': digest(1)}])
    made.result(digest(1), wall_ns=S, worker=text, usage={'user_ns': S})
    db = made.finish()
    for view in ('usage', 'workers'):
        row = one(db, f'SELECT worker, pool, pod FROM {view}')
        assert tuple(row.values()) == (text, pool, pod)


def test_floor_of_a_worker():
    made = tables.Tables()
    made.run('r')
    for number, (worker, rss) in enumerate([('a', 100), ('a', 110), ('a', 111), ('a', None), ('b', 105)], 1):
        made.action('r', 'root//:x', attempts=[{'digest': digest(number)}])
        made.result(digest(number), wall_ns=S, worker=worker, max_rss_bytes=rss and rss << 20, usage={'user_ns': S})
    db = made.finish()
    found = [r['rss_at_floor'] for r in rows(db, 'SELECT * FROM usage ORDER BY digest')]
    assert found == [1, 1, 0, None, 1]
    assert [(r['worker'], r['results'], r['rss_floor_gib'], r['max_rss_gib']) for r in rows(db, 'SELECT * FROM workers')] == \
        [('a', 4, round(100 / 1024, 3), round(111 / 1024, 2)), ('b', 1, round(105 / 1024, 3), round(105 / 1024, 2))]


# ---- what is heavy ------------------------------------------------------------

def test_heavy_packages():
    made = tables.Tables()
    made.run('r', 'p')
    results = {'slow': [(61, 0.5), (1, 1)], 'wide': [(6, 4.1)], 'both': [(100, 8)], 'edge': [(60, 4), (5, 9)], 'short': [(1, 12)]}
    number = itertools.count(1)
    for package, parts in results.items():
        for wall, cores in parts:
            name = digest(next(number))
            made.action('r', f'root//:{package}', attempts=[{'digest': name}])
            made.result(name, wall_ns=wall * S, usage={'user_ns': int(wall * cores * S)}, max_rss_bytes=2**30)
    db = made.finish()
    wanted = [('both', 1, 1, 1, 1), ('slow', 1, 1, 0, 2), ('wide', 1, 0, 1, 1)]
    columns = 'package, heavy_actions, long_actions, wide_actions, actions'
    for view in ('heavy_packages', 'heavy_packages_by_project', 'heavy_packages_by_run'):
        assert [tuple(r.values()) for r in rows(db, f'SELECT {columns} FROM {view}')] == wanted
    db.execute("UPDATE setting SET value = 50 WHERE key = 'heavy_wall_s'")
    assert [r['package'] for r in rows(db, 'SELECT package FROM heavy_packages')] == ['both', 'slow', 'edge', 'wide']


def test_packages():
    made = tables.Tables()
    made.run('r', 'p')
    for number, (package, wall, cpu, rss) in enumerate([('a', 3600, 7200, 1), ('a', 10, 50, 3), ('a', 1, 9, 2), ('b', 7200, 3600, 4)], 1):
        made.action('r', f'root//:{package}', attempts=[{'digest': digest(number)}])
        made.result(digest(number), wall_ns=wall * S, usage={'user_ns': cpu * S}, max_rss_bytes=rss << 30)
    db = made.finish()
    wanted = [('b', 1, 0, 2.0, 1.0, 0.5, 0.5, 7200.0, 4.0), ('a', 3, 0, 1.003, 2.016, 2.01, 9.0, 3600.0, 3.0)]
    assert [tuple(r.values()) for r in rows(db, 'SELECT * FROM packages')] == wanted
    assert [tuple(r.values())[1:] for r in rows(db, 'SELECT * FROM packages_by_project')] == wanted
    assert [tuple(r.values())[1:] for r in rows(db, 'SELECT * FROM packages_by_run')] == wanted


WORKER = 'Remote Execution Error on Execute with digest x: Error: (Error was returned on the stream by RE: '


# Texts of bb-remote-execution 13313e6: pkg/scheduler/in_memory_build_queue.go, pkg/builder, pkg/runner.
@pytest.mark.parametrize('attempt, wanted', [
    ({'exit_code': 2, 'historical': (digest(9), 0)}, ('exit', 'its result was not asked for yet')),
    ({'exit_code': -1, 'historical': (digest(9), 2)}, ('signal', 'its result is gone from the CAS')),
    ({'exit_code': 2, 'historical': (digest(9), 4)}, ('exit', 'the server refuses its result')),
    ({'exit_code': 2, 'historical': (digest(9), 6)}, ('exit', 'its result is too large')),
    ({'exit_code': 2, 'historical': (digest(9), 8)}, ('exit', 'its result could not be fetched yet')),
    ({'exit_code': 2, 'historical': (digest(9), 9)}, ('exit', 'what its message links is no result')),
    ({'exit_code': 2, 'historical': (digest(9), 10)}, ('exit', 'what its message links is about another action')),
    ({'exit_code': 2, 'message': 'no link here'}, ('exit', 'the server\'s message has no link')),
    ({'kind': 1, 'exit_code': 1}, ('exit', 'ran locally: no worker measured it')),
    ({'status': 5, 'error': WORKER + 'Failed to run command: context deadline exceeded)'},
     ('timeout', 'timed out: the worker told no usage, and Buck2 drops the link')),
    ({'status': 5, 'error': WORKER + 'Failed to run command: Failed to start process: fork/exec /x: no such file)'},
     ('start_failure', 'never started')),
    ({'status': 5, 'error': WORKER + 'Worker {"pod":"w"} disappeared while task was executing)'},
     ('worker_lost', 'its worker was lost and told nothing')),
    ({'status': 5, 'error': WORKER + 'Attempted to execute task 10 times, but it never completed. This task may cause worker {} to crash.)'},
     ('worker_lost', 'its worker was lost and told nothing')),
    ({'status': 5, 'error': WORKER + 'Workers for this instance name, platform and size class disappeared while task was queued)'},
     ('no_worker', 'no worker took it')),
    ({'status': 5, 'error': WORKER + 'No workers exist for instance name prefix "x" platform {})'},
     ('no_worker', 'no worker took it')),
    ({'status': 5, 'error': WORKER + 'Task no longer has any waiting clients)'},
     ('cancelled', 'cancelled: nobody waited for a result')),
    ({'status': 7}, ('cancelled', 'cancelled: nobody waited for a result')),
    ({'status': 5, 'error_stage': 'remote_upload_error', 'error': 'Buffer has checksum x'},
     ('refused_upload', 'no worker took it')),
    ({'status': 5, 'error_stage': 'remote_prepare', 'error': 'local_only'}, ('local_only', 'no worker took it')),
    ({'status': 5, 'error': WORKER + 'Object not found)'},
     ('error', 'the call ended with an error, with which Buck2 drops the link')),
])
def test_failure(attempt, wanted):
    made = tables.Tables()
    made.run('r', 'p')
    made.action('r', 'root//:x', attempts=[{'digest': digest(1), 'status': 3, **attempt}], failed=1)
    made.action('r', 'root//:y', attempts=[{'digest': digest(2)}])
    assert one(made.finish(), 'SELECT reason, no_result FROM _failure') == dict(zip(('reason', 'no_result'), wanted))


def test_failure_without_a_failed_attempt():
    """bb-remote-execution#128: exit code 0, outputs missing."""
    made = tables.Tables()
    made.run('r', 'p')
    made.action('r', 'root//:x', attempts=[{'digest': digest(1), 'exit_code': 0}], failed=1, error='outputs missing')
    row = one(made.finish(), 'SELECT * FROM _failure')
    assert (row['idx'], row['reason'], row['error'], row['action_failed']) == (None, 'missing_outputs', 'outputs missing', 1)


def test_a_saved_action_is_a_failure_that_is_not_failed():
    made = tables.Tables()
    made.run('r', 'p')
    made.action('r', 'root//:x', attempts=[{'digest': digest(1), 'status': 3, 'exit_code': 1, 'historical': (digest(9), 1)},
                                           {'digest': digest(1), 'kind': 1}])
    made.result(digest(1), wall_ns=S, attempt=('r', 1, 0))
    row = one(made.finish(), 'SELECT * FROM _failure')
    assert (row['action_failed'], row['idx'], row['no_result'], row['result_id']) == (0, 0, None, 1)


# ---- links, hostile numbers, access ------------------------------------------------------------

def test_portal_url():
    made = tables.Tables()
    for instance in ('qemu', '', 'team/odd names-1'):
        made.run(f'r {instance}', instance=instance)
        made.action(f'r {instance}', 'root//:x', attempts=[{'digest': digest(1)}])
        made.result(digest(1), instance, wall_ns=S)
    db = made.finish()
    assert rows(db, 'SELECT DISTINCT portal_url FROM usage') == [{'portal_url': None}]
    db.execute("UPDATE setting SET value = 'http://127.0.0.1:8081/browser/' WHERE key = 'portal_url'")
    page = f'blobs/sha256/action/{1:064x}-141/'
    assert {r['instance']: r['portal_url'] for r in rows(db, 'SELECT * FROM usage')} == {
        'qemu': f'http://127.0.0.1:8081/browser/qemu/{page}', '': f'http://127.0.0.1:8081/browser/{page}',
        'team/odd names-1': f'http://127.0.0.1:8081/browser/team/odd%20names-1/{page}'}


def test_the_largest_numbers_spoil_no_view():
    made = tables.Tables()
    made.run('r', start_ns=START)
    for number in (1, 2, 3):
        made.action('r', 'root//:x', attempts=[{'digest': digest(number), 'wall_us': 2**63 - 1}])
        made.result(digest(number), wall_ns=2**63 - 1, usage={'user_ns': 2**62, 'system_ns': 2**62 - 1}, max_rss_bytes=2**62)
    db = made.finish()
    assert one(db, 'SELECT wall_h FROM summary')['wall_h'] == pytest.approx(3 * 2**63 / 3.6e12)
    for view in views(db):
        db.execute(f'SELECT * FROM "{view}"').fetchall()


def views(db):
    return [r['name'] for r in rows(db, "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")]


def test_every_view_answers_in_a_database_that_is_not_trusted():
    """As the program opens it: no function in a view may be one that SQLite calls unsafe."""
    db = tables.create()
    db.execute('PRAGMA trusted_schema = OFF')
    assert len(views(db)) > 40
    for view in views(db):
        db.execute(f'SELECT * FROM "{view}"').fetchall()


def test_every_view_answers_in_the_stock_shell(tmp_path):
    import subprocess
    path = tmp_path / 'x.db'
    tables.create(str(path)).close()
    with sqlite3.connect(path) as db:
        names = views(db)
    script = ''.join(f'SELECT * FROM "{name}";\n' for name in names)
    done = subprocess.run(['sqlite3', '-safe', '-bail', f'file:{path}?mode=ro'], input=script, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, '')
