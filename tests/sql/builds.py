"""What the tests of suspected kills share: one run on one pod, a call for each thing that
befell it."""
from samples import rows
import tables

S = 10**9
GIB = 2**30
START = 1_796_000_000 * S
POD = 'worker-shared-5b6dd8dff9-2bv88'
WORKER = '{"pool":"shared","slot":"%s"}'


def digest(number):
    return f'{number:064x}:141'


def at(second):
    return START + round(second * S)


def one(db, sql, *parameters):
    (row,) = rows(db, sql, *parameters)
    return row


class Build:
    """One run and one pod; actions by their window in seconds after START."""

    def __init__(self, limit_bytes=GIB, worker=WORKER % POD):
        self.made = tables.Tables()
        self.worker = worker
        self.made.run('r', 'p', start_ns=START, duration_us=1000 * 10**6)
        self.pod = self.made.pod(POD, limit_bytes, 'node-1')
        self.number = 0

    def failed(self, start, end, exit_code=1, signal=None, result=True, rss=None, worker=None, trace='r', number=None, **attempt):
        """A failed attempt; `result`: with its historical one. Returns its identifier."""
        self.number += 1
        number = number or self.number
        attempt = {'status': 3, 'exit_code': exit_code, 'start_ns': at(start), 'wall_us': round((end - start) * 10**6), **attempt}
        name = f'a{self.number}'
        span = self.made.action(trace, 'root//x:pkg', 'br2_package', name, [{'digest': digest(number), **attempt}], failed=1,
                                start_ns=at(start))
        if result:
            self.made.result(digest(number), exit_code=exit_code, termination_signal=signal, max_rss_bytes=rss,
                             worker=worker or self.worker, invocation=trace, usage={'user_ns': S}, attempt=(trace, span, 0),
                             times={'execution_start': at(start), 'execution_completed': at(end)})
        return name

    def succeeded(self, start, end, invocation='r', worker=None):
        self.number += 1
        self.made.action('r', 'root//x:pkg', 'br2_package', f'a{self.number}', [{'digest': digest(self.number)}])
        self.made.result(digest(self.number), wall_ns=at(end) - at(start), worker=worker or self.worker, invocation=invocation,
                         usage={'user_ns': S}, times={'execution_start': at(start), 'execution_completed': at(end)})
        return f'a{self.number}'

    def killed(self, second, layer=3, **row):
        self.made.ended(self.pod, at(second), layer, **row)

    def rows(self, sql='SELECT * FROM oom_kills'):
        self.db = self.made.finish()
        assert_pools_and_packages_have_their_kills(self.db)
        return rows(self.db, sql)

    def verdicts(self):
        """{identifier, or None of a kill without an action: (verdict, confidence, ambiguous)}"""
        found = self.rows()
        assert len({r['identifier'] for r in found}) == len(found)
        return {r['identifier']: (r['verdict'], r['confidence'], r['ambiguous']) for r in found}


KILLS = """
    SELECT k.run, k.project, k.package, k.told, iif(k.told, (SELECT w.pool FROM _worker w WHERE w.pod = k.pod), a.pool) AS pool,
        iif(k.told, CAST(k.limit_gib * 1073741824 AS INTEGER), a.memory_limit_bytes) AS limit_bytes
    FROM (SELECT *, verdict IN ('OOM killer', 'child killed, container survived') AS told FROM _oom_kill WHERE suspect) k
        LEFT JOIN allotment a ON NOT k.told AND a.allotment_id = (SELECT max(r.allotment_id) FROM result r
            WHERE r.lookup_id = k.lookup_id AND r.worker_id = k.worker_id)"""


def assert_pools_and_packages_have_their_kills(db):
    """_pool_kill and _package_kill say of few columns what _oom_kill says of all."""
    def listed(sql):
        return sorted(map(repr, (tuple(row.values()) for row in rows(db, sql))))
    assert listed('SELECT run, project, is_told, pool, limit_bytes FROM _pool_kill') == \
        listed(f'SELECT run, project, told, pool, limit_bytes FROM ({KILLS})')
    assert listed('SELECT * FROM _package_kill') == listed(
        f'SELECT j.project_id, p.package_id, k.told, k.limit_bytes FROM ({KILLS}) k JOIN package p ON p.name = k.package'
        ' JOIN project j ON j.name = k.project')


TAIL = 'make host-gcc failed (exit 2)\n'  # what the wrapper prints of a package's whole log
