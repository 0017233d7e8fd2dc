#!/usr/bin/python3
"""Makes a large event log out of the shapes of a recorded one.

usage: gen_log.py [--megabytes N] [--seed N] [--digests FILE] OUT.{pb,json-lines}[.zst|.gz]

The records of a cold build of 1,560 actions are repeated until N megabytes
(decoded) are reached, each time with fresh digests, spans, targets, identifiers
and times, so that the log packs about as well as the recorded one (5-7 x), and
every action is a row of its own. Equal flags give equal bytes. --digests writes
the action digests, one a line. JSON lines are made of a recorded warm build, the
only one that Buck2 wrote as JSON: gen_lines.py.
"""
import argparse
import random
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import gen_lines

SAMPLE = next((Path(__file__).parents[1] / 'tests/data/logs/demo-x86_64').rglob('*_7a7970ab-*_events.pb.zst'))
HASH = re.compile(rb'(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])')
TINY = re.compile(rb'(?<=\x08)[0-9a-f]{8}(?![0-9a-f])')  # OutputAction.tiny_digest
# Names of the recorded targets; each copy has its own of the same length.
NAMES = re.compile(rb'(?<=\x04)wide|wide(?=-)|(?<=\x05)fetch|fetch(?=-)')
SPAN_STEP = 16384  # more than the recorded build has spans


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def encode(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def records(stream):
    at = 0
    while at < len(stream):
        size, at = varint(stream, at)
        yield stream[at:at + size]
        at += size


def fields(message):
    """(number, value, key and value as they stand) of each field."""
    at = 0
    while at < len(message):
        start = at
        key, at = varint(message, at)
        if key & 7 == 0:
            value, at = varint(message, at)
        elif key & 7 == 2:
            size, at = varint(message, at)
            value, at = message[at:at + size], at + size
        else:
            raise ValueError(f'wire type {key & 7}')
        yield key >> 3, value, message[start:at]


class Shape:
    """One BuckEvent of the sample, cut at what each copy makes anew."""

    def __init__(self, event, hashes):
        self.span = self.parent = self.seconds = self.nanos = 0
        rest = b''
        for number, value, raw in fields(event):
            if number == 1:
                times = {n: v for n, v, _ in fields(value)}
                self.seconds, self.nanos = times.get(1, 0), times.get(2, 0)
            elif number == 2:
                continue
            elif number == 3:
                self.span = value
            elif number == 4:
                self.parent = value
            else:
                rest += raw
        self.parts = self.cut(rest, hashes)

    @staticmethod
    def cut(data, hashes):
        """Bytes as they stay, and between them: a number (of a hash), or an old name or tiny digest to replace."""
        parts, at = [], 0
        for found in sorted([*HASH.finditer(data), *NAMES.finditer(data), *TINY.finditer(data)],
                            key=lambda m: m.start()):
            if found.start() < at:
                continue
            parts.append(data[at:found.start()])
            text = found.group()
            parts.append(hashes.setdefault(text, len(hashes)) if len(text) == 64 else (text,))
            at = found.end()
        return [*parts, data[at:]]

    def render(self, copy):
        time = b'\x08' + encode(self.seconds + copy.number) + b'\x10' + encode(copy.nanos())
        event = b'\x0a' + encode(len(time)) + time + b'\x12\x24' + copy.trace
        for key, span in ((b'\x18', self.span), (b'\x20', self.parent)):
            if span:
                event += key + encode(span + copy.number * SPAN_STEP)
        event += b''.join([part if isinstance(part, bytes) else copy.fresh(part) for part in self.parts])
        progress = b'\x0a' + encode(len(event)) + event
        return encode(len(progress)) + progress


class Copy:
    """What one repetition of the sample makes anew."""

    def __init__(self, number, trace, hash_count, rng):
        self.number, self.trace, self.rng = number, trace, rng
        self.hashes = [rng.randbytes(32).hex().encode() for _ in range(hash_count)]
        self.names = {}

    def nanos(self):
        return self.rng.randrange(1_000_000_000)

    def fresh(self, part):
        if isinstance(part, int):
            return self.hashes[part]
        (old,) = part
        if len(old) == 8:
            return self.rng.randbytes(4).hex().encode()
        width = len(old) - 1
        return old[:1] + f'{self.number:0{width}x}'[-width:].encode()


def is_repeated(event):
    """Spans of actions and what hangs on them: not the command's own, no instants."""
    for number, value, _ in fields(event):
        if number in (20, 21):
            return not any(n == 50 for n, _, _ in fields(value))
    return False


def render(megabytes, seed):
    """(pieces of the log, iterator; digests, filled while it runs)"""
    stream = subprocess.run(['zstd', '-dcq', SAMPLE], check=True, capture_output=True).stdout
    first, *rest = records(stream)
    rng = random.Random(seed)
    trace = '-'.join(rng.randbytes(n).hex() for n in (4, 2, 2, 2, 6)).encode()
    old_trace = re.search(rb'[0-9a-f]{8}-[0-9a-f-]{27}', first).group()
    events, ends, hashes = [], [], {}
    for record in rest:
        ((number, value, _),) = fields(record)
        (events if number == 1 else ends).append(value if number == 1 else record)
    repeated = [is_repeated(e) for e in events]
    shapes = [Shape(e, hashes) for e in events]
    middle = [s for s, again in zip(shapes, repeated) if again]
    tail = len(repeated) - repeated[::-1].index(True)
    digests = []

    def pieces():
        yield encode(len(first)) + first.replace(old_trace, trace)
        size, number = 0, 0
        while size < megabytes * 1_000_000 or number == 0:
            copy = Copy(number, trace, len(hashes), rng)
            digests.extend(h.decode() + ':141' for h in copy.hashes)
            chosen = shapes[:tail] if number == 0 else middle
            text = b''.join([shape.render(copy) for shape in chosen])
            size += len(text)
            number += 1
            yield text
        last = Copy(number - 1, trace, len(hashes), rng)
        yield b''.join([shape.render(last) for shape in shapes[tail:]])
        yield b''.join([encode(len(record)) + record for record in ends])

    return pieces(), digests


# As `--event-log` packs; -9 because few of the generated bytes repeat.
PACKERS = {'.zst': ['zstd', '-q', '-9'], '.gz': ['gzip', '-n']}


def write(target, megabytes, seed):
    """Writes the log; returns (bytes decoded, bytes packed, action digests)."""
    target = Path(target)
    make = gen_lines.render if '.json-lines' in target.suffixes else render
    pieces, digests = make(megabytes, seed)
    size = 0
    with open(target, 'wb') as out:
        pack = subprocess.Popen(PACKERS.get(target.suffix, ['cat']), stdin=subprocess.PIPE, stdout=out)
        for piece in pieces:
            size += len(piece)
            pack.stdin.write(piece)
        pack.stdin.close()
        if pack.wait() != 0:
            raise SystemExit(f'{pack.args[0]} failed')
    return size, target.stat().st_size, digests


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--megabytes', type=int, default=100)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--digests', type=Path)
    parser.add_argument('out', type=Path)
    flags = parser.parse_args()
    size, packed, digests = write(flags.out, flags.megabytes, flags.seed)
    if flags.digests:
        flags.digests.write_text('\n'.join(digests) + '\n')
    print(f'{size} bytes, packed {size / packed:.1f} x, {len(digests)} digests', file=sys.stderr)


if __name__ == '__main__':
    main()
