"""plan: what builds would have cost on workers of other shapes."""
import contextlib
import json
import os
import sqlite3

import pytest

import harness

GIB = 1 << 30
RECORDING = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
SHAPES = ('--shape', 'small=1.5,2GiB,4GiB', '--shape', 'big=6,8GiB,12GiB')


@pytest.fixture(scope='module')
def program(tmp_path_factory):
    return harness.Program(os.environ['BR2_INGEST'], tmp_path_factory.mktemp('home'))


@pytest.fixture(scope='module')
def db(program, tmp_path_factory):
    """What the wrapper leaves of the cells, and the builds of demo."""
    folder = tmp_path_factory.mktemp('plan')
    for sample in ('cells', 'demo-x86_64'):
        root = harness.copy_sample(sample, folder)
        program.run(root, '--db', folder / 'br2.db', '--replay', RECORDING, '--no-report')
    return folder / 'br2.db'


@pytest.fixture
def own(db, tmp_path):
    """A copy that a test may change."""
    copy = tmp_path / 'br2.db'
    copy.write_bytes(db.read_bytes())
    return copy


def change(db, *statements):
    connection = sqlite3.connect(db)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def plan(program, db, *args):
    return json.loads(program.run('plan', '--db', db, '--json', *args).stdout)


def measured(sample):
    """trace id -> seconds from its first action queued to its last one done, as the cache tells."""
    spans = {}
    for result in harness.expected(sample)['results']:
        times = result.get('times_ns', {})
        queued, done = times.get('queued'), times.get('worker_completed')
        if result.get('invocation_id') and queued and done:
            first, last = spans.get(result['invocation_id'], (queued, done))
            spans[result['invocation_id']] = min(first, queued), max(last, done)
    return {trace: (last - first) / 1e9 for trace, (first, last) in spans.items()}


# ---- the replay of what ran ---------------------------------------------------------

def lost():
    """Cold runs whose log `clean` took, and whose results tell of them."""
    executed = measured('cells')
    return sorted(run['trace_id'] for run in harness.expected('cells-lost')['runs'] if run['trace_id'] in executed)


def test_there_are_lost_runs():
    assert len(lost()) == 3


@pytest.mark.parametrize('trace', lost())
def test_a_lost_cold_run_replays_as_it_ran(program, db, trace):
    """Makespan within 10 % of the measured one, with the two workers that were seen."""
    (line,) = plan(program, db, '--execution', trace)['executions']
    assert (line['log_known'], line['workers_seen'], line['plans']['seen']['actions']) == (False, 2, 20)
    assert line['measured_s'] == pytest.approx(measured('cells')[trace], abs=1e-6)
    replayed = line['plans']['seen']['makespan_s']
    assert replayed == pytest.approx(line['measured_s'], rel=0.1)
    assert line['difference_pct'] == pytest.approx(100 * (replayed / line['measured_s'] - 1), abs=1e-6)


def test_every_whole_build_replays_as_it_ran(program, db):
    """Also 1,560 actions of milliseconds on one worker, where what it needs between two counts."""
    runs = harness.expected('demo-x86_64')['runs'] + harness.expected('cells')['runs']
    logged = {run['trace_id'] for run in runs}
    lines = plan(program, db, '--all')['executions']
    assert {line['execution'] for line in lines} == measured('cells').keys() | measured('demo-x86_64').keys()
    checked = [line for line in lines if line['execution'] in logged]
    assert len(checked) >= 8
    for line in checked:
        assert line['plans']['seen']['makespan_s'] == pytest.approx(line['measured_s'], rel=0.1), line['execution']


def test_the_replay_can_be_wrong(program, own):
    """With one of the two workers taken from its results, it is far off: nothing ties it to what was measured."""
    trace = lost()[0]
    change(own, 'DROP VIEW _worker', "CREATE VIEW _worker (worker_id, pool, pod, rss_floor_bytes) AS"
           " SELECT worker_id, 'one', 'one', rss_min_bytes FROM worker",
           'UPDATE result SET worker_id = 1')
    (line,) = plan(program, own, '--execution', trace)['executions']
    assert line['workers_seen'] == 1
    assert abs(line['difference_pct']) > 10


