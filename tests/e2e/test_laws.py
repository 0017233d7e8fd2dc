"""The laws of storing: twice is once, halves are the whole, any order, any
encoding, a kill at any moment, a recording is as good as the server."""
import gzip
import hashlib
import os
import random
import shutil
import subprocess
import time

import pytest

import harness
from harness import dump, rows, value
from trees import records


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def ingest(br2, db, server, *paths, code=0):
    return br2.run(*paths, '--db', db, '--endpoint', server.address, '--no-report', code=code)


# ---- twice ---------------------------------------------------------------------------

@pytest.mark.parametrize('sample', ['demo-x86_64', 'failures', 'cells'])
def test_twice_changes_no_byte(br2, project, server, tmp_path, sample):
    root, db = project(sample), tmp_path / 'br2.db'
    ingest(br2, db, server, root)
    before = digest_of(db)
    ingest(br2, db, server, root)
    assert digest_of(db) == before
    assert sorted(p.name for p in tmp_path.glob('br2.db*')) == ['br2.db'], 'no journal is left'


def test_vain_asks_change_no_byte(br2, project, tmp_path):
    """The time of an ask that found nothing is not stored."""
    root, db = project('cells'), tmp_path / 'br2.db'
    with harness.Server(tmp_path) as empty:
        ingest(br2, db, empty, root)
        before = digest_of(db)
        ingest(br2, db, empty, root, '--retry-missing')
    assert digest_of(db) == before
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 0


def test_found_results_are_never_lost(br2, project, server, tmp_path):
    """A cache that forgot everything takes nothing away."""
    root, db = project('cells'), tmp_path / 'br2.db'
    ingest(br2, db, server, root)
    before = digest_of(db)
    with harness.Server(tmp_path) as empty:
        ingest(br2, db, empty, root, '--retry-missing')
    assert digest_of(db) == before
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 121


def test_missing_results_are_found_later(br2, project, server, tmp_path):
    root, db, whole = project('cells'), tmp_path / 'br2.db', tmp_path / 'whole.db'
    with harness.Server(tmp_path) as empty:
        ingest(br2, db, empty, root)
    ingest(br2, db, server, root, '--retry-missing')
    ingest(br2, whole, server, root)
    assert dump(db) == dump(whole)


# ---- order and halves --------------------------------------------------------------------

def test_any_order(br2, project, server, tmp_path):
    """One log at a time, in several orders, the cut copy of a log among them."""
    logs = [log for name in ('demo-x86_64', 'cells', 'cut', 'flaky') for log in harness.log_files(project(name))]
    dumps = set()
    for seed in range(4):
        db = tmp_path / f'{seed}.db'
        order = logs[:] if seed else logs[::-1]
        random.Random(seed).shuffle(order)
        for log in order:
            ingest(br2, db, server, log)
        dumps.add(dump(db))
    together = tmp_path / 'together.db'
    ingest(br2, together, server, *logs)
    dumps.add(dump(together))
    assert len(dumps) == 1


