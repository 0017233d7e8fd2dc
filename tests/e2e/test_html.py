"""report --html as a browser shows it: its figures are those of the views, it stays inside of a narrow window, says nothing
on the console, asks for nothing, and takes no name for markup."""
import os
import re
import shutil
import sqlite3
import stat

import pytest

import browser
import harness
from harness import rows, value

RECORDING = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
CHART = harness.ROOT / 'tests/data/cluster/values.yaml'
HOSTILE = '</title><script>alert(1)</script>"\'&\u202egnp\x07\x1b[31m'
SCHEMES = ['light', 'dark']


@pytest.fixture(scope='session')
def chromium():
    with browser.Browser() as running:
        yield running


@pytest.fixture(scope='session')
def shown(tmp_path_factory):
    """Three samples in one database, with the chart's pools; `page` is the page on all of it."""
    folder = tmp_path_factory.mktemp('html')
    program = harness.Program(os.environ['BR2_INGEST'], folder)
    program.folder, program.db = folder, folder / 'br2.db'
    program.projects = [harness.copy_sample(sample, folder) for sample in ('demo-x86_64', 'cells', 'failures')]
    program.run(*program.projects, '--db', program.db, '--replay', RECORDING, '--no-report', '--values', CHART, '--valid-from',
                '2026-01-01')
    program.page = folder / 'all.html'
    program.run('report', '--all', '--html', program.page, '--db', program.db)
    return program


@pytest.fixture(scope='session')
def hostile(shown):
    """The page on a copy in which every name is a stranger's."""
    db, page = shown.folder / 'hostile.db', shown.folder / 'hostile.html'
    shutil.copy(shown.db, db)
    connection = sqlite3.connect(db)
    connection.execute('PRAGMA ignore_check_constraints = ON')  # a shape's name may be no such thing
    with connection:
        for table, column in (('package', 'name'), ('project', 'name'), ('category', 'name'), ('shape', 'shape'),
                              ('target', 'label'), ('action_name', 'identifier')):
            connection.execute(f'UPDATE {table} SET {column} = ? || {column} WHERE {column} <> \'\'', (HOSTILE,))
        connection.execute('UPDATE package SET name = name || hex(zeroblob(300)) WHERE package_id % 2')
    connection.close()
    shown.run('report', '--all', '--html', page, '--db', db)
    return page


def number(text):
    return None if text == '–' else float(text.replace(',', '').split()[0])


def numbers(table, *headings):
    return [tuple(number(row[h]) for h in headings) for row in table]


# ---- figures ------------------------------------------------------------------------------

def test_the_figures_on_top_are_those_of_summary(shown, chromium):
    page = chromium.open(shown.page, 1400, 'light')
    (wanted,) = rows(shown.db, 'SELECT * FROM summary')
    text = {name: page.value(f'document.getElementById("f-{name}").textContent')
            for name in ('actions', 'wall', 'cpu', 'cores', 'rss', 'kills', 'heavy')}
    assert text['actions'] == f"{wanted['with_usage']:,} of {wanted['digests']:,}"
    without, failed, missing = (int(n) for n in re.findall(r'(\d+) (?:without|failed|more)', page.value(
        'document.getElementById("f-actions").nextElementSibling.textContent')))
    assert (without, failed) == (wanted['digests'] - wanted['with_usage'], wanted['only_historical']) and failed > 0
    assert without - failed == missing == sum(number(row['digests']) for row in page.table('missing'))
    assert number(text['wall']) == wanted['wall_h'] > 0
    assert number(text['cpu']) == wanted['cpu_h'] > 0
    assert number(text['cores']) == wanted['avg_cores'] > 0
    assert number(text['rss']) == value(shown.db, 'SELECT round(max(max_rss_gib), 2) FROM top_actions') > 0
    assert number(text['kills']) == value(shown.db, 'SELECT count(*) FROM oom_kills WHERE suspect AND run IS NOT NULL') > 0
    assert number(text['heavy']) == value(shown.db, 'SELECT sum(heavy_actions) FROM heavy_packages') > 0


