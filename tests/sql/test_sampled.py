"""What Prometheus sampled, as the views show it, against plain definitions in Python."""
import random

import pytest

from builds import GIB, POD, START, WORKER, S, digest, one
from samples import rows
import tables


class Sampled:
    """Actions of given seconds, each with so many samples; None: not asked."""

    def __init__(self):
        self.made = tables.Tables()
        self.made.run('r', 'p')
        self.count = 0

    def add(self, seconds, samples=None, rss=None, cpu=True, exit_code=0, signal=None, **sampled):
        self.count += 1
        name = digest(self.count)
        self.made.action('r', 'root//x:pkg', 'br2_package', f'a{self.count}', [{'digest': name}])
        self.made.result(name, wall_ns=round(seconds * S), worker=WORKER % POD, max_rss_bytes=rss, exit_code=exit_code,
                         termination_signal=signal, usage={'user_ns': S} if cpu else None)
        if samples is not None:
            self.made.sampled(name, samples, **sampled)

    def rows(self, sql):
        self.db = self.made.finish()
        return rows(self.db, sql)


@pytest.mark.parametrize('samples, wanted', [
    (None, None), (0, 'none'), (1, 'low'), (2, 'low'), (3, 'medium'), (9, 'medium'), (10, 'high'), (400, 'high')])
def test_confidence(samples, wanted):
    made = Sampled()
    made.add(60, samples)
    (row,) = made.rows('SELECT ctr_samples, ctr_confidence FROM usage')
    assert row == {'ctr_samples': samples, 'ctr_confidence': wanted}
    assert one(made.db, 'SELECT ctr_samples, ctr_confidence FROM run_usage') == row


@pytest.mark.parametrize('process, container, peak', [
    (1, 2, 2), (2, 1, 2), (None, 2, 2), (1, None, 1), (None, None, None)])
def test_the_peak_is_the_larger_one(process, container, peak):
    made = Sampled()
    made.add(60, 5 if container else 0, rss=process and process * GIB, peak_bytes=container and container * GIB)
    (row,) = made.rows('SELECT process_bytes, container_bytes, peak_bytes FROM _peak')
    assert list(row.values()) == [x and x * GIB for x in (process, container, peak)]
    assert one(made.db, 'SELECT ctr_peak_gib FROM usage')['ctr_peak_gib'] == container


@pytest.mark.parametrize('exit_code, signal, wanted', [(0, None, 0), (1, None, 0), (137, None, 1), (-1, 'KILL', 1)])
def test_a_lower_bound(exit_code, signal, wanted):
    made = Sampled()
    made.add(60, exit_code=exit_code, signal=signal)
    assert made.rows('SELECT is_lower_bound FROM _peak') == [{'is_lower_bound': wanted}]


def test_cores():
    made = Sampled()
    made.add(60, 4, cpu_ns=90 * S, cpu_window_ns=45 * S, cores_peak_milli=6010)
    (row,) = made.rows('SELECT cores_avg_milli, cores_peak_milli FROM _peak')
    assert row == {'cores_avg_milli': 2000, 'cores_peak_milli': 6010}
    assert one(made.db, 'SELECT ctr_cores_peak FROM usage')['ctr_cores_peak'] == 6.01


# ---- coverage -----------------------------------------------------------------------------------

def test_coverage():
    made = Sampled()
    for seconds, samples, status in ((200, 14, 1), (100, 7, 1), (20, 1, 1), (30, 2, 1), (5, 0, 2), (5, 0, 3), (10, 0, 4),
                                     (10, 0, 5), (15, None, None), (5, None, None)):
        made.add(seconds, samples, **({'status': status} if status else {}))
    made.add(1000, cpu=False)
    made.add(1000, 20, cpu=False, wall_ns=None)  # not counted: no usage
    found = made.rows('SELECT confidence, actions, actions_pct, wall_pct FROM sample_coverage')
    assert [tuple(r.values()) for r in found] == [
        ('high', 1, 10.0, 50.0), ('medium', 1, 10.0, 25.0), ('low', 2, 20.0, 12.5), ('none', 1, 10.0, 1.3),
        ('none', 1, 10.0, 1.3), ('none', 1, 10.0, 2.5), ('none', 1, 10.0, 2.5), (None, 2, 20.0, 5.0)]
    assert len({r['why'] for r in rows(made.db, 'SELECT why FROM sample_coverage')}) == 8


