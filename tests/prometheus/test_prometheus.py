"""The readers against a real Prometheus with known kills."""
import pytest

from servers import RECORDED, HERE, Prometheus, probe

POD = 'worker-shared-5b6dd8dff9-'
SECOND = 10 ** 9


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    with Prometheus(tmp_path_factory.mktemp('recorded'), **RECORDED) as server:
        yield server


@pytest.fixture(scope='module', params=['0', '1'], ids=['one job', 'two jobs'])
def kills(tmp_path_factory, request):
    """With the minute between two scrapes that the user's cluster has."""
    with Prometheus(tmp_path_factory.mktemp('kills'), STEP='60', ACTIONS=str(HERE / 'kills.tsv'),
                    DUPLICATE=request.param) as server:
        yield server


def evidence(server, start=0, end=None, *options, **more):
    end = server.end if end is None else server.base + end
    return probe(*options, 'evidence', server.url, server.base + start, end, **more)


def seconds(row, base):
    return (int(row['finished_ns']) - base * SECOND) // SECOND


def rises(answer, base):
    """{pod: [(after, until, count), …]} in seconds after base."""
    def at(ns):
        return None if ns is None else round((int(ns) - base * SECOND) / SECOND, 3)
    found = {}
    for row in answer.of('oom'):
        found.setdefault(row['pod'].removeprefix(POD), []).append(
            (at(row['first_ns']), at(row['last_ns']), row['count']))
    return found


# ---- the recorded actions --------------------------------------------------------

def test_the_known_kill(recorded):
    answer = evidence(recorded)
    (kill,) = answer.of('termination')
    assert kill == {'row': 'termination', 'layer': 4, 'namespace': 'buildbarn', 'pod': POD + '2bv88', 'uid': 'uid-1',
                    'container': 'runner', 'container_id': None, 'reason': 'OOMKilled', 'exit_code': 137,
                    'signal': None, 'started_ns': None, 'finished_ns': str(1796003841 * SECOND), 'restarts': 1}
    assert not answer.of('oom')
    assert answer.tally['pods'] == 4
    assert answer.tally['unseen'] == 0
    assert not answer.warnings


def test_containers(recorded):
    rows = {row['pod']: row for row in evidence(recorded).of('container')}
    assert len(rows) == 4
    assert rows[POD + '2bv88'] == {
        'row': 'container', 'layer': 4, 'namespace': 'buildbarn', 'pod': POD + '2bv88', 'uid': 'uid-1',
        'node': 'nodes-1', 'container': 'runner', 'cpu_request': 4500, 'cpu_limit': None,
        'memory_request': 1 << 30, 'memory_limit': 1 << 30, 'restarts': 1}
    assert rows[POD + 'h7vmn']['node'] == 'nodes-2'


def test_the_pods_say_the_same(recorded):
    """Both layers name the kill alike: they can be joined by pod, uid, container and second."""
    (pods,) = probe('pods', HERE.parent / 'data/pods/recorded.json').of('termination')
    (prometheus,) = evidence(recorded).of('termination')
    for key in ('namespace', 'pod', 'uid', 'container', 'reason', 'exit_code', 'finished_ns', 'restarts'):
        assert pods[key] == prometheus[key]


def test_pods_from_standard_input():
    path = HERE.parent / 'data/pods/recorded.json'
    assert probe('pods', '-', text=path.read_text()).rows == probe('pods', path).rows
    assert probe('pods', '-', text='{', code=2).error.startswith('standard input: not JSON, or cut short: ')


def test_a_counted_kill_of_a_child(tmp_path):
    with Prometheus(tmp_path, **{**RECORDED, 'ACTIONS': str(HERE / 'recorded-child-kill.tsv')}) as server:
        answer = evidence(server)
        (kill,) = answer.of('termination')
        # bad-oom-child ended 142.55 s after base; the samples of its pod have a phase of .137
        assert rises(answer, server.base) == {'2bv88': [(142.137, 143.137, 1)]}
        assert seconds(kill, server.base) == 141
        (row,) = answer.of('oom')
        assert row['container_id'].endswith('/runner1') # the one that began after the first kill


# ---- all ways of being killed ------------------------------------------------------

def test_each_kill_once(kills):
    answer = evidence(kills)
    found = sorted((row['pod'].removeprefix(POD), seconds(row, kills.base), row['reason'], row['exit_code'],
                    row['restarts']) for row in answer.of('termination'))
    assert found == [('2bv88', 300, 'OOMKilled', 137, 1), ('2bv88', 620, 'Error', 137, 2),
                     ('2bv88', 900, 'OOMKilled', 143, 3), ('h7vmn', 498, 'OOMKilled', 137, 2),
                     ('x7k4q', 800, 'OOMKilled', 137, 1)]
    assert answer.tally['terminations'] == 5


