#!/usr/bin/python3
"""Prints tests/LONG.md from the figures that the parts of the long tests noted.

usage: long_figures.py FOLDER

A file of FOLDER is a part, a line of it a figure: name, value and comment, by tabs, as
$BR2_FIGURES took them. The page has a table for each part.
"""
import os
import platform
import sys
from pathlib import Path

HEAD = """# What the long tests reached

Written by `scripts/test --long`; not by hand. {machine}.
"""
PARTS = ('tests', 'soak', 'reader', 'fuzz', 'coverage')


def figures(text):
    """[(name, value, comment)], as they were noted."""
    return [tuple(line.split('\t')) for line in text.splitlines()]


def kills(rows):
    """The sum of what is the same everywhere, where there is any."""
    counts = [int(value) for name, value, _ in rows if name.startswith('kills: ')]
    return f'\n{sum(counts)} kills in all.\n' if counts else ''


def page(texts):
    """The page of texts: part -> its figures."""
    machine = f'{os.cpu_count()} processors, {platform.machine()}, Linux {platform.release().split("-")[0]}'
    out = [HEAD.format(machine=machine)]
    for part in PARTS:
        if part in texts:
            rows = figures(texts[part])
            out.append(f'## {part}\n\n| what | figure | of it |\n|---|---:|---|')
            out += [f'| {name} | {value} | {comment} |' for name, value, comment in rows]
            out.append(kills(rows))
    return '\n'.join(out).rstrip() + '\n'


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    sys.stdout.write(page({name: (folder / name).read_text() for name in PARTS if (folder / name).is_file()}))


if __name__ == '__main__':
    main()
