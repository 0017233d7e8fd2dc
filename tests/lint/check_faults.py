#!/usr/bin/python3
"""Each test that tests/FAULTS.md names is there, and each fault names one.

usage: check_faults.py [ROOT]
"""
import re
import sys
from pathlib import Path

NAMED = re.compile(r'`([\w/.]+)::(test_\w+)`')


def defines(path, test):
    function = r'^static void %s\(' if path.suffix == '.c' else r'^def %s\('
    return path.exists() and re.search(function % test, path.read_text(), re.M)


def check(root):
    tests = Path(root) / 'tests'
    problems = []
    for number, line in enumerate((tests / 'FAULTS.md').read_text().splitlines(), 1):
        if not line.startswith('| ') or line.startswith('| fault |'):
            continue
        named = NAMED.findall(line)
        problems += [] if named else [f'tests/FAULTS.md:{number}: names no test']
        problems += [f'tests/FAULTS.md:{number}: {file} has no {test}()' for file, test in named if not defines(tests / file, test)]
    return problems


if __name__ == '__main__':
    found = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    print('\n'.join(found) or 'every fault has its tests')
    sys.exit(bool(found))
