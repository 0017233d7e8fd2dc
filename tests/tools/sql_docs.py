#!/usr/bin/python3
"""What schema/ and queries/ say about themselves: their comments, parsed, and the two
README.md made of them.

usage: sql_docs.py --update      writes schema/README.md and queries/README.md

A statement's comments stand inside of it, so that SQLite keeps them: right after the
opening parenthesis what one row is, then each column with its own behind it or, going
on, below it.
"""
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
CREATE = re.compile(r'^CREATE (VIEW|TABLE) (\w+) \(\n', re.M)
STATEMENT_END = re.compile(r'^\) (?:AS|STRICT)', re.M)
CONSTRAINTS = ('PRIMARY', 'UNIQUE', 'FOREIGN', 'CHECK', 'CONSTRAINT')


@dataclass
class Column:
    name: str
    type: str = ''
    doc: str = ''


@dataclass
class Object:
    kind: str
    name: str
    path: Path
    doc: str = ''
    columns: list = field(default_factory=list)
    body: str = ''  # a view's SELECT


def split_comment(line):
    """('code', 'comment' or None); a -- inside quotes is code."""
    quoted = False
    for at, char in enumerate(line):
        if char == "'":
            quoted = not quoted
        if not quoted and line.startswith('--', at):
            return line[:at].strip(), line[at + 2:].strip()
    return line.strip(), None


def split_columns(code):
    """The comma-separated parts outside of parentheses."""
    parts, depth, part = [], 0, ''
    for char in code:
        depth += (char == '(') - (char == ')')
        if char == ',' and depth == 0:
            parts.append(part.strip())
            part = ''
        else:
            part += char
    return [p for p in [*parts, part.strip()] if p]


def read_head(object, text):
    """The lines between the parentheses. A comment of its own goes on with the column above it,
    or, where it is not indented further than a column, begins what is said of the next one."""
    heading = ''
    for line in text.splitlines():
        code, comment = split_comment(line)
        if not code:
            if not object.columns:
                object.doc = f'{object.doc} {comment or ""}'.strip()
            elif line.startswith('     '):
                object.columns[-1].doc = f'{object.columns[-1].doc} {comment or ""}'.strip()
            else:
                heading = f'{heading} {comment or ""}'.strip()
            continue
        names = []
        for part in split_columns(code):
            word, _, rest = part.partition(' ')
            if word in CONSTRAINTS or not re.fullmatch(r'[a-z_]\w*', word):
                continue
            names.append(Column(word, re.sub(r'GENERATED.*', 'generated', rest)))
        if names and comment:
            names[-1].doc = comment
        if names and heading:
            names[0].doc, heading = f'{heading} {names[0].doc}'.strip(), ''
        object.columns += names


def parse(path):
    text = path.read_text()
    objects = []
    for match in CREATE.finditer(text):
        end = STATEMENT_END.search(text, match.end())
        object = Object(match.group(1), match.group(2), path)
        read_head(object, text[match.end():end.start()])
        object.body = text[end.end():text.index(';\n', end.end()) if ';\n' in text[end.end():] else len(text)]
        objects.append(object)
    return objects


def listed(folder, root=ROOT):
    text = re.sub(r'#.*', '', (root / folder / 'CMakeLists.txt').read_text())
    return [root / folder / name for name in re.findall(r'\w+\.sql', text)]


def views(root=ROOT):
    return [o for path in listed('queries', root) for o in parse(path)]


def tables(root=ROOT):
    return [o for path in listed('schema', root) for o in parse(path) if o.kind == 'TABLE']


def cell(text):
    return text.replace('|', '\\|').replace('<', '&lt;')


def section(object):
    lines = [f'### `{object.name}`', '', cell(object.doc), '', '| column | |', '|---|---|']
    lines += [f'| `{c.name}` | {cell(c.doc)} |' for c in object.columns]
    return lines + ['']


QUERIES_HEAD = """# Canned views

Made by `tests/tools/sql_docs.py --update` from the comments in these files; `.schema NAME` in the
`sqlite3` shell shows the same. They need no extension, and answer in the stock shell from 3.40 on.

- `X` is about the whole file, `X_by_project` and `X_by_run` have `project` or `run` (the trace id) as
  their first column. Filter it by a literal or a bound parameter, `= '…'`, `GLOB '83f0*'` or `IN ('…', '…')`:
  such a filter is a search. `LIKE` and subqueries are not.
- `X_by_invocation` has `invocation` as its first column: the trace id of the run that executed, whose log may be gone.
- `run_compare` and `run_compare_packages` hold each two runs side by side: filter both `run_a` and `run_b`.
- Views whose names begin with `_` are what the others are made of. They may change without notice,
  and are where a rule can be changed: drop one and create your own of the same columns; an ingest leaves it alone.
- Thresholds are rows of table `setting`; a row that you delete comes back with its default. `mode`, `variant` and `oom_pattern` can be added to as well.
- NULL is unknown. *Counted* results are those of the action cache with usage; a hit counts for the run
  that executed it, never for the one that was spared it. max RSS is one process, never a sum; cores are averages.
- What changes, and how long old names stay: [CHANGES.md](CHANGES.md).

| view | one row is |
|---|---|
"""
SCHEMA_HEAD = """# Tables

Made by `tests/tools/sql_docs.py --update` from the comments in these files. Tables have singular names; what
people query are the [views](../queries/README.md). Integers are ns, µs or bytes and named so, times are since the
Unix epoch, NULL is unknown. Files are numbered steps: a released one is never edited, a change is a new one.

"""


def first_sentence(doc):
    return re.split(r'(?<=[.:;]) |(?<=\.)$', doc)[0].rstrip('.:;')


def queries_readme(root=ROOT):
    found = views(root)
    public = [v for v in found if not v.name.startswith('_')]
    lines = [f'| [`{v.name}`](#{v.name}) | {cell(first_sentence(v.doc))} |' for v in public]
    lines += ['', '## Public views', '']
    for view in public:
        lines += section(view)
    lines += ['## Helpers', '', '| view | |', '|---|---|']
    lines += [f'| `{v.name}` | {cell(v.doc)} |' for v in found if v.name.startswith('_')]
    return QUERIES_HEAD + '\n'.join(lines) + '\n'


def schema_readme(root=ROOT):
    lines = []
    for table in tables(root):
        lines += [f'## `{table.name}`', '', cell(table.doc), '', '| column | type | |', '|---|---|---|']
        lines += [f'| `{c.name}` | {cell(c.type)} | {cell(c.doc)} |' for c in table.columns]
        lines += ['']
    return SCHEMA_HEAD + '\n'.join(lines).rstrip('\n') + '\n'


READMES = {'queries/README.md': queries_readme, 'schema/README.md': schema_readme}

if __name__ == '__main__':
    if sys.argv[1:] != ['--update']:
        sys.exit(__doc__)
    for name, make in READMES.items():
        (ROOT / name).write_text(make())