# ---- what is proposed -----------------------------------------------------------------

def test_figures_add_up(program, db):
    page = plan(program, db, '--project', 'qemu-mini', *SHAPES, '--node', '16,32GiB')
    lines, total = page['executions'], page['total']
    for name, figures in total['plans'].items():
        for column in ('actions', 'makespan_s', 'worker_h', 'queued_s'):
            assert figures[column] == pytest.approx(sum(line['plans'][name][column] for line in lines))
    results = [r for r in harness.expected('cells')['results'] if r.get('invocation_id')]
    assert total['plans']['shapes']['actions'] == len(results)
    assert total['used_core_h'] == pytest.approx(sum(r['cpu_ns'] for r in results) / 3.6e12)
    small, big = page['shapes']
    assert (small['make_jobs'], small['per_node'], small['workers_min'], small['workers_max']) == (2, 9, 0, 2)
    assert (big['make_jobs'], big['per_node']) == (6, 2)
    assert small['actions'] + big['actions'] == len(results)


def test_workers_start_and_go_as_keda_does_it(program, db):
    """One worker at most: its life is start, work and cooldown, and the node's the same."""
    (line,) = plan(program, db, '--execution', lost()[0], '--shape', 'one=1,1GiB', '--max', 'one=1', '--node',
                   '4,8GiB')['executions']
    figures = line['plans']['shapes']
    assert (figures['most_workers'], figures['most_nodes'], figures['at_risk']) == (1, 1, 0)
    assert figures['makespan_s'] > 65
    assert figures['worker_h'] == pytest.approx((figures['makespan_s'] + 300) / 3600, rel=1e-3)
    assert figures['node_h'] == figures['worker_h']
    assert figures['requested_core_h'] == pytest.approx(figures['worker_h'] * 1.26, rel=1e-6)
    (warm,) = plan(program, db, '--execution', lost()[0], '--shape', 'one=1,1GiB', '--min', 'one=2')['executions']
    assert warm['plans']['shapes']['makespan_s'] == pytest.approx(line['measured_s'], rel=0.1)


def test_the_bound_by_jobs(program, own):
    """Cores beyond make's jobs take their time; what ran on fewer does not."""
    change(own, 'UPDATE result SET cpu_ns = 4 * wall_ns')
    (line,) = plan(program, own, '--execution', lost()[0], '--shape', 'narrow=1,2GiB,4GiB', '--min',
                   'narrow=8')['executions']
    same, by_jobs = line['plans']['shapes'], line['plans']['shapes_by_jobs']
    assert same['makespan_s'] == pytest.approx(line['measured_s'], rel=0.1)
    assert by_jobs['makespan_s'] > same['makespan_s'] + 1
    (wide,) = plan(program, own, '--execution', lost()[0], '--shape', 'wide=6,8GiB,12GiB', '--min',
                   'wide=8')['executions']
    assert wide['plans']['shapes_by_jobs'] == wide['plans']['shapes']


def test_packages_go_where_they_fit(program, own):
    """Memory with its margin, then cores where a package is heavy by them."""
    change(own, f"""UPDATE result SET max_rss_bytes = {4 * GIB} WHERE package_id =
        (SELECT package_id FROM package WHERE name = 'busybox')""",
           """UPDATE result SET wall_ns = 6000000000, cpu_ns = 30000000000 WHERE package_id =
        (SELECT package_id FROM package WHERE name = 'zlib')""",
           f"""UPDATE result SET max_rss_bytes = {13 * GIB} WHERE package_id =
        (SELECT package_id FROM package WHERE name = 'lzo')""")
    page = plan(program, own, '--project', 'qemu-mini', *SHAPES)
    small, big = page['shapes']
    assert (small['packages'], big['packages']) == (7, 3)
    moved = [r for r in harness.expected('cells')['results']
             if r.get('invocation_id') and r['label'].rpartition(':')[2] in ('busybox', 'zlib', 'lzo')]
    assert big['actions'] == len(moved)
    lzo = sum(r['label'].endswith(':lzo') for r in moved)
    assert page['total']['plans']['shapes']['at_risk'] == lzo
    change(own, 'UPDATE result SET max_rss_bytes = NULL')
    page = plan(program, own, '--project', 'qemu-mini', *SHAPES)
    assert page['shapes'][0]['packages'] == 0, 'what is not known goes to the largest'
    figures = page['total']['plans']['shapes']
    assert (figures['at_risk'], figures['risk_unknown']) == (0, figures['actions'])


