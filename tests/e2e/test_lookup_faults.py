"""Calls to the system fail while results are asked for: sockets, names, files; once, or each time. What is
lost is asked for again; what stays away is told in one line, costs no row and is asked by the next ingest."""
import errno
import re
import shutil
import ssl
import subprocess
import time
from itertools import takewhile

import pytest

import faults
import harness
from harness import dump, troubles, value
from test_faulty_servers import RESULTS, WANTED, cache
from test_cluster import Fake
from test_server import certificates  # noqa: F401 a fixture

SHORT, END = 0, -1
FILES = faults.FILES - {'stat'} # which also finds out what is there
TIMES = [1, 2, 4, 7, 9, 20, 30, 60]
# What a connection gets over at any time, and what ends it: another one is made once the server has answered.
PASSING = [('poll', errno.EINTR), ('send', errno.EAGAIN), ('send', errno.EINTR), ('send', SHORT),
           ('recv', errno.EAGAIN), ('recv', errno.EINTR), ('recv', SHORT)]
ENDING = [('send', errno.EPIPE), ('send', errno.ECONNRESET), ('recv', errno.ECONNRESET), ('recv', END)]
CONNECTING = [('socket', errno.EMFILE, r'cannot be asked: too many files are open: the limit is \d+ \(ulimit -n\)'), ('connect', errno.ECONNREFUSED, ' refuses'),
              ('connect', errno.ENETUNREACH, 'no network reaches it'), ('getinfo', 0, 'the connection is gone again')]
ENDED = 'closed the connection|Broken pipe|Connection reset by peer|SSL_connect'
FIRST = CONNECTING + [(*ending, ENDED) for ending in ENDING]


def at(peer, scheme=''):
    """Options to ask it."""
    return ['--endpoint', f'{scheme}{peer.address}', '--instance', 'qemu-mini']


def tls_settings(certificates):  # noqa: F811
    settings = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    settings.load_cert_chain(certificates / 'server.pem', certificates / 'server.key')
    settings.set_alpn_protocols(['h2'])
    return settings


@pytest.fixture(params=['plain', 'tls'])
def server(request):
    """Options to ask a cache in order."""
    if request.param == 'plain':
        with cache() as peer:
            yield at(peer)
        return
    folder = request.getfixturevalue('certificates')
    with cache(tls=tls_settings(folder)) as peer:
        yield [*at(peer, 'grpcs://'), '--tls-ca', folder / 'ca.pem']


class Asking:
    """An ingest that knows its logs and asks for their results, one call of which fails."""

    def __init__(self, br2, folder, root, options, results=WANTED):
        self.br2, self.folder, self.note = br2, folder, folder / 'note'
        self.db, self.before = folder / 'br2.db', folder / 'before.db'
        br2.run(root, '--db', self.before, '--no-remote', '--no-report')
        self.command = [root, '--db', self.db, '--no-report', *options]
        self.begin()
        br2.run(*self.command)
        assert value(self.db, RESULTS) == results
        self.wanted = self.rows()

    def rows(self):
        """All that does not tell when the cluster was looked at."""
        return [line for line in dump(self.db).splitlines() if not line.startswith('layer_look')]

    def is_whole(self):
        return self.rows() == self.wanted

    def begin(self):
        shutil.copyfile(self.before, self.db)

    def run(self, kind, number, fault, place=0):
        """The finished process, or None if there was no such call."""
        self.begin()
        process = self.br2.start(*self.command, env=faults.preload(self.note, f'{kind} {place} {number} {fault}'))
        out, err = process.communicate(timeout=100)
        if not self.note.exists():
            return None
        self.note.unlink()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def check_well(self, said):
        """Nothing of the fault is seen."""
        assert (said.returncode, troubles(said)) == (0, [])
        assert self.rows() == self.wanted

    def check_unasked(self, said, words):
        """One line, and the rows of the logs."""
        assert said.returncode == 2, said.stderr
        (line,) = troubles(said)
        assert re.search(words, line) and '127.0.0.1:' in line
        assert (value(self.db, RESULTS), value(self.db, 'SELECT count(*) FROM run')) == (0, 7)

    def mend(self):
        self.br2.run(*self.command, '--retry-missing')
        assert self.rows() == self.wanted


@pytest.fixture
def asking(br2, project, server, tmp_path):
    return Asking(br2, tmp_path, project('cells'), server)


@pytest.mark.parametrize('kind, fault', PASSING)
def test_that_passes(asking, kind, fault):
    """At the nth call: nobody has to know."""
    came = 0
    for said in takewhile(bool, (asking.run(kind, number, fault) for number in TIMES)):
        asking.check_well(said)
        came += 1
    assert came >= 4


@pytest.mark.parametrize('kind, fault', ENDING)
def test_the_end_of_a_connection(asking, kind, fault):
    """At the nth call: a server that has answered is asked again for what it has not."""
    answered = 0
    for number in TIMES:
        said = asking.run(kind, number, fault)
        if said and (said.returncode == 0 or answered):
            asking.check_well(said)
            answered += 1
        elif said:
            asking.check_unasked(said, ENDED)
    assert answered


