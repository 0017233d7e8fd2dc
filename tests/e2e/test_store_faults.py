"""SQLite fails in an ingest: wherever it does, the program ends with one line, no transaction is half written,
and the next run does what this one could not.

scripts/test --long fails each call from each place; ordinary runs take one in four of those by which each
caller sees an error once, others with another BR2_SEED."""
import os

import pytest

import harness
from faults import Faulty, sweep
from test_merge import ANSWERS, CHART, PODS

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