def test_the_tables_are_those_of_the_views(shown, chromium):
    page = chromium.open(shown.page, 1400, 'light')

    def same(section, headings, sql):
        wanted = [tuple(row.values()) for row in rows(shown.db, sql)]
        assert wanted
        assert numbers(page.table(section), *headings) == [pytest.approx(row, abs=1e-9) for row in wanted]

    same('walls', ['actions', 'avg cores', 'p90 cores', 'max RSS, GiB'],
         'SELECT actions, avg_cores, p90_cores, max_rss_gib FROM wall_time_buckets')
    assert [row['wall time'] for row in page.table('walls')] == [
        row['wall_time'] for row in rows(shown.db, 'SELECT wall_time FROM wall_time_buckets')]
    same('sizing', ['limit, GiB', 'results', 'unknown', 'new limit, GiB', 'new CPU request', 'peak max, GiB'],
         'SELECT limit_gib, results, unknown, new_limit_gib, new_cpu_request, peak_max_gib FROM worker_sizing')
    same('fit', ['limit, GiB', 'actions', 'misfits', 'fit, %', 'fit wall, %'],
         "SELECT limit_gib, actions, misfits, fit_pct, fit_wall_pct FROM shape_fit WHERE category = '*'")
    same('heavy', ['heavy actions', 'actions', 'longest, s', 'heavy wall, h'],
         'SELECT heavy_actions, actions, longest_s, heavy_wall_h FROM heavy_packages')
    same('waste', ['results', 'busy, h', 'used core, %'], 'SELECT results, busy_h, used_core_pct FROM waste')
    same('phases', ['actions', 'unknown', 'skewed', 'total, h', '%', 'avg, s', 'max, s'],
         'SELECT actions, unknown, skewed, total_h, pct, avg_s, max_s FROM phases')
    same('longest', ['wall, s', 'cores', 'max RSS, GiB'], 'SELECT wall_s, cores, max_rss_gib FROM top_actions LIMIT 10')
    same('samples', ['actions', 'wall, h'], 'SELECT actions, wall_h FROM sample_coverage')
    assert {row['reason']: number(row['digests']) for row in page.table('missing')} == {
        row['reason']: row['n'] for row in rows(shown.db, 'SELECT reason, count(*) AS n FROM missing_results GROUP BY 1')}
    assert [row['verdict'] for row in page.table('heavy')] == [
        row['verdict'] or '–' for row in rows(shown.db, 'SELECT verdict FROM heavy_packages')]


def test_the_plots_hold_what_they_say(shown, chromium):
    page = chromium.open(shown.page, 1400, 'light')
    counted = value(shown.db, 'SELECT with_usage FROM summary')
    for section in ('wall-cores', 'memory'):
        assert page.value(f'document.querySelector("#{section} .dots").getAttribute("d").split("M").length - 1') == counted
        assert f'{counted:,} executions, each a dot.' in page.value(
            f'document.querySelector("#{section} figcaption").textContent')
    limits = [row['n'] for row in rows(shown.db, 'SELECT count(*) AS n FROM _shape WHERE limit_bytes > 0 GROUP BY limit_bytes')]
    assert page.value('document.querySelectorAll("#memory .line").length') == len(limits) > 1
    assert page.value('document.querySelectorAll("#wall-cores .mark").length') == value(
        shown.db, 'SELECT sum(heavy_actions) FROM heavy_packages')
    # The invocation that is drawn is named.
    invocation = page.value('document.querySelector("#concurrency bdi").textContent')
    (wanted,) = rows(shown.db, 'SELECT results, peak_running FROM concurrency_summary WHERE invocation = ?', invocation)
    assert numbers(page.table('concurrency'), 'results', 'peak running') == [tuple(wanted.values())]
    assert invocation == value(shown.db, 'SELECT invocation FROM executions ORDER BY wall_h DESC LIMIT 1')


