"""Logs that are deleted, cut, replaced or grow while they are read, as `buck2 clean` and running builds do."""
import os
import random
import shutil
import subprocess
import threading
import time

import pytest

import harness
from harness import dump, rows, value


def long_log(root):
    """The sample's largest log many times over and not packed, so that reading takes a while; it is one run."""
    log = max(harness.log_files(root), key=lambda p: p.stat().st_size)
    plain = subprocess.run(['zstd', '-dcq', log], check=True, capture_output=True).stdout
    path = log.with_name(log.name.replace('.pb.zst', '.pb'))
    log.unlink()
    path.write_bytes(plain * 40)
    return path


@pytest.fixture
def large(project):
    root = project('demo-x86_64')
    return root, long_log(root)


def during(br2, root, db, what):
    """Runs an ingest, and does that as soon as the log is open in it."""
    process = br2.start(root, '--db', db, '--no-remote', '--no-report')
    opened = wait_for_log(process)
    what()
    out, err = process.communicate(timeout=60)
    assert opened, err
    return process.returncode, err


def wait_for_log(process):
    while process.poll() is None:
        for name in os.listdir(f'/proc/{process.pid}/fd'):
            try:
                if os.readlink(f'/proc/{process.pid}/fd/{name}').endswith('_events.pb'):
                    return True
            except OSError:
                pass
    return False


def test_deleted_while_it_is_read(br2, large, tmp_path):
    """What is open is read to its end."""
    root, log = large
    kept, clean = tmp_path / 'kept.db', tmp_path / 'clean.db'
    br2.run(root, '--db', clean, '--no-remote', '--no-report')
    code, err = during(br2, root, kept, log.unlink)
    assert code == 0 and 'error' not in err
    assert dump(kept) == dump(clean)


def test_folder_deleted_while_it_is_read(br2, large, tmp_path):
    """`buck2 clean`: logs that were not open yet are gone, and that is said."""
    root, log = large
    db = tmp_path / 'br2.db'
    code, err = during(br2, root, db, lambda: shutil.rmtree(root / 'buck-out'))
    assert code == 0 and 'error' not in err
    gone = err.count('gone before it was opened, skipping')
    assert value(db, 'SELECT count(*) FROM log_file') == 7 - gone
    assert value(db, f"SELECT complete FROM run_log JOIN log_file USING (log_file_id) JOIN run USING (run_id)"
                     f" WHERE path = '{log}'") == 1
    assert value(db, 'PRAGMA integrity_check') == 'ok'


def test_cut_while_it_is_read(br2, large, tmp_path):
    """No signal (nothing is mapped), no error: a log that is cut."""
    root, log = large
    db = tmp_path / 'br2.db'
    code, err = during(br2, root, db, lambda: os.truncate(log, 5000))
    assert code == 0 and 'error' not in err
    assert value(db, 'SELECT count(*) FROM log_file') == 7


def test_replaced_while_it_is_read(br2, large, tmp_path):
    """The next ingest sees another file there, and reads that."""
    root, log = large
    db, other, fresh = tmp_path / 'br2.db', harness.log_files(root)[0], tmp_path / 'fresh.db'
    new = log.with_name('new')
    new.write_bytes(subprocess.run(['zstd', '-dcq', other], check=True, capture_output=True).stdout)
    code, err = during(br2, root, db, lambda: new.rename(log))
    assert code == 0 and 'error' not in err
    again = br2.run(root, '--db', db, '--no-remote', '--no-report')
    assert '1 read, 6 known' in again.stderr
    assert value(db, f"SELECT bytes FROM log_file WHERE path = '{log}'") == log.stat().st_size


def test_grows_while_it_is_read(br2, project, tmp_path):
    """Written by a build meanwhile, ingested again and again: in the end all is there."""
    root = project('demo-x86_64')
    log = max(harness.log_files(root), key=lambda p: p.stat().st_size)
    whole, db, clean = log.read_bytes(), tmp_path / 'br2.db', tmp_path / 'clean.db'
    br2.run(root, '--db', clean, '--no-remote', '--no-report')
    stat = log.stat()
    log.write_bytes(b'')

    def build():
        for at in range(0, len(whole), 1 + len(whole) // 50):
            with open(log, 'ab') as out:
                out.write(whole[at:at + 1 + len(whole) // 50])
            time.sleep(random.random() / 20)
    thread = threading.Thread(target=build)
    thread.start()
    while thread.is_alive():
        br2.run(root, '--db', db, '--no-remote', '--no-report')
    thread.join()
    os.utime(log, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    br2.run(root, '--db', db, '--no-remote', '--no-report')
    assert dump(db) == dump(clean)


def test_made_a_folder_or_a_pipe(br2, project, tmp_path):
    """Between being found and being opened, or before: said, and the others are read."""
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    first, second = harness.log_files(root)[:2]
    first.unlink()
    first.mkdir()
    second.unlink()
    os.mkfifo(second)
    br2.run(root, '--db', db, '--no-remote', '--no-report', timeout=60)
    assert value(db, 'SELECT count(*) FROM run') == 5
    assert rows(db, "SELECT path FROM log_file WHERE ending <> 'whole'") == []
