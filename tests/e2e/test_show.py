"""What a person sees of a database: report, digest, views, sql, export."""
import contextlib
import csv
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import time

import pytest

import harness
from harness import rows, value

RECORDING = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
PROJECTS = {'demo-x86_64': 'demo-x86_64', 'cells': 'qemu-mini', 'failures': 'demo-x86_64'}
FAILED = '39c075303819defe38f096695efbbeafea091309667cbc739127793ee9e7e6ad'


@pytest.fixture(scope='session')
def shown(tmp_path_factory):
    """Three samples in one database, answered by the recording; `projects` holds their folders."""
    folder = tmp_path_factory.mktemp('show')
    program = harness.Program(os.environ['BR2_INGEST'], folder)
    program.projects = folder / 'experiments'
    program.db = folder / 'br2 ü.db'
    for sample in PROJECTS:
        harness.copy_sample(sample, program.projects)
    program.run(program.projects / 'demo-x86_64', program.projects / 'cells', program.projects / 'failures',
                '--db', program.db, '--replay', RECORDING, '--no-report')
    return program


def show(program, *args, code=0, cwd=None, **kwargs):
    return program.run(*args, '--db', program.db, code=code, cwd=cwd, **kwargs)


def table_of(text, first):
    """The indented table whose header begins with `first`: a list of rows, cells cut at two spaces."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith('  ' + first))
    found = []
    for line in lines[start + 1:]:
        if not line.startswith('  '):
            break
        found.append(re.split(r' {2,}', line.strip()))
    return found


# ---- report -------------------------------------------------------------------------------

def test_scope_is_the_project_around(shown):
    """`demo-x86_64` is the name of two of the samples' project.json or folders: a path is narrower."""
    text = show(shown, 'report', cwd=shown.projects / 'cells/buck-out').stdout
    assert text.splitlines()[0] == 'qemu-mini, 7 runs, 6 cells'
    text = show(shown, 'report', cwd=shown.projects).stdout
    assert text.splitlines()[0].startswith('the whole file: ')
    assert ', 18 runs' in text.splitlines()[0]


def test_scope_of_paths(shown):
    first = harness.log_files(shown.projects / 'demo-x86_64')[0]
    assert ', 1 run' in show(shown, 'report', first).stdout.splitlines()[0]
    text = show(shown, 'report', 'buck-out/v2/log', cwd=shown.projects / 'demo-x86_64').stdout
    assert ', 2 runs' in text.splitlines()[0]
    text = show(shown, 'report', 'cells', 'demo-x86_64', cwd=shown.projects).stdout
    assert ', 14 runs' in text.splitlines()[0]
    said = show(shown, 'report', shown.projects / 'nothing', code=3)
    assert 'nothing' in said.stderr and said.stdout == ''


@pytest.mark.parametrize('sample', PROJECTS)
def test_report_has_the_figures_of_the_script(shown, sample):
    wanted = harness.expected(sample)
    text = show(shown, 'report', shown.projects / sample).stdout
    head = wanted['summary']
    assert (f"{head['stored_with_usage']} of {head['of_digests']} actions have a stored result | "
            f"wall {head['wall_s'] / 3600:.2f} h | cpu {head['cpu_s'] / 3600:.2f} h | "
            f"average {head['average_cores']:.2f} cores while running\n") in text
    names = {0: '0-5 s', 5: '5-20 s', 20: '20-60 s', 60: '60-300 s', 300: '300-inf s'}
    assert table_of(text, 'wall time') == [
        [names[b['from_s']], str(b['actions']), f"{b['wall_pct']:.1f}", f"{b['avg_cores']:.2f}",
         f"{b['p90_cores']:.2f}", f"{b['max_rss_bytes'] / 2**30:.2f}"] for b in wanted['buckets']]
    signals = [r for r in wanted['results'] if r['source'] == 'action_cache' and r.get('termination_signal')]
    assert f'actions that ended on a signal: {len(signals)}\n' in text


