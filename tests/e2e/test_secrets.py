"""A log full of secrets: none of them is in the database, the recording or what is printed."""
import json
import resource
import socket
from pathlib import Path

from harness import value

TRACE = '11111111-2222-3333-4444-555555555555'
# Each has a text of its own, so that a leak names its place.
SECRETS = ('S3CRETargv', 'S3CREToption', 'S3CRETenv', 'S3CREThttp', 'S3CRETconfig', 'S3CRETafter', 'S3CRETlocalargv',
           'S3CRETlocalenv', 'S3CRETurl', 'S3CRETbearer', 'S3CRETmessage', 'S3CREThome', 'S3CRETheader', 'S3CRETfile')
ARGV = ['buck2', 'build', '//:a', '-c', 'buck2_re_client.http_headers=authorization: Bearer S3CREThttp',
        '--config=db.password=S3CRETargv', '--token', 'S3CREToption', '--env', 'GITHUB_PAT=S3CRETenv', '--', '--key=S3CRETafter']


def event(data, span=0):
    return {'Event': {'timestamp': [1796003972, 0], 'trace_id': TRACE, 'span_id': span, 'parent_id': 0, 'data': data}}


def config(section, key, text, is_cli):
    return {'section': section, 'key': key, 'value': text, 'cell': '', 'is_cli': is_cli}


def attempt():
    command = {'LocalCommand': {'argv': ['tool', '--password', 'S3CRETlocalargv'],
                                'env': [{'key': 'TOKEN', 'value': 'S3CRETlocalenv'}], 'action_digest': 'ab' * 32 + ':1'}}
    return {'details': {'signed_exit_code': 1, 'stdout': '', 'additional_message': 'see https://u:S3CRETmessage@host/x',
                        'stderr': 'fetching https://user:S3CRETurl@host/y\nAuthorization: Bearer S3CRETbearer\nplain words',
                        'command_kind': {'command': command}, 'metadata': None}, 'status': {'Failure': {}}}


def write_log(path):
    end = {'key': {'owner': {'TargetLabel': {'label': {'package': 'root//', 'name': 'a'}, 'configuration': {'full_name': 'c'}}}},
           'kind': 'Run', 'name': {'category': 'c', 'identifier': 'i'}, 'failed': True, 'execution_kind': 1,
           'commands': [attempt()], 'error': None}
    values = [config('buck2_re_client', 'http_headers', 'x-token: S3CREThttp', True),
              config('db', 'password', 'S3CRETargv', True), config('a', 'plain', 'kept', True),
              config('buck2_re_client', 'http_headers', 'x-token: S3CRETconfig', False)]
    records = [{'command_line_args': ARGV, 'expanded_command_line_args': ARGV, 'working_dir': '/w', 'trace_id': TRACE,
                'start_time': [1796003972, 0]},
               event({'Instant': {'data': {'BuckconfigInputValues': {'components': [{'data': {'ConfigValue': v}} for v in values]}}}}),
               event({'SpanEnd': {'duration_us': 1000, 'data': {'ActionExecution': end}}}, span=7)]
    path.write_text(''.join(json.dumps(record) + '\n' for record in records))


def test_no_secret_is_kept_or_shown(br2, project, server, home, tmp_path):
    root, db, recording = project('flaky'), tmp_path / 'br2.db', tmp_path / 'recording'
    write_log(root / 'buck-out/v2/log/20261130-020000_build_11111111-2222-3333-4444-555555555555_events.json-lines')
    (home / '.buckconfig.local').write_text('[buck2_re_client]\nhttp_headers = x-home: S3CREThome\n')
    (tmp_path / 'token').write_text('S3CRETfile\n')
    said = br2.run(root, '--db', db, '--endpoint', server.address, '--record', recording, '--header', 'x-one=$ONE',
                   '--token-file', tmp_path / 'token', env={'ONE': 'S3CRETheader'})
    assert value(db, f"SELECT count(*) FROM attempt_stderr JOIN run USING (run_id) WHERE trace_id = '{TRACE}'") == 1
    assert value(db, "SELECT value FROM run_config WHERE key = 'a.plain'") == 'kept'
    digest = br2.run('report', '--all', '--json', '--db', db).stdout
    places = {'database': db.read_bytes(), 'recording': recording.read_bytes(), 'output': said.stdout.encode(),
              'messages': said.stderr.encode(), 'json': digest.encode()}
    assert b'plain words' in places['database']
    leaks = [(name, secret) for name, data in places.items() for secret in SECRETS if secret.encode() in data]
    assert leaks == []


def test_a_crash_leaves_no_secret(br2, project, tmp_path):
    """While it waits for a server that never speaks: no core, and the token is in no file of /proc that others read."""
    (tmp_path / 'token').write_text('S3CRETfile\n')
    with socket.create_server(('127.0.0.1', 0)) as silent:
        process = br2.start(project('flaky'), '--db', tmp_path / 'br2.db', '--endpoint', f'127.0.0.1:{silent.getsockname()[1]}',
                            '--token-file', tmp_path / 'token',
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2))
        try:
            silent.settimeout(60)
            silent.accept()
            proc = Path('/proc', str(process.pid))
            assert [line.split()[4] for line in (proc / 'limits').read_text().splitlines() if line.startswith('Max core')] == ['0']
            assert b'S3CRET' not in (proc / 'cmdline').read_bytes() + (proc / 'environ').read_bytes()
        finally:
            process.kill()
            process.communicate()
