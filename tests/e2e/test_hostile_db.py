"""A stranger's database, under every verb: nothing in it runs. It either works as ours does, or is refused in words.

An attack shows itself by the word HIJACK in what is printed or stored, by not coming to an end, or by what it did.
"""
import os
import sqlite3
import struct

import pytest

import harness
from harness import rows, value

# Endless, and says who was there.
LOOP = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT 'HIJACK' AS x FROM c WHERE n < 0"
SECONDS = 60


@pytest.fixture(scope='module')
def clean(tmp_path_factory, server):
    """The database of a sample with all results, and the folder of its logs."""
    folder = tmp_path_factory.mktemp('clean')
    (folder / 'home').mkdir()
    program = harness.Program(os.environ['BR2_INGEST'], folder / 'home')
    root, db = harness.copy_sample('cells', folder), folder / 'clean.db'
    program.run(root, '--db', db, '--endpoint', server.address, '--no-report')
    return db, root


@pytest.fixture
def taken(clean, tmp_path):
    """A copy that a test may spoil."""
    db = tmp_path / 'br2.db'
    db.write_bytes(clean[0].read_bytes())
    return db


def change(db, *statements, schema=False):
    connection = sqlite3.connect(db, isolation_level=None)
    if schema:
        connection.execute('PRAGMA writable_schema = ON')
    for statement in statements:
        connection.execute(*statement) if isinstance(statement, tuple) else connection.execute(statement)
    connection.close()


def verbs(db, root, folder):
    """Each verb with what it needs; export writes into `folder`."""
    digest = value(db, "SELECT l.digest FROM lookup l JOIN result r USING (lookup_id) ORDER BY l.digest LIMIT 1")
    return {'report': ['report', '--all', '--json'], 'page': ['report', '--all'],
            'html': ['report', '--all', '--html', folder / 'page.html'], 'check': ['check', '--all', '--max-rss', '1GiB'],
            'integrity': ['check', '--integrity'], 'plan': ['plan', '--shape', 'big=6,8GiB,8GiB'],
            'compare': ['compare', 'last-1', 'last'], 'digest': ['digest', digest.split(':')[0]],
            'views': ['views', 'summary', '--format', 'csv'], 'export': ['export', '--csv', folder / 'csv'],
            'ingest': ['ingest', root, '--no-remote', '--no-report']}


def finish(process):
    """Its output, messages and exit code; what runs for ever is ended, and fails."""
    try:
        out, err = process.communicate(timeout=SECONDS)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    return out, err, process.returncode


def run_all(br2, db, clean, folder):
    """{verb: (exit code, output, messages)}; what export and --html write counts as output."""
    folder.mkdir()
    said = {}
    for name, words in verbs(clean[0], clean[1], folder).items():
        out, err, code = finish(br2.start(*words, '--db', db))
        said[name] = (code, out.replace(str(db), 'DB'), err.replace(str(db), 'DB'))
    for file in sorted(folder.rglob('*.*')):
        if file.is_file():
            said[file.name] = (0, file.read_text(), '')
    return said


@pytest.fixture(scope='module')
def wanted(clean, tmp_path_factory):
    """What each verb says of the clean one."""
    folder = tmp_path_factory.mktemp('wanted')
    db = folder / 'br2.db'
    db.write_bytes(clean[0].read_bytes())
    said = run_all(harness.Program(os.environ['BR2_INGEST'], folder), db, clean, folder / 'out')
    assert {name: said for name, said in said.items() if said[0] != 0} == {}
    assert len(said) > 30 and said['plan'][1] and said['compare'][1] and said['digest'][1]
    return said


def view(name, select=LOOP):
    return f'DROP VIEW IF EXISTS "{name}"', f'CREATE VIEW "{name}" AS {select}'


def with_claim(name, select):
    """A view that claims to be one that the program made."""
    sql = f'CREATE VIEW {name} AS {select}'
    return f'DROP VIEW IF EXISTS {name}', sql, ('INSERT OR REPLACE INTO canned_view VALUES (?, ?)', (name, sql))


# ---- what is left alone, and not run --------------------------------------------------------

TRIGGERS = [f"CREATE TRIGGER spy_{table}_{when} AFTER {when} ON {table} BEGIN INSERT INTO seen VALUES ('HIJACK'); END"
            for table in ('run', 'log_file', 'setting', 'canned_view', 'lookup') for when in ('INSERT', 'UPDATE', 'DELETE')]