def test_counted_kills_say_when(kills):
    # A phase of 6.274 s: samples at 366.274, 426.274, … The first two are between two samples each.
    assert rises(evidence(kills), kills.base) == {
        'x7k4q': [(366.274, 426.274, 1), (426.274, 486.274, 1), (966.274, 1026.274, 1)]}


def test_halves_give_the_whole(kills):
    def facts(answer):
        return {tuple(sorted(row.items())) for row in answer.of('termination') + answer.of('oom')}
    whole = facts(evidence(kills))
    for cut in (366.274, 400, 426.274, 450, 900, 1000):
        assert facts(evidence(kills, 0, cut)) | facts(evidence(kills, cut)) == whole


def test_a_window_has_its_own_rises_only(kills):
    answer = evidence(kills, 427, 440)
    assert rises(answer, kills.base) == {'x7k4q': [(426.274, 486.274, 1)]}
    assert rises(evidence(kills, 500, 900), kills.base) == {}


def test_a_kill_that_only_the_count_tells(kills):
    """h7vmn went from 0 to 2 between two scrapes, with one time to show for it."""
    assert evidence(kills).tally['unseen'] == 1


# ---- raw samples ----------------------------------------------------------------------

def test_samples_are_raw(recorded):
    """One second between samples: 600 in ten minutes, each once, none filled in."""
    answer = probe('range', recorded.url, recorded.base, recorded.base + 600,
                   f'container_memory_working_set_bytes{{container="runner",pod="{POD}2bv88"}}')
    samples = [s for row in answer.of('series') for s in row['samples']]
    times = [t for t, _ in samples]
    assert times == sorted(set(times))
    assert len(times) == 597 # the first at 3.137 s
    inside = [v for t, v in samples if 141918 <= t - recorded.base * 1000 <= 142550]
    assert inside == [1437515084]


def test_pieces_of_six_hours(tmp_path):
    with Prometheus(tmp_path, STEP='120', SPAN=str(13 * 3600)) as server:
        answer = probe('range', server.url, server.base - 1, server.end,
                       f'container_memory_working_set_bytes{{container="runner",pod="{POD}2bv88"}}')
        times = [t for row in answer.of('series') for t, _ in row['samples']]
        assert times == sorted(set(times))
        assert len(times) == 13 * 30
        assert answer.stats['requests'] == 3


def test_too_much_at_once(tmp_path):
    """A server that takes few samples a question gets shorter questions."""
    with Prometheus(tmp_path, FLAGS='--query.max-samples=100') as server:
        answer = probe('range', server.url, server.base - 1, server.end,
                       'container_memory_working_set_bytes{container="runner"}')
        times = [(row['pod'], t) for row in answer.of('series') for t, _ in row['samples']]
        assert len(times) == len(set(times)) == 4 * 480
        assert answer.stats['requests'] > 4
        answer = probe('range', server.url, server.base - 1, server.end, '{job=~".+"}', code=2)
        assert 'too many samples' in answer.error


# ---- who may ask ------------------------------------------------------------------------

def test_basic_authentication_and_tls(tmp_path):
    password = tmp_path / 'password'
    password.write_text('secret\n')
    ca = tmp_path / 'prometheus/tls.crt'
    with Prometheus(tmp_path, AUTH='1', TLS='1', **RECORDED) as server:
        answer = evidence(server, 0, None, '--ca', ca, '--user', 'test', env={'PROBE_PASSWORD': 'secret'})
        assert len(answer.of('termination')) == 1
        answer = evidence(server, 0, None, '--ca', ca, '--user', 'test', '--password-file', password)
        assert len(answer.of('termination')) == 1
        name = server.url
        for options, words in (
                (['--ca', ca], 'wants to know who asks (401); give --user or --token-file'),
                (['--ca', ca, '--token-file', password], f'refused the token of {password} (401)'),
                (['--user', 'test', '--password-file', password], 'its certificate is not trusted; give its CA with --ca ('),
                (['--ca', ca, '--user', 'wrong', '--password-file', password], 'refused the user or its password (401)')):
            answer = evidence(server, 0, None, *options, code=2)
            assert answer.error.startswith(f'{name}: {words}')
            assert 'secret' not in answer.stderr
        answer = probe('evidence', server.url.replace('https', 'http'), 0, 1, code=2)
        assert answer.error == f'{name.replace("https", "http")}: wants TLS; give its https:// address'


def test_an_empty_server(tmp_path):
    with Prometheus(tmp_path, EMPTY='1') as server:
        answer = evidence(server)
        assert answer.tally['pods'] == 0
        assert answer.tally['newest_ns'] is None
        assert answer.warnings == ["Prometheus knows no container 'runner' in namespace 'buildbarn' in the time of "
                                   'the actions']


def test_other_names(recorded):
    assert evidence(recorded, 0, None, '--namespace', 'else"\\where').tally['pods'] == 0
    assert evidence(recorded, 0, None, '--container', 'worker').of('container') == []
    every = evidence(recorded, 0, None, '--namespace', '', '--container', '')
    assert len(every.of('termination')) == 1
    assert len(every.of('container')) == 4
