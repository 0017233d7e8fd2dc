#!/usr/bin/python3
"""A database of plausible rows, with the canned views, for measuring their speed.

usage: gen_db.py FILE [--actions N] [--runs N] [--seed N]

Shapes as recorded builds have them: cells of a cold run and warm ones, of which
some cold logs are gone; wall times and cores log-normal, so that most actions
take less than five seconds and few more than a minute; a few failed, evicted,
uploaded and skewed ones. The same seed gives the same file.
"""
import argparse
import hashlib
import itertools
import json
import math
import random
import sys
from pathlib import Path

import tables

START_NS = 1_796_000_000_000_000_000
PROJECTS = ['qemu-x86_64', 'qemu-aarch64', 'raspberrypi4', 'beaglebone', 'pc-x86_64']
CATEGORIES = ['br2_slice', 'br2_package', 'br2_image', 'br2_native_package', 'br2_viewcheck']
MODES = {'local-cache': 'true true false true', 'remote': 'false false true false',
         'remote-cache': 'true true true false'}
SWITCHES = ['remote_cache', 'cache_uploads', 'remote_execution', 'local_execution']
LOCAL, REMOTE, ACTION_CACHE = 1, 2, 3
# Cores in thousandths, GiB requested and GiB of the limit: before, and since.
POOLS = {'shared': [(7000, 12, 12), (4500, 9, 9)], 'shared-small': [(2000, 3, 5), (1500, 2, 4)], 'legacy': [(7000, 12, None), (8000, 12, None)]}


def open_new(path):
    Path(path).unlink(missing_ok=True)
    db = tables.create(path)
    db.execute('PRAGMA journal_mode = OFF')
    db.execute('PRAGMA synchronous = OFF')
    db.execute('PRAGMA cache_size = -262144')
    return db


