"""Ways to a server: TLS as it should be and as it should not, and proxies."""
import base64
import contextlib
import re
import socket
import ssl
import subprocess
import threading

import pytest

from peer import GRPC, OK, Peer, each, message
from test_lookup import DIGESTS, ask, pki, refusal, server  # pki, server: fixtures

MAX = 16 << 20


def context(pki, name='server', protocols=('h2',), **settings):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(pki / f'{name}.pem', pki / f'{name}.key')
    if protocols:
        made.set_alpn_protocols(protocols)
    for key, value in settings.items():
        setattr(made, key, value)
    return made


def trusting(peer, pki):
    return [f'grpcs://{peer.address}', '--tls-ca', pki / 'ca.pem']


def answer(connection, stream):
    connection.answer(stream, b'x')


# ---- TLS -----------------------------------------------------------------------------------------

@pytest.mark.parametrize('version', [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_versions(pki, version):
    tls = context(pki, minimum_version=version, maximum_version=version)
    with Peer(each(answer), tls=tls) as peer:
        answers = ask(*trusting(peer, pki), digests=DIGESTS[:200])
    assert answers.tally['found'] == 200 and answers.tally['retries'] == 0 and len(peer.connections) == 1


def test_too_old(pki):
    with pytest.warns(DeprecationWarning):
        tls = context(pki, minimum_version=ssl.TLSVersion.TLSv1, maximum_version=ssl.TLSVersion.TLSv1_1)
    tls.set_ciphers('ALL:@SECLEVEL=0')
    with Peer(each(answer), tls=tls) as peer:
        assert 'protocol version' in refusal(*trusting(peer, pki))


@pytest.mark.parametrize('protocols', [(), ('http/1.1',)])
def test_no_http2(pki, protocols):
    """As the server of a web page; it is not sent a request."""
    with Peer(each(answer), tls=context(pki, protocols=protocols)) as peer:
        assert refusal(*trusting(peer, pki)) == 'X speaks TLS, but not gRPC: another port?'


def test_certificate_wanted(pki):
    tls = context(pki, verify_mode=ssl.CERT_REQUIRED)
    tls.load_verify_locations(pki / 'ca.pem')
    with Peer(each(answer), tls=tls) as peer:
        trusted = trusting(peer, pki)
        # Its alert may be lost: closing with our request unread resets the connection.
        assert refusal(*trusted) in ('X wants to see a certificate: --tls-cert FILE, --tls-key FILE',
                                     'X closed the connection: if it wants a certificate, --tls-cert FILE shows one')
        shown = ask(*trusted, '--tls-cert', pki / 'both.pem')
    assert shown.tally['found'] == 1


def test_run_out(pki, tmp_path):
    subprocess.run(['openssl', 'x509', '-req', '-in', pki / 'server.csr', '-CA', pki / 'ca.pem', '-CAkey', pki / 'ca.key',
                    '-set_serial', '7', '-days', '-1', '-extfile', pki / 'server.ext', '-out', tmp_path / 'old.pem'],
                   check=True, capture_output=True)
    (tmp_path / 'old.key').write_text((pki / 'server.key').read_text())
    with Peer(each(answer), tls=context(tmp_path, 'old')) as peer:
        assert refusal(*trusting(peer, pki)) == 'X shows a certificate that has run out, or is not valid yet'


def test_only_the_given_authority_is_trusted(pki, tmp_path):
    """Not the system's beside it."""
    with Peer(each(answer), tls=context(pki)) as peer:
        system = {'SSL_CERT_DIR': str(tmp_path), 'SSL_CERT_FILE': str(pki / 'ca.pem')}
        assert 'no trusted CA' in refusal(f'grpcs://{peer.address}', '--tls-ca', pki / 'other.pem', env=system)


@pytest.mark.parametrize('way', ['address', 'socket'])
def test_server_name(pki, tmp_path, way):
    """The server is asked for by that name, wherever it is reached."""
    asked = []
    tls = context(pki, 'named', sni_callback=lambda _socket, name, _context: asked.append(name))
    peer = Peer(each(answer), tls=tls)
    endpoint = f'grpcs://{peer.address}'
    if way == 'socket':
        peer.listening.close()
        peer.listening = socket.socket(socket.AF_UNIX)
        peer.listening.bind(str(tmp_path / 's'))
        peer.listening.listen()
        endpoint = f'unix:{tmp_path}/s'
    with peer:
        answers = ask(endpoint, '--tls-ca', pki / 'ca.pem', '--tls-server-name', 'cache.example')
        assert answers.tally['found'] == 1, answers.err
        assert 'for another name than' in refusal(endpoint, '--tls-ca', pki / 'ca.pem', '--tls-server-name', 'a.example')
    assert asked == ['cache.example', 'a.example']


def test_key_with_a_password(pki, tmp_path):
    """An error, not a prompt."""
    subprocess.run(['openssl', 'rsa', '-aes128', '-passout', 'pass:secret', '-in', pki / 'client.key', '-out',
                    tmp_path / 'locked.key'], check=True, capture_output=True)
    with Peer(each(answer), tls=context(pki)) as peer:
        said = refusal(*trusting(peer, pki), '--tls-cert', pki / 'client.pem', '--tls-key', tmp_path / 'locked.key')
    assert said.startswith('X was not asked: the TLS files do not fit together')


def test_large_answers(pki):
    """More than one record, one read, one window."""
    def large(connection, stream):
        connection.headers(stream, GRPC)
        body = memoryview(message(b'z' * MAX))
        while body:
            connection.spend(stream, len(body[:16384]))
            connection.data(stream, body[:16384])
            body = body[16384:]
        connection.headers(stream, OK, end=True)
    with Peer(each(large), tls=context(pki)) as peer:
        answers = ask(*trusting(peer, pki), digests=DIGESTS[:2])
    assert answers.tally['found'] == 2 and answers.tally['bytes'] == 2 * MAX and answers.tally['retries'] == 0


def test_lost_in_the_middle(pki):
    def script(connection):
        stream = connection.request()
        if len(peer.connections) == 1:
            return connection.headers(stream, GRPC)
        connection.answer(stream, b'x')
        connection.request()
    with Peer(script, tls=context(pki)) as peer:
        answers = ask(*trusting(peer, pki), '--no-preflight')
    assert answers.tally['found'] == 1 and answers.tally['retries'] >= 1


def test_closed_again_and_again(pki):
    """With requests on their way, and TLS's goodbye to nobody: no signal ends us."""
    def script(connection):
        for _ in range(20):
            connection.answer(connection.request(), b'x')
    with Peer(script, tls=context(pki)) as peer:
        answers = ask(*trusting(peer, pki), '--no-preflight', '--in-flight', 4, digests=DIGESTS[:200])
    assert answers.code == 0 and answers.tally['found'] + answers.tally['errors'] == 200
    assert answers.tally['found'] > 150 and len(peer.connections) >= 10


# ---- proxies -----------------------------------------------------------------------------------------

class Proxy:
    """Takes everyone who asks for a tunnel to one place, wherever they want to go."""

    def __init__(self, port, status='200 OK'):
        self.port, self.status, self.heads = port, status, []

    def __enter__(self):
        self.listening = socket.create_server(('127.0.0.1', 0))
        self.address = f'127.0.0.1:{self.listening.getsockname()[1]}'
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                threading.Thread(target=self.serve, args=[client], daemon=True).start()

    def serve(self, client):
        head = b''
        while not head.endswith(b'\r\n\r\n'):
            head += client.recv(1)
        self.heads.append(head.decode())
        client.sendall(f'HTTP/1.1 {self.status}\r\n\r\n'.encode())
        if self.status.startswith('200'):
            server = socket.create_connection(('127.0.0.1', self.port))
            threading.Thread(target=self.copy, args=[server, client], daemon=True).start()
            self.copy(client, server)
        client.close()

    @staticmethod
    def copy(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


FAR = '192.0.2.1:8980'
THROUGH = ' (asked through the proxy of the environment; no_proxy=HOST goes around it)'


@pytest.mark.parametrize('name', ['grpc_proxy', 'https_proxy', 'http_proxy'])
def test_tunnel(server, name):
    with Proxy(server.port) as proxy:
        answers = ask(FAR, '--no-tls', digests=DIGESTS[:300], env={name: f'http://me:pass%20word@{proxy.address}'})
    assert answers.tally['found'] == 300 and answers.tally['retries'] == 0
    assert proxy.heads[0].startswith(f'CONNECT {FAR} HTTP/1.1\r\n') and len(proxy.heads) == 1
    told = re.search('Proxy-Authorization: Basic (.*)\r\n', proxy.heads[0]).group(1)
    assert base64.b64decode(told) == b'me:pass word'


def test_tunnel_with_tls(pki):
    """The name is checked of whom we ask, not of the proxy."""
    with Peer(each(answer), tls=context(pki)) as peer, Proxy(int(peer.address.split(':')[1])) as proxy:
        env = {'http_proxy': proxy.address}
        assert refusal(f'grpcs://{FAR}', '--tls-ca', pki / 'ca.pem', env=env) == \
            'X shows a certificate for another name: --tls-server-name NAME says which one is meant' + THROUGH
    with Peer(each(answer), tls=context(pki, 'named')) as peer, Proxy(int(peer.address.split(':')[1])) as proxy:
        env = {'http_proxy': proxy.address}
        answers = ask('grpcs://cache.example:1', '--tls-ca', pki / 'ca.pem', digests=DIGESTS[:200], env=env)
        far = ask(f'grpcs://{FAR}', '--tls-ca', pki / 'ca.pem', '--tls-server-name', 'cache.example', env=env)
    assert answers.tally['found'] == 200 and answers.tally['retries'] == 0
    assert far.tally['found'] == 1 and proxy.heads[1].startswith(f'CONNECT {FAR} HTTP/1.1\r\n')


def test_tunnel_refused():
    with Proxy(0, '403 Forbidden') as proxy:
        said = refusal(FAR, '--no-tls', env={'grpc_proxy': f'http://me:secret@{proxy.address}'})
    assert re.fullmatch('X cannot be asked: .*403.*', said) and said.endswith(THROUGH) and 'secret' not in said


@pytest.mark.parametrize('url', ['http://me:secret@127.0.0.1:1', 'ftp://me:secret@127.0.0.1:1', 'http://me:secret@[',
                                 'http://me:secret@no-such-proxy.invalid:1', 'me:secret@', '::me:secret@::'])
def test_proxies_that_are_none(url):
    said = refusal(FAR, '--no-tls', env={'https_proxy': url})
    assert 'secret' not in said and said.endswith(THROUGH)


@pytest.mark.parametrize('name', ['no_proxy', 'no_grpc_proxy'])
def test_around_the_proxy(name):
    """Nothing of it: 127.0.0.1 refuses, the far address keeps silent or is not reached."""
    with Proxy(0) as proxy:
        refusal(FAR, '--no-tls', env={'http_proxy': proxy.address, name: 'a.example,192.0.2.1'})
        refusal(FAR, '--tls-server-name', 'b.example', env={'http_proxy': proxy.address, name: 'b.example'})
    assert not proxy.heads
