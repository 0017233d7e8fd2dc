"""Names and texts that a terminal obeys, a browser runs or a spreadsheet computes: whatever the verb, none leaves as such."""
import csv
import io
import json
import re
import sqlite3

from harness import value
from test_hostile_db import finish
from test_secrets import TRACE, config, event

# Moves the cursor, sets the title, turns writing round, ends an element, is a formula.
NASTY = '\x1b[2J\x1b]0;x\x07\x9b31m\x7f\u202eevil\u2066</text><script>alert(1)</script>"\'&\r\n=1+1'
OTHER = '22222222-2222-3333-4444-555555555555'
DANGEROUS = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]')


def attempt(number, status):
    remote = {'action_digest': f'{number:02x}' * 32 + ':140', 'cache_hit': False, 'cache_hit_type': 2, 'use_case': NASTY,
              'platform': {'properties': [{'name': NASTY, 'value': NASTY}]}}
    return {'details': {'signed_exit_code': 0 if status == 'Success' else 1, 'stdout': '', 'additional_message': NASTY,
                        'stderr': NASTY, 'command_kind': {'command': {'RemoteCommand': remote}}, 'metadata': None},
            'status': {status: {'error': NASTY, 'stage': NASTY} if status == 'Error' else {}}}


def ended(trace, span, number, status):
    end = {'key': {'owner': {'TargetLabel': {'label': {'package': 'root//' + NASTY, 'name': NASTY}, 'configuration': {'full_name': NASTY}}}},
           'kind': 'Run', 'name': {'category': NASTY, 'identifier': NASTY}, 'failed': status != 'Success', 'execution_kind': 2,
           'commands': [attempt(number, status)], 'error': None}
    record = event({'SpanEnd': {'duration_us': 1000000, 'data': {'ActionExecution': end}}}, span=span)
    record['Event']['trace_id'] = trace
    return record


def write_log(folder, trace):
    records = [{'command_line_args': ['buck2', 'build', NASTY], 'expanded_command_line_args': ['buck2', NASTY], 'working_dir': '/w/' + NASTY,
                'trace_id': trace, 'start_time': [1796003972, 0]},
               event({'Instant': {'data': {'BuckconfigInputValues': {'components': [{'data': {'ConfigValue': config('a', 'b', NASTY, True)}}]}}}}),
               *(ended(trace, n, n, status) for n, status in enumerate(['Success', 'Failure', 'Error', 'Success'], 1))]
    records[1]['Event']['trace_id'] = trace
    path = folder / f'20261130-020000_build_{trace}_events.json-lines'
    path.write_text(''.join(json.dumps(record) + '\n' for record in records))
    return path


def store_results(db):
    """What a server would say, and a stranger's database: texts that no log can hold."""
    connection = sqlite3.connect(db)
    with connection:
        connection.execute("INSERT INTO worker (name) VALUES (?)", (NASTY,))
        connection.execute("""INSERT INTO result (lookup_id, source, wall_ns, cpu_ns, max_rss_bytes, exit_code, termination_signal, worker_id,
            name_id, package_id, project_id, first_run_id, category_id) SELECT l.lookup_id, 1, 9000000000, 8000000000, 1 << 30, 137, ?,
            (SELECT worker_id FROM worker), l.name_id, t.package_id, g.project_id, l.first_run_id, n.category_id FROM lookup l
            JOIN action_name n USING (name_id) JOIN target t USING (target_id) JOIN run g ON g.run_id = l.first_run_id""", (NASTY,))
        connection.execute('UPDATE lookup SET state = 7, message = ? WHERE lookup_id = 2', (NASTY,))
        connection.execute('UPDATE project SET name = ?', ('p' + NASTY,))
        connection.execute('UPDATE run SET trace_id = trace_id || ?, error = ?, host = ?', (NASTY, NASTY, NASTY))
        connection.execute("INSERT INTO oom_pattern VALUES (?, ?)", (NASTY, NASTY))
    connection.close()


