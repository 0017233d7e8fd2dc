"""Looking up results at real servers: bb_storage as it is deployed, and servers
that are away, mute, or something else. The client is lookup_probe, which is the
program's lookup engine and nothing else.

ctest sets LOOKUP_PROBE; by hand: LOOKUP_PROBE=build/test/tests/tools/lookup_probe
/usr/bin/python3 -m pytest tests/server"""
import contextlib
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import grpc
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / 'e2e'))
import harness

CACHE = harness.LOGS / 'cache'
INSTANCE = 'demo-x86_64'
NOBODYS = 'ab' * 32 + ':7'


def recorded():
    with gzip.open(CACHE / 'action_results.jsonl.gz', 'rt') as lines:
        return [row for row in map(json.loads, lines) if row['instance'] == INSTANCE]


DIGESTS = [row['digest'] for row in recorded()]


# ---- the client ------------------------------------------------------------------------

class Answers:
    """What lookup_probe printed."""

    def __init__(self, process, digests, stdin=None):
        self.out, self.err = process.communicate('\n'.join(digests) + '\n' if stdin is None else stdin, timeout=120)
        self.code = process.returncode
        lines = self.out.splitlines()
        self.tally = json.loads(lines[-1]) if lines else None
        self.lines = lines[:-1]

    def outcomes(self):
        return {line.split(' ')[1] for line in self.lines}

    def total(self):
        """Answers of all kinds."""
        return sum(self.tally[name] for name in ('found', 'not_found', 'outputs_evicted', 'refused', 'invalid',
                                                 'too_large', 'errors', 'unreachable'))


def start(*args, env=None):
    kept = {k: v for k, v in os.environ.items() if k in ('PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS', 'HOME')}
    return subprocess.Popen([os.environ['LOOKUP_PROBE'], *map(str, args)], text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**kept, **(env or {})})


def ask(endpoint, *args, digests=DIGESTS[:1], instance=INSTANCE, env=None):
    return Answers(start('--endpoint', endpoint, '--instance', instance, *args, env=env), digests)


def refusal(endpoint, *args, env=None, code=2):
    """The one line of a call that must fail in its preflight, without the endpoint; in five seconds."""
    begun = time.monotonic()
    answers = ask(endpoint, *args, env=env)
    assert time.monotonic() - begun < 6
    assert answers.code == code, answers.err
    (line,) = answers.err.splitlines()
    assert line.startswith('lookup_probe: '), line
    return line.removeprefix('lookup_probe: ').replace(endpoint.split('://')[-1], 'X')


# ---- bb_storage ----------------------------------------------------------------------------

@pytest.fixture(scope='module')
def server(tmp_path_factory):
    with harness.Server(tmp_path_factory.mktemp('server')) as running:
        yield running.load()


def test_all_found(server):
    answers = ask(server.address, digests=DIGESTS)
    assert answers.code == 0
    assert answers.tally['found'] == len(DIGESTS) == answers.total()
    assert answers.tally['retries'] == 0
    assert {line.split(' ')[0] for line in answers.lines} == set(DIGESTS)


def test_recording_answers_alike(server, tmp_path):
    recording, digests = tmp_path / 'answers', DIGESTS[:100] + [NOBODYS]
    live = ask(server.address, '--record', recording, digests=digests)
    again = Answers(start('--replay', recording, '--instance', INSTANCE), digests)
    assert sorted(live.lines) == sorted(again.lines)
    assert live.tally['found'] == again.tally['found'] == 100
    assert server.address not in recording.read_text()


@pytest.mark.parametrize('spelling', ['grpc://{}', '{}', 'dns:///{}', 'localhost:{1}'])
def test_spellings(server, spelling):
    assert ask(spelling.format(server.address, server.port)).tally['found'] == 1


