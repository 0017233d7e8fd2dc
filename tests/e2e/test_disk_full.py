"""A disk that fills up, wherever it does: exit 2 and one line in bounded time, what was stored
stands, and with room the next ingest makes the rows of one that never had trouble."""
import contextlib
import re
import sqlite3
import subprocess

import pytest

import harness
from harness import dump, troubles, value
from namespace import Disk, Namespace

RECORDING = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
RESULTS = 'SELECT count(*) FROM result WHERE source = 1'

pytestmark = pytest.mark.namespace


@pytest.fixture
def disk(tmp_path):
    place = tmp_path / 'disk'
    place.mkdir()
    with Namespace() as namespace:
        made = Disk(namespace, place)
        made.namespace, made.outside = namespace, tmp_path / 'outside'
        made.outside.mkdir()
        yield made


@pytest.fixture
def inside(br2, disk):
    return br2.under(*disk.namespace.inside)


@pytest.fixture
def clean(br2, project, tmp_path):
    """The rows of an ingest that nothing stopped; `root` is the project."""
    root, db = project('demo-x86_64'), tmp_path / 'clean.db'
    br2.run(root, '--db', db, '--replay', RECORDING, '--no-report')
    return root, dump(db)


def ingest(inside, root, disk, *options, code=0, replay=RECORDING):
    return inside.run(root, '--db', disk.place / 'br2.db', '--replay', replay, '--no-report', *options, code=code,
                      timeout=60)


def check_full(said, disk):
    (error,) = troubles(said)
    assert re.fullmatch(f'br2-ingest: error: {disk.place}/br2.db: cannot (use|open|write) the database: '
                        '(no space left for it|No space left on device)', error), error


def try_full(inside, disk, root, kib):
    """An ingest into so much space. Does it get through?"""
    disk.leave(kib)
    process = inside.start(root, '--db', disk.place / 'br2.db', '--replay', RECORDING, '--no-report')
    out, err = process.communicate(timeout=60)
    said = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    assert said.returncode in (0, 2), err
    if said.returncode:
        check_full(said, disk)
    disk.make_room()
    return said.returncode == 0


def seen(disk):
    """The database, as whoever may write finds it: a journal is played back."""
    db = disk.take_out('br2.db', disk.outside)
    connection = sqlite3.connect(db)
    assert connection.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
    assert connection.execute('PRAGMA foreign_key_check').fetchall() == []
    connection.close()
    return db


