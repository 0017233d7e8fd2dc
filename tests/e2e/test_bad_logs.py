"""Logs that are not what their name, their order or their size promise: the rows are those of the
log that keeps its promise, in bounded memory and time."""
import gzip
import re
import subprocess
import sys

import pytest

import harness
from harness import dump, rows, value

sys.path.insert(0, str(harness.ROOT / 'bench'))
import gen_log  # noqa: E402
from wire import encode, records  # noqa: E402

MIB = 1 << 20
NOTHING_ELSE = ['--no-remote', '--no-report']
ENDINGS = ['.pb', '.pb.gz', '.pb.zst', '.json-lines', '.json-lines.gz', '.json-lines.zst']
STEM = next((harness.LOGS / 'encodings').glob('*.pb.gz')).name.removesuffix('.pb.gz')


def recorded(form):
    """One run as .pb or .json-lines, unpacked."""
    return gzip.decompress((harness.LOGS / f'encodings/{STEM}{form}.gz').read_bytes())


def packed(data, ending):
    if ending.endswith('.gz'):
        return gzip.compress(data)
    if ending.endswith('.zst'):
        return subprocess.run(['zstd', '-qc'], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


def ingest(br2, folder, name, data):
    folder.mkdir()
    (folder / name).write_bytes(data)
    db = folder / 'br2.db'
    br2.run(folder / name, '--db', db, *NOTHING_ELSE)
    return db


def framed(parts):
    """The records as a log of protobuf."""
    return b''.join(encode(len(part)) + part for part in parts)


def rows_of(db):
    """All but the number of the record in its log."""
    return re.sub(r'\b(first_)?seq=\d+', '', dump(db, without_files=True))


# ---- names ---------------------------------------------------------------------------------

@pytest.mark.parametrize('form', ENDINGS)
def test_a_name_that_lies(br2, tmp_path, form):
    """What a log is, its first bytes say."""
    data = packed(recorded('.pb' if form.startswith('.pb') else '.json-lines'), form)
    honest = dump(ingest(br2, tmp_path / 'honest', STEM + form, data), without_files=True)
    for ending in ENDINGS:
        db = ingest(br2, tmp_path / f'named{ending}', STEM + ending, data)
        assert value(db, 'SELECT ending FROM log_file') == 'whole'
        assert dump(db, without_files=True) == honest, f'{form} as {ending}'


# ---- order ---------------------------------------------------------------------------------

def swapped(form, first, second):
    """The log with two of its records in each other's place."""
    data = recorded(form)
    parts = list(records(data)) if form == '.pb' else data.splitlines()
    assert parts[first] != parts[second]
    parts[first], parts[second] = parts[second], parts[first]
    return framed(parts) if form == '.pb' else b'\n'.join(parts) + b'\n'


def start_of_the_command():
    """Both forms have the same records in the same order."""
    lines = recorded('.json-lines').splitlines()
    (at,) = [i for i, line in enumerate(lines) if b'"SpanStart":{"data":{"Command":' in line]
    return at


@pytest.mark.parametrize('form', ['.pb', '.json-lines'])
def test_swapped_first_events(br2, tmp_path, form):
    plain = rows_of(ingest(br2, tmp_path / 'plain', STEM + form, recorded(form)))
    start = start_of_the_command()
    for first, second in [(1, 2), (1, start), (start, start + 1), (1, -3)]:
        db = ingest(br2, tmp_path / f'{first}-{second}', STEM + form, swapped(form, first, second))
        assert rows_of(db) == plain, (first, second)


# ---- size ----------------------------------------------------------------------------------

@pytest.mark.parametrize('form', ['.pb', '.json-lines'])
def test_nothing_but_a_header(br2, tmp_path, form):
    data = recorded(form)
    head = data[:data.index(b'\n') + 1] if form == '.json-lines' else framed([next(records(data))])
    db = ingest(br2, tmp_path / 'head', STEM + form, head)
    assert rows(db, 'SELECT complete, succeeded, (SELECT count(*) FROM action) AS actions FROM run') == [
        {'complete': 0, 'succeeded': None, 'actions': 0}]
    br2.run(tmp_path / 'head', '--db', db, *NOTHING_ELSE)
    (tmp_path / f'head/{STEM}{form}').write_bytes(data)
    br2.run(tmp_path / 'head', '--db', db, *NOTHING_ELSE)
    assert rows_of(db) == rows_of(ingest(br2, tmp_path / 'plain', STEM + form, data))


KIND_THEN_NAME, WIRE_TYPE_7 = b'\x18\x03\x22', b'\x1f\x03\x22'


@pytest.mark.parametrize('ends', [False, True])
def test_a_damaged_start(br2, tmp_path, ends):
    """Its action is lost and told of only where nothing else tells of that."""
    parts = list(records(recorded('.pb')))
    start = next(i for i, part in enumerate(parts) if b'br2_fetch' in part and KIND_THEN_NAME in part)
    data = [*parts[:start], parts[start].replace(KIND_THEN_NAME, WIRE_TYPE_7), *(parts[start + 1:] if ends else [])]
    (tmp_path / 'a').mkdir()
    (tmp_path / f'a/{STEM}.pb').write_bytes(framed(data))
    db = tmp_path / 'br2.db'
    said = br2.run(tmp_path / 'a', '--db', db, *NOTHING_ELSE).stderr
    assert ('1 starts of actions that did not end: malformed' in said) == (not ends)
    assert value(db, 'SELECT malformed FROM log_file') == (not ends)
    assert value(db, 'SELECT count(*) FROM in_flight') == 0
    if ends:
        assert rows_of(db) == rows_of(ingest(br2, tmp_path / 'plain', STEM + '.pb', recorded('.pb')))


def test_nothing_at_all(br2, tmp_path):
    for ending in ENDINGS:
        db = ingest(br2, tmp_path / f'empty{ending}', STEM + ending, b'')
        assert value(db, 'SELECT count(*) FROM run') == 0


def test_two_million_events(br2, tmp_path):
    """A hundred times the log takes a hundred times as long, and not more memory."""
    small, large = tmp_path / 'small_events.pb.zst', tmp_path / 'large_events.pb.zst'
    gen_log.write(small, actions=1000)
    gen_log.write(large, actions=100_000)
    _, usual = br2.measured(small, '--db', tmp_path / 'small.db', *NOTHING_ELSE)
    cpu, peak = br2.measured(large, '--db', tmp_path / 'large.db', *NOTHING_ELSE)
    assert value(tmp_path / 'large.db', 'SELECT records FROM log_file') > 2_000_000
    assert value(tmp_path / 'large.db', 'SELECT count(*) FROM lookup') >= 100_000
    assert peak < usual + 64 * MIB, f'{peak / MIB:.0f} MiB, a small one {usual / MIB:.0f}'
    assert cpu < 120
