"""What the tests of this folder share: the probe, the real Prometheus with known
data, and a server that answers as it is told."""
import http.server
import json
import os
import socket
import subprocess
import threading
import urllib.parse
from pathlib import Path

HERE = Path(__file__).parent
RECORDED = {'BASE': '1796003700', 'SPAN': '900', 'STEP': '1', 'LIMIT': str(1 << 30),
            'ACTIONS': str(HERE / 'recorded-actions.tsv')}


class Answer:
    """What the probe printed: its rows by kind, its warnings, its error."""

    def __init__(self, done):
        self.code = done.returncode
        self.warnings = [x[9:] for x in done.stderr.splitlines() if x.startswith('warning: ')]
        self.error = ''.join(x[7:] for x in done.stderr.splitlines() if x.startswith('error: '))
        self.stderr = done.stderr
        self.rows = [json.loads(line) for line in done.stdout.splitlines()]

    def of(self, kind):
        return [row for row in self.rows if row['row'] == kind]

    @property
    def tally(self):
        (row,) = self.of('tally')
        return row

    @property
    def stats(self):
        (row,) = self.of('stats')
        return row


def probe(*arguments, code=0, env=None, text=''):
    """Runs cluster_probe with `text` as its standard input; fails unless it exits with `code`."""
    kept = {k: v for k, v in os.environ.items() if k in ('PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS')}
    done = subprocess.run([os.environ['CLUSTER_PROBE'], *map(str, arguments)], capture_output=True, text=True,
                          env={**kept, **(env or {})}, input=text, timeout=120)
    assert done.returncode == code, f'exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}'
    return Answer(done)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Prometheus:
    """run.sh with these variables."""

    def __init__(self, folder, **variables):
        self.folder = Path(folder) / 'prometheus'
        self.env = {**os.environ, 'PORT': str(free_port()), **variables}
        self.url = self.base = None

    def run(self, verb):
        done = subprocess.run([HERE / 'run.sh', verb, self.folder], env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, f'run.sh {verb}: exit {done.returncode}\n{done.stderr}'
        return done.stdout

    def __enter__(self):
        lines = dict(line.split('=', 1) for line in self.run('start').splitlines())
        self.url, self.base, self.end = lines['PROM_URL'], int(lines['PROM_BASE']), int(lines['PROM_END'])
        return self

    def __exit__(self, *exc):
        self.run('stop')


class Fake:
    """An HTTP server; `answer(verb, fields)` gives (status, content type, body, header…)."""

    def __init__(self, answer):
        fake = self
        self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def respond(self, form):
                path, _, query = self.path.partition('?')
                fields = dict(urllib.parse.parse_qsl(form or query))
                fake.asked.append((self.command, path, fields))
                status, kind, body, *headers = answer(self.command, fields)
                self.send_response(status)
                for header in headers:
                    self.send_header(*header)
                self.send_header('Content-Type', kind)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.respond('')

            def do_POST(self):
                self.respond(self.rfile.read(int(self.headers['Content-Length'])).decode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}'

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc):
        self.server.shutdown()
        self.server.server_close()


def series(values, **labels):
    return {'metric': labels, 'values': [[t, str(v)] for t, v in values]}


def success(*result, kind='matrix', **more):
    body = {'status': 'success', 'data': {'resultType': kind, 'result': list(result)}, **more}
    return 200, 'application/json', json.dumps(body).encode()


def error(status, kind, text):
    return status, 'application/json', json.dumps({'status': 'error', 'errorType': kind, 'error': text}).encode()
