"""--watch: what appears, grows, goes and comes back is taken in, and nothing that
was there is lost."""
import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

import harness
from harness import dump, log_files, value

COLD, WARM = log_files(harness.LOGS / 'cells/buck-out/v2')
LARGE = max(log_files(harness.LOGS / 'demo-x86_64/buck-out'), key=lambda path: path.stat().st_size)
HELD_OF = 4  # a fourth of the descriptors are logs'


def wait_for(condition, what, timeout=60):
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f'{what} did not come'
        time.sleep(0.02)


class Watcher:
    """br2-ingest --watch; what it says goes to files beside the database."""

    def __init__(self, br2, db, *args, under=()):
        self.db, self.args = db, args
        self.br2 = br2.under(*under) if under else br2
        self.said = Path(f'{db}.said')

    def __enter__(self):
        self.process = self.start()
        wait_for(lambda: 'watching' in self.text() or self.process.poll() is not None, 'the watching')
        assert self.process.poll() is None, self.text()
        return self

    def start(self):
        with open(self.said, 'ab') as said:
            return subprocess.Popen([*self.br2.prefix, self.br2.binary, '--watch', '--db', self.db, *map(str, self.args)],
                                    cwd=self.br2.home, env=self.br2.environment({}), stdin=subprocess.DEVNULL,
                                    stdout=said, stderr=said)

    def text(self):
        return self.said.read_text() if self.said.exists() else ''

    def open_logs(self):
        """What its descriptors lead to."""
        found = []
        for fd in Path(f'/proc/{self.process.pid}/fd').iterdir():
            with contextlib.suppress(OSError):
                found.append(os.readlink(fd))
        return [path for path in found if '_events.' in path]

    def wait_open(self, name):
        wait_for(lambda: any(name in path for path in self.open_logs()), f'{name} open')

    def wait_rows(self, sql, expected, timeout=60):
        def there():
            with contextlib.suppress(sqlite3.OperationalError):
                return value(self.db, sql) == expected
            return False
        wait_for(there, f'{sql} = {expected}\n{self.text()}', timeout)

    def wait_logs(self, count, timeout=60):
        self.wait_rows('SELECT count(*) FROM log_file WHERE ending IS NOT NULL', count, timeout)

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(120)

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def root(tmp_path):
    """The project of COLD and WARM, not built yet."""
    folder = tmp_path / 'live/cells'
    folder.mkdir(parents=True)
    for name in ('.buckconfig', '.buckroot', 'project.json'):
        shutil.copy(harness.LOGS / 'cells' / name, folder)
    return folder


def put(log, root, isolation='v2'):
    """The log appears as a build writes it."""
    folder = root / 'buck-out' / isolation / 'log'
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(log, folder / log.name)
    return folder / log.name


def plain(br2, root, tmp_path, *logs, server=None):
    """The rows of one plain ingest of the same logs."""
    shutil.rmtree(root / 'buck-out', ignore_errors=True)
    for log in logs:
        put(log, root)
    br2.run(root, '--db', tmp_path / 'plain.db', '--no-report', *where(server))
    return dump(tmp_path / 'plain.db', without_files=True)


def where(server):
    return ['--endpoint', server.address] if server else ['--no-remote']


def test_clean_between_cold_and_warm_loses_nothing(br2, root, server, tmp_path):
    db = tmp_path / 'br2.db'
    with Watcher(br2, db, root, *where(server)) as watcher:
        put(COLD, root)
        watcher.wait_open(COLD.name)
        shutil.rmtree(root / 'buck-out/v2')
        put(WARM, root)
        watcher.wait_logs(2)
        assert watcher.end() == 0
        assert 'results found' in watcher.text()
    assert dump(db, without_files=True) == plain(br2, root, tmp_path, COLD, WARM, server=server)
    assert value(db, 'SELECT count(*) FROM result') > 0
    br2.run('check', '--db', db, '--integrity')


