"""What a path is called, what a configuration may be, and which server several projects name."""
import os
import re
import shutil

import pytest

import harness
from harness import value

RESULTS = 'SELECT count(*) FROM result WHERE source = 1'


@pytest.fixture
def db(tmp_path):
    return tmp_path / 'br2.db'


def configure(root, *lines):
    (root / '.buckconfig.local').write_text('[buck2_re_client]\n' + ''.join(f'{line}\n' for line in lines))


# ---- paths ---------------------------------------------------------------------------------

def test_a_linked_buck_out(br2, project, db, tmp_path):
    """Logs keep the name that they were found under; a report takes it, and the real one of a linked place."""
    root = project('flaky')
    (root / 'buck-out').rename(tmp_path / 'disk')
    (root / 'buck-out').symlink_to('../disk')
    br2.run(root, '--db', db, '--no-remote', '--no-report')
    (tmp_path / 'alias').symlink_to(root)
    for path in (root, root / 'buck-out/v2/log', tmp_path / 'alias', 'flaky/./buck-out', 'alias/../flaky'):
        shown = br2.run('report', path, '--db', db, cwd=tmp_path)
        assert shown.stdout.splitlines()[0] == 'flaky, 3 runs', path
    assert 'no stored log' in br2.run('report', tmp_path / 'home', '--db', db, code=3).stderr
    assert 'none/../flaky' in br2.run('report', 'none/../flaky', '--db', db, cwd=tmp_path, code=3).stderr


def test_a_path_that_is_no_utf_8(br2, project, db, tmp_path):
    root = os.path.join(os.fsencode(tmp_path), b'caf\xe9')
    shutil.move(project('flaky'), os.fsdecode(root))
    shown = br2.run(os.fsdecode(root), '--db', db, '--no-remote')
    assert ', 3 runs' in shown.stdout.splitlines()[0]
    shown = br2.run('report', os.fsdecode(root), '--db', db)
    assert ', 3 runs' in shown.stdout.splitlines()[0]


@pytest.mark.parametrize('verb', [['report'], ['report', '--json'], ['export', '--csv', 'sheets']])
def test_a_project_that_is_not_there(br2, project, db, tmp_path, verb):
    for number, log in enumerate(harness.log_files(project('demo-x86_64')) + harness.log_files(project('cells'))):
        br2.run(log, '--db', db, '--no-remote', '--no-report', '--project', f'p{number:02}')
        if number not in (1, 12):
            continue
        said = br2.run(*verb, '--project', 'nosuch', '--db', db, code=3, cwd=tmp_path)
        assert said.stdout == '' and said.stderr.count('\n') == 1 and 'nosuch' in said.stderr
        assert said.stderr.rstrip().endswith('p00, p01' if number == 1 else 'p08, p09 and 3 more')
        assert not (tmp_path / 'sheets').exists()
    br2.run(*verb, '--project', 'p00', '--db', db, cwd=tmp_path)


# ---- configuration -----------------------------------------------------------------------------

@pytest.mark.parametrize('kind', ['loop', 'missing', 'include of a folder', 'folder', 'nul', 'pipe',
                                  'include of a pipe'])
def test_a_configuration_that_cannot_be_read(br2, project, db, kind):
    """It could name another server: nothing is read, nobody is asked, nothing is waited for."""
    root = project('flaky')
    file = root / '.buckconfig.local'
    os.mkfifo(root / 'pipe')
    if kind == 'folder':
        file.mkdir()
    elif kind == 'pipe':
        (root / 'pipe').rename(file)
    else:
        file.write_text({'loop': '<file:.buckconfig.local>\n', 'missing': '<file:gone>\n', 'nul': 'a = \0\n',
                         'include of a folder': '<file:buck-out>\n', 'include of a pipe': '<file:pipe>\n'}[kind])
    said = br2.run(root, '--db', db, '--no-remote', code=3, timeout=60)
    assert said.stderr.count('\n') == 1 and str(root) in said.stderr
    assert not db.exists()


# ---- servers of several projects -----------------------------------------------------------------

def test_a_project_without_a_server_goes_with_the_others(br2, project, db, server, tmp_path):
    """Whichever comes first."""
    roots = [project('flaky'), project('cells')]
    configure(roots[0], 'action_cache_address =')
    configure(roots[1], f'action_cache_address = {server.address}', 'tls = false')
    for order, name in ((roots, 'a.db'), (roots[::-1], 'b.db')):
        said = br2.run(*order, '--db', tmp_path / name, '--no-report')
        assert 'warning' not in said.stderr
        assert value(tmp_path / name, RESULTS) == 123


@pytest.mark.parametrize('other', [['action_cache_address = localhost:1', 'tls = false'],
                                   ['action_cache_address = {}', 'tls = true'],
                                   ['action_cache_address = {}', 'tls = false', 'http_headers = x-team: b']])
def test_projects_that_name_different_servers(br2, project, db, server, other):
    """Neither is asked: results would be mixed, or one's headers sent for the other."""
    roots = [project('flaky'), project('cells')]
    configure(roots[0], f'action_cache_address = {server.address}', 'tls = false')
    configure(roots[1], *(line.format(server.address) for line in other))
    said = br2.run(*roots, '--db', db, '--no-report', code=2)
    (warning,) = [line for line in said.stderr.splitlines() if 'warning' in line]
    assert str(roots[0]) in warning and str(roots[1]) in warning and '--cache NAME' in warning
    assert value(db, 'SELECT count(*) FROM run') == 10
    assert value(db, RESULTS) == 0
    assert value(db, "SELECT count(*) FROM missing_results WHERE reason = 'not_asked'") == 123
    # What the warning says to do.
    br2.run(roots[0], '--db', db, '--no-report', '--cache', 'a')
    assert value(db, RESULTS) == 2