def test_a_run_and_a_part_of_a_project(shown, chromium):
    """Of a run its own form of a view; of some runs what is known of the project, and the page says so."""
    log = harness.log_files(shown.projects[1])[0]
    target = shown.folder / 'run.html'
    shown.run('report', log, '--html', target, '--db', shown.db)
    page = chromium.open(target, 1400, 'light')
    run = page.value('document.querySelector("header p bdi").textContent')
    assert numbers(page.table('sizing'), 'results') == [
        tuple(row.values()) for row in rows(shown.db, 'SELECT results FROM worker_sizing_by_run WHERE run = ?', run)]
    assert '_by_run' in page.value('document.querySelector("#fit summary").textContent')

    shown.run('report', *harness.log_files(shown.projects[1])[:2], '--html', target, '--db', shown.db)
    page = chromium.open(target, 1400, 'light')
    assert numbers(page.table('sizing'), 'results') == [
        tuple(row.values()) for row in rows(shown.db, "SELECT results FROM worker_sizing_by_project WHERE project = 'qemu-mini'")]
    assert 'not of these alone' in page.value('document.querySelector("#sizing").textContent')


# ---- looks --------------------------------------------------------------------------------

@pytest.mark.parametrize('scheme', SCHEMES)
@pytest.mark.parametrize('width', [360, 1400])
@pytest.mark.parametrize('which', ['plain', 'hostile'])
def test_it_fits_and_is_silent(shown, hostile, chromium, which, width, scheme):
    page = chromium.open(hostile if which == 'hostile' else shown.page, width, scheme)
    # A scroll bar takes a little of the window.
    assert width - 20 <= page.value('document.documentElement.clientWidth') <= width
    page.value('document.querySelectorAll("details").forEach(d => { d.open = true; })')
    assert page.value('document.documentElement.scrollWidth - document.documentElement.clientWidth') == 0
    assert page.value('''[...document.querySelectorAll("body *")].filter(e => !e.parentElement.closest(".scroll")
        && e.getBoundingClientRect().right > document.documentElement.clientWidth).map(e => e.outerHTML.slice(0, 99))''') == []
    assert page.problems() == []


def test_a_narrow_window_shows_what_is_recommended(shown, chromium):
    """Without scrolling; and no row is tall with what is out of view."""
    page = chromium.open(shown.page, 360, 'light')
    heads = list(page.table('sizing')[0])
    assert heads[:4] == ['pool', 'verdict', 'limit, GiB', 'new limit, GiB']
    assert page.value('document.querySelectorAll("#sizing tbody td")[3].getBoundingClientRect().right') <= 360
    line = page.value('parseFloat(getComputedStyle(document.querySelector("#sizing tbody td")).lineHeight)')
    for section in ('sizing', 'packages'):
        tallest = page.value(f'Math.max(...[...document.querySelectorAll("#{section} tbody tr")].map(r => r.offsetHeight))')
        assert 0 < tallest < 3 * line, section


# Contrast as WCAG 2 has it, of every element that has text of its own.
CONTRAST = '''(() => {
    const parse = c => c.match(/[\\d.]+/g).map(Number);
    const light = c => { const [r, g, b] = parse(c).slice(0, 3).map(v => v / 255).map(
        v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
        if (parse(c)[3] !== 0) return c; } };
    const found = {};
    for (const e of document.querySelectorAll("body *")) {
        if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || ["title", "desc"].includes(e.tagName)) continue;
        const style = getComputedStyle(e), [a, b] = [light(e.closest("svg") ? style.fill : style.color), light(ground(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), name = e.tagName + "." + e.getAttribute("class");
        found[name] = Math.min(found[name] ?? 99, ratio);
    }
    return found;
})()'''