def test_socket(tmp_path):
    path = tmp_path / 's.sock'
    process = subprocess.Popen([harness.BUILDBARN / 'run.sh', '--listen', f'unix:{path}'],
                               env={**os.environ, 'BB_STORAGE': harness.bb_storage()},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 30
        while not path.exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert ask(f'unix:{path}').outcomes() == {'not_found'}
    finally:
        process.terminate()
        process.wait()


def test_ipv6(tmp_path):
    server = harness.Server(tmp_path)
    server.address = f'[::1]:{server.port}'
    process = subprocess.Popen([harness.BUILDBARN / 'run.sh', '--listen', server.address],
                               env={**os.environ, 'BB_STORAGE': harness.bb_storage()},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection(('::1', server.port), 1):
                break
            time.sleep(0.05)
        assert ask(server.address).outcomes() == {'not_found'}
    finally:
        process.terminate()
        process.wait()


def test_what_is_not_there(server):
    """Never stored; another size; another function; another instance is the same key space here."""
    hash_ = DIGESTS[0].split(':')[0]
    assert ask(server.address, digests=[NOBODYS]).outcomes() == {'not_found'}
    assert ask(server.address, digests=[f'{hash_}:1']).outcomes() == {'not_found'}
    assert ask(server.address, '--function', 'blake3').outcomes() == {'not_found'}
    assert ask(server.address, digests=['ab' * 20 + ':1']).outcomes() == {'invalid'}


def call(address, method, request):
    same, options = lambda b: b, [('grpc.max_receive_message_length', -1)]  # it sends back what it stored
    with grpc.insecure_channel(address, options=options) as channel:
        return channel.unary_unary('/build.bazel.remote.execution.v2.' + method, same, same)(request, timeout=30)


def part(number, data):
    length, n = bytearray(), len(data)
    while n > 127:
        length.append(n & 127 | 128)
        n >>= 7
    return bytes([number << 3 | 2]) + bytes(length) + bytes([n]) + data


def digest_message(text):
    hash_, size = text.split(':')
    return part(1, hash_.encode()) + b'\x10' + bytes([int(size)])


def store(address, digest, result):
    call(address, 'ActionCache/UpdateActionResult',
         part(1, INSTANCE.encode()) + part(2, digest_message(digest)) + part(3, result))


def test_outputs_gone(server):
    missing = part(1, b'o') + part(2, digest_message('cd' * 32 + ':9'))
    store(server.address, 'ac' * 32 + ':9', part(2, missing))
    answers = ask(server.address, digests=['ac' * 32 + ':9'])
    assert answers.outcomes() == {'outputs_evicted'}
    assert 'referenced by the action result is not present' in answers.lines[0]


def test_large_replies(tmp_path, monkeypatch):
    """5 MiB is more than clients of gRPC take by default; what is over our limit is an answer, not a retry."""
    monkeypatch.setenv('BB_AC_BLOCK', str(64 << 20))
    with harness.Server(tmp_path, '--max-msg', 64 << 20) as server:
        store(server.address, 'aa' * 32 + ':1', part(5, bytes(5 << 20)))
        store(server.address, 'bb' * 32 + ':1', part(5, bytes(17 << 20)))
        answers = ask(server.address, digests=['aa' * 32 + ':1', 'bb' * 32 + ':1'])
    assert answers.code == 0
    assert answers.tally['found'] == 1 and answers.tally['too_large'] == 1
    assert answers.tally['retries'] == 0 and answers.tally['bytes'] > 5 << 20


def test_denied_instance(tmp_path):
    with harness.Server(tmp_path, '--instances', 'acl') as server:
        denied, allowed = ask(server.address, instance='elsewhere'), ask(server.address, instance='main')
    assert denied.outcomes() == {'refused'} and 'Permission denied' in denied.lines[0]
    assert denied.code == 0
    assert allowed.outcomes() == {'not_found'}


def test_unknown_instance(tmp_path):
    with harness.Server(tmp_path, '--instances', 'demux') as server:
        unknown, known = ask(server.address, instance='elsewhere'), ask(server.address, instance='other/x')
    assert unknown.outcomes() == {'invalid'} and 'Unknown instance name: "elsewhere"' in unknown.lines[0]
    assert known.outcomes() == {'not_found'}


def test_not_authenticated(tmp_path):
    with harness.Server(tmp_path, '--auth', 'deny') as server:
        assert refusal(server.address) == 'X does not accept who is asking: No entry for tests'


# ---- TLS and tokens ----------------------------------------------------------------------------

@pytest.fixture(scope='module')
def pki(tmp_path_factory):
    """Two CAs; server certificates for 127.0.0.1 and for another name; a client's."""
    folder = tmp_path_factory.mktemp('pki')

    def openssl(*args):
        subprocess.run(['openssl', *map(str, args)], check=True, cwd=folder, capture_output=True)

    for ca in ('ca', 'other'):
        openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', f'{ca}.key', '-out', f'{ca}.pem',
                '-days', 2, '-subj', f'/CN={ca}')
    for name, extension in {'server': 'subjectAltName=IP:127.0.0.1', 'named': 'subjectAltName=DNS:cache.example',
                            'client': 'extendedKeyUsage=clientAuth'}.items():
        (folder / f'{name}.ext').write_text(extension)
        openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', f'{name}.key', '-out', f'{name}.csr',
                '-subj', f'/CN={name}')
        openssl('x509', '-req', '-in', f'{name}.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial',
                '-days', 2, '-extfile', f'{name}.ext', '-out', f'{name}.pem')
    (folder / 'both.pem').write_text((folder / 'client.pem').read_text() + (folder / 'client.key').read_text())
    (folder / 'empty.pem').write_text('nothing\n')
    return folder


