"""On each recorded sample, every figure of its expected.json, from the real server."""
import collections
import os

import pytest

import harness
from harness import rows, value

EXECUTION_KINDS = {0: 'not_set', 1: 'local', 2: 'remote', 3: 'action_cache'}
TIMES = {
    'queued': 'queued', 'worker_start': 'worker_start', 'worker_completed': 'worker_completed',
    'input_fetch_start': 'fetch_start', 'input_fetch_completed': 'fetch_completed',
    'execution_start': 'execution_start', 'execution_completed': 'execution_completed',
    'output_upload_start': 'upload_start', 'output_upload_completed': 'upload_completed',
}
USAGE = ['user_ns', 'system_ns', 'minor_faults', 'major_faults', 'block_in', 'block_out',
         'voluntary_ctx', 'involuntary_ctx']


class Stored:
    """A sample as it stands in a database of its own."""

    def __init__(self, name, folder, server):
        self.name = name
        self.expected = harness.expected(name)
        self.db = folder / 'br2.db'
        self.root = harness.copy_sample(name, folder)
        self.program = harness.Program(os.environ['BR2_INGEST'], folder)
        self.program.run(*harness.paths_of(name, self.root), '--db', self.db, '--endpoint', server.address,
                         '--instance', self.expected['instance'], '--no-report')

    def from_cache(self):
        return [r for r in self.expected['results'] if r['source'] == 'action_cache']

    def with_usage(self):
        return [r for r in self.from_cache() if 'cpu_ns' in r]


@pytest.fixture(scope='module', params=harness.SAMPLES)
def sample(request, tmp_path_factory, server):
    return Stored(request.param, tmp_path_factory.mktemp(request.param), server)


def by_digest(records):
    found = {r['digest']: r for r in records}
    assert len(found) == len(records), 'a digest appears twice'
    return found


def unknown(text):
    """'' in expected.json is NULL in ours."""
    return text if text else None


# ---- runs ------------------------------------------------------------------------------

RUN = """
SELECT trace_id, start_ns, complete, working_dir, json_array_length(argv) AS argc,
    (SELECT count(*) FROM action a WHERE a.run_id = r.run_id AND type = 1) AS actions,
    (SELECT count(*) FROM action a WHERE a.run_id = r.run_id AND type <> 1) AS tests,
    (SELECT count(*) FROM action a WHERE a.run_id = r.run_id AND type = 1 AND failed) AS failed,
    (SELECT count(*) FROM attempt a WHERE a.run_id = r.run_id) AS attempts,
    (SELECT count(*) FROM attempt a WHERE a.run_id = r.run_id AND cache_hit > 0) AS cache_hits,
    (SELECT count(DISTINCT lookup_id) FROM attempt a WHERE a.run_id = r.run_id) AS remote_digests,
    (SELECT count(*) FROM attempt_text a WHERE a.run_id = r.run_id
        AND message LIKE '%/historical_execute_response/%') AS historical_links
FROM run r ORDER BY trace_id"""


def test_runs(sample):
    runs = rows(sample.db, RUN)
    assert [r['trace_id'] for r in runs] == sorted({r['trace_id'] for r in sample.expected['runs']})
    for run in runs:
        (wanted,) = [r for r in sample.expected['runs'] if r['trace_id'] == run['trace_id']]
        assert run == {key: wanted[key] for key in run}


def test_config(sample):
    for run in sample.expected['runs']:
        stored = rows(sample.db, 'SELECT key, value FROM run_config JOIN run USING (run_id) WHERE trace_id = ?',
                      run['trace_id'])
        assert {r['key']: r['value'] for r in stored} == run['config']


def test_execution_kinds(sample):
    for run in sample.expected['runs']:
        stored = rows(sample.db, 'SELECT execution_kind AS kind, count(*) AS n FROM action JOIN run USING (run_id)'
                      ' WHERE trace_id = ? AND type = 1 GROUP BY 1', run['trace_id'])
        assert {EXECUTION_KINDS[r['kind']]: r['n'] for r in stored} == run['execution_kinds']


IN_FLIGHT = """
SELECT nullif(c.name, '') AS category, lower(hex(f.hash)) || ':' || f.size_bytes AS digest,
    n.identifier, t.label, f.start_ns
FROM in_flight f JOIN run USING (run_id) JOIN action_name n USING (name_id)
    JOIN category c USING (category_id) JOIN target t USING (target_id)
WHERE trace_id = ? ORDER BY label"""


def test_in_flight(sample):
    for run in sample.expected['runs']:
        wanted = sorted(run['in_flight'], key=lambda f: f['label'])
        assert rows(sample.db, IN_FLIGHT, run['trace_id']) == wanted


# ---- results ---------------------------------------------------------------------------

