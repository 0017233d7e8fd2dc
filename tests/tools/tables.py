"""Rows for the tables of schema/, without the program: what tests of the views and
the generator of large databases share. Knows the schema and what the ingest keeps
beside the rows (first references, sums), computed anew here."""
import re
import sqlite3
from pathlib import Path

ROOT = Path(__file__).parents[2]
TIMES = ['queued', 'worker_start', 'fetch_start', 'fetch_completed', 'execution_start', 'execution_completed',
         'upload_start', 'upload_completed', 'worker_completed']
USAGE = ['user_ns', 'system_ns', 'minor_faults', 'major_faults', 'swaps', 'block_in', 'block_out', 'messages_sent',
         'messages_received', 'signals_received', 'voluntary_ctx', 'involuntary_ctx']
APPLICATION_ID = 0x42523249  # of store_schema.c, or the program takes a file for another's
STDERR_MAX = 64 << 10  # so many of its last bytes are kept

# What the ingest keeps: each digest's first reference and key, counts by run, and sums of results.
KEPT = """
UPDATE lookup SET (first_run_id, first_seq, name_id) = (SELECT a.run_id, a.seq, a.name_id
    FROM attempt t JOIN action a USING (run_id, span_id) JOIN run g USING (run_id) WHERE t.lookup_id = lookup.lookup_id
    ORDER BY g.start_ns IS NULL, g.start_ns, g.trace_id, a.seq LIMIT 1);
UPDATE result SET (name_id, package_id, category_id, project_id, first_run_id) = (SELECT l.name_id, t.package_id, n.category_id,
        g.project_id, g.run_id
    FROM lookup l JOIN run g ON g.run_id = l.first_run_id JOIN action_name n USING (name_id) JOIN target t USING (target_id)
    WHERE l.lookup_id = result.lookup_id);
INSERT OR IGNORE INTO lookup_key (key, lookup_id)
    SELECT digest_key, lookup_id FROM lookup WHERE batch < (SELECT max(lookup_id) >> 17 FROM lookup) ORDER BY digest_key, lookup_id;
UPDATE lookup_keyed SET (until_batch, due_batch) = (SELECT ifnull(max(lookup_id), 0) >> 17, ifnull(max(lookup_id), 0) >> 17 FROM lookup);
"""
SUMS = """
INSERT INTO phase_sum SELECT phase_id, sum(ns >= 0), sum(ns < 0), sum(max(ns, 0) / 1000000000), sum(max(ns, 0) % 1000000000),
    max(max(ns, 0))
    FROM (SELECT k.phase_id, CASE k.phase_id WHEN 1 THEN t.queued_ns WHEN 2 THEN t.fetch_ns WHEN 3 THEN t.run_ns ELSE t.upload_ns END AS ns
        FROM result r JOIN _span t USING (result_id) CROSS JOIN _phase k WHERE r.source = 1) WHERE ns IS NOT NULL GROUP BY 1;
INSERT INTO bucket_sum SELECT ifnull(bucket, -1), count(*), sum(ifnull(wall_ns, 0) / 1000000000), sum(ifnull(wall_ns, 0) % 1000000000),
    sum(cpu_ns / 1000000000), sum(cpu_ns % 1000000000), max(max_rss_bytes)
    FROM result WHERE source = 1 AND cpu_ns IS NOT NULL GROUP BY 1;
INSERT INTO size_count SELECT ifnull(r.allotment_id, 0), iif(k.is_all, 0, r.category_id), k.kind,
    ifnull(CASE k.kind WHEN 1 THEN r.memory_mib ELSE r.centicores END, -1), iif(k.is_all, 0, r.project_id), count(*),
    sum(ifnull(r.wall_ns, 0) / 1000000000), sum(ifnull(r.wall_ns, 0) % 1000000000)
    FROM result r CROSS JOIN (SELECT 1 AS kind, 0 AS is_all UNION ALL VALUES (2, 0), (1, 1), (2, 1)) k
    WHERE r.source = 1 AND r.cpu_ns IS NOT NULL GROUP BY 1, 2, 3, 4, 5;
INSERT INTO busy_sum SELECT allotment_id, project_id, count(*), sum(known), sum(busy_high), sum(busy_low), sum(cpu_high), sum(cpu_low),
    sum(held_high), sum(held_low) FROM _busy_part GROUP BY 1, 2;
INSERT INTO package_sum SELECT iif(k.is_all, 0, r.project_id), r.package_id, ifnull(a.memory_limit_bytes, 0), count(*),
    sum(r.max_rss_bytes IS NULL), sum(ifnull(r.wall_ns, 0) / 1000000000), sum(ifnull(r.wall_ns, 0) % 1000000000),
    sum(r.cpu_ns / 1000000000), sum(r.cpu_ns % 1000000000), max(r.wall_ns), max(r.max_rss_bytes), max(r.cores)
    FROM result r CROSS JOIN (SELECT 0 AS is_all UNION ALL SELECT 1) k LEFT JOIN allotment a ON a.allotment_id = r.allotment_id
    WHERE r.source = 1 AND r.cpu_ns IS NOT NULL GROUP BY 1, 2, 3;
INSERT INTO invocation_sum SELECT * FROM _invocation_made;
INSERT INTO action_count SELECT run_id, type, ifnull(execution_kind, 0), failed, count(*) FROM action GROUP BY 1, 2, 3, 4;
UPDATE worker SET (results, failed, with_usage, wall_ns, cpu_ns, rss_min_bytes, rss_max_bytes) = (SELECT count(*),
        ifnull(sum(ifnull(exit_code, 0) <> 0 OR termination_signal IS NOT NULL), 0),
        count(*) FILTER (WHERE source = 1 AND cpu_ns IS NOT NULL),
        ifnull(sum(wall_ns) FILTER (WHERE source = 1 AND cpu_ns IS NOT NULL), 0),
        ifnull(sum(cpu_ns) FILTER (WHERE source = 1 AND cpu_ns IS NOT NULL), 0), min(max_rss_bytes), max(max_rss_bytes)
    FROM result r WHERE r.worker_id = worker.worker_id);
UPDATE request SET (results, with_usage, wall_ns, cpu_ns, first_ns, last_ns) = (SELECT count(*),
        count(*) FILTER (WHERE source = 1 AND cpu_ns IS NOT NULL),
        ifnull(sum(wall_ns) FILTER (WHERE source = 1 AND cpu_ns IS NOT NULL), 0),
        ifnull(sum(cpu_ns) FILTER (WHERE source = 1 AND cpu_ns IS NOT NULL), 0), min(base_ns),
        max(coalesce(worker_completed_ns, upload_completed_ns, execution_completed_ns, base_ns))
    FROM result r LEFT JOIN result_time USING (result_id) LEFT JOIN _time USING (result_id) WHERE r.request_id = request.request_id);
"""