def tls(pki, name='server'):
    return ['--cert', pki / f'{name}.pem', '--key', pki / f'{name}.key']


def test_tls(pki, tmp_path):
    with harness.Server(tmp_path, *tls(pki)) as server:
        secure = f'grpcs://{server.address}'
        assert ask(secure, '--tls-ca', pki / 'ca.pem').outcomes() == {'not_found'}
        assert refusal(secure, '--tls-ca', pki / 'other.pem') == \
            'X shows a certificate that no trusted CA signed: --tls-ca FILE names one'
        assert refusal(secure) == 'X shows a certificate that no trusted CA signed: --tls-ca FILE names one'
        assert refusal(f'grpc://{server.address}') == \
            'X closed the connection: if it wants TLS, ask grpcs://HOST:PORT'


def test_tls_other_name(pki, tmp_path):
    with harness.Server(tmp_path, *tls(pki, 'named')) as server:
        assert refusal(f'grpcs://{server.address}', '--tls-ca', pki / 'ca.pem') == \
            'X shows a certificate for another name: --tls-server-name NAME says which one is meant'


def test_tls_server_name(pki, tmp_path):
    """The certificate is of that name, or the server is not asked."""
    with harness.Server(tmp_path, *tls(pki, 'named')) as server:
        trusted = [f'grpcs://{server.address}', '--tls-ca', pki / 'ca.pem', '--tls-server-name']
        assert ask(*trusted, 'Cache.Example').outcomes() == {'not_found'}
        for wrong in ('other.example', 'example', 'x.cache.example', '127.0.0.1'):
            assert refusal(*trusted, wrong) == 'X shows a certificate for another name than --tls-server-name says'
        assert 'no trusted CA' in refusal(trusted[0], '--tls-ca', pki / 'other.pem', '--tls-server-name', 'cache.example')


def test_tls_to_plaintext(server):
    assert refusal(f'grpcs://{server.address}') == 'X does not speak TLS: --no-tls, or tls = false in .buckconfig'


def test_client_certificate(pki, tmp_path):
    with harness.Server(tmp_path, *tls(pki), '--auth', 'mtls', '--ca', pki / 'ca.pem') as server:
        trusted = [f'grpcs://{server.address}', '--tls-ca', pki / 'ca.pem']
        assert refusal(*trusted) == \
            'X does not accept who is asking: Client provided no X.509 client certificate'
        two = ask(*trusted, '--tls-cert', pki / 'client.pem', '--tls-key', pki / 'client.key')
        assert two.outcomes() == {'not_found'}
        assert ask(*trusted, '--tls-cert', pki / 'both.pem').outcomes() == {'not_found'}
        assert refusal(*trusted, '--tls-cert', pki / 'client.pem', '--tls-key', pki / 'other.key') == \
            'X was not asked: the TLS files do not fit together (certificate and key?)'


