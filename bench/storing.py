"""Storing against `sqlite3 .import` of the same rows into the same tables and indexes."""
import csv
import re
import sqlite3

import harness
import kit
import pairs
from page import Row

# A column that is computed: .import knows none, so it becomes a plain one there.
GENERATED = re.compile(r'GENERATED ALWAYS AS (\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)) VIRTUAL')
# SQLite keeps tables of its own, which nobody may create.
OURS = "substr(name, 1, 7) <> 'sqlite_'"
TABLES = f"SELECT name FROM sqlite_schema WHERE type = 'table' AND {OURS}"


def as_imported(sql):
    """A table as .import can fill it: not STRICT, nothing generated (it knows neither NULL nor BLOB)."""
    sql = GENERATED.sub('', sql).rstrip()
    if sql.endswith(') STRICT, WITHOUT ROWID'):
        return sql.removesuffix(' STRICT, WITHOUT ROWID') + ' WITHOUT ROWID;'
    return sql.removesuffix(' STRICT') + ';'


def write_rows(connection, table, target):
    """The table's rows as .import reads them; False if it has none."""
    rows = connection.execute(f'SELECT * FROM "{table}"')
    first = rows.fetchone()
    if first is None:
        return False
    with open(target, 'w', newline='') as out:
        writer = csv.writer(out)
        writer.writerow(plain(first))
        writer.writerows(map(plain, rows))
    return True


def plain(row):
    return [v.hex() if isinstance(v, bytes) else v for v in row]


def import_script(db, folder):
    """A script for the sqlite3 shell that makes the tables and indexes of `db` and imports their rows."""
    connection = sqlite3.connect(db)
    made = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('table', 'index')"
                              f" AND {OURS} ORDER BY type DESC, rowid").fetchall()
    commands = ['PRAGMA foreign_keys = OFF;', 'PRAGMA ignore_check_constraints = ON;', 'BEGIN;']
    commands += [as_imported(sql) for _, _, sql in made]
    for table in [name for kind, name, _ in made if kind == 'table']:
        target = folder / f'{table}.csv'
        if write_rows(connection, table, target):
            commands.append(f'.import --csv {target} {table}')
    connection.close()
    script = folder / 'import.sql'
    script.write_text('\n'.join([*commands, 'COMMIT;']) + '\n')
    return script


def row_counts(db):
    tables = sorted(row['name'] for row in harness.rows(db, TABLES))
    return {t: harness.value(db, f'SELECT count(*) FROM "{t}"') for t in tables}


def inserting(k):
    """What storing a log adds to a dry run, in CPU, against `sqlite3 .import` of the same rows from CSV into the same tables and
    indexes, in one transaction; ours commits a slice at a time. No lookups: results are not among the rows."""
    log = k.make_log('stored_events.pb.zst', megabytes=min(k.sizes.megabytes, 250), seed=5)
    filled, folder = k.fresh('filled.db'), k.folder / 'import'
    k.ingest(filled, '--no-remote', logs=[log.path])
    folder.mkdir()
    script, wanted = import_script(filled, folder), row_counts(filled)

    def theirs():
        db = k.fresh('theirs.db')
        spent = pairs.cost(['sqlite3', '-bail', db, f'.read {script}'])
        assert row_counts(db) == wanted, '.import did not bring the same rows'
        return spent

    whole = k.paired(k.store(log), theirs)
    dry = k.paired(k.dry(log), lambda: pairs.Cost(1, 1))
    adds = [(pairs.Cost(1, ours.cpu - read.cpu), other) for (ours, other), (read, _) in zip(whole, dry)]
    yield Row(f'storing {sum(wanted.values())} rows: rows a CPU second / `sqlite3 .import`', pairs.times_faster(adds, 'cpu'),
              goal=0.8, at_least=True)
    yield Row('reading, decoding and storing: time / `sqlite3 .import` of ready rows', pairs.ratios(whole))