def test_coverage_of_nothing():
    found = Sampled().rows('SELECT * FROM sample_coverage')
    assert [r['actions'] for r in found] == [0] * 8 and {r['wall_pct'] for r in found} == {None}


def share(walls, interval, weights=None):
    weights = weights or [1] * len(walls)
    return 100 * sum(w * min(1, x / interval) for x, w in zip(walls, weights)) / sum(weights)


@pytest.mark.parametrize('seed', range(4))
def test_what_an_interval_covers(seed):
    rng = random.Random(seed)
    walls = [rng.lognormvariate(2.5, 1.2) for _ in range(400)] + [700.0]
    made = Sampled()
    for seconds in walls:
        made.add(seconds, 5 if seconds > 60 else None, **({'interval_ms': 14_990 + rng.randrange(20)} if seconds > 60 else {}))
    found = {r['interval_s']: r for r in made.rows('SELECT * FROM sample_intervals')}
    for interval, row in found.items():
        assert row['actions_pct'] == pytest.approx(share(walls, interval), abs=0.1)
        assert row['wall_pct'] == pytest.approx(share(walls, interval, walls), abs=0.2)
        assert row['actions'] == 401
    assert found[15]['why'] == 'measured'
    best = max(i for i in range(1, 601) if share(walls, i) >= 90)
    assert '90 % of the actions' in found[best]['why']
    (by_wall,) = [i for i, row in found.items() if '90 % of the wall time' in (row['why'] or '')]
    assert share(walls, by_wall, walls) >= 89.8 and share(walls, by_wall + 1, walls) < 90.2


def test_a_minute_sees_little_of_five_seconds():
    made = Sampled()
    for _ in range(100):
        made.add(5)
    found = {r['interval_s']: r for r in made.rows('SELECT * FROM sample_intervals')}
    assert found[60]['actions_pct'] == 8.3 and found[15]['actions_pct'] == 33.3 and found[10]['actions_pct'] == 50.0
    assert found[5]['why'] == '90 % of the actions; 90 % of the wall time'


# ---- the busiest runners ----------------------------------------------------------------------------

def test_busiest_runners():
    made = Sampled()
    made.add(60)
    one_pod, other = made.made.pod(POD, 2 * GIB, 'node-1'), made.made.pod('another', None)
    first = START // 60 // S
    for minute, peak, cpu in ((0, 1, 30), (1, 3, 90), (2, 3, 60)):
        made.made.minute(one_pod, first + minute, working_set_peak_bytes=peak * GIB, anon_peak_bytes=peak * GIB // 2,
                         cpu_ns=cpu * S, cpu_window_ns=60 * S)
    made.made.minute(one_pod, first + 3, container_id='/kubepods/2', working_set_peak_bytes=GIB // 2, cpu_samples=0)
    made.made.minute(other, first + 9, working_set_peak_bytes=2 * GIB, cpu_ns=600 * S, cpu_window_ns=60 * S)
    found = made.rows('SELECT * FROM worker_peaks')
    assert [(r['pod'], r['peak_gib'], r['minute_cores'], r['avg_cores']) for r in found] == [
        (POD, 3.0, 1.5, 1.0), ('another', 2.0, 10.0, 10.0), (POD, 0.5, None, None)]
    assert (found[0]['pool'], found[0]['node'], found[0]['limit_gib'], found[0]['minutes'], found[0]['samples']) == (
        'shared', 'node-1', 2.0, 3, 12)
    clock = [r['minute_utc'] for r in rows(made.db, 'SELECT DISTINCT minute_utc FROM worker_minutes ORDER BY 1')]
    assert (found[0]['first_utc'], found[0]['peak_utc'], found[0]['cores_utc'], found[0]['last_utc']) == (
        clock[0], clock[1], clock[1], clock[2])
    assert found[1]['pool'] is None and found[1]['limit_gib'] is None
    window = rows(made.db, 'SELECT pod, max(peak_gib) AS peak, max(cores) AS cores FROM worker_minutes'
                  ' WHERE minute_utc BETWEEN ? AND ? GROUP BY pod', clock[2], clock[3])
    assert window == [{'pod': POD, 'peak': 3.0, 'cores': 1.0}]
