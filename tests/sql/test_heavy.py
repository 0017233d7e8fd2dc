"""What is heavy, against what project.json lists: heavy_packages and heavy_json."""
import json
import random

import pytest

from samples import load, project_of, rows
import tables

S = 10**9
VIEWS = {'': {}, '_by_project': {'project': 'p'}, '_by_run': {'run': 'r'}}


class Made:
    """Runs r, s, ... of projects p, q, ..., actions by package, wall seconds and cores."""

    def __init__(self, **projects):
        self.made, self.number = tables.Tables(), 0
        for start, (trace, project) in enumerate(projects.items()):
            self.made.run(trace, project, start_ns=start)

    def ran(self, trace, package, wall_s, cores=1.0):
        self.number += 1
        digest = f'{self.number:064x}:141'
        self.made.action(trace, f'root//x:{package}', 'br2_package', f'a{self.number}', [{'digest': digest}])
        self.made.result(digest, wall_ns=round(wall_s * S), usage={'user_ns': round(wall_s * cores * S)})
        return digest


def verdicts(db, view='heavy_packages', where='1'):
    return {r['package']: (r['listed'], r['verdict']) for r in rows(db, f'SELECT * FROM {view} WHERE {where}')}


def recorded(project_json):
    project = project_of('cells')
    return load('cells', change=lambda made: made.lists(project, project_json['heavy']))


def test_recorded_cells():
    """Of what the recorded project lists one package ran, below the thresholds, and one never did."""
    db = recorded({'heavy': ['host-gcc-final', 'glibc']})
    for form, column in (('', {}), ('_by_project', {'project': project_of('cells')})):
        found = rows(db, f'SELECT * FROM heavy_packages{form}')
        assert found == [
            {**column, 'package': 'glibc', 'heavy_actions': 0, 'long_actions': 0, 'wide_actions': 0, 'actions': 0, 'longest_s': None,
             'max_cores': None, 'max_rss_gib': None, 'heavy_wall_h': 0.0, 'listed': 1, 'verdict': 'not seen'},
            {**column, 'package': 'host-gcc-final', 'heavy_actions': 0, 'long_actions': 0, 'wide_actions': 0, 'actions': 10,
             'longest_s': 3.8, 'max_cores': None, 'max_rss_gib': None, 'heavy_wall_h': 0.0, 'listed': 1, 'verdict': 'drop'}]
    assert rows(db, 'SELECT * FROM heavy_json') == [
        {'project': project_of('cells'), 'heavy': '["glibc"]', 'adds': '[]', 'keeps': '[]', 'drops': '["host-gcc-final"]',
         'not_seen': '["glibc"]', 'changes': 1}]


def test_the_longest_is_of_what_is_counted():
    """A heavy one where there is any; else of all results of the package, also in projects that do not list it."""
    made = Made(r='lists', s='other')
    made.ran('r', 'light', 3, 1)
    made.ran('s', 'light', 7, 1)
    made.ran('r', 'wide', 6, 5)
    made.ran('r', 'wide', 50, 1)
    made.made.lists('lists', ['light'])
    db = made.made.finish()
    assert rows(db, 'SELECT package, actions, longest_s FROM heavy_packages ORDER BY 1') == [
        {'package': 'light', 'actions': 2, 'longest_s': 7.0}, {'package': 'wide', 'actions': 2, 'longest_s': 6.0}]
    for form in ("by_project WHERE project = 'lists'", "by_run WHERE run = 'r'"):
        assert rows(db, f'SELECT package, actions, longest_s FROM heavy_packages_{form} ORDER BY 1') == [
            {'package': 'light', 'actions': 1, 'longest_s': 3.0}, {'package': 'wide', 'actions': 2, 'longest_s': 6.0}]


