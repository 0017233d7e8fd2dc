"""SQLite fails where a database is merged, pruned, brought up to date or asked: as in test_store_faults.py."""
import pytest

from faults import Faulty, sweep
from test_prune import age, traces
from test_store_faults import BOTH, begun, known, roots  # noqa: F401 fixtures
from test_upgrade import STEPS, make


@BOTH
def test_in_a_merge(br2, known, begun, tmp_path, everywhere):
    before = known.read_bytes()
    sweep('a merge', Faulty(br2, tmp_path, ['merge', known], begun), everywhere, 40)
    assert known.read_bytes() == before


@BOTH
def test_in_a_prune(br2, known, tmp_path, everywhere):
    age(known, traces(known)[:3])
    sweep('a prune', Faulty(br2, tmp_path, ['prune', '--keep', '90d'], known), everywhere, 20)


@pytest.mark.parametrize('version', [1, len(STEPS) - 1, *(pytest.param(n, marks=pytest.mark.long)
                                                          for n in range(2, len(STEPS) - 1))])
def test_in_an_upgrade(br2, roots, tmp_path, version):
    old = tmp_path / 'old.db'
    make(old, version)
    sweep(f'an upgrade from {version}', Faulty(br2, tmp_path, [roots[0], '--no-report', '--no-remote'], old), False, 30)


# ---- reading -------------------------------------------------------------------------------------------

@BOTH
@pytest.mark.parametrize('words', [
    ['report', '--all'], ['report', '--all', '--html', 'page.html'], ['export', '--csv', 'sheets'],
    ['compare', 'last-1', 'last', '--project', 'failures'], ['plan', '--shape', 'small=1.5,2GiB,4GiB'],
    ['check', '--all', '--max-rss', '100GiB'], ['check', '--integrity'], ['views', 'usage', '--format', 'csv']], ids=' '.join)
def test_in_a_question(br2, known, tmp_path, words, everywhere):
    before = known.read_bytes()
    sweep(' '.join(words), Faulty(br2, tmp_path, words, known), everywhere, 2)
    assert known.read_bytes() == before
