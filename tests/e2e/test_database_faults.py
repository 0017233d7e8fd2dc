"""SQLite fails where a database is merged, pruned, brought up to date or asked: as in test_store_faults.py."""
import pytest

from faults import FILES, Faulty, sweep
from test_merge import CHART, PODS, execute
from test_prune import age, traces
from test_store_faults import BOTH, QUIET, begun, known, roots  # noqa: F401 fixtures
from test_upgrade import STEPS, make

# What no recorded log and answer has, or has of another instance, function, shape or state than the other side.
THEIRS = """
    INSERT INTO expense SELECT result_id, name, 'EUR', 0.5 FROM result, (SELECT 'cpu' AS name UNION SELECT 'memory');
    INSERT INTO aux_message SELECT result_id, idx, 'x.Y', x'0001' FROM result, (SELECT 0 AS idx UNION SELECT 1);
    INSERT INTO input_root_usage SELECT result_id, 1, 2, 3 FROM result;
    INSERT INTO result_container (result_id, status, settled, memory_samples, cpu_samples) SELECT result_id, 2, 1, 0, 0
        FROM result;
    WITH RECURSIVE span (id) AS (VALUES (1000000) UNION ALL SELECT id + 1 FROM span WHERE id < 1003000)
        INSERT INTO cancelled_span SELECT (SELECT min(run_id) FROM run), id FROM span;
    INSERT INTO oom_count SELECT pod_id, 'runner', '/y', 1000, NULL, 1 FROM pod;
    INSERT INTO container_life SELECT pod_id, pod_id, 'runner', '/y' FROM pod;
    INSERT INTO container_usage SELECT life_id, 29000000, 2, 5, 5, 2, 5, 5 FROM container_life;
    INSERT INTO layer_look VALUES (4, '', '*/runner', 1, 2);
    INSERT INTO pruned_run VALUES ('00000000-0000-0000-0000-000000000000');
    INSERT INTO shape VALUES ('theirs', 1, 1, 1);
    UPDATE shape SET cpu_milli = 7;
    UPDATE attempt SET lookup_id = NULL WHERE run_id IN (SELECT run_id FROM run JOIN project USING (project_id)
        WHERE name NOT IN ('flaky', 'failures'));
    UPDATE lookup SET function = 9 WHERE instance_id = (SELECT instance_id FROM instance WHERE name = 'demo-x86_64');
    UPDATE lookup SET state = 7 + lookup_id % 2, message = 'theirs' WHERE state = 0;
    UPDATE historical SET state = 2, message = 'theirs' WHERE span_id = (SELECT min(span_id) FROM historical
        JOIN run USING (run_id) JOIN project USING (project_id) WHERE name = 'failures');
"""
OURS = """
    PRAGMA foreign_keys = ON;
    DELETE FROM project_file;
    DELETE FROM listed_package;
    DELETE FROM action WHERE (run_id, span_id) IN (SELECT run_id, max(span_id) FROM attempt WHERE kind = 2 GROUP BY run_id
        HAVING count(*) > 1);
    CREATE INDEX mine ON run (user);
    UPDATE run SET start_ns = start_ns - 1;
    UPDATE result_time SET base_ns = base_ns + 1000000000 WHERE result_id =
        (SELECT min(result_id) FROM result WHERE source = 1);
    UPDATE lookup SET state = 7, message = 'ours' WHERE state = 0;
    UPDATE historical SET state = 7, message = 'ours' WHERE state = 0;
"""


@pytest.fixture
def theirs(br2, roots, project, tmp_path):  # noqa: F811
    """A source with rows of every table."""
    (roots[1] / 'project.json').write_text('{"heavy": ["gcc", "llvm"]}')
    db = tmp_path / 'theirs.db'
    br2.run(*roots, project('cut'), '--db', db, *QUIET, '--pods', PODS, '--values', CHART, '--valid-from', '2026-01-01')
    execute(db, THEIRS)
    return db


@pytest.fixture
def ours(br2, roots, tmp_path):  # noqa: F811
    """A database that knows some of it, and says of that something else."""
    db = tmp_path / 'ours.db'
    br2.run(roots[0], '--db', db, *QUIET)
    br2.run(roots[1], '--db', db, '--no-report', '--no-remote', '--instance', 'elsewhere')
    execute(db, OURS)
    return db


@BOTH
def test_in_a_merge(br2, theirs, ours, tmp_path, everywhere):
    before = theirs.read_bytes()
    sweep('a merge', Faulty(br2, tmp_path, ['merge', theirs], ours), everywhere, 100)
    assert theirs.read_bytes() == before


def test_files_of_a_merge(br2, known, begun, tmp_path):
    before = known.read_bytes()
    faulty = Faulty(br2, tmp_path, ['merge', known], begun, kinds=FILES)
    faulty.sweep(True)
    assert faulty.failed >= 5
    assert known.read_bytes() == before


@BOTH
def test_in_a_prune(br2, known, tmp_path, everywhere):
    age(known, traces(known)[:3])
    sweep('a prune', Faulty(br2, tmp_path, ['prune', '--keep', '90d'], known), everywhere, 20)


@pytest.mark.parametrize('version', [1, len(STEPS) - 1, *(pytest.param(n, marks=pytest.mark.long)
                                                          for n in range(2, len(STEPS) - 1))])
def test_in_an_upgrade(br2, roots, tmp_path, version):
    old = tmp_path / 'old.db'
    make(old, version)
    sweep(f'an upgrade from {version}', Faulty(br2, tmp_path, [roots[0], '--no-report', '--no-remote'], old), False, 30)


# ---- reading -------------------------------------------------------------------------------------------

@BOTH
@pytest.mark.parametrize('words', [
    ['report', '--all'], ['report', '--all', '--html', 'page.html'], ['export', '--csv', 'sheets'],
    ['compare', 'last-1', 'last', '--project', 'failures'], ['plan', '--shape', 'small=1.5,2GiB,4GiB'],
    ['check', '--all', '--max-rss', '100GiB'], ['check', '--integrity'], ['views', 'usage', '--format', 'csv']], ids=' '.join)
def test_in_a_question(br2, known, tmp_path, words, everywhere):
    before = known.read_bytes()
    sweep(' '.join(words), Faulty(br2, tmp_path, words, known), everywhere, 2)
    assert known.read_bytes() == before
