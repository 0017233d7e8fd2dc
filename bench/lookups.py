"""Asking a real bb_storage: the engine alone against ghz and against one grpcurl a digest."""
import functools
import json
import os
import statistics

import calls
import kit
import pairs
from page import Row, Table

TICKS = os.sysconf('SC_CLK_TCK')
IN_FLIGHT = (1, 8, 32, 128)


def engine(k, server, digests, in_flight):
    wanted, tally = k.folder / 'digests', k.folder / 'tally.json'

    def run():
        wanted.write_text('\n'.join(digests) + '\n')
        with open(wanted) as asked, open(tally, 'w') as told:
            spent = pairs.cost([k.probe, '--endpoint', server.address, '--instance', kit.INSTANCE, '--in-flight', in_flight,
                                '--quiet'], stdin=asked, stdout=told)
        found = json.loads(tally.read_text())['found']
        assert found == len(digests), f'{found} of {len(digests)} results'
        return spent

    return run


def server_cpu(server):
    """Seconds of CPU that the server used so far."""
    with open(f'/proc/{server.process.pid}/stat') as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def serving(server, measure, spent):
    """measure(), whose CPU at the server is appended to `spent`."""
    def run():
        before = server_cpu(server)
        result = measure()
        spent.append(server_cpu(server) - before)
        return result

    return run


def at(k, in_flight, complete=False):
    """(pairs of ours and ghz, a line of the table)"""
    server = k.server(complete)
    digests = k.job_log.made.digests
    used = [], []
    both = k.paired(serving(server, engine(k, server, digests, in_flight), used[0]),
                    serving(server, calls.ghz(k, server, digests, in_flight), used[1]))
    used = [spent[1:] for spent in used]  # as paired() warms up
    return both, [f'{in_flight}{", outputs looked for" if complete else ""}', *in_figures(both, used, len(digests))]


def in_figures(both, used, count):
    """Calls a second, and microseconds of CPU a call at client and server: of ours, then of ghz."""
    for mine, served in zip(zip(*both), used):
        yield f'{count / statistics.median(c.wall for c in mine):.0f}'
        yield f'{statistics.median(c.cpu for c in mine) / count * 1e6:.0f}'
        yield f'{statistics.median(served) / count * 1e6:.0f}'


def against_ghz(k):
    """The engine alone against ghz: one connection, the same digests, the same calls in flight; both only count the replies.
    One bb_storage on this machine, which does not look for the outputs of each result; one row with one that does
    (completeness checking): its own work is then nearly all of the time, whoever asks, so what is to be reached is said for
    the other. Starts count."""
    lines = []
    k.server(False), k.server(True)  # idle while the other is asked
    for in_flight, complete in [*((n, False) for n in IN_FLIGHT), (32, True)]:
        both, line = at(k, in_flight, complete)
        lines.append(line)
        more = ', outputs looked for' if complete else ''
        yield Row(f'lookups, {in_flight} in flight{more}: rate / `ghz`', pairs.times_faster(both), goal=None if complete else 2,
                  at_least=True)
        yield Row(f'lookups, {in_flight} in flight{more}: client CPU / `ghz`', pairs.ratios(both, 'cpu'), goal=0.25,
                  gross=1 if in_flight == 1 else None)  # of few calls, starts are a large part
    yield Table('Lookups', f'{len(k.job_log.made.digests)} digests; CPU in microseconds a call, at the client and at the server.',
                ['in flight', 'ours: calls/s', 'client', 'server', 'ghz: calls/s', 'client', 'server'], lines)


def against_grpcurl(k):
    """The engine alone, 32 in flight, against one grpcurl a digest, 8 at a time: a hundredth of the digests, scaled up."""
    server, digests = k.server(False), k.job_log.made.digests
    few = digests[:max(16, len(digests) // 100)]
    script = calls.scaled(calls.grpcurl(k, server, few), len(digests) / len(few))
    both = k.paired(engine(k, server, digests, 32), script)
    yield Row(f'lookups, 32 in flight: rate / one `grpcurl` a digest ({len(few)} of {len(digests)})',
              pairs.times_faster(both), goal=100, at_least=True)
