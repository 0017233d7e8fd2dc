"""The Prometheus reader against answers that the real server of today does not give."""
import gzip
import json
import re

from servers import Fake, error, probe, series, success

H = 3600


def ended(fields):
    """The time and the length that a question asks for, in seconds."""
    return float(fields['time']), float(re.search(r'\[(\d+)ms\]', fields['query'])[1]) / 1000


def ask(answer, start=0, end=100, code=0):
    with Fake(answer) as server:
        done = probe('range', server.url + '/some/path/', start, end, 'm{a="b"}', code=code)
        return done, server


def test_what_is_asked():
    done, server = ask(lambda *_: success(), 1000, 1000 + 13 * H)
    assert [(verb, path) for verb, path, _ in server.asked] == [('POST', '/some/path/api/v1/query')] * 3
    assert [fields['query'] for *_, fields in server.asked] == ['m{a="b"}[21600000ms]'] * 2 + ['m{a="b"}[3600000ms]']
    assert [fields['time'] for *_, fields in server.asked] == ['22600.000', '44200.000', '47800.000']
    assert done.stats['requests'] == 3


def test_both_versions_give_the_same():
    """Version 2 closes a range on its left, version 3 leaves it open."""
    def server(closed):
        def answer(_, fields):
            at, length = ended(fields)
            times = [t * 1800 for t in range(100) if at - length < t * 1800 <= at or (closed and t * 1800 == at - length)]
            return success(series([(t, t) for t in times], pod='p')) if times else success()
        return answer
    seen = [[s for row in ask(server(closed), 3600, 3600 + 13 * H)[0].of('series') for s in row['samples']]
            for closed in (True, False)]
    assert seen[0] == seen[1]
    assert [t for t, _ in seen[0]] == [t * 1800000 for t in range(3, 29)]


def test_warnings_come_with_data():
    done, _ = ask(lambda *_: success(series([(5, 1)], pod='p'), warnings=['remote storage is slow'], infos=['hm']))
    assert done.warnings == ['remote storage is slow', 'hm']
    assert len(done.of('series')) == 1


def test_values_that_are_no_numbers():
    done, _ = ask(lambda *_: success(series([(1, 'NaN'), (2.5, '+Inf'), (3, '-Inf'), (4.25, '1e+21')], pod='p')))
    (row,) = done.of('series')
    assert row['samples'] == [[4250, 1e21]]
    assert done.stats['not_finite'] == 3


def test_errors_of_the_api():
    done, server = ask(lambda *_: error(400, 'bad_data', 'parse error'), code=2)
    assert done.error == f'{server.url}/some/path: Prometheus answers with an error: parse error (bad_data)'
    done, server = ask(lambda *_: error(422, 'execution', 'found duplicate series'), code=2)
    assert done.error.endswith(': found duplicate series (execution)')
    assert len(server.asked) == 1


def test_a_slow_server_gets_shorter_questions():
    def answer(_, fields):
        at, length = ended(fields)
        if length > 2 * H:
            return error(503, 'timeout', 'query timed out in query execution')
        return success(series([(at, 1)], pod='p'))
    done, server = ask(answer, 0, 6 * H)
    assert [ended(fields)[1] / H for *_, fields in server.asked] == [6, 3, 1.5, 1.5, 1.5, 1.5]
    assert len(done.of('series')) == 4


def test_a_server_that_is_always_slow():
    done, server = ask(lambda *_: error(503, 'timeout', 'query timed out'), 0, 6 * H, code=2)
    assert done.error.endswith('query timed out (timeout)')
    assert len(server.asked) < 12


def test_a_proxy_that_lets_only_get_through():
    def answer(verb, fields):
        return (403, 'application/json', b'{"kind":"Status"}') if verb == 'POST' else success(series([(5, 1)], pod='p'))
    done, server = ask(answer, 0, 7 * H)
    assert [verb for verb, *_ in server.asked] == ['POST', 'GET', 'GET']
    assert server.asked[1][2]['query'] == 'm{a="b"}[21600000ms]'
    assert len(done.of('series')) == 1 # the second piece's sample lies before it


def test_what_is_no_prometheus():
    for status, kind, body, words in (
            (200, 'text/html', b'<html>Sign in</html>', "the answer is not JSON, or cut short: '[' or '{' expected near '<'"),
            (200, 'application/json', b'{"items":[]}', "the answer is JSON, but none of Prometheus's"),
            (200, 'application/json', b'', "the answer is not JSON, or cut short: '[' or '{' expected near end of file"),
            (404, 'text/plain', b'404 page not found\n',
             'answers with status 404: there is no such thing; is the path right? (404 page not found)'),
            (302, 'text/html', b'<a href="/graph">Found</a>',
             'answers with status 302: it sends elsewhere; give the final address'),
            (502, 'text/html', b'<html>Bad Gateway</html>', 'answers with status 502'),
            (500, 'application/json', b'{"message":"?"}', 'answers with status 500')):
        done, server = ask(lambda *_, a=(status, kind, body): a, code=2)
        assert done.error == f'{server.url}/some/path: {words}'


def test_a_large_answer_is_not_held():
    """Some 38 MB of JSON in 200 series, in a process that has less memory."""
    values = [[t / 100, '4617089843.5'] for t in range(8000)]
    one = json.dumps(series([], pod='p')).replace('[]', json.dumps(values)).encode()
    body = b'{"status":"success","data":{"resultType":"matrix","result":[' + b','.join([one] * 200) + b']}}'
    assert len(body) > 32 << 20
    with Fake(lambda *_: (200, 'application/json', body)) as server:
        done = probe('--quiet', '--', 'range', server.url, -1, 100, 'm', env={'ASAN_OPTIONS': 'quarantine_size_mb=1'})
    assert done.stats['samples'] == 200 * 8000
    assert done.stats['bytes'] == len(body)
    assert done.stats['max_rss_bytes'] < len(body)