def listed(folder):
    """The .sql files of a folder, in the order of its CMakeLists.txt."""
    text = re.sub(r'#.*', '', (ROOT / folder / 'CMakeLists.txt').read_text())
    return [ROOT / folder / name for name in re.findall(r'[\w]+\.sql', text)]


def create(path=':memory:', views=True):
    """A new database with the tables and, unless told otherwise, the canned views; the program takes it for its own."""
    db = sqlite3.connect(path, isolation_level=None)
    for file in listed('schema') + (listed('queries') if views else []):
        db.executescript(file.read_text())
    db.execute(f'PRAGMA application_id = {APPLICATION_ID}')
    db.execute(f'PRAGMA user_version = {len(listed("schema"))}')
    return db


def insert(db, table, **row):
    marks = ', '.join('?' * len(row))
    return db.execute(f'INSERT INTO {table} ({", ".join(row)}) VALUES ({marks})', list(row.values())).lastrowid


class Tables:
    """Builds rows by their natural keys; finish() makes the file what an ingest would have left."""

    def __init__(self, path=':memory:'):
        self.db = create(path)
        self.db.execute('BEGIN')
        self.interned = {}
        self.runs = {}     # trace id -> (run_id, instance_id)
        self.spans = {}    # run_id -> last span
        self.lookups = {}  # (instance_id, digest) -> lookup_id
        self.answers = {}  # lookup_id -> (state, message)

    def intern(self, table, **key):
        known = (table, *key.values())
        if known not in self.interned:
            self.interned[known] = insert(self.db, table, **key)
        return self.interned[known]

    def name(self, label, category, identifier, configuration=''):
        package, _, target = label.partition(':')
        package_id = self.intern('package', name=target)
        target_id = self.intern('target', package_id=package_id, buck_package=package, label=label)
        return self.intern('action_name', target_id=target_id, category_id=self.intern('category', name=category or ''),
                           identifier=identifier or '', configuration_id=self.intern('configuration', name=configuration))

    def instance(self, name, cache=''):
        return self.intern('instance', cache=cache, name=name)

    def run(self, trace, project='project', instance='instance', config=(), **row):
        """Further columns of table run as keywords."""
        known = {'isolation_dir': 'v2', 'command': 'build', 'start_ns': 0, 'duration_us': 60_000_000, 'succeeded': 1,
                 'complete': 1, 'digest_function': 1, 'instance_proved': 1, 'argv': '[]'}
        instance_id = self.instance(instance)
        run_id = insert(self.db, 'run', trace_id=trace, project_id=self.intern('project', name=project),
                        instance_id=instance_id, **{**known, **row})
        for key, value in dict(config).items():
            insert(self.db, 'run_config', run_id=run_id, key=key, value=value)
        self.runs[trace] = run_id, instance_id
        self.spans[run_id] = 0
        return run_id

    def lookup(self, instance_id, digest, run_id, name_id, seq, function=1):
        key = instance_id, digest
        if key not in self.lookups:
            hashed, _, size = digest.partition(':')
            self.lookups[key] = insert(self.db, 'lookup', instance_id=instance_id, function=function,
                                       hash=bytes.fromhex(hashed), size_bytes=int(size), first_run_id=run_id,
                                       first_seq=seq, name_id=name_id)
        return self.lookups[key]

    def action(self, trace, label, category='', identifier='', attempts=(), configuration='', error=None, **row):
        """`attempts`: dictionaries of columns of attempt, attempt_text and attempt_stderr, `digest` and `kind`
        among them; `historical`: the digest and the state of a linked blob."""
        run_id, instance_id = self.runs[trace]
        span = row.pop('span_id', self.spans[run_id] + 1)
        self.spans[run_id] = span
        name_id = self.name(label, category, identifier, configuration)
        known = {'seq': span, 'type': 1, 'kind': 3, 'execution_kind': 2, 'failed': 0, 'start_ns': 0}
        row = {**known, **row}
        insert(self.db, 'action', run_id=run_id, span_id=span, name_id=name_id, **row)
        if error:
            insert(self.db, 'action_text', run_id=run_id, span_id=span, error=error)
        for idx, attempt in enumerate(attempts):
            self.attempt(run_id, span, idx, instance_id, name_id, row['seq'], dict(attempt))
        return span

    def attempt(self, run_id, span, idx, instance_id, name_id, seq, row):
        digest, kind = row.pop('digest', None), row.setdefault('kind', 2)
        key = {'run_id': run_id, 'span_id': span, 'idx': idx}
        text = {k: row.pop(k) for k in ('error_stage', 'error', 'message') if k in row}
        stderr, blob = row.pop('stderr', None), row.pop('historical', None)
        stderr_bytes = row.pop('stderr_bytes', stderr and len(stderr.encode()))
        stderr = stderr and stderr.encode()[-STDERR_MAX:].decode(errors='ignore')
        if digest and kind == 2:
            row['lookup_id'] = self.lookup(instance_id, digest, run_id, name_id, seq)
        insert(self.db, 'attempt', **key, **{'status': 2, 'cache_hit': 0 if kind == 2 else None, **row})
        if digest and kind != 2:
            hashed, _, size = digest.partition(':')
            insert(self.db, 'attempt_digest', **key, function=1, hash=bytes.fromhex(hashed), size_bytes=int(size))
        if any(v is not None for v in text.values()):
            insert(self.db, 'attempt_text', **key, **text)
        if stderr or stderr_bytes:
            insert(self.db, 'attempt_stderr', **key, stderr=stderr or '', stderr_bytes=stderr_bytes)
        if blob:
            self.link(key, *blob)

    def link(self, key, digest, state):
        """The blob that an attempt links; `key`: its columns run_id, span_id and idx."""
        hashed, _, size = digest.partition(':')
        insert(self.db, 'historical', **key, function=1, hash=bytes.fromhex(hashed), size_bytes=int(size), state=state)

    def graph(self, trace, critical=(), slowest=(), seq=1, nodes=0, edges=0):
        """`critical`, `slowest`: dictionaries of columns of path_step; by name `label`, `category`, `identifier`,
        `configuration`, `detail`, `rule` and `digest`."""
        run_id, _ = self.runs[trace]
        insert(self.db, 'build_graph', run_id=run_id, seq=seq, nodes=nodes, edges=edges)
        for path, steps in ((1, critical), (2, slowest)):
            for idx, row in enumerate(steps):
                self.step({'run_id': run_id, 'path': path, 'idx': idx}, dict(row))

    def step(self, key, row):
        label, category, identifier = (row.pop(k, None) for k in ('label', 'category', 'identifier'))
        configuration, digest = row.pop('configuration', ''), row.pop('digest', None)
        if label:
            row['name_id'] = self.name(label, category, identifier, configuration)
        for column, name in (('detail_id', row.pop('detail', None)), ('rule_id', row.pop('rule', None))):
            row[column] = self.intern('rule', name=name) if name else None
        if digest:
            hashed, _, size = digest.partition(':')
            row |= {'hash': bytes.fromhex(hashed), 'size_bytes': int(size)}
        insert(self.db, 'path_step', **key, **{'reused': 0, **row})

    def in_flight(self, trace, label, category, identifier, start_ns=None):
        run_id, _ = self.runs[trace]
        self.spans[run_id] += 1
        insert(self.db, 'in_flight', run_id=run_id, span_id=self.spans[run_id], seq=self.spans[run_id],
               name_id=self.name(label, category, identifier), type=1, start_ns=start_ns)

    def state(self, digest, state, message=None, instance='instance'):
        """What the server answered about a digest without a result."""
        self.answers[self.lookups[self.instance(instance), digest]] = state, message

    def result(self, digest, instance='instance', wall_ns=None, max_rss_bytes=None, exit_code=0, termination_signal=None,
               worker=None, invocation=None, times=None, attempt=None, usage=None, allotment=None, sampled=None):
        """`usage`: columns of rusage; None: no POSIX usage. `attempt`: (trace, span, idx) of a historical one.
        `allotment`: columns of that table; `sampled`: of result_container."""
        lookup_id = self.lookups[self.instance(instance), digest]
        usage = usage and {**dict.fromkeys(USAGE, 0), **usage}
        row = {'lookup_id': lookup_id, 'source': 2 if attempt else 1, 'wall_ns': wall_ns,
               'cpu_ns': usage and usage['user_ns'] + usage['system_ns'], 'max_rss_bytes': max_rss_bytes or None,
               'exit_code': exit_code, 'termination_signal': termination_signal or None,
               'worker_id': self.intern('worker', name=worker) if worker else None,
               'request_id': self.intern('request', invocation=invocation) if invocation else None,
               'allotment_id': self.intern('allotment', **{'source': 2, **allotment}) if allotment else None,
               'name_id': 0, 'package_id': 0, 'project_id': 0, 'first_run_id': 0}
        if attempt:
            run_id, _ = self.runs[attempt[0]]
            row |= {'attempt_run_id': run_id, 'attempt_span_id': attempt[1], 'attempt_idx': attempt[2], 'status_code': 0}
        else:
            self.answers[lookup_id] = 1, None
        result_id = insert(self.db, 'result', **row)
        if usage:
            insert(self.db, 'rusage', result_id=result_id, **usage)
        if sampled:
            insert(self.db, 'result_container', result_id=result_id, **{'status': 1, 'settled': 1, 'cpu_samples': 0, **sampled})
        known = {k: v for k, v in (times or {}).items() if v is not None}
        if known:
            times = [(t, known[t]) for t in TIMES if t in known]
            steps = {f'{t}_step_ns': ns - before for (t, ns), (_, before) in zip(times, times[:1] + times)}
            insert(self.db, 'result_time', result_id=result_id, base_ns=times[0][1], **steps)

    def pod(self, name, limit_bytes=None, node=None, container='runner', namespace='buildbarn'):
        """A pod with one container more; returns its pod_id."""
        known = ('pod', namespace, name)
        if known not in self.interned:
            self.interned[known] = insert(self.db, 'pod', namespace=namespace, name=name, node=node)
        insert(self.db, 'container', pod_id=self.interned[known], name=container, memory_limit_bytes=limit_bytes)
        return self.interned[known]

    def ended(self, pod_id, finished_ns, layer=3, container='runner', reason='OOMKilled', exit_code=137, **row):
        """An end of a container, as a layer tells it: 3 pods, 4 Prometheus."""
        insert(self.db, 'termination', pod_id=pod_id, container=container, finished_ns=finished_ns, layer=layer,
               reason=reason, exit_code=exit_code, **row)

    def counted(self, pod_id, first_ns, last_ns, count=1, container='runner', container_id='/kubepods/1'):
        """Kills that a container survived, counted between two samples."""
        insert(self.db, 'oom_count', pod_id=pod_id, container=container, container_id=container_id, first_ns=first_ns,
               last_ns=last_ns, count=count)

    def sampled(self, digest, samples, peak_bytes=None, status=None, instance='instance', **row):
        """What Prometheus told of a result's container; `samples` of memory and of CPU each."""
        lookup_id = self.lookups[self.instance(instance), digest]
        (result_id, wall_ns), = self.db.execute('SELECT result_id, wall_ns FROM result WHERE lookup_id = ?', [lookup_id])
        insert(self.db, 'result_container', **{
            'result_id': result_id, 'status': status or (1 if samples else 2), 'settled': 1, 'lives': int(samples > 0),
            'memory_samples': samples, 'working_set_peak_bytes': peak_bytes, 'cpu_samples': samples, 'wall_ns': wall_ns, **row})

    def minute(self, pod_id, minute, container_id='/kubepods/1', container='runner', **row):
        """What a life of a container used in a minute, in which it was sampled four times."""
        life_id = self.intern('container_life', pod_id=pod_id, container=container, container_id=container_id)
        insert(self.db, 'container_usage', life_id=life_id, minute=minute, **{'memory_samples': 4, 'cpu_samples': 4, **row})

    def looked(self, layer, from_ns, to_ns, cache='', selector=''):
        insert(self.db, 'layer_look', layer=layer, cache=cache, selector=selector, from_ns=from_ns, to_ns=to_ns)

    def lists(self, project, packages):
        """What heavy of a project's project.json has."""
        project_id = self.intern('project', name=project)
        insert(self.db, 'project_file', project_id=project_id, path=f'/{project}/project.json', mtime_ns=1)
        for position, package in enumerate(packages):
            insert(self.db, 'listed_package', project_id=project_id, package=package, position=position)

    def finish(self):
        self.db.executemany('UPDATE lookup SET state = ?, message = ? WHERE lookup_id = ?',
                            [(state, message, id) for id, (state, message) in self.answers.items()])
        for statement in (KEPT + SUMS).split(';'):
            self.db.execute(statement)
        self.db.execute('COMMIT')
        problems = self.db.execute('PRAGMA foreign_key_check').fetchall()
        assert not problems, problems
        return self.db
