#!/usr/bin/python3
"""Holds queries/ and schema/ to their rules.

usage: check_sql.py [ROOT]

Each view documents itself and every column inside its CREATE statement; names are
snake_case and carry their unit; a public view lists its columns and reads tables,
helpers or its own family only; no view calls a JSON function, which SQLite 3.40 does
not run in a database that is not trusted; both README.md are what the comments say.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / 'tools'))
import sql_docs  # noqa: E402

# Last words of a name that measure something and so need a unit behind them.
MEASURES = {'wall', 'cpu', 'rss', 'time', 'duration', 'size', 'memory', 'queued', 'fetch', 'upload', 'longest', 'average'}
PROMISED = {'wall_time'}  # named so in the promise: a class, not a measure
SNAKE = re.compile(r'_?[a-z][a-z0-9]*(_[a-z0-9]+)*')
FORMS = ('', '_by_project', '_by_run', '_by_invocation', '_by_package')


def without_comments(sql):
    return '\n'.join(sql_docs.split_comment(line)[0] for line in sql.splitlines())


def check_names(view, file_name):
    problems = []
    if view.name not in [file_name + form for form in FORMS] and not (file_name.startswith('_') and view.name.startswith('_')):
        problems.append(f'{view.name} is not of the family of {file_name}.sql')
    for name in [view.name, *(c.name for c in view.columns)]:
        if not SNAKE.fullmatch(name):
            problems.append(f'{view.name}: {name} is not snake_case')
        if name.split('_')[-1] in MEASURES - {'queued'} | ({'queued'} if '_' in name else set()) and name not in PROMISED \
                and name != view.name:
            problems.append(f'{view.name}: {name} has no unit')
    return problems


def check_docs(view):
    problems = [] if view.doc else [f'{view.name}: does not say what one row is']
    columns = view.columns if not view.name.startswith('_') else view.columns[:1]
    problems += [f'{view.name}: column {c.name} is not documented' for c in columns if not c.doc]
    return problems + ([] if view.columns else [f'{view.name}: names no columns'])


def check_body(view, file_name, known):
    sql = without_comments(view.body)
    problems = []
    if re.search(r'\bjson_?\w*\(', sql):
        problems.append(f'{view.name}: calls a JSON function')
    if view.name.startswith('_'):
        return problems
    if re.search(r'SELECT\s+(\w+\.)?\*|,\s*\w+\.\*', sql):
        problems.append(f'{view.name}: SELECT *')
    for source in re.findall(r'\b(?:FROM|JOIN)\s+(\w+)', sql):
        if source in known and not source.startswith('_') and source != file_name:
            problems.append(f'{view.name}: reads the public view {source} of another family')
    return problems


def check(root):
    root = Path(root)
    problems = []
    views = sql_docs.views(root)
    known = {v.name for v in views}
    for view in views:
        file_name = view.path.stem
        problems += check_names(view, file_name) + check_docs(view) + check_body(view, file_name, known)
    for path in sorted((root / 'queries').glob('*.sql')):
        outside = sql_docs.CREATE.split(path.read_text())[0]
        if not sql_docs.parse(path) or '--' in outside:
            problems.append(f'queries/{path.name}: begins with something else than CREATE VIEW name (')
    problems += [f'{t.name}: does not say what one row is' for t in sql_docs.tables(root) if not t.doc]
    for name, make in sql_docs.READMES.items():
        if not (root / name).exists() or (root / name).read_text() != make(root):
            problems.append(f'{name} is stale: tests/tools/sql_docs.py --update')
    return problems


if __name__ == '__main__':
    found = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    print('\n'.join(found) or 'the SQL documents itself')
    sys.exit(bool(found))
