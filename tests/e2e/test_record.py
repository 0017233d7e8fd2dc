"""--record FILE: what may be recorded into, and what becomes of it."""
import gzip
import json
import os
import shutil
import subprocess

import pytest

import harness
from harness import value

FOREIGN = {'text': b'a thesis\n', 'empty': b'', 'other version': b'{"format":"br2-ingest recording","version":2}\n',
           'packed': gzip.compress(b'{"format":"br2-ingest recording","version":1}\n')}


@pytest.fixture
def db(tmp_path):
    return tmp_path / 'br2.db'


def record(br2, root, db, file, code=0, **kwargs):
    """Nobody may be asked where the file is refused."""
    return br2.run(root, '--db', db, '--no-report', '--record', file, code=code, **kwargs)


def refused(br2, root, db, file):
    with harness.Listener() as listener:
        said = record(br2, root, db, file, code=3, env={'BR2_RE_ENDPOINT': f'127.0.0.1:{listener.port}'}, timeout=60)
        assert listener.connections == 0
    assert str(file) in said.stderr
    return said.stderr


@pytest.mark.parametrize('kind', FOREIGN)
def test_a_file_of_somebody_is_left_alone(br2, project, db, tmp_path, kind):
    file = tmp_path / 'file'
    file.write_bytes(FOREIGN[kind])
    said = refused(br2, project('flaky'), db, file)
    assert ('unpack it' if kind == 'packed' else 'name a new file') in said
    assert file.read_bytes() == FOREIGN[kind]
    assert not db.exists(), 'refused before any log is read'


def test_what_is_no_file_is_left_alone(br2, project, db, tmp_path):
    root = project('flaky')
    (tmp_path / 'folder').mkdir()
    os.mkfifo(tmp_path / 'pipe')
    for path in (tmp_path / 'folder', tmp_path / 'pipe', '/dev/full'):
        assert 'not a regular file' in refused(br2, root, db, path)
    assert not db.exists()


def test_the_database_is_left_alone(br2, project, db):
    """Whether it was there before or this very ingest makes it."""
    root = project('flaky')
    refused(br2, root, db, db)
    assert value(db, 'SELECT count(*) FROM run') == 3
    refused(br2, root, db, db)
    assert value(db, 'SELECT count(*) FROM run') == 3


def test_a_file_beside_it_is_left_alone(br2, project, db, server, tmp_path):
    (tmp_path / 'answers.tmp').write_text('a thesis\n')
    record(br2, project('flaky'), db, tmp_path / 'answers', env={'BR2_RE_ENDPOINT': server.address})
    assert (tmp_path / 'answers.tmp').read_text() == 'a thesis\n'
    assert [p.name for p in tmp_path.glob('answers*') if p.name != 'answers.tmp'] == ['answers']


def test_a_recording_is_completed(br2, project, server, tmp_path):
    """Two projects into one recording, the second twice: it answers for both, and says nothing twice."""
    file, env = tmp_path / 'answers', {'BR2_RE_ENDPOINT': server.address}
    flaky, cells = project('flaky'), project('cells')
    record(br2, flaky, tmp_path / 'a.db', file, env=env)
    first = file.read_bytes()
    record(br2, cells, tmp_path / 'b.db', file, env=env)
    second = file.read_bytes()
    assert second.startswith(first) and len(second) > len(first)
    record(br2, cells, tmp_path / 'c.db', file, env=env)
    assert file.read_bytes() == second
    br2.run(flaky, cells, '--db', tmp_path / 'replayed.db', '--replay', file, '--no-report')
    results = 'SELECT count(*) FROM result WHERE source = 1'
    assert value(tmp_path / 'replayed.db', results) == value(tmp_path / 'a.db', results) + value(
        tmp_path / 'b.db', results) == 123


def test_nothing_to_record_is_said(br2, project, db, server, tmp_path):
    """No empty recording that a report of a fault would carry along."""
    root, file, env = project('flaky'), tmp_path / 'answers', {'BR2_RE_ENDPOINT': server.address}
    br2.run(root, '--db', db, '--no-report', env=env)
    said = record(br2, root, db, file, env=env)
    assert not file.exists()
    assert said.stderr.count('nothing was asked') == 1 and 'fresh --db' in said.stderr
    said = record(br2, root, tmp_path / 'fresh.db', file, env=env)
    assert file.exists() and 'nothing was asked' not in said.stderr
    shutil.copy(file, tmp_path / 'before')
    record(br2, root, db, file, env=env)
    assert file.read_bytes() == (tmp_path / 'before').read_bytes()


# ---- a recording that answers -----------------------------------------------------------------------------

DEMO = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'


def unpacked():
    return subprocess.run(['zstd', '-dc', DEMO], check=True, capture_output=True, text=True).stdout


def replay(br2, root, db, file, code):
    return br2.run(root, '--db', db, '--no-report', '--replay', file, code=code).stderr


def test_a_recording_of_refusals(br2, project, db, tmp_path):
    """What the server said when it was asked is said once, and nothing is lost."""
    header, *lines = unpacked().splitlines()
    refusals = [json.dumps({**json.loads(line), 'code': 16, 'message': 'no token', 'reply': ''}) for line in lines]
    file = tmp_path / 'file.jsonl'
    file.write_text('\n'.join([header, *refusals, '']))
    root = project('flaky')
    said = replay(br2, root, db, file, 2)
    assert 'no token (code 16)' in said
    assert (value(db, 'SELECT count(*) FROM run'), value(db, 'SELECT count(*) FROM result')) == (3, 0)
    replay(br2, root, db, DEMO, 0)
    assert value(db, 'SELECT count(*) FROM result') > 0


@pytest.mark.parametrize('damage, words', [
    (lambda data: gzip.compress(data)[:-8] + bytes(8), 'incorrect data check'),
    (lambda data: data[:-1], 'cut short'),
    (lambda data: data.replace(b'"digest"', b'"tsegid"', 99), "'digest' or 'function' is missing"),
    (lambda data: data.splitlines(keepends=True)[0] + b'x' * (25 << 20), 'a line longer than')],
    ids=['packed', 'end', 'member', 'line'])
def test_a_damaged_recording(br2, project, db, tmp_path, damage, words):
    file, root = tmp_path / 'file.jsonl', project('flaky')
    file.write_bytes(damage(unpacked().encode()))
    said = replay(br2, root, db, file, 2)
    assert words in said and str(file) in said
    replay(br2, root, db, DEMO, 0)
    assert value(db, 'SELECT count(*) FROM result') > 0
