#!/usr/bin/python3
"""Every source is named in the CMakeLists.txt that builds or runs it.

usage: check_listed.py [ROOT]

A file that is not listed is not built, not embedded, not run, and nobody sees it.
"""
import re
import sys
from pathlib import Path

# (files, the lists that may name them, what a list says for a file)
RULES = [
    ('ingest/**/*.c', ['ingest/CMakeLists.txt'], lambda p, base: str(p.relative_to(base))),
    ('schema/*.sql', ['schema/CMakeLists.txt'], lambda p, base: p.name),
    ('queries/*.sql', ['queries/CMakeLists.txt'], lambda p, base: p.name),
    ('proto/*.proto', ['proto/CMakeLists.txt'], lambda p, base: p.name),
    ('tests/unit/test_*.c', ['tests/unit/CMakeLists.txt'], lambda p, base: p.stem.removeprefix('test_')),
    ('tests/**/test_*.py', ['tests/CMakeLists.txt', 'tests/*/CMakeLists.txt'],
     lambda p, base: p.stem.removeprefix('test_')),
    ('tests/lint/check_*', ['tests/CMakeLists.txt', 'tests/lint/CMakeLists.txt'],
     lambda p, base: p.name),
]


def check(root):
    root = Path(root)
    problems = []
    for pattern, list_patterns, entry in RULES:
        lists = [path for p in list_patterns for path in sorted(root.glob(p))]
        text = '\n'.join(re.sub(r'#.*', '', path.read_text()) for path in lists)
        words = set(re.findall(r'[\w./-]+', text))
        for path in sorted(root.glob(pattern)):
            if entry(path, root / pattern.split('/')[0]) not in words:
                problems.append(f'{path.relative_to(root)}: not listed in {" or ".join(list_patterns)}')
    return problems


if __name__ == '__main__':
    found = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    print('\n'.join(found) or 'every file is listed')
    sys.exit(bool(found))
