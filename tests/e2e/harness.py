"""What the end-to-end tests and the benches share: the program as a user runs
it, the real bb_storage, the recorded samples, and a look into the database."""
import contextlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / 'tests'))
import dump_rows  # noqa: E402

sys.path.append(str(ROOT / 'bench'))
import pairs  # noqa: E402

LOGS = ROOT / 'tests/data/logs'
BUILDBARN = ROOT / 'tests/buildbarn'
SAMPLES = ['demo-x86_64', 'failures', 'flaky', 'cells', 'cells-lost', 'cut', 'encodings']


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


# ---- the program -----------------------------------------------------------------

def errors(said):
    return [line for line in said.stderr.splitlines() if 'error: ' in line]


def troubles(said):
    return [line for line in said.stderr.splitlines() if 'error: ' in line or 'warning: ' in line]


def preload(library, **settings):
    """An environment in which the program runs with one of tests/tools, sanitized or not."""
    options = ':'.join(filter(None, [os.environ.get('ASAN_OPTIONS'), 'verify_asan_link_order=0']))
    return {'ASAN_OPTIONS': options, 'LD_PRELOAD': os.environ[library], **settings}


class Program:
    """Runs br2-ingest in an environment of its own: nothing of the user's leaks in."""

    def __init__(self, binary, home, under=()):
        self.binary = Path(binary).resolve()
        self.home = Path(home)
        self.prefix = list(map(str, under))
        assert self.binary.exists(), f'{self.binary} is not built'

    def under(self, *command):
        """The same, run by a command that ends with what it is to run: prlimit, nsenter, sh -c."""
        return Program(self.binary, self.home, [*self.prefix, *command])

    def environment(self, extra):
        kept = {k: v for k, v in os.environ.items() if k in ('PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS')}
        return {**kept, 'HOME': str(self.home), 'LC_ALL': 'C.UTF-8', **extra}

    def start(self, *args, cwd=None, env=None, **popen):
        """The process; its standard output and error are pipes of text."""
        return subprocess.Popen([*self.prefix, self.binary, *map(str, args)], cwd=cwd or self.home, text=True,
                                env=self.environment(env or {}), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)

    def run(self, *args, code=0, cwd=None, env=None, timeout=300):
        """Runs it to its end; fails unless it exits with `code`. Returns the finished process."""
        process = self.start(*args, cwd=cwd, env=env)
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
        done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
        assert done.returncode == code, f'{done.args}: exit {done.returncode}\n{out[-2000:]}\n{err[-4000:]}'
        return done

    def measured(self, *args):
        """CPU seconds of a run that ends well, and its largest resident size in bytes: of what is freed, the sanitizer
        keeps little then."""
        cost, peak = pairs.peaked([*self.prefix, self.binary, *args], cwd=self.home, stdin=subprocess.DEVNULL, timeout=300,
                                  env=self.environment({'ASAN_OPTIONS': 'quarantine_size_mb=1'}))
        return cost.cpu, peak


# ---- the real server -------------------------------------------------------------

def bb_storage():
    """The server's binary; built from the Go module proxy where it is missing."""
    given = os.environ.get('BB_STORAGE')
    if given:
        return given
    built = BUILDBARN / 'bin/bb_storage'
    if not built.exists():
        subprocess.run([BUILDBARN / 'build.sh'], check=True)
    return str(built)


