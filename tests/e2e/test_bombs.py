"""Logs that are made to cost: little bytes on disk, much to unpack, to hold or to go through. What
stands around the bomb is read as if it were not there, in bounded memory and time."""
import gzip
import re
import subprocess
import sys

import pytest

import harness
from harness import dump, rows

sys.path.insert(0, str(harness.ROOT / 'bench'))
from wire import encode, with_length, with_number  # noqa: E402

MIB = 1 << 20
# Beyond what the log takes without a bomb.
MORE_MEMORY = 64 * MIB
CPU_S = 30
NOTHING_ELSE = ['--no-remote', '--no-report']


def nested(depth, limit=16 * MIB - 64):
    """A field 1 in a field 1 in a field 1 …, as deep as said or as a record has room for."""
    parts, size = [], 0
    while depth and size < limit:
        head = b'\x0a' + encode(size)
        parts.append(head)
        size += len(head)
        depth -= 1
    return b''.join(reversed(parts))


def inside(path, message):
    """The message as the field that the path of numbers leads to."""
    for number in reversed(path):
        message = with_length(number, message)
    return message


# Where an action ends, its command, and what its Buck2 may say more than once.
END = (1, 21, 51)
COMMAND = (*END, 25)

# What stands in one record of a protobuf log.
RECORDS = {
    'a varint without an end in each place': lambda: inside(END, b'\xff' * (8 * MIB)),
    'varints of ten bytes': lambda: inside(END, b'\x98\x06' + b''.join([b'\xff' * 9 + b'\x01\x98\x06'] * 500_000)[:-2]),
    'numbers of an unknown field': lambda: inside(END, b'\xf8\xfa\x01\x00' * (3 * MIB)),
    'one field again and again': lambda: inside(END, b'\x20\x00' * (7 * MIB)),
    'empty messages in a list': lambda: inside(END, b'\xca\x01\x00' * (5 * MIB)),
    'empty texts in a list': lambda: inside((*COMMAND, 1, 5, 2), b'\x12\x00' * (7 * MIB)),
    '500 deep': lambda: inside(END, nested(500)),
    'as deep as there is room': lambda: nested(1 << 30),
    'as deep as there is room in a known place': lambda: inside(COMMAND, nested(1 << 30, 15 * MIB)),
    'groups in groups': lambda: inside(END, b'\xfb\xfa\x01' * (5 * MIB)),
}


def text_of(count):
    return b'{"Event":{"trace_id":"' + b'a' * count + b'"}}'