# Our views of these names are somebody else's: shown ones, helpers, and what the ingest itself asks.
NAMES = ('_time', '_span', '_lookup', '_usage', '_worker', 'usage', 'runs', 'executions', 'run_usage', 'phases', 'package_sizes',
         'oom_checked', 'missing_results', 'summary')

HARMLESS = {
    'views of ours with other SQL': tuple(statement for name in NAMES for statement in view(name)),
    'another spelling of a name': ('DROP VIEW summary', *view('SUMMARY')[1:]),
    'views that claim to be ours': (*with_claim('summary', LOOP), *with_claim('zz_all', LOOP)),
    'tables in place of views': (
        'DROP VIEW summary', "CREATE TABLE summary AS SELECT 'HIJACK' AS x", 'DROP VIEW runs',
        "CREATE TABLE runs (a, b AS (a || 'HIJACK' || hex(zeroblob(40000000))))", 'INSERT INTO runs VALUES (1)'),
    'virtual tables in place of views': (
        'DROP VIEW summary', 'CREATE VIRTUAL TABLE summary USING fts5(x)', 'DROP VIEW usage', 'CREATE VIRTUAL TABLE usage USING dbstat'),
    "the user's own": (
        *view('mine'), *view('yours', "SELECT load_extension('/tmp/HIJACK.so')"), 'CREATE INDEX own ON action (start_ns)',
        'CREATE TABLE harm (a, b AS (hex(zeroblob(40000000))))', 'INSERT INTO harm (a) VALUES (1)',
        'CREATE VIRTUAL TABLE texts USING fts4(a)', 'CREATE VIRTUAL TABLE boxes USING rtree(i, a, b)'),
    'triggers': ('CREATE TABLE seen (a)', *TRIGGERS,
                 "CREATE TRIGGER spy INSTEAD OF INSERT ON summary BEGIN INSERT INTO seen VALUES ('HIJACK'); END"),
}
OF_OTHERS = "SELECT type, name, sql FROM sqlite_schema WHERE sql LIKE '%HIJACK%' OR name IN ('own', 'harm') ORDER BY name"


@pytest.mark.parametrize('attack', HARMLESS)
def test_what_is_not_ours_is_not_run(br2, clean, taken, wanted, tmp_path, attack):
    change(taken, *HARMLESS[attack])
    schema = rows(taken, OF_OTHERS)
    said = run_all(br2, taken, clean, tmp_path / 'out')
    for name, (code, out, err) in said.items():
        assert (name, code, out) == (name, *wanted[name][:2])
        assert 'HIJACK' not in err
    assert said.keys() == wanted.keys()
    # It survives: only the forged claim makes a view ours, to be dropped.
    assert rows(taken, OF_OTHERS) == ([] if 'claim' in attack else schema)
    if attack == 'triggers':
        assert value(taken, 'SELECT count(*) FROM seen') == 0


def test_what_is_the_users_is_exported_by_name_only(br2, taken, tmp_path):
    change(taken, "CREATE VIEW mine AS SELECT 'my own' AS x", "CREATE TABLE notes AS SELECT 'a note' AS x", *view('summary', "SELECT 'HIJACK' AS x"))
    br2.run('export', '--csv', tmp_path / 'csv', '--db', taken, 'mine', 'notes', 'summary')
    assert 'my own' in (tmp_path / 'csv/mine.csv').read_text()
    assert 'a note' in (tmp_path / 'csv/notes.csv').read_text()
    assert 'HIJACK' not in (tmp_path / 'csv/summary.csv').read_text()


def test_no_function_in_a_view_is_more_than_harmless(br2, taken, tmp_path):
    """Even where the user asks for it by name."""
    for function in ("load_extension('/tmp/x.so')", "fts3_tokenizer('simple', x'00')", "writefile('/tmp/x', 'y')"):
        change(taken, *view('mine', f'SELECT {function} AS x'))
        said = br2.run('export', '--csv', tmp_path / 'csv', '--db', taken, 'mine', code=2)
        assert 'unsafe use' in said.stderr or 'no such function' in said.stderr or 'not authorized' in said.stderr