def test_tls_files_that_are_none(pki):
    for option in (['--tls-ca'], ['--tls-key', pki / 'client.key', '--tls-cert'], ['--tls-cert']):
        for file in (pki / 'empty.pem', pki / 'missing.pem'):
            assert str(file) in refusal('grpcs://127.0.0.1:1', *option, file, code=3)


@pytest.fixture(scope='module')
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp('jwt')
    make_token(folder, 60)
    return folder


def make_token(folder, seconds):
    return subprocess.run(['/usr/bin/python3', harness.BUILDBARN / 'mktoken.py', folder, str(seconds)], check=True,
                          capture_output=True, text=True).stdout.strip()


def test_token(keys, tmp_path):
    token = make_token(keys, 600)
    (tmp_path / 'token').write_text(token + '\n')
    (tmp_path / 'bad').write_text(token[:-8] + 'AAAAAAAA')
    with harness.Server(tmp_path, '--auth', 'jwt', '--jwks', keys / 'jwks.json') as server:
        recording = tmp_path / 'answers'
        assert ask(server.address, '--token-file', tmp_path / 'token', '--record', recording).outcomes() == {'not_found'}
        assert ask(server.address, '--header', f'Authorization: Bearer {token}').outcomes() == {'not_found'}
        missing = 'X does not accept who is asking: No valid authorization header containing a bearer token provided'
        assert refusal(server.address) == missing
        bad = ask(server.address, '--token-file', tmp_path / 'bad')
        assert bad.code == 2 and token[:20] not in bad.out + bad.err
    assert token[:20] not in recording.read_text()


def test_token_is_read_again(keys, tmp_path):
    """It expires in the middle of the answers; the file holds a fresh one by then."""
    file, fresh = tmp_path / 'token', make_token(keys, 600)
    with harness.Server(tmp_path, '--auth', 'jwt', '--jwks', keys / 'jwks.json') as server:
        file.write_text(make_token(keys, 3))
        process = start('--endpoint', server.address, '--instance', INSTANCE, '--token-file', file, '--quiet',
                        '--in-flight', 4, '--repeat', 1000000)
        threading.Timer(1.5, lambda: file.write_text(fresh)).start()
        threading.Timer(6, lambda: process.send_signal(signal.SIGINT)).start()
        answers = Answers(process, DIGESTS)
    assert answers.err == 'lookup_probe: interrupted\n'
    assert answers.tally['not_found'] > 1000 and answers.tally['refused'] == 0
    assert 1 <= answers.tally['retries'] <= 4


# ---- who is no action cache ------------------------------------------------------------------------

def test_nobody_listens():
    assert refusal(f'127.0.0.1:{harness.free_port()}') == 'X refuses'


def test_no_such_name():
    assert refusal('no-such-host.invalid:8980') == 'X is not found: its name does not resolve'


def test_no_such_socket(tmp_path):
    assert refusal(f'unix:{tmp_path}/none') == 'X is not there: no such socket'


@contextlib.contextmanager
def talker(words):
    """Says the same to everyone, and closes."""
    with socket.create_server(('127.0.0.1', 0)) as listening:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listening.accept()
                    with client:
                        client.recv(4096)
                        client.sendall(words)
        threading.Thread(target=serve, daemon=True).start()
        yield f'127.0.0.1:{listening.getsockname()[1]}'
        listening.shutdown(socket.SHUT_RDWR)


def test_other_protocols():
    with talker(b'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n') as web:
        assert refusal(web) == 'X speaks HTTP/1, not gRPC: another port?'
    with talker(b'220 mail.example ESMTP\r\n') as mail:
        assert refusal(mail) == 'X does not speak gRPC: another port?'


def test_mute():
    with socket.create_server(('127.0.0.1', 0)) as mute:
        assert refusal(f'127.0.0.1:{mute.getsockname()[1]}') == \
            'X takes the connection, then says nothing: another port?'


