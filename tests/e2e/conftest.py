"""Fixtures of the end-to-end tests. ctest sets BR2_INGEST; by hand:
BR2_INGEST=build/test/ingest/br2-ingest /usr/bin/python3 -m pytest tests/e2e"""
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import harness


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
