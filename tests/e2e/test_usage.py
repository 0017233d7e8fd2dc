"""The command line: what is found, what is printed where, which exit code."""
import os
import shutil
import signal
import time

import pytest

import harness
from harness import rows, value

ALL = {'demo-x86_64': 7, 'failures': 4, 'flaky': 3, 'cells': 7, 'cells-lost': 5}


def count_runs(db):
    return value(db, 'SELECT count(*) FROM run')


def ingest(br2, db, *args, code=0, **kwargs):
    return br2.run(*args, '--db', db, '--no-remote', '--no-report', code=code, **kwargs)


@pytest.fixture
def db(tmp_path):
    return tmp_path / 'br2.db'


# ---- what is found ------------------------------------------------------------------------

@pytest.mark.parametrize('place', ['', 'buck-out', 'buck-out/v2', 'buck-out/v2/log'])
def test_paths(br2, project, db, place):
    """A root, a buck-out, an isolation dir, a log folder: whatever is below it."""
    root = project('cells')
    ingest(br2, db, root / place)
    assert count_runs(db) == (2 if 'v2' in place else 7)
    assert {r['name'] for r in rows(db, 'SELECT name FROM project')} == {'qemu-mini'}


def test_single_log(br2, project, db):
    log = harness.log_files(project('cells'))[0]
    ingest(br2, db, log)
    (run,) = rows(db, 'SELECT trace_id, isolation_dir FROM run')
    assert run == {'trace_id': log.name.split('_')[2], 'isolation_dir': log.parts[-3]}


def test_log_option(br2, project, db):
    logs = harness.log_files(project('cells'))
    ingest(br2, db, '--log', logs[0], '--log', logs[1])
    assert count_runs(db) == 2


@pytest.mark.parametrize('below', ['', 'buck-out', 'package/deep'])
def test_project_around_the_current_directory(br2, project, db, below):
    root = project('flaky')
    (root / below).mkdir(parents=True, exist_ok=True)
    ingest(br2, db, cwd=root / below)
    assert count_runs(db) == 3


@pytest.mark.parametrize('nested', ['', 'experiments'])
def test_all_projects_two_levels_down(br2, tmp_path, db, nested):
    """Above all projects: every */buck-out, listed."""
    for sample in ALL:
        harness.copy_sample(sample, tmp_path / 'repository' / nested)
    said = ingest(br2, db, cwd=tmp_path / 'repository')
    assert count_runs(db) == sum(ALL.values())
    for sample in ALL:
        assert sample in said.stderr


def test_nothing_to_read(br2, tmp_path, db):
    empty = tmp_path / 'empty'
    empty.mkdir()
    ingest(br2, db, cwd=empty, code=3)
    ingest(br2, db, empty, code=3)
    ingest(br2, db, tmp_path / 'not there', code=3)
    assert not db.exists()


def test_last(br2, project, db):
    ingest(br2, db, project('demo-x86_64'), '--last', '2')
    assert {r['trace_id'][:8] for r in rows(db, 'SELECT trace_id FROM run')} == {'4bd6a204', '03c34afa'}


def test_trace_id(br2, project, db):
    ingest(br2, db, project('demo-x86_64'), '--trace-id', 'b5fe85a1')
    assert [r['trace_id'][:8] for r in rows(db, 'SELECT trace_id FROM run')] == ['b5fe85a1']


def test_isolation_dir(br2, project, db):
    ingest(br2, db, project('demo-x86_64'), '--isolation-dir', 'native-remote-cache')
    assert {r['isolation_dir'] for r in rows(db, 'SELECT isolation_dir FROM run')} == {'native-remote-cache'}
    assert count_runs(db) == 2


@pytest.mark.parametrize('options, said', [
    (['--trace-id', 'ffff'], 'no log of run ffff: without --trace-id, the 7 here would be read'),
    (['--isolation-dir', 'v3'], 'no log of isolation dir v3: without --isolation-dir, the 7 here would be read'),
    (['--trace-id', 'b5fe', '--isolation-dir', 'v3'],
     'no log of run b5fe in isolation dir v3: without --trace-id, the 7 here would be read'),
])
def test_a_name_that_no_log_has(br2, project, db, options, said):
    """It is mistyped, so nothing is done; that no log is young enough is no fault."""
    root = project('demo-x86_64')
    assert ingest(br2, db, root, *options, code=3).stderr.splitlines()[-1] == f'br2-ingest: error: {said}'
    assert not db.exists()
    ingest(br2, db, root, '--since', '2036-11-30T02:00:00Z')
    assert count_runs(db) == 0


