"""Two runs side by side, as a person and as a program get them. The pages in tests/golden/ are
written anew by BR2_INGEST=PROGRAM /usr/bin/python3 tests/e2e/test_compare.py --update"""
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

import pytest

import harness
from harness import rows

RECORDING = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
GOLDEN = harness.ROOT / 'tests/golden'
COLD, LATER = 'ebb4affa-bb6d-4c4c-9946-31c980b6c3a4', '6746f215-b757-49e7-a3f5-6faa62cecebf'
DEMO = '7a7970ab-ddb2-4e22-aef8-1f68a7d85f21'
NATIVE = '0a4afb48-2807-4cc3-b075-c88e410758a7'
SALT, SALT_NATIVE = 'wrapped-remote-cache-30022034', 'native-remote-cache-30022046'
# Two lost cold runs; wrapped against native by salts; runs with logs, of which the second has new failures.
PAGES = {'lost': [COLD[:8], LATER], 'native': [SALT, SALT_NATIVE], 'cells': ['last-1', 'last', '--project', 'demo-x86_64'],
         'failures': ['last-1', 'last', '--project', 'failures'], 'top': [COLD, LATER, '--top', '1']}


def make(folder):
    """The program, with three samples in its database."""
    program = harness.Program(os.environ['BR2_INGEST'], folder)
    program.db, program.projects = folder / 'br2.db', folder / 'experiments'
    samples = [harness.copy_sample(sample, program.projects) for sample in ('demo-x86_64', 'cells', 'failures')]
    program.run(*samples, '--db', program.db, '--replay', RECORDING, '--no-report')
    # One package takes three times as long in the native build, which no floor hides; another one runs there
    # under another memory limit.
    db = sqlite3.connect(program.db)
    db.executescript(f"""
        UPDATE result SET wall_ns = wall_ns * 3 WHERE package_id = (SELECT package_id FROM package WHERE name = 'host-gcc-final')
            AND request_id IN (SELECT request_id FROM request WHERE invocation = '{NATIVE}');
        INSERT INTO allotment (allotment_id, source, memory_limit_bytes) VALUES (1, 2, 4294967296), (2, 2, 9663676416);
        UPDATE result SET allotment_id = 1 + (request_id IN (SELECT request_id FROM request WHERE invocation = '{NATIVE}'))
            WHERE package_id = (SELECT package_id FROM package WHERE name = 'host-cmake');""")
    db.commit()
    db.close()
    return program


@pytest.fixture(scope='module')
def shown(tmp_path_factory):
    return make(tmp_path_factory.mktemp('compare'))


def compare(program, *args, code=0, **kwargs):
    return program.run('compare', *args, '--db', program.db, code=code, **kwargs)


@pytest.mark.parametrize('name', PAGES)
def test_page(shown, name):
    assert compare(shown, *PAGES[name]).stdout == (GOLDEN / f'compare-{name}.txt').read_text()


def test_page_names_the_change_and_the_limits(shown):
    text = compare(shown, SALT, SALT_NATIVE).stdout
    assert 'packages: 1 slower, 7 within noise, 1 only in A, 1 under other memory limits\n' in text
    assert 'packages that changed most: (1 of 1 shown)' in text and 'packages only in A: host-zlib\n' in text
    assert 'packages under other memory limits: host-cmake (4 and 9 GiB)\n' in text
    lines = {line[:32].strip(): line.split()[-2:] for line in text.splitlines()}
    assert lines['wall s of the actions'] == lines['max RSS GiB, one process'] == ['-', '-']
    assert 'A: the cold run of that cell, by its results, as its log is gone; also known: 7605d628 (warm)\n' in text


def test_figures_are_those_of_the_views(shown):
    text = compare(shown, COLD, LATER).stdout
    for side, run in (('a', COLD), ('b', LATER)):
        (row,) = rows(shown.db, f"SELECT sum(wall_{side}_s) AS wall, sum(cpu_{side}_s) AS cpu, sum(actions_{side}) AS n"
                                f' FROM run_compare WHERE run_a = ? AND run_b = ?', COLD, LATER)
        lines = {line[:32].strip(): line[32:].split() for line in text.splitlines()}
        at = 'ab'.index(side)
        assert float(lines['wall s of the actions'][at]) == pytest.approx(row['wall'], abs=0.06)
        assert float(lines['cpu s'][at]) == pytest.approx(row['cpu'], abs=0.06)
        assert int(lines['actions with a command'][at]) == row['n'] == 20


def test_json_has_the_rows_of_the_views(shown):
    found = json.loads(compare(shown, COLD, NATIVE, '--json').stdout)
    assert list(found) == ['runs', 'packages', 'actions', 'failures', 'kills']
    assert [r['run'] for r in found['runs']] == [COLD, NATIVE]
    assert [r['log'] for r in found['runs']] == ['gone', 'gone'] and found['runs'][0]['pass'] == 'cold'
    for member, view in (('packages', 'run_compare_packages'), ('actions', 'run_compare')):
        wanted = rows(shown.db, f'SELECT * FROM {view} WHERE run_a = ? AND run_b = ?', COLD, NATIVE)
        by = [(lambda r: (r['package'], r.get('category'), r.get('identifier')))]
        assert sorted(found[member], key=by[0]) == sorted(wanted, key=by[0])
    assert found['packages'][0]['status'] == 'slower'


