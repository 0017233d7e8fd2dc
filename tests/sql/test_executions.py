"""What invocations did over time, from results: concurrency, its summary, the spread over workers and the
phases, against plain definitions in Python over random executions, and on recorded cold runs without logs."""
import collections
import random
import statistics

import pytest

from builds import digest
from samples import expected, load, rows
import tables

S = 10**9
START = 1_796_000_000 * S
LOST = '6746f215-b757-49e7-a3f5-6faa62cecebf'


def random_times(rng):
    """Times as workers send them, on a coarse grid so that many fall together; some unknown, some skewed."""
    queued = START + rng.randint(0, 20) * S + rng.choice([0, 0, 1, 49, 100, 151]) * S // 1000
    times = {'queued': queued, 'worker_start': queued + rng.choice([0, 0, 1, 5]) * S}
    times['execution_start'] = times['worker_start'] + rng.choice([0, S])
    times['execution_completed'] = times['execution_start'] + rng.choice([0, 1, 7]) * S
    times['worker_completed'] = times['execution_completed'] + rng.choice([0, S])
    if rng.random() < 0.1:
        times['queued'] += 100 * S
    if rng.random() < 0.1:
        times['worker_completed'] -= 100 * S
    return {k: v for k, v in times.items() if rng.random() > 0.05}


class Executions:
    """Two invocations, one of them known by another run's hits only; failed executions among them."""

    def __init__(self, seed):
        rng, made = random.Random(seed), tables.Tables()
        self.all = collections.defaultdict(list)  # invocation -> [(times, worker)]
        made.run('own', start_ns=START)
        made.run('warm', start_ns=START + 1000 * S)
        for number in range(rng.choice([1, 2, 40])):
            trace, invocation = rng.choice([('own', 'own'), ('warm', 'gone')])
            worker = '{"pool":"%s","pod":"w%d"}' % (rng.choice(['shared', 'big']), rng.randint(1, 3))
            times, failed = random_times(rng), rng.random() < 0.2
            span = made.action(trace, 'root//:x', 'k', str(number), [{'digest': digest(number), 'status': 3 if failed else 2}])
            made.result(digest(number), wall_ns=S, usage={'user_ns': S}, worker=worker, invocation=invocation, times=times,
                        attempt=(trace, span, 0) if failed else None)
            self.all[invocation].append((times, worker))
        self.db = made.finish()


def spans(executions, first, last):
    """[(from, to)] of those where both are known and in order."""
    known = [(t.get(first), t.get(last)) for t, _ in executions]
    return [(a, b) for a, b in known if a is not None and b is not None and a <= b]


def count(found, moment):
    """How many hold at a moment; each from its start on, its end not included."""
    return sum(a <= moment < b for a, b in found)


def longest_held(found, moments):
    """Time with at least one of them."""
    return sum(b - a for a, b in zip(moments, moments[1:]) if count(found, a))


