"""The wrapper cleans the logs of its cold runs away: their hours still come out, under the right cells."""
import collections
import os

import pytest

import harness
from harness import rows


@pytest.fixture(scope='module')
def db(tmp_path_factory, server):
    """What the wrapper leaves: warm logs, and the results of cold runs."""
    folder = tmp_path_factory.mktemp('cells')
    program = harness.Program(os.environ['BR2_INGEST'], folder)
    root = harness.copy_sample('cells', folder)
    program.run(root, '--db', folder / 'br2.db', '--endpoint', server.address, '--no-report')
    return folder / 'br2.db'


def salts():
    """trace id -> salt, of the runs whose logs are there and of those whose logs are gone."""
    runs = harness.expected('cells')['runs'] + harness.expected('cells-lost')['runs']
    return {run['trace_id']: run['config'].get('br2.cache_salt') for run in runs}


def hours():
    """trace id -> (hours, results with usage) of the results that it executed."""
    sums = collections.defaultdict(lambda: [0, 0])
    for result in harness.expected('cells')['results']:
        if 'cpu_ns' in result:
            sums[result['invocation_id']][0] += result['wall_ns'] / 3.6e12
            sums[result['invocation_id']][1] += 1
    return sums


def test_hours_of_cold_runs(db):
    """Each executing invocation of a measured cell is one row, with or without its log."""
    cold = {r['invocation']: r for r in rows(db, 'SELECT * FROM cells WHERE hours > 0')}
    wanted = {trace: sums for trace, sums in hours().items() if salts()[trace]}
    assert cold.keys() == wanted.keys()
    for trace, (wall, count) in wanted.items():
        row = cold[trace]
        assert row['hours'] == pytest.approx(wall, abs=0.51e-6)
        assert (row['with_usage'], row['salt'], row['run']) == (count, salts()[trace], 'cold')
        variant, _, mode = row['salt'].rpartition('-')[0].partition('-')
        assert (row['variant'], row['mode']) == (variant, mode)


def test_rows_of_runs_whose_log_is_gone(db):
    logged = {run['trace_id'] for run in harness.expected('cells')['runs']}
    for row in rows(db, 'SELECT * FROM cells'):
        known = row['invocation'] in logged
        assert row['log_known'] == known
        assert (row['commands'] is not None, row['seconds'] is not None, row['ok'] is not None) == (known,) * 3


def test_rows_of_runs_with_a_log(db):
    """The wrapper's own columns, for every measured run; the viewcheck run is in no cell."""
    found = {r['invocation']: r for r in rows(db, 'SELECT * FROM cells WHERE log_known')}
    runs = {r['trace_id']: r for r in harness.expected('cells')['runs'] if 'br2.cache_salt' in r['config']}
    assert found.keys() == runs.keys()
    for trace, run in runs.items():
        row, kinds = found[trace], run['execution_kinds']
        assert (row['ok'], row['commands'], row['cached']) == (1, run['actions'], run['cache_hits'])
        assert (row['remote'], row['local']) == (kinds.get('remote', 0), kinds.get('local', 0))
        assert row['run'] == ('warm' if run['cache_hits'] == run['actions'] else 'cold')
        assert row['salt'] == run['config']['br2.cache_salt']


def test_with_the_lost_logs_the_hours_are_the_same(db, tmp_path, server):
    """The logs that `clean` took add facts to the rows, and move no hour."""
    program = harness.Program(os.environ['BR2_INGEST'], tmp_path)
    both = tmp_path / 'both.db'
    roots = [harness.copy_sample(name, tmp_path) for name in ('cells', 'cells-lost')]
    program.run(*roots, '--db', both, '--endpoint', server.address, '--no-report')
    columns = 'SELECT invocation, variant, mode, run, salt, hours, with_usage FROM cells WHERE hours > 0 ORDER BY 1'
    assert rows(both, columns) == rows(db, columns)
    assert rows(both, 'SELECT * FROM cells WHERE NOT log_known') == []


def test_executions(db):
    """One row an executing invocation, also those whose log is gone."""
    found = {r['invocation']: r for r in rows(db, 'SELECT * FROM executions')}
    wanted = hours()
    assert found.keys() == wanted.keys()
    logged = {run['trace_id'] for run in harness.expected('cells')['runs']}
    for trace, (_, count) in wanted.items():
        assert found[trace]['with_usage'] == count
        assert found[trace]['run'] == (trace if trace in logged else None)
        assert found[trace]['salt'] == salts()[trace]
