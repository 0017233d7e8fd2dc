"""Types of the columns of the views of sizes, as a spreadsheet gets them: names and words are texts, even where they look
like a number or a date, and all else are numbers."""
import pytest

from samples import rows
from sizes import GIB, S, POOLS, Sized

TEXTS = {'pool', 'project', 'run', 'package', 'category', 'shape', 'invocation', 'verdict', 'reason', 'heavy', 'adds',
         'keeps', 'drops', 'not_seen'}
FAMILIES = ['worker_sizing', 'shape_fit', 'package_sizes', 'waste', 'heavy_packages', 'heavy_json']
ODD = ['1-2', '2026-11-30', '007', '1e5', '12:30']  # names that are none


@pytest.fixture(scope='module')
def db():
    made = Sized(**{'3-4': '5/6'})
    times = {p: 10**18 + i * S for i, p in enumerate(('fetch_start', 'fetch_completed', 'execution_start', 'execution_completed',
                                                      'upload_start', 'upload_completed'))}
    for name in ODD:
        for number in range(30):
            made.add('3-4', name, name, wall_ns=70 * S, rss=GIB, peak=2 * GIB, samples=4, times=times,
                     allotment={**POOLS[1], 'pool': ODD[number % 2]})
    made.made.lists('5/6', ['8-9', ODD[0]])
    return made.made.finish()


def views(db):
    names = [r['name'] for r in rows(db, "SELECT name FROM sqlite_schema WHERE type = 'view'")]
    return [n for n in names if any(n == f or n.startswith(f + '_by_') for f in FAMILIES)]


def test_all_are_looked_at(db):
    assert len(views(db)) == 17


def test_texts_are_texts_and_numbers_numbers(db):
    for view in views(db):
        found = rows(db, f'SELECT * FROM {view}')
        assert found, view
        for row in found:
            for column, value in row.items():
                if value is not None:
                    assert isinstance(value, str if column in TEXTS else (int, float)), (view, column, value)


def test_names_come_out_as_they_are(db):
    assert {r['package'] for r in rows(db, 'SELECT package FROM package_sizes')} == set(ODD)
    assert {r['category'] for r in rows(db, 'SELECT category FROM shape_fit')} == {*ODD, '*'}
    assert {r['pool'] for r in rows(db, 'SELECT pool FROM waste')} == set(ODD[:2])
