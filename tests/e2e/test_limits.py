"""Limits of the system and places that cannot be written: one clear line, exit 2, what was read is
kept, and with room the next ingest completes it."""
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest

import harness
from harness import dump, troubles, value

RECORDING = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
NOBODY = 65534


def ingest(br2, root, db, code=0, **kwargs):
    return br2.run(root, '--db', db, '--replay', RECORDING, '--no-report', code=code, timeout=60, **kwargs)


@pytest.fixture(scope='module')
def clean(tmp_path_factory):
    """What an ingest without trouble makes of demo-x86_64."""
    folder = tmp_path_factory.mktemp('clean')
    br2 = harness.Program(os.environ['BR2_INGEST'], folder)
    ingest(br2, harness.copy_sample('demo-x86_64', folder), folder / 'br2.db')
    return rows_of(folder / 'br2.db')


def rows_of(db):
    """All but the paths of the logs and folders, which are other ones in each test."""
    return re.sub(r"'[^']*/demo-x86_64\b", "'.../demo-x86_64", dump(db))


# ---- descriptors --------------------------------------------------------------------------

@pytest.mark.parametrize('most', [4, 5, 6, 7, 8, 16, 24, 32])
def test_few_descriptors(br2, project, clean, tmp_path, most):
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    limited = br2.under('prlimit', f'--nofile={most}')
    if most >= 16:
        ingest(limited, root, db)
    else:
        process = limited.start(root, '--db', db, '--replay', RECORDING, '--no-report')
        _, err = process.communicate(timeout=60)
        assert process.returncode in (0, 2), err
        assert process.returncode == 0 or re.search('(error|warning): .*: Too many open files', err), err
        ingest(br2, root, db)
    assert rows_of(db) == clean


@pytest.mark.parametrize('most', [16, 24, 32])
def test_few_descriptors_and_a_server(br2, project, server, tmp_path, most):
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    limited = br2.under('prlimit', f'--nofile={most}')
    limited.run(root, '--db', db, '--endpoint', server.address, '--no-report', timeout=60)
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 1772


@pytest.fixture(name='known')
def _known(br2, project, tmp_path):
    """A project whose logs are in the database: no reader wants a descriptor any more."""
    root, db = project('flaky'), tmp_path / 'br2.db'
    br2.run(root, '--db', db, '--no-remote', '--no-report')
    return root, '--db', db, '--no-report'


@pytest.mark.parametrize('endpoint', ['127.0.0.1:1', 'localhost:1', 'cache.example:1'])
def test_no_descriptor_for_a_connection(br2, known, endpoint):
    """Neither the server nor its name is blamed."""
    said = br2.under('prlimit', '--nofile=6').run(*known, '--endpoint', endpoint, code=2)
    assert re.search(f'error: {endpoint} cannot be asked: too many files are open: the limit is 6 \\(ulimit -n\\): '
                     '5 results wanted', said.stderr)


def test_no_descriptor_for_the_cluster(br2, known):
    url = 'http://prometheus.example'
    said = br2.under('prlimit', '--nofile=7').run(*known, '--prometheus', url, '--no-remote', code=2)
    assert f'{url}: cannot be asked: too many files are open: the limit is 7 (ulimit -n)' in said.stderr


def test_few_descriptors_and_many_logs(br2, project, tmp_path):
    """Logs that wait for their turn hold none."""
    root, db = project('flaky'), tmp_path / 'br2.db'
    log = harness.log_files(root)[0]
    for number in range(100):
        shutil.copy2(log, log.with_name(f'20260101-0000{number:02}_build_{number:08}-0000_events.pb.zst'))
    br2.under('prlimit', '--nofile=16').run(root, '--db', db, '--no-remote', '--no-report', timeout=60)
    assert value(db, 'SELECT count(*) FROM log_file') == 103


# ---- the size of files --------------------------------------------------------------------------

@pytest.mark.parametrize('kib', [0, 1, 300, 600, 1600, 1900])
def test_files_may_not_grow(br2, project, clean, tmp_path, kib):
    """As ulimit -f: in the making of the schema, of the views, at a COMMIT of a log, of results."""
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    said = br2.under('prlimit', f'--fsize={kib * 1024}').run(root, '--db', db, '--no-remote', '--no-report', code=2)
    assert troubles(said) == [f'br2-ingest: error: {db}: cannot use the database: File too large']
    if value(db, 'SELECT count(*) FROM sqlite_schema'):
        assert value(db, 'PRAGMA integrity_check') == 'ok'
    ingest(br2, root, db)
    assert rows_of(db) == clean


def test_output_may_not_grow(br2, project, tmp_path):
    """Files that are replaced whole stay as they were; others are written all the same."""
    db, page = tmp_path / 'br2.db', tmp_path / 'page.html'
    ingest(br2, project('demo-x86_64'), db)
    page.write_text('before')
    small = br2.under('prlimit', '--fsize=20000')
    said = small.run('report', '--all', '--html', page, '--db', db, code=2)
    assert troubles(said) == [f'br2-ingest: error: {page}: cannot write: File too large']
    assert page.read_text() == 'before'
    said = small.run('export', '--csv', tmp_path / 'sheets', '--db', db, code=2)
    assert all(line.endswith('.csv: cannot write: File too large') for line in troubles(said)[:-1])
    written = {p.name for p in (tmp_path / 'sheets').iterdir()}
    assert 'packages.csv' in written and 'usage.csv' not in written
    assert not [name for name in written if not name.endswith('.csv')], 'no part is left'


