#!/usr/bin/python3
"""Makes a large event log out of the shapes of a recorded one.

usage: gen_log.py [--megabytes N | --actions N] [--seed N] [--digests FILE] OUT.{pb,json-lines}[.zst|.gz]

The records of a cold build of 1,560 actions are repeated until N megabytes
(decoded) or N actions are reached, each time with fresh digests, spans, targets,
identifiers and times, so that the log packs about as well as the recorded one
(5-7 x), and every action is a row of its own. Equal flags give equal bytes, and
no size takes more memory than another. --digests writes the action digests, one
a line. JSON lines are made of a recorded warm build, the only one that Buck2
wrote as JSON: gen_lines.py.
"""
import argparse
import functools
import random
import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

sys.dont_write_bytecode = True
import gen_lines
import template
import wire

SAMPLE = next((Path(__file__).parents[1] / 'tests/data/logs/demo-x86_64').rglob('*_7a7970ab-*_events.pb.zst'))
HASH = re.compile(rb'(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])')
TINY = re.compile(rb'(?<=\x08)[0-9a-f]{8}(?![0-9a-f])')  # OutputAction.tiny_digest
# Names of the recorded targets; each copy has its own of the same length.
NAMES = re.compile(rb'(?<=\x04)wide|wide(?=-)|(?<=\x05)fetch|fetch(?=-)')
SPAN_BITS = 14  # the recorded build has fewer than 2^14 spans: a copy's number stands above them
HIGH = bytes(b | 128 for b in range(256))

# size: bytes decoded; packed: bytes of the file; actions: those with a remote digest; digests: the first ones, as many as
# were wanted
Made = namedtuple('Made', 'size packed actions digests')


def span_parts(key, span):
    """A span's field. Its lowest 14 bits stand, the copy's number follows."""
    return [key + bytes([span & 127 | 128, span >> 7 | 128]), 'number']


class Shape:
    """One BuckEvent of the sample, cut at what each copy makes anew."""

    def __init__(self, event):
        self.span = self.parent = self.seconds = 0
        rest = b''
        for number, value, raw in wire.fields(event):
            if number == 1:
                self.seconds = {n: v for n, v, _ in wire.fields(value)}.get(1, 0)
            elif number == 2:
                continue
            elif number == 3:
                self.span = value
            elif number == 4:
                self.parent = value
            else:
                rest += raw
        assert self.span >> SPAN_BITS == self.parent >> SPAN_BITS == 0 and self.seconds >> 28
        self.rest_len, self.rest = len(rest), self.cut(rest)

    @staticmethod
    def cut(data):
        """Bytes as they stand, and between them the keys of hashes, names and tiny digests."""
        parts, at = [], 0
        for found in sorted([*HASH.finditer(data), *NAMES.finditer(data), *TINY.finditer(data)],
                            key=lambda m: m.start()):
            if found.start() >= at:
                kind = {64: 'hash', 8: 'tiny'}.get(len(found.group()), 'name')
                parts += [data[at:found.start()], (kind, found.group())]
                at = found.end()
        return [*parts, data[at:]]

    def parts(self, index, number_len):
        """The whole record. Seconds and nanoseconds are varints of five bytes: 2^28 of either at least."""
        time = [b'\x0a\x0c\x08', ('seconds', self.seconds), b'\x10', ('nanos', index), b'\x01' if index & 1 else b'\x02']
        spans, spans_len = [], 0
        for key, span in ((b'\x18', self.span), (b'\x20', self.parent)):
            if span:
                spans += span_parts(key, span)
                spans_len += 3 + number_len
        event_len = 14 + 38 + spans_len + self.rest_len
        event = b'\x0a' + wire.encode(event_len)
        return [wire.encode(len(event) + event_len) + event, *time, b'\x12\x24', 'trace', *spans, *self.rest]


class Copies:
    """Fresh bytes for one copy of the shapes after the other."""

    def __init__(self, shapes, trace, rng):
        self.shapes, self.trace, self.rng = shapes, trace, rng
        keys = {p: None for s in shapes for p in s.rest if isinstance(p, tuple)}
        self.hashes = [k for k in keys if k[0] == 'hash']
        self.tinies = [k for k in keys if k[0] == 'tiny']
        self.names = [k for k in keys if k[0] == 'name']
        self.seconds = {s.seconds for s in shapes}

    def values(self, number):
        """What each key stands for in copy `number`."""
        rng = self.rng
        values = {'trace': self.trace, 'number': wire.encode(number)}
        values.update(zip(self.hashes, pieces(rng.randbytes(32 * len(self.hashes)).hex().encode(), 64)))
        values.update(zip(self.tinies, pieces(rng.randbytes(4 * len(self.tinies)).hex().encode(), 8)))
        values.update((('seconds', s), wire.encode(s + number)) for s in self.seconds)
        nanos = pieces(rng.randbytes(4 * len(self.shapes)).translate(HIGH), 4)
        values.update((('nanos', i), four) for i, four in enumerate(nanos))
        for key in self.names:
            width = len(key[1]) - 1
            values[key] = key[1][:1] + f'{number:0{width}x}'[-width:].encode()
        return values


