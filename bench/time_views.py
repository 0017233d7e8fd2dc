#!/usr/bin/python3
"""CPU time of each canned view in the stock sqlite3 shell, over a generated database.

usage: time_views.py FILE [--repeat N] [--only WORD]

FILE is made by tests/tools/gen_db.py; its largest run and a project of average size
stand for all. Prints CPU seconds (the least of N; of N more where these do not keep the
limit), the limit that each has to keep, how many plain scans of the table of results that
is (timed just before, so that figures of a busy machine can be judged), and rows; exit 1
if one does not keep its limit.
"""
import argparse
import resource
import sqlite3
import subprocess
import sys
from collections import namedtuple

FAMILIES = ['summary', 'wall_time_buckets', 'top_actions', 'oom_kills', 'packages', 'heavy_packages', 'phases', 'missing_results',
            'cache_use', 'signals', 'failures', 'oom_checked']
SINGLE = ['workers', 'worker_peaks', 'sample_coverage', 'sample_intervals', 'runs', 'cells', 'executions',
          'unexplained_terminations']
PATHS = ['critical_path', 'slowest_path', 'critical_packages']  # of one run: nobody reads those of all
LIMITED = {'top_actions'}  # ordered, without end: read as it is meant to be, with LIMIT
LIMIT_S = 0.3
SCAN = 'SELECT count(*), total(wall_ns), total(cpu_ns), max(max_rss_bytes) FROM result NOT INDEXED' \
       ' WHERE source = 1 AND cpu_ns IS NOT NULL'


Asked = namedtuple('Asked', 'spent limit scan count sql')


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(path, sql, repeat):
    best, count = None, 0
    for _ in range(repeat):
        before = cpu_seconds()
        done = subprocess.run(['sqlite3', '-readonly', path, sql], capture_output=True, check=True)
        spent, count = cpu_seconds() - before, done.stdout.count(b'\n')
        best = spent if best is None else min(best, spent)
    return best, count


def questions(db):
    """(SQL, limit in seconds)"""
    (run,) = db.execute('SELECT trace_id FROM run JOIN action USING (run_id) GROUP BY 1 ORDER BY count(*) DESC LIMIT 1').fetchone()
    project, results = db.execute('SELECT name, count(*) FROM result JOIN project USING (project_id) GROUP BY 1'
                                  ' ORDER BY 2 LIMIT 1 OFFSET 2').fetchone()
    by_project_s = LIMIT_S + 3 * results / 1e6
    for view in FAMILIES:
        end = ' LIMIT 20' if view in LIMITED else ''
        yield f'SELECT * FROM {view}{end}', LIMIT_S
        yield f"SELECT * FROM {view}_by_project WHERE project = '{project}'{end}", by_project_s
        yield f"SELECT * FROM {view}_by_run WHERE run = '{run}'{end}", LIMIT_S
        yield f"SELECT * FROM {view}_by_run WHERE run GLOB '{run[:8]}*'{end}", LIMIT_S
    for view in SINGLE:
        yield f'SELECT * FROM {view}', LIMIT_S
    for view in PATHS:
        yield f"SELECT * FROM {view} WHERE run = '{run}'", LIMIT_S
        yield f"SELECT * FROM {view} WHERE run GLOB '{run[:8]}*'", LIMIT_S
    yield from size_questions(db, run, project, by_project_s)
    yield from usage_questions(db, run)
    yield from execution_questions(db)
    yield from pair_questions(db)


def size_questions(db, run, project, by_project_s):
    for view in ('worker_sizing', 'shape_fit', 'package_sizes', 'waste', 'heavy_json'):
        yield f'SELECT * FROM {view}', LIMIT_S
    for view in ('worker_sizing', 'shape_fit', 'package_sizes', 'waste'):
        yield f"SELECT * FROM {view}_by_project WHERE project = '{project}'", by_project_s
    for view in ('worker_sizing', 'shape_fit'):
        yield f"SELECT * FROM {view}_by_run WHERE run = '{run}'", LIMIT_S
    (package,) = db.execute('SELECT package FROM usage LIMIT 1 OFFSET 1000').fetchone()
    for view in ('shape_fit', 'waste'):
        yield f"SELECT * FROM {view}_by_package WHERE package = '{package}'", LIMIT_S
    (invocation,) = db.execute('SELECT invocation FROM request ORDER BY results DESC LIMIT 1').fetchone()
    yield f"SELECT * FROM waste_by_invocation WHERE invocation = '{invocation}'", LIMIT_S


