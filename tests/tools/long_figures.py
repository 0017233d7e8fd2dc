#!/usr/bin/python3
"""Puts the figures that a part of the long tests noted into the page, in place of its older ones.

usage: long_figures.py PAGE PART FIGURES

A line of the file FIGURES is a figure: name, value and comment, by tabs, as $BR2_FIGURES took
them. The page has a section for each part, with a table.
"""
import os
import platform
import re
import sys
from pathlib import Path

HEAD = """# What the long tests reached

Written by `scripts/test --long`; not by hand. Each part tells the commit that it was run on."""
PARTS = ('tests', 'soak', 'reader', 'fuzz', 'coverage')


def sections(text):
    """part -> its section of a page."""
    found = re.split(r'^## (\w+)\n', text, flags=re.M)[1:]
    return dict(zip(found[::2], (section.strip() for section in found[1::2])))


def kills(rows):
    """The sum of what is the same everywhere, where there is any."""
    counts = [int(value) for name, value, _ in rows if name.startswith('kills: ')]
    return f'\n\n{sum(counts)} kills in all.' if counts else ''


def section(text):
    """Of figures as they were noted."""
    rows = [tuple(line.split('\t')) for line in text.splitlines()]
    machine = f'{os.cpu_count()} processors, {platform.machine()}, Linux {platform.release().split("-")[0]}.'
    table = '\n'.join(f'| {name} | {value} | {comment} |' for name, value, comment in rows)
    return f'{machine}\n\n| what | figure | of it |\n|---|---:|---|\n{table}{kills(rows)}'


def page(parts):
    return '\n\n'.join([HEAD, *(f'## {part}\n\n{parts[part]}' for part in PARTS if part in parts)]) + '\n'


def main():
    if len(sys.argv) != 4 or sys.argv[2] not in PARTS:
        sys.exit(__doc__)
    out, part, figures = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    parts = sections(out.read_text()) if out.exists() else {}
    parts[part] = section(figures.read_text())
    fresh = out.with_suffix('.new')
    fresh.write_text(page(parts))
    fresh.replace(out)


if __name__ == '__main__':
    main()
