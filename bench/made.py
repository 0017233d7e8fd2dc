"""Over a database of a million made actions: bytes of each table, and the time of each view."""
import re
import sqlite3
import subprocess
import sys

import kit
from page import Row, Table

GENERATOR = kit.ROOT / 'tests/tools/gen_db.py'
# Texts, and what grows with something else than actions: minutes of containers, runs, the schema itself.
APART = ('attempt_stderr', 'attempt_text', 'action_text', 'aux_message', 'container_usage', 'container_life', 'result_container',
         'path_step', 'build_graph', 'run', 'run_config', 'sqlite_schema')
SHOWN = 0.5  # bytes an action: what takes less stands in one line
VIEW = re.compile(r' *([\d.]+) s (?:<=|> ) ([\d.]+) +[\d.]+ scans +(\d+) rows  (.*)')
WORST = 12


def database(k):
    """Made once."""
    db = k.folder / 'made.db'
    if not db.exists():
        subprocess.run(['/usr/bin/python3', GENERATOR, db, '--actions', str(k.sizes.actions)], check=True, stderr=subprocess.DEVNULL)
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
    found, actions, results = sizes(database(k))
    counted = [(name, size) for table, name, size in found if table not in APART]
    apart = [(name, size) for table, name, size in found if table in APART]
    yield Row(f'database of {actions} actions, {results} of them with a result: bytes an action, all indexes included',
              [sum(size for _, size in counted) / actions], goal=400, unit='bytes')
    lines = [[name, f'{size / actions:.1f}'] for name, size in counted if size >= SHOWN * actions]
    small = sum(size for _, size in counted if size < SHOWN * actions)
    lines += [['all others', f'{small / actions:.1f}'],
              ['**in all**', f'**{sum(size for _, size in counted) / actions:.1f}**']]
    lines += [[f'apart: {name}', f'{size / actions:.1f}'] for name, size in apart if size >= SHOWN * actions]
    yield Table('Bytes an action', f'By `dbstat`, of {actions} actions of which {results} have a result (tests/tools/gen_db.py).'
                ' Apart: texts, and what grows with runs or with minutes of containers.', ['table or index', 'bytes'], lines)


def views(k):
    done = subprocess.run([sys.executable, kit.BENCH / 'time_views.py', database(k)], check=False, capture_output=True, text=True)
    found = [(float(spent), float(limit), int(rows), sql) for spent, limit, rows, sql in VIEW.findall(done.stdout)]
    assert done.returncode in (0, 1) and len(found) == done.stdout.count('\n') > 50, done.stderr or done.stdout
    over = sum(spent > limit for spent, limit, *_ in found)
    yield Row(f'{len(found)} questions to canned views, {k.sizes.actions} actions: those over their limit of CPU seconds',
              [over], goal=0, unit='questions', gross=len(found))
    found.sort(key=lambda f: f[0] / f[1], reverse=True)
    yield Table('Views', f'CPU seconds in the stock shell, least of three; the {WORST} of {len(found)} that come nearest to their'
                ' limit or go beyond it (`bench/time_views.py` prints all).', ['question', 'seconds', 'limit', 'rows'],
                [[f'`{sql}`', f'{spent:.2f}', f'{limit:.2f}', rows] for spent, limit, rows, sql in found[:WORST]])
