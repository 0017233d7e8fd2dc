"""The canned views over a fixed data set as CSV files in tests/golden/. Written and
compared without surrogate ids and in an order of their own, so that a real ingest of
the same samples must give the same files.

usage: golden.py --update      writes them anew from the samples
"""
import csv
import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import samples  # noqa: E402

FOLDER = Path(__file__).parents[1] / 'golden'
SAMPLES = ['cells', 'failures', 'flaky']
# Where and by whom a run was made says nothing about the views.
LEFT_OUT = {'runs': {'argv', 'working_dir', 'host', 'user', 'buck2_revision', 'revision', 'errors', 'error', 'instance_source',
                     'instance_proved'}}


def public_views(db):
    sql = "SELECT name FROM sqlite_schema WHERE type = 'view' AND substr(name, 1, 1) <> '_' ORDER BY name"
    return [r['name'] for r in samples.rows(db, sql)]


def shown(value):
    return '' if value is None else repr(value) if isinstance(value, float) else str(value)


def table(db, view):
    """The view as CSV text: header, then its rows, sorted as text."""
    found = samples.rows(db, f'SELECT * FROM "{view}"')
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
    update(samples.load(*SAMPLES, historical=True))