class Names:
    """Projects, packages, targets, actions' names: the same in each run of a project."""

    def __init__(self, db, rng, count):
        packages, targets = max(1, count // 28), max(1, count // 6)
        db.executemany('INSERT INTO project VALUES (?, ?)', enumerate(PROJECTS, 1))
        db.executemany('INSERT INTO category VALUES (?, ?)', enumerate(CATEGORIES, 1))
        db.execute("INSERT INTO configuration VALUES (1, 'root//platforms:remote#0123456789abcdef')")
        db.executemany('INSERT INTO package VALUES (?, ?)', ((i, f'pkg-{i}') for i in range(1, packages + 1)))
        db.executemany('INSERT INTO target VALUES (?, ?, ?, ?)', (
            (i, i % packages + 1, f'root//buildroot-src/package/p{i}', f'root//buildroot-src/package/p{i}:pkg-{i % packages + 1}')
            for i in range(1, targets + 1)))
        names = [(i, i % targets + 1, rng.randint(1, len(CATEGORIES)), f'step-{i}', 1) for i in range(1, count + 1)]
        db.executemany('INSERT INTO action_name VALUES (?, ?, ?, ?, ?)', names)
        self.count = count
        self.package = [0] + [(n[1] % packages) + 1 for n in names]
        self.category = [0] + [n[2] for n in names]


def make_workers(db, rng, count):
    def text(i):
        pool = rng.choice(['shared', 'shared-small', 'legacy'])
        return json.dumps({'pool': pool, 'slot': f'worker-{pool}-5b6dd8dff9-{i:05x}'}, separators=(',', ':'))
    db.executemany('INSERT INTO worker (worker_id, name) VALUES (?, ?)', ((i, text(i)) for i in range(1, count + 1)))


def make_minutes(db, rng, workers, days=2):
    """Forty runners that are sampled each minute of some days."""
    for i in range(1, min(workers, 40) + 1):
        db.execute("INSERT INTO pod (pod_id, namespace, name) VALUES (?, 'buildbarn', ?)", (i, f'worker-shared-5b6dd8dff9-{i:05x}'))
        db.execute("INSERT INTO container_life (life_id, pod_id, container, container_id) VALUES (?, ?, 'runner', '/kubepods/1')", (i, i))
        db.executemany('INSERT INTO container_usage (life_id, minute, memory_samples, working_set_peak_bytes, cpu_samples, cpu_ns,'
                       ' cpu_window_ns) VALUES (?, ?, 1, ?, 1, ?, 60000000000)',
                       ((i, START_NS // (60 * 10**9) + m, rng.randrange(10**8, 8 * 10**9), rng.randrange(6 * 10**11))
                        for m in range(days * 1440)))


def make_pools(db):
    gib = 2**30
    rows = [(pool, cpu, request * gib, limit and limit * gib) for pool, specs in POOLS.items() for cpu, request, limit in specs]
    db.executemany('INSERT INTO allotment (allotment_id, source, pool, cpu_request_milli, memory_request_bytes, memory_limit_bytes)'
                   ' VALUES (?, 2, ?, ?, ?, ?)', ((id, *row) for id, row in enumerate(rows, 1)))
    db.executemany('INSERT INTO pool_spec (cache, pool, valid_from_ns, enabled, cpu_request_milli, memory_request_bytes,'
                   " memory_limit_bytes) VALUES ('', ?, ?, 1, ?, ?, ?)",
                   ((row[0], id % 2, *row[1:]) for id, row in enumerate(rows)))
    db.executemany("INSERT INTO project_file VALUES (?, 'project.json', 1)", ((p,) for p in range(1, len(PROJECTS) + 1)))
    db.executemany('INSERT INTO listed_package VALUES (?, ?, ?)',
                   ((p, f'pkg-{i}', i) for p in range(1, len(PROJECTS) + 1) for i in range(1, 40)))


class Maker:
    def __init__(self, db, seed, actions, runs):
        self.db, self.rng = db, random.Random(seed)
        self.names = Names(db, self.rng, max(40, actions * 23 // 100))
        self.workers = 60
        make_workers(db, self.rng, self.workers)
        make_pools(db)
        make_minutes(db, random.Random(seed), self.workers)
        for i, project in enumerate(PROJECTS, 1):
            db.execute("INSERT INTO instance VALUES (?, '', ?)", (i, project))
        db.execute("INSERT INTO platform VALUES (1, '[[\"OSFamily\",\"linux\"]]')")
        db.execute("INSERT INTO rule VALUES (1, 'br2_package')")
        db.execute("INSERT INTO rule VALUES (2, 'buck2-default')")
        self.ids = {kind: itertools.count(1) for kind in ('run', 'lookup', 'result', 'request')}
        self.seed, self.now_ns = seed, START_NS
        self.actions, self.runs = actions, runs

    def trace(self, text):
        h = hashlib.md5(f'{self.seed} {text}'.encode()).hexdigest()
        return '-'.join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))

    def make(self):
        """Cells until the actions are spent: half of them a cold run and a warm one."""
        cells = [self.rng.lognormvariate(0, 0.9) for _ in range(max(1, self.runs * 3 // 4))]
        kinds = [('both', 2), ('cold', 1), ('cold', 1), ('lost', 1)]
        weights = sum(c * kinds[i % 4][1] for i, c in enumerate(cells))
        for i, size in enumerate(cells):
            self.cell(i, max(2, round(size * self.actions / weights)), kinds[i % 4][0])

    def cell(self, number, size, kind):
        project = self.rng.randint(1, len(PROJECTS))
        mode = 'local-cache' if number % 31 == 30 else self.rng.choice(['remote', 'remote-cache', 'remote-cache'])
        variant = self.rng.choice(['wrapped', 'wrapped', 'native'])
        salt = f'{variant}-{mode}-{number % 28 + 1:02}{number % 1000000:06}'
        size = min(size, self.names.count)
        first = self.rng.randint(1, self.names.count - size + 1)
        cold = self.trace(f'cold {number}')
        request = self.request(cold) if mode != 'local-cache' else None
        start = self.now_ns
        lookups = None
        if kind != 'lost':
            run = self.run(cold, project, salt, variant, mode, start)
            lookups = self.cold_run(run, project, range(first, first + size), request, start, mode)
            self.paths(run, size)
        self.now_ns += 3_600_000_000_000
        if kind != 'cold':
            run = self.run(self.trace(f'warm {number}'), project, salt, variant, mode, self.now_ns)
            if lookups is None or mode == 'local-cache':
                lookups = [self.lookup(run, project, seq, name, request, start, mode)
                           for seq, name in enumerate(range(first, first + size), 1)]
                self.flush()
            self.warm_run(run, range(first, first + size), lookups)
            self.paths(run, size)
            self.now_ns += 600_000_000_000

    def request(self, trace):
        number = next(self.ids['request'])
        self.db.execute('INSERT INTO request (request_id, invocation, tool_name, tool_version)'
                        " VALUES (?, ?, 'buck2', '0.1.0')", (number, trace))
        return number

    def run(self, trace, project, salt, variant, mode, start):
        number = next(self.ids['run'])
        self.db.execute('INSERT INTO run (run_id, trace_id, project_id, isolation_dir, command, argv, working_dir, start_ns,'
                        ' duration_us, succeeded, error_count, complete, host, digest_function, instance_id, instance_proved,'
                        " instance_source) VALUES (?, ?, ?, 'v2', 'build', '[]', '/home/br2', ?, 600000000, 1, 0, 1, 'ci', 1,"
                        " ?, 1, '.buckconfig')", (number, trace, project, start, project))
        config = dict(zip((f'br2.{s}' for s in SWITCHES), MODES[mode].split()))
        config |= {'br2.cache_salt': salt, 'br2.native': '' if variant == 'wrapped' else 'zlib'}
        self.db.executemany('INSERT INTO run_config VALUES (?, ?, ?)', ((number, k, v) for k, v in config.items()))
        self.rows = {t: [] for t in ('action', 'attempt', 'attempt_stderr', 'lookup', 'result', 'result_container', 'result_time',
                                     'rusage')}
        return number

    def cold_run(self, run, project, names, request, start, mode):
        lookups = []
        for seq, name in enumerate(names, 1):
            span, roll = seq * 3, self.rng.random()
            local = roll < 0.14 or mode == 'local-cache'
            failed = not local and roll > 0.996
            found = None if local else self.lookup(run, project, seq, name, request, start, mode, failed)
            lookups.append(None if failed else found)
            wall_us = int(self.rng.lognormvariate(13, 1.5))
            self.action(run, span, seq, name, LOCAL if local else REMOTE, failed, start, wall_us)
            self.attempt(run, span, found, 1 if local else 2, 3 if failed else 2, 0, wall_us, start)
            if failed:
                killed = roll > 0.9995
                self.rows['attempt_stderr'].append((run, span, 0, 'make: *** [Makefile:1: all] Error 1\n' if not killed else
                                                  'gcc: fatal error: Killed signal terminated program cc1\n', 55))
        self.flush()
        return lookups

    def warm_run(self, run, names, lookups):
        for seq, (name, lookup) in enumerate(zip(names, lookups), 1):
            kind = LOCAL if lookup is None else ACTION_CACHE
            self.action(run, seq * 3, seq, name, kind, False, self.now_ns, 20_000)
            self.attempt(run, seq * 3, lookup, 1 if lookup is None else 2, 2, 1 if lookup else 0, 20_000, self.now_ns)
        self.flush()

    def paths(self, run, size):
        """Both paths: a wait before each of a hundred actions, or of all if there are less."""
        self.db.execute('INSERT INTO build_graph VALUES (?, ?, ?, ?)', (run, size * 3 + 1, size, size * 3))
        spans = range(3, 3 * size + 1, 3 * max(1, size // 100))
        waits = ((path, 2 * i, 109, None, 0, 800) for path in (1, 2) for i in range(len(spans)))
        actions = ((path, 2 * i + 1, 101, span, self.rng.randint(1_000, 9_000_000), None)
                   for path in (1, 2) for i, span in enumerate(spans))
        self.db.executemany(
            'INSERT INTO path_step (run_id, path, idx, kind, name_id, execution_kind, span_id, hash, size_bytes, reused, duration_us,'
            ' user_us, total_us, potential_us, off_path_us)'
            ' SELECT ?1, ?2, ?3, ?4, a.name_id, a.execution_kind, a.span_id, l.hash, l.size_bytes, 0, ?6, ?6, ?6, ?6, ?7'
            ' FROM (SELECT 1) LEFT JOIN action a ON a.run_id = ?1 AND a.span_id = ?5'
            ' LEFT JOIN attempt t ON t.run_id = a.run_id AND t.span_id = a.span_id LEFT JOIN lookup l ON l.lookup_id = t.lookup_id',
            ((run, *step) for step in itertools.chain(waits, actions)))

    def action(self, run, span, seq, name, kind, failed, start, wall_us):
        self.rows['action'].append((run, span, seq, name, 1, 3, kind, int(failed), start + seq * 1_000_000, wall_us + 40_000,
                                    wall_us, 12_345, 1, 1))

    def attempt(self, run, span, lookup, kind, status, hit, wall_us, start):
        self.rows['attempt'].append((run, span, 0, kind, status, lookup, hit if kind == 2 else None, 2 if status == 3 else 0,
                                     start + span * 1_000_000, wall_us, wall_us - 900, 1_200 if kind == 2 else None, 800,
                                     1 if kind == 2 else None, 2 if kind == 2 else None))

    def lookup(self, run, project, seq, name, request, start, mode, failed=False):
        number = next(self.ids['lookup'])
        digest = hashlib.sha256(f'{self.seed} {number}'.encode()).digest()
        found = not failed and self.rng.random() > 0.02
        state = 1 if found else 0 if failed else 2
        self.rows['lookup'].append((number, project, 1, digest, 141, state, run, seq, name))
        if found:
            self.result(number, run, project, seq, name, request, start, mode)
        return number

    def result(self, lookup, run, project, seq, name, request, start, mode):
        number = next(self.ids['result'])
        wall = int(min(self.rng.lognormvariate(math.log(1.1e9), 1.75), 9e11))
        cores = min(self.rng.lognormvariate(-0.2, 0.6), 12)
        cpu = int(wall * cores) // 1000 * 1000
        rss = max(25 << 20, int(self.rng.lognormvariate(17.6, 0.9))) // 4096 * 4096
        uploaded = mode == 'local-cache'
        worker = None if uploaded else self.rng.randint(1, self.workers)
        self.rows['result'].append((number, lookup, 1, wall, None if uploaded else cpu, None if uploaded else rss, 0, worker,
                                    request, self.allotment(worker, start), name, self.names.package[name], self.names.category[name],
                                    project, run))
        self.sample(number, wall, rss, start, worker)
        queued = start + seq * 20_000_000 + self.rng.randint(0, 999_999)
        begin = 600_000 if self.rng.random() > 0.001 else -40_000_000
        if uploaded:
            self.rows['result_time'].append((number, queued, None, None, None, None, 0, wall, None, None, None, 1))
            return
        self.rows['result_time'].append((number, queued, 0, begin, 300_000, 100_000 + self.rng.randint(0, 9_000_000), 0, wall, 0,
                                         3_000_000, 0, 1))
        system = cpu // 5 // 1000 * 1000
        self.rows['rusage'].append((number, cpu - system, system, 4_000, 0, 0, 0, 88, 0, 0, 0, 60, 14))

    def allotment(self, worker, start):
        """Of a worker of a pool: by an older and a newer pool_spec; of some it is not known."""
        if worker is None or worker % 20 == 0:
            return None
        return worker % len(POOLS) * 2 + 1 + (start > START_NS + 80 * 3_600 * 10**9)

    def sample(self, number, wall, rss, start, worker):
        """By a scrape a minute, of the last days only; what it does not meet has a row without samples."""
        if worker is None or start < START_NS + 130 * 3_600 * 10**9:
            return
        samples = int(wall / 60e9 + self.rng.random())
        peak = int(rss * (1 + self.rng.random())) // 4096 * 4096 if samples else None
        self.rows['result_container'].append((number, 1 if samples else 2, 1, 60_000, samples, peak, 0, wall))

    def flush(self):
        columns = {
            'action': 'run_id, span_id, seq, name_id, type, kind, execution_kind, failed, start_ns, duration_us, wall_us,'
                      ' output_bytes, upload_result, rule_id',
            'attempt': 'run_id, span_id, idx, kind, status, lookup_id, cache_hit, exit_code, start_ns, wall_us, execution_us,'
                       ' queue_us, input_us, platform_id, use_case_id',
            'attempt_stderr': 'run_id, span_id, idx, stderr, stderr_bytes',
            'lookup': 'lookup_id, instance_id, function, hash, size_bytes, state, first_run_id, first_seq, name_id',
            'result': 'result_id, lookup_id, source, wall_ns, cpu_ns, max_rss_bytes, exit_code, worker_id, request_id,'
                      ' allotment_id, name_id, package_id, category_id, project_id, first_run_id',
            'result_container': 'result_id, status, settled, interval_ms, memory_samples, working_set_peak_bytes, cpu_samples, wall_ns',
            'result_time': 'result_id, base_ns, ' + ', '.join(f'{t}_step_ns' for t in tables.TIMES) + ', is_virtual',
            'rusage': 'result_id, user_ns, system_ns, minor_faults, major_faults, swaps, block_in, block_out, messages_sent,'
                      ' messages_received, signals_received, voluntary_ctx, involuntary_ctx'}
        for table, names in columns.items():
            marks = ', '.join('?' * len(names.split(',')))
            self.db.executemany(f'INSERT INTO {table} ({names}) VALUES ({marks})', self.rows[table])
            self.rows[table].clear()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('file')
    parser.add_argument('--actions', type=int, default=1_000_000)
    parser.add_argument('--runs', type=int, default=200)
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    db = open_new(args.file)
    db.execute('BEGIN')
    Maker(db, args.seed, args.actions, args.runs).make()
    for statement in tables.SUMS.split(';'):
        db.execute(statement)
    db.execute('COMMIT')
    for table in ('run', 'action', 'attempt', 'lookup', 'result'):
        print(table, *db.execute(f'SELECT count(*) FROM {table}').fetchone(), file=sys.stderr)


if __name__ == '__main__':
    main()
