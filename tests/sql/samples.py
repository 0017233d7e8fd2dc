"""The recorded samples as rows: logs by tools/read_log.py, results by expected.json,
which an independent program computed. The program under test has no part in it."""
import functools
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / 'tools'))
import read_log  # noqa: E402
import tables  # noqa: E402

LOGS = Path(__file__).parents[1] / 'data/logs'
RENAMED = {'input_fetch_start': 'fetch_start', 'input_fetch_completed': 'fetch_completed',
           'output_upload_start': 'upload_start', 'output_upload_completed': 'upload_completed'}


def expected(sample):
    return json.loads((LOGS / sample / 'expected.json').read_text())


def project_of(sample):
    file = LOGS / sample / 'project.json'
    return json.loads(file.read_text())['name'] if file.exists() else sample


@functools.cache
def log_of(path):
    return read_log.read(path)


def add_run(made, sample, run, instance):
    (path,) = {p for p in (LOGS / sample).rglob(run['file'])}
    log = log_of(path)
    inside = re.search(r'/buck-out/([^/]+)/log/', str(path))
    made.run(run['trace_id'], project_of(sample), instance, run['config'], isolation_dir=inside and inside.group(1),
             command=run['file'].split('_')[1], start_ns=run['start_ns'], duration_us=log['duration_us'],
             succeeded=log['succeeded'], complete=int(run['complete']))
    for action in log['actions']:
        made.action(run['trace_id'], **action)
    if log['graph']:
        made.graph(run['trace_id'], **log['graph'])
    for started in run['in_flight']:
        made.in_flight(run['trace_id'], started['label'], started['category'], started['identifier'], started['start_ns'])


def usage_of(usage):
    return {k: usage[k] for k in tables.USAGE if k in usage} if 'cpu_ns' in usage else None


def add_result(made, instance, digest, usage, attempt=None):
    made.result(digest, instance, usage['wall_ns'], usage.get('max_rss_bytes'), usage['exit_code'],
                usage.get('termination_signal'), usage['worker'], usage.get('invocation_id'),
                {RENAMED.get(k, k): v for k, v in usage['times_ns'].items() if v}, attempt, usage_of(usage))


def load(*samples, historical=False, path=':memory:', change=lambda made: None):
    """A database of these samples; without `historical`, nobody asked for the HistoricalExecuteResponses yet.
    `change`: adds further rows."""
    made = tables.Tables(path)
    for sample in samples:
        wanted = expected(sample)
        for run in wanted['runs']:
            if run['trace_id'] not in made.runs:
                add_run(made, sample, run, wanted['instance'])
    done = set()
    for sample in samples:
        wanted = expected(sample)
        for result in wanted['results']:
            key = wanted['instance'], result['digest']
            if result['source'] == 'action_cache' and key not in done:
                done.add(key)
                add_result(made, wanted['instance'], result['digest'], result)
        for row in wanted['historical']:
            key = {'run_id': made.runs[row['trace_id']][0], 'span_id': row['span'], 'idx': row['attempt']}
            made.link(key, row['link'], int(historical))
            if historical:
                add_result(made, wanted['instance'], row['digest'], row['usage'], (row['trace_id'], row['span'], row['attempt']))
    change(made)
    return made.finish()


def rows(db, sql, *parameters):
    cursor = db.execute(sql, parameters)
    names = [d[0] for d in cursor.description]
    return [dict(zip(names, row)) for row in cursor]
