"""Pods and Prometheus, read while an ingest goes on: what is stored, what is asked and what is not."""
import signal
import socket
import sqlite3
import subprocess
import sys
import time

import pytest

import harness
from harness import rows, value

sys.path.insert(0, str(harness.ROOT / 'tests/prometheus'))
from servers import HERE, RECORDED, Fake, Prometheus  # noqa: E402

PODS = harness.ROOT / 'tests/data/pods'
RUNNER = 'worker-shared-5b6dd8dff9-2bv88'
KILLED = 1796003841 * 10 ** 9
BASE = int(RECORDED['BASE'])


@pytest.fixture(scope='module')
def prometheus(tmp_path_factory):
    """The recorded actions at their real times; the kill of bad-oom-child's child is counted."""
    variables = {**RECORDED, 'SPAN': '2100', 'ACTIONS': str(HERE / 'recorded-child-kill.tsv')}
    with Prometheus(tmp_path_factory.mktemp('prometheus'), **variables) as running:
        yield running


def ingest(br2, root, db, *options, **more):
    return br2.run(root, '--db', db, '--no-remote', '--no-report', *options, **more)


def set_setting(db, key, number):
    connection = sqlite3.connect(db)
    with connection:
        assert connection.execute('UPDATE setting SET value = ? WHERE key = ?', (number, key)).rowcount == 1
    connection.close()


@pytest.fixture
def stored(br2, project, tmp_path):
    """(root, db): the logs are stored, and the retention holds however long ago they were made."""
    root, db = project('failures'), tmp_path / 'br2.db'
    ingest(br2, root, db)
    set_setting(db, 'prometheus_hours', 10 ** 6)
    return root, db


def terminations(db, layer):
    return rows(db, 'SELECT p.name AS pod, t.container, t.finished_ns, t.exit_code, t.reason, t.restarts'
                ' FROM termination t JOIN pod p USING (pod_id) WHERE t.layer = ? ORDER BY t.finished_ns', layer)


THE_KILL = {'pod': RUNNER, 'container': 'runner', 'finished_ns': KILLED, 'exit_code': 137, 'reason': 'OOMKilled',
            'restarts': 1}


def looks(db, layer=4):
    return rows(db, 'SELECT cache, selector, from_ns, to_ns FROM layer_look WHERE layer = ? ORDER BY from_ns', layer)


def run_times(db):
    return rows(db, 'SELECT min(from_ns) AS first, max(to_ns) AS last FROM _run_time')[0]


# ---- pods --------------------------------------------------------------------------------

def test_pods_from_a_file(br2, stored):
    root, db = stored
    ingest(br2, root, db, '--pods', PODS / 'recorded.json')
    assert terminations(db, 3) == [THE_KILL]
    assert value(db, 'SELECT memory_limit_bytes FROM container JOIN pod USING (pod_id)'
                 " WHERE pod.name = ? AND container.name = 'runner'", RUNNER) == 1 << 30
    (look,) = looks(db, 3)
    assert look['from_ns'] == 1796003402 * 10 ** 9, 'the oldest start that the list names'
    assert look['to_ns'] == (PODS / 'recorded.json').stat().st_mtime_ns
    before = db.read_bytes()
    ingest(br2, root, db, '--pods', PODS / 'recorded.json')
    assert db.read_bytes() == before


def test_lists_in_any_order(br2, stored, tmp_path):
    root, db = stored
    other = tmp_path / 'other.db'
    other.write_bytes(db.read_bytes())
    lists = [PODS / 'recorded.json', PODS / 'podlist.json']
    ingest(br2, root, db, '--pods', lists[0], '--pods', lists[1])
    for one in reversed(lists):
        ingest(br2, root, other, '--pods', one)
    dump = [subprocess.run([sys.executable, harness.ROOT / 'tests/dump_rows.py', x], check=True,
                           capture_output=True, text=True).stdout for x in (db, other)]
    assert dump[0] == dump[1]
    assert len(terminations(db, 3)) == 2


