"""Results of failed attempts: blobs of the CAS that their messages link."""
import base64
import gzip
import hashlib
import itertools
import json
import random

import pytest

import cas
import harness
from cas import digest, part
from harness import rows, value
from test_laws import digest_of, dump
from test_samples import TIMES, USAGE, times_of, unknown

SAMPLES = ['failures', 'flaky']
BLOBS = cas.recorded()


def ingest(br2, db, server, *paths, code=0):
    return br2.run(*paths, '--db', db, '--endpoint', server.address, '--no-report', code=code)


# ---- the recorded ones ---------------------------------------------------------------------

HISTORICAL = """
SELECT g.trace_id, h.span_id AS span, h.idx AS attempt, t.label, nullif(n.identifier, '') AS identifier,
    l.digest, lower(hex(h.hash)) || ':' || h.size_bytes AS link, h.function, h.state, r.wall_ns, r.cpu_ns,
    r.max_rss_bytes, r.exit_code, r.termination_signal, r.status_code, r.status_message, w.name AS worker,
    q.invocation, m.*, u.*
FROM historical h JOIN run g USING (run_id) JOIN attempt a USING (run_id, span_id, idx)
    JOIN action b USING (run_id, span_id) JOIN lookup l ON l.lookup_id = a.lookup_id
    JOIN action_name n ON n.name_id = b.name_id JOIN target t USING (target_id)
    LEFT JOIN result r ON r.source = 2 AND r.attempt_run_id = h.run_id AND r.attempt_span_id = h.span_id
        AND r.attempt_idx = h.idx AND r.lookup_id = l.lookup_id
    LEFT JOIN worker w USING (worker_id) LEFT JOIN request q USING (request_id)
    LEFT JOIN _time m USING (result_id) LEFT JOIN rusage u USING (result_id)
ORDER BY g.trace_id, span"""


def assert_historical(db, *samples):
    """Each row of `historical` in the samples' expected.json, to the nanosecond, and no other."""
    stored = rows(db, HISTORICAL)
    wanted = sorted((w for s in samples for w in harness.expected(s)['historical']), key=lambda w: (w['trace_id'], w['span']))
    assert len(stored) == len(wanted) > 0
    for got, want in zip(stored, wanted):
        usage = want['usage']
        keys = ('trace_id', 'span', 'attempt', 'label', 'identifier', 'digest', 'link')
        assert {k: got[k] for k in keys} == {k: want[k] for k in keys}
        assert (got['function'], got['state'], got['status_code'], got['status_message']) == \
            (cas.SHA256, 1, usage['status_code'], None)
        assert (got['wall_ns'], got['cpu_ns'], got['max_rss_bytes'], got['exit_code']) == \
            (usage['wall_ns'], usage['cpu_ns'], usage['max_rss_bytes'], usage['exit_code'])
        assert got['termination_signal'] == unknown(usage['termination_signal'])
        assert (got['worker'], got['invocation']) == (usage['worker'], usage['invocation_id'])
        assert times_of(got) == {name: usage['times_ns'][name] for name in TIMES if usage['times_ns'].get(name)}
        assert {k: got[k] for k in USAGE} == {k: usage[k] for k in USAGE}


@pytest.mark.parametrize('sample', SAMPLES)
def test_each_row_of_the_sample(br2, project, server, tmp_path, sample):
    db = tmp_path / 'br2.db'
    said = ingest(br2, db, server, project(sample))
    assert_historical(db, sample)
    count = len(harness.expected(sample)['historical'])
    assert f'{count} results of failed actions asked of the CAS: {count} stored, 0 not there any more' in said.stderr


def test_any_order(br2, project, server, tmp_path):
    """One log at a time: the rows are those of all at once."""
    logs = [log for name in SAMPLES for log in harness.log_files(project(name))]
    together = tmp_path / 'together.db'
    ingest(br2, together, server, *logs)
    assert_historical(together, *SAMPLES)
    for seed in range(3):
        db = tmp_path / f'{seed}.db'
        for log in random.Random(seed).sample(logs, len(logs)):
            ingest(br2, db, server, log)
        assert dump(db) == dump(together)


