"""The canned views over a fixed data set as CSV files in tests/golden/. Written and
compared without surrogate ids and in an order of their own, so that a real ingest of
the same samples must give the same files.

usage: golden.py --update      writes them anew from the samples
"""
import csv
import io
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import samples  # noqa: E402

FOLDER = Path(__file__).parents[1] / 'golden'
SAMPLES = ['cells', 'failures', 'flaky']
# Where and by whom a run was made says nothing about the views.
LEFT_OUT = {'runs': {'argv', 'working_dir', 'host', 'user', 'buck2_revision', 'revision', 'errors', 'error', 'instance_source',
                     'instance_proved'}}
# Pairs of runs that stand for all: wrapped before and after by results alone, and wrapped against native.
COLD, LATER, NATIVE = 'ebb4affa-bb6d-4c4c-9946-31c980b6c3a4', '6746f215-b757-49e7-a3f5-6faa62cecebf', '0a4afb48-2807-4cc3-b075-c88e410758a7'
ONLY = {view: f"WHERE run_a = '{COLD}' AND run_b IN ('{LATER}', '{NATIVE}')" for view in ('run_compare', 'run_compare_packages')}


def database():
    """The samples, and what their project.json lists as heavy, as an ingest of them reads it."""
    def add_lists(made):
        for sample in SAMPLES:
            file = samples.LOGS / sample / 'project.json'
            if file.exists():
                made.lists(samples.project_of(sample), json.loads(file.read_text())['heavy'])
    return samples.load(*SAMPLES, historical=True, change=add_lists)


def public_views(db):
    sql = "SELECT name FROM sqlite_schema WHERE type = 'view' AND substr(name, 1, 1) <> '_' ORDER BY name"
    return [r['name'] for r in samples.rows(db, sql)]


def shown(value):
    return '' if value is None else repr(value) if isinstance(value, float) else str(value)


def table(db, view):
    """The view as CSV text: header, then its rows, sorted as text."""
    found = samples.rows(db, f'SELECT * FROM "{view}" {ONLY.get(view, "")}')
    names = [r['name'] for r in samples.rows(db, f"SELECT name FROM pragma_table_info('{view}')")]
    names = [n for n in names if n not in LEFT_OUT.get(view, ())]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator='\n')
    writer.writerow(names)
    writer.writerows(sorted([shown(row[n]) for n in names] for row in found))
    return out.getvalue()


def update(db):
    FOLDER.mkdir(exist_ok=True)
    names = public_views(db)
    for file in FOLDER.glob('*.csv'):
        if file.stem not in names:
            file.unlink()
    for view in names:
        (FOLDER / f'{view}.csv').write_text(table(db, view))


if __name__ == '__main__':
    if sys.argv[1:] != ['--update']:
        sys.exit(__doc__)
    update(database())