@pytest.mark.parametrize('kind, fault, words', FIRST)
def test_from_the_first(asking, kind, fault, words):
    """Nobody waits for a server that was never there."""
    begun = time.monotonic()
    said = asking.run(kind, 0, fault)
    assert time.monotonic() - begun < 20
    asking.check_unasked(said, words)
    asking.mend()


@pytest.mark.parametrize('kind, fault, words', CONNECTING)
def test_at_a_later_connection(br2, project, tmp_path, kind, fault, words):
    """The server was there: it is tried again."""
    def leave(connection, stream, number, _):
        if number % 40 == 0:
            connection.goaway(stream)
    with cache(leave) as leaving:
        asking = Asking(br2, tmp_path, project('cells'), at(leaving))
        for number in (2, 3):
            asking.check_well(asking.run(kind, number, fault))


@pytest.mark.parametrize('kind', ['send', 'recv'])
def test_a_byte_at_a_time(asking, kind):
    asking.check_well(asking.run(kind, 0, SHORT))


# ---- files and the cluster ------------------------------------------------------------------------------

def sweep(asking, kinds, codes):
    """One call at each place fails: one line, or nothing of it is seen; then all is mended. How many were told."""
    asking.begin()
    asking.br2.run(*asking.command, env=faults.preload(asking.note))
    places = [place for place in faults.read_places(asking.note) if place.kind in kinds]
    asking.note.unlink()
    told = 0
    for number, place in enumerate(places):
        said = asking.run(place.kind, 1, codes[number % len(codes)], place.name)
        if not said or said.returncode == 0:
            assert not said or asking.is_whole(), said.stderr
            continue
        told += 1
        assert said.returncode in (2, 3) and len(troubles(said)) == 1, said.stderr
        asking.mend()
    return told


def test_files(br2, project, certificates, tmp_path):  # noqa: F811
    """The project's files, the token, the CA's certificate: none of them can be opened or read."""
    root, token = project('cells'), tmp_path / 'token'
    token.write_text('a token\n')
    with cache(tls=tls_settings(certificates)) as peer:
        options = [*at(peer, 'grpcs://'), '--tls-ca', certificates / 'ca.pem', '--token-file', token]
        asking = Asking(br2, tmp_path, root, options)
        assert sweep(asking, {'open', 'fopen', 'read'}, [errno.EACCES, errno.EMFILE, errno.EIO]) >= 3


class Recording(Asking):
    """An ingest that completes a recording: what it held is never lost, and nothing is left beside it."""

    def __init__(self, record, *args):
        self.record, self.old = record, record.read_bytes()
        super().__init__(*args)
        self.lines = self.read()

    def read(self):
        return sorted(self.record.read_bytes().splitlines())

    def begin(self):
        super().begin()
        self.record.write_bytes(self.old)

    def is_whole(self):
        return super().is_whole() and self.read() == self.lines

    def mend(self):
        self.check_record()
        super().mend()
        self.check_record()

    def check_record(self):
        assert self.record.read_bytes().startswith(self.old)
        assert list(self.record.parent.glob('record.jsonl?*')) == []


def test_files_of_a_recording(br2, project, tmp_path):
    """Of the one that is completed, and of what stands beside it meanwhile."""
    root, record = project('cells'), tmp_path / 'record.jsonl'
    with cache() as peer:
        br2.run(root, '--db', tmp_path / 'first.db', '--no-report', *at(peer), '--record', record)
        record.write_bytes(b''.join(record.read_bytes().splitlines(keepends=True)[:9]))
        asking = Recording(record, br2, tmp_path, root, [*at(peer), '--record', record])
        assert sweep(asking, FILES, [errno.EIO, errno.EACCES]) >= 12


def test_files_of_a_replay(br2, project, tmp_path):
    """Of a recording that answers: the file, and the one without a name that its answers are unpacked to."""
    record = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
    asking = Asking(br2, tmp_path, project('cells'), ['--replay', record], results=121)
    assert sweep(asking, FILES, [errno.EIO, errno.EACCES]) >= 4


def test_the_cluster(br2, project, tmp_path):
    """What is asked by libcurl alone: a list of pods."""
    text = (harness.ROOT / 'tests/data/pods/recorded.json').read_bytes()
    with Fake(lambda verb, fields: (200, 'application/json', text)) as api:
        asking = Asking(br2, tmp_path, project('failures'), ['--no-remote', '--pods', api.url], results=0)
        assert sweep(asking, {'socket', 'connect', 'send', 'recv', 'poll'}, [errno.ECONNRESET]) >= 3
        (line,) = troubles(asking.run('socket', 0, errno.EMFILE))
        assert re.search(r'cannot be asked: too many files are open: the limit is \d+ \(ulimit -n\)$', line)