def test_killed_then_fine_keeps_both(br2, project, server, tmp_path):
    """In both orders of execution and of ingest; `usage` shows the action cache's."""
    logs = harness.log_files(project('flaky'))
    for number, order in enumerate(itertools.permutations(logs)):
        db = tmp_path / f'{number}.db'
        for log in order:
            ingest(br2, db, server, log)
        both = rows(db, "SELECT n.identifier, group_concat(ifnull(r.termination_signal, 'none')) AS ended FROM"
                    ' (SELECT * FROM result ORDER BY source) r JOIN action_name n USING (name_id) GROUP BY 1 ORDER BY 1')
        assert both == [{'identifier': 'fails-then-works', 'ended': 'none,KILL'},
                        {'identifier': 'remote-fails-local-works', 'ended': 'none'},
                        {'identifier': 'works-then-fails', 'ended': 'none,KILL'}]
        assert rows(db, 'SELECT identifier, source FROM usage ORDER BY 1') == [
            {'identifier': 'fails-then-works', 'source': 'action_cache'},
            {'identifier': 'remote-fails-local-works', 'source': 'historical'},
            {'identifier': 'works-then-fails', 'source': 'action_cache'}]


def test_the_digests_page_shows_both(br2, project, server, tmp_path):
    """The action cache's first."""
    db = tmp_path / 'br2.db'
    ingest(br2, db, server, project('flaky'))
    (both,) = [h for h in harness.expected('flaky')['historical'] if h['identifier'] == 'fails-then-works']
    (page,) = json.loads(br2.run('digest', '--json', both['digest'], '--db', db).stdout)
    assert [(r['source'], r['exit_code'], r['termination_signal'], r['run'], r['attempt']) for r in page['results']] == \
        [('action_cache', 0, None, None, None), ('historical', -1, 'KILL', both['trace_id'], 0)]


# ---- asked once ------------------------------------------------------------------------------

def test_nothing_wanted_asks_nobody(br2, project, server, tmp_path):
    roots, db = [project(name) for name in SAMPLES], tmp_path / 'br2.db'
    ingest(br2, db, server, *roots)
    before = digest_of(db)
    with harness.Listener() as listener:
        for more in ([], ['--retry-missing']):
            br2.run(*roots, '--db', db, '--endpoint', f'127.0.0.1:{listener.port}', '--no-report', *more)
        assert listener.connections == 0
    assert digest_of(db) == before


def test_the_server_is_away_first(br2, project, server, tmp_path):
    root, db, whole = project('failures'), tmp_path / 'br2.db', tmp_path / 'whole.db'
    nobody = f'127.0.0.1:{harness.free_port()}'
    failed = br2.run(root, '--db', db, '--endpoint', nobody, '--no-report', code=2)
    # 3 results of the action cache, 9 of failed actions.
    assert f'{nobody} refuses: 12 results wanted' in failed.stderr
    assert value(db, 'SELECT count(*) FROM historical WHERE state = 0') == 9
    ingest(br2, db, server, root)
    ingest(br2, whole, server, root)
    assert dump(db) == dump(whole)


def test_an_outage_in_the_middle(br2, project, server, tmp_path):
    root, db, whole = project('failures'), tmp_path / 'br2.db', tmp_path / 'whole.db'
    ingest(br2, whole, server, root)
    outages = 0
    for limit in (3000, 5000, 7000, 9000):
        with harness.Relay(server.port, limit=limit, outage=1) as relay:
            br2.run(root, '--db', db, '--endpoint', f'127.0.0.1:{relay.port}', '--no-report')
        outages += relay.outages
        assert dump(db) == dump(whole)
        db.unlink()
    assert outages > 1


def test_recordings_hold_blobs(br2, project, server, tmp_path):
    root, recording = project('failures'), tmp_path / 'answers.jsonl'
    live, replayed = tmp_path / 'live.db', tmp_path / 'replayed.db'
    br2.run(root, '--db', live, '--endpoint', server.address, '--no-report', '--record', recording)
    br2.run(root, '--db', replayed, '--no-report', '--replay', recording)
    assert dump(live) == dump(replayed)
    assert recording.read_text().count('"method":"ReadBlob"') == 9


# ---- caches that forget -------------------------------------------------------------------------