def test_report_lists_the_longest(shown):
    text = show(shown, 'report', '--all', '--top', '3').stdout
    assert 'longest 3: (3 of ' in text
    walls = [float(row[2]) for row in table_of(text, 'id')]
    assert walls == [round(r['wall_s'], 1) for r in
                     rows(shown.db, 'SELECT wall_s FROM usage WHERE cpu_ns IS NOT NULL ORDER BY wall_ns DESC LIMIT 3')]


def test_report_gives_reasons_for_the_rest(shown):
    text = show(shown, 'report', shown.projects / 'failures').stdout
    assert '3 of 14 actions have a stored result' in text
    assert 'without one: 2 failed (view missing_results)\n' in text
    assert 'failed, with numbers of their own: 9 (view failures)\n' in text
    text = show(shown, 'report', '--no-tests', shown.projects / 'failures').stdout
    assert 'failed, with numbers of their own: 7 (view failures)\n' in text
    text = show(shown, 'report', '--project', 'qemu-mini').stdout
    assert 'without one: 20 uploaded_by_client' in text
    assert 'uploaded by the client: 20 of the digests' in text


def test_report_tells_what_is_not_measured(shown):
    text = show(shown, 'report', '--project', 'qemu-mini').stdout
    assert re.search(r'dev and viewcheck runs: [1-9]\d* of the digests are theirs alone', text)
    assert re.search(r'executed by other runs: [1-9]\d* of the results \(cache hits', text)


def test_report_without_tests(shown):
    with_tests = show(shown, 'report', shown.projects / 'failures').stdout
    without = show(shown, 'report', shown.projects / 'failures', '--no-tests').stdout
    tests = int(re.search(r'tests and listings: (\d+) of the digests', with_tests).group(1))
    assert tests > 0 and 'tests and listings' not in without
    assert f' of {14 - tests} actions have a stored result' in without


def test_report_formats_say_the_same(shown):
    """CSV, JSON lines and the JSON array hold equal rows; times differ in form only."""
    array = json.loads(show(shown, 'report', '--all', '--json').stdout)
    lines = [json.loads(line) for line in show(shown, 'report', '--all', '--format', 'jsonl').stdout.splitlines()]
    assert array == lines and len(array) > 1800
    text = show(shown, 'report', '--all', '--format', 'csv').stdout
    cells = list(csv.reader(io.StringIO(text, newline='')))
    assert cells[0] == list(array[0])
    for row, line in zip(array, cells[1:], strict=True):
        for (name, want), got in zip(row.items(), line, strict=True):
            if name.endswith('_utc'):
                want = want.replace('T', ' ').removesuffix('Z')
            assert (float(got) == want) if isinstance(want, (int, float)) else (got == (want or '')), name


def test_report_as_a_table(shown):
    text = show(shown, 'report', '--all', '--format', 'table', '--min-wall', '100').stdout
    lines = text.splitlines()
    assert lines[0].split()[:3] == ['digest', 'category', 'id']
    assert len(lines) == 1 + value(
        shown.db, "SELECT count(*) FROM usage WHERE source = 'action_cache' AND cpu_ns IS NOT NULL AND wall_s >= 100")


def test_report_min_wall_narrows_rows_and_page(shown):
    array = json.loads(show(shown, 'report', '--all', '--json', '--min-wall', '5').stdout)
    assert array and all(row['wall_s'] >= 5 for row in array)
    text = show(shown, 'report', '--all', '--min-wall', '5').stdout
    assert f', {len(array)} of them ran 5 s or longer' in text
    assert table_of(text, 'wall time')[0][0] == '5-20 s'


def test_report_of_what_was_never_asked(br2, project, tmp_path):
    """The likely cause and the next command."""
    db = tmp_path / 'br2.db'
    br2.run(project('flaky'), '--db', db, '--no-remote', '--no-report')
    text = br2.run('report', '--db', db, '--all').stdout
    assert '0 of 3 actions have a stored result' in text
    assert re.search(r'not asked for yet: [1-3] results?\. br2-ingest asks', text)