RESULT = """
SELECT lower(hex(l.hash)) || ':' || l.size_bytes AS digest, t.label, nullif(c.name, '') AS category,
    nullif(n.identifier, '') AS identifier, r.wall_ns, r.cpu_ns, r.max_rss_bytes, r.exit_code,
    r.termination_signal, w.name AS worker, q.invocation, m.*, u.*
FROM result r JOIN lookup l USING (lookup_id) JOIN action_name n ON n.name_id = r.name_id
    JOIN target t ON t.target_id = n.target_id JOIN category c ON c.category_id = n.category_id
    LEFT JOIN worker w USING (worker_id) LEFT JOIN request q USING (request_id)
    LEFT JOIN _time m USING (result_id) LEFT JOIN rusage u USING (result_id)
WHERE r.source = 1"""

HISTORICAL = RESULT.replace('AS digest,', """AS digest, g.trace_id, r.attempt_span_id AS span,
    r.attempt_idx AS attempt, r.status_code,""").replace(
    'WHERE r.source = 1', 'JOIN run g ON g.run_id = r.attempt_run_id WHERE r.source = 2')


def times_of(row):
    times = {name: row[f'{column}_ns'] for name, column in TIMES.items()}
    return {name: ns for name, ns in times.items() if ns is not None}


def check_result(got, want):
    assert (got['wall_ns'], got['exit_code']) == (want['wall_ns'], want['exit_code'])
    assert (got['worker'], got['invocation']) == (unknown(want['worker']), want.get('invocation_id'))
    assert (got['cpu_ns'], got['max_rss_bytes']) == (want.get('cpu_ns'), unknown(want.get('max_rss_bytes')))
    assert got['termination_signal'] == unknown(want.get('termination_signal'))
    # A timestamp of 0 is none.
    assert times_of(got) == {name: ns for name, ns in want['times_ns'].items() if ns}
    assert {k: got[k] for k in USAGE} == {k: want.get(k) for k in USAGE}


def test_results(sample):
    stored = by_digest(rows(sample.db, RESULT))
    wanted = by_digest(sample.from_cache())
    assert stored.keys() == wanted.keys()
    for digest, want in wanted.items():
        got = stored[digest]
        assert {k: got[k] for k in ('label', 'category', 'identifier')} == \
            {k: unknown(want[k]) for k in ('label', 'category', 'identifier')}
        check_result(got, want)


def test_historical_results(sample):
    """Each hangs on the attempt that links it."""
    stored = {(r['trace_id'], r['span'], r['attempt']): r for r in rows(sample.db, HISTORICAL)}
    wanted = {(h['trace_id'], h['span'], h['attempt']): h for h in sample.expected['historical']}
    assert stored.keys() == wanted.keys()
    for place, want in wanted.items():
        got = stored[place]
        assert (got['digest'], got['label']) == (want['digest'], want['label'])
        assert got['status_code'] == want['usage']['status_code']
        check_result(got, want['usage'])


def test_results_keep_unknown_messages_only(sample):
    """Every auxiliary message of the recordings is one that is decoded."""
    assert value(sample.db, 'SELECT count(*) FROM aux_message') == 0


def test_usage_view(sample):
    """`usage` says the same, a row a digest: the cache's result, else the newest historical one."""
    stored = by_digest(rows(sample.db, 'SELECT * FROM usage'))
    wanted = by_digest([r for r in sample.expected['results'] if r['source']])
    assert stored.keys() == wanted.keys()
    for digest, want in wanted.items():
        got = stored[digest]
        assert got['source'] == want['source']
        assert (got['wall_ns'], got['cpu_ns'], got['exit_code']) == \
            (want['wall_ns'], want.get('cpu_ns'), want['exit_code'])
        assert (got['max_rss_bytes'], got['termination_signal']) == \
            (unknown(want.get('max_rss_bytes')), unknown(want.get('termination_signal')))
        assert (got['worker'], got['executed_by']) == (unknown(want['worker']), want.get('invocation_id'))
        assert (got['label'], got['major_faults']) == (want['label'], want.get('major_faults'))


def test_usage_view_of_failed_actions(sample):
    """What has no result but that of a failed execution."""
    stored = rows(sample.db, "SELECT digest, max_rss_bytes, exit_code, termination_signal FROM usage WHERE source = 'historical'")
    wanted = [r for r in sample.expected['results'] if r['source'] == 'historical']
    assert sorted((r['digest'], r['max_rss_bytes'], r['exit_code'], r['termination_signal']) for r in stored) == \
        sorted((r['digest'], r['max_rss_bytes'], r['exit_code'], unknown(r['termination_signal'])) for r in wanted)


def test_missing_results(sample):
    """Those that nobody has a record of."""
    missing = rows(sample.db, 'SELECT digest, reason FROM missing_results')
    wanted = {r['digest']: 'failed' for r in sample.expected['results'] if r['source'] is None}
    wanted.update({r['digest']: 'uploaded_by_client' for r in sample.from_cache() if 'cpu_ns' not in r})
    assert {r['digest']: r['reason'] for r in missing} == wanted
    assert len(missing) == len(wanted)


# ---- sums --------------------------------------------------------------------------------

