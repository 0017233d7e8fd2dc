"""How well asking, reading and storing share the time: the whole job against the longest of its parts alone."""
from types import SimpleNamespace

import far
import kit
import lookups
import pairs
from page import Row

IN_FLIGHT = 128


def ingest(k, *options, db=None):
    """A function: the job into a new database, or into `db`, which a function before it has made."""
    def run():
        path = db or k.fresh('overlap.db')
        return k.ingest(path, *options, logs=[k.job_log.path])

    return run


def recording(k, server):
    """The server's answers to all digests, in a file."""
    path = k.folder / 'overlap.gz'
    ingest(k, '--endpoint', server.address, '--record', path)()
    kit.count(k.folder / 'overlap.db', 'result', k.job_log.made.actions)
    return path


def distance(k, own):
    """Milliseconds to a server that answers all in as long a time as our own work takes."""
    return 1000 * own.wall * IN_FLIGHT / len(k.job_log.made.digests)


def whole(k):
    """The whole job with a server so far away that to wait for all of its answers, 128 at once, takes as long as all that we do
    ourselves: read the log, store it, store the answers. The server is one on this machine, whose every byte is passed on late.
    The whole job against the longer of both alone: the same with answers from a file, and the engine asking. And against
    reading first and asking then. Where the machine has no core to spare, nothing is gained: the server and the path need one."""
    server = k.server(False)
    answers = recording(k, server)
    own = ingest(k, '--replay', answers)
    milliseconds = distance(k, own())
    with far.away(server.address, milliseconds) as address:
        ask = '--endpoint', address, '--in-flight', IN_FLIGHT
        engine = lookups.engine(k, SimpleNamespace(address=address), k.job_log.made.digests, IN_FLIGHT)
        rounds = pairs.rounds(k.sizes.pairs, ingest(k, *ask), own, engine, ingest(k, '--no-remote'),
                              ingest(k, *ask, db=k.folder / 'overlap.db'))
    kit.count(k.folder / 'overlap.db', 'result', k.job_log.made.actions)
    walls = [[cost.wall for cost in costs] for costs in rounds]
    where = f'the whole job, a server {milliseconds:.0f} ms away'
    yield Row(f'{where} / the longer of asking and all else alone', [w / max(own, asked) for w, own, asked, _, _ in walls], goal=1.3)
    yield Row(f'{where} / reading first, then asking', [w / (read + then) for w, _, _, read, then in walls], goal=1)