def test_projects_that_name_the_same_server(br2, project, db, server):
    roots = [project('flaky'), project('cells')]
    for root in roots:
        configure(root, f'action_cache_address = {server.address}', 'tls = false', 'http_headers = x-team: a')
    br2.run(*roots, '--db', db, '--no-report')
    assert value(db, RESULTS) == 123


def test_a_flag_settles_it(br2, project, db, server):
    roots = [project('flaky'), project('cells')]
    configure(roots[0], 'action_cache_address = localhost:1', 'tls = false')
    configure(roots[1], 'action_cache_address = localhost:2', 'tls = false')
    br2.run(*roots, '--db', db, '--no-report', '--endpoint', f'grpc://{server.address}')
    assert value(db, RESULTS) == 123


def left_out(said):
    """What is told of logs that are known in another cache: how, and how many."""
    return [re.search(r'known in (.*), so left out by --cache \S+: (\d+) logs\. br2-ingest (.*) asks for what they miss',
                      line).groups() for line in said.stderr.splitlines() if ' left out by ' in line]


def test_a_cache_for_logs_that_are_known_in_another(br2, project, db, server):
    """They stay there, which is said each time; a run that no answer has proved goes to the cache that has its results."""
    roots = [project('demo-x86_64'), project('cells')]
    asking = ['--db', db, '--no-report', '--endpoint', f'grpc://{server.address}']
    none, nobody = ['--db', db, '--no-report', '--no-remote'], f'grpc://127.0.0.1:{harness.free_port()}'
    br2.run(roots[0], *none)
    assert left_out(br2.run(roots[0], *none, '--cache', 'east')) == []
    assert left_out(br2.run(roots[0], '--db', db, '--no-report', '--endpoint', nobody, '--cache', 'east', code=2)) == []
    assert left_out(br2.run(roots[0], *asking, '--cache', 'east')) == []
    assert value(db, "SELECT count(*) FROM run r JOIN instance i USING (instance_id) WHERE cache = 'east'") == 7
    br2.run(roots[1], *asking)
    for options in (asking, none):
        assert left_out(br2.run(roots[0], *options, '--cache', 'east')) == []
        assert left_out(br2.run(roots[1], *options, '--cache', 'east')) == [("cache '' (no name)", '6', 'without --cache')]
        assert left_out(br2.run(roots[0], *options, '--cache', 'west')) == [("cache 'east'", '7', '--cache east')]
        assert left_out(br2.run(*roots, *options, '--cache', 'west')) == [
            ("other caches, such as 'east'", '13', '--cache east')]
        assert left_out(br2.run(*roots, *options)) == []
    assert value(db, "SELECT count(*) FROM lookup WHERE state = 1") == value(db, RESULTS)


# ---- the database's own name ----------------------------------------------------------------------

NAMES = [b'with spaces and  two', b"it's", b'say "x"', b'what?mode=memory', b'a#b', b'100%25', b'file:x.db?cache=shared',
         b':memory:', b'caf\xc3\xa9 \xe2\x82\xac', b'caf\xe9', b'-dash', b"x'; DROP TABLE run; --", b'a\nb', b'[x]*', b'~']


@pytest.mark.parametrize('name', NAMES, ids=repr)
def test_any_name_of_a_database(br2, project, tmp_path, name):
    """No part of it is taken for a URI, a pattern, SQL or an option; no other file is made."""
    place = os.fsencode(tmp_path / 'place') + b'/' + name
    os.makedirs(place)
    root, db = project('cells'), os.fsdecode(os.path.join(place, name))
    recording = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
    br2.run(root, '--db', db, '--replay', recording)
    again = br2.run(root, f'--db={os.fsdecode(name)}', '--replay', recording, cwd=os.fsdecode(place))
    assert '0 read, 7 known' in again.stderr
    assert os.listdir(place) == [name]
    in_place = {'cwd': os.fsdecode(place), 'env': {'BR2_DB': os.fsdecode(name)}}
    assert br2.run('report', '--all', **in_place).stdout.startswith('the whole file: qemu-mini, 7 runs')
    assert br2.run('sql', '.mode list', 'SELECT count(*) FROM run', **in_place).stdout.split() == ['count(*)', '7']
    br2.run('report', '--all', '--html', 'page', **in_place)
    br2.run('export', '--csv', 'sheets', 'packages', **in_place)
    br2.run('prune', '--keep', '90d', '--dry-run', **in_place)
    br2.run('merge', f'./{os.fsdecode(name)}', **{**in_place, 'env': {'BR2_DB': 'merged'}})
    assert sorted(os.listdir(place)) == sorted({name, b'page', b'sheets', b'merged'})
    shutil.copy(db, tmp_path / 'copy.db')
    assert value(tmp_path / 'copy.db', RESULTS) == 121


def test_a_folder_that_cannot_be_made(br2, project, tmp_path):
    (tmp_path / 'file').touch()
    said = br2.run(project('flaky'), '--db', 'file/a/br2.db', '--no-remote', cwd=tmp_path, code=2)
    assert 'file/a: cannot make the folder: Not a directory' in said.stderr


@pytest.mark.parametrize('more, code, words', [
    (['--db', 'loop.db'], 2, 'loop.db: Too many levels of symbolic links'),
    (['--db', 'none.db'], 2, 'no database at none.db yet'),
    (['--db', ''], 3, '--db is empty'), ([], 3, 'no place for the database')])
def test_a_database_that_is_not_there(br2, tmp_path, more, code, words):
    (tmp_path / 'loop.db').symlink_to('loop.db')
    said = br2.run('report', *more, cwd=tmp_path, env={'HOME': '', 'XDG_DATA_HOME': '', 'BR2_DB': ''}, code=code)
    assert words in said.stderr
