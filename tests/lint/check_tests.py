#!/usr/bin/python3
"""A test that cannot fail, or is never run, is none: finds those.

usage: check_tests.py [ROOT]

cmocka: each `static void test_x(void **state)` asserts, itself or through what
it calls in its file or in those that several tests share, and is named in a
cmocka_unit_test() row. pytest: each test_x() asserts, itself or through what it
calls in its file or in a harness module. Neither may be skipped.
"""
import ast
import re
import sys
from pathlib import Path

C_FUNCTION = re.compile(r'^[\w\s*]+?\b(\w+)\([^;]*?\)\n\{\n(.*?)^\}', re.M | re.S)
C_ASSERT = re.compile(r'\b(assert_\w+|fail|fail_msg|check_expected\w*|expect_\w+)\s*\(')
C_CALL = re.compile(r'\b(\w+)\s*\(')
C_MACRO = re.compile(r'^#define (\w+)\([^)]*\)((?:.*\\\n)*.*)', re.M)
C_TEST = re.compile(r'^static void (test_\w+)\(void \*\*', re.M)
C_SKIP = re.compile(r'\bskip\s*\(\s*\)')


def reach(asserting, calls):
    """The functions that assert, or call one that does, and so on."""
    asserting = set(asserting)
    while True:
        more = {f for f, called in calls.items() if f not in asserting and called & asserting}
        if not more:
            return asserting
        asserting |= more


def c_functions(path):
    """name -> body, macros among them."""
    text = path.read_text()
    bodies = {m.group(1): m.group(2) for m in C_FUNCTION.finditer(text)}
    bodies.update(C_MACRO.findall(text))
    return bodies


def c_rows(text):
    """The functions in cmocka_unit_test() rows, or in rows of a macro for such ones."""
    makers = [name for name, body in C_MACRO.findall(text) if 'cmocka_unit_test' in body]
    return set(re.findall(r'\b(?:%s)\(\s*(\w+)' % '|'.join([r'cmocka_unit_test\w*', *makers]), text))


def check_cmocka(path, helpers):
    text = path.read_text()
    bodies = {**helpers, **c_functions(path)}
    asserting = reach((f for f, b in bodies.items() if C_ASSERT.search(b)),
                      {f: set(C_CALL.findall(b)) for f, b in bodies.items()})
    rows = c_rows(text)
    tests = C_TEST.findall(text)
    problems = [f'{f}() asserts nothing' for f in tests if f not in asserting]
    problems += [f'{f}() is in no cmocka_unit_test() row' for f in tests if f not in rows]
    problems += ['skips a test'] if C_SKIP.search(text) else []
    return problems if tests else problems + ['holds no test']


def name_of(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, 'id', '')


def py_functions(path):
    """name -> (asserts itself, names it calls)."""
    functions = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        called = {name_of(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
        # A fixture that is asked for by name is called by pytest.
        if isinstance(node, ast.FunctionDef):
            called |= {a.arg for a in node.args.args}
        asserts = any(isinstance(n, ast.Assert) for n in ast.walk(node)) or 'raises' in called
        functions[node.name] = (asserts, called)
    return functions


def skips(path):
    return any(name_of(node) in ('skip', 'skipif', 'xfail', 'importorskip', 'SkipTest')
               for node in ast.walk(ast.parse(path.read_text())))


def check_pytest(path, harness):
    functions = {**harness, **py_functions(path)}
    # A fixture that asserts makes no test: only what the test calls does.
    calls = {f: called for f, (_, called) in functions.items()}
    asserting = reach((f for f, (asserts, _) in functions.items() if asserts), calls)
    tests = [f for f in py_functions(path) if f.startswith('test_')]
    problems = [f'{f}() asserts nothing' for f in tests if f not in asserting]
    problems += ['skips a test'] if skips(path) else []
    return problems if tests else problems + ['holds no test']


def check(root):
    root = Path(root)
    harness, helpers = {}, {}
    for path in sorted(root.glob('tests/**/*.py')):
        if not path.name.startswith('test_'):
            harness.update(py_functions(path))
    for path in sorted(root.glob('tests/**/*.[ch]')):
        if not path.name.startswith('test_'):
            helpers.update(c_functions(path))
    problems = []
    for path in sorted(root.glob('tests/**/test_*.c')):
        problems += [f'{path.relative_to(root)}: {p}' for p in check_cmocka(path, helpers)]
    for path in sorted(root.glob('tests/**/test_*.py')):
        problems += [f'{path.relative_to(root)}: {p}' for p in check_pytest(path, harness)]
    return problems


if __name__ == '__main__':
    found = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    print('\n'.join(found) or 'every test can fail')
    sys.exit(bool(found))
