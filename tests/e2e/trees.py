"""Made trees of logs: recorded ones, chosen, cut, damaged, packed and copied at random."""
import functools
import gzip
import os
import random
import subprocess

import harness

SAMPLES = ['flaky', 'cells', 'failures', 'cut', 'cells-lost', 'encodings']
LARGEST = 1 << 20 # bytes of a log that is not packed
DAY_NS = 86400 * 10**9
BEGIN_NS = 1_796_000_000 * 10**9


def unpacked(log):
    """What stands in it; of a log that is cut, what stands before the cut."""
    if log.suffix == '.gz':
        return gzip.decompress(log.read_bytes())
    return subprocess.run(['zstd', '-dcq', log], check=False, capture_output=True).stdout


def packed(plain, kind):
    if kind.endswith('.zst'):
        return subprocess.run(['zstd', '-cq', '-3'], input=plain, check=True, capture_output=True).stdout
    return gzip.compress(plain, 1, mtime=0) if kind.endswith('.gz') else plain


@functools.cache
def recorded():
    """[(name up to the trace id, trace id, 'pb' or 'json-lines', stream)] of all small logs."""
    found = {}
    for sample in SAMPLES:
        for log in harness.log_files(harness.LOGS / sample):
            stem, _, kind = log.name.partition('_events.')
            trace, form = stem.split('_')[2], kind.rsplit('.', 1)[0]
            found[trace, form] = (stem, trace, form, unpacked(log))
    return [one for one in found.values() if len(one[3]) <= LARGEST]


def records(plain):
    """Where each record begins behind its length, and where it ends."""
    at = 0
    while at < len(plain):
        size = shift = 0
        while True:
            byte = plain[at]
            at, size, shift = at + 1, size | (byte & 127) << shift, shift + 7
            if byte < 128:
                break
        yield at, at + size
        at += size


def damaged(plain, form, rng):
    """Some records cannot be read any more."""
    if form == 'json-lines':
        lines = plain.splitlines(keepends=True)
        return b''.join(b'{' + line if rng.random() < 0.1 and at else line for at, line in enumerate(lines))
    out = bytearray(plain)
    for begin, _ in list(records(plain))[1:]:
        if rng.random() < 0.1:
            out[begin] = 0x0b # opens a group that does not close
    return bytes(out)


class Tree:
    """Projects `p` and `q` in a folder, with logs of a few runs. Several files can show the same run."""

    def __init__(self, folder, seed):
        self.rng = rng = random.Random(seed)
        self.folder, self.files = folder, {}
        runs = rng.sample(recorded(), rng.randint(2, 5))
        for project in 'pq':
            (folder / project).mkdir(parents=True)
            (folder / project / 'project.json').write_text(f'{{"name": "{project}"}}')
            (folder / project / '.buckconfig').write_text('')
        for _ in range(rng.randint(4, 8)):
            self.add(*rng.choice(runs))
        self.write()

    def add(self, stem, trace, form, plain):
        rng = self.rng
        kind = rng.choice([form, f'{form}.gz', f'{form}.zst', f'{form}.zst'])
        name = rng.choice([f'{stem}_events.{kind}', f'{stem}_events.{kind}', f'dl-{trace}.{kind}'])
        path = self.folder / rng.choice('ppq') / 'buck-out' / rng.choice(['v2', 'v2', 'other']) / 'log' / name
        fate = rng.choices(['whole', 'cut', 'packed and cut', 'damaged', 'empty'], [10, 4, 3, 2, 0.3])[0]
        if fate == 'damaged':
            plain = damaged(plain, form, rng)
        if fate == 'cut':
            plain = plain[:rng.randrange(len(plain))]
        data = packed(plain, kind) if fate != 'empty' else b''
        if fate == 'packed and cut':
            data = data[:rng.randrange(len(data))]
        self.files[path] = (data, rng.randrange(10) * DAY_NS + BEGIN_NS, fate)

    def write(self):
        for path, (data, mtime_ns, _) in self.files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            os.utime(path, ns=(mtime_ns, mtime_ns))

    def cut(self, path, share):
        """It is written only so far yet."""
        data, _, _ = self.files[path]
        path.write_bytes(data[:int(len(data) * share)])

    def parts(self, count):
        """Its files in random order, in so many parts, of which some may be empty."""
        paths = self.rng.sample(sorted(self.files), len(self.files))
        at = [0, *sorted(self.rng.randint(0, len(paths)) for _ in range(count - 1)), len(paths)]
        return [paths[begin:end] for begin, end in zip(at, at[1:])]

    def __str__(self):
        return '\n'.join(f'{path.relative_to(self.folder)}: {len(data)} bytes, {fate}'
                         for path, (data, _, fate) in self.files.items())
