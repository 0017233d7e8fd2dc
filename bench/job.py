"""The whole job: ingest with lookups into a new database, against what people do with a script."""
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
    """Ingest with lookups into a new database against the script's way: the log as JSON, then one grpcurl a digest, 8 at a time.
    There is no Buck2 here to print JSON, so the script gets it for free: `zstd -dc` of JSON lines of as many actions. Its calls
    are a hundredth, scaled up, each being a process like the others. And both with a server that looks for outputs, whose own
    work is then most of the time."""
    json_log = k.make_log('job_events.json-lines.zst', actions=k.job_log.made.actions, seed=3)
    for complete in (False, True):
        server = k.server(complete)
        both = k.paired(ours(k, server), script(k, server, json_log))
        more = ', outputs looked for' if complete else ''
        yield Row(f'the whole job, {k.job_log.made.actions} actions{more}: times faster than the script',
                  pairs.times_faster(both), goal=None if complete else 100, at_least=True, gross=20)  # on a busy machine its 8 processes get more than our one
        yield Row(f'the whole job{more}: times less CPU than the script', pairs.times_faster(both, 'cpu'))
