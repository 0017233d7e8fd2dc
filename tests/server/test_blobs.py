"""Reading blobs of the CAS from real servers and from one of our own, with the
program's lookup engine and nothing else (lookup_probe --blobs)."""
import hashlib

import grpc
import pytest

import test_lookup
from test_lookup import INSTANCE, ask, harness

import cas
from cas import V2, part

HIDDEN = 'cd' * 32 + ':7'
BLOBS = cas.recorded()


def read(address, *args, digests, instance=INSTANCE):
    return ask(address, '--blobs', *args, digests=digests, instance=instance)


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    with harness.Server(tmp_path_factory.mktemp('server')) as running:
        yield running.load()


# ---- bb_storage ------------------------------------------------------------------------------

def test_all_found(server):
    """Small ones and one of 2.7 MB, which no batch of ours holds."""
    assert max(map(len, BLOBS.values())) > 2 << 20
    answers = read(server.address, digests=list(BLOBS))
    assert answers.tally['found'] == len(BLOBS) == answers.total()
    assert answers.tally['bytes'] == sum(map(len, BLOBS.values()))
    assert answers.tally['retries'] == 0


def test_some_gone(server):
    empty = hashlib.sha256(b'').hexdigest() + ':0'
    answers = read(server.address, digests=[HIDDEN, *list(BLOBS)[:3], empty, HIDDEN.replace(':7', ':8')])
    lines = {line.split(' ')[0]: line.split(' ', 1)[1] for line in answers.lines}
    assert lines[HIDDEN] == 'not_found 5 0 Object not found'
    assert lines[empty] == 'found 0 0 '
    assert (answers.tally['found'], answers.tally['not_found']) == (4, 2)


@pytest.mark.parametrize('instance', ['', 'a/b c', 'team/odd names-1'])
def test_instances(server, instance):
    large = max(BLOBS, key=lambda digest: len(BLOBS[digest]))
    assert read(server.address, digests=[large, list(BLOBS)[0]], instance=instance).tally['found'] == 2


def test_no_such_instance(tmp_path):
    """Refused as a whole, then each for itself."""
    with harness.Server(tmp_path, '--instances', 'demux') as demux:
        answers = read(demux.address, digests=[HIDDEN, list(BLOBS)[0]], instance='elsewhere')
        assert answers.outcomes() == {'invalid'}
        assert all('Unknown instance name: "elsewhere"' in line for line in answers.lines)
        assert read(demux.address, digests=[HIDDEN], instance='main').outcomes() == {'not_found'}


def test_not_permitted(tmp_path):
    with harness.Server(tmp_path, '--instances', 'acl') as acl:
        assert read(acl.address, digests=[HIDDEN, list(BLOBS)[0]], instance='elsewhere').outcomes() == {'refused'}


@pytest.mark.parametrize('limit', [1000, 3000])
def test_a_server_with_small_messages(tmp_path, limit):
    """The batch is refused, for what comes in or for what would go out: each blob is read as a stream."""
    small = [blob for blob in BLOBS.values() if 400 < len(blob) < 800][:40]
    assert sum(map(len, small)) > 3000
    with harness.Server(tmp_path, '--max-msg', limit) as strict:
        digests = [cas.put(strict.address, blob, INSTANCE) for blob in small]
        answers = read(strict.address, digests=[*digests, HIDDEN])
    assert answers.tally['found'] == len(small) and answers.tally['bytes'] == sum(map(len, small))
    assert answers.tally['not_found'] == 1


# Of 'abc', but for GITSHA1, which hashes a header before it. Up to 1 kB SHA256TREE is SHA256.
FUNCTIONS = {
    'sha256': (cas.SHA256, None), 'sha1': (cas.SHA1, None), 'md5': (cas.MD5, None), 'sha384': (cas.SHA384, None),
    'sha512': (cas.SHA512, None), 'sha256tree': (cas.SHA256TREE, hashlib.sha256(b'abc').hexdigest()),
    'blake3': (cas.BLAKE3, '6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85'),
    'gitsha1': (cas.GITSHA1, hashlib.sha1(b'blob 3\0abc').hexdigest()),
}


