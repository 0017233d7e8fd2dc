"""Each public view over the golden samples; `golden.py --update` writes the files anew."""
import pytest

import golden


@pytest.fixture(scope='module')
def db():
    return golden.database()


def names():
    return sorted(path.stem for path in golden.FOLDER.glob('*.csv'))


def test_every_view_has_its_file(db):
    assert names() == golden.public_views(db)


@pytest.mark.parametrize('view', names())
def test_view(db, view):
    assert golden.table(db, view) == (golden.FOLDER / f'{view}.csv').read_text()
