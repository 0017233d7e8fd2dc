"""The JSON form of what gen_log.py makes: the lines of a recorded warm build, repeated with fresh values."""
import random
import re
import subprocess
from pathlib import Path

SAMPLE = next((Path(__file__).parents[1] / 'tests/data/logs/encodings').glob('*_events.json-lines.zst'))
# What each copy makes anew: times, spans, hashes and tiny digests, and the recorded names of targets.
PARTS = re.compile(rb'"timestamp":\[(?P<seconds>\d+),\d+\]'
                   rb'|"(?P<key>span_id|parent_id)":(?P<span>[1-9]\d*)'
                   rb'|(?P<hash>(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f]))'
                   rb'|"tiny_digest":"(?P<tiny>[0-9a-f]{8})"'
                   rb'|"(?P<name>fetch)(?=["-])')
SPAN_STEP = 4096  # more than the recorded build has spans


class Line:
    """A line of the sample, cut at what each copy makes anew."""

    def __init__(self, text, hashes):
        self.parts, at = [], 0
        for found in PARTS.finditer(text):
            self.parts += [text[at:found.start()], self.part(found, hashes)]
            at = found.end()
        self.parts.append(text[at:] + b'\n')

    @staticmethod
    def part(found, hashes):
        """A function of the copy that gives the fresh text."""
        if found['seconds']:
            seconds = int(found['seconds'])
            return lambda copy: b'"timestamp":[%d,%d]' % (seconds + copy.number, copy.rng.randrange(1_000_000_000))
        if found['span']:
            key, span = found['key'], int(found['span'])
            return lambda copy: b'"%s":%d' % (key, span + copy.number * SPAN_STEP)
        if found['hash']:
            number = hashes.setdefault(found['hash'], len(hashes))
            return lambda copy: copy.hashes[number]
        if found['tiny']:
            return lambda copy: b'"tiny_digest":"%s"' % copy.rng.randbytes(4).hex().encode()
        return lambda copy: b'"f%04x' % (copy.number & 0xffff)

    def render(self, copy):
        return b''.join([part if isinstance(part, bytes) else part(copy) for part in self.parts])


class Copy:
    def __init__(self, number, hash_count, rng):
        self.number, self.rng = number, rng
        self.hashes = [rng.randbytes(32).hex().encode() for _ in range(hash_count)]


def is_repeated(line):
    """Spans of actions and what hangs on them: not the command's own, no instants, not the one that printed 600 KB."""
    return b'"data":{"Span' in line[:300] and b'"data":{"Command":' not in line[:300] and len(line) < 1 << 16


def render(megabytes, seed):
    """(pieces of the log, iterator; digests, filled while it runs)"""
    first, *rest = subprocess.run(['zstd', '-dcq', SAMPLE], check=True, capture_output=True).stdout.splitlines()
    rng = random.Random(seed)
    trace = '-'.join(rng.randbytes(n).hex() for n in (4, 2, 2, 2, 6)).encode()
    old_trace = re.search(rb'[0-9a-f]{8}-[0-9a-f-]{27}', first).group()
    hashes = {}
    rest = [line.replace(old_trace, trace) for line in rest]
    repeated = [bool(is_repeated(line)) for line in rest]
    begin, end = repeated.index(True), len(rest) - repeated[::-1].index(True)
    middle = [Line(line, hashes) for line, again in zip(rest, repeated) if again]
    digests = []

    def pieces():
        yield b''.join(line + b'\n' for line in [first.replace(old_trace, trace), *rest[:begin]])
        size, number = 0, 0
        while size < megabytes * 1_000_000 or number == 0:
            copy = Copy(number, len(hashes), rng)
            digests.extend(h.decode() + ':141' for h in copy.hashes)
            text = b''.join([line.render(copy) for line in middle])
            size += len(text)
            number += 1
            yield text
        yield b''.join(line + b'\n' for line in rest[end:])

    return pieces(), digests