@pytest.mark.parametrize('name', FUNCTIONS)
@pytest.mark.parametrize('limit', [1 << 22, 250])
def test_digest_functions(tmp_path, name, limit):
    """In a batch, and by resource names (two blobs and their digests do not fit 250 bytes)."""
    function, hashed = FUNCTIONS[name]
    with harness.Server(tmp_path, '--max-msg', limit) as server:
        found = cas.put(server.address, b'abc', INSTANCE, function, hashed)
        gone = ('0' if found[0] != '0' else '1') + found[1:]
        more = [gone[:-4] + f'{n:02x}' + gone[-2:] for n in range(3)]
        answers = read(server.address, '--function', name, digests=[found, *more])
    assert answers.tally['found'] == 1 and answers.tally['not_found'] == 3
    assert f'{found} found 0 3 ' in answers.lines


def test_recording(server, tmp_path):
    recording, digests = tmp_path / 'answers', [*list(BLOBS)[:50], HIDDEN]
    live = read(server.address, '--record', recording, digests=digests)
    again = test_lookup.Answers(test_lookup.start('--blobs', '--replay', recording, '--instance', INSTANCE), digests)
    assert sorted(live.lines) == sorted(again.lines)
    assert recording.read_text().count('"method":"ReadBlob"') == 51


def test_gone_for_seconds(server):
    """An outage costs no blob."""
    with harness.Relay(server.port, limit=200_000, outage=2) as relay:
        answers = read(f'127.0.0.1:{relay.port}', digests=list(BLOBS))
    assert relay.outages == 1
    assert answers.tally['found'] == len(BLOBS)


# ---- a server of our own, for what bb_storage does not do --------------------------------------

def digests_of(request):
    """Field 2 of a BatchReadBlobsRequest."""
    at, found = 0, []
    while at < len(request):
        tag, length = request[at], None
        at += 1
        if tag & 7 == 0:
            while request[at] & 128:
                at += 1
            at += 1
            continue
        length, at = request[at], at + 1
        if tag >> 3 == 2:
            found.append(request[at:at + length])
        at += length
    return found


class Cas(grpc.GenericRpcHandler):
    """Answers batches and streams as the test says; counts what it is asked."""

    def __init__(self):
        self.batches, self.streams = [], []
        self.batch = self.stream = None

    def service(self, details):
        if details.method == V2 + 'ContentAddressableStorage/BatchReadBlobs' and self.batch:
            return grpc.unary_unary_rpc_method_handler(self.on_batch)
        if details.method == '/google.bytestream.ByteStream/Read' and self.stream:
            return grpc.unary_stream_rpc_method_handler(self.on_stream)
        return None

    def on_batch(self, request, context):
        self.batches.append(digests_of(request))
        return self.batch(self.batches[-1], context)

    def on_stream(self, request, context):
        self.streams.append(request[2:].decode())
        yield from self.stream(request, context)


@pytest.fixture
def own():
    from concurrent import futures
    handler = Cas()
    server = grpc.server(futures.ThreadPoolExecutor(8), handlers=[handler])
    handler.address = f'127.0.0.1:{server.add_insecure_port("127.0.0.1:0")}'
    server.start()
    yield handler
    server.stop(None)


def all_there(digests, context):
    return b''.join(part(1, part(1, d) + part(2, b'here')) for d in digests)


def made(count, size=4):
    return [f'{n:064x}:{size}' for n in range(count)]