def test_pods_from_a_pipe(br2, stored):
    root, db = stored
    with open(PODS / 'recorded.json') as pods:
        done = subprocess.run([br2.binary, root, '--db', db, '--no-remote', '--no-report', '--pods', '-'],
                              stdin=pods, env=br2.environment({}), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert 'standard input: 2 pods' in done.stderr
    assert terminations(db, 3) == [THE_KILL]


def test_pods_from_the_api(br2, stored):
    root, db = stored
    text = (PODS / 'recorded.json').read_bytes()
    began = time.time_ns()
    with Fake(lambda verb, fields: (200, 'application/json', text)) as api:
        ingest(br2, root, db, '--pods', f'{api.url}/api/v1/namespaces/buildbarn/pods')
    assert [asked[:2] for asked in api.asked] == [('GET', '/api/v1/namespaces/buildbarn/pods')]
    assert terminations(db, 3) == [THE_KILL]
    assert looks(db, 3)[0]['to_ns'] > began


@pytest.mark.parametrize('text, words', [
    (None, 'cannot open'), ('', 'cut short'), ('{"kind":"List","items":[{"kind":"Pod"', 'cut short'),
    ('{"kind":"ConfigMap"}', 'ConfigMap')])
def test_pods_that_cannot_be_read(br2, stored, tmp_path, text, words):
    """The others are stored all the same."""
    root, db = stored
    bad = tmp_path / 'bad.json'
    if text is not None:
        bad.write_text(text)
    said = ingest(br2, root, db, '--pods', bad, '--pods', PODS / 'recorded.json', code=2)
    errors = [line for line in said.stderr.splitlines() if 'error' in line]
    assert len(errors) == 1 and words in errors[0] and str(bad) in errors[0]
    assert terminations(db, 3) == [THE_KILL]


def test_a_list_without_pods_is_no_look(br2, stored, tmp_path):
    root, db = stored
    empty = tmp_path / 'empty.json'
    empty.write_text('{"kind":"List","items":[]}')
    said = ingest(br2, root, db, '--pods', empty)
    assert 'without any pod' in said.stderr
    assert not looks(db, 3)


# ---- Prometheus ----------------------------------------------------------------------------

def test_what_is_stored(br2, stored, prometheus):
    root, db = stored
    said = ingest(br2, root, db, '--prometheus', prometheus.url)
    assert terminations(db, 4) == [THE_KILL]
    (count,) = rows(db, 'SELECT p.name AS pod, o.container, o.first_ns, o.last_ns, o.count FROM oom_count o'
                    ' JOIN pod p USING (pod_id)')
    assert (count['pod'], count['container'], count['count']) == (RUNNER, 'runner', 1)
    assert count['first_ns'] < KILLED + 1_550_000_000 <= count['last_ns'], 'bad-oom-child ended between the samples'
    assert value(db, 'SELECT count(*) FROM container WHERE memory_limit_bytes = ?', 1 << 30) == 4
    assert '4 pods, 1 ends of containers, 1 kills inside of living ones (8 requests)' in said.stderr
    (look,) = looks(db)
    assert (look['cache'], look['selector']) == ('', 'buildbarn/runner')
    assert (look['from_ns'], look['to_ns']) == tuple(run_times(db).values())


def test_nothing_is_asked_twice(br2, stored, prometheus):
    root, db = stored
    ingest(br2, root, db, '--prometheus', prometheus.url)
    before = db.read_bytes()
    with harness.Listener() as nobody:
        said = ingest(br2, root, db, '--prometheus', f'http://127.0.0.1:{nobody.port}')
        assert nobody.connections == 0
    assert 'no run that it knows of and was not asked about' in said.stderr
    assert db.read_bytes() == before


def test_only_what_is_new_is_asked(br2, stored, prometheus, project):
    """The runs of the second project begin before those of the first, and end among them."""
    root, db = stored
    ingest(br2, root, db, '--prometheus', prometheus.url)
    first = looks(db)[0]
    said = ingest(br2, project('demo-x86_64'), db, '--prometheus', prometheus.url)
    assert '0 kills inside of living ones (8 requests)' in said.stderr, 'that one was found before'
    (look,) = looks(db)
    assert look['from_ns'] < first['from_ns'] and look['to_ns'] == first['to_ns']
    assert (look['from_ns'], look['to_ns']) == tuple(run_times(db).values())
    assert terminations(db, 4) == [THE_KILL]


def test_runs_far_apart_are_asked_apart(br2, stored, prometheus):
    root, db = stored
    connection = sqlite3.connect(db)
    with connection:
        connection.execute('UPDATE run SET start_ns = start_ns - 86400000000000 WHERE run_id = 1')
        connection.execute('UPDATE attempt SET start_ns = start_ns - 86400000000000 WHERE run_id = 1')
    connection.close()
    ingest(br2, root, db, '--prometheus', prometheus.url)
    # A day ago there was no pod: that is no look.
    (look,) = looks(db)
    assert look['from_ns'] > BASE * 10 ** 9


def test_without_the_flag_nobody_is_asked(br2, stored):
    root, db = stored
    ingest(br2, root, db)
    assert not looks(db) and not looks(db, 3)


def test_what_is_too_old_is_not_asked(br2, stored):
    root, db = stored
    set_setting(db, 'prometheus_hours', 0)
    with harness.Listener() as nobody:
        ingest(br2, root, db, '--prometheus', f'http://127.0.0.1:{nobody.port}')
        assert nobody.connections == 0


def test_what_may_not_be_scraped_yet_is_asked_again(br2, stored, prometheus):
    root, db = stored
    times = run_times(db)
    middle = (times['first'] + times['last']) // 2
    set_setting(db, 'prometheus_lag_s', (time.time_ns() - middle) / 1e9)
    ingest(br2, root, db, '--prometheus', prometheus.url)
    assert terminations(db, 4) == [THE_KILL], 'what is there already is stored'
    (look,) = looks(db)
    assert look['from_ns'] == times['first'] and abs(look['to_ns'] - middle) < 30 * 10 ** 9
    set_setting(db, 'prometheus_lag_s', 120)
    said = ingest(br2, root, db, '--prometheus', prometheus.url)
    assert '(8 requests)' in said.stderr
    (look,) = looks(db)
    assert (look['from_ns'], look['to_ns']) == tuple(times.values())


def test_a_wrong_namespace_is_no_look(br2, stored, prometheus):
    root, db = stored
    said = ingest(br2, root, db, '--prometheus', prometheus.url, '--namespace', 'elsewhere')
    assert "no container 'runner' in namespace 'elsewhere'" in said.stderr
    assert not looks(db)
    ingest(br2, root, db, '--prometheus', prometheus.url)
    assert terminations(db, 4) == [THE_KILL]


def test_another_container(br2, stored, prometheus):
    """By option, else by the setting of which the views take it."""
    root, db = stored
    ingest(br2, root, db, '--prometheus', prometheus.url, '--container', 'worker')
    assert not looks(db), 'kube-state-metrics of the recipe knows runners only'
    set_setting(db, 'runner_container', 'worker')
    said = ingest(br2, root, db, '--prometheus', prometheus.url)
    assert not looks(db)
    assert "no container 'worker'" in said.stderr or 'kube-state-metrics' in said.stderr
    ingest(br2, root, db, '--prometheus', prometheus.url, '--container', 'runner')
    assert looks(db)[0]['selector'] == 'buildbarn/runner'


def test_clusters_are_told_apart(br2, stored, prometheus):
    root, db = stored
    with harness.Listener() as nobody:
        ingest(br2, root, db, '--cache', 'east', '--prometheus', f'http://127.0.0.1:{nobody.port}')
        assert nobody.connections == 0, 'no run of cluster east is stored'
    assert not looks(db)


def test_unreachable(br2, project, tmp_path):
    root, db = project('failures'), tmp_path / 'br2.db'
    nobody = f'http://127.0.0.1:{harness.free_port()}'
    ingest(br2, root, db)
    set_setting(db, 'prometheus_hours', 10 ** 6)
    said = ingest(br2, root, db, '--prometheus', nobody, '--pods', PODS / 'recorded.json', code=2)
    (error,) = [line for line in said.stderr.splitlines() if 'error' in line]
    assert nobody in error and 'port forwarded' in error
    assert terminations(db, 3) == [THE_KILL] and not looks(db)


def test_interrupt_while_a_server_is_silent(br2, stored):
    root, db = stored
    with socket.create_server(('127.0.0.1', 0)) as silent:
        url = f'http://127.0.0.1:{silent.getsockname()[1]}'
        process = br2.start(root, '--db', db, '--no-remote', '--no-report', '--prometheus', url)
        connection, _ = silent.accept()
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        connection.close()
    assert process.returncode == 128 + signal.SIGINT
    assert 'interrupted; what was read is stored' in err and time.monotonic() - began < 5


def test_quiet_and_dry_run(br2, stored, prometheus):
    root, db = stored
    before = db.read_bytes()
    with harness.Listener() as nobody:
        said = br2.run(root, '--db', db, '--dry-run', '--pods', PODS / 'recorded.json', '--pods',
                       f'http://127.0.0.1:{nobody.port}', '--prometheus', f'http://127.0.0.1:{nobody.port}')
        assert nobody.connections == 0
    assert '2 pods, 4 containers, 1 ends of containers' in said.stderr
    assert db.read_bytes() == before
    said = ingest(br2, root, db, '--quiet', '--prometheus', prometheus.url, '--pods', PODS / 'recorded.json')
    assert said.stderr == '' and said.stdout == ''


# ---- who asks --------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def guarded(tmp_path_factory):
    """With TLS and a password."""
    with Prometheus(tmp_path_factory.mktemp('guarded'), AUTH='1', TLS='1', **RECORDED) as running:
        yield running


def test_password_and_ca(br2, stored, guarded, tmp_path):
    root, db = stored
    (tmp_path / 'password').write_text('secret\n')
    before = db.read_bytes().count(b'secret')  # comments have the word
    said = ingest(br2, root, db, '--prometheus', guarded.url, '--prom-ca', guarded.folder / 'tls.crt',
                  '--prom-user', 'test', '--prom-password-file', tmp_path / 'password')
    assert terminations(db, 4) == [THE_KILL]
    assert db.read_bytes().count(b'secret') == before and 'secret' not in said.stderr


def test_password_from_the_environment(br2, stored, guarded):
    root, db = stored
    ingest(br2, root, db, '--prometheus', guarded.url, '--prom-ca', guarded.folder / 'tls.crt',
           '--prom-user', 'test', env={'BR2_PROM_PASSWORD': 'secret'})
    assert terminations(db, 4) == [THE_KILL]


@pytest.mark.parametrize('options, words', [
    ([], 'not trusted'),
    (['--prom-ca', 'CA'], '--prom-user'),
    (['--prom-ca', 'CA', '--prom-user', 'test', '--prom-password-file', 'WRONG'], 'refused the user'),
    (['--prom-ca', 'CA', '--prom-token-file', 'WRONG'], 'refused the token')])
def test_refused(br2, stored, guarded, tmp_path, options, words):
    root, db = stored
    (tmp_path / 'wrong').write_text('mistaken\n')
    files = {'CA': guarded.folder / 'tls.crt', 'WRONG': tmp_path / 'wrong'}
    said = ingest(br2, root, db, '--prometheus', guarded.url, *[files.get(x, x) for x in options], code=2)
    (error,) = [line for line in said.stderr.splitlines() if 'error' in line]
    assert words in error and 'mistaken' not in said.stderr
    assert not looks(db)


@pytest.mark.parametrize('options', [
    ['--prometheus', 'ftp://127.0.0.1/'], ['--prometheus', 'http://user:secret@127.0.0.1/'],
    ['--prometheus', 'http://127.0.0.1/', '--prom-token-file', '/nowhere'],
    ['--prom-user', 'x'], ['--namespace', 'x'], ['--container', 'x'], ['--pods-token-file', 'x'],
    ['--pods', '-', '--pods', '-'], ['--pods', 'http://127.0.0.1:x/']])
def test_what_cannot_be_right_stops_at_once(br2, project, tmp_path, options):
    said = ingest(br2, project('failures'), tmp_path / 'br2.db', *options, code=3)
    assert not (tmp_path / 'br2.db').exists()
    assert 'secret' not in said.stderr
    assert len(said.stderr.splitlines()) == 1
