"""The program's own ingest of the golden samples gives the golden files: the tables that
the tests of this folder fill by themselves are those that it fills."""
import os
import shutil
import sqlite3
import subprocess

import pytest

import golden
import samples

RECORDING = samples.LOGS.parent / 'recordings/demo.jsonl.zst'


@pytest.fixture(scope='module', params=[golden.SAMPLES, golden.SAMPLES[::-1]], ids=['in order', 'reversed'])
def db(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp('ingested')
    for sample in request.param:
        root = shutil.copytree(samples.LOGS / sample, folder / sample)
        subprocess.run([os.environ['BR2_INGEST'], '--quiet', '--db', folder / 'x.db', '--replay', RECORDING, '--instance',
                        samples.expected(sample)['instance'], root], check=True, env={**os.environ, 'HOME': str(folder)},
                       stdin=subprocess.DEVNULL)
    connection = sqlite3.connect(f'file:{folder}/x.db?mode=ro', uri=True)
    yield connection
    connection.close()


@pytest.mark.parametrize('view', sorted(path.stem for path in golden.FOLDER.glob('*.csv')))
def test_view(db, view):
    assert golden.table(db, view) == (golden.FOLDER / f'{view}.csv').read_text()
