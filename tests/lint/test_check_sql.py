"""Each rule of check_sql.py, by a breach that it must find in a copy of the SQL."""
import shutil
from pathlib import Path

import pytest

import check_sql

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path):
    for folder in ('queries', 'schema'):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def broken(copy, name, old, new):
    path = copy / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return '\n'.join(check_sql.check(copy))


def test_the_sql_holds_the_rules():
    assert check_sql.check(ROOT) == []


@pytest.mark.parametrize('name, old, new, found', [
    ('queries/summary.sql', '    -- The whole file in one row.', '    --', 'README.md is stale'),
    ('queries/summary.sql', 'runs,       -- runs whose log was read', 'runs,', 'summary: column runs is not documented'),
    ('queries/summary.sql', 'CREATE VIEW summary (', 'CREATE VIEW summaries (', 'summaries is not of the family of summary.sql'),
    ('queries/summary.sql', 'wall_h,     --', 'wall_H,     --', 'wall_H is not snake_case'),
    ('queries/summary.sql', 'wall_h,     --', 'total_wall, --', 'total_wall has no unit'),
    ('queries/summary.sql', 'CREATE VIEW summary (', '-- first\nCREATE VIEW summary (', 'begins with something else'),
    ('queries/runs.sql', 'SELECT c.run, j.name', 'SELECT c.*, j.name', 'runs: SELECT *'),
    ('queries/runs.sql', 'FROM _run_count c JOIN run g', 'FROM summary c JOIN run g', 'runs: reads the public view summary'),
    ('queries/_worker.sql', "instr(w.name, l.opening) > 0", "json_valid(w.name)", '_worker: calls a JSON function'),
    ('schema/0001_init.sql', '    -- Names of projects.\n', '', 'project: does not say what one row is'),
    ('schema/README.md', '# Tables', '# The tables', 'schema/README.md is stale'),
])
def test_a_breach_is_found(copy, name, old, new, found):
    assert found in broken(copy, name, old, new)


def test_a_view_without_description(copy):
    text = (copy / 'queries/_phase.sql').read_text()
    head = text.splitlines()[1]
    assert '_phase: does not say what one row is' in broken(copy, 'queries/_phase.sql', head + '\n', '')
