"""Servers that answer wrongly, in part, or not any more, seen from a whole ingest: what was answered
is kept, one line says what was not, and a server in order completes it later."""
import base64
import gzip
import json
import re
import sys
import time
from pathlib import Path

import pytest

import harness
from harness import dump, rows, troubles, value

sys.path.insert(0, str(Path(__file__).parents[1] / 'server'))
from peer import GRPC, Peer, each  # noqa: E402

RESULTS = 'SELECT count(*) FROM result WHERE source = 1'
WANTED = 121
NOT_FOUND = GRPC + [('grpc-status', '5'), ('grpc-message', 'not there')]


def recorded():
    """What the cache answers for the sample `cells`, by hash."""
    with gzip.open(harness.LOGS / 'cache/action_results.jsonl.gz', 'rt') as lines:
        found = [row for row in map(json.loads, lines) if row['instance'] == 'qemu-mini']
    return {row['digest'].split(':')[0]: base64.b64decode(row['action_result']) for row in found}


ANSWERS = recorded()


def cache(spoil=lambda connection, stream, number, hashed: False, **settings):
    """It answers as recorded; but first `spoil` may do something else, and say so."""
    asked = []

    def answer(connection, stream):
        hashed = re.search(rb'[0-9a-f]{64}', connection.frames[-1][3])[0].decode()
        asked.append(hashed)
        if spoil(connection, stream, len(asked), hashed):
            return
        if hashed in ANSWERS:
            connection.answer(stream, ANSWERS[hashed])
        else:
            connection.headers(stream, NOT_FOUND, end=True)
    return Peer(each(answer), **settings)


def ingest(br2, root, db, address, *options, code=0):
    return br2.run(root, '--db', db, '--endpoint', address, '--no-report', '--instance', 'qemu-mini', *options,
                   code=code, timeout=120)


@pytest.fixture
def db(tmp_path):
    return tmp_path / 'br2.db'


@pytest.fixture
def clean(br2, project, tmp_path):
    """A project, and the rows that a cache in order leads to."""
    root = project('cells')
    with cache() as good:
        ingest(br2, root, tmp_path / 'clean.db', good.address)
    assert value(tmp_path / 'clean.db', RESULTS) == WANTED
    return root, dump(tmp_path / 'clean.db')


def check_mended(br2, clean, db):
    """The next ingest asks again for what was not answered well."""
    root, wanted = clean
    with cache() as good:
        said = ingest(br2, root, db, good.address, '--retry-missing')
    assert troubles(said) == []
    assert dump(db) == wanted


# ---- streams ---------------------------------------------------------------------------------------

@pytest.mark.parametrize('error', [1, 2, 7, 8, 11])
def test_every_tenth_stream_is_reset(br2, clean, db, error):
    """Refused streams and those that need a pause are asked for again; others once, and are counted then."""
    root, _ = clean

    def reset(connection, stream, number, _):
        if number % 10 == 0:
            connection.reset(stream, error)
            return True
    with cache(reset) as bad:
        said = ingest(br2, root, db, bad.address)
    stored = value(db, RESULTS)
    assert stored == WANTED if error in (7, 11) else 100 <= stored <= WANTED
    assert len(troubles(said)) == (stored < WANTED)
    assert value(db, 'SELECT count(*) FROM lookup WHERE state <> 1') == WANTED - stored
    check_mended(br2, clean, db)


@pytest.mark.parametrize('most', [1, 3])
def test_few_streams_at_once(br2, clean, db, most):
    root, wanted = clean
    with cache(max_streams=most) as narrow:
        assert troubles(ingest(br2, root, db, narrow.address)) == []
    assert dump(db) == wanted


def test_connections_that_end_all_the_time(br2, clean, db):
    """A proxy that lets each serve some requests only: what it never took costs no attempt."""
    root, wanted = clean

    def leave(connection, stream, number, _):
        if number % 7 == 0:
            connection.goaway(stream)
    with cache(leave) as leaving:
        assert troubles(ingest(br2, root, db, leaving.address)) == []
        assert len(leaving.connections) > 10
    assert dump(db) == wanted


# ---- answers ------------------------------------------------------------------------------------------

def spoiled(what):
    """Every fifth answer is that, one or two fields behind the result or instead of it."""
    def spoil(connection, stream, number, hashed):
        if number % 5 or hashed not in ANSWERS:
            return False
        connection.spend(stream, len(what(hashed)) + 5)
        connection.answer(stream, what(hashed))
        return True
    return spoil


