"""The generated logs: as large as asked, equal for equal seeds, packing as recorded ones do, and read by the program."""
import io
import os
import re
import subprocess

import pytest

import gen_log
import memory
import wire

PROGRAM = os.environ['BR2_INGEST']


def read(*logs, folder):
    """(runs, actions, digests) that the program counts."""
    told = subprocess.run([PROGRAM, *logs, '--dry-run', '--project', 'bench', '--db', folder / 'none.db'], check=True,
                          capture_output=True, text=True).stdout
    found = re.search(r'(\d+) runs, (\d+) actions.* (\d+) of them with a remote digest', told)
    return tuple(map(int, found.groups()))


@pytest.mark.parametrize('name', ['a_events.pb.zst', 'a_events.pb.gz', 'a_events.json-lines', 'a_events.json-lines.zst'])
def test_what_was_written_is_read(tmp_path, name):
    digests = io.StringIO()
    made = gen_log.write(tmp_path / name, actions=2000, keep=5, digests=digests)
    runs, actions, asked = read(tmp_path / name, folder=tmp_path)
    assert (runs, asked) == (1, made.actions)
    assert 2000 <= made.actions <= actions < 3200
    listed = digests.getvalue().splitlines()
    assert len(set(listed)) == made.actions and made.digests == listed[:5]


def test_the_digests_are_those_of_the_log(tmp_path):
    log, db = tmp_path / 'a_events.pb.zst', tmp_path / 'a.db'
    made = gen_log.write(log, actions=1, keep=10_000)
    subprocess.run([PROGRAM, log, '--db', db, '--project', 'bench', '--no-remote', '--no-report', '--quiet'], check=True)
    stored = subprocess.check_output(['sqlite3', db, "SELECT lower(hex(hash)) || ':' || size_bytes FROM lookup"], text=True)
    assert sorted(stored.split()) == sorted(made.digests)


def test_it_packs_as_recorded_logs_do(tmp_path):
    made = gen_log.write(tmp_path / 'a_events.pb.zst', megabytes=10)
    assert 10_000_000 <= made.size < 15_000_000
    assert 5 <= made.size / made.packed <= 7


def test_equal_seeds_give_equal_bytes(tmp_path):
    for name, seed in (('a', 1), ('b', 1), ('c', 2)):
        gen_log.write(tmp_path / f'{name}.pb', actions=1, seed=seed)
        gen_log.write(tmp_path / f'{name}.json-lines', actions=1, seed=seed)
    for kind in ('pb', 'json-lines'):
        a, b, c = ((tmp_path / f'{name}.{kind}').read_bytes() for name in 'abc')
        assert a == b and a != c


def test_copies_share_no_span_and_no_digest(tmp_path):
    made = gen_log.write(tmp_path / 'a.pb', actions=1561, keep=10_000)
    assert made.actions == 2 * 1560 == len(set(made.digests))
    ends = []
    for record in wire.records((tmp_path / 'a.pb').read_bytes()):
        event = next((value for number, value, _ in wire.fields(record) if number == 1), b'')
        fields = {number: value for number, value, _ in wire.fields(event)} if event[:1] == b'\n' else {}
        if 21 in fields and any(number == 51 for number, *_ in wire.fields(fields[21])):
            ends.append(fields[3])
    assert len(ends) == len(set(ends)) == made.actions


def test_spans_stay_whole_when_a_copys_number_grows():
    """The 128th copy has a longer number: every length in its records must know."""
    recorded = gen_log.recorded()
    copies = gen_log.Copies(recorded.shapes, b'0' * 36, gen_log.random.Random(1))
    for number in (127, 128):
        data = recorded.fill('middle', copies.values(number))
        spans = [{n: v for n, v, _ in wire.fields(event)}[3] for record in wire.records(data)
                 for _, event, _ in wire.fields(record)]
        assert {span >> gen_log.SPAN_BITS for span in spans} == {number}


def test_a_loud_log_has_records_just_below_the_largest_that_are_taken(tmp_path):
    log = memory.loud_log(tmp_path / 'loud_events.pb.zst', 1)
    assert read(log, folder=tmp_path) == (1, memory.LOUD, memory.LOUD)