def test_packages_go_where_package_sizes_sends_them(program, own):
    """Heavy by wall time, by cores, by memory, and where memory is not known."""
    of = "WHERE package_id = (SELECT package_id FROM package WHERE name = '{}')".format
    change(own, f"UPDATE result SET wall_ns = 70000000000, cpu_ns = 1000000000 {of('zlib')}",
           f"UPDATE result SET wall_ns = 6000000000, cpu_ns = 30000000000 {of('lzo')}",
           f"UPDATE result SET max_rss_bytes = {4 * GIB} {of('busybox')}", f"UPDATE result SET max_rss_bytes = NULL {of('host-bc')}",
           # What the ingest keeps of them; of packages until they are summed up anew.
           'UPDATE size_count SET size = 4096 WHERE kind = 1 AND size = (SELECT max(size) FROM size_count WHERE kind = 1)',
           'DELETE FROM package_sum', 'INSERT INTO package_due SELECT package_id FROM package')
    sizes = {r['package']: r['shape'] for r in harness.rows(own, 'SELECT package, shape FROM package_sizes')}
    placed = {row['package']: row['shape'] for row in plan(program, own)['packages']}
    assert len(placed) > 3 and {p: sizes[p] or 'big' for p in placed} == placed
    assert {'big'} == {placed[p] for p in ('zlib', 'lzo', 'busybox')} and 'small' in placed.values()


@pytest.mark.parametrize('key', ['heavy_wall_s', 'heavy_cores', 'heavy_cores_min_s', 'outlier_results', 'sizing_margin_pct'])
def test_without_a_setting_nothing_is_planned(program, own, key):
    change(own, f"DELETE FROM setting WHERE key = '{key}'")
    assert key in program.run('plan', '--db', own, code=3).stderr


# ---- today -------------------------------------------------------------------------------

def test_today_is_not_known_without_values(program, db):
    page = plan(program, db, '--project', 'qemu-mini', '--node', '16,32GiB')
    (today,) = page['today']
    assert (today['pool'], today['cpu'], today['limit_gib'], today['scaling_known']) == ('shared', None, None, False)
    assert today['workers_max'] == 2
    figures = page['total']['plans']['today']
    assert (figures['node_h'], figures['requested_core_h'], figures['at_risk']) == (None, None, None)
    assert figures['risk_unknown'] == figures['actions']
    text = program.run('plan', '--db', db, '--project', 'qemu-mini').stdout
    assert '--values' in text and '--node' in text


VALUES = """
pools:
  shared:
    worker: { concurrency: 1, resources: { requests: { cpu: 4500m, memory: 9Gi }, limits: { memory: 9Gi } } }
    scaling: { min: 1, max: 3, cooldownSeconds: 60 }
"""


def test_today_as_its_pool_was_scaled(program, own, tmp_path):
    (tmp_path / 'values.yaml').write_text(VALUES)
    program.run(harness.copy_sample('cells', tmp_path), '--db', own, '--no-remote', '--no-report', '--values',
                tmp_path / 'values.yaml', '--valid-from', '2026-11-01')
    page = plan(program, own, '--project', 'qemu-mini', '--node', '16,32GiB')
    (today,) = page['today']
    assert (today['cpu'], today['limit_gib'], today['scaling_known']) == (4.5, 9, True)
    assert today['actions'] == page['total']['plans']['today']['actions']
    assert (today['workers_min'], today['workers_max'], today['cooldown_s']) == (1, 3, 60)
    figures = page['total']['plans']['today']
    assert (figures['at_risk'], figures['risk_unknown']) == (0, 0)
    assert figures['most_workers'] <= 3
    assert figures['requested_core_h'] == pytest.approx(figures['worker_h'] * 4.76, rel=1e-6)
    assert 0 < figures['node_h'] <= figures['worker_h']