def test_since(br2, project, db):
    ingest(br2, db, project('demo-x86_64'), '--since', '2026-11-30T02:00:00Z')
    assert {r['trace_id'][:8] for r in rows(db, 'SELECT trace_id FROM run')} == {'4bd6a204', '03c34afa'}


def test_project_option(br2, project, db):
    ingest(br2, db, project('flaky'), '--project', 'mine')
    assert {r['project'] for r in rows(db, 'SELECT project FROM runs')} == {'mine'}


def test_only_regular_files(br2, project, db):
    """A folder, a dangling link and a pipe with the name of a log are passed over, unopened."""
    root = project('flaky')
    folder = root / 'buck-out/v2/log'
    name = '20261130-03000{}_build_{}_events.pb.zst'
    (folder / name.format(1, '1' * 8)).mkdir()
    (folder / name.format(2, '2' * 8)).symlink_to(root / 'gone')
    os.mkfifo(folder / name.format(3, '3' * 8))
    ingest(br2, db, root, timeout=60)
    assert count_runs(db) == 3


def wait_for_open(process, name):
    """Until the process has a file of this name open."""
    folder = f'/proc/{process.pid}/fd'
    while process.poll() is None:
        for entry in os.listdir(folder):
            try:
                if os.readlink(f'{folder}/{entry}').endswith(name):
                    return
            except OSError:
                continue
        time.sleep(0.0005)


def test_a_log_that_vanishes(br2, project, db):
    """Gone between listing and opening: the others are read, and the exit code is 0."""
    root = project('demo-x86_64')
    large = max(harness.log_files(root), key=lambda p: p.stat().st_size)
    for reader in range(os.cpu_count() + 1):  # long enough that none of them comes to the last log
        first = large.with_name(large.name.replace('20261130-015748', f'20261129-{reader:06}'))
        first.write_bytes(large.read_bytes() * 10)
    first = large.with_name(large.name.replace('20261130-015748', '20261129-000000'))
    last = max(harness.log_files(root), key=lambda p: p.name)
    process = br2.start(root, '--db', db, '--no-remote', '--no-report')
    wait_for_open(process, first.name)
    process.send_signal(signal.SIGSTOP)
    last.unlink()
    process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert count_runs(db) == 6
    assert 'vanish' in said or 'gone' in said


def test_a_file_that_is_no_log(br2, project, db):
    """A stray file is named and spoils nothing of the rest."""
    root = project('flaky')
    stray = root / 'buck-out/v2/log/20261130-030000_build_11111111-1111-4111-8111-111111111111_events.pb.zst'
    stray.write_bytes(b'this is no log\n' * 100)
    said = ingest(br2, db, root, code=2)
    assert stray.name in said.stderr
    assert count_runs(db) == 3


# ---- where it is stored -----------------------------------------------------------------------

def test_place_of_the_database(br2, project, tmp_path, home):
    """--db, BR2_DB, ./br2.db if it is there, else the data folder."""
    root, here = project('flaky'), tmp_path / 'here'
    here.mkdir()

    def place(*args, **env):
        return br2.run('path', *args, cwd=here, env=env).stdout

    assert place() == f'{home}/.local/share/br2-ingest/br2.db\n'
    assert place(XDG_DATA_HOME=str(tmp_path / 'data')) == f'{tmp_path}/data/br2-ingest/br2.db\n'
    br2.run(root, '--no-remote', '--no-report')
    assert count_runs(home / '.local/share/br2-ingest/br2.db') == 3
    shutil.copy(home / '.local/share/br2-ingest/br2.db', here / 'br2.db')
    assert place().endswith('br2.db\n') and 'share' not in place()
    assert place(BR2_DB='other.db').endswith('other.db\n')
    assert place('--db', 'third.db', BR2_DB='other.db').endswith('third.db\n')


