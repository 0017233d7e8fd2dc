"""Reading logs: against what unpacks them, and against jq that selects the same events. In the small logs of a smoke run
starts weigh, and so does another program that holds one of two cores: what is gross there is more than twice the goal."""
import os
import subprocess

import kit
import pairs
from page import Row

ZSTD = ('zstd', '-dcq')


def zst(k):
    log = k.log
    unpacked = int(subprocess.check_output(f'zstd -dcq {log.path} | wc -c', shell=True))
    assert unpacked == log.made.size, f'zstd unpacks {unpacked} bytes of {log.made.size}'
    both = k.paired(k.dry(log), kit.plainly(*ZSTD, log.path))
    yield Row(f'reading a .pb.zst log into structs ({log.words()}), time / that of `zstd -dc`', pairs.ratios(both), goal=1.25,
              gross=4)
    yield Row('the same, CPU', pairs.ratios(both, 'cpu'))


def gz(k):
    log = k.make_log('one_events.pb.gz', megabytes=min(k.sizes.megabytes, 250), seed=4)
    both = k.paired(k.dry(log), kit.plainly('gzip', '-dc', log.path))
    yield Row(f'a .pb.gz log ({log.words()}), time / `gzip -dc`', pairs.ratios(both), goal=1.1)
    log.path.unlink()


def lines(k):
    log = k.make_log('one_events.json-lines', megabytes=max(25, k.sizes.megabytes // 10), seed=2)
    jq = ('jq', '-c', '-f', kit.BENCH / 'events.jq', log.path)
    chosen = subprocess.check_output(jq).count(b'\n')
    assert chosen > log.made.actions, f'jq selects {chosen} lines of {log.made.actions} actions'
    both = k.paired(k.dry(log), kit.plainly(*jq))
    yield Row(f'a .json-lines log of {log.made.size / 1e6:.0f} MB: times faster than `jq` that selects the same events',
              pairs.times_faster(both), goal=5, at_least=True)
    log.path.unlink()


def stored(k):
    """Storing is one thread's work: what it costs alone is the CPU that it adds to reading."""
    last = {}
    store, dry = k.store(k.log), k.dry(k.log)

    def both():
        last['both'] = store()
        return last['both']

    def larger():
        alone = dry()
        return pairs.Cost(max(alone.wall, last['both'].cpu - alone.cpu), 1)

    yield Row('the large log read and stored, no lookups: time / the larger of both alone (storing alone: the CPU that it adds)',
              pairs.ratios(k.paired(both, larger)), goal=1.2)


def eight(k):
    logs = k.eight_logs
    one_by_one = kit.plainly('sh', '-ec', 'for log; do zstd -dcq "$log"; done', 'sh', *(log.path for log in logs))
    both = k.paired(k.dry(*logs), one_by_one)
    yield Row(f'8 logs of {k.sizes.each} MB on {os.cpu_count()} cores, time / `zstd -dc` of one after the other',
              pairs.ratios(both), goal=0.7, gross=3)
