"""Was something killed for memory? Made databases for each verdict and each trap of the
evidence, and the join of kills to executions against a plain definition in Python."""
import random

import pytest

from builds import GIB, POD, START, TAIL, WORKER, Build, at, digest, one
from samples import rows
import tables

SUSPECT = ['OOM killer', 'killed by a signal', 'child killed, container survived', 'suspected']


# ---- one failed attempt, no cluster ----------------------------------------------------------

TIMEOUT = 'Error: Failed to run command: context deadline exceeded'
LOST = {'status': 5, 'exit_code': None, 'error_stage': 'remote_call_error', 'error': 'Failed to run command: rpc error: EOF', 'result': False}

ALONE = [
    # what the attempt is, (verdict, confidence) or None: no row
    ({'exit_code': 137}, ('suspected', 'low')),
    ({'exit_code': 137, 'stderr': 'Killed\n'}, ('suspected', 'medium')),
    ({'exit_code': 137, 'rss': GIB * 9 // 10 + 1}, ('suspected', 'medium')),
    ({'exit_code': 137, 'rss': GIB * 9 // 10 - 1}, ('suspected', 'low')),
    ({'exit_code': 1, 'stderr': 'gcc: fatal error: Killed signal terminated program cc1\n'}, ('suspected', 'low')),
    ({'exit_code': 1, 'stderr': 'gcc: fatal error: Killed signal terminated program cc1\n', 'rss': GIB}, ('suspected', 'medium')),
    ({'exit_code': 1, 'stderr': TAIL.replace('2', '137')}, ('suspected', 'low')),
    ({'exit_code': 1, 'stderr': TAIL.replace('2', '-9')}, ('suspected', 'low')),
    ({'exit_code': 1, 'rss': GIB}, None),
    ({'exit_code': -1, 'signal': 'KILL'}, ('killed by a signal', 'low')),
    ({'exit_code': -1, 'signal': 'KILL', 'rss': GIB}, ('killed by a signal', 'medium')),
    ({'exit_code': -9, 'result': False}, ('killed by a signal', 'low')),
    ({'exit_code': -1, 'signal': 'SEGV'}, None),
    ({'exit_code': -1, 'signal': 'SEGV', 'stderr': TAIL}, None),
    ({'exit_code': -1, 'signal': 'ABRT'}, None),
    ({'exit_code': -1, 'signal': 'ABRT', 'stderr': "terminate called after throwing an instance of 'std::bad_alloc'"}, ('suspected', 'low')),
    ({'exit_code': -1, 'result': False}, ('cannot tell', 'low')),
    ({'exit_code': 139, 'result': False}, None),
    ({'exit_code': 1, 'stderr': TAIL}, ('cannot tell', 'low')),
    ({'exit_code': 1, 'stderr': 'error: x', 'stderr_bytes': 100_000}, ('cannot tell', 'low')),
    ({'exit_code': 1, 'stderr_bytes': 9}, ('cannot tell', 'low')),
    ({'exit_code': 1, 'stderr': 'error: x'}, None),
    ({'exit_code': 1}, None),
    ({'exit_code': 1, 'result': False, 'stderr': 'error: x'}, None),
    ({'status': 5, 'exit_code': None, 'error': TIMEOUT, 'error_stage': 'remote_call_error', 'result': False}, ('timed out, not memory', 'low')),
    ({'status': 4, 'exit_code': None, 'result': False}, ('timed out, not memory', 'low')),
    ({'status': 4, 'exit_code': -1, 'signal': 'KILL', 'stderr': 'Killed'}, ('timed out, not memory', 'low')),
    ({'status': 7, 'exit_code': -1, 'signal': 'KILL', 'stderr': 'Killed'}, None),
    ({'status': 5, 'exit_code': None, 'error': 'Failed to start process: not found', 'result': False}, None),
    ({'status': 5, 'exit_code': None, 'error': 'fork: Cannot allocate memory', 'result': False}, ('suspected', 'low')),
    (LOST, ('cannot tell', 'low')),
    ({'status': 5, 'exit_code': None, 'error': 'Worker {"x":"y"} disappeared while task was executing', 'result': False}, ('cannot tell', 'low')),
    ({'status': 5, 'exit_code': None, 'error': 'x', 'error_stage': 'remote_upload_error', 'result': False}, None),
    ({'kind': 1, 'exit_code': 137, 'result': False}, ('suspected', 'low')),
    ({'kind': 1, 'status': 5, 'exit_code': None, 'error': 'x', 'result': False}, None),
]


@pytest.mark.parametrize('attempt, wanted', ALONE)
def test_failed_attempt_without_a_cluster(attempt, wanted):
    build = Build()
    build.failed(10, 20, **attempt)
    found = build.verdicts()
    assert found == ({'a1': (*wanted, 0)} if wanted else {})
    if wanted:
        row = one(build.db, 'SELECT * FROM oom_kills')
        assert row['suspect'] == (row['verdict'] in SUSPECT)
        assert (row['run'], row['project'], row['label'], row['package'], row['category'], row['attempt']) == \
            ('r', 'p', 'root//x:pkg', 'pkg', 'br2_package', 0)
        assert (row['evidence_pods'], row['evidence_prometheus']) == (None, None)


def test_every_form_has_the_rows():
    build = Build()
    for attempt, _ in ALONE:
        build.failed(10, 20, **attempt)
    build.killed(700)
    found = build.rows()
    assert len(found) == sum(wanted is not None for _, wanted in ALONE) + 1
    order = sorted(found, key=str)
    for view, first in (('oom_kills_by_project', 'project'), ('oom_kills_by_run', 'run')):
        other = rows(build.db, f'SELECT * FROM {view}')
        assert list(other[0])[0] == first and list(found[0])[:2] == ['run', 'project']
        assert sorted(({k: r[k] for k in found[0]} for r in other), key=str) == order
    assert [r['suspect'] for r in rows(build.db, "SELECT * FROM oom_kills_by_run WHERE run = 'other'")] == []
    assert len(rows(build.db, "SELECT * FROM oom_kills_by_run WHERE run = 'r'")) == len(found) - 1


def test_unknown_is_null_and_rss_a_lower_bound():
    build = Build()
    build.failed(10, 20, exit_code=137, rss=GIB // 2)
    build.failed(30, 40, exit_code=137, result=False)
    build.failed(50, 60, exit_code=1, rss=GIB // 2, stderr=TAIL)
    found = {r['identifier']: r for r in build.rows()}
    shown = 'pod', 'node', 'limit_gib', 'max_rss_gib', 'rss_is_lower_bound', 'rss_near_limit', 'text_complete'
    assert [found['a1'][k] for k in shown] == [POD, 'node-1', 1, 0.5, 1, 0, 1]
    assert [found['a2'][k] for k in shown] == [None, None, None, None, None, None, 1]
    assert [found['a3'][k] for k in shown] == [POD, 'node-1', 1, 0.5, None, 0, 0]
    assert (found['a1']['killed_utc'], found['a1']['evidence_action']) == \
        ('2026-11-30 00:53:40.000', 'exit code 137: its shell saw a child killed')


def test_limits_that_do_not_agree_are_unknown():
    build = Build()
    build.made.pod(POD, 2 * GIB, 'node-1', namespace='other')
    build.failed(10, 20, exit_code=137)
    (row,) = build.rows()
    assert (row['node'], row['limit_gib']) == ('node-1', None)


def test_patterns_of_text_are_rows():
    build = Build()
    build.failed(10, 20, stderr='as: memory exhausted')
    build.failed(30, 40, stderr='[last lines of log follow]\nerror: x')
    tables.insert(build.made.db, 'oom_pattern', pattern='memory exhausted', about='mine')
    tables.insert(build.made.db, 'tail_pattern', pattern='*[[]last lines of log*', about='mine')
    found = {r['identifier']: r for r in build.rows()}
    assert (found['a1']['evidence_text'], found['a1']['verdict'], found['a1']['excerpt']) == \
        ('memory exhausted', 'suspected', 'as: memory exhausted')
    assert (found['a2']['verdict'], found['a2']['note']) == ('cannot tell', 'its stderr shows only the end of a longer log')


def test_an_attempt_that_a_later_one_saved_is_a_row():
    build = Build()
    build.made.action('r', 'root//x:pkg', attempts=[{'digest': digest(1), 'status': 3, 'exit_code': 137}, {'kind': 1}])
    (row,) = build.rows()
    assert (row['verdict'], row['action_failed'], row['attempt'], row['kind']) == ('suspected', 0, 0, 'remote')


# ---- how a container ended -------------------------------------------------------------------

OWN = {'exit_code': 137}

ENDS = [
    # its own exit code or signal, the container's end, (verdict, confidence) of the action, of the kill alone
    (OWN, {}, ('OOM killer', 'high'), None),
    (OWN, {'exit_code': None}, ('OOM killer', 'high'), None),
    ({'exit_code': -1, 'signal': 'KILL'}, {}, ('OOM killer', 'high'), None),
    ({'exit_code': 1, 'stderr': 'Killed'}, {}, ('OOM killer', 'high'), None),
    ({'exit_code': 1}, {}, ('OOM killer', 'medium'), None),
    ({'exit_code': -1, 'signal': 'SEGV'}, {}, ('OOM killer', 'medium'), None),
    # The runtime lost the event: killed by whomever.
    (OWN, {'reason': 'Error'}, ('killed by a signal', 'medium'), None),
    ({'exit_code': 1}, {'reason': 'Error'}, ('killed by a signal', 'low'), None),
    ({'exit_code': 1}, {'reason': 'Error', 'exit_code': None, 'signal': 9}, ('killed by a signal', 'low'), None),
    # A normal stop, whose flag tells of an earlier child: of one that looks like it, if any.
    (OWN, {'exit_code': 143}, ('child killed, container survived', 'medium'), None),
    ({'exit_code': 1, 'stderr': 'Killed'}, {'exit_code': 143}, ('child killed, container survived', 'medium'), None),
    ({'exit_code': 1}, {'exit_code': 143}, None, ('child killed, container survived', 'medium')),
    # No kills.
    (OWN, {'reason': 'Completed', 'exit_code': 0}, ('suspected', 'low'), None),
    (OWN, {'reason': 'Error', 'exit_code': 143}, ('suspected', 'low'), None),
    (OWN, {'reason': 'Error', 'exit_code': 1}, ('suspected', 'low'), None),
    ({'exit_code': 1}, {'reason': 'Error', 'exit_code': 1}, None, None),
]


@pytest.mark.parametrize('layer, column', [(3, 'evidence_pods'), (4, 'evidence_prometheus')])
@pytest.mark.parametrize('attempt, end, wanted, alone', ENDS)
def test_end_of_a_container(layer, column, attempt, end, wanted, alone):
    build = Build()
    build.failed(10, 20, **attempt)
    build.killed(20, layer, **end)
    found = build.verdicts()
    assert found == {k: (*v, 0) for k, v in (('a1', wanted), (None, alone)) if v}
    for row in rows(build.db, 'SELECT * FROM oom_kills'):
        other = {'evidence_pods', 'evidence_prometheus'} - {column}
        assert row[other.pop()] is None
        assert (row[column] is not None) == (row['verdict'] != 'suspected')
        if row[column]:
            assert row[column].startswith(end.get('reason', 'OOMKilled'))


def test_both_layers_tell_of_one_end():
    build = Build()
    build.failed(10, 20.5, exit_code=137, stderr='Killed')
    build.killed(20, 3)
    build.killed(20, 4, exit_code=None)
    (row,) = build.rows()
    assert (row['verdict'], row['evidence_pods'], row['evidence_prometheus'], row['evidence_text']) == \
        ('OOM killer', 'OOMKilled, exit code 137', 'OOMKilled', 'Killed')
    assert row['killed_utc'] == '2026-11-30 00:53:40.000'


def test_a_layer_that_lost_the_reason_does_not_outvote_the_other():
    build = Build()
    build.failed(10, 20, exit_code=137)
    build.killed(20, 3, reason='Error')
    build.killed(20, 4)
    assert build.verdicts() == {'a1': ('OOM killer', 'high', 0)}


def test_an_earlier_childs_flag_needs_the_same_life_of_the_container():
    build = Build()
    build.failed(10, 20, exit_code=137)
    build.killed(500, exit_code=143, started_ns=at(100))
    assert build.verdicts() == {'a1': ('suspected', 'low', 0), None: ('child killed, container survived', 'medium', 0)}


def test_an_earlier_childs_flag_may_be_of_several():
    build = Build()
    build.failed(110, 120, exit_code=137)
    build.failed(130, 140, stderr='Killed')
    build.failed(150, 160)
    build.killed(500, exit_code=143, started_ns=at(100))
    assert build.verdicts() == {'a1': ('suspected', 'medium', 1), 'a2': ('suspected', 'medium', 1)}


def test_a_container_that_runs_no_actions():
    build = Build()
    build.failed(10, 20, exit_code=137)
    build.killed(20, container='worker')
    assert build.verdicts() == {'a1': ('suspected', 'low', 0), None: ('OOM killer', 'high', 0)}
    row = one(build.db, 'SELECT * FROM oom_kills WHERE identifier IS NULL')
    assert (row['note'], row['pod'], row['run']) == ('container worker, which runs no actions', POD, None)


def test_the_container_that_runs_actions_is_a_setting():
    build = Build()
    build.made.pod(POD, 2 * GIB, 'node-1', container='bb')
    build.made.db.execute("UPDATE setting SET value = 'bb' WHERE key = 'runner_container'")
    build.failed(10, 20, exit_code=137)
    build.killed(20, container='bb')
    (row,) = build.rows()
    assert (row['verdict'], row['limit_gib']) == ('OOM killer', 2)


# ---- whose kill it was -------------------------------------------------------------------------

def test_a_kill_without_an_action_is_shown():
    build = Build()
    build.failed(10, 20, exit_code=137)
    build.killed(900)
    other = build.made.pod('somebody-elses', GIB, 'node-2')
    build.made.ended(other, at(20), 4)
    found = build.rows()
    assert sorted((r['pod'], r['verdict'], r['confidence'], r['ambiguous'], r['run'], r['digest'] is None) for r in found) == [
        ('somebody-elses', 'OOM killer', 'high', 0, None, True),
        (POD, 'OOM killer', 'high', 0, None, True),
        (POD, 'suspected', 'low', 0, 'r', False)]


def test_concurrency_is_told_and_not_guessed():
    build = Build(worker='{"pool":"shared","slot":"%s","thread":"1"}' % POD)
    build.failed(10, 20, exit_code=137)
    build.killed(20)
    assert build.verdicts() == {'a1': ('suspected', 'low', 0), None: ('OOM killer', 'high', 1)}
    row = one(build.db, 'SELECT * FROM oom_kills WHERE identifier IS NULL')
    assert (row['run'], row['note']) == ('r', 'its worker runs several actions at a time: which one is not asked')


def test_none_that_ended_in_time_is_ambiguous():
    """It runs on after its container's end: that cannot be."""
    build = Build()
    build.failed(10, 30, exit_code=137)
    build.killed(20)
    assert build.verdicts() == {'a1': ('suspected', 'medium', 1)}


def test_a_tie_is_ambiguous_and_listed():
    build = Build()
    build.failed(10, 20, exit_code=137)
    build.failed(15, 20, exit_code=137)
    build.failed(15, 20, exit_code=1)
    build.killed(20)
    assert build.verdicts() == {'a1': ('suspected', 'medium', 1), 'a2': ('suspected', 'medium', 1)}
    assert {r['note'] for r in rows(build.db, 'SELECT note FROM oom_kills')} == {'what its container tells may be of another action'}


def test_two_runs_that_waited_for_one_execution():
    build = Build()
    build.made.run('s', 'q', start_ns=START + 1)
    build.failed(10, 20, exit_code=137)
    build.failed(10, 20, exit_code=137, trace='s', number=1)
    build.killed(20)
    found = build.rows()
    assert [(r['run'], r['project'], r['verdict'], r['ambiguous']) for r in found] == \
        [('r', 'p', 'OOM killer', 0), ('s', 'q', 'OOM killer', 0)]


def test_an_action_that_succeeded_may_be_next_to_the_one_that_was_killed():
    build = Build()
    build.succeeded(10, 18)
    build.killed(20)
    found = build.rows()
    assert [(r['identifier'], r['verdict'], r['confidence'], r['attempt'], r['exit_code'], r['rss_is_lower_bound']) for r in found] == \
        [('a1', 'OOM killer', 'low', None, 0, None)]
    assert 'succeeded' in found[0]['note']


def test_actions_that_succeeded_and_ran_on_are_not_blamed():
    build = Build()
    build.succeeded(10, 40)
    build.killed(20)
    assert build.verdicts() == {None: ('OOM killer', 'high', 1)}
    assert one(build.db, 'SELECT run, note FROM oom_kills') == {'run': 'r', 'note': 'one of 1 actions that ran there'}


def test_an_error_that_does_not_tell_where_it_ran():
    """The kernel kills the whole runner: its worker has no result to tell. The kill stays, and the attempt is suspected."""
    build = Build()
    build.failed(10, 10, **LOST)
    build.failed(60, 60, **LOST)
    build.killed(10)
    found = {r['identifier']: r for r in build.rows()}
    assert {k: (r['verdict'], r['confidence'], r['ambiguous']) for k, r in found.items()} == {
        'a1': ('suspected', 'low', 1), 'a2': ('cannot tell', 'low', 0), None: ('OOM killer', 'high', 0)}
    assert found['a1']['evidence_pods'] == 'OOMKilled, exit code 137'
    assert one(build.db, 'SELECT candidates FROM unexplained_terminations') == {'candidates': 0}


def test_a_kill_that_is_explained_is_not_laid_on_lost_ones():
    build = Build()
    build.failed(10, 20, exit_code=137)
    build.failed(20, 20, **LOST)
    build.killed(20)
    assert build.verdicts() == {'a1': ('OOM killer', 'high', 0), 'a2': ('cannot tell', 'low', 0)}


def test_results_that_name_no_invocation_are_candidates_too():
    build = Build()
    build.succeeded(10, 19, invocation=None)
    build.killed(20)
    assert build.verdicts() == {'a1': ('OOM killer', 'low', 0)}


# ---- kills that a container survived -------------------------------------------------------------

def test_a_counted_kill():
    build = Build()
    build.failed(10, 20, stderr='gcc: fatal error: Killed signal terminated program cc1')
    build.failed(30, 40)
    build.made.counted(build.pod, at(5), at(15))
    build.made.counted(build.pod, at(25), at(35), 2)
    build.made.counted(build.pod, at(50), at(60))
    found = {r['identifier']: r for r in build.rows()}
    assert {k: (r['verdict'], r['confidence'], r['evidence_prometheus']) for k, r in found.items()} == {
        'a1': ('child killed, container survived', 'high', 'a kill inside of it counted'),
        'a2': ('child killed, container survived', 'medium', '2 kills inside of it counted'),
        None: ('child killed, container survived', 'high', 'a kill inside of it counted')}
    assert found['a1']['killed_utc'] == '2026-11-30 00:53:35.000'


def test_a_counted_kill_of_one_of_several():
    build = Build()
    for second in (10, 20, 30):
        build.succeeded(second, second + 5)
    build.made.counted(build.pod, at(0), at(60))
    assert build.verdicts() == {None: ('child killed, container survived', 'high', 1)}
    assert one(build.db, 'SELECT run, note FROM oom_kills') == {'run': 'r', 'note': 'one of 3 actions that ran there'}


def test_a_counted_kill_falls_on_what_failed():
    build = Build()
    build.succeeded(10, 15)
    build.failed(20, 25)
    build.made.counted(build.pod, at(0), at(60))
    assert build.verdicts() == {'a2': ('child killed, container survived', 'medium', 0)}


def test_a_counted_kill_is_not_laid_on_whose_container_was_killed():
    """The counter of a new container begins with its life: the end of the one before it is the earliest time."""
    build = Build()
    build.failed(10, 20.9, exit_code=137)
    build.failed(20.95, 25, stderr='Killed')
    build.killed(20)
    build.made.counted(build.pod, None, at(26))
    assert build.verdicts() == {'a1': ('OOM killer', 'high', 0), 'a2': ('child killed, container survived', 'high', 0)}


# ---- the join is the definition -------------------------------------------------------------------

def attributed(kill, executions):
    """Of one container's end (second) and [(name, start, end, killed)]: (names, ambiguous)."""
    near = [e for e in executions if e[1] - 1 <= kill <= e[2] + 5]
    chosen = [e for e in near if e[3]] or near
    in_time = [e[2] for e in chosen if e[2] <= kill + 1]
    if not in_time:
        return {e[0] for e in chosen}, bool(chosen)
    last = {e[0] for e in chosen if e[2] == max(in_time)}
    return last, len(last) > 1


@pytest.mark.parametrize('seed', range(60))
def test_the_join_is_the_definition(seed):
    """Failed attempts of any length on two pods; each container's end against the plain definition."""
    rng = random.Random(seed)
    build = Build()
    other = build.made.pod('other-pod', GIB)
    pods = {POD: build.pod, 'other-pod': other}
    ran = {pod: [] for pod in pods}
    for _ in range(rng.choice([1, 3, 8])):
        pod, start, length = rng.choice(list(pods)), rng.randint(0, 40) / 2, rng.randint(1, 12) / 2
        killed = rng.random() < 0.4
        name = build.failed(start, start + length, exit_code=137 if killed else 1, worker=WORKER % pod)
        ran[pod].append((name, start, start + length, killed))
    told, sure = {}, set()
    for pod in pods:
        for second in rng.sample(range(0, 30), rng.choice([0, 1, 2])):
            build.made.ended(pods[pod], at(second), rng.choice([3, 4]))
            names, ambiguous = attributed(second, ran[pod])
            for name in names:
                told.setdefault(name, set()).add(ambiguous)
            if not names:
                told.setdefault(None, []).append(second)
    sure = {name for name, marks in told.items() if name and False in marks}
    found = build.rows()
    named = {r['identifier']: r for r in found if r['identifier']}
    assert sum(r['identifier'] is None for r in found) == len(told.pop(None, []))
    assert {n for n, r in named.items() if r['evidence_pods'] or r['evidence_prometheus']} == set(told)
    assert {n for n, r in named.items() if r['verdict'] == 'OOM killer'} == sure
    assert {n for n, r in named.items() if r['ambiguous']} == {n for n, marks in told.items() if True in marks}
    killed = {e[0] for part in ran.values() for e in part if e[3]}
    assert set(named) == killed | set(told)
