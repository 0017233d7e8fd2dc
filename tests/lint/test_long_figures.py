"""tests/LONG.md: a part that is run again replaces its own figures, and no other's."""
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[1] / 'tools/long_figures.py'


def put(page, part, *figures, code=0):
    noted = page.with_name('noted')
    noted.write_text(''.join('\t'.join(figure) + '\n' for figure in figures))
    done = subprocess.run([sys.executable, TOOL, page, part, noted], check=False, stderr=subprocess.PIPE)
    assert done.returncode == code
    return page.read_text() if page.exists() else None


def test_a_part_replaces_its_own_figures(tmp_path):
    page = tmp_path / 'LONG.md'
    put(page, 'coverage', ('lines', '93.6 %', 'of 23,388'))
    first = put(page, 'tests', ('kills: ingest', '12', 'of 30'), ('kills: merge', '3', 'of 4'), ('minutes', '2', 'on abc'))
    assert first.index('## tests') < first.index('\n15 kills in all.\n') < first.index('## coverage')
    again = put(page, 'tests', ('kills: ingest', '13', 'of 30'), ('minutes', '4', 'on def'))
    assert '| kills: ingest | 13 | of 30 |' in again and '\n13 kills in all.\n' in again
    assert 'merge' not in again and 'abc' not in again
    assert '| lines | 93.6 % | of 23,388 |' in again and again.count('## ') == 2


def test_a_part_that_is_none(tmp_path):
    assert put(tmp_path / 'LONG.md', 'views', code=1) is None
