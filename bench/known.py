"""Ingesting a tree again of which every log is known and unchanged, beyond what starting costs."""
import subprocess

import kit
import pairs
from page import Row

SAMPLE = next((kit.ROOT / 'tests/data/logs/cells/buck-out/v2/log').glob('*_283396f5-*_events.pb.zst'))
A_FOLDER = 12  # so many logs does Buck2 keep in an isolation dir


def make_tree(root, logs):
    """Copies of one recorded log, each a run of its own."""
    stem = SAMPLE.name
    trace = stem.split('_')[2].encode()
    data = subprocess.check_output(['zstd', '-dcq', SAMPLE])
    for number in range(logs):
        fresh = b'%08x' % number + trace[8:]
        folder = root / f'buck-out/v{number // A_FOLDER}/log'
        folder.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(['zstd', '-cq'], input=data.replace(trace, fresh), check=True, capture_output=True).stdout
        (folder / stem.replace(trace.decode(), fresh.decode())).write_bytes(packed)


def again(k):
    """A tree whose logs are all known and unchanged, 12 in each isolation dir, ingested again (nobody is asked), less
    `br2-ingest --version`. The report, with which an ingest ends unless told `--no-report`, is a row of its own."""
    root, db = k.folder / 'known', k.fresh('known.db')
    make_tree(root, k.sizes.known)
    ingest = lambda: k.ingest(db, '--no-remote', logs=[root])
    ingest()
    kit.count(db, 'run', k.sizes.known)
    before = db.read_bytes()
    both = k.paired(ingest, kit.plainly(k.program, '--version'))
    assert db.read_bytes() == before, 'known logs changed the database'
    yield Row(f'{k.sizes.known} known logs again: time beyond process start', pairs.beyond(both), goal=20, unit='ms',
              gross=300)  # a busy machine waits for its turn
    yield Row(f'{k.sizes.known} known logs again: CPU beyond process start', pairs.beyond(both, 'cpu'), unit='ms', gross=80)
    report = k.paired(kit.plainly(k.program, 'report', '--db', db), kit.plainly(k.program, '--version'))
    yield Row(f'the report of these {k.sizes.known} runs: time beyond process start', pairs.beyond(report), unit='ms')