@contextlib.contextmanager
def black_hole():
    """A full accept queue drops SYNs, as a firewall does."""
    with socket.socket() as hole, contextlib.ExitStack() as stack:
        hole.bind(('127.0.0.1', 0))
        hole.listen(0)
        for _ in range(3):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                filler.connect(hole.getsockname())
        yield f'127.0.0.1:{hole.getsockname()[1]}'


def test_black_hole():
    with black_hole() as hole:
        assert refusal(hole) == 'X does not answer'


def test_interrupted_while_connecting():
    with black_hole() as hole:
        process = start('--endpoint', hole)
        threading.Timer(0.5, lambda: process.send_signal(signal.SIGINT)).start()
        begun = time.monotonic()
        answers = Answers(process, DIGESTS[:1])
    assert answers.err == 'lookup_probe: interrupted\n' and time.monotonic() - begun < 2.5


def test_proxy(server):
    proxy = {'http_proxy': 'http://u:secret@127.0.0.1:1', 'https_proxy': 'http://u:secret@127.0.0.1:1'}
    assert ask(server.address, env=proxy).outcomes() == {'found'}
    assert ask(f'localhost:{server.port}', env=proxy).outcomes() == {'found'}
    said = refusal('192.0.2.1:8980', '--no-tls', env=proxy)
    assert said == 'X refuses (asked through the proxy of the environment; no_proxy=HOST goes around it)'


# ---- a server of our own, for what bb_storage does not do -----------------------------------------------

class Handler(grpc.GenericRpcHandler):
    def __init__(self):
        self.requests, self.metadata, self.reply = [], [], lambda context: b''

    def service(self, details):
        if details.method != '/build.bazel.remote.execution.v2.ActionCache/GetActionResult':
            return None

        def answer(request, context):
            self.requests.append(request)
            self.metadata.append(dict(context.invocation_metadata()))
            return self.reply(context)
        return grpc.unary_unary_rpc_method_handler(answer)


@pytest.fixture
def own():
    from concurrent import futures
    handler = Handler()
    server = grpc.server(futures.ThreadPoolExecutor(8), handlers=[handler])
    handler.address = f'127.0.0.1:{server.add_insecure_port("127.0.0.1:0")}'
    server.start()
    yield handler
    server.stop(None)


def test_what_is_sent(own):
    answers = ask(own.address, '--header', 'X-Key: a=b')
    assert answers.outcomes() == {'found'}
    # Instance name, digest, digest function; no inline flags.
    assert own.requests == [part(1, INSTANCE.encode()) + part(2, part(1, DIGESTS[0][:64].encode()) + b'\x10\x8d\x01') +
                            b'\x30\x01']
    (metadata,) = own.metadata
    assert re.fullmatch(r'br2-ingest/[0-9.]+', metadata['user-agent'])
    # RequestMetadata.tool_details.tool_name
    assert part(1, b'br2-ingest') in metadata['build.bazel.remote.execution.v2.requestmetadata-bin']
    assert metadata['x-key'] == 'a=b'


def test_end_of_time_is_told(own):
    """Not before: a timer for each call would cost the server more than the call's head. It sees the call cancelled then."""
    seen = []

    def hang(context):
        seen.append(context.time_remaining())
        begun = time.monotonic()
        while context.is_active() and time.monotonic() < begun + 20:
            time.sleep(0.01)
        seen.append(time.monotonic() - begun)
        return b''

    own.reply = hang
    answers = ask(own.address, '--no-preflight', '--deadline-ms', 600, '--outage-ms', 1000)
    assert answers.outcomes() == {'unreachable'}
    deadlines, ended = seen[::2], seen[1::2]
    assert all(left is None or left > 1e9 for left in deadlines)
    assert 0.3 < ended[0] < 5


@pytest.mark.parametrize('name', ['te', 'host', 'grpc-timeout', 'content-type', 'transfer-encoding'])
def test_headers_of_the_protocol(name):
    """What Buck2 would send in vain, or break its own calls with."""
    assert refusal('127.0.0.1:1', '--header', f'{name}=x', code=3) == \
        f"header '{name}' is the protocol's own, and set by it"


