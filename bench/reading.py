"""Reading logs: against what unpacks them, and against jq that selects the same events. In the small logs of a smoke run
starts weigh, and so does another program that holds one of two cores: what is gross there is more than twice the goal."""
import os
import subprocess

import harness
import kit
import pairs
from page import Row

ZSTD = ('zstd', '-dcq')


def zst(k):
    """One .pb.zst log read into structs (`--dry-run`) against `zstd -dc LOG >/dev/null`."""
    log = k.log
    unpacked = int(subprocess.check_output(f'zstd -dcq {log.path} | wc -c', shell=True))
    assert unpacked == log.made.size, f'zstd unpacks {unpacked} bytes of {log.made.size}'
    both = k.paired(k.dry(log), kit.plainly(*ZSTD, log.path))
    yield Row(f'reading .pb.zst ({log.words()}): time / `zstd -dc`', pairs.ratios(both), goal=1.25,
              gross=4)
    yield Row('reading .pb.zst: CPU / `zstd -dc`', pairs.ratios(both, 'cpu'))


def samples(k):
    """The recorded logs of tests/data/logs read into structs against `zstd -dc` of all: small ones, so mostly starts."""
    logs = [log for log in harness.log_files(harness.LOGS) if log.name.endswith('.pb.zst') and log.parent.name != 'cut']
    runs, size = {log.name.split('_')[2] for log in logs}, sum(log.stat().st_size for log in logs)
    db = k.fresh()
    k.ingest(db, '--no-remote', logs=logs)
    kit.count(db, 'run', len(runs))
    both = k.paired(lambda: k.ingest(k.fresh(), '--dry-run', logs=logs), kit.plainly(*ZSTD, *logs))
    yield Row(f'reading {len(logs)} recorded logs ({size / 1e6:.1f} MB packed): time / `zstd -dc`', pairs.ratios(both))


def gz(k):
    """The same with .pb.gz and `gzip -dc`."""
    log = k.make_log('one_events.pb.gz', megabytes=min(k.sizes.megabytes, 250), seed=4)
    both = k.paired(k.dry(log), kit.plainly('gzip', '-dc', log.path))
    yield Row(f'reading .pb.gz ({log.words()}): time / `gzip -dc`', pairs.ratios(both), goal=1.1)
    log.path.unlink()


def lines(k):
    """A plain .json-lines log read into structs against `jq -c -f bench/events.jq`, which selects the events that we keep."""
    log = k.make_log('one_events.json-lines', megabytes=max(25, k.sizes.megabytes // 10), seed=2)
    jq = ('jq', '-c', '-f', kit.BENCH / 'events.jq', log.path)
    chosen = subprocess.check_output(jq).count(b'\n')
    assert chosen > log.made.actions, f'jq selects {chosen} lines of {log.made.actions} actions'
    both = k.paired(k.dry(log), kit.plainly(*jq))
    yield Row(f'reading .json-lines ({log.made.size / 1e6:.0f} MB): times faster than `jq`',
              pairs.times_faster(both), goal=5, at_least=True)
    log.path.unlink()


def stored(k):
    """The large log read and stored in a new database, no lookups, against the larger of both alone: the time of a dry run, and
    the CPU that storing adds to it (one thread does that)."""
    last = {}
    store, dry = k.store(k.log), k.dry(k.log)

    def both():
        last['both'] = store()
        return last['both']

    def larger():
        alone = dry()
        return pairs.Cost(max(alone.wall, last['both'].cpu - alone.cpu), 1)

    yield Row(f'reading and storing {k.log.made.actions} actions: time / the larger of both alone',
              pairs.ratios(k.paired(both, larger)), goal=1.2, gross=8)  # each slice waits for the disk, a dry run does not


def eight(k):
    """Eight .pb.zst logs read into structs at once against `zstd -dc` of one after the other. And what the machine's cores are worth
    to zstd itself: one `zstd -dc` on each of them against one after the other. Two that share a real one do far from twice the work
    of one, whoever works."""
    logs, cores = k.eight_logs, os.cpu_count()
    paths = [log.path for log in logs]
    one_by_one = kit.plainly(*ZSTD, *paths)
    yield Row(f'reading 8 logs of {k.sizes.each} MB on {cores} cores: time / `zstd -dc`',
              pairs.ratios(k.paired(k.dry(*logs), one_by_one)), goal=0.7, gross=5)
    at_once = kit.plainly('sh', '-c', f'printf "%s\\n" "$@" | xargs -P {cores} -n 1 {" ".join(ZSTD)}', 'sh', *paths)
    yield Row(f'the same by `zstd -dc`, {cores} at once: time / one after the other', pairs.ratios(k.paired(at_once, one_by_one)))