def allot(own, *given):
    """What results were allotted, cores and GiB: those of the latest execution of qemu-mini, of the one before, …"""
    ids = {one: 900 + i for i, one in enumerate(dict.fromkeys(given))}
    for (cores, gib), number in ids.items():
        change(own, f"""INSERT INTO allotment (allotment_id, source, pool, cpu_request_milli, memory_request_bytes,
            memory_limit_bytes) VALUES ({number}, 1, 'shared', {cores * 1000}, {gib * GIB}, {gib * GIB})""")
    latest = sqlite3.connect(own).execute(
        "SELECT invocation FROM executions WHERE project = 'qemu-mini' ORDER BY first_utc DESC").fetchall()
    for (trace,), one in zip(latest, given):
        change(own, f"""UPDATE result SET allotment_id = {ids[one]} WHERE request_id IN
            (SELECT request_id FROM request WHERE invocation = '{trace}')""")


def test_today_is_what_the_newest_execution_was_given(program, own):
    """A change inside the history: one row of the pool, all replayed on what it is now."""
    allot(own, (4, 9), (3, 4), (4, 9), (2, 4))
    page = plan(program, own, '--project', 'qemu-mini')
    (today,) = page['today']
    assert (today['cpu'], today['limit_gib'], today['executions'], today['executions_otherwise']) == (4, 9, 5, 2)
    for line in page['executions']:
        figures = line['plans']['today']
        assert figures['requested_core_h'] == pytest.approx(figures['worker_h'] * 4.26, rel=1e-6)
    seen = page['executions'][1]['plans']['seen']
    assert seen['requested_core_h'] == pytest.approx(seen['worker_h'] * 3.26, rel=1e-6)
    assert "2 executions given other requests" in program.run('plan', '--db', own, '--project', 'qemu-mini').stdout


def test_a_later_row_of_pool_spec_is_today(program, own, tmp_path):
    """And one that is not in force yet is not."""
    for since, cores, wanted in (('2026-11-01', '3', (3, 0)), (None, '4500m', (4.5, 5)), ('2099-01-01', '7', (4.5, 5))):
        (tmp_path / 'values.yaml').write_text(VALUES.replace('4500m', cores))
        program.run(harness.copy_sample('cells', tmp_path / cores), '--db', own, '--no-remote', '--no-report', '--values',
                    tmp_path / 'values.yaml', *(['--valid-from', since] if since else []))
        (today,) = plan(program, own, '--project', 'qemu-mini')['today']
        assert (today['cpu'], today['executions_otherwise']) == wanted, since
        assert today['workers_max'] == 3


# ---- the same rules ----------------------------------------------------------------------


def test_a_shape_like_todays_costs_the_same(program, own):
    allot(own, (4, 9), (4, 9), (4, 9), (4, 9), (4, 9))
    page = plan(program, own, '--project', 'qemu-mini', '--shape', 'same=4,9GiB', '--node', '16,32GiB')
    assert page['total']['plans']['shapes'] == page['total']['plans']['today']


def test_all_shapes_together_have_as_many_workers_as_today(program, own):
    """Also where both shapes have work; --max takes a shape out of the common number."""
    change(own, f"""UPDATE result SET max_rss_bytes = {5 * GIB} WHERE package_id IN
        (SELECT package_id FROM package WHERE name IN ('busybox', 'zlib', 'lzo'))""")
    page = plan(program, own, '--project', 'qemu-mini', *SHAPES)
    for line in page['executions']:
        assert line['workers_together'] == 2
        assert line['plans']['shapes']['most_workers'] == line['plans']['today']['most_workers'] == 2
    assert min(shape['actions'] for shape in page['shapes']) > 0
    own_max = plan(program, own, '--project', 'qemu-mini', *SHAPES, '--max', 'big=3')
    assert own_max['total']['plans']['shapes']['most_workers'] > 2
    assert [(shape['workers_max'], shape['own_max']) for shape in own_max['shapes']] == [(2, False), (3, True)]


def refused(db, statement):
    with contextlib.closing(sqlite3.connect(db)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)