def test_an_answer_that_unpacks_without_end():
    packed = gzip.compress(b'{"status":"success","data":{"result":[' + b' ' * (8 << 20))
    with Fake(lambda *_: (200, 'application/json', packed, ('Content-Encoding', 'gzip'))) as server:
        done = probe('--body-max', 1 << 20, 'range', server.url, 0, 100, 'm', code=2)
        assert done.error == f'{server.url}: the answer is larger than 1048576 bytes'
        done = probe('range', server.url, 0, 100, 'm', code=2)
        assert done.error.startswith(f'{server.url}: a part of the JSON is larger than ')


def ksm(metric, values, **labels):
    return metric, series(values, namespace='buildbarn', pod='p', uid='u', container='runner', job='k', **labels)


def evidence(*rows, start=1000, end=5000):
    """What the reader makes of (metric, series) pairs; each is given to the question that names it."""
    def answer(_, fields):
        at, length = ended(fields)
        found = [x for metric, x in rows if metric in fields['query']]
        inside = []
        for x in found:
            values = [v for v in x['values'] if at - length < v[0] <= at]
            if values and fields['query'].startswith('last_over_time('):
                inside.append({'metric': x['metric'], 'value': [at, values[-1][1]]})
            elif values:
                inside.append({**x, 'values': values})
        return success(*inside)
    with Fake(answer) as server:
        return probe('evidence', server.url, start, end)


TIMES = 'kube_pod_container_status_last_terminated_timestamp'
REASONS = 'kube_pod_container_status_last_terminated_reason'
COUNTS = 'kube_pod_container_status_restarts_total'


def test_terminations_without_times():
    """kube-state-metrics before 2.12."""
    done = evidence(ksm(REASONS, [(2000, 1), (2060, 1)], reason='OOMKilled'), ksm(REASONS, [(2000, 0)], reason='Error'))
    (row,) = done.of('termination')
    assert (row['reason'], row['finished_ns'], row['exit_code']) == ('OOMKilled', None, None)
    assert done.warnings == ['kube-state-metrics gives no times of terminations (before 2.12)']


def test_kills_that_nobody_saw():
    """The count went from 1 to 4 with one new time: two terminations are known by number only."""
    done = evidence(ksm(TIMES, [(2000, 1990), (2060, 2050)]), ksm(COUNTS, [(2000, 1), (2060, 4)]))
    assert [row['restarts'] for row in done.of('termination')] == [1, 4]
    assert done.tally['unseen'] == 2


def test_a_termination_before_the_time_asked():
    (row,) = evidence(ksm(TIMES, [(2000, 15)])).of('termination')
    assert row['finished_ns'] == 15 * 10 ** 9


def oom(values, identity='c0', job='a', **more):
    return 'container_oom_events_total', series(values, namespace='buildbarn', pod='p', container='runner',
                                                id=identity, job=job, **more)


def counts(*rows, **window):
    def at(ns):
        return None if ns is None else int(ns) / 1e9
    return [(row['container_id'], at(row['first_ns']), at(row['last_ns']), row['count'])
            for row in evidence(*rows, **window).of('oom')]


def test_counters_are_not_mixed():
    """A new container begins at 0 under a new id; that is no fall, and no rise of the old one."""
    assert counts(oom([(2000, 0), (2060, 3)]), oom([(2120, 0), (2180, 1)], 'c1')) == [
        ('c0', 2000, 2060, 3), ('c1', 2120, 2180, 1)]


def test_a_counter_that_begins_above_zero():
    """Killed before the first scrape: since when is not known, but it began in the time asked."""
    assert counts(oom([(2000, 2), (2060, 2)])) == [('c0', None, 2000, 2)]
    # It was there before: its kills are those of another time.
    assert counts(oom([(950, 2), (1010, 2)])) == []


def test_a_counter_whose_kubelet_began_anew():
    assert counts(oom([(2000, 2), (2060, 0), (2120, 1)]), start=1990) == [
        ('c0', None, 2000, 2), ('c0', 2060, 2120, 1)]
    assert counts(oom([(1990, 2), (2060, 1)]), start=2000) == [('c0', 1990, 2060, 1)]


def test_one_job_counts():
    rows = [oom([(2000, 0), (2060, 1)], job=job) for job in ('a', 'kubelet', 'z')]
    rows += [oom([(2010, 0), (2070, 1)], job='b')]
    assert counts(*rows) == [('c0', 2000, 2060, 1)]


def test_a_label_that_changes():
    """Node labels are copied to the series: the same container goes on under another series."""
    assert counts(oom([(2000, 0)], zone='x'), oom([(2060, 1)], zone='y')) == [('c0', 2000, 2060, 1)]


def test_pods_of_the_same_name():
    """A StatefulSet gives the name again: the uid tells them apart."""
    old = series([(2000, 1990)], namespace='buildbarn', pod='p', uid='u1', container='runner')
    new = series([(3000, 2990)], namespace='buildbarn', pod='p', uid='u2', container='runner')
    done = evidence((TIMES, old), (TIMES, new))
    assert [(row['uid'], row['finished_ns']) for row in done.of('termination')] == [
        ('u1', 1990 * 10 ** 9), ('u2', 2990 * 10 ** 9)]
    assert done.tally['pods'] == 1


def test_series_of_something_else():
    done = evidence(('resource_limits', series([(2000, 5)], namespace='buildbarn', pod='p', container='runner',
                                               resource='ephemeral_storage', unit='byte')),
                    ('kube_pod_info', series([(2000, 1)], namespace='buildbarn', node='n')))
    assert done.tally['passed_over'] == 2
    assert done.of('container') == []