def test_a_log_grows_and_is_removed_while_it_is_written(br2, root, tmp_path):
    db, content = tmp_path / 'br2.db', LARGE.read_bytes()
    folder = root / 'buck-out/v2/log'
    with Watcher(br2, db, root, '--no-remote') as watcher:
        folder.mkdir(parents=True)
        with open(folder / LARGE.name, 'wb', buffering=0) as log:
            log.write(content[:len(content) // 2])
            watcher.wait_rows("SELECT count(*) FROM log_file WHERE ending = 'cut'", 1)
            assert value(db, 'SELECT count(*) FROM action') > 0
            shutil.rmtree(root / 'buck-out')
            log.write(content[len(content) // 2:])
            watcher.wait_rows("SELECT count(*) FROM log_file WHERE ending = 'whole'", 1)
        assert watcher.end() == 0
    assert dump(db, without_files=True) == plain(br2, root, tmp_path, LARGE)


def test_folders_removed_and_made_again(br2, root, tmp_path):
    """buck-out too, as a link to elsewhere as well; a new isolation dir."""
    elsewhere = tmp_path / 'elsewhere'
    elsewhere.mkdir()
    logs = log_files(harness.LOGS / 'cells/buck-out')
    with Watcher(br2, tmp_path / 'br2.db', root, '--no-remote') as watcher:
        for count, log in enumerate(logs[:3], 1):
            put(log, root, f'iso{count}')
            watcher.wait_logs(count)
            shutil.rmtree(root / 'buck-out')
        (root / 'buck-out').symlink_to(elsewhere)
        put(logs[3], root)
        watcher.wait_logs(4)
        (root / 'buck-out').unlink()
        put(logs[4], root)
        watcher.wait_logs(5)
        assert watcher.end() == 0


def test_an_isolation_dir_that_was_named_comes_back(br2, root, tmp_path):
    put(COLD, root)
    with Watcher(br2, tmp_path / 'br2.db', root / 'buck-out/v2', '--no-remote') as watcher:
        shutil.rmtree(root / 'buck-out')
        put(WARM, root)
        watcher.wait_logs(2)


def test_a_new_project_below(br2, root, tmp_path):
    put(COLD, root)
    with Watcher(br2, tmp_path / 'br2.db', root.parent, '--no-remote') as watcher:
        watcher.wait_logs(1)
        other = root.parent / 'other'
        shutil.copytree(root, other, ignore=shutil.ignore_patterns('buck-out'))
        (other / 'project.json').write_text('{"name": "other"}')
        put(WARM, other)
        watcher.wait_rows("SELECT count(*) FROM runs WHERE project = 'other'", 1)


def test_descriptors_are_bounded(br2, root, tmp_path):
    """More logs at once than may be open; all are stored."""
    files, count = 64, 40
    with Watcher(br2, tmp_path / 'br2.db', root, '--no-remote', under=['prlimit', f'--nofile={files}:{files}']) as watcher:
        for number in range(count):
            copy = put(COLD, root, f'iso{number}')
            assert len(watcher.open_logs()) <= files // HELD_OF, copy
        watcher.wait_logs(count)
        assert 0 < len(watcher.open_logs()) <= files // HELD_OF
        put(WARM, root)
        watcher.wait_open(WARM.name)
        watcher.wait_logs(count + 1)
        assert watcher.end() == 0


def test_killed_in_the_middle_the_next_ingest_completes_it(br2, root, tmp_path):
    db = tmp_path / 'br2.db'
    with Watcher(br2, db, root, '--no-remote') as watcher:
        for log in (COLD, WARM, LARGE):
            put(log, root)
        watcher.wait_open(LARGE.name)
        wait_for(lambda: Path(f'{db}-journal').exists() or value(db, 'SELECT count(*) FROM log_file'), 'a write')
        watcher.process.kill()
        watcher.process.wait()
    br2.run(root, '--db', db, '--no-remote', '--no-report')
    assert dump(db, without_files=True) == plain(br2, root, tmp_path, COLD, WARM, LARGE)


def test_two_watchers_share_a_database(br2, root, server, tmp_path):
    db = tmp_path / 'br2.db'
    with Watcher(br2, db, root, *where(server)) as one, Watcher(br2, db, root, *where(server)) as two:
        for log in (COLD, WARM):
            put(log, root)
            one.wait_open(log.name)
            two.wait_open(log.name)
        assert [one.end(), two.end()] == [0, 0]
    assert dump(db, without_files=True) == plain(br2, root, tmp_path, COLD, WARM, server=server)


def test_a_server_that_is_away_is_told_once_and_asked_when_it_is_back(br2, root, tmp_path):
    db = tmp_path / 'br2.db'
    away = harness.Server(tmp_path)
    with Watcher(br2, db, root, *where(away)) as watcher:
        for count, log in enumerate((COLD, WARM), 1):
            put(log, root)
            watcher.wait_logs(count)
        wait_for(lambda: 'results wanted' in watcher.text(), 'a word on the server')
        with away.start():
            away.load()
            watcher.wait_rows('SELECT count(*) > 0 FROM result WHERE source = 1', 1)
            assert watcher.end() == 0
            assert watcher.text().count('results wanted') == 1
            expected = plain(br2, root, tmp_path, COLD, WARM, server=away)
    assert dump(db, without_files=True) == expected


@pytest.mark.long  # the lock is waited for a minute
def test_a_locked_database_is_told_and_tried_again(br2, root, tmp_path):
    db = tmp_path / 'br2.db'
    with Watcher(br2, db, root, '--no-remote') as watcher:
        lock = sqlite3.connect(db, isolation_level=None)
        lock.execute('BEGIN EXCLUSIVE')
        put(COLD, root)
        wait_for(lambda: 'it is tried again' in watcher.text(), 'a word on the lock', 120)
        shutil.rmtree(root / 'buck-out')
        lock.execute('ROLLBACK')
        lock.close()
        watcher.wait_logs(1)
        assert watcher.end() == 0


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_takes_in_what_is_held(br2, root, tmp_path, number):
    db = tmp_path / 'br2.db'
    with Watcher(br2, db, root, '--no-remote') as watcher:
        put(COLD, root)
        watcher.wait_open(COLD.name)
        shutil.rmtree(root / 'buck-out')
        assert watcher.end(number) == 0
    assert dump(db, without_files=True) == plain(br2, root, tmp_path, COLD)


def test_a_pass_that_dies_ends_no_watching(br2, root, tmp_path):
    """The process of a pass is killed; the next one does its work."""
    with Watcher(br2, tmp_path / 'br2.db', root, '--no-remote') as watcher:
        lock = sqlite3.connect(tmp_path / 'br2.db', isolation_level=None)
        lock.execute('BEGIN EXCLUSIVE')
        put(COLD, root)
        children = Path(f'/proc/{watcher.process.pid}/task/{watcher.process.pid}/children')
        wait_for(lambda: children.read_text().strip(), 'a pass')
        os.kill(int(children.read_text()), signal.SIGKILL)
        lock.close()
        wait_for(lambda: 'signal 9' in watcher.text(), 'a word on it')
        watcher.wait_logs(1)


@pytest.mark.parametrize('option', [['--dry-run'], ['--last', 1], ['--prometheus', 'http://localhost:1'], ['--values', 'x']])
def test_what_does_not_go_with_it(br2, root, option):
    assert '--watch' in br2.run('--watch', root, *option, code=3).stderr


def test_nothing_to_watch(br2, root, tmp_path):
    assert 'no-such' in br2.run('--watch', tmp_path / 'no-such', '--db', tmp_path / 'br2.db', code=3).stderr
    (root / '.buckconfig').write_text('[a\n')
    put(COLD, root)
    assert '.buckconfig' in br2.run('--watch', root, '--db', tmp_path / 'br2.db', code=3).stderr
