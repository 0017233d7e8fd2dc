"""Servers that speak HTTP/2 in ways of their own: what they say, badly or not at all, has one code
and one line of words, and costs nobody else's answer."""
import struct
import time

import pytest

import peer
from peer import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, GRPC, HEADERS, OK, PADDED, PING, RST_STREAM,
                  SETTINGS, Peer, block, each, frame, message)
from test_lookup import DIGESTS, ask, refusal, start, Answers

FOUND = 'found 0 1 '
MAX = 16 << 20


def one(script, *args, **settings):
    """The answer to one question, without its digest; and the peer."""
    with Peer(script, **settings) as server:
        answers = ask(server.address, '--no-preflight', *args)
    (line,) = answers.lines
    return line.split(' ', 1)[1], server


def says(answer, **settings):
    return one(each(answer), **settings)[0]


# ---- answers that are good ------------------------------------------------------------------

def test_plain():
    assert says(lambda c, s: c.answer(s, b'x')) == FOUND


def test_byte_by_byte():
    def answer(c, s):
        for byte in (frame(HEADERS, END_HEADERS, s, block(GRPC)) + frame(DATA, 0, s, message(b'x'))
                     + frame(HEADERS, END_HEADERS | END_STREAM, s, block(OK))):
            c.raw(bytes([byte]))
    assert says(answer) == FOUND


def test_message_in_pieces():
    """Frames are not messages; some are empty, some padded."""
    def answer(c, s):
        c.headers(s, GRPC)
        for byte in message(b'x'):
            c.data(s, b'')
            c.send(DATA, PADDED, s, b'\x03' + bytes([byte]) + b'pad')
        c.headers(s, OK, end=True)
    assert says(answer) == FOUND


def test_head_in_pieces():
    def answer(c, s):
        head = block(GRPC)
        c.raw(frame(HEADERS, 0, s, head[:7]) + frame(CONTINUATION, END_HEADERS, s, head[7:]))
        c.data(s, message(b'x'))
        c.headers(s, OK, end=True)
    assert says(answer) == FOUND


def test_more_to_come():
    """103 Early Hints."""
    def answer(c, s):
        c.headers(s, [(':status', '103'), ('content-type', 'text/html'), ('link', '</x>')])
        c.answer(s, b'x')
    assert says(answer) == FOUND


@pytest.mark.parametrize('kind', ['application/grpc+proto', 'application/grpc;charset=utf-8'])
def test_kinds_of_grpc(kind):
    def answer(c, s):
        c.headers(s, [(':status', '200'), ('content-type', kind), ('grpc-encoding', 'identity')])
        c.data(s, message(b'x'))
        c.headers(s, OK, end=True)
    assert says(answer) == FOUND


def test_reset_after_all_is_said():
    def answer(c, s):
        c.answer(s, b'x')
        c.reset(s, 0)
    assert says(answer) == FOUND


@pytest.mark.parametrize('text, shown', [
    ('100%25 gr%C3%A9at, 50%', '100% gréat, 50%'), ('%zz%4', '%zz%4'), ('a%00b', 'a%00b'), ('', '')])
def test_trailers_only(text, shown):
    answer = says(lambda c, s: c.headers(s, GRPC + [('grpc-status', '5'), ('grpc-message', text)], end=True))
    assert answer == f'not_found 5 0 {shown}'


def test_answer_before_the_question_is_whole():
    """No window for it; our end of the stream is closed then, too."""
    def script(c):
        stream = c.wait(HEADERS)
        c.headers(stream, GRPC + [('grpc-status', '5'), ('grpc-message', 'no')], end=True)
        assert c.wait(RST_STREAM) == stream and c.frames[-1][3] == bytes(4)
        c.wait(HEADERS)
    answer, _ = one(script, window=0)
    assert answer == 'not_found 5 0 no'


def test_small_window():
    def script(c):
        stream = c.wait(HEADERS)
        while True:
            c.raw(frame(peer.WINDOW_UPDATE, 0, stream, struct.pack('>I', 1)))
            c.wait(DATA)
            if c.frames[-1][1] & END_STREAM:
                return c.answer(stream, b'x')
    assert one(script, window=0)[0] == FOUND


# ---- answers that are bad ----------------------------------------------------------------------

@pytest.mark.parametrize('status, words', [
    (400, 'error 13'), (403, 'refused 7'), (431, 'error 13'), (500, 'error 2'), (204, 'error 2')])
def test_http_status(status, words):
    """A proxy's page; its words are not gRPC's."""
    def answer(c, s):
        c.headers(s, [(':status', str(status)), ('content-type', 'text/html')])
        c.send(DATA, END_STREAM, s, b'' if status == 204 else b'<h1>secret page</h1>')
    assert says(answer) == f'{words} 0 the answer has HTTP status {status}'


@pytest.mark.parametrize('status, words', [
    (401, 'does not accept who is asking:'), (404, 'has no action cache:'), (429, 'cannot be asked:'),
    (502, 'cannot be asked:'), (503, 'cannot be asked:'), (504, 'cannot be asked:')])