@pytest.mark.parametrize('scheme', SCHEMES)
def test_text_is_readable_and_named(shown, chromium, scheme):
    page = chromium.open(shown.page, 1400, scheme)
    ratios = page.value(CONTRAST)
    assert len(ratios) > 15 and min(ratios.values()) >= 4.5, ratios
    dark = page.value('getComputedStyle(document.body).backgroundColor') == 'rgb(15, 19, 23)'
    assert dark == (scheme == 'dark')
    assert page.value('document.documentElement.lang') == 'en'
    assert page.value('document.querySelectorAll("th:not([scope])").length') == 0
    assert page.value('''[...document.querySelectorAll("svg")].filter(s => s.getAttribute("role") !== "img"
        || !s.querySelector("title").textContent || !s.querySelector("desc").textContent).length''') == 0
    assert page.value('[...document.querySelectorAll("nav a")].filter(a => !document.querySelector(a.hash)).length') == 0
    ids = page.value('[...document.querySelectorAll("[id]")].map(e => e.id)')
    assert len(ids) == len(set(ids)) > 20


def test_a_name_is_no_markup(shown, hostile, chromium):
    page = chromium.open(hostile, 1400, 'light')
    assert page.value('document.querySelectorAll("script, img, iframe, link, object, body style").length') == 0
    shown_name = '</title><script>alert(1)</script>"\'&\\u202egnp\\x07\\x1b[31m'
    assert shown_name + 'qemu-mini' in page.value('document.title')
    assert shown_name + 'small' in [row['shape'] for row in page.table('fit')]
    text = hostile.read_text()
    assert not any(c in text for c in '\u202e\x07\x1b')
    # Nothing but elements that the page itself is made of.
    assert page.value('[...new Set([...document.querySelectorAll("*")].flatMap(e => [...e.attributes].map(a => a.name)))]'
                      '.filter(n => n.startsWith("on"))') == []


# ---- the file -----------------------------------------------------------------------------

def test_same_bytes_and_standard_output(shown):
    again = shown.run('report', '--all', '--html', '-', '--db', shown.db).stdout
    assert again == shown.page.read_text()
    assert len(again) < 2_000_000 and '<script' not in again and 'http' not in again.replace('http-equiv', '')


def test_it_is_replaced_in_one_step(shown, tmp_path):
    page, link = tmp_path / 'page.html', tmp_path / 'link.html'
    page.write_text('old')
    link.symlink_to(page)
    with open(page) as old:
        shown.run('report', '--all', '--html', link, '--db', shown.db)
        assert old.read() == 'old'
    assert link.is_symlink() and page.read_text() == shown.page.read_text()
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix != '' or p.is_file()) == ['link.html', 'page.html']


def test_it_writes_over_no_device_folder_or_database(shown, tmp_path):
    fifo = tmp_path / 'fifo'
    os.mkfifo(fifo)
    before = shown.db.read_bytes()
    for target, words in ((fifo, 'not a regular file'), (tmp_path, 'not a regular file'), ('/dev/null', 'not a regular file'),
                          (shown.db, 'that is the database')):
        said = shown.run('report', '--all', '--html', target, '--db', shown.db, code=3)
        assert words in said.stderr and said.stdout == ''
    assert shown.db.read_bytes() == before and stat.S_ISFIFO(fifo.stat().st_mode)
    assert 'nowhere/x.html: No such' in shown.run('report', '--all', '--html', tmp_path / 'nowhere/x.html', '--db', shown.db,
                                                  code=2).stderr
    for option in ('--json', '--no-tests', '--min-wall=3', '--format=csv'):
        assert '--html' in shown.run('report', '--all', '--html', '-', option, '--db', shown.db, code=3).stderr


def test_nothing_stored_is_a_page_too(shown, tmp_path, chromium):
    db, page = tmp_path / 'empty.db', tmp_path / 'empty.html'
    shown.run('--db', db, '--values', CHART, cwd=tmp_path)
    shown.run('report', '--all', '--html', page, '--db', db)
    shown_page = chromium.open(page, 360, 'dark')
    assert 'Nothing is stored' in shown_page.value('document.body.textContent')
    assert shown_page.problems() == []
