#!/usr/bin/python3
"""Prints every table of a database by natural keys (tests/dump_rows.sql), sorted:
two databases hold the same rows if this prints the same.

usage: dump_rows.py [--without-files] DB

--without-files leaves out which files showed a run: for comparing the same log
read from several places.
"""
import argparse
import re
import sqlite3
from pathlib import Path

SQL = Path(__file__).with_suffix('.sql')
FILES = {'log_file', 'run_log'}


def selects():
    """(table, SELECT) for each table, in the order of the file."""
    return re.findall(r'^-- (\w+)\n(SELECT .*?;)$', SQL.read_text(), re.M | re.S)


def dump(db, without_files=False):
    """The lines, sorted within each table; no file is made beside the database."""
    connection = sqlite3.connect(f'{Path(db).resolve().as_uri()}?mode=ro', uri=True)
    lines = []
    try:
        for table, select in selects():
            if without_files and table in FILES:
                continue
            rows = connection.execute(select)
            names = [column[0] for column in rows.description]
            lines += sorted(f'{table}\t' + '\t'.join(f'{n}={v!r}' for n, v in zip(names, row)) for row in rows)
    finally:
        connection.close()
    return lines


def main():
    parser = argparse.ArgumentParser(description='prints every table by natural keys, sorted')
    parser.add_argument('--without-files', action='store_true')
    parser.add_argument('db')
    args = parser.parse_args()
    print('\n'.join(dump(args.db, args.without_files)))


if __name__ == '__main__':
    main()
