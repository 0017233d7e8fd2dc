"""What the real LibreOffice makes of exported files, in an English and a German one: numbers are numbers, times are times,
and no text is taken for either. Files are opened as the import dialog does it when nothing in it is changed."""
import contextlib
import os
import shutil
import sqlite3
import subprocess
import xml.etree.ElementTree as ET

import pytest

import harness
from harness import rows

RECORDING = harness.ROOT / 'tests/data/recordings/demo.jsonl.zst'
TEXTS = ['2024-01-02', '2024-01-02 03:04:05', '1/2', '3-4', 'MAR1', 'sept2', '1e5', '007', '0001', '=1+1', '=1+1;2', '12:30',
         'TRUE', '-1', '+1', '+x', '@x', '1.234', '1,234', '.5', ' 5', '5 ', '5%', '$5', '(5)', '1.2.3', '20240102', '1 1/2',
         '12345678:142', '1234e567', '12e34', '12345678901234567890', '5\u00a0', '\u20ac5', "'007", "'=1+1", '\t007', 'a;b', 'a\tb',
         'a"b\nc,d', '#N/A', 'é', 'root//a:b', '39c07530e5:142']
NUMBERS = [0, 1, -5, -0.5, 1.234, 12.345, 1234.5, 0.000001, 1e-06 / 3, 1e300, 0.1 + 0.2, 2**53 + 1, 1760000000123456789]
TIME = '2026-11-30 03:04:05.678'
# Comma, semicolon and tab; UTF-8; all columns as found; quoted fields not as text. Then "Detect special numbers", and formulas.
DIALOG = '44/59/9,34,76,1,,0,false,{special},false,false,false,-1,{formulas}'
UNCHANGED = DIALOG.format(special='false', formulas='false')
EAGER = DIALOG.format(special='true', formulas='true')
QUOTED_AS_TEXT = UNCHANGED.replace(',0,false', ',0,true')
LANGUAGES = [('en-US', '--spreadsheet'), ('de-DE', '--decimal-comma')]

OFFICE, TABLE, TEXT = ('{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}' % name for name in ('office', 'table', 'text'))
LOCALE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>{}</value></prop></item>
</oor:items>
"""


# ---- LibreOffice -------------------------------------------------------------------------

def text_of(element):
    """The text below: runs of spaces, tabs and line breaks are elements of their own."""
    text = element.text or ''
    for child in element:
        if child.tag == TEXT + 's':
            text += ' ' * int(child.get(TEXT + 'c', 1))
        else:
            text += {TEXT + 'tab': '\t', TEXT + 'line-break': '\n'}.get(child.tag) or text_of(child)
        text += child.tail or ''
    return text


def cell_of(element):
    """(type, value); (None, None) where the cell is empty. A formula never equals what was exported."""
    kind = element.get(OFFICE + 'value-type')
    if element.get(TABLE + 'formula'):
        return 'formula', element.get(TABLE + 'formula')
    if kind == 'float':
        return kind, float(element.get(OFFICE + 'value'))
    return kind, '\n'.join(text_of(p) for p in element.findall(TEXT + 'p')) if kind else None


def read_sheet(path, width):
    """The rows of the first `width` cells."""
    found = []
    for row in ET.parse(path).iter(TABLE + 'table-row'):
        line = []
        for cell in row:
            line += [cell_of(cell)] * min(int(cell.get(TABLE + 'number-columns-repeated', 1)), width)
        line += [(None, None)] * width
        assert not any(kind for kind, _ in line[width:]), f'{path.name}: cells beyond the header'
        found += [line[:width]] * min(int(row.get(TABLE + 'number-rows-repeated', 1)), 1000)
    while found and not any(kind for kind, _ in found[-1]):
        found.pop()
    return found


def opened(folder, language, options):
    """Opens all files of `folder`; where they are now, in a form that says each cell's type."""
    profile = folder / f'profile-{language}'
    (profile / 'user').mkdir(parents=True, exist_ok=True)
    (profile / 'user/registrymodifications.xcu').write_text(LOCALE.format(language))
    out = folder / f'opened-{language}'
    shutil.rmtree(out, ignore_errors=True)
    files = sorted(folder.glob('*.csv'))
    subprocess.run(['soffice', f'-env:UserInstallation={profile.as_uri()}', '--headless',
                    f'--infilter=Text - txt - csv (StarCalc):{options}', '--convert-to', 'fods', '--outdir', out, *files],
                   check=True, timeout=300, stdout=subprocess.DEVNULL)
    assert len(list(out.iterdir())) == len(files)
    return out


# ---- what is exported ----------------------------------------------------------------------

def rename(db):
    """Packages, categories and identifiers that look like anything but a name."""
    with contextlib.closing(sqlite3.connect(db)) as connection, connection:
        for table, column in (('package', 'name'), ('category', 'name'), ('action_name', 'identifier')):
            keys = [key for key, in connection.execute(f'SELECT rowid FROM {table} ORDER BY 1')]
            for number, key in enumerate(keys):
                name = TEXTS[number % len(TEXTS)] if number < len(TEXTS) else f'{TEXTS[number % len(TEXTS)]}{number}'
                connection.execute(f'UPDATE {table} SET {column} = ? WHERE rowid = ?', (name, key))