@pytest.mark.parametrize('garbage', [b'\xff' * 50, b'\x08', b'<html>not here</html>', b'\x12\xff\xff\xff\xff\x0f'])
def test_garbage_for_every_fifth(br2, clean, db, garbage):
    root, _ = clean
    with cache(spoiled(lambda _: garbage)) as bad:
        said = ingest(br2, root, db, bad.address)
    stored = value(db, RESULTS)
    assert 90 <= stored < WANTED
    (warning,) = troubles(said)
    assert f'{WANTED - stored} malformed' in warning
    assert value(db, "SELECT count(*) FROM missing_results WHERE reason = 'malformed'") == WANTED - stored
    check_mended(br2, clean, db)


def test_garbage_proves_no_instance_name(br2, clean, db):
    root, _ = clean
    with cache(lambda connection, stream, *_: connection.answer(stream, b'\xff' * 50) or True) as bad:
        ingest(br2, root, db, bad.address)
    assert value(db, 'SELECT count(*) FROM run WHERE instance_proved') == 0
    check_mended(br2, clean, db)


def test_answers_of_five_megabytes(br2, clean, db):
    """stdout_raw; what is kept of them is no more than of others."""
    root, wanted = clean
    padding = b'\x2a' + b'\x80\x80\xc0\x02' + b'y' * (5 << 20)

    def large(connection, stream, number, hashed):
        if number % 40 or hashed not in ANSWERS:
            return False
        connection.headers(stream, GRPC)
        body = ANSWERS[hashed] + padding
        body = memoryview(b'\0' + len(body).to_bytes(4, 'big') + body)
        while body:
            connection.spend(stream, len(body[:16384]))
            connection.data(stream, body[:16384])
            body = body[16384:]
        connection.headers(stream, [('grpc-status', '0')], end=True)
        return True
    with cache(large) as big:
        assert troubles(ingest(br2, root, db, big.address, '--in-flight', 1)) == []
    assert dump(db) == wanted


def test_another_actions_result(br2, clean, db, tmp_path):
    """No ActionResult names its action, so it cannot be noticed: what is stored is what was said of this digest.
    A message of a failed action does name it: test_historical.py."""
    root, _ = clean
    one, other = sorted(ANSWERS)[:2]

    def swap(connection, stream, _, hashed):
        if hashed not in (one, other):
            return False
        connection.answer(stream, ANSWERS[other if hashed == one else one])
        return True
    with cache(swap) as confused:
        ingest(br2, root, db, confused.address)
    assert value(db, RESULTS) == WANTED
    times = 'SELECT executed_utc FROM usage WHERE digest LIKE ?'
    for asked, said in ((one, other), (other, one)):
        assert value(db, times, f'{asked}%') == value(tmp_path / 'clean.db', times, f'{said}%')


def test_not_an_action_cache(br2, clean, db):
    """Noise from the first byte."""
    root, _ = clean
    with Peer(lambda c: c.raw(b'\x00\xffnoise' * 1000), begin=False) as noise:
        said = ingest(br2, root, db, noise.address, code=2)
    (error,) = troubles(said)
    assert noise.address in error and f'{WANTED} results wanted' in error
    assert value(db, 'SELECT count(*) FROM run') == 7
    check_mended(br2, clean, db)


# ---- away -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize('seconds', [4, pytest.param(30, marks=pytest.mark.long)])
def test_away_for_seconds(br2, project, server, tmp_path, seconds):
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    with harness.Relay(server.port, limit=200_000, outage=seconds) as relay:
        begun = time.monotonic()
        br2.run(root, '--db', db, '--endpoint', f'127.0.0.1:{relay.port}', '--no-report')
        assert seconds < time.monotonic() - begun < seconds + 20
    assert relay.outages == 1
    assert value(db, RESULTS) == 1772


def stop_after(count, seconds):
    """Answers so many, then hangs as a stopped process does; for so long."""
    def hang(connection, stream, number, _):
        if number == count:
            time.sleep(seconds)
    return hang


def test_hangs_for_seconds(br2, clean, db):
    root, wanted = clean
    with cache(stop_after(50, 6)) as slow:
        assert troubles(ingest(br2, root, db, slow.address)) == []
    assert dump(db) == wanted


@pytest.mark.long
@pytest.mark.parametrize('fate', ['hangs', 'drops'])
def test_never_back(br2, clean, db, fate):
    """Given up after a minute and what a call may take; what was answered stands."""
    root, _ = clean

    def spoil(connection, stream, number, _):
        if number >= 50 and fate == 'drops':
            raise EOFError
        if number >= 50:
            connection.wait(99)
    with cache(spoil) as leaving:
        begun = time.monotonic()
        said = ingest(br2, root, db, leaving.address, code=2)
        assert 55 < time.monotonic() - begun < 110
    (warning,) = troubles(said)
    assert f'{leaving.address} went away: ' in warning and 'results wanted' in warning
    assert 0 < value(db, RESULTS) < WANTED
    check_mended(br2, clean, db)
