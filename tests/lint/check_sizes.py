#!/usr/bin/python3
"""Holds files to 600 lines and C functions to 80, and says how long they are.

usage: check_sizes.py [ROOT]

A C function runs from a `{` to a `}` that both stand alone in the first
column, as .clang-format lays it.
"""
import sys
from pathlib import Path

FILE_MAX = 600
FUNCTION_MAX = 80
SOURCES = ['ingest/**/*.[ch]', 'tests/**/*.[ch]', 'tests/**/*.py', 'bench/**/*.[ch]', 'bench/**/*.py',
           'scripts/*', 'bench/run', 'tests/**/*.sh', 'queries/*.sql']


def functions(lines):
    """Yields (line of the `{`, lines from `{` to `}`)."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == '{':
            start = number
        elif line == '}' and start is not None:
            yield start, number - start + 1
            start = None


def spread(sizes):
    """(median, p90, largest) of a non-empty list."""
    ordered = sorted(sizes)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 9 // 10)], ordered[-1]


def sources(root):
    found = {path for pattern in SOURCES for path in Path(root).glob(pattern) if path.is_file()}
    return sorted(path for path in found if '__pycache__' not in path.parts)


def check(root):
    """(problems, lines of each file, lines of each function of ingest/)."""
    problems, file_sizes, function_sizes = [], [], []
    for path in sources(root):
        lines = path.read_text().splitlines()
        name = path.relative_to(root)
        if len(lines) > FILE_MAX:
            problems.append(f'{name}: {len(lines)} lines, more than {FILE_MAX}')
        if name.parts[0] == 'ingest':
            file_sizes.append(len(lines))
        if path.suffix != '.c':
            continue
        for start, size in functions(lines):
            if size > FUNCTION_MAX:
                problems.append(f'{name}:{start}: a function of {size} lines, more than {FUNCTION_MAX}')
            if name.parts[0] == 'ingest':
                function_sizes.append(size)
    return problems, file_sizes, function_sizes


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2]
    problems, file_sizes, function_sizes = check(root)
    if problems:
        print('\n'.join(problems))
    print('lines of a file in ingest/: median %d, p90 %d, largest %d' % spread(file_sizes))
    print('lines of a function in ingest/: median %d, p90 %d, largest %d' % spread(function_sizes))
    return bool(problems)


if __name__ == '__main__':
    sys.exit(main())