@pytest.mark.parametrize('code, outcome, attempts', [
    (grpc.StatusCode.INTERNAL, 'error', 2), (grpc.StatusCode.ABORTED, 'error', 5),
    (grpc.StatusCode.DATA_LOSS, 'error', 1), (grpc.StatusCode.INVALID_ARGUMENT, 'invalid', 1)])
def test_error_of_one_call(own, code, outcome, attempts):
    own.reply = lambda context: context.abort(code, 'as told')
    answers = ask(own.address, '--no-preflight')
    assert answers.lines == [f'{DIGESTS[0]} {outcome} {code.value[0]} 0 as told']
    assert len(own.requests) == attempts


def test_overloaded(own):
    """RESOURCE_EXHAUSTED is a server that asks for a pause: calls come one at a time until it is over."""
    until = time.monotonic() + 1.5

    def reply(context):
        if time.monotonic() < until:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, 'quota')
        return b''
    own.reply = reply
    answers = ask(own.address, '--no-preflight', digests=DIGESTS[:200])
    assert answers.tally['found'] == 200 and answers.tally['errors'] == 0
    assert len(own.requests) < 200 + 64 + 100


def test_no_action_cache():
    from concurrent import futures
    server = grpc.server(futures.ThreadPoolExecutor(1))
    port = server.add_insecure_port('127.0.0.1:0')
    server.start()
    assert refusal(f'127.0.0.1:{port}').startswith('X has no action cache: ')
    server.stop(None)


# ---- servers that go away ------------------------------------------------------------------------------

def answered_after(process, lines):
    """Reads on until so many answers came."""
    return [process.stdout.readline() for _ in range(lines)]


def test_killed_and_back(tmp_path):
    """Memory is gone with it, so what comes after is not_found: but an answer, each of them."""
    with harness.Server(tmp_path) as server:
        server.load()
        process = start('--endpoint', server.address, '--instance', INSTANCE, '--repeat', 10)
        writer = threading.Thread(target=lambda: (process.stdin.write('\n'.join(DIGESTS) + '\n'), process.stdin.close()))
        writer.start()
        first = answered_after(process, 2000)
        harness.kill(server.process)
        time.sleep(4)
        server.start()
        writer.join()
        process.stdin = None
        answers = Answers(process, [], stdin='')
    assert answers.code == 0 and all(' found ' in line for line in first)
    assert answers.tally['asked'] == answers.total() == 10 * len(DIGESTS)
    assert answers.tally['errors'] == answers.tally['unreachable'] == 0
    assert answers.tally['not_found'] > 0 and answers.tally['retries'] > 0


def test_stopped_for_seconds(server):
    process = start('--endpoint', server.address, '--instance', INSTANCE, '--repeat', 4, '--deadline-ms', 500, '--quiet')
    threading.Timer(0.2, lambda: server.process.send_signal(signal.SIGSTOP)).start()
    threading.Timer(4.3, lambda: server.process.send_signal(signal.SIGCONT)).start()
    answers = Answers(process, DIGESTS)
    assert answers.tally['seconds'] > 4
    assert answers.tally['found'] == answers.tally['asked'] == 4 * len(DIGESTS)
    assert answers.tally['retries'] > 0


def test_gone_for_ever(tmp_path):
    with harness.Server(tmp_path) as server:
        server.load()
        process = start('--endpoint', server.address, '--instance', INSTANCE, '--repeat', 100, '--quiet',
                        '--outage-ms', 2000)
        threading.Timer(0.7, lambda: harness.kill(server.process)).start()
        answers = Answers(process, DIGESTS)
    assert answers.code == 1
    assert answers.tally['found'] > 0 and answers.tally['unreachable'] > 0
    assert answers.total() == answers.tally['asked'] == 100 * len(DIGESTS)
    assert answers.tally['seconds'] < 6


def test_interrupted(server):
    process = start('--endpoint', server.address, '--instance', INSTANCE, '--repeat', 1000000, '--quiet')
    threading.Timer(0.7, lambda: process.send_signal(signal.SIGINT)).start()
    begun = time.monotonic()
    answers = Answers(process, DIGESTS)
    assert answers.code == 2 and answers.err == 'lookup_probe: interrupted\n'
    assert time.monotonic() - begun < 3