def test_the_shell_runs_no_trigger(br2, taken, tmp_path):
    change(taken, 'CREATE TABLE seen (a)', *TRIGGERS, *view('mine', "SELECT fts3_tokenizer('simple') AS x"))
    said = br2.run('sql', '--db', taken, '--write', "UPDATE setting SET value = 61 WHERE key = 'heavy_wall_s'")
    assert (said.stdout, said.stderr) == ('', '')
    assert value(taken, "SELECT value FROM setting WHERE key = 'heavy_wall_s'") == 61
    assert value(taken, 'SELECT count(*) FROM seen') == 0
    assert 'unsafe use' in br2.run('sql', '--db', taken, 'SELECT * FROM mine', code=1).stderr
    taken.with_name('br2.db-journal').write_text('x')
    assert 'the next ingest repairs it' in br2.run('sql', '--db', taken, '--write', 'SELECT 1', code=2).stderr


# ---- what is refused ------------------------------------------------------------------------

def edited(name, old, new):
    """Our table's SQL, changed as no statement of SQL could."""
    return (('UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?', (old, new, name)),)


REFUSED = {
    'a column more': (('ALTER TABLE action ADD COLUMN mine TEXT',), 'table action is not as br2-ingest makes it'),
    'a generated column more': (("ALTER TABLE run ADD COLUMN x TEXT AS (hex(zeroblob(40000000)))",), 'table run is not as br2-ingest makes it'),
    'a table is missing': (('DROP TABLE expense',), 'table expense of br2-ingest is missing'),
    'an index is missing': (('DROP INDEX lookup_open',), 'index lookup_open of br2-ingest is missing'),
    'a default that calls': (edited('setting', 'about TEXT NOT NULL', 'about TEXT NOT NULL DEFAULT (hex(zeroblob(9)))'), 'table setting is not'),
    'a CHECK that calls': (edited('expense', 'cost REAL', 'cost REAL CHECK (length(hex(zeroblob(9))) > 0)'), 'table expense is not'),
    'a collation': (edited('project', 'name TEXT', 'name TEXT COLLATE NOCASE'), 'table project is not'),
    'an index on an expression': (("CREATE INDEX mine ON run (hex(zeroblob(length(trace_id))))",), 'index mine is not br2-ingest'),
    'an index over some rows': (('CREATE INDEX mine ON run (start_ns) WHERE start_ns > abs(-1)',), 'index mine is not br2-ingest'),
    'an index that refuses rows': (('CREATE UNIQUE INDEX mine ON run (project_id, start_ns, trace_id)',), 'index mine is not br2-ingest'),
    'an index that hides its table': (("CREATE INDEX mine ON run (hex(trace_id))",
                                       "UPDATE sqlite_schema SET type = 'INDEX', tbl_name = 'RUN' WHERE name = 'mine'"), 'index mine is not br2-ingest'),
    'an fts table in place of ours': (('DROP TABLE expense', 'CREATE VIRTUAL TABLE expense USING fts5(a)'), 'table expense is not'),
    'a view in place of a table': (('DROP TABLE expense', f'CREATE VIEW expense AS {LOOP}'), 'table expense is not'),
    'a view before the version': ((f'CREATE VIEW pragma_user_version AS {LOOP}',), "'pragma_user_version' in it has the name of a part of SQLite"),
    'a table before json_each': (('CREATE TABLE JSON_each (value)',), "'JSON_each' in it has the name of a part of SQLite"),
    'no SQL at all': (("UPDATE sqlite_schema SET sql = 'x' WHERE name = 'run'",), 'malformed database schema'),
    'two objects of a name': (("INSERT INTO sqlite_schema VALUES ('view', 'run', 'run', 0, 'CREATE VIEW run AS SELECT 1')",), 'malformed database schema'),
    'a temporary view in the file': ((f"INSERT INTO sqlite_schema VALUES ('table', 'expense', 'expense', 0, 'CREATE TEMP TABLE expense (a)')",), 'malformed'),
    'SQL with a bell in it': (("UPDATE sqlite_schema SET sql = replace(sql, 'cost REAL', 'cost ' || char(7, 155, 8238) || ' REAL') WHERE name = 'expense'",), 'expense'),
}