def test_a_recording_may_not_grow(br2, project, server, tmp_path):
    """What was asked until then is stored, and the recording stays as it was."""
    root, db, recording = project('demo-x86_64'), tmp_path / 'br2.db', tmp_path / 'answers'
    before = filled_recording(recording)
    said = br2.under('prlimit', f'--fsize={before + (600 << 10)}').run(
        root, '--db', db, '--endpoint', server.address, '--record', recording, '--no-report', code=2)
    assert re.search('error: cannot write .*answers.*: File too large', said.stderr)
    assert recording.stat().st_size == before and list(tmp_path.glob('answers*')) == [recording]
    assert 0 < value(db, 'SELECT count(*) FROM result WHERE source = 1') < 1772
    br2.run(root, '--db', db, '--endpoint', server.address, '--record', recording, '--no-report')
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 1772


def filled_recording(path):
    """Larger than the database will be; its size."""
    with open(path, 'w') as out:
        out.write('{"format":"br2-ingest recording","version":1}\n')
        for number in range(8000):
            out.write(json.dumps({'method': 'GetActionResult', 'instance': 'x', 'function': 'sha256', 'code': 5,
                                  'digest': f'{number:064x}:1', 'message': 'x' * 500, 'reply': ''}) + '\n')
    return path.stat().st_size


# ---- places that cannot be written ------------------------------------------------------------------

@pytest.fixture
def nobody():
    """The program as a user without rights, and a folder of his own; root may write anywhere."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        binary = shutil.copy2(os.environ['BR2_INGEST'], folder / 'br2-ingest')
        recording = shutil.copy2(RECORDING, folder)
        harness.copy_sample('demo-x86_64', folder)
        (folder / 'place').mkdir()
        (folder / 'tmp').mkdir()
        under = []
        if os.geteuid() == 0:
            for path in [folder, *folder.rglob('*')]:
                os.chown(path, NOBODY, NOBODY)
            under = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
        yield harness.Program(binary, folder, under), folder, recording
        (folder / 'place').chmod(0o700)


def unprivileged_ingest(nobody, code=0, under=(), **env):
    br2, folder, recording = nobody
    return br2.under(*under).run(folder / 'demo-x86_64', '--db', folder / 'place/br2.db', '--replay', recording,
                                 '--no-report', code=code, timeout=60, env={'TMPDIR': str(folder / 'tmp'), **env})


def test_a_folder_that_cannot_be_written(nobody, clean):
    """A new database cannot be made; one that is there cannot have its journal."""
    _, folder, _ = nobody
    place, db = folder / 'place', folder / 'place/br2.db'
    place.chmod(0o500)
    said = unprivileged_ingest(nobody, code=2)
    assert troubles(said) == [f'br2-ingest: error: {db}: cannot write the database: Permission denied']
    place.chmod(0o700)
    br2, _, _ = nobody
    br2.run(folder / 'demo-x86_64', '--db', db, '--no-remote', '--no-report')
    place.chmod(0o500)
    said = unprivileged_ingest(nobody, code=2)
    (error,) = troubles(said)
    assert error.startswith(f'br2-ingest: error: {db}: ') and 'its folder cannot be written' in error
    shown = br2.run('report', '--all', '--db', db)
    assert shown.stdout.startswith('the whole file: demo-x86_64, 7 runs')
    place.chmod(0o700)
    unprivileged_ingest(nobody)
    assert rows_of(db) == clean


def test_a_file_that_cannot_be_written(nobody, clean):
    br2, folder, _ = nobody
    db = folder / 'place/br2.db'
    br2.run(folder / 'demo-x86_64', '--db', db, '--no-remote', '--no-report')
    before = db.read_bytes()
    db.chmod(0o400)
    said = unprivileged_ingest(nobody, code=2)
    assert troubles(said) == [f'br2-ingest: error: {db}: cannot write the database: Permission denied']
    assert br2.run('report', '--all', '--db', db).stdout.startswith('the whole file: demo-x86_64, 7 runs')
    assert db.read_bytes() == before
    db.chmod(0o000)
    assert 'Permission denied' in br2.run('report', '--all', '--db', db, code=2).stderr
    db.chmod(0o600)
    unprivileged_ingest(nobody)
    assert rows_of(db) == clean


def test_no_room_for_temporary_files(nobody, clean):
    """TMPDIR is wanted for --replay alone, and said before any log is read; SQLite finds another place."""
    br2, folder, _ = nobody
    db = folder / 'place/br2.db'
    (folder / 'tmp').chmod(0o500)
    for bad in (folder / 'tmp', folder / 'none'):
        said = unprivileged_ingest(nobody, code=2, TMPDIR=str(bad))
        (error,) = troubles(said)
        assert str(bad) in error and re.search('Permission denied|No such file', error)
        assert not db.exists()
        env = {'TMPDIR': str(bad), 'SQLITE_TMPDIR': str(bad)}
        br2.run(folder / 'demo-x86_64', '--db', db, '--no-remote', env=env)
        br2.run('report', '--all', '--json', '--db', db, env=env)
        br2.run('views', 'usage', '--format', 'csv', '--db', db, env=env)
        db.unlink()
    unprivileged_ingest(nobody, TMPDIR='')
    assert rows_of(db) == clean


def test_no_threads(nobody, clean):
    """Where none can be had, all is done by the one there is."""
    _, folder, _ = nobody
    unprivileged_ingest(nobody, under=['prlimit', '--nproc=1'], ASAN_OPTIONS='detect_leaks=0')
    assert rows_of(folder / 'place/br2.db') == clean


def test_no_threads_and_a_server(nobody, server):
    br2, folder, _ = nobody
    db = folder / 'place/br2.db'
    br2.under('prlimit', '--nproc=1').run(folder / 'demo-x86_64', '--db', db, '--endpoint', server.address,
                                          '--no-report', env={'ASAN_OPTIONS': 'detect_leaks=0'}, timeout=60)
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 1772