@pytest.mark.parametrize('seed', range(20))
def test_concurrency_is_the_definition(seed):
    build = Executions(seed)
    for invocation, executions in build.all.items():
        waits, runs = spans(executions, 'queued', 'worker_start'), spans(executions, 'worker_start', 'worker_completed')
        moments = sorted({m for span in waits + runs for m in span})
        found = rows(build.db, 'SELECT * FROM concurrency WHERE invocation = ?', invocation)
        tenths = sorted({-(-m // (S // 10)) for m in moments})
        assert [(r['queued'], r['running']) for r in found] == [(count(waits, t * S // 10), count(runs, t * S // 10)) for t in tenths]
        assert [r['for_s'] for r in found] == [(b - a) / 10 for a, b in zip(tenths, tenths[1:])] + [None] * bool(tenths)
        assert [round(r['at_s'] - found[0]['at_s'], 6) for r in found] == [(t - tenths[0]) / 10 for t in tenths]
        check_summary(build.db, invocation, executions, waits, runs, moments)


def check_summary(db, invocation, executions, waits, runs, moments):
    (row,) = rows(db, 'SELECT * FROM concurrency_summary WHERE invocation = ?', invocation)
    ran, held = longest_held(runs, moments), sum(b - a for a, b in runs)
    assert (row['results'], row['unknown'], row['unknown_waits']) == \
        (len(executions), len(executions) - len(runs), len(executions) - len(waits))
    assert row['workers'] == len({w for _, w in executions})
    assert (row['peak_running'], row['running_s']) == ((max(count(runs, m) for m in moments), ran / S) if runs else (None, None))
    assert (row['peak_waiting'], row['queued_s']) == \
        ((max(count(waits, m) for m in moments), longest_held(waits, moments) / S) if waits else (None, None))
    assert row['avg_running'] == (pytest.approx(held / ran, abs=0.0051) if ran else None)
    real = [(a, b) for a, b in runs if b > a]
    span = max(b for _, b in real) - min(a for a, _ in real) if real else None
    assert row['idle_s'] == (None if span is None else (span - ran) / S)
    timed = len({w for t, w in executions if spans([(t, w)], 'worker_start', 'worker_completed')})
    assert row['busy_pct'] == (pytest.approx(100 * held / timed / span, abs=0.051) if span else None)


@pytest.mark.parametrize('seed', range(20))
def test_worker_skew_is_the_definition(seed):
    build = Executions(seed)
    for invocation, executions in build.all.items():
        pools = collections.defaultdict(lambda: collections.defaultdict(list))
        for execution in executions:
            pools['shared' if 'shared' in execution[1] else 'big'][execution[1]].append(execution)
        found = {r['pool']: r for r in rows(build.db, 'SELECT * FROM worker_skew WHERE invocation = ?', invocation)}
        assert found.keys() == pools.keys()
        for pool, workers in pools.items():
            row = found[pool]
            found_of = [spans(e, 'worker_start', 'worker_completed') for e in workers.values()]
            held = [sum(b - a for a, b in of_it) / S for of_it in found_of if of_it]
            known = sum(map(len, found_of))
            assert (row['workers'], row['results']) == (len(workers), sum(map(len, workers.values())))
            assert (row['unknown'], row['unknown_workers']) == (row['results'] - known, len(workers) - len(held))
            if not held:
                assert {row[c] for c in ('held_s', 'max_held_s', 'median_held_s', 'min_held_s', 'skew_ratio', 'even_pct', 'busiest')} == {None}
                continue
            assert (row['held_s'], row['max_held_s'], row['median_held_s'], row['min_held_s']) == \
                (sum(held), max(held), statistics.median(held), min(held))
            assert row['skew_ratio'] == (pytest.approx(max(held) / statistics.median(held), abs=0.0051) if statistics.median(held) else None)
            assert row['even_pct'] == (pytest.approx(100 * sum(held) / len(held) / max(held), abs=0.051) if max(held) else None)


def test_one_execution_of_several_attempts_counts_once():
    """Two runs that asked for the same command at the same time link one failed execution."""
    made = tables.Tables()
    times = {'queued': START, 'worker_start': START + S, 'worker_completed': START + 3 * S}
    for trace in ('a', 'b'):
        made.run(trace, start_ns=START + (trace == 'a') * S)
        span = made.action(trace, 'root//:x', attempts=[{'digest': digest(1), 'status': 3}], failed=1)
        made.result(digest(1), invocation='a', worker='w', exit_code=-1, termination_signal='SEGV', max_rss_bytes=2**30, times=times,
                    attempt=(trace, span, 0))
    db = made.finish()
    (row,) = rows(db, 'SELECT * FROM concurrency_summary')
    assert (row['results'], row['peak_running'], row['running_s'], row['queued_s']) == (1, 1, 2, 1)
    (row,) = rows(db, 'SELECT * FROM worker_skew')
    assert (row['results'], row['held_s']) == (1, 2)
    assert [r['failed'] for r in rows(db, 'SELECT failed FROM package_sizes')] == [1]
    assert [r['run'] for r in rows(db, 'SELECT run FROM signals')] == ['b']
    assert [r['run'] for r in rows(db, 'SELECT run FROM signals_by_project')] == ['b']
    assert sorted(r['run'] for r in rows(db, 'SELECT run FROM signals_by_run')) == ['a', 'b']


def test_a_worker_of_unknown_times_is_not_one_without_work():
    made = tables.Tables()
    made.run('r', start_ns=START)
    for number, (worker, seconds) in enumerate([('w', 2), ('v', 4), ('u', None)]):
        times = {'queued': START, 'worker_start': START, 'worker_completed': START + seconds * S} if seconds else {}
        made.action('r', 'root//:x', 'k', str(number), [{'digest': digest(number)}])
        made.result(digest(number), wall_ns=S, usage={'user_ns': S}, worker=worker, invocation='r', times=times)
    db = made.finish()
    (row,) = rows(db, 'SELECT * FROM worker_skew')
    assert (row['workers'], row['unknown_workers'], row['min_held_s'], row['median_held_s'], row['even_pct']) == (3, 1, 2, 3, 75)
    (row,) = rows(db, 'SELECT * FROM concurrency_summary')
    assert (row['workers'], row['unknown'], row['busy_pct']) == (3, 1, 75)


@pytest.mark.parametrize('due', ['own', 'gone'])
def test_concurrency_summary_is_made_where_it_is_due(due):
    db = Executions(5).db
    kept = rows(db, 'SELECT * FROM concurrency_summary ORDER BY invocation')
    assert [r['invocation'] for r in kept] == ['gone', 'own']
    db.execute('UPDATE invocation_sum SET peak_running = peak_running + 1 WHERE invocation = ?', [due])
    assert rows(db, 'SELECT * FROM concurrency_summary ORDER BY invocation') != kept
    db.execute('INSERT INTO invocation_due VALUES (?)', [due])
    assert rows(db, 'SELECT * FROM concurrency_summary ORDER BY invocation') == kept
    assert rows(db, 'SELECT * FROM concurrency_summary WHERE invocation = ?', due) == [r for r in kept if r['invocation'] == due]


def test_nothing_is_made_to_look_for_what_is_due():
    """Where nothing is due the steps of SQLite's machine are as many without the results."""
    db, spent = Executions(5).db, []
    sql = 'SELECT * FROM concurrency_summary'
    kept = rows(db, sql)
    for change in ('SELECT 1', 'DELETE FROM result_time', 'DELETE FROM result'):
        db.execute(change)
        spent.append(0)
        db.set_progress_handler(lambda: spent.__setitem__(-1, spent[-1] + 1), 1)
        assert rows(db, sql) == kept
        db.set_progress_handler(None, 1)
    assert len(kept) == 2 and len(set(spent)) == 1


# ---- recorded: a cold run whose log is gone -----------------------------------------------------------

@pytest.fixture(scope='module')
def lost():
    return [r for r in expected('cells')['results'] if r.get('invocation_id') == LOST]


def test_concurrency_of_a_lost_cold_run(lost):
    db = load('cells')
    (row,) = rows(db, 'SELECT * FROM concurrency_summary WHERE invocation = ?', LOST)
    held = sum(r['times_ns']['worker_completed'] - r['times_ns']['worker_start'] for r in lost)
    assert (row['results'], row['unknown'], row['workers'], row['peak_running']) == (20, 0, len({r['worker'] for r in lost}), 2)
    assert row['avg_running'] * row['running_s'] == pytest.approx(held / S, rel=0.005)
    steps = rows(db, 'SELECT * FROM concurrency WHERE invocation = ?', LOST)
    moment = 0.1 * len(lost)  # each begins and ends at most a tenth of a second late
    assert sum(r['running'] * (r['for_s'] or 0) for r in steps) == pytest.approx(held / S, abs=moment)
    waited = sum(r['times_ns']['worker_start'] - r['times_ns']['queued'] for r in lost)
    assert sum(r['queued'] * (r['for_s'] or 0) for r in steps) == pytest.approx(waited / S, abs=moment)
    assert len(steps) > 10 and max(r['running'] for r in steps) == 2
    assert (steps[-1]['queued'], steps[-1]['running'], steps[-1]['for_s']) == (0, 0, None)


def test_worker_skew_of_a_lost_cold_run(lost):
    held = collections.Counter()
    for result in lost:
        held[result['worker']] += result['times_ns']['worker_completed'] - result['times_ns']['worker_start']
    (row,) = rows(load('cells'), 'SELECT * FROM worker_skew WHERE invocation = ?', LOST)
    assert (row['pool'], row['workers'], row['results']) == ('shared', 2, 20)
    assert (row['max_held_s'], row['min_held_s']) == (round(max(held.values()) / S, 3), round(min(held.values()) / S, 3))
    assert row['busiest'] in max(held, key=held.get)


PHASES = {'queued': ('queued', 'worker_start'), 'fetch': ('input_fetch_start', 'input_fetch_completed'),
          'run': ('execution_start', 'execution_completed'), 'upload': ('output_upload_start', 'output_upload_completed')}


def test_phases_by_invocation():
    db = load('cells')
    by = collections.defaultdict(list)
    for result in expected('cells')['results']:
        if result.get('invocation_id'):
            by[result['invocation_id']].append(result['times_ns'])
    found = rows(db, 'SELECT * FROM phases_by_invocation')
    assert [(r['invocation'], r['phase']) for r in found] == [(i, p) for i in sorted(by) for p in PHASES]
    for row in found:
        first, last = PHASES[row['phase']]
        times = [t[last] - t[first] for t in by[row['invocation']]]
        assert (row['actions'], row['unknown'], row['skewed']) == (len(times), 0, 0)
        assert row['avg_s'] == pytest.approx(statistics.mean(times) / S, abs=0.00051)
        assert row['max_s'] == pytest.approx(max(times) / S, abs=0.00051)