def without(folder, *digests):
    """The recorded cache without these blobs."""
    folder.mkdir()
    (folder / 'action_results.jsonl.gz').write_bytes((harness.LOGS / 'cache/action_results.jsonl.gz').read_bytes())
    with gzip.open(folder / 'blobs.jsonl.gz', 'wt') as out:
        for digest, data in BLOBS.items():
            if digest not in digests:
                out.write(json.dumps({'digest': digest, 'data': base64.b64encode(data).decode()}) + '\n')
    return folder


def test_vanished_blobs(br2, project, server, tmp_path):
    """Some of a batch, then found; a blob that was found is not asked again."""
    root, db, whole = project('failures'), tmp_path / 'br2.db', tmp_path / 'whole.db'
    links = {h['label']: h['link'] for h in harness.expected('failures')['historical']}
    gone = {'root//:bad-oom', 'root//:test-fail'}
    with harness.Server(tmp_path) as forgetful:
        forgetful.load(without(tmp_path / 'cache', *(links[label] for label in gone)))
        said = ingest(br2, db, forgetful, root)
        assert '9 results of failed actions asked of the CAS: 7 stored, 2 not there any more' in said.stderr
        lost = rows(db, "SELECT t.label, f.no_result FROM _failure f JOIN action_name n USING (name_id)"
                    ' JOIN target t USING (target_id) WHERE f.link_state = 2')
        assert {r['label']: r['no_result'] for r in lost} == dict.fromkeys(gone, 'its result is gone from the CAS')
        assert {r['label'] for r in rows(db, 'SELECT label FROM missing_results')} == \
            gone | {'root//:bad-start', 'root//:bad-timeout'}
        before = digest_of(db)
        # The run is old by now, as setting retry_missing_days has it, or not: it is asked either way.
        said = ingest(br2, db, forgetful, root, '--retry-missing')
        assert '2 results of failed actions asked of the CAS: 0 stored, 2 not there' in said.stderr
        assert digest_of(db) == before
    ingest(br2, db, server, root, '--retry-missing')
    ingest(br2, whole, server, root)
    assert dump(db) == dump(whole)


def test_a_cache_that_forgot_takes_nothing_away(br2, project, server, tmp_path):
    root, db = project('flaky'), tmp_path / 'br2.db'
    ingest(br2, db, server, root)
    before = digest_of(db)
    with harness.Server(tmp_path) as empty:
        ingest(br2, db, empty, root, '--retry-missing')
    assert digest_of(db) == before


def test_an_evicting_action_cache(br2, project, tmp_path, monkeypatch):
    """What succeeded is gone from the action cache, its failed execution is not gone from the CAS."""
    monkeypatch.setenv('BB_AC_BLOCK', '4096')
    root, db = project('flaky'), tmp_path / 'br2.db'
    with harness.Server(tmp_path) as small:
        small.load()  # flaky's two are not the last of many
        evicted = {r['digest'] for r in harness.expected('flaky')['results'] if r['source'] == 'action_cache'}
        ingest(br2, db, small, root)
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 0
    assert_historical(db, 'flaky')
    assert {r['digest']: r['source'] for r in rows(db, 'SELECT digest, source FROM usage')} == \
        dict.fromkeys(evicted | {h['digest'] for h in harness.expected('flaky')['historical']}, 'historical')


# ---- limits, functions, and blobs that are something else -------------------------------------------

def test_a_server_that_refuses_batches(br2, project, tmp_path):
    """A limit below what the nine blobs are together: each is read as a stream."""
    root, db = project('failures'), tmp_path / 'br2.db'
    links = [h['link'] for h in harness.expected('failures')['historical']]
    with harness.Server(tmp_path, '--max-msg', 2000) as strict:
        for link in links:
            assert cas.put(strict.address, BLOBS[link], 'demo-x86_64') == link
        ingest(br2, db, strict, root, '--instance', 'demo-x86_64')
    assert_historical(db, 'failures')


def remote_commands(record):
    """The details of each command that has a remote digest and no message."""
    if isinstance(record, dict):
        command = record.get('command_kind') or {}
        if 'additional_message' in record and 'RemoteCommand' in (command.get('command') or {}):
            yield record
        for member in record.values():
            yield from remote_commands(member)
    elif isinstance(record, list):
        for member in record:
            yield from remote_commands(member)