def usage_questions(db, run):
    label, package, digest, invocation = db.execute(
        'SELECT label, package, digest, executed_by FROM usage WHERE executed_by IS NOT NULL LIMIT 1 OFFSET 1000').fetchone()
    filters = {'label': label, 'package': package, 'digest': digest}
    for view in ('usage', 'run_usage'):
        for column, value in filters.items():
            yield f"SELECT * FROM {view} WHERE {column} = '{value}'", LIMIT_S
        yield f"SELECT count(*), sum(wall_s), sum(cpu_s) FROM {view} WHERE executed_by = '{invocation}'", LIMIT_S
    yield f"SELECT count(*), sum(wall_s), sum(cpu_s) FROM usage WHERE first_run = '{run}'", LIMIT_S
    yield f"SELECT count(*), sum(wall_s), sum(executed_in_this_run) FROM run_usage WHERE run = '{run}'", LIMIT_S


def execution_questions(db):
    """Of the invocation that executed most; its moments are sorted, 3 of each result."""
    (invocation,) = db.execute('SELECT invocation FROM request ORDER BY results DESC LIMIT 1').fetchone()
    for view in ('concurrency', 'concurrency_summary', 'worker_skew', 'phases_by_invocation'):
        yield f"SELECT * FROM {view} WHERE invocation = '{invocation}'", LIMIT_S
    label, package = db.execute('SELECT label, package FROM usage LIMIT 1 OFFSET 1000').fetchone()
    yield f"SELECT * FROM trend WHERE label = '{label}'", LIMIT_S
    yield f"SELECT * FROM trend WHERE package = '{package}'", LIMIT_S


def pair_questions(db):
    """Two executing runs of one project and of about average size. Made walls are random, so a quarter of the packages
    differ by more than the floor, and the noise of each is looked up: ten times as many as in a recorded pair."""
    (a, b), *_ = db.execute(
        'WITH size AS (SELECT run_id, trace_id, project_id, count(*) AS n FROM run JOIN action USING (run_id)'
        ' WHERE trace_id IN (SELECT invocation FROM request) GROUP BY run_id)'
        ' SELECT a.trace_id, b.trace_id FROM size a JOIN size b ON b.project_id = a.project_id AND b.run_id > a.run_id'
        ' ORDER BY max(abs(a.n - (SELECT avg(n) FROM size)), abs(b.n - (SELECT avg(n) FROM size))) LIMIT 1')
    yield f"SELECT * FROM run_compare WHERE run_a = '{a}' AND run_b = '{b}'", LIMIT_S
    yield f"SELECT * FROM run_compare_packages WHERE run_a = '{a}' AND run_b = '{b}'", LIMIT_S


def ask(args, sql, limit):
    scan, _ = measure(args.file, SCAN, args.repeat)
    spent, count = measure(args.file, sql, args.repeat)
    return Asked(spent, limit, scan, count, sql)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('file')
    parser.add_argument('--repeat', type=int, default=3)
    parser.add_argument('--only', default='')
    args = parser.parse_args()
    db = sqlite3.connect(f'file:{args.file}?mode=ro', uri=True)
    asked = [ask(args, sql, limit) for sql, limit in questions(db) if args.only in sql]
    # Once more, a minute later: what else a machine has to do can only add.
    asked = [q if q.spent <= q.limit else min(q, ask(args, q.sql, q.limit)) for q in asked]
    for q in asked:
        print(f'{q.spent:7.3f} s {"<=" if q.spent <= q.limit else "> "} {q.limit:.2f} {q.spent / q.scan:6.2f} scans {q.count:6} rows  {q.sql}')
    return any(q.spent > q.limit for q in asked)


if __name__ == '__main__':
    sys.exit(main())