def test_each_verdict():
    made = Made(r='p')
    for package, wall, cores in (('new', 61, 1), ('wide', 6, 4.1), ('known', 70, 1), ('light', 60, 4), ('short', 5, 9)):
        made.ran('r', package, wall, cores)
    made.made.lists('p', ['light', 'gone', 'known', 'short'])
    db = made.made.finish()
    wanted = {'new': (0, 'add'), 'wide': (0, 'add'), 'known': (1, 'keep'), 'light': (1, 'drop'), 'short': (1, 'drop'),
              'gone': (1, 'not seen')}
    for form in VIEWS:
        assert verdicts(db, f'heavy_packages{form}') == wanted
    (row,) = rows(db, 'SELECT * FROM heavy_json')
    assert {k: json.loads(row[k]) for k in ('heavy', 'adds', 'keeps', 'drops', 'not_seen')} == {
        'heavy': ['gone', 'known', 'new', 'wide'], 'adds': ['new', 'wide'], 'keeps': ['known'], 'drops': ['light', 'short'],
        'not_seen': ['gone']}
    assert row['changes'] == 4


def test_without_project_json_the_list_is_not_known():
    made = Made(r='p')
    made.ran('r', 'x', 61)
    db = made.made.finish()
    for form in VIEWS:
        assert verdicts(db, f'heavy_packages{form}') == {'x': (None, None)}
    assert rows(db, 'SELECT heavy, adds, changes FROM heavy_json') == [{'heavy': '["x"]', 'adds': '["x"]', 'changes': None}]


def test_an_empty_list_is_known():
    made = Made(r='p')
    made.ran('r', 'x', 61)
    made.made.lists('p', [])
    db = made.made.finish()
    for form in VIEWS:
        assert verdicts(db, f'heavy_packages{form}') == {'x': (0, 'add')}


@pytest.mark.parametrize('first, second, verdict', [
    ((61, True), (61, False), 'add'), ((61, True), (1, True), 'keep'), ((61, True), (None, True), 'keep'),
    ((1, True), (None, True), 'drop'), ((None, True), (None, True), 'not seen'), ((1, False), (1, False), None)])
def test_projects_that_differ(first, second, verdict):
    """(wall of package x or None, listed) of two projects."""
    made = Made(r='p', s='q')
    for trace, project, (wall, is_listed) in (('r', 'p', first), ('s', 'q', second)):
        if wall:
            made.ran(trace, 'x', wall)
        made.made.lists(project, ['x'] if is_listed else [])
    found = verdicts(made.made.finish())
    assert found == ({'x': (1, verdict)} if verdict else {})


def test_a_run_is_judged_by_itself_and_hits_count():
    made = Made(r='p', s='p', t='p')
    digest = made.ran('r', 'x', 61)
    made.ran('s', 'x', 1)
    made.made.action('t', 'root//x:x', 'br2_package', 'a1', [{'digest': digest}])
    made.made.lists('p', ['x', 'y'])
    db = made.made.finish()
    assert {t: verdicts(db, 'heavy_packages_by_run', f"run = '{t}'")['x'][1] for t in 'rst'} == \
        {'r': 'keep', 's': 'drop', 't': 'keep'}
    assert {r['run'] for r in rows(db, "SELECT run FROM heavy_packages_by_run WHERE verdict = 'not seen'")} == {'r', 's', 't'}


NAMES = ['a"b', 'a\\b', '\\"', 'tab\there', 'line\nbreak', '\x01\x1f\x7f', 'käse', '😀', "o'clock", '\\u0041', 'a, b', ']']


def test_names_are_json():
    made = Made(r='p', s='q')
    for number, name in enumerate(NAMES):
        made.ran('r', name, 100 - number)
    made.made.lists('p', NAMES[:3] + ['gone "x"'])
    made.made.lists('q', NAMES)
    db = made.made.finish()
    of_p, of_q = rows(db, 'SELECT * FROM heavy_json')
    assert json.loads(of_p['heavy']) == NAMES[:3] + ['gone "x"'] + NAMES[3:]
    assert (json.loads(of_p['adds']), json.loads(of_p['not_seen'])) == (NAMES[3:], ['gone "x"'])
    assert json.loads(of_q['not_seen']) == NAMES


def expected(results, listed):
    """{package: (heavy, long, wide, actions, verdict)} by the rule; results: [(package, wall_s, cores)]"""
    found = {}
    for package in {r[0] for r in results} | set(listed):
        of_it = [r for r in results if r[0] == package]
        long, wide = [r[1] > 60 for r in of_it], [r[1] > 5 and r[2] > 4 for r in of_it]
        heavy = sum(a or b for a, b in zip(long, wide))
        verdict = ('keep' if package in listed else 'add') if heavy else 'drop' if of_it else 'not seen'
        if heavy or package in listed:
            found[package] = heavy, sum(long), sum(wide), len(of_it), verdict
    return found