def everything(br2, db, folder):
    """{name: text} of all that the verbs print and write."""
    digest = value(db, 'SELECT digest FROM lookup WHERE lookup_id = 2')
    verbs = {'report': ['report', '--all'], 'json': ['report', '--all', '--json'], 'csv': ['report', '--all', '--format', 'csv'],
             'jsonl': ['report', '--all', '--format', 'jsonl'], 'table': ['report', '--all', '--format', 'table'],
             'html': ['report', '--all', '--html', folder / 'page.html'], 'check': ['check', '--all', '--max-oom', '0', '--max-rss', '1MiB'],
             'integrity': ['check', '--integrity'], 'plan': ['plan', '--all', '--shape', 'big=6,8GiB,8GiB'], 'plan json': ['plan', '--all', '--json'],
             'compare': ['compare', TRACE, OTHER], 'compare json': ['compare', TRACE, OTHER, '--json'], 'nobody': ['compare', NASTY, '2'],
             'digest': ['digest', digest], 'digest json': ['digest', digest, '--json'], 'views': ['views', 'usage', '--format', 'table'],
             'export': ['export', '--csv', folder / 'csv', 'usage', 'failures', 'runs', 'attempt_text', 'worker', 'packages'],
             'sheets': ['export', '--csv', folder / 'sheets', '--spreadsheet', 'usage', 'failures', 'runs', 'attempt_text', 'worker', 'packages'],
             'no view': ['export', '--csv', folder / 'csv', NASTY], 'no file': ['ingest', folder / NASTY.replace('/', ''), '--no-remote'],
             'no project': ['report', '--project', NASTY]}
    said = {}
    for name, words in verbs.items():
        out, err, code = finish(br2.start(*words, '--db', db))
        assert code in (0, 2, 3, 4), (name, err)
        said[name], said[name + ' (messages)'] = out, err
    for file in folder.rglob('*.*'):
        if file.is_file():
            said[str(file.relative_to(folder))] = file.read_bytes().decode()
    return said


def test_nothing_nasty_leaves(br2, tmp_path):
    db = tmp_path / 'br2.db'
    logs = [write_log(tmp_path, trace) for trace in (TRACE, OTHER)]
    said = br2.run(*logs, '--db', db, '--no-remote', '--project', 'p' + NASTY)
    store_results(db)
    (tmp_path / 'out').mkdir()
    texts = {**everything(br2, db, tmp_path / 'out'), 'ingest': said.stdout, 'ingest (messages)': said.stderr}
    assert {name for name, text in texts.items() if 'evil' in text} >= {
        'report', 'json', 'csv', 'jsonl', 'table', 'page.html', 'check', 'compare', 'digest', 'digest json', 'views', 'csv/usage.csv',
        'sheets/usage.csv', 'csv/failures.csv', 'csv/attempt_text.csv', 'no view (messages)', 'no file (messages)', 'no project (messages)'}
    for name, text in texts.items():
        found = DANGEROUS.search(text.replace('\r\n', '\n') if name.endswith('csv') else text)
        # A CR inside of a CSV field is data: there it is in quotes.
        assert not found or (name.endswith('csv') and found.group() == '\r'), (name, text[max(0, found.start() - 60):found.end() + 60])
    assert '<script>alert' not in texts['page.html']


def test_no_formula_in_a_sheet(br2, tmp_path):
    db = tmp_path / 'br2.db'
    br2.run(write_log(tmp_path, TRACE), '--db', db, '--no-remote', '--no-report')
    connection = sqlite3.connect(db)
    with connection:
        connection.execute("UPDATE package SET name = '=1+1'")
        connection.execute("UPDATE category SET name = '@SUM(1)'")
        connection.execute("UPDATE action_name SET identifier = '-' || name_id || '+cmd|'' /C calc''!A0'")
    connection.close()
    br2.run('export', '--csv', tmp_path / 'sheets', '--spreadsheet', '--db', db, 'failures', 'package', 'category', 'action_name')
    fields = [field for file in (tmp_path / 'sheets').iterdir()
              for row in csv.reader(io.StringIO(file.read_text(encoding='utf-8-sig'), newline='')) for field in row]
    assert {"'=1+1", "'@SUM(1)"} <= set(fields)
    assert [f for f in fields if re.match(r'[=@+\t\r-]', f)] == []
