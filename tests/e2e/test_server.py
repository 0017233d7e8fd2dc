"""What happens when the server is away, refuses, speaks TLS or is not the one to ask."""
import gzip
import json
import os
import re
import subprocess

import pytest

import harness
from harness import rows, value

WANTED = 1772


def refusal(address):
    return re.compile(re.escape(address) + r' refuses: 1772 results wanted\. '
                      r'kubectl -n buildbarn port-forward svc/frontend \d+:8980 &, then br2-ingest')


# ---- away --------------------------------------------------------------------------------

def test_unreachable_then_there(br2, project, server, tmp_path):
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    nobody = f'127.0.0.1:{harness.free_port()}'
    failed = br2.run(root, '--db', db, '--endpoint', nobody, code=2)
    assert len(refusal(nobody).findall(failed.stderr)) == 1
    assert value(db, 'SELECT count(*) FROM run WHERE complete') == 7
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 0

    # No log is read again: not even one whose bytes are now others, with size and time as before.
    for log in harness.log_files(root):
        stat = log.stat()
        log.write_bytes(b'x' * stat.st_size)
        os.utime(log, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    br2.run(root, '--db', db, '--endpoint', server.address, '--instance', 'demo-x86_64')
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == WANTED
    assert value(db, "SELECT count(*) FROM log_file WHERE ending = 'whole'") == 7


def test_an_outage_loses_nothing(br2, project, server, tmp_path):
    """The server goes away in the middle of the answers and comes back after seconds."""
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    with harness.Relay(server.port, limit=100_000, outage=3) as relay:
        br2.run(root, '--db', db, '--endpoint', f'127.0.0.1:{relay.port}', '--no-report')
    assert relay.outages == 1
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == WANTED
    assert value(db, 'SELECT count(*) FROM lookup WHERE state <> 1') == 0


def test_no_remote_asks_nobody(br2, project, tmp_path):
    root, db = project('demo-x86_64'), tmp_path / 'br2.db'
    with harness.Listener() as listener:
        br2.run(root, '--db', db, '--no-remote', '--endpoint', f'127.0.0.1:{listener.port}')
        assert listener.connections == 0
    assert value(db, 'SELECT count(*) FROM run') == 7
    assert {r['reason'] for r in rows(db, 'SELECT reason FROM missing_results')} == {'not_asked'}


# ---- whom to ask ---------------------------------------------------------------------------

def hostile_log(log, port):
    """The recorded JSON log, with a server of its own choosing wherever a server can be named."""
    lines = gzip.decompress(log.read_bytes()).decode().splitlines()
    first = json.loads(lines[0])
    values = [f'buck2_re_client.{key}=grpc://127.0.0.1:{port}'
              for key in ('engine_address', 'action_cache_address', 'cas_address', 'address')]
    first['command_line_args'] += [part for v in values for part in ('-c', v)]
    config = [{'data': {'ConfigValue': {
        'section': 'buck2_re_client', 'key': v.split('=')[0].split('.')[1], 'value': v.split('=')[1],
        'cell': None, 'is_cli': True}}} for v in values]
    text = '\n'.join([json.dumps(first), *lines[1:]])
    for old, new in {
        '"additional_message":null':
            '"additional_message":"Action details (cached result): http://127.0.0.1:%d/demo-x86_64/blobs/sha256/'
            'historical_execute_response/%s-1/"' % (port, 'a' * 64),
        '"BuckconfigInputValues":{"components":[':
            '"BuckconfigInputValues":{"components":' + json.dumps(config)[:-1] + ', ',
    }.items():
        assert old in text
        text = text.replace(old, new)
    hostile = log.with_suffix('')
    hostile.write_text(text + '\n')
    return hostile


def test_a_log_never_names_a_server(br2, project, server, tmp_path):
    log = next(project('encodings').glob('*.json-lines.gz'))
    with harness.Listener() as listener:
        hostile = hostile_log(log, listener.port)
        assert hostile.read_text().count(str(listener.port)) > 4
        br2.run(hostile, '--db', tmp_path / 'flag.db', '--endpoint', server.address, '--no-report')
        nobody = f'127.0.0.1:{harness.free_port()}'
        br2.run(hostile, '--db', tmp_path / 'env.db', '--no-report', code=2, env={'BR2_RE_ENDPOINT': nobody})
        assert listener.connections == 0
    assert value(tmp_path / 'flag.db', 'SELECT count(*) FROM result WHERE source = 1') == 69


def test_endpoint_from_environment(br2, project, server, tmp_path):
    db = tmp_path / 'br2.db'
    br2.run(project('flaky'), '--db', db, '--no-report', env={'BR2_RE_ENDPOINT': f'grpc://{server.address}'})
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 2


def test_endpoint_from_buckconfig(br2, project, server, tmp_path):
    root, db = project('flaky'), tmp_path / 'br2.db'
    (root / '.buckconfig.local').write_text('[buck2_re_client]\naction_cache_address = grpc://$CACHE\n')
    br2.run(root, '--db', db, '--no-report', env={'CACHE': server.address})
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 2


@pytest.mark.parametrize('spelling', ['grpc://{}', '{}', 'dns:///{}'])
def test_endpoint_spellings(br2, project, server, tmp_path, spelling):
    db = tmp_path / 'br2.db'
    br2.run(project('flaky'), '--db', db, '--no-report', '--endpoint', spelling.format(server.address))
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 2


def test_instance_is_found_out(br2, project, server, tmp_path):
    """The -c value in these logs names an instance that was never used; .buckconfig names the right one."""
    root, db = project('cells'), tmp_path / 'br2.db'
    br2.run(root, '--db', db, '--no-report', '--endpoint', server.address)
    chosen = rows(db, 'SELECT DISTINCT i.name, r.instance_proved AS proved FROM run r JOIN instance i'
                  ' USING (instance_id) WHERE EXISTS (SELECT 1 FROM attempt a WHERE a.run_id = r.run_id'
                  ' AND a.lookup_id IS NOT NULL)')
    assert chosen == [{'name': 'qemu-mini', 'proved': 1}]
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 121


def test_wrong_instance_is_said(br2, project, server, tmp_path):
    root, db = project('flaky'), tmp_path / 'br2.db'
    said = br2.run(root, '--db', db, '--endpoint', server.address, '--instance', 'elsewhere')
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 0
    assert 'elsewhere' in said.stdout + said.stderr
    assert 'instance' in said.stdout + said.stderr


def test_a_mended_name_counts_for_known_logs(br2, project, server, tmp_path):
    """What the first ingest believed of the instance is not final: flag or .buckconfig may have been wrong."""
    root = project('flaky')
    good = (root / '.buckconfig').read_text()
    for name, spoil in (('flag', ['--instance', 'wrong']), ('file', [])):
        db = tmp_path / f'{name}.db'
        if name == 'file':
            # project.json's name and the links prove nothing here: only .buckconfig can.
            (root / '.buckconfig').write_text(good.replace('instance_name = flaky', 'instance_name = wrong'))
            root = root.rename(root.with_name('renamed'))
        first = br2.run(root, '--db', db, '--endpoint', server.address, '--no-report', *spoil)
        if name == 'flag':
            assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 0, first.stderr
        (root / '.buckconfig').write_text(good)
        second = br2.run(root, '--db', db, '--endpoint', server.address, '--no-report')
        assert '0 read, 3 known' in second.stderr
        assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 2


def test_a_mended_digest_function_counts_for_known_logs(br2, project, server, tmp_path):
    """Digests asked under the wrong function are all missing; with the right .buckconfig they are found."""
    root, db = project('flaky'), tmp_path / 'br2.db'
    good = (root / '.buckconfig').read_text()
    (root / '.buckconfig').write_text(good.replace('= SHA256', '= BLAKE3'))
    br2.run(root, '--db', db, '--endpoint', server.address, '--no-report')
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 0
    (root / '.buckconfig').write_text(good)
    second = br2.run(root, '--db', db, '--endpoint', server.address, '--no-report')
    assert '0 read, 3 known' in second.stderr
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 2
    assert rows(db, 'SELECT DISTINCT function FROM lookup') == [{'function': 1}]
    assert rows(db, 'PRAGMA foreign_key_check') == []


# ---- TLS and tokens ---------------------------------------------------------------------------

@pytest.fixture(scope='module')
def certificates(tmp_path_factory):
    """A CA, certificates of a server, of one by another name and of a client, and a CA that signed none of them."""
    folder = tmp_path_factory.mktemp('tls')

    def openssl(*args):
        subprocess.run(['openssl', *args], check=True, cwd=folder, capture_output=True)

    for ca in ('ca', 'other'):
        openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
                '-subj', f'/CN=test {ca}', '-keyout', f'{ca}.key', '-out', f'{ca}.pem')
    for name, names in {'server': 'IP:127.0.0.1,DNS:localhost', 'named': 'DNS:cache.example', 'client': 'DNS:client'}.items():
        (folder / 'ext').write_text(f'subjectAltName={names}\n')
        openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
                '-subj', f'/CN={name}', '-keyout', f'{name}.key', '-out', f'{name}.csr')
        openssl('x509', '-req', '-in', f'{name}.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial',
                '-days', '2', '-extfile', 'ext', '-out', f'{name}.pem')
    return folder