def near(figure, digits):
    """A figure as a view rounds it."""
    return pytest.approx(figure, abs=0.5000001 * 10 ** -digits)


def test_summary(sample):
    (stored,) = rows(sample.db, 'SELECT * FROM summary')
    wanted, runs = sample.expected['summary'], sample.expected['runs']
    assert stored['runs'] == len(runs)
    assert stored['actions'] == sum(r['actions'] for r in runs)
    assert stored['tests'] == sum(r['tests'] for r in runs)
    assert stored['in_flight'] == sum(len(r['in_flight']) for r in runs)
    assert (stored['digests'], stored['with_usage']) == (wanted['of_digests'], wanted['stored_with_usage'])
    assert stored['wall_h'] == near(wanted['wall_s'] / 3600, 2)
    assert stored['cpu_h'] == near(wanted['cpu_s'] / 3600, 2)
    assert stored['avg_cores'] == near(wanted['average_cores'], 2)


def test_sums_unrounded(sample):
    (stored,) = rows(sample.db, "SELECT sum(wall_ns) AS wall, sum(cpu_ns) AS cpu FROM usage"
                     " WHERE source = 'action_cache' AND cpu_ns IS NOT NULL")
    wanted = sample.expected['summary']
    assert stored['wall'] / 1e9 == pytest.approx(wanted['wall_s'], rel=1e-12)
    assert stored['cpu'] / 1e9 == pytest.approx(wanted['cpu_s'], rel=1e-12)


def test_wall_time_buckets(sample):
    stored = rows(sample.db, 'SELECT * FROM wall_time_buckets')
    assert [r['from_s'] for r in stored] == [0, 5, 20, 60, 300]
    assert [r['wall_time'] for r in stored] == ['0-5 s', '5-20 s', '20-60 s', '60-300 s', '300+ s']
    wanted = {b['from_s']: b for b in sample.expected['buckets']}
    for bucket in stored:
        want = wanted.get(bucket['from_s'])
        if want is None:
            assert bucket['actions'] == 0
            continue
        assert bucket['actions'] == want['actions']
        assert bucket['wall_pct'] == near(want['wall_pct'], 1)
        assert bucket['avg_cores'] == near(want['avg_cores'], 2)
        assert bucket['p90_cores'] == near(want['p90_cores'], 2)
        assert bucket['max_rss_gib'] == near(want['max_rss_bytes'] / 2**30, 2)


def test_executed_by(sample):
    """One result a digest: the action cache's, else that of a failed execution."""
    stored = rows(sample.db, 'SELECT executed_by, count(*) AS n FROM usage GROUP BY 1')
    wanted = collections.Counter(str(r.get('invocation_id')) for r in sample.expected['results'] if r['source'])
    assert {str(r['executed_by']): r['n'] for r in stored} == wanted
    assert {k: n for k, n in wanted.items() if k != 'None'} == \
        {k: n for k, n in sample.expected['executed_by'].items() if k != 'None'}


def test_signals(sample):
    """Every execution that ended on a signal, those of later successes too."""
    stored = rows(sample.db, 'SELECT r.termination_signal AS signal, lower(hex(l.hash)) AS hash FROM result r'
                  ' JOIN lookup l USING (lookup_id) WHERE r.termination_signal IS NOT NULL')
    usages = [(r['digest'], r) for r in sample.from_cache()]
    usages += [(h['digest'], h['usage']) for h in sample.expected['historical']]
    wanted = [(u['termination_signal'], d.split(':')[0]) for d, u in usages if u.get('termination_signal')]
    assert sorted((r['signal'], r['hash']) for r in stored) == sorted(wanted)


# ---- what is shown -------------------------------------------------------------------------

TEN_KEYS = ['digest', 'category', 'id', 'worker', 'wall_s', 'cpu_s', 'cores', 'max_rss_gib', 'major_faults',
            'termination_signal']


def test_report_json(sample):
    import json
    shown = json.loads(sample.program.run('report', '--db', sample.db, '--all', '--json').stdout)
    wanted = by_digest(sample.with_usage())
    shown_by_digest = by_digest(shown)
    assert shown_by_digest.keys() == wanted.keys()
    for digest, want in wanted.items():
        got = shown_by_digest[digest]
        assert list(got)[:10] == TEN_KEYS
        assert got['wall_s'] == pytest.approx(want['wall_ns'] / 1e9, abs=1e-3)
        assert got['cpu_s'] == pytest.approx(want['cpu_ns'] / 1e9, abs=1e-3)
        assert got['major_faults'] == want['major_faults']


def test_report_first_lines(sample):
    """The script's own line, to the digit."""
    shown = sample.program.run('report', '--db', sample.db, '--all').stdout
    wanted = sample.expected['summary']
    assert '%d of %d actions have a stored result | wall %.2f h | cpu %.2f h | average %.2f cores' % (
        wanted['stored_with_usage'], wanted['of_digests'], wanted['wall_s'] / 3600, wanted['cpu_s'] / 3600,
        wanted['average_cores']) in shown