def test_batches_are_bounded(own):
    """By their number, and by their bytes: the blobs of a batch are at most 1 MiB."""
    own.batch = all_there
    answers = read(own.address, '--no-preflight', '--in-flight', 300, digests=made(1000))
    assert answers.tally['found'] == 1000
    assert max(map(len, own.batches)) == 128
    assert sum(map(len, own.batches)) == 1000 and len(own.batches) < 40
    own.batches.clear()
    read(own.address, '--no-preflight', digests=made(60, 200_000))
    assert max(map(len, own.batches)) == 5


def test_each_blob_has_a_code_of_its_own(own):
    def some(digests, context):
        codes = [0, 5, 7, 3, 13]
        return b''.join(part(1, part(1, d) + part(2, b'here' if not codes[i % 5] else b'') +
                             part(3, b'\x08' + bytes([codes[i % 5]]) + part(2, b'words'))) for i, d in enumerate(digests))
    own.batch = some
    answers = read(own.address, '--no-preflight', digests=made(5))
    assert {line.split(' ')[1] for line in answers.lines} >= {'found', 'not_found', 'refused', 'invalid'}
    assert answers.total() == 5


@pytest.mark.parametrize('answer', [b'', b'\xff\xff\xff', part(1, b''), part(1, part(1, b'x') + part(2, b'y'))])
def test_batches_that_leave_blobs_out(own, answer):
    """An error of that blob, tried once more, and not an outcome that is believed."""
    own.batch = lambda digests, context: answer
    answers = read(own.address, '--no-preflight', digests=made(2))
    assert answers.outcomes() == {'error'}
    assert len(own.batches) <= 4


@pytest.mark.parametrize('code', [grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED])
def test_refused_batches_are_read_one_by_one(own, code):
    own.batch = lambda digests, context: context.abort(code, 'as told')
    own.stream = lambda request, context: iter([b'\x52\x02he', b'\x52\x02re'])
    answers = read(own.address, '--no-preflight', digests=made(30))
    assert answers.tally['found'] == 30 and answers.tally['bytes'] == 120
    assert sorted(own.streams) == [f'{INSTANCE}/blobs/{d.replace(":", "/")}' for d in made(30)]


def test_no_batches_at_all(own):
    own.stream = lambda request, context: iter([b'\x52\x04here'])
    assert read(own.address, '--no-preflight', digests=made(3)).tally['found'] == 3


def test_streams_that_fail(own):
    def broken(request, context):
        yield b'\x52\x02he'
        context.abort(grpc.StatusCode.NOT_FOUND, 'gone meanwhile')
    own.stream = broken
    answers = read(own.address, '--no-preflight', digests=made(1, 2 << 20))
    assert answers.lines == [f'{made(1, 2 << 20)[0]} not_found 5 0 gone meanwhile']


def test_streams_of_nonsense(own):
    own.stream = lambda request, context: iter([b'\xff\xff'])
    assert read(own.address, '--no-preflight', digests=made(1, 2 << 20)).outcomes() == {'error'}


def test_an_endless_stream_is_cut(own):
    """At the largest reply that is taken, 16 MiB."""
    sent = []

    def endless(request, context):
        chunk = part(10, b'x' * (1 << 20))
        while context.is_active():
            sent.append(1)
            yield chunk
    own.stream = endless
    answers = read(own.address, '--no-preflight', digests=made(1, 2 << 20))
    assert answers.outcomes() == {'too_large'}
    assert len(sent) < 64


def test_too_large_is_not_asked(own):
    own.batch, own.stream = all_there, lambda request, context: iter([])
    answers = read(own.address, '--no-preflight', digests=made(1, (16 << 20) + 1))
    assert answers.outcomes() == {'too_large'}
    assert own.batches == [] and own.streams == []


def test_too_large_where_another_was(own):
    """In the place of the one before it, whose answer is still held."""
    own.batch = all_there
    answers = read(own.address, '--no-preflight', '--in-flight', 1, digests=made(1, 3) + made(1, (16 << 20) + 1))
    assert [line.split(' ')[1] for line in answers.lines] == ['found', 'too_large']
    assert answers.tally['retries'] == 0
