"""The whole job: ingest with lookups into a new database, against what people do with a script.

`buck2 log show` is not at hand, so the script gets its JSON for free: unpacking
a log of as many events is all that it pays for it; then it runs one grpcurl a digest.
Its eight processes get more of a busy machine than our one: only a fifth is gross.
"""
import subprocess

import calls
import kit
import pairs
from page import Row


def ours(k, server):
    log = k.job_log

    def run():
        db = k.fresh('job.db')
        spent = k.ingest(db, '--endpoint', server.address, logs=[log.path])
        kit.count(db, 'result', log.made.actions)
        return spent

    return run


def script(k, server, json_log):
    """A hundredth of the calls, scaled up: each is a process like the others."""
    digests = k.job_log.made.digests
    few = digests[:max(16, len(digests) // 100)]
    ask = calls.scaled(calls.grpcurl(k, server, few), len(digests) / len(few))

    def run():
        show, asked = pairs.cost(['zstd', '-dcq', json_log.path], stdout=subprocess.DEVNULL), ask()
        return pairs.Cost(show.wall + asked.wall, show.cpu + asked.cpu)

    return run


def whole(k):
    json_log = k.make_log('job_events.json-lines.zst', actions=k.job_log.made.actions, seed=3)
    for complete in (False, True):
        server = k.server(complete)
        both = k.paired(ours(k, server), script(k, server, json_log))
        more = '; the server looks for the outputs of each' if complete else ''
        yield Row(f'the whole job, {k.job_log.made.actions} actions into a new database: times faster than the script\'s way'
                  f' (its JSON for free, one `grpcurl` a digest, {calls.GRPCURLS} at a time, a hundredth scaled up){more}',
                  pairs.times_faster(both), goal=100, at_least=True, gross=20)
        yield Row('the same, times less CPU', pairs.times_faster(both, 'cpu'))
