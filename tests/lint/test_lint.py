"""Each lint fails on the breach that it is there for, and passes without it."""
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import check_faults
import check_hardening
import check_help
import check_layers
import check_listed
import check_sizes
import check_tests

HERE = Path(__file__).parent


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def only(problems, *words):
    assert len(problems) == 1, problems
    for word in words:
        assert word in problems[0]


@pytest.mark.parametrize('name, text, words', [
    ('ingest/stream.c', '#include "decode.h"\n', ['stages stream and decode']),
    ('ingest/decode.c', '#include <zlib.h>\n', ['<zlib.h> belongs to util/unpack']),
    ('ingest/decode.c', '#include <archive.h>\n', ['<archive.h> has no owner']),
    ('ingest/model.h', '#include "store.h"\n', ['higher layer']),
    ('ingest/util/buf.c', '#include "model.h"\n', ['higher layer']),
    ('ingest/cmd_x.c', '#include "cmd_y.h"\n', ['verbs do not know each other']),
    ('ingest/report.c', '#include "lookup.h"\n', ['knows the store alone']),
    ('ingest/strange.c', '', ['belongs to no layer']),
    ('ingest/store.c', '#include "strange.h"\n', ['belongs to no layer']),
])
def test_layers_breach(tmp_path, name, text, words):
    write(tmp_path, {name: text})
    only(check_layers.check(tmp_path), f'{name}:1:', *words)


def test_layers_own_header_first(tmp_path):
    write(tmp_path, {'ingest/store.h': '', 'ingest/store.c': '#include <stdio.h>\n#include "store.h"\n'})
    only(check_layers.check(tmp_path), 'ingest/store.c:1:', 'not first')


def test_layers_pass(tmp_path):
    write(tmp_path, {
        'ingest/store.h': '#include "model.h"\n',
        'ingest/store.c': '#include "store.h"\n#include <sqlite3.h>\n',
        'ingest/lookup_http2.c': '#include "config.h"\n#include <nghttp2/nghttp2.h>\n',
        'ingest/result.c': '#include "digest.h"\n#include <reapi.pb-c.h>\n',
        'ingest/pipeline.c': '#include "store.h"\n#include "discover.h"\n',
        'ingest/cmd_x.c': '#include "cmd.h"\n#include "pipeline.h"\n',
    })
    assert check_layers.check(tmp_path) == []


def test_sizes_breach(tmp_path):
    function = 'int f(void)\n{\n' + '\tg();\n' * 79 + '}\n'
    write(tmp_path, {'ingest/f.c': function, 'tests/unit/test_g.c': '\n' * 601})
    problems, _, _ = check_sizes.check(tmp_path)
    assert problems == ['ingest/f.c:2: a function of 81 lines, more than 80',
                        'tests/unit/test_g.c: 601 lines, more than 600']


def test_sizes_pass(tmp_path):
    write(tmp_path, {'ingest/f.c': 'int f(void)\n{\n' + '\tg();\n' * 78 + '}\n' + '\n' * 519})
    assert check_sizes.check(tmp_path) == ([], [600], [80])


def c_test(body, row='cmocka_unit_test(test_a)', helper=''):
    return (f'{helper}static void test_a(void **state)\n{{\n\t(void)state;\n{body}}}\n\n'
            f'int main(void)\n{{\n\tconst struct CMUnitTest tests[] = {{{row}}};\n}}\n')


@pytest.mark.parametrize('text, word', [
    (c_test('\tf();\n'), 'test_a() asserts nothing'),
    (c_test('\tassert_true(f());\n', row='cmocka_unit_test(test_b)'), 'is in no cmocka_unit_test() row'),
    (c_test('\tassert_true(f());\n\tskip();\n'), 'skips a test'),
    ('int main(void)\n{\n\treturn 0;\n}\n', 'holds no test'),
])
def test_tests_cmocka_breach(tmp_path, text, word):
    write(tmp_path, {'tests/unit/test_a.c': text})
    only(check_tests.check(tmp_path), 'tests/unit/test_a.c', word)