@pytest.mark.parametrize('attack', REFUSED)
def test_what_is_in_the_way_is_refused(br2, clean, taken, tmp_path, attack):
    statements, words = REFUSED[attack]
    change(taken, *statements, schema=True)
    before = taken.read_bytes()
    for name, (code, out, err) in run_all(br2, taken, clean, tmp_path / 'out').items():
        assert (name, code, out) == (name, 2, '')
        assert words in err and 'DB' in err and 'HIJACK' not in err
        assert len(err.strip().splitlines()) == 1
        assert not set('\x07\x9b\u202e') & set(err)
    assert taken.read_bytes() == before


def test_a_huge_schema_is_refused_soon(br2, clean, taken, tmp_path):
    many = [('INSERT INTO sqlite_schema VALUES (?, ?, ?, 0, ?)', ('view', f'v{i}', f'v{i}', f'CREATE VIEW v{i} AS SELECT {i}')) for i in range(20000)]
    change(taken, 'BEGIN', *many, 'COMMIT', schema=True)
    for name, (code, out, err) in run_all(br2, taken, clean, tmp_path / 'out').items():
        assert (name, code, out) == (name, 2, '')
        assert 'far more tables and views' in err


def test_what_is_no_file_is_not_waited_for(br2, clean, tmp_path):
    os.mkfifo(tmp_path / 'br2.db')
    for words in (['report', '--all'], ['ingest', '--no-remote', clean[1]]):
        _, err, code = finish(br2.start(*words, '--db', tmp_path / 'br2.db'))
        assert code == 2 and 'not a file' in err


# ---- beside the file --------------------------------------------------------------------------

def leave_journal(db, names):
    """Leaves the journal of a killed ingest, which names `names` as the one that spans several databases."""
    connection = sqlite3.connect(db, isolation_level=None)
    connection.executescript('PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE')
    connection.execute("INSERT INTO project (name) WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 3000)"
                       " SELECT hex(randomblob(100)) FROM c")
    killed, journal = db.read_bytes(), db.with_name(db.name + '-journal').read_bytes()
    connection.execute('ROLLBACK')
    connection.close()
    # As readSuperJournal() of SQLite's pager.c wants it.
    name, page = str(names).encode(), 0x40000000 // 4096 + 1
    end = struct.pack('>I', page) + name + struct.pack('>II', len(name), sum(name)) + bytes.fromhex('d9d505f920a163d7')
    db.write_bytes(killed)
    db.with_name(db.name + '-journal').write_bytes(journal + end)


def test_a_journal_names_no_other_file(br2, clean, taken, tmp_path):
    """SQLite itself would read the file that it names, and delete it."""
    victim = tmp_path / 'thesis.tex'
    victim.write_text('years of work')
    leave_journal(taken, victim)
    said = br2.run('report', '--all', '--db', taken, code=2)
    assert 'an ingest was killed' in said.stderr
    said = br2.run(clean[1], '--db', taken, '--no-remote', '--no-report', code=2)
    assert 'its journal wanted another file deleted' in said.stderr
    assert victim.read_text() == 'years of work'
    br2.run(clean[1], '--db', taken, '--no-remote', '--no-report')
    assert value(taken, 'PRAGMA integrity_check') == 'ok'
    assert value(taken, 'SELECT count(*) FROM project') == value(clean[0], 'SELECT count(*) FROM project')
    assert victim.read_text() == 'years of work'


def test_a_journal_names_the_one_of_several_databases(br2, clean, taken):
    """Somebody's transaction over several files was killed: it is rolled back, and what SQLite made for it goes."""
    spanning = taken.with_name('br2.db-mj0A1B2C9D3')
    spanning.write_bytes(f'{taken}-journal'.encode() + b'\0')
    leave_journal(taken, spanning)
    br2.run(clean[1], '--db', taken, '--no-remote', '--no-report')
    assert not spanning.exists() and not taken.with_name('br2.db-journal').exists()
    assert value(taken, 'PRAGMA integrity_check') == 'ok'
    assert value(taken, 'SELECT count(*) FROM project') == value(clean[0], 'SELECT count(*) FROM project')


def test_the_trap_is_real(taken, tmp_path):
    """Holds the test above to its word: without the guard the file is gone."""
    victim = tmp_path / 'thesis.tex'
    victim.write_text('years of work')
    leave_journal(taken, victim)
    connection = sqlite3.connect(taken)
    connection.execute('SELECT count(*) FROM project').fetchall()
    connection.close()
    assert not victim.exists()
