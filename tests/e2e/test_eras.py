"""Logs of Buck2 from 2023 to today, and of one that says more: the same build gives the same
rows, but for what the log of that time does not hold, which is unknown."""
import copy
import gzip
import os
import subprocess

import pytest

import harness
from eras import ERAS, later_lines, later_pb, rewrite_lines, rewrite_pb

TABLES = {'run': 'run_id', 'action': 'run_id, span_id', 'attempt': 'run_id, span_id, idx', 'attempt_text': 'run_id, span_id, idx',
          'action_text': 'run_id, span_id', 'action_name': 'name_id', 'lookup': 'lookup_id', 'result': 'result_id',
          'path_step': 'run_id, path, idx', 'build_graph': 'run_id'}
WORDS = {'rule_id': 'SELECT rule_id, name FROM rule', 'use_case_id': 'SELECT rule_id, name FROM rule',
         'detail_id': 'SELECT rule_id, name FROM rule', 'platform_id': 'SELECT platform_id, properties FROM platform'}


def stem(root):
    return next(root.glob('*.pb.zst')).name.removesuffix('.pb.zst')


def stream(root, ending):
    """The recorded run, decompressed."""
    if ending == '.pb':
        return subprocess.run(['zstd', '-dcq', root / f'{stem(root)}.pb.zst'], check=True, stdout=subprocess.PIPE).stdout
    return gzip.decompress((root / f'{stem(root)}.json-lines.gz').read_bytes())


def rows_of(br2, folder, root, ending, data):
    """{table: its rows} after an ingest of the bytes as one log."""
    folder.mkdir()
    log, db = folder / f'{stem(root)}{ending}', folder / 'br2.db'
    log.write_bytes(data)
    br2.run(log, '--db', db, '--no-remote', '--no-report')
    (file,) = harness.rows(db, 'SELECT ending, malformed, too_large, note FROM log_file')
    assert file == {'ending': 'whole', 'malformed': 0, 'too_large': 0, 'note': None}
    return {table: spelled(db, harness.rows(db, f'SELECT * FROM {table} ORDER BY {key}')) for table, key in TABLES.items()}


def spelled(db, found):
    """The rows with words in place of their numbers, which tell in which order words came."""
    for column, sql in WORDS.items():
        words = {None: None, **dict(tuple(row.values()) for row in harness.rows(db, sql))}
        for row in found:
            if column in row:
                row[column] = words[row[column]]
    return found


@pytest.fixture(scope='module', params=['.pb', '.json-lines'])
def today(request, tmp_path_factory):
    """(ending, the recorded log's bytes, their rows)"""
    folder, root, ending = tmp_path_factory.mktemp('today'), harness.LOGS / 'encodings', request.param
    data = stream(root, ending)
    return ending, data, rows_of(harness.Program(os.environ['BR2_INGEST'], folder), folder / 'log', root, ending, data)


@pytest.mark.parametrize('count', range(1, len(ERAS) + 1), ids=[f'until_{era.until}' for era in ERAS])
def test_each_era(br2, tmp_path, today, count):
    """All that changed from then to today is taken back at once."""
    ending, data, rows = today
    rewrite, eras, want = rewrite_pb if ending == '.pb' else rewrite_lines, ERAS[:count], copy.deepcopy(rows)
    then = rewrite(data, eras)
    assert then != rewrite(data, eras[:-1]), 'the recorded log has what the era lacks'
    for era in eras:
        for (table, column), known in era.rows.items():
            for row in want[table]:
                row[column] = known(row[column])
    assert len(want['attempt']) == 70 and any(row['exit_code'] == 0 for row in want['attempt'])
    got = rows_of(br2, tmp_path / 'then', harness.LOGS / 'encodings', ending, then)
    expect_near(want['run'], got['run'])
    assert got == want


def expect_near(want, got):
    """A header without a start time: the first event's stands for it, which came within a second."""
    for a, b in zip(want, got, strict=True):
        assert abs(a.pop('start_ns') - b.pop('start_ns')) < 10**9


def test_what_may_come_is_passed_over(br2, tmp_path, today):
    """All but the numbers of records is equal."""
    ending, data, rows = today
    later, want = (later_pb if ending == '.pb' else later_lines)(data), copy.deepcopy(rows)
    got = rows_of(br2, tmp_path / 'later', harness.LOGS / 'encodings', ending, later)
    for table, column in (('action', 'seq'), ('lookup', 'first_seq'), ('build_graph', 'seq')):
        for row in want[table] + got[table]:
            del row[column]
    assert got == want
