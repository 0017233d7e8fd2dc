"""Results that say what cannot be, or little: each figure for itself is unknown or believed, no view
is spoilt, and what is not believed is flagged and kept."""
import base64
import json
import subprocess

import pytest

import harness
from eras import pack, unpack
from harness import dump, rows, value

RECORDING = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
S = 10**9
START = 1796003700
# In an ActionResult: where its metadata is, and what is there; and in the usage among that.
METADATA, AUXILIARY, VIRTUAL = 9, 11, 12
WORKER, QUEUED, WORKER_START, WORKER_COMPLETED, FETCH_START, FETCH_COMPLETED, RUN_START, RUN_COMPLETED, UPLOAD_START, UPLOAD_COMPLETED = \
    range(1, 11)
USER, SYSTEM, RSS = 1, 2, 3


def without(parts, *numbers):
    return [p for p in parts if p[0] not in numbers]


def stamp(number, ns):
    """A Timestamp or Duration."""
    return [number, 2, pack([[1, 0, ns // S], [2, 0, ns % S]])]


def edit(reply, metadata=lambda parts: parts, usage=None):
    """The ActionResult with its metadata edited, and in it its POSIX usage."""
    def edit_usage(part):
        if part[0] != AUXILIARY or not usage or b'POSIXResourceUsage' not in part[2]:
            return part
        url, message = unpack(part[2])
        return [AUXILIARY, 2, pack([url, [2, 2, pack(usage(unpack(message[2])))]])]
    parts = unpack(reply)
    for part in parts:
        if part[0] == METADATA:
            part[2] = pack(metadata([edit_usage(p) for p in unpack(part[2])]))
    return pack(parts)


@pytest.fixture
def taken(br2, project, tmp_path):
    """Ingests the sample, with the edits in place of its results, the first ones in order of their digests: their rows of
    usage. The database."""
    def ingest(*edits):
        lines = subprocess.run(['zstd', '-dcq', RECORDING], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
        entries = [json.loads(line) for line in lines]
        mine = [e for e in entries if e.get('instance') == 'demo-x86_64' and e['method'] == 'GetActionResult' and
                b'POSIXResourceUsage' in base64.b64decode(e['reply'])][:len(edits)]
        for entry, change in zip(mine, edits, strict=True):
            entry['reply'] = base64.b64encode(change(base64.b64decode(entry['reply']))).decode()
        recording, db = tmp_path / 'answers.jsonl', tmp_path / 'br2.db'
        recording.write_text('\n'.join(map(json.dumps, entries)) + '\n')
        br2.run(project('demo-x86_64'), '--db', db, '--replay', recording, '--no-report')
        br2.run('check', '--integrity', '--db', db)
        found = {row['digest']: row for row in rows(db, 'SELECT * FROM usage')}
        return db, [found[entry['digest']] for entry in mine]
    return ingest


# ---- what no machine does ---------------------------------------------------------------------

IMPLAUSIBLE = {
    'rss of 4 EiB': (dict(usage=lambda u: without(u, RSS) + [[RSS, 0, 1 << 62]]), 'max_rss_bytes', 1 << 62),
    'rss in KiB taken for bytes of TiB': (dict(usage=lambda u: without(u, RSS) + [[RSS, 0, 65 << 40]]), 'max_rss_bytes', 65 << 40),
    'cpu of a hundred years': (dict(usage=lambda u: without(u, USER) + [stamp(USER, 3_155_760_000 * S)]), 'cpu_ns', None),
    'wall of two years': (dict(metadata=lambda m: without(m, VIRTUAL) + [stamp(VIRTUAL, 63_072_000 * S)]), 'wall_ns', 63_072_000 * S),
    'ended two years later': (dict(metadata=lambda m: without(m, VIRTUAL, RUN_START, RUN_COMPLETED) + [
        stamp(RUN_START, START * S), stamp(RUN_COMPLETED, (START + 63_072_000) * S)]), 'wall_ns', 63_072_000 * S),
}


@pytest.mark.parametrize('kind', IMPLAUSIBLE)
def test_what_no_machine_does(br2, taken, tmp_path, kind):
    """Unknown where it is shown and summed up, flagged there, and as it was in a table of its own."""
    change, column, said = IMPLAUSIBLE[kind]
    db, (row,) = taken(lambda reply: edit(reply, **change))
    assert (row['implausible'], row[column]) == (1, None)
    believed = {'wall_ns', 'cpu_ns', 'max_rss_bytes'} - {column}
    assert all(row[c] is not None for c in believed), 'the rest is believed'
    assert value(db, 'SELECT count(*) FROM usage WHERE implausible') == 1
    (kept,) = rows(db, 'SELECT wall_ns, cpu_ns, max_rss_bytes FROM implausible')
    assert kept[column] == said or (said is None and kept[column] > 3_155_760_000 * S)
    assert all(kept[c] is None for c in believed)
    figures = value(db, 'SELECT max(rss_max_bytes) FROM bucket_sum'), value(db, 'SELECT max(wall_h) FROM packages')
    assert figures[0] < 1 << 40 and figures[1] < 1000
    merged = tmp_path / 'merged.db'
    br2.run('merge', db, '--db', merged)
    assert dump(merged) == dump(db)


def test_the_report_says_what_has_no_wall_time(br2, taken):
    db, _ = taken(lambda reply: edit(reply, **IMPLAUSIBLE['wall of two years'][0]))
    page = br2.run('report', '--db', db).stdout
    assert '1772 of 1772 actions have a stored result' in page
    assert 'wall time not known: 1 of the results, which no figure above holds\n' in page
    html = br2.run('report', '--html', '-', '--db', db).stdout
    assert '>1,771 <small>of 1,772</small>' in html
    assert '0 without usage are in no figure here; <a href="#missing">why</a>; nor are 1 whose wall time is not known' in html


def test_a_figure_that_is_odd_is_believed(taken):
    """4,000 cores and a TiB: nobody knows the node."""
    db, (row,) = taken(lambda reply: edit(
        reply, metadata=lambda m: without(m, VIRTUAL) + [stamp(VIRTUAL, S)],
        usage=lambda u: without(u, USER, SYSTEM, RSS) + [stamp(USER, 4000 * S), stamp(SYSTEM, 0), [RSS, 0, 1 << 40]]))
    assert (row['implausible'], row['cores'], row['max_rss_gib']) == (0, 4000, 1024)
    assert value(db, 'SELECT count(*) FROM implausible') == 0


# ---- what is not said ----------------------------------------------------------------------------

def test_only_a_worker(taken):
    """No time is 1970, and no figure 0."""
    _, (row,) = taken(lambda reply: edit(reply, metadata=lambda m: [p for p in m if p[0] == WORKER]))
    assert row['worker'] is not None and row['implausible'] == 0
    unknown = ('wall_ns', 'cpu_ns', 'cores', 'max_rss_bytes', 'executed_utc', 'queued_s', 'fetch_s', 'upload_s', 'clock_skew')
    assert {column: row[column] for column in unknown} == dict.fromkeys(unknown)


def test_no_peak(taken):
    """Absent, 0 and negative are unknown, and take part in no percentile."""
    db, found = taken(*(lambda reply, peak=peak: edit(reply, usage=lambda u: without(u, RSS) + peak)
                        for peak in ([], [[RSS, 0, 0]], [[RSS, 0, 2**64 - 5]])))
    assert [(r['max_rss_bytes'], r['max_rss_gib'], r['implausible']) for r in found] == [(None, None, 0)] * 3
    assert all(r['cpu_ns'] is not None for r in found)
    assert value(db, 'SELECT count(*) FROM usage WHERE max_rss_bytes IS NULL AND cpu_ns IS NOT NULL') == 3
    assert value(db, 'SELECT min(max_rss_bytes) FROM usage') > 1 << 20
    assert value(db, 'SELECT min(rss_min_bytes) FROM worker') > 1 << 20


# ---- times -----------------------------------------------------------------------------------------

def timed(**ns):
    """Such times after START, and no others."""
    numbers = {'queued': QUEUED, 'worker_start': WORKER_START, 'worker_completed': WORKER_COMPLETED, 'fetch_start': FETCH_START,
               'fetch_completed': FETCH_COMPLETED, 'run_start': RUN_START, 'run_completed': RUN_COMPLETED,
               'upload_start': UPLOAD_START, 'upload_completed': UPLOAD_COMPLETED}
    made = [stamp(numbers[name], START * S + after) for name, after in ns.items()]
    return lambda reply: edit(reply, metadata=lambda m: without(m, *numbers.values(), VIRTUAL) + made)


def test_equal_times_are_zero(taken):
    """Nothing took any time: known, and not unknown."""
    names = ('queued', 'worker_start', 'fetch_start', 'fetch_completed', 'run_start', 'run_completed', 'upload_start', 'upload_completed',
             'worker_completed')
    _, (row,) = taken(timed(**dict.fromkeys(names, 0)))
    assert (row['wall_s'], row['queued_s'], row['fetch_s'], row['upload_s'], row['clock_skew']) == (0, 0, 0, 0, 0)


def test_phases_and_gaps_are_the_whole(taken):
    """What lies between two phases is none of them, and the worker was held for it all the same."""
    db, (row,) = taken(timed(queued=0, worker_start=S, fetch_start=2 * S, fetch_completed=4 * S, run_start=7 * S,
                             run_completed=12 * S, upload_start=14 * S, upload_completed=15 * S, worker_completed=18 * S))
    assert (row['queued_s'], row['fetch_s'], row['wall_s'], row['upload_s'], row['clock_skew']) == (1, 2, 5, 1, 0)
    held = value(db, 'SELECT held_ns FROM _span s JOIN result r USING (result_id) JOIN lookup l USING (lookup_id)'
                     ' WHERE l.digest = ?', row['digest'])
    gaps = (2 - 1) + (7 - 4) + (14 - 12) + (18 - 15)
    assert held == (row['fetch_s'] + row['wall_s'] + row['upload_s'] + gaps) * S


def test_a_clock_that_is_ahead(taken):
    """Taken before it was queued: the raw times stay, the phase is unknown, and in no average."""
    db, (row,) = taken(timed(queued=10_500_000_000, worker_start=10_200_000_000, run_start=11 * S, run_completed=13 * S))
    assert (row['queued_s'], row['wall_s'], row['clock_skew']) == (None, 2, 1)
    assert value(db, 'SELECT queued_ns - worker_start_ns FROM _time JOIN result USING (result_id) JOIN lookup USING (lookup_id)'
                     ' WHERE digest = ?', row['digest']) == 300_000_000
    assert value(db, "SELECT skewed FROM phases WHERE phase = 'queued'") == 1