# What stands in one line of a log of lines.
LINES = {
    '500 objects deep': lambda: b'{"Event":' + b'{"a":' * 500 + b'1' + b'}' * 501,
    '100 MB of brackets': lambda: b'{"Event":' + b'[' * (100 * MIB),
    '100 MB of objects': lambda: b'{"Event":' + b'{"data":' * (12 * MIB),
    'a text of 100 MB': lambda: text_of(100 * MIB),
    'a text of 15 MB in escapes': lambda: text_of(0)[:-3] + b'\\u00e9' * (5 * MIB // 2) + b'"}}',
    '100 MB of spaces': lambda: b'{"Event":' + b' ' * (100 * MIB) + b'1}',
    'members without number': lambda: b'{"Event":{"data":{"SpanEnd":{"data":{"ActionExecution":{' + b'"a":1,' * (2 * MIB) + b'"b":1}}}}}}',
    'a number of 15 MB': lambda: b'{"Event":{"span_id":' + b'1' * (15 * MIB) + b'}}',
    'attempts without number': lambda: b'{"Event":{"data":{"SpanEnd":{"data":{"ActionExecution":{"commands":[' + b'{},' * (5 * MIB) + b'{}]}}}}}}',
}


# These are actions, of which nothing is said that is known: what they say too much is passed over.
BARE = {'varints of ten bytes', 'numbers of an unknown field', 'one field again and again', '500 deep', 'members without number'}
BARE_RECORD = inside(END, b'')
BARE_LINE = b'{"Event":{"data":{"SpanEnd":{"data":{"ActionExecution":{}}}}}}'


def log_of(ending):
    stem = next((harness.LOGS / 'encodings').glob('*.pb.gz')).name.removesuffix('.pb.gz')
    return stem, gzip.decompress((harness.LOGS / f'encodings/{stem}{ending}.gz').read_bytes())


def behind_the_header(whole):
    size = shift = at = 0
    while True:
        size |= (whole[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if whole[at - 1] < 128:
            return at + size


def pack(path, *parts):
    """The parts as one zstd frame; a number is so many zeros, which are never held."""
    with open(path, 'wb') as out, subprocess.Popen(['zstd', '-q', '-1', '-c'], stdin=subprocess.PIPE, stdout=out) as zstd:
        for part in parts:
            if isinstance(part, bytes):
                zstd.stdin.write(part)
                continue
            for _ in range(part // MIB):
                zstd.stdin.write(bytes(MIB))
            zstd.stdin.write(bytes(part % MIB))
    return path


def rows_of(db):
    """All but the number of the record in its log."""
    return re.sub(r'\b(first_)?seq=\d+', '', dump(db, without_files=True))


@pytest.fixture
def take(br2, tmp_path):
    """Ingests the parts as a log; the rows are those of the log without a bomb. Its row."""
    def ingest(stem, ending, whole, *parts):
        plain = tmp_path / 'plain.db'
        (tmp_path / 'plain').mkdir()
        _, usual = br2.measured(pack(tmp_path / f'plain/{stem}{ending}.zst', whole), '--db', plain, *NOTHING_ELSE)
        db = tmp_path / 'bomb.db'
        log = pack(tmp_path / f'{stem}{ending}.zst', *parts)
        cpu, peak = br2.measured(log, '--db', db, *NOTHING_ELSE)
        assert rows_of(db) == rows_of(plain)
        assert peak < usual + MORE_MEMORY, f'{peak / MIB:.0f} MiB, without the bomb {usual / MIB:.0f}'
        assert cpu < CPU_S
        (file,) = rows(db, 'SELECT ending, malformed, too_large FROM log_file')
        return file
    return ingest


# ---- in the way ----------------------------------------------------------------------------

@pytest.mark.parametrize('kind', RECORDS)
def test_a_record(take, kind):
    stem, whole = log_of('.pb')
    at = behind_the_header(whole)
    record = RECORDS[kind]()
    plain = whole[:at] + encode(len(BARE_RECORD)) + BARE_RECORD + whole[at:] if kind in BARE else whole
    file = take(stem, '.pb', plain, whole[:at], encode(len(record)), record, whole[at:])
    assert file['ending'] == 'whole'


@pytest.mark.parametrize('kind', LINES)
def test_a_line(take, kind):
    stem, whole = log_of('.json-lines')
    at = whole.index(b'\n') + 1
    plain = whole[:at] + BARE_LINE + b'\n' + whole[at:] if kind in BARE else whole
    file = take(stem, '.json-lines', plain, whole[:at], LINES[kind](), b'\n', whole[at:])
    assert file['ending'] == 'whole'


def test_a_gigabyte_of_zeros_in_a_record(take):
    """Its first bytes do not say what it is, and it is too large to hold."""
    stem, whole = log_of('.pb')
    at = behind_the_header(whole)
    file = take(stem, '.pb', whole, whole[:at], encode(1 << 30), 1 << 30, whole[at:])
    assert (file['ending'], file['malformed'] + file['too_large']) == ('whole', 1)


@pytest.mark.parametrize('ending', ['.pb', '.json-lines'])
def test_a_gigabyte_of_zeros_behind_the_log(take, ending):
    stem, whole = log_of(ending)
    take(stem, ending, whole, whole, 1 << 30)


def starts(count, padding):
    """So many starts of actions that never end, of spans that the log has not."""
    for span in range(1 << 40, (1 << 40) + count):
        action = with_length(15, bytes(padding)) if padding else b''
        record = with_length(1, with_number(3, span) + inside((20, 51), action))
        yield encode(len(record)) + record


@pytest.mark.parametrize('count, padding', [(70_000, 0), (60, 15 * MIB)])
def test_starts_without_ends(br2, take, tmp_path, count, padding):
    """So many at once are more than can be kept, and nobody needs them where a build ended."""
    stem, whole = log_of('.pb')
    file = take(stem, '.pb', whole, whole, *starts(count, padding))
    assert file == {'ending': 'whole', 'malformed': 0, 'too_large': 0}
    said = br2.run(tmp_path / f'{stem}.pb.zst', '--db', tmp_path / 'none.db', *NOTHING_ELSE, '--dry-run').stderr
    assert re.search(r'more actions open at once than are kept: \d{2,4} starts and stages left out', said)


# ---- alone ------------------------------------------------------------------------------------

def test_a_window_that_is_too_large(br2, tmp_path):
    """It says how large, the file is left, and the other one is read."""
    stem, whole = log_of('.pb')
    other = tmp_path / 'other'
    other.mkdir()
    pack(other / f'{stem}.pb.zst', whole)
    hungry = tmp_path / f'{stem}.pb.zst'
    with open(hungry, 'wb') as out:
        subprocess.run(['zstd', '-q', '--ultra', '-20', '--long=31', '-c'], input=whole, stdout=out, check=True)
    head = bytearray(hungry.read_bytes())
    # RFC 8878, 3.1.1.1: no single segment, no content size, and a window of 2 GiB.
    assert head[:4] == b'\x28\xb5\x2f\xfd'
    hungry.write_bytes(b'\x28\xb5\x2f\xfd' + bytes([0, (31 - 10) << 3]) + bytes([1, 0, 0]))
    db = tmp_path / 'br2.db'
    said = br2.run(hungry, other, '--db', db, *NOTHING_ELSE)
    assert '2048 MiB' in said.stderr
    assert rows(db, "SELECT complete FROM run") == [{'complete': 1}]