class Server:
    """bb_storage on a free port of 127.0.0.1."""

    def __init__(self, folder, *options, port=None, under=()):
        self.under = list(under)
        self.options = list(map(str, options))
        self.port = port or free_port()
        self.address = f'127.0.0.1:{self.port}'
        self.log = Path(folder) / f'bb_storage-{self.port}.log'
        self.process = None

    def start(self):
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen([*self.under, BUILDBARN / 'run.sh', '--listen', self.address, *self.options],
                                            env={**os.environ, 'BB_STORAGE': bb_storage()},
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while True:
            assert self.process.poll() is None, f'bb_storage ended:\n{self.log.read_text()}'
            if self.listens():
                return self
            assert time.monotonic() < deadline, f'bb_storage does not listen:\n{self.log.read_text()}'
            time.sleep(0.02)

    def listens(self):
        test = f'exec 3<>/dev/tcp/127.0.0.1/{self.port}'
        return subprocess.run([*self.under, 'bash', '-c', test], stderr=subprocess.DEVNULL).returncode == 0

    def load(self, cache=LOGS / 'cache'):
        """Fills it with the recorded blobs and results."""
        subprocess.run([*self.under, '/usr/bin/python3', BUILDBARN / 'load.py', self.address, cache], check=True,
                       stdout=subprocess.DEVNULL)
        return self

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.stop()


class Listener:
    """Accepts connections and counts them: stands where nobody may connect to."""

    def __init__(self):
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.port = self.socket.getsockname()[1]
        self.connections = 0
        self.thread = threading.Thread(target=self.accept, daemon=True)

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                self.connections += 1
                connection.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Relay:
    """Passes bytes to a server; once `limit` of them came back, it cuts all
    connections and refuses new ones for `outage` seconds. Once."""

    def __init__(self, port, limit, outage):
        self.server_port, self.left, self.outage = port, limit, outage
        self.port = free_port()
        self.lock = threading.Lock()
        self.pairs = []
        self.outages = 0
        self.listen()

    def listen(self):
        self.socket = socket.create_server(('127.0.0.1', self.port))
        threading.Thread(target=self.accept, args=(self.socket,), daemon=True).start()

    def accept(self, listening):
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                server = socket.create_connection(('127.0.0.1', self.server_port))
                self.pairs.append((client, server))
                for pair in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source, sink, counted):
        with contextlib.suppress(OSError):
            while data := source.recv(4096):
                if counted and self.spend(len(data)):
                    break
                sink.sendall(data)
        self.close(source, sink)

    def spend(self, count):
        """Takes from the limit; the one call that uses it up makes the outage."""
        with self.lock:
            before, self.left = self.left, self.left - count
            if not (before > 0 >= self.left):
                return False
            self.outages += 1
        self.close(self.socket, *(s for pair in self.pairs for s in pair))
        threading.Timer(self.outage, self.listen).start()
        return True

    @staticmethod
    def close(*sockets):
        for s in sockets:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
            s.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close(self.socket, *(s for pair in self.pairs for s in pair))


# ---- samples -----------------------------------------------------------------------

def expected(sample):
    return json.loads((LOGS / sample / 'expected.json').read_text())


def copy_sample(sample, folder):
    """A project of its own in `folder`, named as the sample: its logs, not what is expected of them."""
    return Path(shutil.copytree(LOGS / sample, Path(folder) / sample, ignore=shutil.ignore_patterns('expected.json')))


def log_files(root):
    return sorted(Path(root).rglob('*_events.*'))


def paths_of(sample, root):
    """What a user gives for the sample: the root, or the lone files where there is no buck-out."""
    if (root / 'buck-out').exists():
        return [root]
    return [root / run['file'] for run in expected(sample)['runs']]


# ---- the database --------------------------------------------------------------------

def rows(db, sql, *parameters):
    """The rows as dictionaries. Reads only; makes no file."""
    connection = sqlite3.connect(f'file:{db}?mode=ro', uri=True)
    connection.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in connection.execute(sql, parameters)]
    finally:
        connection.close()


def value(db, sql, *parameters):
    """The single value of a single row."""
    (row,) = rows(db, sql, *parameters)
    (single,) = row.values()
    return single


def dump(db, without_files=False):
    """Every row, as text that does not depend on surrogate ids."""
    return '\n'.join(dump_rows.dump(db, without_files)) + '\n'


def figure(name, value, comment):
    """A line of tests/LONG.md, where a run that makes it asks for one."""
    if os.environ.get('BR2_FIGURES'):
        with open(os.environ['BR2_FIGURES'], 'a', encoding='utf-8') as figures:
            figures.write(f'{name}\t{value}\t{comment}\n')


def kill(process, number=signal.SIGKILL):
    process.send_signal(number)
    process.communicate()