@pytest.mark.parametrize('row', [
    "('x', 0, 1, 1)", "('x', -1, 1, 1)", "('x', 1000000001, 1, 1)", "('x', 9223372036854775807, 1, 1)", "('x', 1, 0, 1)",
    "('x', 1, -1, 1)", "('x', 1, 2, 1)", "('x', 1, 1, 1125899906842625)", "('', 1, 1, 1)", "('a b', 1, 1, 1)",
    "('x' || char(155), 1, 1, 1)", "('" + 'x' * 64 + "', 1, 1, 1)"])
def test_table_shape_takes_what_shape_takes(own, row):
    refused(own, f'INSERT INTO shape VALUES {row}')
    change(own, "INSERT INTO shape VALUES ('x-_.9', 1000000000, 1, 1125899906842624), ('" + 'x' * 63 + "', 1, 1, 1)")


@pytest.mark.parametrize('column', ['concurrency', 'cpu_request_milli', 'cpu_limit_milli', 'memory_request_bytes', 'memory_limit_bytes',
                                    'workers_min', 'workers_max', 'cooldown_s'])
def test_pool_spec_takes_what_values_may_say(own, column):
    for bad in (-1, 1 << 62):
        refused(own, f"INSERT INTO pool_spec (cache, pool, valid_from_ns, {column}) VALUES ('', 'x', 0, {bad})")


def test_a_margin_has_fractions(program, own):
    change(own, "UPDATE setting SET value = 12.5 WHERE key = 'sizing_margin_pct'", "UPDATE setting SET value = 1.5 WHERE key = 'make_extra_jobs'")
    said = program.run('plan', '--db', own, *SHAPES).stdout
    assert '12.5 % more' in said and 'min(cores + 1.5,' in said


def test_a_retired_pool_bounds_no_shape(program, own):
    """What pool_spec says of a pool of the shape's name counts while it is in force and not retired."""
    change(own, "INSERT INTO pool_spec (cache, pool, valid_from_ns, enabled, workers_min) VALUES ('', 'small', 0, 1, 3),"
           " ('', 'small', 4000000000000000000, 1, 5)")

    def least():
        return {shape['shape']: shape['workers_min'] for shape in plan(program, own, *SHAPES)['shapes']}['small']
    assert least() == 3
    change(own, "INSERT INTO pool_spec (cache, pool, valid_from_ns, enabled, workers_min) VALUES ('', 'small', 1, 0, 3)")
    assert least() == 0
    change(own, "INSERT INTO pool_spec (cache, pool, valid_from_ns, enabled, workers_min) VALUES ('east', 'small', 0, NULL, 2)")
    assert least() == 2


def test_a_pool_that_requests_nothing(program, own, tmp_path):
    """Neither it nor its other containers: nodes hold as many as come."""
    change(own, "UPDATE setting SET value = 0 WHERE key GLOB 'pod_overhead_*'",
           "INSERT INTO pool_spec (cache, pool, valid_from_ns, cpu_request_milli, memory_request_bytes) VALUES ('', 'shared', 0, 0, 0)")
    program.run(harness.copy_sample('cells', tmp_path), '--db', own, '--no-remote', '--no-report')
    page = plan(program, own, *SHAPES, '--node', '16,32GiB')
    assert 0 in {pool['cpu'] for pool in page['today']}


def test_the_page_says_the_cap(program, db):
    text = program.run('plan', '--db', db, '--project', 'qemu-mini', *SHAPES).stdout
    assert "at most 2 workers at once, of whatever shape, as many as today's pools" in text
    text = program.run('plan', '--db', db, '--project', 'qemu-mini', *SHAPES, '--max', 'small=8', '--max', 'big=8').stdout
    assert "all shapes may have 16 workers at once, today's pools 2: plans of unequal size" in text


def test_the_page_says_where_shapes_come_from(program, db):
    text = program.run('plan', '--db', db, '--project', 'qemu-mini').stdout
    assert '\nshapes (those of table shape)\n' in text