def test_http_status_of_all(status, words):
    with Peer(each(lambda c, s: c.headers(s, [(':status', str(status))], end=True))) as server:
        assert refusal(server.address) == f'X {words} the answer has HTTP status {status}'


def test_grpc_status_counts_more():
    fields = [(':status', '502'), ('grpc-status', '5'), ('grpc-message', 'gone')]
    assert says(lambda c, s: c.headers(s, fields, end=True)) == 'not_found 5 0 gone'


def plainly(*pieces, head=GRPC, trailers=OK):
    def answer(c, s):
        c.headers(s, head)
        for piece in pieces:
            c.data(s, piece)
        c.headers(s, trailers, end=True)
    return answer


@pytest.mark.parametrize('answer, words', [
    (plainly(message(b'x'), trailers=[('x-y', 'z')]), 'error 2 0 the answer has no gRPC status'),
    (plainly(message(b'x'), head=[(':status', '200'), ('content-type', 'text/html')], trailers=[('x-y', 'z')]),
     'error 2 0 the answer is not of gRPC'),
    (plainly(message(b'x'), head=[(':status', '200'), ('content-type', 'application/grpc-web')]),
     'error 13 0 the answer is OK but not of gRPC'),
    (plainly(), 'error 13 0 the answer is OK but holds no message'),
    (plainly(message(b'xy', length=9)), 'error 13 0 the answer is OK but its message is cut'),
    (plainly(b'\0\0'), 'error 13 0 the answer is OK but its message is cut'),
    (plainly(message(b'x'), message(b'')), 'error 13 0 the answer holds more than one message'),
    (plainly(message(b'x', flag=1)), 'error 13 0 the answer is compressed, which was not asked for'),
    (plainly(message(b'x'), trailers=[('grpc-status', 'zero')]), 'error 2 0 '),
    (plainly(message(b'x'), trailers=[('grpc-status', '77'), ('grpc-message', 'odd')]), 'error 2 0 odd'),
])
def test_bad_answers(answer, words):
    assert says(answer) == words


@pytest.mark.parametrize('error, words', [
    (1, 'error 13'), (2, 'error 13'), (8, 'error 1'), (12, 'refused 7'), (99, 'error 13')])
def test_reset(error, words):
    def answer(c, s):
        c.headers(s, GRPC)
        c.reset(s, error)
    assert says(answer) == f'{words} 0 the stream was reset (HTTP/2 error {error})'


def test_reset_without_an_error():
    def answer(c, s):
        c.headers(s, GRPC)
        c.reset(s, 0)
    assert says(answer) == 'error 2 0 the answer has no gRPC status'


@pytest.mark.parametrize('error', [7, 11])
def test_reset_that_is_an_outage(error):
    with Peer(each(lambda c, s: c.reset(s, error))) as server:
        said = refusal(server.address)
    assert f'the stream was reset (HTTP/2 error {error})' in said


def test_too_large():
    """Known by its first bytes; the stream is reset, and the connection goes on."""
    seen = []

    def script(c):
        large = c.request()
        c.headers(large, GRPC)
        c.data(large, message(b'y' * 1000, length=MAX + 1))
        seen.append((c.wait(RST_STREAM), c.frames[-1][3], large))
        while True:
            c.answer(c.request(), b'x')
    with Peer(script) as server:
        answers = ask(server.address, '--no-preflight', '--in-flight', 1, digests=DIGESTS[:2])
    assert [line.split(' ', 1)[1] for line in answers.lines] == \
        ['too_large 8 0 the answer is larger than max', FOUND]
    assert seen == [(1, struct.pack('>I', 8), 1)] and len(server.connections) == 1


def test_largest():
    """Within the windows that we open, and we open them again."""
    def answer(c, s):
        c.headers(s, GRPC)
        body = memoryview(message(b'z' * MAX))
        while body:
            c.spend(s, len(body[:16384]))
            c.data(s, body[:16384])
            body = body[16384:]
        c.headers(s, OK, end=True)
    assert says(answer) == f'found 0 {MAX} '


# ---- connections that are bad ---------------------------------------------------------------------

def test_no_settings_first():
    with Peer(lambda c: c.send(PING, 0, 0, bytes(8)) or c.wait(99), begin=False) as server:
        assert refusal(server.address) == 'X does not speak gRPC: another port?'


def test_tls_alert():
    with Peer(lambda c: c.raw(b'\x15\x03\x01\x00\x02\x02\x46'), begin=False) as server:
        assert refusal(server.address) == 'X wants TLS: ask grpcs://HOST:PORT'


@pytest.mark.parametrize('words', [
    b'\xff' * 100, frame(DATA, 0, 0, b'x'), frame(HEADERS, END_HEADERS, 1, b'\xff\xff\xff\xff\xff\xff'),
    frame(peer.PUSH_PROMISE, END_HEADERS, 1, struct.pack('>I', 2) + block(GRPC)),
    frame(SETTINGS, 0, 0, b'abc'), frame(peer.WINDOW_UPDATE, 0, 0, bytes(4)), frame(DATA, 0, 99, b'x')])