def test_tls(br2, project, certificates, tmp_path):
    root = project('flaky')
    with harness.Server(tmp_path, '--cert', certificates / 'server.pem', '--key', certificates / 'server.key') as tls:
        endpoint = ['--endpoint', f'grpcs://{tls.address}', '--no-report']
        right = br2.run(root, '--db', tmp_path / 'right.db', *endpoint, '--tls-ca', certificates / 'ca.pem')
        wrong = br2.run(root, '--db', tmp_path / 'wrong.db', *endpoint, '--tls-ca', certificates / 'other.pem', code=2)
        plain = br2.run(root, '--db', tmp_path / 'plain.db', '--endpoint', tls.address, '--no-report', code=2)
    # The server is empty: every digest was asked and is not there.
    assert value(tmp_path / 'right.db', 'SELECT count(*) FROM lookup WHERE state = 2') == 2
    assert 'certificate' in wrong.stderr.lower()
    assert 'tls' in plain.stderr.lower()
    assert value(tmp_path / 'wrong.db', 'SELECT count(*) FROM run') == 3
    assert right.stderr.count('error') == 0


def test_tls_server_name(br2, project, certificates, tmp_path):
    """As through a port-forward: the certificate is cache.example's, the endpoint 127.0.0.1."""
    root = project('flaky')
    with harness.Server(tmp_path, '--cert', certificates / 'named.pem', '--key', certificates / 'named.key') as tls:
        common = ['--endpoint', f'grpcs://{tls.address}', '--tls-ca', certificates / 'ca.pem', '--no-report']
        br2.run(root, '--db', tmp_path / 'right.db', *common, '--tls-server-name', 'cache.example')
        without = br2.run(root, '--db', tmp_path / 'without.db', *common, code=2)
        wrong = br2.run(root, '--db', tmp_path / 'wrong.db', *common, '--tls-server-name', 'other.example', code=2)
    assert value(tmp_path / 'right.db', 'SELECT count(*) FROM lookup WHERE state = 2') == 2
    assert 'shows a certificate for another name: --tls-server-name NAME says' in without.stderr
    assert 'shows a certificate for another name than --tls-server-name says' in wrong.stderr
    for name in ('without', 'wrong'):
        assert value(tmp_path / f'{name}.db', 'SELECT count(*) FROM lookup WHERE state = 2') == 0