def test_tests_cmocka_pass(tmp_path):
    helper = 'static void same(int a)\n{\n\tassert_int_equal(a, 1);\n}\n\n'
    maker = '#define ROW(f) cmocka_unit_test_setup_teardown(f, g, h)\n'
    write(tmp_path, {'tests/unit/test_a.c': c_test('\tsame(1);\n', helper=helper),
                     'tests/unit/test_b.c': c_test('\tassert_true(f());\n', helper=maker, row='ROW(test_a)')})
    assert check_tests.check(tmp_path) == []


@pytest.mark.parametrize('text, word', [
    ('def test_a():\n    f()\n', 'test_a() asserts nothing'),
    ('def test_a():\n    pytest.skip()\n    assert f()\n', 'skips a test'),
    ('X = 1\n', 'holds no test'),
])
def test_tests_pytest_breach(tmp_path, text, word):
    write(tmp_path, {'tests/e2e/test_a.py': text})
    only(check_tests.check(tmp_path), 'tests/e2e/test_a.py', word)


def test_tests_pytest_pass(tmp_path):
    write(tmp_path, {'tests/e2e/harness.py': 'def same(a):\n    assert a\n',
                     'tests/e2e/test_a.py': 'def test_a():\n    same(f())\n'})
    assert check_tests.check(tmp_path) == []


@pytest.mark.parametrize('name', ['ingest/util/x.c', 'queries/x.sql', 'schema/0009_x.sql', 'tests/unit/test_x.c',
                                  'tests/sql/test_x.py', 'tests/lint/check_x.py'])
def test_listed_breach(tmp_path, name):
    write(tmp_path, {name: ''})
    only(check_listed.check(tmp_path), name, 'not listed')


def test_listed_pass(tmp_path):
    write(tmp_path, {'ingest/util/x.c': '', 'ingest/CMakeLists.txt': 'br2_library(br2_util util/x.c)\n',
                     'tests/unit/test_y.c': '', 'tests/unit/CMakeLists.txt': 'br2_unit_test(y)\n'})
    assert check_listed.check(tmp_path) == []


MANUAL = """.Sh DESCRIPTION
.It Fl q Fl -quiet
.Sh COMMANDS
.Ss report
.It Fl -top Ar N
"""
HELP = {
    '--help': 'usage: x\n  report   shows\n',
    'report --help': 'usage: x report\n  -q, --quiet      say less\n      --top N      how many\n',
}


def help_problems(root, replies):
    """What check_help finds of a program that prints these helps."""
    cases = ''.join(f"'{arguments}') printf '%s' '{text}';;\n" for arguments, text in {**HELP, **replies}.items())
    program = root / 'program'
    program.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}esac\n')
    program.chmod(0o755)
    write(root, {'ingest/br2-ingest.1': MANUAL})
    return [problem for problem in check_help.check(root, program) if not problem.startswith('mandoc:')]


@pytest.mark.parametrize('verb, text, words', [
    ('report --help', HELP['report --help'] + '      --new        news\n', ['--new', 'not in the manual']),
    ('report --help', HELP['report --help'].replace('      --top N      how many\n', ''),
     ['--top', 'not in --help']),
    ('report --help', HELP['report --help'] + 'x' * 81 + '\n', ['81 columns']),
    ('--help', HELP['--help'] + '  views    lists\n', ['views', 'not in the manual']),
])
def test_help_breach(tmp_path, verb, text, words):
    only(help_problems(tmp_path, {verb: text}), *words)


def test_help_pass(tmp_path):
    assert help_problems(tmp_path, {}) == []


def style(root):
    subprocess.run(['git', 'init', '-q', root], check=True)
    (root / '.clang-format').write_text((HERE.parents[1] / '.clang-format').read_text())
    return subprocess.run([HERE / 'check_style.sh', root], capture_output=True, text=True)


