"""What a soak is made of: a project whose builds go on, a server that comes and goes, and a look at
what processes hold."""
import base64
import contextlib
import datetime
import gzip
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import grpc

import harness

sys.path.insert(0, str(harness.BUILDBARN))
from load import V2, digest, part  # noqa: E402

INSTANCE = 'qemu-mini' # of the sample `cells`
KEPT_LOGS = 12 # Buck2 keeps so many
# A build each so many seconds: --watch rests for up to five minutes, and holds 256 logs open meanwhile.
PACE_S, AT_ONCE = 3, 3
HASH = re.compile(rb'(?<![0-9a-f])[0-9a-f]{64}(?=:\d)')


def unpacked(log):
    return subprocess.run(['zstd', '-dcq', log], check=True, capture_output=True).stdout


def packed(plain, kind):
    if kind == 'pb.zst':
        return subprocess.run(['zstd', '-cq'], input=plain, check=True, capture_output=True).stdout
    return gzip.compress(plain, 1) if kind == 'pb.gz' else plain


class Builds:
    """A project of which each build is a recorded one with a trace id and digests of its own. Its
    log appears in part, grows, and goes away as Buck2 does it; `all` keeps a copy of each."""

    def __init__(self, folder, seed):
        self.rng = random.Random(seed)
        self.root, self.all = folder / 'live/cells', folder / 'all/cells'
        for root in (self.root, self.all):
            shutil.copytree(harness.LOGS / 'cells', root, ignore=shutil.ignore_patterns('buck-out', 'expected.json'))
        self.shapes = [(log.name.split('_')[2], unpacked(log)) for log in harness.log_files(harness.LOGS / 'cells')]
        with gzip.open(harness.LOGS / 'cache/action_results.jsonl.gz', 'rt') as lines:
            recorded = [row for row in map(json.loads, lines) if row['instance'] == INSTANCE]
        self.recorded = {row['digest'].split(':')[0]: row for row in recorded}
        self.results, self.logs, self.growing = {}, [], []
        self.next_at = time.monotonic()

    def fresh(self):
        """(trace id, stream) of a build that never was; its results are added to those to be had."""
        trace, plain = self.rng.choice(self.shapes)
        own = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        for old in {found.decode() for found in HASH.findall(plain)} & set(self.recorded):
            new = hashlib.sha256(f'{own}{old}'.encode()).hexdigest()
            plain = plain.replace(old.encode(), new.encode())
            row = self.recorded[old]
            self.results[row['digest'].replace(old, new)] = base64.b64decode(row['action_result'])
        return own, plain.replace(trace.encode(), own.encode())

    def begin(self):
        """A build begins: a part of its log is there."""
        trace, plain = self.fresh()
        kind = self.rng.choice(['pb.zst', 'pb.gz', 'pb'])
        stamp = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=len(self.logs))
        name = f'{stamp:%Y%m%d-%H%M%S}_build_{trace}_events.{kind}'
        path, data = self.root / 'buck-out/v2/log' / name, packed(plain, kind)
        for at, content in ((path, data[:int(len(data) * self.rng.random())]), (self.all / 'buck-out/v2/log' / name, data)):
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(content)
        self.logs.append(path)
        self.growing.append((path, data))

    def end(self):
        """Those that began before are done."""
        for path, data in self.growing:
            with open(path, 'ab') as log:
                log.write(data[path.stat().st_size:])
        self.growing = []

    def rotate(self):
        for path in self.logs[:-KEPT_LOGS]:
            path.unlink(missing_ok=True)

    def show_all(self):
        """All logs that ever were are there again, and what was beside them."""
        shutil.rmtree(self.root)
        self.all.rename(self.root)

    def round(self):
        """What happens between two ingests."""
        self.end()
        self.rotate()
        for _ in range(AT_ONCE):
            if time.monotonic() > self.next_at:
                self.next_at = time.monotonic() + self.rng.uniform(0, 2 * PACE_S)
                self.begin()


class Coming:
    """bb_storage that goes away at random, and comes back empty; then it is filled again."""

    def __init__(self, folder, results, seed):
        self.server = harness.Server(folder)
        self.results, self.sent, self.rng = results, set(), random.Random(seed)
        self.starts, self.changes, self.away = 0, 0, False
        self.lock, self.ended = threading.Lock(), threading.Event()
        self.thread = threading.Thread(target=self.live)

    def fill(self):
        """With the results that it does not have by now; those that it does not take are for the next time."""
        with self.lock, grpc.insecure_channel(self.server.address) as channel:
            update = channel.unary_unary(V2 + 'ActionCache/UpdateActionResult')
            calls = {name: update.future(part(1, INSTANCE.encode()) + part(2, digest(name)) + part(3, self.results[name]),
                                         timeout=60) for name in set(self.results) - self.sent}
            for name, call in calls.items():
                with contextlib.suppress(grpc.RpcError):
                    call.result()
                    self.sent.add(name)

    def up(self):
        self.server.start()
        self.sent.clear()
        self.fill()
        self.starts += 1
        self.changes += 1
        self.away = False

    def down(self):
        self.changes += 1
        self.away = True
        self.server.stop()

    def live(self):
        while not self.ended.wait(self.rng.uniform(4, 25)):
            self.down()
            self.ended.wait(self.rng.choice([0, 1, 3, 8]))
            self.up()

    def __enter__(self):
        os.environ['BB_COMPLETE'] = 'false' # an action's outputs are no matter here
        self.up()
        self.thread.start()
        return self

    def settle(self):
        """Stays from now on, with all results."""
        self.ended.set()
        self.thread.join()
        self.fill()
        assert self.sent == set(self.results)

    def __exit__(self, *exc):
        self.ended.set()
        self.thread.join()
        self.server.stop()
        del os.environ['BB_COMPLETE']


class Held:
    """What a process held over time: resident KiB and descriptors."""

    def __init__(self, pid):
        self.proc, self.samples = Path(f'/proc/{pid}'), []

    def look(self):
        with contextlib.suppress(OSError):
            status = (self.proc / 'status').read_text()
            resident = int(re.search(r'VmRSS:\s+(\d+)', status)[1])
            self.samples.append((resident, len(list((self.proc / 'fd').iterdir()))))

    def of(self, quarter, which):
        """The most in that quarter of the time, from 0."""
        size = len(self.samples)
        return max(sample[which] for sample in self.samples[size * quarter // 4:size * (quarter + 1) // 4])


def watched(binary):
    """What runs the program so that its memory is watched: nothing, where the sanitizers are built in."""
    if b'__asan_init' in Path(binary).read_bytes():
        return []
    return ['valgrind', '-q', '--error-exitcode=99', '--leak-check=full', '--errors-for-leak-kinds=definite']