@pytest.mark.parametrize('seed', range(20))
def test_random(seed):
    rng = random.Random(seed)
    packages = [f'p{i}' for i in range(8)]
    made, results = Made(r='p'), []
    for _ in range(rng.randint(0, 30)):
        results.append((rng.choice(packages[:6]), rng.choice([1, 5, 5.5, 60, 60.5, 200]), rng.choice([0.5, 4, 4.25, 7])))
        made.ran('r', *results[-1])
    listed = rng.sample(packages, rng.randint(0, 5))
    made.made.lists('p', listed)
    db = made.made.finish()
    wanted = expected(results, listed)
    for form in VIEWS:
        assert {r['package']: (r['heavy_actions'], r['long_actions'], r['wide_actions'], r['actions'], r['verdict'])
                for r in rows(db, f'SELECT * FROM heavy_packages{form}')} == wanted
    array = [r['heavy'] for r in rows(db, 'SELECT heavy FROM heavy_json')]
    kept = [p for p in listed if wanted[p][4] != 'drop']
    assert [json.loads(a)[:len(kept)] for a in array] == [kept] * bool(wanted)
    assert all(set(json.loads(a)) == {p for p, w in wanted.items() if w[4] != 'drop'} for a in array)


def test_a_list_that_was_not_read_is_not_an_empty_one():
    """p's project.json was read, q's was not: x is heavy in p alone, y in q alone."""
    made = Made(r='p', s='q')
    made.ran('r', 'x', 61)
    made.ran('s', 'y', 61)
    made.made.lists('p', [])
    assert verdicts(made.made.finish()) == {'x': (0, 'add'), 'y': (None, None)}


SETTINGS = 'heavy_wall_s', 'heavy_cores', 'heavy_cores_min_s'


@pytest.mark.parametrize('gone', [SETTINGS[:1], SETTINGS[1:2], SETTINGS[2:], SETTINGS])
def test_a_rule_whose_setting_is_missing_makes_nothing_heavy_and_nothing_light(gone):
    made = Made(r='p')
    for package, wall, cores in (('long', 61, 1), ('wide', 6, 4.5), ('both', 61, 4.5), ('light', 1, 1)):
        made.ran('r', package, wall, cores)
    made.made.lists('p', ['long', 'wide', 'both', 'light', 'gone'])
    db = made.made.finish()
    for key in gone:
        db.execute('DELETE FROM setting WHERE key = ?', (key,))
    heavy = {'long', 'both'} if gone != SETTINGS and gone[0] != 'heavy_wall_s' else {'wide', 'both'} if gone != SETTINGS else set()
    wanted = {p: (1, 'keep' if p in heavy else None) for p in ('long', 'wide', 'both', 'light')} | {'gone': (1, 'not seen')}
    for form in VIEWS:
        assert verdicts(db, f'heavy_packages{form}') == wanted
    (row,) = rows(db, 'SELECT heavy, keeps, drops FROM heavy_json')
    assert json.loads(row['heavy']) == ['long', 'wide', 'both', 'light', 'gone']
    assert set(json.loads(row['keeps'])) == heavy and row['drops'] == '[]'


def test_what_is_heavy_anywhere_is_dropped_nowhere_in_the_whole():
    """Three projects keep it, in one it ran light; one that has no list does not make it lighter."""
    made = Made(r='p', s='q', t='o')
    for trace, project, wall in (('r', 'p', 61), ('s', 'q', 1), ('t', 'o', 1)):
        made.ran(trace, 'x', wall)
    made.made.lists('p', ['x'])
    made.made.lists('q', ['x'])
    assert verdicts(made.made.finish()) == {'x': (1, 'keep')}
    made = Made(r='p', s='q')
    made.ran('r', 'x', 61)  # p has no project.json
    made.ran('s', 'x', 1)
    made.made.lists('q', ['x'])
    assert verdicts(made.made.finish()) == {'x': (1, None)}