def test_cold_and_warm_of_a_cell_are_one_execution(shown):
    (warm,) = [r['invocation'] for r in rows(shown.db, "SELECT invocation FROM cells WHERE salt = ? AND run = 'warm'", SALT)]
    text = compare(shown, SALT, warm).stdout
    assert 'packages: 10 one and the same execution\nactions: 20 one and the same execution\n' in text
    assert 'B - A' in text and 'packages that changed most' not in text


def test_last_is_of_the_project_around(shown):
    newest = [r['run'] for r in rows(shown.db, "SELECT run FROM runs WHERE project = 'qemu-mini' ORDER BY started_utc DESC")]
    text = compare(shown, 'last-1', 'last', cwd=shown.projects / 'cells').stdout
    assert text.splitlines()[1].split() == ['run', newest[1], newest[0]]
    assert 'A: last-1 of qemu-mini, 7 runs, 6 cells\n' in text


@pytest.mark.parametrize('words, said', [
    (['last'], 'compare wants two runs'),
    ([COLD, COLD], 'A and B are the same run'),
    ([COLD, 'dead'], "no run 'dead': it is the beginning of a trace id"),
    ([COLD[:3], LATER], f"no run '{COLD[:3]}'"),
    ([COLD, 'last-x'], "no run 'last-x'"),
    (['last', 'last-99', '--all'], 'last-99: there are not so many runs with actions (the whole file: '),
    (['last', 'last-1', '--project', 'nothing'], '--project nothing: no run of it is stored'),
    ([COLD, 'cellA'], 'A is a run of project qemu-mini, B of demo-x86_64: only runs of one project are compared; --project NAME'),
    (['last', COLD, '--all'], 'only runs of one project are compared; --project NAME says whose last run or salt is meant\n'),
    ([COLD, DEMO], 'only runs of one project are compared\n'),
])
def test_words_that_name_no_pair(shown, words, said):
    done = compare(shown, *words, code=3)
    assert said in done.stderr and done.stdout == '' and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize('key', ['compare_floor_s', 'compare_floor_pct', 'compare_noise', 'compare_repeats'])
def test_without_a_setting_nothing_is_said_to_differ(shown, tmp_path, key):
    shutil.copy(shown.db, tmp_path / 'x.db')
    with sqlite3.connect(tmp_path / 'x.db') as db:
        db.execute('DELETE FROM setting WHERE key = ?', (key,))
    done = shown.run('compare', COLD, LATER, '--db', tmp_path / 'x.db', code=3)
    assert 'compare_*' in done.stderr and done.stdout == ''


def test_ambiguous_beginning_lists_the_candidates(shown, tmp_path):
    """Of runs with a log and of one whose log is gone."""
    shutil.copy(shown.db, tmp_path / 'x.db')
    db = sqlite3.connect(tmp_path / 'x.db')
    db.execute("UPDATE run SET trace_id = 'abcd0001' WHERE trace_id GLOB '43dd9231*'")
    db.execute("UPDATE request SET invocation = 'abcd0002' WHERE invocation = ?", (COLD,))
    db.commit()
    db.close()
    done = shown.run('compare', 'abcd', 'last', '--db', tmp_path / 'x.db', code=3)
    assert done.stderr.splitlines() == ['abcd0002  2026-11-30 02:20:35  its log is gone', 'abcd0001  2026-11-30 02:21:26  qemu-mini',
                                        "br2-ingest: error: 'abcd' begins 2 trace ids"]
    assert 'abcd0002' in shown.run('compare', 'abcd0002', LATER, '--db', tmp_path / 'x.db').stdout


def test_a_salt_of_two_projects(shown, tmp_path):
    """That of the scope's project is meant; where both are in the scope, or none, they are listed."""
    path = tmp_path / 'x.db'
    shutil.copy(shown.db, path)
    db = sqlite3.connect(path)
    db.execute("INSERT OR REPLACE INTO run_config (run_id, key, value) SELECT run_id, 'br2.cache_salt', ? FROM run"
               " JOIN project USING (project_id) WHERE name = 'failures' ORDER BY start_ns LIMIT 1", (SALT,))
    db.commit()
    db.close()

    def run(*words, **more):
        return shown.run('compare', *words, '--db', path, **more)
    ours, theirs = (rows(path, 'SELECT invocation FROM cells WHERE (salt, project) = (?, ?) ORDER BY run, started_utc',
                         SALT, project)[0]['invocation'] for project in ('qemu-mini', 'failures'))
    words = [SALT, SALT_NATIVE]
    assert run(*words, '--project', 'qemu-mini').stdout.splitlines()[1].split()[1] == ours
    assert run(*words, cwd=shown.projects / 'cells').stdout.splitlines()[1].split()[1] == ours
    assert run(SALT, 'last', '--project', 'failures').stdout.splitlines()[1].split()[1] == theirs
    for options in (['--all'], ['--project', 'demo-x86_64']):
        said = run(*words, *options, code=3)
        *listed, error = said.stderr.splitlines()
        assert f"'{SALT}' is the salt of {len(listed)} runs, of more than one project" in error
        assert {line.split()[-1] for line in listed} == {'qemu-mini', 'failures'}
    # Elsewhere, but one: as before.
    assert run(SALT_NATIVE, LATER, '--project', 'demo-x86_64').stdout


def update():
    with tempfile.TemporaryDirectory() as folder:
        program = make(Path(folder))
        for name, words in PAGES.items():
            (GOLDEN / f'compare-{name}.txt').write_text(compare(program, *words).stdout)


if __name__ == '__main__':
    if sys.argv[1:] != ['--update']:
        sys.exit(__doc__)
    update()