def test_client_certificate(br2, project, certificates, tmp_path):
    root = project('flaky')
    with harness.Server(tmp_path, '--cert', certificates / 'server.pem', '--key', certificates / 'server.key',
                        '--auth', 'mtls', '--ca', certificates / 'ca.pem') as tls:
        common = ['--endpoint', f'grpcs://{tls.address}', '--tls-ca', certificates / 'ca.pem', '--no-report']
        br2.run(root, '--db', tmp_path / 'with.db', *common, '--tls-cert', certificates / 'client.pem',
                '--tls-key', certificates / 'client.key')
        br2.run(root, '--db', tmp_path / 'without.db', *common, code=2)
    assert value(tmp_path / 'with.db', 'SELECT count(*) FROM lookup WHERE state = 2') == 2
    assert value(tmp_path / 'without.db', 'SELECT count(*) FROM lookup WHERE state = 2') == 0


@pytest.fixture
def token(tmp_path):
    """A key set for the server and a token that it accepts."""
    made = subprocess.run(['/usr/bin/python3', harness.BUILDBARN / 'mktoken.py', tmp_path], check=True,
                          capture_output=True, text=True)
    return made.stdout.strip()


def test_token(br2, project, token, tmp_path):
    root = project('flaky')
    (tmp_path / 'token.txt').write_text(token + '\n')
    with harness.Server(tmp_path, '--auth', 'jwt', '--jwks', tmp_path / 'jwks.json') as guarded:
        endpoint = ['--endpoint', guarded.address, '--no-report']
        ways = {'file': ['--token-file', tmp_path / 'token.txt'],
                'header': ['--header', 'Authorization: Bearer $TOKEN']}
        for name, way in ways.items():
            br2.run(root, '--db', tmp_path / f'{name}.db', *endpoint, *way, env={'TOKEN': token})
        without = br2.run(root, '--db', tmp_path / 'without.db', *endpoint, code=2)
    for name in ways:
        assert value(tmp_path / f'{name}.db', 'SELECT count(*) FROM lookup WHERE state = 2') == 2
        assert token.encode() not in (tmp_path / f'{name}.db').read_bytes()
    assert 'token' in without.stderr
    assert 'port-forward' not in without.stderr, 'the server is there: that would not help'
    assert value(tmp_path / 'without.db', 'SELECT count(*) FROM run') == 3