def test_breaches(words):
    """The call is lost with the connection; and with a server that does better then, nothing is."""
    def script(c):
        stream = c.request()
        if len(server.connections) == 1:
            c.raw(words)
            c.wait(GOAWAY)
        else:
            c.answer(stream, b'x')
            c.wait(99)
    with Peer(script) as server:
        answers = ask(server.address, '--no-preflight')
    assert answers.lines == [f'{DIGESTS[0]} {FOUND}'] and answers.tally['retries'] >= 1
    with Peer(each(lambda c, s: c.raw(words))) as always:
        assert refusal(always.address).startswith('X cannot be asked: the server breaks the rules of HTTP/2: ')


def test_bad_fields_cost_one_stream():
    """nghttp2 resets a stream whose head is no head."""
    def answer(c, s):
        if s == 1:
            return c.headers(s, [('content-type', 'application/grpc'), (':status', '200')])
        c.answer(s, b'x')
    with Peer(each(answer)) as server:
        answers = ask(server.address, '--no-preflight', '--in-flight', 1, digests=DIGESTS[:2])
    assert answers.tally['found'] == 2 and answers.tally['retries'] == 1 and len(server.connections) == 1


def test_closed_after_each_answer():
    """No answer is lost, and none asked for in vain: nothing was in flight then."""
    def script(c):
        c.answer(c.request(), b'x')
        c.goaway(1)
    with Peer(script) as server:
        answers = ask(server.address, '--no-preflight', '--in-flight', 1, digests=DIGESTS[:20])
    assert answers.tally['found'] == 20 and len(server.connections) == 20
    assert answers.tally['retries'] == 0


def test_goaway_in_the_middle():
    """What the server took is answered on the old connection; the rest goes to the next."""
    def script(c):
        streams = [c.request() for _ in range(8)]
        if len(server.connections) == 1:
            c.goaway(streams[3])
            time.sleep(0.2)
            streams = streams[:4]
        for stream in streams:
            c.answer(stream, b'x')
        while True:
            c.answer(c.request(), b'x')
    with Peer(script) as server:
        answers = ask(server.address, '--no-preflight', '--in-flight', 8, digests=DIGESTS[:12])
    assert answers.tally['found'] == 12 and len(server.connections) == 2
    assert answers.tally['retries'] == 0


def test_goaway_and_never_an_end():
    """What it took and does not answer is asked again after a while."""
    def script(c):
        stream = c.request()
        if len(server.connections) == 1:
            c.goaway(stream)
            c.wait(99)
        c.answer(stream, b'x')
        c.wait(99)
    with Peer(script) as server:
        answers = ask(server.address, '--no-preflight')
    assert answers.tally['found'] == 1 and 1.5 < answers.tally['seconds'] < 10


def test_closed_at_once_again_and_again():
    """Pauses grow: no busy loop."""
    with Peer(lambda c: None) as server:
        answers = ask(server.address, '--no-preflight', '--outage-ms', 3000, digests=DIGESTS[:50])
    assert answers.tally['unreachable'] == 50
    assert 2 <= len(server.connections) < 30


def test_few_streams():
    most, open_now = [0], set()

    def script(c):
        while True:
            kind, _, stream, _ = c.read()
            if kind == HEADERS:
                open_now.add(stream)
                most[0] = max(most[0], len(open_now))
            if kind == DATA and len(open_now) == 2:
                for each_open in sorted(open_now):
                    c.answer(each_open, b'x')
                open_now.clear()
    with Peer(script, max_streams=2) as server:
        answers = ask(server.address, '--no-preflight', '--in-flight', 64, digests=DIGESTS[:100])
    assert answers.tally['found'] == 100 and answers.tally['retries'] == 0 and most[0] == 2


def test_ping_is_answered():
    def answer(c, s):
        c.send(PING, 0, 0, b'12345678')
        c.wait(PING, ACK)
        assert c.frames[-1][3] == b'12345678'
        c.answer(s, b'x')
    assert says(answer) == FOUND


def test_deadline():
    """The server is told when we gave up."""
    seen = []

    def script(c):
        stream = c.request()
        seen.append((c.wait(RST_STREAM), c.frames[-1][3], stream))
        c.wait(99)
    with Peer(script) as server:
        answers = ask(server.address, '--no-preflight', '--deadline-ms', 300, '--outage-ms', 1000)
    assert answers.tally['unreachable'] == 1 and answers.lines[0].endswith(f'{server.address} does not answer in time')
    assert seen[0] == (1, struct.pack('>I', 8), 1)


def test_talks_without_end():
    """On a stream that nobody listens to; deadlines and Ctrl-C have their turn all the same."""
    def script(c):
        stream = c.request()
        c.headers(stream, [(':status', '200'), ('content-type', 'text/plain')])
        piece = frame(DATA, 0, stream, bytes(16384)) * 4
        while True:
            c.spend(stream, 1 << 16)
            c.raw(piece)
    with Peer(script) as server:
        answers = ask(server.address, '--no-preflight', '--deadline-ms', 500, '--outage-ms', 1500)
    assert answers.tally['unreachable'] == 1 and answers.tally['seconds'] < 5