def pieces(data, size):
    return [data[at:at + size] for at in range(0, len(data), size)]


def is_repeated(event):
    """Spans of actions and what hangs on them: not the command's own, no instants."""
    for number, value, _ in wire.fields(event):
        if number in (20, 21):
            return not any(n == 50 for n, _, _ in wire.fields(value))
    return False


class Recorded:
    """The sample: its header, its events with a mark at those to repeat, and the records after them."""

    def __init__(self):
        stream = subprocess.run(['zstd', '-dcq', SAMPLE], check=True, capture_output=True).stdout
        self.first, *rest = wire.records(stream)
        self.trace = re.search(rb'[0-9a-f]{8}-[0-9a-f-]{27}', self.first).group()
        self.shapes, repeated, self.ends, self.templates = [], [], b'', {}
        for record in rest:
            ((number, value, _),) = wire.fields(record)
            if number == 1:
                self.shapes.append(Shape(value))
                repeated.append(is_repeated(value))
            else:
                self.ends += wire.encode(len(record)) + record
        tail = len(repeated) - repeated[::-1].index(True)
        self.chosen = {'first': range(tail), 'middle': [i for i, again in enumerate(repeated) if again],
                       'last': range(tail, len(repeated))}

    def header(self, trace):
        return wire.encode(len(self.first)) + self.first.replace(self.trace, trace)

    def fill(self, which, values):
        """The bytes of the first copy, of one in the middle, or of what follows the last."""
        key = (which, len(values['number']))
        if key not in self.templates:
            self.templates[key] = template.Template(
                part for i in self.chosen[which] for part in self.shapes[i].parts(i, key[1]))
        return self.templates[key].fill(values)


recorded = functools.cache(Recorded)


def render(seed):
    """Yields (bytes of the log, action digests in them) for ever; after send(True), the end and no more."""
    rng = random.Random(seed)
    trace = gen_lines.trace_id(rng)
    copies = Copies(recorded().shapes, trace, rng)
    number, enough = 0, (yield recorded().header(trace), [])
    while not enough:
        number += 1
        values = copies.values(number)
        data = recorded().fill('first' if number == 1 else 'middle', values)
        enough = yield data, [values[h].decode() + ':141' for h in copies.hashes]
    values['number'] = wire.encode(1)  # what began in the first copy ends
    yield recorded().fill('last', values) + recorded().ends, []


# As Buck2 packs: a window of 4 MiB, no checksum (`zstd -lv` of recorded logs); 5.3 x, recorded logs of builds 5.5 x.
PACKERS = {'.zst': ['zstd', '-q', '--no-check', '--zstd=wlog=22'], '.gz': ['gzip', '-n']}


def stream(target, megabytes, actions, seed):
    """The log's bytes and digests, piece by piece, until one of the two sizes (None: any) is reached."""
    source = (gen_lines if '.json-lines' in target.suffixes else sys.modules[__name__]).render(seed)
    size = count = 0
    enough = None
    try:
        while True:
            data, digests = source.send(enough)
            yield data, digests
            size, count = size + len(data), count + len(digests)
            enough = count > 0 and size >= (megabytes or 0) * 1_000_000 and count >= (actions or 0)
    except StopIteration:
        return


def write(target, megabytes=None, seed=1, actions=None, keep=0, digests=None):
    """Writes the log; keeps the first `keep` of its digests, and writes all to the open file `digests`."""
    target = Path(target)
    size, count, kept = 0, 0, []
    with open(target, 'wb') as out:
        pack = subprocess.Popen(PACKERS.get(target.suffix, ['cat']), stdin=subprocess.PIPE, stdout=out)
        for data, fresh in stream(target, megabytes, actions, seed):
            size, count = size + len(data), count + len(fresh)
            kept += fresh[:keep - len(kept)]
            if digests and fresh:
                digests.write('\n'.join(fresh) + '\n')
            pack.stdin.write(data)
        pack.stdin.close()
        if pack.wait() != 0:
            raise SystemExit(f'{pack.args[0]} failed')
    return Made(size, target.stat().st_size, count, kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--megabytes', type=int)
    parser.add_argument('--actions', type=int)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--digests', type=argparse.FileType('w'))
    parser.add_argument('out', type=Path)
    flags = parser.parse_args()
    if flags.megabytes is None and flags.actions is None:
        flags.megabytes = 100
    made = write(flags.out, flags.megabytes, flags.seed, flags.actions, digests=flags.digests)
    print(f'{made.size} bytes, packed {made.size / made.packed:.1f} x, {made.actions} digests', file=sys.stderr)


if __name__ == '__main__':
    main()
