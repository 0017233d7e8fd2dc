"""What the tests of sizes share: runs whose results have a pool, a limit and samples, and the definitions in Python."""
import random

import tables

S, MIB, GIB = 10**9, 2**20, 2**30
POOLS = [
    None,
    {'pool': 'shared', 'cpu_request_milli': 4500, 'memory_request_bytes': 9 * GIB, 'memory_limit_bytes': 9 * GIB},
    {'pool': 'shared', 'cpu_request_milli': 4500, 'memory_request_bytes': 9 * GIB, 'memory_limit_bytes': 9 * GIB, 'source': 1},
    {'pool': 'shared', 'cpu_request_milli': 1500, 'memory_request_bytes': 2 * GIB, 'memory_limit_bytes': 4 * GIB},
    {'pool': 'shared', 'cpu_request_milli': 4500, 'memory_request_bytes': 2 * GIB, 'memory_limit_bytes': 4 * GIB},
    {'pool': 'legacy', 'cpu_request_milli': 7000, 'memory_request_bytes': 12 * GIB, 'memory_limit_bytes': None},
]


def group(allotment):
    """What keeps figures apart: pool, limit, requested cores."""
    return allotment and (allotment['pool'], allotment['memory_limit_bytes'], allotment['cpu_request_milli'])


class Result:
    def __init__(self, trace, package='p', category='c', wall_ns=S, cpu_ns=S, rss=None, peak=None, samples=0, allotment=None,
                 worker='w', times=None, identifier=None):
        self.trace, self.package, self.category = trace, package, category
        self.wall_ns, self.cpu_ns, self.rss, self.sampled, self.samples = wall_ns, cpu_ns, rss, peak, samples
        self.allotment, self.worker, self.times, self.identifier = allotment, worker, times, identifier
        self.group = group(allotment)

    @property
    def peak(self):
        """Bytes; None: not known."""
        return max((b for b in (self.rss, self.sampled) if b), default=None)

    @property
    def mib(self):
        return self.peak and -(-self.peak // MIB)

    @property
    def cores(self):
        return self.cpu_ns / max(self.wall_ns, 10**6)


class Sized:
    """A database of such results; each run has a project of its own, and refers to its results once or twice."""

    def __init__(self, path=':memory:', **projects):
        self.made, self.results = tables.Tables(path), []
        for start, (trace, project) in enumerate((projects or {'r': 'one'}).items()):
            self.made.run(trace, project, start_ns=start)

    def add(self, *args, **row):
        r = Result(*args, **row)
        self.results.append(r)
        digest = f'{len(self.results):064x}:141'
        r.identifier = r.identifier or f'a{len(self.results)}'
        self.made.action(r.trace, f'root//x:{r.package}', r.category, r.identifier, [{'digest': digest}])
        sampled = {'memory_samples': r.samples, 'working_set_peak_bytes': r.sampled} if r.sampled or r.samples else None
        self.made.result(digest, wall_ns=r.wall_ns, max_rss_bytes=r.rss, worker=r.worker, allotment=r.allotment, sampled=sampled,
                         usage=None if r.cpu_ns is None else {'user_ns': r.cpu_ns}, times=r.times, invocation=r.trace)
        return digest


def random_result(rng, trace):
    rss = rng.choice([None, rng.randint(1, 8 * GIB), rng.randint(20 * MIB, 100 * MIB), 64 * MIB, 64 * MIB + 1])
    samples = rng.choice([0, 0, 1, 2, 3, 12])
    return Result(trace, rng.choice('pq'), rng.choice(['c', 'd', '']), rng.choice([0, 1, S, 90 * S, rng.randint(1, 400 * S)]),
                  rng.choice([0, S, rng.randint(0, 900 * S), rng.choice([None, S])]), rss, rng.randint(1, 9 * GIB) if samples else None,
                  samples, rng.choice(POOLS), rng.choice(['w', 'v', None]))


def random_sizes(seed, count, calm=False):
    """`calm`: repeats of one action under one limit, nearly all of them small and short."""
    rng = random.Random(seed)
    made = Sized(r='one', s='two')
    for _ in range(count):
        row = vars_of(random_result(rng, rng.choice('rs')))
        if calm:
            row |= {'package': 'p', 'category': 'c', 'identifier': rng.choice('xxxy'), 'allotment': POOLS[1]}
        if calm and rng.random() < 0.95:
            row |= {'rss': 100 * MIB, 'wall_ns': S, 'peak': None, 'samples': 0}
        made.add(**row)
    return made


def vars_of(r):
    return {'trace': r.trace, 'package': r.package, 'category': r.category, 'wall_ns': r.wall_ns, 'cpu_ns': r.cpu_ns, 'rss': r.rss,
            'peak': r.sampled, 'samples': r.samples, 'allotment': r.allotment, 'worker': r.worker, 'identifier': r.identifier}


def percentile(values, percent):
    values = sorted(values)
    return values[min(len(values) - 1, len(values) * percent // 100)] if values else None


def weighted(pairs, percent):
    """[(value, weight)]: where the sum of the weights first passes the share."""
    total, below = sum(w for _, w in pairs), 0
    for value, weight in sorted(pairs):
        below += weight
        if below * 100 > total * percent:
            return value
    return None
