"""SQLite fails in an ingest: wherever it does, the program ends with one line, no transaction is half written,
and the next run does what this one could not.

scripts/test --long fails each call from each place; ordinary runs take one in four of those by which each
caller sees an error once, others with another BR2_SEED."""
import os
import re

import pytest

import harness
from faults import Faulty, preload, sweep
from test_merge import ANSWERS, CHART, PODS, execute

BOTH = pytest.mark.parametrize('everywhere', [False, pytest.param(True, marks=pytest.mark.long)])
QUIET = ['--no-report', '--replay', ANSWERS]


@pytest.fixture
def roots(project):
    return [project('flaky'), project('failures')]


@pytest.fixture
def known(br2, roots, tmp_path):
    """A database with all of it."""
    db = tmp_path / 'known.db'
    br2.run(*roots, '--db', db, *QUIET)
    return db


@pytest.fixture
def begun(br2, roots, tmp_path):
    """One with a project's logs, and nothing of what they want to know."""
    db = tmp_path / 'begun.db'
    br2.run(roots[0], '--db', db, '--no-report', '--no-remote')
    return db


@BOTH
def test_in_making_a_database(br2, roots, tmp_path, everywhere):
    sweep('a new database', Faulty(br2, tmp_path, [roots[0], '--no-report', '--no-remote']), everywhere, 30)


@BOTH
def test_in_an_ingest(br2, roots, begun, tmp_path, everywhere):
    sweep('an ingest', Faulty(br2, tmp_path, [*roots, *QUIET], begun), everywhere, 60)


@BOTH
def test_in_an_ingest_of_the_cluster(br2, roots, known, tmp_path, everywhere):
    command = [*QUIET, '--pods', PODS, '--values', CHART, '--valid-from', '2026-01-01', roots[0]]
    sweep("an ingest of the cluster's facts", Faulty(br2, tmp_path, command, known), everywhere, 30)


@BOTH
def test_in_an_ingest_that_moves_runs(br2, roots, known, tmp_path, everywhere):
    """To another project, with a list of heavy packages, and another instance: digests and sums go with them."""
    (roots[0] / 'project.json').write_text('{"heavy": ["gcc", "llvm"]}')
    for log in [*harness.log_files(roots[0]), *harness.log_files(roots[1])]:
        os.utime(log)
    command = [*roots, *QUIET, '--project', 'other', '--instance', 'elsewhere']
    sweep('an ingest that moves runs', Faulty(br2, tmp_path, command, known), everywhere, 60)


# A view as an older version made it; a setting that its user dropped.
OLDER = """
    DROP VIEW failures;
    CREATE VIEW failures AS SELECT 1 AS x;
    UPDATE canned_view SET sql = (SELECT sql FROM sqlite_schema WHERE name = 'failures') WHERE name = 'failures';
    DELETE FROM setting WHERE key = 'heavy_cores';
"""


class Undated(Faulty):
    """Pools that are valid from when it was run."""

    def rows(self):
        return re.sub('valid_from_ns=[0-9]+', '', super().rows())


@BOTH
def test_in_an_ingest_that_asks_elsewhere(br2, roots, begun, tmp_path, everywhere):
    """No answer has proved the instance or the digest function, and both are configured anew; pools come without a date,
    so after what they executed."""
    (roots[0] / '.buckconfig').write_text('[buck2]\ndigest_algorithms = BLAKE3\n')
    br2.run(roots[1], '--db', begun, *QUIET)
    execute(begun, OLDER)
    command = [roots[0], '--no-report', '--no-remote', '--instance', 'elsewhere', '--values', CHART, '--shape',
               'mine=1.5,2GiB,4GiB']
    sweep('an ingest that asks elsewhere', Undated(br2, tmp_path, command, begun), everywhere, 40)


# ---- words -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('code, words', [
    (8 | 6 << 8, 'its folder cannot be written'), (8 | 3 << 8, 'was killed while it wrote'),
    (8 | 1 << 8, 'was killed while it wrote'), (10 | 15 << 8, 'lets no file be locked'), (13, 'no space left for it'),
    (5, 'did not let go within a minute'), (26, 'not an SQLite database'), (9, 'far more tables and views'),
    (23, 'wanted another file deleted'), (11, 'malformed')])
def test_what_is_said(br2, roots, begun, tmp_path, code, words):
    note = tmp_path / 'note'
    process = br2.start(roots[0], '--db', begun, '--no-report', '--no-remote', env=preload(note, f'exec 0 1 {code}'))
    _, err = process.communicate(timeout=60)
    (line,) = (line for line in err.splitlines() if 'error: ' in line)
    assert (process.returncode, words in line, str(begun) in line) == (2, True, True), err