class Linked:
    """The recorded JSON log with links of the test's own: link(blob) of the n-th remote command's digest."""

    def __init__(self, folder):
        (self.path,) = harness.copy_sample('encodings', folder).glob('*.json-lines.gz')
        self.lines = [json.loads(line) for line in gzip.decompress(self.path.read_bytes()).splitlines()]
        commands = [c for line in self.lines for c in remote_commands(line)]
        self.commands = [c for c in commands if c['command_kind']['command']['RemoteCommand']['action_digest']]

    def action(self, number):
        return self.commands[number]['command_kind']['command']['RemoteCommand']['action_digest']

    def link(self, number, digest, function='sha256', prefix='http://h/demo-x86_64/'):
        self.commands[number]['additional_message'] = 'Action details (uncached result): ' \
            f'{prefix}blobs/{function}/historical_execute_response/{digest.replace(":", "-")}/'

    def write(self):
        log = self.path.with_suffix('')
        log.write_text('\n'.join(map(json.dumps, self.lines)) + '\n')
        return log


STATES = """SELECT h.state, h.message, l.digest FROM historical h JOIN attempt USING (run_id, span_id, idx)
JOIN lookup l USING (lookup_id)"""


def test_a_large_blob_is_streamed(br2, server, tmp_path):
    """3 MB: more than a batch of ours holds."""
    linked, db = Linked(tmp_path), tmp_path / 'br2.db'
    linked.link(0, cas.put(server.address, cas.about(linked.action(0), 3_000_000)))
    linked.link(1, cas.put(server.address, cas.about(linked.action(1))))
    ingest(br2, db, server, linked.write())
    assert [r['state'] for r in rows(db, STATES)] == [1, 1]
    assert value(db, 'SELECT count(*) FROM result WHERE source = 2 AND exit_code = 0') == 2


# As in tests/server/test_blobs.py; the digest of the action is SHA256 all the same.
@pytest.mark.parametrize('name, function', [('sha1', cas.SHA1), ('md5', cas.MD5), ('sha384', cas.SHA384),
                                            ('sha512', cas.SHA512), ('sha256tree', cas.SHA256TREE)])
def test_digest_functions(br2, server, tmp_path, name, function):
    linked, db = Linked(tmp_path), tmp_path / 'br2.db'
    for number, padding in enumerate([0, 10, 20]):
        blob = cas.about(linked.action(number), padding)
        hashed = hashlib.sha256(blob).hexdigest() if function == cas.SHA256TREE else None
        linked.link(number, cas.put(server.address, blob, '', function, hashed), name)
    ingest(br2, db, server, linked.write())
    assert {r['state'] for r in rows(db, STATES)} == {1}
    assert value(db, 'SELECT count(*) FROM historical WHERE function = ?', function) == 3


def test_blobs_that_are_something_else(br2, server, tmp_path):
    linked, db = Linked(tmp_path), tmp_path / 'br2.db'
    other = linked.action(9)
    blobs = [b'', b'\x00\xff no message', BLOBS[next(iter(BLOBS))], cas.about(other), cas.about(linked.action(4)[:-1] + '9')]
    for number, blob in enumerate(blobs):
        linked.link(number, cas.put(server.address, blob))
    linked.link(5, 'ab' * 32 + ':99')
    said = ingest(br2, db, server, linked.write())
    found = {r['digest']: (r['state'], r['message']) for r in rows(db, STATES)}
    no_result = 9, 'the bytes are not a HistoricalExecuteResponse'
    assert found == {linked.action(0): no_result, linked.action(1): no_result, linked.action(2): no_result,
                     linked.action(3): (10, f'the blob is about action {other}'),
                     linked.action(4): (10, f'the blob is about action {linked.action(4)[:-1]}9'),
                     linked.action(5): (2, None)}
    assert '5 messages of failed actions link what is not their result' in said.stderr
    assert value(db, 'SELECT count(*) FROM result WHERE source = 2') == 0
    # What they are they stay: only what is gone is worth a question.
    said = ingest(br2, db, server, linked.path.with_suffix(''))
    assert '1 results of failed actions asked' in said.stderr