@pytest.mark.parametrize('name, text, word', [
    ('a.c', 'int  a;\n', 'clang-format'),
    ('a.sh', '#!/bin/sh\necho $1\n', 'shellcheck'),
    ('a.1', '.Dd today\n', 'mandoc'),
    ('a.txt', 'word \n', 'white space'),
    ('a.txt', 'word', 'no newline'),
    ('a.txt', 'see /home/' + 'somebody/x\n', 'the path of a machine'),
])
def test_style_breach(tmp_path, name, text, word):
    write(tmp_path, {name: text})
    result = style(tmp_path)
    assert result.returncode == 1
    assert word in result.stdout


def test_style_pass(tmp_path):
    write(tmp_path, {'a.c': 'int a;\n', 'a.sh': '#!/bin/sh\necho "$1"\n', 'a.txt': 'see /home/br2/x\n'})
    result = style(tmp_path)
    assert (result.returncode, result.stdout) == (0, 'style holds\n')


def elf_of(tmp_path, *flags):
    """What readelf tells of a small program that is built with these flags."""
    (tmp_path / 'a.c').write_text('#include <stdio.h>\nint main(int n, char **v) { char t[64]; '
                                  'snprintf(t, (size_t)n, "%s", v[0]); return puts(t); }\n')
    subprocess.run(['cc', tmp_path / 'a.c', '-o', tmp_path / 'a', *flags], check=True)
    return subprocess.run(['readelf', '-hldnsW', tmp_path / 'a'], check=True, capture_output=True, text=True).stdout


HARD = ['-O2', '-fPIE', '-pie', '-fstack-protector-strong', '-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=3',
        '-Wl,-z,relro,-z,now,-z,noexecstack']


@pytest.mark.parametrize('flags, problem', [
    (['-no-pie', '-fno-PIE'], 'not position independent'), (['-Wl,-z,norelro'], 'no RELRO segment'),
    (['-Wl,-z,lazy'], 'symbols are bound while it runs'), (['-Wl,-z,execstack'], 'the stack is executable'),
    (['-Wl,-rpath,/x'], 'libraries are sought beside it (RPATH)'), (['-fno-stack-protector'], 'no stack protector'),
    (['-U_FORTIFY_SOURCE'], 'no _FORTIFY_SOURCE')])
def test_hardening_of_a_program(tmp_path, flags, problem):
    elf = elf_of(tmp_path, *HARD)
    assert check_hardening.of_program(elf) == []
    assert check_hardening.of_program(elf_of(tmp_path, *HARD, *flags)) == [problem]


def test_hardening_of_a_build():
    text = 'build ingest/a.c.o: C_COMPILER a.c\n  DEP_FILE = x\n  FLAGS = -O2 {}\n\nbuild tests/b.c.o: C\n  FLAGS = -O2\n'
    good = ' '.join((*check_hardening.FLAGS, '-D_FORTIFY_SOURCE=3'))
    assert check_hardening.of_build(text.format(good)) == []
    for flag in good.split():
        assert check_hardening.of_build(text.format(good.replace(flag, ''))) == [f'ingest/a.c.o: compiled without {flag}']


@pytest.mark.parametrize('row, words', [
    ('| a fault | what is right | by hand |', ['names no test']),
    ('| a fault | what is right | `unit/test_a.c::test_gone` |', ['test_a.c has no test_gone()']),
    ('| a fault | what is right | `e2e/test_b.py::test_b` |', ['test_b.py has no test_b()']),
])
def test_faults_breach(tmp_path, row, words):
    head = '| fault | what is right | test |\n|---|---|---|\n| cut | kept | `unit/test_a.c::test_a` |\n'
    write(tmp_path, {'tests/FAULTS.md': head, 'tests/unit/test_a.c': 'static void test_a(void **state)\n{\n}\n'})
    assert check_faults.check(tmp_path) == []
    write(tmp_path, {'tests/FAULTS.md': head + row + '\n'})
    only(check_faults.check(tmp_path), 'tests/FAULTS.md:4:', *words)
