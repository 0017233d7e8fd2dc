"""Over a database of a million made actions: bytes of each table, and the time of each view."""
import re
import sqlite3
import subprocess
import sys

import kit
from page import Row, Table

GENERATOR = kit.ROOT / 'tests/tools/gen_db.py'
# Texts, runs with what is kept once a run, what Prometheus told, the schema itself.
APART = ('attempt_stderr', 'attempt_text', 'action_text', 'aux_message', 'container_usage', 'container_life', 'result_container',
         'path_step', 'build_graph', 'run', 'run_config', 'sqlite_schema')
SHOWN = 0.5  # bytes an action: what takes less stands in one line
VIEW = re.compile(r' *([\d.]+) s (?:<=|> ) ([\d.]+) +[\d.]+ scans +(\d+) rows  (.*)')
WORST = 12


def database(k):
    """Made once."""
    db = k.folder / 'made.db'
    if not db.exists():
        subprocess.run([sys.executable, GENERATOR, db, '--actions', str(k.sizes.actions)], check=True,
                       stderr=subprocess.DEVNULL)
    return db


def sizes(db):
    """(table, table or index, bytes) of all that the file holds, large ones first."""
    connection = sqlite3.connect(f'file:{db}?mode=ro', uri=True)
    found = connection.execute('SELECT coalesce(s.tbl_name, d.name), d.name, d.pgsize FROM dbstat d LEFT JOIN sqlite_schema s'
                               ' ON s.name = d.name WHERE d.aggregate = TRUE ORDER BY d.pgsize DESC').fetchall()
    (actions,) = connection.execute('SELECT count(*) FROM action').fetchone()
    (results,) = connection.execute('SELECT count(*) FROM result').fetchone()
    connection.close()
    whole = db.stat().st_size
    assert 0.9 * whole < sum(size for *_, size in found) <= whole, 'dbstat does not tell of every page'
    return found, actions, results


def bytes_an_action(k):
    """A database of made actions, most with a result (tests/tools/gen_db.py), by `dbstat`: all tables and indexes but texts, runs
    and what Prometheus told."""
    found, actions, results = sizes(database(k))
    counted = [(name, size) for table, name, size in found if table not in APART]
    apart = [(name, size) for table, name, size in found if table in APART]
    whole = sum(size for _, size in counted) / actions
    yield Row('database: bytes an action, all indexes included', [whole], goal=400, unit='bytes')
    lines = [[name, f'{size / actions:.1f}'] for name, size in counted if size >= SHOWN * actions]
    small = sum(size for _, size in counted if size < SHOWN * actions)
    lines += [['all others', f'{small / actions:.1f}'],
              ['**in all**', f'**{whole:.1f}**']]
    lines += [[f'apart: {name}', f'{size / actions:.1f}'] for name, size in apart if size >= SHOWN * actions]
    yield Table('Bytes an action',
                f'{actions} actions, {results} of them with a result. Apart: texts, runs, and what Prometheus told.', ['table or index', 'bytes'], lines)


def views(k):
    """Each canned view as bench/time_views.py asks it in the stock shell, over the same database; limits are of CPU seconds."""
    done = subprocess.run([sys.executable, kit.BENCH / 'time_views.py', database(k)], check=False, capture_output=True, text=True)
    found = [(float(spent), float(limit), int(rows), sql) for spent, limit, rows, sql in VIEW.findall(done.stdout)]
    assert done.returncode in (0, 1) and len(found) == done.stdout.count('\n') > 50, done.stderr or done.stdout
    over = sum(spent > limit for spent, limit, *_ in found)
    yield Row(f'canned views, {k.sizes.actions} actions: of {len(found)} questions those over their limit', [over], goal=0,
              unit='questions')
    found.sort(key=lambda f: f[0] / f[1], reverse=True)
    yield Table('Views',
                f'CPU seconds, the least of three, of six where three are over the limit: the {WORST} of {len(found)} questions nearest to'
                ' their limit, or beyond it.',
                ['question', 'seconds', 'limit', 'rows'],
                [[f'`{sql}`', f'{spent:.2f}', f'{limit:.2f}', rows] for spent, limit, rows, sql in found[:WORST]])