def test_dry_run_writes_nothing(br2, project, db, tmp_path):
    root = project('demo-x86_64')
    before = sorted(p for p in tmp_path.rglob('*'))
    with harness.Listener() as listener:
        shown = br2.run(root, '--db', db, '--dry-run', '--endpoint', f'127.0.0.1:{listener.port}')
        assert listener.connections == 0
    assert sorted(p for p in tmp_path.rglob('*')) == before
    for figure in ('7 logs', '7 runs', '1775 actions', '0 tests', '1775 attempts'):
        assert figure in shown.stdout


# ---- what is printed ---------------------------------------------------------------------------

def test_data_on_stdout_chatter_on_stderr(br2, project, db, server):
    root = project('flaky')
    shown = br2.run(root, '--db', db, '--endpoint', server.address)
    assert str(db) in shown.stderr
    assert 'actions have a stored result' in shown.stdout
    assert 'br2-ingest:' not in shown.stdout
    assert '\r' not in shown.stderr and '\x1b' not in shown.stderr, 'no progress where there is no terminal'


def test_quiet(br2, project, db, server):
    shown = br2.run(project('flaky'), '--db', db, '--endpoint', server.address, '--quiet', '--no-report')
    assert (shown.stdout, shown.stderr) == ('', '')


@pytest.mark.parametrize('verb', [[], ['ingest'], ['report'], ['digest'], ['views'], ['sql'], ['export'], ['path']])
def test_help(br2, verb):
    """To standard output, at most 80 columns, nothing to complain about."""
    shown = br2.run(*verb, '--help')
    assert shown.stderr == ''
    assert shown.stdout.startswith('usage:') or 'usage:' in shown.stdout
    assert [line for line in shown.stdout.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize('args', [
    ['--no-such-option'], ['--since', 'yesterday-ish'], ['--last', 'many'], ['report', '--format', 'xml'],
    ['--endpoint', 'http://localhost:8980'], ['--record', 'a', '--replay', 'b'], ['--instance', 'a//b'],
    ['--tls-ca', 'no such file', '--endpoint', 'grpcs://localhost:1'],
    ['--tls-server-name', 'cache.example', '--no-tls'], ['--tls-server-name', 'cache.example', '--endpoint', 'grpc://h:1'],
    ['--tls-server-name', 'cache.example:443', '--endpoint', 'h:1'],
    ['--db', ''], ['--project', ''], ['--endpoint', ''], ['--in-flight', '4294967297'], ['--pool', 'a/'],
])
def test_usage_errors(br2, project, args):
    """Exit 3 before any log is read, with a line that says what was wrong."""
    db = project('flaky').parent / 'br2.db'
    said = br2.run(*args, cwd=db.parent / 'flaky', env={'BR2_DB': str(db)}, code=3)
    assert said.stdout == ''
    assert said.stderr.splitlines()[-1].startswith('br2-ingest: error: ')
    assert said.stderr.count('error: ') == 1
    assert not db.exists()


def test_a_broken_buckconfig(br2, project, db):
    """It could name the wrong server: nothing is read."""
    root = project('flaky')
    (root / '.buckconfig.local').write_text('[buck2_re_client\naddress = localhost:1\n')
    said = br2.run(root, '--db', db, code=3)
    assert '.buckconfig.local:1' in said.stderr
    assert not db.exists()


def test_a_database_of_somebody_else(br2, project, db):
    db.write_bytes(b'SQLite format 3\0' + b'x' * 4096)
    said = br2.run(project('flaky'), '--db', db, '--no-remote', code=2)
    assert str(db) in said.stderr


def test_no_database_yet(br2, db):
    said = br2.run('report', '--db', db, code=2)
    assert str(db) in said.stderr
    assert not db.exists()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_good_order(br2, project, db, number):
    root = project('demo-x86_64')
    large = max(harness.log_files(root), key=lambda p: p.stat().st_size)
    large.write_bytes(large.read_bytes() * 10)
    process = br2.start(large, '--db', db, '--no-remote', '--no-report')
    wait_for_open(process, large.name)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number, said
    ingest(br2, db, root)
    assert value(db, 'SELECT count(*) FROM action') == 1775
