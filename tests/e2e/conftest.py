"""Fixtures of the end-to-end tests. ctest sets BR2_INGEST; by hand:
BR2_INGEST=build/test/ingest/br2-ingest /usr/bin/python3 -m pytest tests/e2e"""
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import harness


LEFT_OUT = 77 # ctest shows such a test as not run


def pytest_configure(config):
    config.addinivalue_line('markers', 'long: over 20 s; run where BR2_LONG=1 (scripts/test --long)')
    config.addinivalue_line('markers', 'namespace: needs namespaces of Linux; left out where BR2_NO_NETNS=1')
    config.left_out = 0


def pytest_collection_modifyitems(config, items):
    def stays(item):
        if (os.environ.get('BR2_LONG') == '1') != (item.get_closest_marker('long') is not None):
            return False
        forbidden = os.environ.get('BR2_NO_NETNS') == '1' and item.get_closest_marker('namespace')
        config.left_out += bool(forbidden)
        return not forbidden
    items[:] = [item for item in items if stays(item)]


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.left_out:
        session.exitstatus = LEFT_OUT


def pytest_terminal_summary(terminalreporter, config):
    if config.left_out:
        terminalreporter.write_line(f'{config.left_out} tests left out: BR2_NO_NETNS=1')


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / 'home'
    folder.mkdir()
    return folder


@pytest.fixture
def br2(home):
    """The program, with a home of its own."""
    return harness.Program(os.environ['BR2_INGEST'], home)


@pytest.fixture(scope='session')
def server(tmp_path_factory):
    """The real bb_storage, filled with the recorded results."""
    with harness.Server(tmp_path_factory.mktemp('server')) as running:
        yield running.load()


@pytest.fixture
def project(tmp_path):
    """Makes a copy of a sample that the test may change."""
    return lambda sample: harness.copy_sample(sample, tmp_path)