def stored(disk):
    """How many actions and results."""
    db = seen(disk)
    if not value(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'result'"):
        return 0, 0
    return value(db, 'SELECT count(*) FROM action'), value(db, RESULTS)


def sweep(inside, disk, clean, sizes):
    """How many of them were too small."""
    root, rows = clean
    failed = 0
    for kib in sizes:
        failed += not try_full(inside, disk, root, kib)
        stored(disk)
        ingest(inside, root, disk)
        assert dump(seen(disk)) == rows, f'{kib} KiB'
        (disk.seen / 'br2.db').unlink()
    return failed


# ---- making a database ------------------------------------------------------------------------

def test_full_anywhere(inside, disk, clean):
    """In the making of the file, tables and views, at COMMITs of logs and of results."""
    sizes = [0, 4, 100, 500, *range(900, 3300, 200)]
    assert 10 <= sweep(inside, disk, clean, sizes) < len(sizes)


@pytest.mark.long
def test_full_at_every_page(inside, disk, clean):
    sizes = range(0, 3300, 12)
    assert 200 < sweep(inside, disk, clean, sizes) < len(sizes)


def test_full_and_again_and_again(inside, disk, clean):
    """A little more room each time: what is stored is never lost, and in the end all is there."""
    root, rows = clean
    kept, through, rounds = (0, 0), False, 0
    while not through:
        through = try_full(inside, disk, root, 500 + 20 * rounds)
        assert stored(disk) >= kept
        kept = stored(disk)
        rounds += 1
    assert 3 < rounds < 40
    assert dump(seen(disk)) == rows


# ---- a database in WAL mode ------------------------------------------------------------------------

@pytest.mark.parametrize('kib', [0, 40, 100, 300, 700, 1200, 8000])
def test_full_with_wal(inside, disk, clean, kib):
    """The user may turn it on: the log of it is full, or there is no room to bring it home."""
    root, rows = clean
    inside.run(root, '--db', disk.place / 'br2.db', '--no-remote', '--no-report', '--last', 1)
    inside.run('sql', '--write', 'PRAGMA journal_mode = WAL', '--db', disk.place / 'br2.db')
    assert try_full(inside, disk, root, kib) == (kib == 8000)
    seen(disk)
    ingest(inside, root, disk)
    db = seen(disk)
    assert value(db, 'PRAGMA journal_mode') == 'wal'
    assert dump(db) == rows


# ---- merging and pruning ------------------------------------------------------------------------------

@pytest.mark.parametrize('kib', [0, 100, 300, 600])
def test_full_for_a_merge(inside, disk, clean, tmp_path, kib):
    """A source is taken as a whole or not at all."""
    root, rows = clean
    inside.run(root, '--db', disk.place / 'br2.db', '--no-remote', '--no-report', '--last', 1)
    before = dump(seen(disk))
    disk.leave(kib)
    said = inside.run('merge', tmp_path / 'clean.db', '--db', disk.place / 'br2.db', code=2)
    assert len(troubles(said)) == 1 and re.search('no space left for it|No space left on device', said.stderr)
    assert dump(seen(disk)) == before
    disk.make_room()
    inside.run('merge', tmp_path / 'clean.db', '--db', disk.place / 'br2.db')
    assert dump(seen(disk)) == rows


@pytest.mark.parametrize('kib', [0, 100, 3000])
def test_full_for_a_prune(inside, disk, clean, kib):
    """Where the rows can go but not the empty pages, that is said and the file keeps its size."""
    root, rows = clean
    ingest(inside, root, disk)
    old = disk.take_out('br2.db', disk.outside).stat().st_size
    connection = sqlite3.connect(disk.outside / 'br2.db')
    connection.execute('UPDATE run SET start_ns = 0')
    connection.commit()
    connection.close()
    (disk.seen / 'br2.db').write_bytes((disk.outside / 'br2.db').read_bytes())
    disk.leave(kib)
    process = inside.start('prune', '--keep', '1h', '--db', disk.place / 'br2.db')
    _, err = process.communicate(timeout=60)
    disk.make_room()
    runs = value(seen(disk), 'SELECT count(*) FROM run')
    assert (process.returncode, runs) in ((2, 7), (0, 0)), err
    assert kib or process.returncode == 2
    inside.run('prune', '--keep', '1h', '--db', disk.place / 'br2.db')
    assert value(seen(disk), 'SELECT count(*) FROM run') == 0
    assert disk.take_out('br2.db', disk.outside).stat().st_size < old


# ---- what is written beside it ----------------------------------------------------------------------

@pytest.mark.parametrize('kib', [0, 4, 600])
def test_full_for_a_recording(inside, disk, clean, tmp_path, kib):
    """None of it is left, and the database is elsewhere: what was answered until then stands."""
    root, rows = clean
    db, recording = tmp_path / 'br2.db', disk.place / 'answers'
    with bb_storage_inside(disk, tmp_path) as address:
        disk.leave(kib)
        said = inside.run(root, '--db', db, '--endpoint', address, '--record', recording, '--no-report', code=2)
        assert re.search('error: cannot (write|make a file beside) .*answers.*No space left', said.stderr)
        assert not list(disk.seen.glob('answers*'))
        disk.make_room()
        inside.run(root, '--db', db, '--endpoint', address, '--record', recording, '--no-report')
    assert dump(db) == rows
    assert list(disk.seen.glob('answers*'))


@contextlib.contextmanager
def bb_storage_inside(disk, folder):
    """A namespace has a network of its own."""
    disk.namespace.light()
    with harness.Server(folder, under=disk.namespace.inside) as server:
        server.load()
        yield server.address


def test_full_for_pages_and_sheets(inside, disk, clean, tmp_path):
    root, _ = clean
    db = tmp_path / 'clean.db'
    (disk.seen / 'page.html').write_text('before')
    for kib in (0, 8, 40):
        disk.leave(kib)
        said = inside.run('report', '--all', '--html', disk.place / 'page.html', '--db', db, code=2)
        assert troubles(said) == [f'br2-ingest: error: {disk.place}/page.html: cannot write: No space left on device']
        said = inside.run('export', '--csv', disk.place / 'sheets', '--db', db, code=2)
        assert all(re.fullmatch(r'br2-ingest: error: \w+ is not written: \S+/\w+.csv: cannot write: '
                                'No space left on device', line) for line in troubles(said))
        assert (disk.seen / 'page.html').read_text() == 'before'
        assert not list(disk.seen.rglob('*.tmp*')), 'no part is left'
    disk.make_room()
    inside.run('report', '--all', '--html', disk.place / 'page.html', '--db', db)
    inside.run('export', '--csv', disk.place / 'sheets', '--db', db)
    assert (disk.seen / 'page.html').read_text().endswith('</html>\n')


def test_full_for_temporary_files(inside, disk, clean, tmp_path):
    """--replay unpacks its answers there, and says so before any log is read."""
    root, _ = clean
    db = tmp_path / 'new.db'
    disk.leave(400)
    env = {'TMPDIR': str(disk.place), 'SQLITE_TMPDIR': str(disk.place)}
    said = inside.run(root, '--db', db, '--replay', RECORDING, code=2, env=env)
    (error,) = troubles(said)
    assert 'cannot write a temporary file: No space left on device' in error
    assert not db.exists()
