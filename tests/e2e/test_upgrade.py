"""A database of each schema that there was goes forward in place, and is then as a fresh one; what is the user's stays."""
import os
import sqlite3
import sys

import pytest

import harness
from harness import rows, value

sys.path.insert(0, str(harness.ROOT / 'tests'))
import dump_rows  # noqa: E402

STEPS = sorted((harness.ROOT / 'schema').glob('0*.sql'))
APPLICATION = 0x42523249
OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT IN ('mine', 'notes') ORDER BY type, name"


def make(db, version):
    """As an older br2-ingest left it, and a user changed it since."""
    connection = sqlite3.connect(db)
    for step in STEPS[:version]:
        connection.executescript(step.read_text())
    connection.executescript(f'PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {version}')
    connection.close()
    edit(db)


def edit(db):
    connection = sqlite3.connect(db)
    connection.executescript("""UPDATE setting SET value = 61 WHERE key = 'heavy_wall_s'; DELETE FROM variant WHERE variant = 'native';
        INSERT INTO oom_pattern VALUES ('out of luck', 'mine'); CREATE VIEW mine AS SELECT count(*) AS runs FROM run;
        CREATE TABLE notes (note); INSERT INTO notes VALUES ('kept')""")
    connection.close()


@pytest.fixture(scope='module')
def fresh(tmp_path_factory, server):
    """The same logs in a database of this program's own, edited in the same way before them."""
    folder = tmp_path_factory.mktemp('fresh')
    program, db = harness.Program(os.environ['BR2_INGEST'], folder), folder / 'br2.db'
    root = harness.copy_sample('failures', folder)
    make(db, len(STEPS))
    program.run(root, '--db', db, '--endpoint', server.address, '--no-report')
    return db, root


@pytest.mark.parametrize('version', range(1, len(STEPS)))
def test_each_schema_goes_forward(br2, fresh, server, tmp_path, version):
    db = tmp_path / 'br2.db'
    make(db, version)
    assert 'made by an older br2-ingest' in br2.run('report', '--all', '--db', db, code=2).stderr
    br2.run(fresh[1], '--db', db, '--endpoint', server.address, '--no-report')
    assert value(db, 'PRAGMA user_version') == len(STEPS) == value(fresh[0], 'PRAGMA user_version')
    assert rows(db, OBJECTS) == rows(fresh[0], OBJECTS)
    assert dump_rows.dump(db) == dump_rows.dump(fresh[0])
    assert value(db, 'SELECT count(*) FROM result') > 0
    assert value(db, "SELECT value FROM setting WHERE key = 'heavy_wall_s'") == 61
    assert (value(db, 'SELECT runs FROM mine'), value(db, 'SELECT note FROM notes')) == (value(db, 'SELECT count(*) FROM run'), 'kept')
    br2.run('check', '--integrity', '--db', db)


def test_a_newer_one_is_refused(br2, fresh, tmp_path):
    db = tmp_path / 'br2.db'
    db.write_bytes(fresh[0].read_bytes())
    connection = sqlite3.connect(db)
    connection.execute(f'PRAGMA user_version = {len(STEPS) + 1}')
    connection.close()
    before = db.read_bytes()
    for words in (['report', '--all'], [fresh[1], '--no-remote'], ['export', '--csv', tmp_path / 'csv']):
        said = br2.run(*words, '--db', db, code=2)
        assert f'made by a newer br2-ingest (its schema is number {len(STEPS) + 1}, this program knows {len(STEPS)})' in said.stderr
    assert db.read_bytes() == before