def test_a_grown_log_is_completed(br2, project, server, tmp_path):
    """A log that is read while it grows, piece by piece, gives the rows of the whole."""
    root = project('flaky')
    log = max(harness.log_files(root), key=lambda p: p.stat().st_size)
    whole, stat = log.read_bytes(), log.stat()
    grown = tmp_path / 'grown.db'
    for tenths in range(1, 11):
        log.write_bytes(whole[:len(whole) * tenths // 10])
        if tenths == 10:
            os.utime(log, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        ingest(br2, grown, server, root)
    at_once = tmp_path / 'at_once.db'
    ingest(br2, at_once, server, root)
    assert dump(grown) == dump(at_once)


def damaged(plain, first=4):
    """Every fifth record opens a group that does not close."""
    out = bytearray(plain)
    for begin, _ in list(records(plain))[first::5]:
        out[begin] = 0x0b
    return bytes(out)


@pytest.mark.parametrize('first', [1, 2, 3, 4])
def test_a_damaged_copy_comes_before_or_after(br2, project, tmp_path, first):
    """Where the record of a start cannot be read, it is derived from the end, and some ns off."""
    log = max(harness.log_files(project('cells')), key=lambda p: p.stat().st_size)
    plain = subprocess.run(['zstd', '-dcq', log], check=True, capture_output=True).stdout
    copies = [tmp_path / 'x_events.pb', tmp_path / 'y_events.pb']
    for path, content in zip(copies, (plain, damaged(plain, first))):
        path.write_bytes(content)
    dumps = []
    for number, order in enumerate([copies, copies[::-1]]):
        for path in order:
            br2.run(path, '--db', tmp_path / f'{number}.db', '--no-remote', '--no-report', '--project', 'x')
        dumps.append(dump(tmp_path / f'{number}.db'))
    assert dumps[0] == dumps[1]


@pytest.mark.parametrize('before', ['mended', 'behind another', 'twice cut', 'of another run'])
def test_what_was_stored_is_known_for_certain(br2, project, tmp_path, before):
    """A file that grew is stored from where it was; one that was another before is stored whole."""
    *others, log = sorted(harness.log_files(project('cells-lost')), key=lambda p: p.stat().st_size)
    plain, other = [subprocess.run(['zstd', '-dcq', p], check=True, capture_output=True).stdout
                    for p in (log, others[-1])]
    ends = [end for _, end in records(plain)]
    half = plain[:ends[len(ends) // 2]]
    path, db, at_once = tmp_path / 'x_events.pb', tmp_path / 'br2.db', tmp_path / 'at_once.db'
    if before == 'behind another': # and a damaged copy that shows late actions
        (tmp_path / 'y_events.pb').write_bytes(damaged(plain))
        br2.run(tmp_path / 'y_events.pb', '--db', db, '--no-remote', '--no-report', '--project', 'x')
    path.write_bytes({'mended': damaged(plain), 'behind another': other + half, 'twice cut': half + half,
                      'of another run': other}[before])
    br2.run(path, '--db', db, '--no-remote', '--no-report', '--project', 'x')
    path.write_bytes(plain)
    for file in (db, at_once):
        br2.run(path, '--db', file, '--no-remote', '--no-report', '--project', 'x')
    run = f"run_id = (SELECT run_id FROM run WHERE trace_id = '{trace_of(at_once)}')"
    for table in ('action', 'attempt', 'attempt_digest'):
        count = f'SELECT count(*) FROM {table} WHERE {run}'
        assert value(db, count) == value(at_once, count) > 0


def trace_of(db):
    return value(db, 'SELECT trace_id FROM run')


def test_a_kill_at_any_moment_is_repaired(br2, project, server, tmp_path):
    root = project('demo-x86_64')
    clean = tmp_path / 'clean.db'
    started = time.monotonic()
    ingest(br2, clean, server, root)
    whole = time.monotonic() - started
    db = tmp_path / 'br2.db'
    for eighth in range(1, 8):
        process = br2.start(root, '--db', db, '--endpoint', server.address, '--no-report')
        time.sleep(whole * eighth / 8)
        harness.kill(process)
        ingest(br2, db, server, root)
        assert dump(db) == dump(clean)
        db.unlink()


# ---- encodings -----------------------------------------------------------------------------

def encodings(root):
    """All eight encodings of the recorded run: the uncompressed ones are these, decompressed."""
    stem = next(root.glob('*.pb.zst')).name.removesuffix('.pb.zst')
    protobuf = gzip.decompress((root / f'{stem}.pb.gz').read_bytes())
    lines = gzip.decompress((root / f'{stem}.json-lines.gz').read_bytes())
    made = {'.pb': protobuf, '.proto': protobuf, '.json-lines': lines,
            '.proto.gz': (root / f'{stem}.pb.gz').read_bytes()}
    for ending, data in made.items():
        (root / f'{stem}{ending}').write_bytes(data)
    return {p.name.removeprefix(stem): p for p in root.glob(f'{stem}*')}


def test_every_encoding_gives_equal_rows(br2, project, server, tmp_path):
    found = encodings(project('encodings'))
    assert len(found) == 8
    dumps = {}
    for ending, log in found.items():
        db = tmp_path / f'run{ending}.db'
        ingest(br2, db, server, log)
        dumps[ending] = dump(db, without_files=True)
    assert len(set(dumps.values())) == 1
    assert value(tmp_path / 'run.json-lines.db', 'SELECT count(*) FROM result WHERE source = 1') == 69


def test_all_encodings_together_are_one_run(br2, project, server, tmp_path):
    found = encodings(project('encodings'))
    once, all_of_them = tmp_path / 'once.db', tmp_path / 'all.db'
    ingest(br2, once, server, found['.pb.zst'])
    ingest(br2, all_of_them, server, *found.values())
    assert dump(once, without_files=True) == dump(all_of_them, without_files=True)


@pytest.mark.parametrize('ending', ['.pb', '.json-lines', '.pb.gz', '.pb.zst', '.json-lines.gz', '.json-lines.zst'])
def test_whole_records_up_to_a_cut(br2, project, tmp_path, ending):
    """A file cut anywhere is no error: what stands before the cut is stored, the run is incomplete."""
    log = encodings(project('encodings'))[ending]
    whole = log.read_bytes()
    for share in (0.3, 0.6, 0.9):
        log.write_bytes(whole[:int(len(whole) * share)])
        db = tmp_path / f'cut{share}.db'
        br2.run(log, '--db', db, '--no-remote', '--no-report')
        (run,) = rows(db, 'SELECT complete, (SELECT count(*) FROM action) AS actions FROM run')
        assert run['complete'] == 0
        assert 0 < run['actions'] <= 70
    assert run['actions'] > 35


def test_a_path_that_cannot_be_read_is_explained(br2, project, tmp_path):
    """One odd value is a malformed record, as everywhere: no path, and the log's row says why."""
    log = encodings(project('encodings'))['.json-lines']
    lines = log.read_bytes().splitlines(keepends=True)
    (at,) = [i for i, line in enumerate(lines) if b'"BuildGraphInfo"' in line]
    lines[at] = lines[at].replace(b'"queue_duration_us":null', b'"queue_duration_us":{}', 1)
    log.write_bytes(b''.join(lines))
    db = tmp_path / 'br2.db'
    said = br2.run(log, '--db', db, '--no-remote', '--no-report')
    assert '1 malformed' in said.stderr and 'queue_duration_us' in said.stderr
    assert value(db, 'SELECT count(*) FROM critical_path') == 0
    (file,) = rows(db, 'SELECT malformed, note FROM log_file')
    assert file['malformed'] == 1 and 'queue_duration_us' in file['note']
    assert value(db, 'SELECT complete FROM run') == 1 and value(db, 'SELECT count(*) FROM action') > 35


def test_several_logs_in_one_file(br2, project, server, tmp_path):
    """Several frames and several whole logs in one file are read to the end."""
    logs = harness.log_files(project('flaky'))
    joined = tmp_path / 'joined_events.pb.zst'
    joined.write_bytes(b''.join(log.read_bytes() for log in logs))
    db, apart = tmp_path / 'joined.db', tmp_path / 'apart.db'
    ingest(br2, db, server, joined, '--project', 'flaky', '--instance', 'flaky')
    ingest(br2, apart, server, *logs, '--project', 'flaky', '--instance', 'flaky')
    count = [f'SELECT count(*) FROM {table}' for table in ('run', 'action', 'result')]
    assert [value(db, sql) for sql in count] == [value(apart, sql) for sql in count] == [3, 5, 5]


def test_a_copy_is_the_same_run(br2, project, server, tmp_path):
    """dl-<trace>.pb.zst, as `buck2 log` leaves a download, is the run it is a copy of."""
    root = project('flaky')
    for log in harness.log_files(root):
        trace = log.name.split('_')[2]
        shutil.copy2(log, log.with_name(f'dl-{trace}.pb.zst'))
    db = tmp_path / 'br2.db'
    ingest(br2, db, server, root)
    assert value(db, 'SELECT count(*) FROM run') == 3
    assert value(db, 'SELECT count(*) FROM log_file') == 6
    assert value(db, 'SELECT count(*) FROM action') == 5


# ---- recordings ------------------------------------------------------------------------------

def test_replay_gives_equal_rows(br2, project, server, tmp_path):
    root, recording = project('demo-x86_64'), tmp_path / 'answers.jsonl'
    live, replayed = tmp_path / 'live.db', tmp_path / 'replayed.db'
    br2.run(root, '--db', live, '--endpoint', server.address, '--no-report', '--record', recording,
            '--header', 'x-token=hunter2')
    br2.run(root, '--db', replayed, '--no-report', '--replay', recording, '--endpoint', '127.0.0.1:1')
    assert dump(live) == dump(replayed)
    assert value(replayed, 'SELECT count(*) FROM result WHERE source = 1') == 1772
    assert recording.stat().st_mode & 0o777 == 0o600
    for file in (recording, live):
        assert b'hunter2' not in file.read_bytes()
    assert server.address.encode() not in recording.read_bytes()


def test_the_demo_recording_answers_as_the_server(br2, project, server, tmp_path):
    recording = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
    roots = [project(name) for name in ('demo-x86_64', 'cells', 'failures', 'flaky')]
    live, replayed = tmp_path / 'live.db', tmp_path / 'replayed.db'
    ingest(br2, live, server, *roots)
    br2.run(*roots, '--db', replayed, '--no-report', '--replay', recording)
    assert dump(live) == dump(replayed)
