"""What suspected kills are worth (what was looked at), what no action explains, every failed
action, and the recorded builds with what a cluster would have told of them."""
import pytest

from builds import GIB, POD, S, TAIL, Build, at, digest, one
from samples import expected, load, rows
import tables


# ---- what was looked at ------------------------------------------------------------------------

def checked(db, form=''):
    return {r['layer']: r for r in rows(db, f'SELECT * FROM oom_checked{form}')}


def test_nothing_is_nothing():
    db = tables.create()
    assert [tuple(r.values()) for r in rows(db, 'SELECT * FROM oom_checked')] == [
        (layer, 0, 0, 0, 0, None, None, None, 0, 0) for layer in ('action', 'text', 'pods', 'prometheus')]


def counts(row):
    return tuple(row[k] for k in ('asked', 'runs', 'runs_asked', 'seen', 'failed', 'not_judged'))


def test_what_no_layer_was_asked():
    build = Build()
    build.failed(10, 20, exit_code=137)
    build.failed(10, 20, exit_code=1, stderr=TAIL)
    build.failed(10, 20, exit_code=-1, result=False)
    build.failed(10, 20, status=4, exit_code=None, result=False)
    build.failed(10, 20, kind=1, exit_code=1, result=False)
    build.rows()
    for form in ('', '_by_project', '_by_run'):
        found = checked(build.db, form)
        assert {k: counts(r) for k, r in found.items()} == {
            'action': (1, 1, 1, 1, 4, 1), 'text': (1, 1, 1, 0, 4, 1), 'pods': (0, 1, 0, 0, 3, 3), 'prometheus': (0, 1, 0, 0, 3, 3)}
        assert (found['pods']['from_utc'], found['action']['newest_utc']) == (None, '2026-11-30 00:53:40.000')


def test_what_was_looked_at():
    build = Build()
    build.failed(10, 20, exit_code=1)
    build.failed(30, 40, exit_code=1, result=False)
    build.failed(950, 960, exit_code=1, worker='{"slot":"%s","thread":"0"}' % POD)
    build.made.run('late', 'p', start_ns=at(5000), duration_us=10**7)
    build.failed(5001, 5002, trace='late')
    build.made.looked(3, at(-100), at(1200))
    build.made.looked(4, at(0), at(900), selector='buildbarn/runner')
    build.killed(20, 3)
    build.rows()
    found = checked(build.db)
    assert {k: counts(r) for k, r in found.items()} == {
        'action': (1, 2, 2, 0, 4, 0), 'text': (1, 2, 2, 0, 4, 0), 'pods': (1, 2, 1, 1, 4, 3), 'prometheus': (0, 2, 0, 0, 4, 3)}
    assert (found['pods']['from_utc'], found['pods']['to_utc'], found['pods']['newest_utc']) == \
        ('2026-11-30 00:51:40.000', '2026-11-30 01:13:20.000', '2026-11-30 00:53:40.000')
    by_run = {(r['run'], r['layer']): counts(r) for r in rows(build.db, 'SELECT * FROM oom_checked_by_run')}
    assert by_run['r', 'pods'] == (1, 1, 1, 1, 3, 2)
    assert by_run['r', 'prometheus'] == (0, 1, 0, 0, 3, 2)
    assert by_run['late', 'pods'] == by_run['late', 'prometheus'] == (0, 1, 0, 0, 1, 1)


def test_a_look_that_begins_within_the_run():
    """Pods that a run made begin after it; Prometheus must be asked about all of it."""
    build = Build()
    build.failed(510, 520)
    for layer in (3, 4):
        build.made.looked(layer, at(500), at(1200))
    build.rows()
    found = checked(build.db)
    assert (counts(found['pods']), counts(found['prometheus'])) == ((1, 1, 1, 0, 1, 0), (0, 1, 0, 0, 1, 0))


def test_a_look_at_another_cluster_says_nothing():
    build = Build()
    build.failed(10, 20, exit_code=1)
    build.made.looked(3, at(-100), at(1200), cache='other')
    build.rows()
    assert counts(checked(build.db)['pods']) == (0, 1, 0, 0, 1, 1)


def test_text_that_was_left_out_was_not_asked():
    build = Build()
    build.failed(10, 20, stderr_bytes=9)
    build.rows()
    assert counts(checked(build.db)['text']) == (0, 1, 0, 0, 1, 1)


def test_a_run_of_hits_has_nothing_to_tell_pods():
    build = Build()
    build.made.action('r', 'root//:x', attempts=[{'digest': digest(1), 'cache_hit': 1}], execution_kind=3)
    build.rows()
    assert counts(checked(build.db)['pods']) == (0, 0, 0, 0, 0, 0)
    assert {k: r['asked'] for k, r in checked(build.db, '_by_run').items()} == {'action': 1, 'text': 1, 'pods': None, 'prometheus': None}