def test_report_of_builds_that_still_run(br2, project, tmp_path):
    """Actions in flight are counted apart."""
    db = tmp_path / 'br2.db'
    br2.run(*harness.paths_of('cut', project('cut')), '--db', db, '--replay', RECORDING, '--no-report')
    text = br2.run('report', '--db', db, '--all').stdout
    assert '1 of 1 actions have a stored result' in text
    assert 'in flight: 2 of the actions' in text


@pytest.mark.parametrize('args', [['--all', '--project', 'x'], ['--json', '--format', 'csv'], ['--top', '-1'],
                                  ['--min-wall', 'nan'], ['--format', 'JSON']])
def test_report_usage_errors(shown, args):
    said = show(shown, 'report', *args, code=3)
    assert said.stdout == '' and len(said.stderr.splitlines()) == 1


def test_nowhere_to_write(shown):
    """A full disk is trouble, not silence."""
    with open('/dev/full', 'wb') as full:
        done = subprocess.run([shown.binary, 'report', '--all', '--db', shown.db], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and 'No space left' in done.stderr


# ---- digest ---------------------------------------------------------------------------------

@pytest.fixture(scope='session')
def longest(shown):
    """The digest of the longest action, as HASH:SIZE."""
    return value(shown.db, 'SELECT digest FROM usage WHERE cpu_ns IS NOT NULL ORDER BY wall_ns DESC LIMIT 1')


@pytest.mark.parametrize('form', ['{h}:{s}', '{h}-{s}', '{h}/{s}', '{h}', '{p}',
                                  'http://127.0.0.1:8081/browser/demo-x86_64/blobs/sha256/action/{h}-{s}/',
                                  'demo-x86_64/blobs/sha256/action/{h}-{s}'])
def test_digest_forms(shown, longest, form):
    hash_, size = longest.split(':')
    (action,) = json.loads(show(shown, 'digest', '--json', form.format(h=hash_, s=size, p=hash_[:12])).stdout)
    assert action['action'][0]['digest'] == longest
    (result,) = action['results']
    (stored,) = rows(shown.db, 'SELECT * FROM usage WHERE digest = ?', longest)
    for name in ('source', 'wall_s', 'cpu_s', 'cores', 'max_rss_bytes', 'worker', 'pool', 'pod', 'executed_by',
                 'queued_s', 'fetch_s', 'upload_s', 'exit_code'):
        assert result[name] == stored[name], name
    assert result['execution_start_utc'] == stored['executed_utc'].replace(' ', 'T') + 'Z'
    referred = {r['run'] for r in rows(shown.db, 'SELECT run FROM run_usage WHERE digest = ?', longest)}
    assert {attempt['run'] for attempt in action['attempts']} == referred


def test_digest_page(shown, longest):
    text = show(shown, 'digest', longest, FAILED).stdout
    assert text.count('\nreferred to by:\n') == 2
    assert text.count('\nstored result:\n') == 2
    assert '  source                     historical\n' in text and '  attempt                    0\n' in text
    assert 'missing_because' not in text
    assert '\nwhat the log says of it:\n' in text
    assert not re.search(r'[\x00-\x09\x0b-\x1f\x7f-\x9f]', text), 'what a log holds does not reach the terminal raw'


def test_digest_tells_what_a_result_ran_under(br2, project, tmp_path):
    """Whose word it is, too; without any there is no line."""
    db, logs = tmp_path / 'br2.db', project('demo-x86_64')
    br2.run(logs, '--db', db, '--no-report', '--replay', RECORDING)
    digest = value(db, 'SELECT digest FROM usage LIMIT 1')
    assert 'given_by' not in br2.run('digest', digest, '--db', db).stdout
    br2.run(logs, '--db', db, '--no-report', '--no-remote', '--valid-from', '2026-01-01',
            '--values', harness.ROOT / 'tests/data/cluster/values.yaml')
    text = br2.run('digest', digest, '--db', db).stdout
    for name, shown_value in (('given_by', 'pool_spec'), ('cpu_request', '4.5'), ('mem_request_gib', '9'), ('mem_limit_gib', '9')):
        assert f'  {name:<26} {shown_value}\n' in text
    assert 'ctr_' not in text and 'cpu_limit' not in text


def test_digest_shows_the_evidence_of_a_kill(shown):
    (kill,) = rows(shown.db, "SELECT digest FROM oom_kills WHERE identifier = 'bad-oom'")
    text = show(shown, 'digest', kill['digest']).stdout
    assert '\nevidence of a kill for memory:\n' in text
    assert '  evidence_action            exit code 137: its shell saw a child killed\n' in text
    assert '  evidence_text              Killed\n' in text
    (fine,) = rows(shown.db, "SELECT digest FROM usage WHERE identifier = 'bad-exit'")
    assert 'evidence of a kill' not in show(shown, 'digest', fine['digest']).stdout


def test_digest_says_why_a_failed_action_has_no_result(shown):
    """A timeout: its link is lost."""
    (timeout,) = rows(shown.db, "SELECT digest FROM missing_results WHERE identifier = 'bad-timeout'")
    text = show(shown, 'digest', timeout['digest']).stdout
    assert '  missing_because            failed\n' in text and '\nstored result:\n' not in text
    assert '  no_numbers_because         timed out: the worker told no usage, and Buck2 drops the link\n' in text


def test_digest_by_the_link_of_a_failed_result(shown):
    (found,) = [h for h in harness.expected('failures')['historical'] if h['digest'].startswith(FAILED)]
    link = f"http://h:1/demo-x86_64/blobs/sha256/historical_execute_response/{found['link'].replace(':', '-')}/"
    (action,) = json.loads(show(shown, 'digest', '--json', link).stdout)
    assert action['action'][0]['digest'] == found['digest']


def test_digest_ambiguous(shown):
    """Four digits are few among two thousand hashes: candidates are listed."""
    prefix = value(shown.db, "SELECT substr(digest, 1, 4) FROM usage GROUP BY 1 HAVING count(*) > 1 LIMIT 1")
    said = show(shown, 'digest', prefix, code=3)
    assert said.stdout == ''
    listed = [line for line in said.stderr.splitlines() if line.startswith(prefix)]
    assert len(listed) > 1 and all(re.fullmatch(r'[0-9a-f]{64}:\d+  \S.*', line) for line in listed)


@pytest.mark.parametrize('text', ['abc', 'not a digest', 'f' * 64 + ':1', ''])
def test_digest_unknown(shown, text):
    said = show(shown, 'digest', text, code=3)
    assert said.stdout == '' and len(said.stderr.splitlines()) == 1


# ---- views ------------------------------------------------------------------------------------

def canned(db):
    return [r['name'] for r in rows(db, "SELECT name FROM canned_view ORDER BY name")]


def test_views_are_listed_with_their_docs(br2, shown):
    text = br2.run('views').stdout
    listed = set(re.findall(r'^(\w+) +\S', text.split('\n\n')[0], re.MULTILINE))
    assert listed == {name for name in canned(shown.db)
                      if not name.startswith('_') and not name.endswith(('_by_project', '_by_run', '_by_invocation'))}


def test_every_view_tells_its_columns_and_its_statement(br2, shown):
    for name in canned(shown.db):
        columns = [r['name'] for r in rows(shown.db, 'SELECT name FROM pragma_table_info(?)', name)]
        told = br2.run('views', name).stdout
        assert re.findall(r'^  (\w+)(?: |$)', told, re.MULTILINE) == columns, name
        statement = br2.run('views', name, '--sql').stdout
        assert statement == value(shown.db, 'SELECT sql FROM sqlite_schema WHERE name = ?', name) + ';\n'


def test_views_rows(shown):
    text = show(shown, 'views', 'summary', '--format', 'jsonl').stdout
    assert [json.loads(line) for line in text.splitlines()] == rows(shown.db, 'SELECT * FROM summary')


def test_views_unknown(br2):
    assert 'nonsense' in br2.run('views', 'nonsense', code=3).stderr
    br2.run('views', 'summary', 'usage', code=3)
    br2.run('views', '--sql', code=3)


# ---- sql ----------------------------------------------------------------------------------------

def test_sql_shows_a_box(shown):
    text = show(shown, 'sql', 'SELECT count(*) AS n FROM run').stdout
    assert '│ n  │' in text and '│ 18 │' in text


def test_sql_takes_several_statements(shown):
    text = show(shown, 'sql', '.mode csv', 'SELECT 1 AS a;', 'SELECT 2 AS b').stdout
    assert text.splitlines() == ['a', '1', 'b', '2']


def test_sql_is_read_only_unless_asked(br2, project, tmp_path):
    db = tmp_path / 'br2.db'
    br2.run(project('flaky'), '--db', db, '--no-remote', '--no-report')
    change = "UPDATE setting SET value = 90 WHERE key = 'heavy_wall_s'"
    said = br2.run('sql', '--db', db, change, code=8)  # the shell's own: SQLITE_READONLY
    assert 'readonly' in said.stderr
    br2.run('sql', '--db', db, '--write', change)
    assert value(db, "SELECT value FROM setting WHERE key = 'heavy_wall_s'") == 90


def settings_of(db):
    return {row['key']: row['value'] for row in rows(db, 'SELECT key, value FROM setting')}


def test_a_deleted_setting_comes_back_as_it_was_shipped(br2, project, tmp_path):
    db, logs = tmp_path / 'br2.db', project('flaky')
    br2.run(logs, '--db', db, '--no-remote', '--no-report')
    shipped = settings_of(db)
    br2.run('sql', '--db', db, '--write', "UPDATE setting SET value = 90 WHERE key = 'heavy_wall_s'",
            "DELETE FROM setting WHERE key IN ('heavy_cores', 'compare_floor_s', 'runner_container')")
    assert len(settings_of(db)) == len(shipped) - 3
    br2.run(logs, '--db', db, '--no-remote', '--no-report')
    assert settings_of(db) == {**shipped, 'heavy_wall_s': 90}
    before = db.read_bytes()
    br2.run(logs, '--db', db, '--no-remote', '--no-report')
    assert db.read_bytes() == before


@pytest.mark.parametrize('key, value', [('heavy_cores', "'lots'"), ('heavy_cores', "'4'"), ('heavy_cores', '-1'), ('heavy_cores', '9e999'),
                                        ('sizing_step_mib', '0'), ('outlier_results', '1'), ('portal_url', '7'), ('runner_container', "x'41'")])
def test_a_setting_takes_no_value_that_no_view_could_judge_by(br2, project, tmp_path, key, value):
    db = tmp_path / 'br2.db'
    br2.run(project('flaky'), '--db', db, '--no-remote', '--no-report')
    said = br2.run('sql', '--db', db, '--write', f"UPDATE setting SET value = {value} WHERE key = '{key}'", code=19)
    assert 'a number from 0 on' in said.stderr and 'a text' in said.stderr


def test_sql_without_the_shell(shown, tmp_path):
    said = show(shown, 'sql', 'SELECT 1', code=2, env={'PATH': str(tmp_path)})
    assert 'apt-get install sqlite3' in said.stderr and str(shown.db) in said.stderr


# ---- export ---------------------------------------------------------------------------------------

def read_csv(path):
    """Header and rows as text; every line ends with CRLF outside of quotes."""
    text = path.read_bytes().decode('utf-8')
    assert text.endswith('\r\n')
    assert '\n' not in re.sub(r'"(?:[^"]|"")*"', '', text).replace('\r\n', '')
    return list(csv.reader(io.StringIO(text, newline='')))


def same(got, want):
    if want is None:
        return got == ''
    return float(got) == want if isinstance(want, (int, float)) else got == want


def check_export(path, wanted):
    header, *lines = read_csv(path)
    if wanted:
        assert header == list(wanted[0])
    for line, row in zip(lines, wanted, strict=True):
        for got, want in zip(line, row.values(), strict=True):
            assert same(got, want), (path.name, got, want)


def test_export_writes_every_canned_view(shown, tmp_path):
    show(shown, 'export', '--csv', tmp_path / 'sheets')
    names = [name for name in canned(shown.db)
             if not name.startswith(('_', 'run_compare')) and not name.endswith(('_by_project', '_by_run', '_by_invocation'))]
    assert sorted(os.listdir(tmp_path / 'sheets')) == [f'{name}.csv' for name in names]
    for name in names:
        check_export(tmp_path / f'sheets/{name}.csv', rows(shown.db, f'SELECT * FROM {name}'))


def test_export_of_one_project(shown, tmp_path):
    show(shown, 'export', '--csv', tmp_path, '--project', 'qemu-mini', 'summary', 'usage')
    check_export(tmp_path / 'summary.csv',
                 rows(shown.db, "SELECT * FROM summary_by_project WHERE project = 'qemu-mini'"))
    check_export(tmp_path / 'usage.csv', rows(shown.db, "SELECT * FROM usage WHERE project = 'qemu-mini'"))
    said = show(shown, 'export', '--csv', tmp_path, '--project', 'qemu-mini', 'setting', code=3)
    assert 'setting' in said.stderr


def test_export_of_all_views_of_one_project(shown, tmp_path):
    """By project, run or invocation; what has none of these is named in one line."""
    said = show(shown, 'export', '--csv', tmp_path / 'all', '--project', 'qemu-mini').stderr
    of_project = {'project': {'qemu-mini'}, 'run': {row['run'] for row in rows(
        shown.db, "SELECT trace_id AS run FROM run JOIN project USING (project_id) WHERE name = 'qemu-mini'")},
                  'invocation': {row['invocation'] for row in rows(shown.db, "SELECT invocation FROM executions WHERE project = 'qemu-mini'")}}
    filled = set()
    for path in (tmp_path / 'all').iterdir():
        header, *lines = read_csv(path)
        column = next(column for column in of_project if column in header)
        assert {line[header.index(column)] for line in lines} <= of_project[column], path.name
        filled |= {path.stem} if lines else set()
    assert {'critical_path', 'critical_packages', 'concurrency', 'concurrency_summary', 'worker_skew'} <= filled
    _, told = said.splitlines()
    assert told.endswith(': sample_coverage, sample_intervals, shape_fit_by_package, unexplained_terminations, '
                         'waste_by_package, worker_minutes, worker_peaks, workers')


def test_export_for_a_spreadsheet(shown, tmp_path):
    """A mark in front, formulas and texts like numbers disarmed, numbers left alone, times as LibreOffice knows them."""
    view = ("CREATE VIEW \"odd one\" AS SELECT '=1+1' AS a, '-x' AS b, '@' AS c, -5 AS n, -0.5 AS r, NULL AS u, "
            "'' AS e, 'a;=b' AS s, char(9) || '=1' AS t, 'x' || char(10) || '\"y\"' AS q, '007' AS z, "
            "'2026-11-30 03:04:05.678' AS d, '2026-11-30 03:04:05.678' AS d_utc, '=1' AS e_utc")
    show(shown, 'sql', '--write', view)
    try:
        show(shown, 'export', '--csv', tmp_path, '--spreadsheet', 'odd one')
        assert (tmp_path / 'odd one.csv').read_bytes() == (
            b"\xef\xbb\xbfa,b,c,n,r,u,e,s,t,q,z,d,d_utc,e_utc\r\n'=1+1,'-x,'@,-5,-0.5,,\"\",\"a;=b\",\"'\t=1\",\"x\n\"\"y\"\"\","
            b"'007,'2026-11-30 03:04:05.678,2026-11-30T03:04:05.678,'=1\r\n")
        show(shown, 'export', '--csv', tmp_path, '--decimal-comma', 'odd one')
        assert (tmp_path / 'odd one.csv').read_bytes() == (
            b"\xef\xbb\xbfa;b;c;n;r;u;e;s;t;q;z;d;d_utc;e_utc\r\n'=1+1;'-x;'@;-5;\"-0,5\";;\"\";\"a;=b\";\"'\t=1\";\"x\n\"\"y\"\"\";"
            b"'007;'2026-11-30 03:04:05.678;2026-11-30T03:04:05.678;'=1\r\n")
        show(shown, 'export', '--csv', tmp_path, 'odd one')
        assert (tmp_path / 'odd one.csv').read_bytes() == (
            b'a,b,c,n,r,u,e,s,t,q,z,d,d_utc,e_utc\r\n"=1+1","-x","@",-5,-0.5,,"","a;=b","\t=1","x\n""y""",'
            b'"007","2026-11-30 03:04:05.678",2026-11-30 03:04:05.678,"=1"\r\n')
    finally:
        show(shown, 'sql', '--write', 'DROP VIEW "odd one"')


def test_export_trouble(shown, tmp_path):
    show(shown, 'export', code=3)
    show(shown, 'export', '--csv', tmp_path, 'no_such_view', code=3)
    show(shown, 'export', '--csv', tmp_path, '../x', code=3)
    show(shown, 'export', '--csv', tmp_path / 'not/there', 'summary', code=2)
    (tmp_path / 'summary.csv').mkdir()
    show(shown, 'export', '--csv', tmp_path, 'summary', code=2)
    assert os.listdir(tmp_path) == ['summary.csv'], 'no temporary file stays'
    said = show(shown, 'export', '--csv', tmp_path, 'no_such_view', 'runs', code=3)
    assert "no view or table 'no_such_view'" in said.stderr and (tmp_path / 'runs.csv').exists()


def test_export_is_of_one_moment(shown, tmp_path):
    """Somebody commits after the first file is there: the last one does not tell of it, and he need only wait."""
    db, sheets = tmp_path / 'br2.db', tmp_path / 'sheets'
    shutil.copy(shown.db, db)
    with contextlib.closing(sqlite3.connect(db, timeout=100)) as writer:
        writer.executescript("""
            CREATE TABLE note (n);
            INSERT INTO note VALUES ('before');
            CREATE VIEW slow AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 4000000)
                SELECT max(n) FROM c;
            CREATE VIEW again AS SELECT n FROM note;""")
        export = shown.start('export', '--csv', sheets, '--db', db, 'note', 'slow', 'again')
        while not (sheets / 'note.csv').exists():
            assert export.poll() is None
            time.sleep(0.01)
        writer.execute("UPDATE note SET n = 'after'")
        writer.commit()
    _, messages = export.communicate(timeout=100)
    assert export.returncode == 0, messages
    for name in ('note', 'again'):
        assert read_csv(sheets / f'{name}.csv') == [['n'], ['before']]
    assert value(db, 'SELECT n FROM note') == 'after'


def test_export_goes_on_after_a_view_that_fails(shown, tmp_path):
    """It is named; the others are written. A view of ours that somebody changed does not fail: the program has its own."""
    canned_sql = rows(shown.db, "SELECT sql FROM sqlite_schema WHERE name = 'phases'")[0]['sql']
    show(shown, 'export', '--csv', tmp_path / 'all')
    whole = set(os.listdir(tmp_path / 'all'))
    show(shown, 'sql', '--write', 'DROP VIEW phases; CREATE VIEW phases AS SELECT no_such_column FROM run;'
         'CREATE VIEW broken AS SELECT no_such_column FROM run')
    try:
        show(shown, 'export', '--csv', tmp_path / 'same')
        assert (tmp_path / 'same/phases.csv').read_text() == (tmp_path / 'all/phases.csv').read_text()
        (tmp_path / 'less/phases.csv').mkdir(parents=True)
        said = show(shown, 'export', '--csv', tmp_path / 'less', code=2)
        (error,) = [line for line in said.stderr.splitlines() if 'error' in line]
        assert 'phases is not written: ' in error and 'Is a directory' in error
        assert set(os.listdir(tmp_path / 'less')) == whole
        assert f'{len(whole) - 1} views written to' in said.stderr
        said = show(shown, 'export', '--csv', tmp_path / 'named', 'broken', 'runs', 'no_such_view', code=2)
        assert 'broken is not written: ' in said.stderr and 'no_such_column' in said.stderr
        assert os.listdir(tmp_path / 'named') == ['runs.csv']
    finally:
        show(shown, 'sql', '--write', f'DROP VIEW broken; DROP VIEW phases; {canned_sql}')
