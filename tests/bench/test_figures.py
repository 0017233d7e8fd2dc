"""The bench's arithmetic: which way a ratio stands, what a median is, what reaches a goal and what breaks."""
import sqlite3
import subprocess
import sys

import pytest

import made
import page
import pairs
import storing
from pairs import Cost

OURS, THEIRS = Cost(wall=2.0, cpu=1.0), Cost(wall=6.0, cpu=4.0)


def test_ratios_are_ours_to_theirs():
    assert pairs.ratios([(OURS, THEIRS)]) == [2 / 6]
    assert pairs.ratios([(OURS, THEIRS)], 'cpu') == [1 / 4]
    assert pairs.times_faster([(OURS, THEIRS)]) == [pytest.approx(3)]
    assert pairs.times_faster([(OURS, THEIRS)], 'cpu') == [4]
    assert pairs.beyond([(THEIRS, OURS)]) == [4000]


def test_pairs_take_turns_after_one_to_warm_up():
    calls = []
    found = pairs.paired(2, lambda: calls.append('ours') or len(calls), lambda: calls.append('theirs') or len(calls))
    assert calls == ['ours', 'theirs'] * 3
    assert found == [(3, 4), (5, 6)]


def test_cost_counts_the_cpu_of_all_that_was_started():
    busy = 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
    spent = pairs.cost(['sh', '-c', f'sh -c "{busy.replace("$", chr(92) + "$")}"; true'])
    assert 0.01 < spent.cpu < 30
    idle = pairs.cost(['sleep', '0.3'])
    assert idle.wall >= 0.3 > idle.cpu


def test_a_command_that_fails_ends_the_bench():
    with pytest.raises(SystemExit, match='exit 3'):
        pairs.cost(['sh', '-c', 'exit 3'])
    with pytest.raises(SystemExit, match='exit 4'):
        pairs.peaked(['sh', '-c', 'exit 4'])


def test_the_peak_is_the_childs_not_that_of_a_large_parent():
    ballast = bytearray(300 << 20)
    ballast[::4096] = b'x' * len(ballast[::4096])
    _, small = pairs.peaked(['true'])
    _, large = pairs.peaked([sys.executable, '-c', 'b = bytearray(100 << 20); b[::4096] = b"x" * len(b[::4096])'])
    assert small < 40e6 < 100 << 20 <= large < 200 << 20


def row(values, **goal):
    return page.Row('a row', values, **goal)


@pytest.mark.parametrize('values, goal, reached, broken', [
    ([1.0, 1.2, 9.0], {'goal': 1.25}, True, False),  # the median counts, not the mean
    ([1.3, 1.3, 0.1], {'goal': 1.25}, False, False),
    ([2.6, 2.6, 0.1], {'goal': 1.25}, False, True),
    ([2.6, 2.6, 0.1], {'goal': 1.25, 'gross': 4}, False, False),
    ([2.0, 3.0, 1.0], {'goal': 2, 'at_least': True}, True, False),
    ([1.9, 1.5, 9.0], {'goal': 2, 'at_least': True}, False, False),
    ([0.9, 0.9, 9.0], {'goal': 2, 'at_least': True}, False, True),
    ([900.0], {}, True, False),
    ([0], {'goal': 0, 'gross': 10}, True, False),
    ([1], {'goal': 0, 'gross': 10}, False, False),
])
def test_goals(values, goal, reached, broken):
    assert (row(values, **goal).reached(), row(values, **goal).broken()) == (reached, broken)


def test_a_row_says_what_it_must_reach_and_whether_it_does():
    assert row([1.5, 1.25, 1.75], goal=1.25).text() == '| a row | <= 1.25x | 1.50x | 1.25x - 1.75x | **NOT REACHED** |'
    assert row([150.0, 99.0, 2000.0], goal=100, at_least=True).text() == '| a row | >= 100x | 150x | 99.00x - 2000x | reached |'
    assert row([12.34], goal=64, unit='MB').text() == '| a row | <= 64 MB | 12.3 MB |  | reached |'
    assert row([0.5, 0.5]).text() == '| a row |  | 0.50x | 0.50x - 0.50x |  |'


def test_the_page_counts_goals_and_puts_tables_last():
    table = page.Table('Sizes', 'Of tables.', ['name', 'bytes'], [['action', 53]])
    text = page.page(['Words.'], [('one', 'By counting.')], [row([1.0], goal=2), table, row([3.0], goal=2), row([5.0])])
    assert '## How\n\n- **one**: By counting.\n' in text
    assert '1 of 2 goals are reached.' in text
    assert text.endswith('## Sizes\n\nOf tables.\n\n| name | bytes |\n| --- | ---: |\n| action | 53 |\n')
    assert text.count('| a row |') == 3


def test_sizes_tell_of_every_page(tmp_path):
    db = tmp_path / 'sizes.db'
    connection = sqlite3.connect(db)
    connection.executescript('CREATE TABLE action (a); CREATE TABLE result (r); CREATE INDEX action_by_a ON action (a);')
    connection.executemany('INSERT INTO action VALUES (?)', ((i,) for i in range(10_000)))
    connection.commit()
    connection.close()
    found, actions, results = made.sizes(db)
    assert (actions, results) == (10_000, 0)
    assert sum(size for *_, size in found) == db.stat().st_size
    assert {name: table for table, name, _ in found}['action_by_a'] == 'action'


def test_what_time_views_prints_is_understood():
    lines = ('  0.412 s >  0.30   6.12 scans     21 rows  SELECT * FROM packages\n'
             '  0.012 s <= 0.30   0.18 scans      7 rows  SELECT * FROM runs\n')
    assert made.VIEW.findall(lines) == [('0.412', '0.30', '21', 'SELECT * FROM packages'),
                                        ('0.012', '0.30', '7', 'SELECT * FROM runs')]


def test_the_import_script_brings_the_same_rows(tmp_path):
    ready, theirs = tmp_path / 'ready.db', tmp_path / 'theirs.db'
    connection = sqlite3.connect(ready)
    connection.executescript('CREATE TABLE pair (a INTEGER PRIMARY KEY, b BLOB,'
                             ' c INTEGER GENERATED ALWAYS AS (a / (1 + 1)) VIRTUAL) STRICT;'
                             'CREATE TABLE none (a ANY) STRICT; CREATE INDEX pair_by_b ON pair (b);')
    connection.executemany('INSERT INTO pair VALUES (?, ?)', ((i, bytes([i, 255])) for i in range(100)))
    connection.commit()
    connection.close()
    script = storing.import_script(ready, tmp_path)
    subprocess.run(['sqlite3', '-bail', theirs, f'.read {script}'], check=True)
    assert storing.row_counts(theirs) == storing.row_counts(ready) == {'none': 0, 'pair': 100}