def test_access_denied(br2, project, tmp_path):
    root, db = project('flaky'), tmp_path / 'br2.db'
    with harness.Server(tmp_path, '--auth', 'deny') as closed:
        said = br2.run(root, '--db', db, '--endpoint', closed.address, '--no-report', code=2)
    assert 'No entry for tests' in said.stderr
    assert value(db, 'SELECT count(*) FROM run') == 3


def test_unknown_instance(br2, project, tmp_path):
    """A server that knows the instances main and other/x only."""
    root, db = project('flaky'), tmp_path / 'br2.db'
    with harness.Server(tmp_path, '--instances', 'demux') as demux:
        said = br2.run(root, '--db', db, '--endpoint', demux.address, '--no-report', code=2)
        assert 'instance' in said.stderr
        br2.run(root, '--db', db, '--endpoint', demux.address, '--no-report', '--instance', 'main')
    assert {r['name'] for r in rows(db, 'SELECT i.name FROM run r JOIN instance i USING (instance_id)')} == {'main'}


@pytest.mark.parametrize('name, rule', [('/a', 'slash'), ('a//b', 'slash'), ('a/blobs/b', "'blobs'")])
def test_an_instance_that_no_server_takes(br2, project, tmp_path, name, rule):
    """Told before anything is read or asked, with the rule; others are sent as they are."""
    said = br2.run(project('flaky'), '--db', tmp_path / 'br2.db', '--instance', name, code=3)
    assert rule in said.stderr and not (tmp_path / 'br2.db').exists()


@pytest.mark.namespace
def test_a_name_of_two_addresses(br2, project, server, tmp_path):
    """Nobody listens at the first one, which is of IPv6, as where `localhost` is both."""
    root, db, hosts = project('flaky'), tmp_path / 'br2.db', tmp_path / 'hosts'
    hosts.write_text('::1 twice.example\n127.0.0.1 twice.example\n')
    inside = br2.under('unshare', '--user', '--map-root-user', '--mount', 'sh', '-c',
                       f'mount --bind {hosts} /etc/hosts && exec "$0" "$@"')
    inside.run(root, '--db', db, '--endpoint', f'twice.example:{server.port}', '--no-report')
    assert value(db, 'SELECT count(*) FROM result WHERE source = 1') == 2