# ---- ends that nothing explains --------------------------------------------------------------------

def test_unexplained_terminations():
    build = Build()
    build.failed(10, 20, exit_code=137)
    build.succeeded(100, 140)
    build.killed(20)                                            # explained
    build.killed(120, 3)                                        # one that ran on
    build.killed(120, 4, exit_code=None)
    build.killed(300, 4, reason='Error', exit_code=1)           # by itself
    build.killed(400, 4, exit_code=143)                         # a child before
    build.killed(500, 4, reason='Completed', exit_code=0)       # in peace
    build.killed(600, 4, reason='Error', exit_code=143)         # in peace
    build.killed(700, 3, container='worker', reason='Error', exit_code=137, signal=9, restarts=2)
    build.rows()
    found = rows(build.db, 'SELECT * FROM unexplained_terminations')
    assert [(r['finished_utc'][14:19], r['container'], r['meaning'], r['told_by'], r['candidates'], r['restarts']) for r in found] == [
        ('05:00', 'worker', 'sigkill', 'pods', None, 2), ('00:00', 'runner', 'child_earlier', 'prometheus', 0, None),
        ('58:20', 'runner', 'failed', 'prometheus', 0, None), ('55:20', 'runner', 'oom', 'both', 1, None)]
    assert {(r['namespace'], r['pod'], r['node']) for r in found} == {('buildbarn', POD, 'node-1')}


# ---- every failed action ------------------------------------------------------------------------------

