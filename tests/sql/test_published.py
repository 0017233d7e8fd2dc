"""The published evidence on 2,513 actions of 5 projects, from a made data set."""
import pytest

from samples import rows
import tables

S = 10**9
GIB = 2**30
# class, actions, % of wall, average cores, 90th percentile, largest process in GiB
PUBLISHED = [
    ('0-5 s', 1633, 2, 0.91, 0.98, 0.09),
    ('5-20 s', 535, 22, 1.29, 2.03, 0.33),
    ('20-60 s', 258, 30, 1.91, 3.31, 0.23),
    ('60-300 s', 79, 37, 5.78, 9.11, 1.33),
    ('300+ s', 8, 9, 5.09, 5.53, 1.33),
]
ALL_WALL_S = 28_900
LONGEST_S = 350
REQUESTED_CORES = 4.5
BELOW_REQUEST = 12  # of the 87 over a minute


def walls_of(name, count, share):
    wall = ALL_WALL_S * share / 100
    if name == '300+ s':
        return [(wall - LONGEST_S) / (count - 1)] * (count - 1) + [LONGEST_S]
    return [wall / count] * count


def cores_of(name, count, average, p90):
    """The upper tenth at the percentile, the rest so that the average comes out."""
    low = count * 9 // 10
    rest = count * average - (count - low) * p90
    if name != '60-300 s':
        return [rest / low] * low + [p90] * (count - low)
    narrow = REQUESTED_CORES - 0.1
    wide = (rest - BELOW_REQUEST * narrow) / (low - BELOW_REQUEST)
    return [narrow] * BELOW_REQUEST + [wide] * (low - BELOW_REQUEST) + [p90] * (count - low)


@pytest.fixture(scope='module')
def db():
    made = tables.Tables()
    number = 0
    for project in range(5):
        made.run(f'run-{project}', f'project-{project}', instance='shared', start_ns=project)
    for name, count, share, average, p90, rss in PUBLISHED:
        pairs = zip(walls_of(name, count, share), cores_of(name, count, average, p90))
        for place, (wall_s, cores) in enumerate(pairs):
            number += 1
            digest = f'{number:064x}:141'
            made.action(f'run-{number % 5}', f'root//:package-{number % 100}', 'br2_package', f'step-{number}', [{'digest': digest}])
            made.result(digest, 'shared', int(wall_s * S), int(rss * GIB) if place == 0 else 50 << 20,
                        usage={'user_ns': round(wall_s * cores * S)})
    return made.finish()


def test_table(db):
    found = [tuple(r.values()) for r in rows(
        db, 'SELECT wall_time, actions, wall_pct, avg_cores, p90_cores, max_rss_gib FROM wall_time_buckets')]
    assert [(r[0], r[1], round(r[2]), *r[3:]) for r in found] == PUBLISHED


def test_whole(db):
    (row,) = rows(db, 'SELECT runs, actions, digests, with_usage FROM summary')
    assert row == {'runs': 5, 'actions': 2513, 'digests': 2513, 'with_usage': 2513}
    assert len(rows(db, 'SELECT * FROM summary_by_project')) == 5


def test_over_a_minute(db):
    long = rows(db, 'SELECT * FROM usage WHERE wall_s > 60')
    share = sum(r['wall_pct'] for r in rows(db, 'SELECT wall_pct FROM wall_time_buckets WHERE from_s >= 60'))
    assert (len(long), round(share)) == (87, 46)
    assert sum(r['cores'] > REQUESTED_CORES for r in long) == 75
    assert rows(db, 'SELECT wall_s FROM top_actions LIMIT 1') == [{'wall_s': LONGEST_S}]
    assert sum(r['long_actions'] for r in rows(db, 'SELECT * FROM heavy_packages')) == 87