@pytest.fixture(scope='module')
def database(tmp_path_factory):
    """Recorded logs with hostile names, and one view of all that is hostile."""
    folder = tmp_path_factory.mktemp('spreadsheet')
    program = harness.Program(os.environ['BR2_INGEST'], folder)
    program.db = folder / 'br2.db'
    program.run(*(harness.copy_sample(sample, folder) for sample in ('demo-x86_64', 'cells', 'failures')), '--db', program.db,
                '--replay', RECORDING, '--no-report')
    rename(program.db)
    quoted = ["'" + text.replace("'", "''") + "'" for text in TEXTS]
    lines = [f"({quoted[i % len(TEXTS)]}, {NUMBERS[i % len(NUMBERS)]!r}, '{TIME}', NULL, '')" for i in range(len(TEXTS))]
    program.run('sql', '--write', f'CREATE VIEW hostile(text, number, at_utc, unknown, empty) AS VALUES {", ".join(lines)}',
                '--db', program.db)
    return program


def export(database, folder, *options):
    """All that is exported by default, and `hostile`."""
    database.run('export', '--csv', folder, *options, '--db', database.db)
    return export_hostile(database, folder, *options)


def export_hostile(database, folder, *options):
    database.run('export', '--csv', folder, *options, 'hostile', '--db', database.db)
    return folder


def is_as_exported(got, column, want, guarded):
    """Whether the cell is what the database holds."""
    kind, shown = got
    if want is None or want == '':
        return kind is None
    if not isinstance(want, str):
        return kind == 'float' and shown == pytest.approx(want, rel=1e-14)
    if column.endswith('_utc') and guarded:
        return kind == 'date' and shown.replace(',', '.') == want.replace(' ', 'T')
    return kind == 'string' and shown in ((want, "'" + want) if guarded else (want,))


def check_all(database, folder, out, guarded):
    for path in sorted(folder.glob('*.csv')):
        wanted = rows(database.db, f'SELECT * FROM "{path.stem}"')
        if not wanted:
            continue
        header, *lines = read_sheet(out / f'{path.stem}.fods', len(wanted[0]))
        assert [shown for _, shown in header] == list(wanted[0]), path.name
        for got, want in zip(lines, wanted, strict=True):
            for cell, (column, value) in zip(got, want.items(), strict=True):
                assert is_as_exported(cell, column, value, guarded), (path.name, column, value, cell)


# ---- tests ---------------------------------------------------------------------------------

@pytest.mark.parametrize('language, option', LANGUAGES)
def test_types_hold_unasked(database, tmp_path, language, option):
    folder = export(database, tmp_path, option)
    assert len(list(folder.glob('*.csv'))) > 30
    check_all(database, folder, opened(folder, language, UNCHANGED), True)


@pytest.mark.parametrize('language, option', LANGUAGES)
def test_types_hold_where_all_is_guessed(database, tmp_path, language, option):
    folder = export_hostile(database, tmp_path, option)
    check_all(database, folder, opened(folder, language, EAGER), True)


def test_plain_files_open_with_quoted_fields_as_text(database, tmp_path):
    folder = export(database, tmp_path)
    check_all(database, folder, opened(folder, 'en-US', QUOTED_AS_TEXT), False)


def test_why_decimal_commas_are_quoted(database, tmp_path):
    """LibreOffice, unasked, divides fields at commas too. Where it is told to take quoted fields for texts, which it is not
    by default, fractions are texts: the manual says so."""
    path = export_hostile(database, tmp_path, '--decimal-comma') / 'hostile.csv'

    def half(options):
        _, *lines = read_sheet(opened(tmp_path, 'de-DE', options) / 'hostile.fods', 6)
        return lines[NUMBERS.index(-0.5)][1]

    assert half(UNCHANGED) == ('float', -0.5)
    assert half(QUOTED_AS_TEXT) == ('string', '-0,5')
    quoted = path.read_bytes()
    path.write_bytes(quoted.replace(b'"-0,5"', b'-0,5'))
    assert path.read_bytes() != quoted and half(UNCHANGED) == ('float', 0)


def test_only_what_would_be_taken_is_guarded(database, tmp_path):
    export_hostile(database, tmp_path, '--spreadsheet')
    _, *lines = read_sheet(opened(tmp_path, 'en-US', UNCHANGED) / 'hostile.fods', 5)
    shown = [cells[0][1] for cells in lines]
    assert [text for text, got in zip(TEXTS, shown, strict=True) if got == text] == [
        'a;b', 'a\tb', 'a"b\nc,d', '#N/A', 'é', 'root//a:b', '39c07530e5:142']
    assert [got.removeprefix("'") if got != text else got for text, got in zip(TEXTS, shown)] == TEXTS