def test_failures():
    build = Build()
    build.failed(10, 20, exit_code=-1, signal='KILL', rss=GIB // 4, historical=(digest(9), 1), message='Action details: x')
    build.failed(30, 31, exit_code=2, result=False, stderr='x')
    build.made.action('r', 'root//x:pkg', 'c', 'outputs', [{'digest': digest(50)}], failed=1, error='missing outputs')
    build.made.action('r', 'root//x:pkg', 'c', 'fine', [{'digest': digest(51)}])
    build.made.db.execute("UPDATE setting SET value = 'http://portal/' WHERE key = 'portal_url'")
    build.rows()
    found = {r['identifier']: r for r in rows(build.db, 'SELECT * FROM failures')}
    assert {k: (r['reason'], r['attempt'], r['exit_code'], r['action_failed']) for k, r in found.items()} == {
        'a1': ('signal', 0, -1, 1), 'a2': ('exit', 0, 2, 1), 'outputs': ('missing_outputs', None, None, 1)}
    row = found['a1']
    assert (row['termination_signal'], row['cpu_s'], row['max_rss_gib'], row['rss_is_lower_bound'], row['pod'], row['pool']) == \
        ('KILL', 1, 0.25, 1, POD, 'shared')
    assert (row['started_utc'], row['executed_utc'], row['log_wall_s'], row['no_result'], row['message']) == \
        ('2026-11-30 00:53:30.000', '2026-11-30 00:53:30.000', 10, None, 'Action details: x')
    assert (row['portal_url'], row['result_url']) == (
        f'http://portal/instance/blobs/sha256/action/{1:064x}-141/',
        f'http://portal/instance/blobs/sha256/historical_execute_response/{9:064x}-141/')
    assert [found['a2'][k] for k in ('cpu_s', 'max_rss_gib', 'rss_is_lower_bound', 'result_url', 'executed_utc')] == [None] * 5
    assert found['a2']['no_result'] == "the server's message has no link"
    assert found['outputs']['error'] == 'missing outputs'
    for view in ('failures_by_project', 'failures_by_run'):
        assert sorted(({k: r[k] for k in row} for r in rows(build.db, f'SELECT * FROM {view}')), key=str) == sorted(found.values(), key=str)


# ---- the recorded builds --------------------------------------------------------------------------------

def with_cluster(*samples, change=lambda made: None):
    """The samples, with what the cluster told while they ran."""
    return load(*samples, historical=True, change=change)


def suspects(db):
    return {r['identifier']: r for r in rows(db, 'SELECT * FROM oom_kills WHERE suspect')}


def test_recorded_failures_without_a_cluster():
    found = suspects(with_cluster('failures'))
    assert {k: (r['verdict'], r['confidence'], r['evidence_action'], r['evidence_text']) for k, r in found.items()} == {
        'bad-oom': ('suspected', 'medium', 'exit code 137: its shell saw a child killed', 'Killed'),
        'bad-oom-child': ('suspected', 'low', None, 'Killed signal terminated program'),
        'bad-kill': ('killed by a signal', 'low', 'ended on signal KILL', None)}
    usage = {r['identifier']: r['usage'] for r in expected('failures')['historical']}
    for name, row in found.items():
        assert row['max_rss_gib'] == usage[name]['max_rss_bytes'] / GIB
        assert (row['pod'], row['rss_is_lower_bound'], row['limit_gib']) == (POD, 1, None)


def test_recorded_failures_that_are_no_suspects():
    db = with_cluster('failures', 'flaky')
    assert {r['identifier']: (r['verdict'], r['note']) for r in rows(db, 'SELECT * FROM oom_kills WHERE NOT suspect')} == {
        'bad-timeout': ('timed out, not memory', 'timed out: the worker told no usage, and Buck2 drops the link'),
        'bad-long-stderr': ('cannot tell', 'only the end of its stderr was kept')}


def test_recorded_failures_whose_results_nobody_asked_for():
    """An unknown signal is no suspicion and no acquittal."""
    db = load('failures')
    assert {k: r['verdict'] for k, r in suspects(db).items()} == {'bad-oom': 'suspected', 'bad-oom-child': 'suspected'}
    left = rows(db, "SELECT identifier, label FROM oom_kills WHERE verdict = 'cannot tell' AND text_complete")
    assert sorted(r['identifier'] or r['label'] for r in left) == ['bad-kill', 'bad-segv', 'root//:test-segv']


def test_a_digest_that_was_killed_and_later_succeeded_keeps_both():
    db = with_cluster('flaky')
    found = suspects(db)
    assert {k: r['verdict'] for k, r in found.items()} == {'fails-then-works': 'killed by a signal', 'works-then-fails': 'killed by a signal'}
    for row in found.values():
        assert one(db, 'SELECT source, exit_code FROM usage WHERE digest = ?', row['digest']) == {'source': 'action_cache', 'exit_code': 0}
        assert one(db, 'SELECT exit_code, termination_signal FROM failures WHERE digest = ?', row['digest']) == \
            {'exit_code': -1, 'termination_signal': 'KILL'}


SUMS = ['summary', 'wall_time_buckets', 'top_actions', 'heavy_packages', 'phases', 'cache_use', 'cells', 'runs']


@pytest.mark.parametrize('view', SUMS)
def test_sums_leave_out_what_failed(view):
    asked, not_asked = [rows(load('failures', 'flaky', historical=h), f'SELECT * FROM {view}') for h in (True, False)]
    for row in asked + not_asked:
        row.pop('only_historical', None)
    assert asked == not_asked


KILL = 1_796_003_841  # bad-oom's end by tests/prometheus/recorded-actions.tsv, in whole seconds


def known_kill(made):
    made.ended(made.pod(POD, GIB, 'nodes-1'), KILL * S, 4)
    made.looked(4, (KILL - 3600) * S, (KILL + 3600) * S, selector='buildbarn/runner')


def test_the_known_kill_is_bad_ooms_and_no_others():
    db = with_cluster('demo-x86_64', 'failures', change=known_kill)
    near = rows(db, 'SELECT * FROM _kill_join')
    assert (len(near), sorted(r['is_joined'] for r in near)) == (7, [0] * 6 + [2])
    found = suspects(db)
    assert {k: (r['verdict'], r['confidence'], r['ambiguous'], r['evidence_prometheus'], r['evidence_pods']) for k, r in found.items()} == {
        'bad-oom': ('OOM killer', 'high', 0, 'OOMKilled, exit code 137', None),
        'bad-oom-child': ('suspected', 'medium', 0, None, None),
        'bad-kill': ('killed by a signal', 'low', 0, None, None)}
    assert {(r['limit_gib'], r['node'], r['rss_is_lower_bound']) for r in found.values()} == {(1, 'nodes-1', 1)}
    assert {k: r['rss_near_limit'] for k, r in found.items()} == {'bad-oom': 1, 'bad-oom-child': 1, 'bad-kill': 0}
    assert rows(db, 'SELECT * FROM unexplained_terminations') == []
    looked = checked(db)['prometheus']
    assert (looked['asked'], looked['seen'], looked['newest_utc']) == (1, 1, '2026-11-30 01:57:21.000')


def test_a_counted_child_kill_is_bad_oom_childs():
    """As recorded-child-kill.tsv has it: the new container's counter, a sample a second."""
    def change(made):
        known_kill(made)
        made.counted(1, (KILL + 1) * S + 137_000_000, (KILL + 2) * S + 137_000_000, container_id='/kubepods/runner1')
    found = suspects(with_cluster('demo-x86_64', 'failures', change=change))
    assert {k: (r['verdict'], r['confidence'], r['ambiguous']) for k, r in found.items()} == {
        'bad-oom': ('OOM killer', 'high', 0), 'bad-oom-child': ('child killed, container survived', 'high', 0),
        'bad-kill': ('killed by a signal', 'low', 0)}