@pytest.mark.parametrize('peak, cores, said', [
    (None, 1, 'its memory is not known: the largest'),
    (13, 1, 'the largest, and does not hold its 13 GiB and 15 % more'),
    (1, 5, 'holds its 1 GiB and 15 % more; heavy: more than 4 cores'),
    (1, 7, 'holds its 1 GiB and 15 % more; heavy: more than 4 cores'),
])
def test_why_a_package_goes_there(program, own, peak, cores, said):
    change(own, f"""UPDATE result SET max_rss_bytes = {peak * GIB if peak else 'NULL'}, wall_ns = 6000000000,
        cpu_ns = {cores * 6000000000} WHERE package_id = (SELECT package_id FROM package WHERE name = 'zlib')""")
    (zlib,) = [row for row in plan(program, own, '--project', 'qemu-mini', *SHAPES)['packages'] if row['package'] == 'zlib']
    assert (zlib['shape'], zlib['reason']) == ('big', said)


def test_packages_are_named(program, own):
    change(own, f"""UPDATE result SET max_rss_bytes = {5 * GIB} WHERE package_id IN
        (SELECT package_id FROM package WHERE name IN ('busybox', 'zlib'))""")
    listed = plan(program, own, '--project', 'qemu-mini', *SHAPES)['packages']
    assert len(listed) == 10
    assert [row['package'] for row in listed] == sorted(row['package'] for row in listed)
    assert {row['package'] for row in listed if row['shape'] == 'big'} == {'busybox', 'zlib'}
    reasons = {row['package']: row['reason'] for row in listed}
    assert reasons['zlib'] == 'holds its 5 GiB and 15 % more'
    text = program.run('plan', '--db', own, '--project', 'qemu-mini', *SHAPES).stdout
    assert '\n  on big: busybox, zlib\n' in text and 'on small' not in text
    change(own, f'UPDATE result SET max_rss_bytes = {5 * GIB}')
    text = program.run('plan', '--db', own, '--all', *SHAPES).stdout
    assert ' more: --json lists all\n' in text


# ---- what is not known, and what is wrong ----------------------------------------------------

def test_what_has_no_times_is_counted(program, own):
    trace = lost()[0]
    change(own, f"""DELETE FROM result_time WHERE result_id IN (SELECT r.result_id FROM result r
        JOIN request q ON q.request_id = r.request_id WHERE q.invocation = '{trace}' ORDER BY r.result_id LIMIT 2)""",
           f"""UPDATE result SET cpu_ns = NULL WHERE result_id IN (SELECT r.result_id FROM result r
        JOIN request q ON q.request_id = r.request_id JOIN result_time t ON t.result_id = r.result_id
        WHERE q.invocation = '{trace}' LIMIT 3)""")
    (line,) = plan(program, own, '--execution', trace)['executions']
    assert (line['no_times'], line['no_cpu'], line['plans']['seen']['actions']) == (2, 3, 18)
    text = program.run('plan', '--db', own, '--execution', trace).stdout
    assert '2 actions left out' in text and '3 actions without CPU time' in text
    change(own, 'DELETE FROM result_time')
    refused = program.run('plan', '--db', own, '--execution', trace, code=3)
    assert 'nothing to replay' in refused.stderr


@pytest.mark.parametrize('args, said', [
    (['--shape', 'small=2'], 'small=1.5,2GiB,4GiB'),
    (['--shape', 'a=1,1GiB', '--shape', 'a=2,2GiB'], 'two shapes are named a'),
    (['--node', '16'], '16,32GiB'),
    (['--shape', 'a=20,1GiB', '--node', '16,32GiB'], 'no node holds'),
    (['--max', 'small'], 'small=8'),
    (['--max', 'small=0'], '--max small=N'),
    (['--max', 'small=1', '--min', 'small=2'], 'the minimum, 2'),
    (['--max', 'huge=3'], 'no shape of that name'),
    (['--execution', 'ffff'], 'executions'),
    (['--project', 'nobody'], 'demo-x86_64'),
])
def test_what_is_wrong_is_said(program, db, args, said):
    done = program.run('plan', '--db', db, *(args if '--project' in args else ['--all', *args]), code=3)
    assert said in done.stderr and not done.stdout


def test_no_execution(program, tmp_path):
    root = harness.copy_sample('cells', tmp_path)
    program.run(root, '--db', tmp_path / 'logs.db', '--no-remote', '--no-report')
    done = program.run('plan', '--db', tmp_path / 'logs.db', '--all', code=3)
    assert 'no execution is known' in done.stderr