def test_one_execution_of_two_runs(br2, server, tmp_path):
    """Buildbarn executes once what two clients ask for at the same time: one question, two results, one sum."""
    linked, db, recording = Linked(tmp_path), tmp_path / 'br2.db', tmp_path / 'answers'
    blob = part(1, digest(linked.action(0))) + part(3, part(1, b'\x20\x01' + part(9, part(1, b'the worker'))))
    linked.link(0, cas.put(server.address, blob))
    first = linked.write()
    second = first.with_name(first.name.replace('b5fe85a1', 'b5fe85a2'))
    second.write_text(first.read_text().replace('b5fe85a1', 'b5fe85a2'))
    said = ingest(br2, db, server, first, second, '--record', recording)
    assert '2 results of failed actions asked of the CAS: 2 stored' in said.stderr
    assert recording.read_text().count('"method":"ReadBlob"') == 1
    assert value(db, 'SELECT count(*) FROM result WHERE source = 2') == 2
    assert value(db, "SELECT results FROM worker WHERE name = 'the worker'") == 1
    br2.run('check', '--integrity', '--db', db)
    apart = tmp_path / 'apart.db'
    for log in (second, first):
        ingest(br2, apart, server, log)
    assert dump(apart) == dump(db)


@pytest.mark.parametrize('prefix', ['https://b.example/x/demo-x86_64/', 'http://h:1/', '/', '', 'demo-x86_64/',
                                    'see http://h/a "quoted" http://h:8081/demo-x86_64/'])
def test_links_as_they_come(br2, server, tmp_path, prefix):
    linked, db = Linked(tmp_path), tmp_path / 'br2.db'
    linked.link(0, cas.put(server.address, cas.about(linked.action(0))), prefix=prefix)
    linked.commands[1]['additional_message'] = 'Action details (uncached result): http://h/demo-x86_64/'
    linked.commands[2]['additional_message'] = 'historical_execute_response/' + 'ab' * 32 + '-9'
    ingest(br2, db, server, linked.write())
    assert [r['state'] for r in rows(db, STATES)] == [1]


def test_the_links_own_instance(br2, tmp_path):
    """A server that knows main only; the run's own name for it is another."""
    linked, db = Linked(tmp_path), tmp_path / 'br2.db'
    with harness.Server(tmp_path, '--instances', 'demux') as demux:
        for number in range(4):
            blob = cas.put(demux.address, cas.about(linked.action(number)), 'main')
            linked.link(number, blob, prefix='http://h/portal/main/')
        said = ingest(br2, db, demux, linked.write(), '--instance', 'elsewhere', code=2)
    assert [r['state'] for r in rows(db, STATES)] == [1, 1, 1, 1]
    assert '4 results of failed actions asked of the CAS: 4 stored' in said.stderr


def test_refused(br2, project, tmp_path):
    """Nobody may read there: it is said, and nothing is lost."""
    root, db = project('failures'), tmp_path / 'br2.db'
    with harness.Server(tmp_path, '--instances', 'acl') as acl:
        said = ingest(br2, db, acl, root, code=2)
    assert '9 results of failed actions were refused' in said.stderr
    assert value(db, 'SELECT count(*) FROM historical WHERE state = 4') == 9


# ---- stderr --------------------------------------------------------------------------------------------

def test_no_stderr(br2, project, tmp_path):
    root, with_it, without_it = project('failures'), tmp_path / 'with.db', tmp_path / 'without.db'
    common = ['--no-remote', '--no-report']
    br2.run(root, '--db', with_it, *common)
    br2.run(root, '--db', without_it, *common, '--no-stderr')
    printed = b'no acceptable C compiler'
    assert printed in with_it.read_bytes() and printed not in without_it.read_bytes()
    sizes = 'SELECT sum(stderr_bytes) AS bytes, count(*) AS n, max(length(stderr)) > 0 AS kept FROM attempt_stderr'
    (kept,), (left_out,) = rows(with_it, sizes), rows(without_it, sizes)
    assert kept['bytes'] == left_out['bytes'] > 1_900_000 and kept['n'] == left_out['n']
    assert (kept['kept'], left_out['kept']) == (1, 0)
    assert value(with_it, 'SELECT max(length(CAST(stderr AS BLOB))) FROM attempt_stderr') <= 64 << 10
