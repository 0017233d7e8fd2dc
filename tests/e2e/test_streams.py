"""Standard output and error that are full, closed, or a pipe that nobody reads any more."""
import os
import signal
import subprocess

import pytest

import harness
from harness import dump, value

RECORDING = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
RESULTS = 'SELECT count(*) FROM result WHERE source = 1'


@pytest.fixture(scope='module')
def db(tmp_path_factory):
    """Its rows fill more than a pipe holds."""
    folder = tmp_path_factory.mktemp('stored')
    br2 = harness.Program(os.environ['BR2_INGEST'], folder)
    br2.run(harness.copy_sample('demo-x86_64', folder), '--db', folder / 'br2.db', '--no-report', '--replay', RECORDING)
    return folder / 'br2.db'


def with_streams(br2, redirections):
    """As a shell starts it: 2>&- closes, >/dev/full is always full."""
    return br2.under('sh', '-c', f'exec "$0" "$@" {redirections}')


PRINTING = [['report', '--all'], ['report', '--all', '--json'], ['report', '--all', '--html', '-'],
            ['views'], ['views', 'usage', '--format', 'csv'], ['views', 'usage', '--format', 'jsonl'],
            ['views', 'usage', '--sql'], ['plan', '--all', '--shape', 'a=1,1GiB'], ['check', '--integrity'],
            ['path'], ['--help'], ['--version'], ['report', '--help']]
NO_DATABASE = (['views'], ['views', 'usage', '--sql'], ['--help'], ['--version'], ['report', '--help'])


@pytest.mark.parametrize('broken', ['>/dev/full', '>&-'])
@pytest.mark.parametrize('verb', PRINTING, ids=' '.join)
def test_output_that_cannot_be_written(br2, db, verb, broken):
    said = with_streams(br2, broken).run(*verb, *([] if verb in NO_DATABASE else ['--db', db]), code=2)
    errors = harness.errors(said)
    assert len(errors) == 1 and 'cannot write' in errors[0], said.stderr


def test_an_ingest_whose_report_cannot_be_written(br2, project, tmp_path):
    """All is stored before it is shown."""
    root, db = project('flaky'), tmp_path / 'br2.db'
    for broken in ('>/dev/full', '>&-'):
        said = with_streams(br2, broken).run(root, '--db', db, '--replay', RECORDING, code=2)
        assert said.stderr.splitlines()[-1].startswith('br2-ingest: error: cannot write the report: ')
        assert value(db, RESULTS) == 2
        db.unlink()


@pytest.mark.parametrize('broken', ['2>/dev/full', '2>&-', '<&- >&- 2>&-'])
def test_messages_go_nowhere(br2, project, server, tmp_path, broken):
    """And into no file: one that is opened gets the lowest number that is free."""
    root, db, recording = project('cells'), tmp_path / 'br2.db', tmp_path / 'answers'
    with_streams(br2, broken).run(root, '--db', db, '--no-report', '--record', recording, '--endpoint', server.address)
    with_streams(br2, broken).run('export', '--csv', tmp_path / 'sheets', '--db', db)
    assert value(db, RESULTS) == 121 and value(db, 'PRAGMA integrity_check') == 'ok'
    again = tmp_path / 'again.db'
    br2.run(root, '--db', again, '--no-report', '--replay', recording)
    assert value(again, RESULTS) == 121
    sheets = list((tmp_path / 'sheets').iterdir())
    assert len(sheets) > 30
    for file in (db, recording, *sheets):
        assert b'br2-ingest: ' not in file.read_bytes(), file


def test_a_reader_that_leaves(br2, db):
    """`| head -1`: as any filter, and without a word."""
    process = br2.start('views', 'usage', '--format', 'jsonl', '--db', db)
    assert process.stdout.readline().startswith('{')
    process.stdout.close()
    assert process.stderr.read() == ''
    assert process.wait(60) == -signal.SIGPIPE


def test_messages_that_nobody_reads(br2, project, tmp_path):
    """`2>&1 | head -1` ends an ingest where it is; the next one goes on from there."""
    root, db, clean = project('demo-x86_64'), tmp_path / 'br2.db', tmp_path / 'clean.db'
    process = br2.start(root, '--db', db, '--replay', RECORDING, '--no-report')
    assert 'database' in process.stderr.readline()
    process.stderr.close()
    assert process.wait(60) == -signal.SIGPIPE
    for file in (db, clean):
        br2.run(root, '--db', file, '--replay', RECORDING, '--no-report')
    assert dump(db) == dump(clean)
    assert subprocess.run(['sqlite3', db, 'PRAGMA integrity_check'], capture_output=True, text=True).stdout == 'ok\n'
