#!/usr/bin/python3
"""Prints tests/LONG.md from the figures that the long tests noted.

usage: long_figures.py FIGURES

A line of FIGURES ($BR2_FIGURES while they run): name, value and comment, by tabs. What comes
before a colon in the name (or its first word) is the part of the page that it belongs to.
"""
import os
import platform
import sys
from pathlib import Path

HEAD = """# What the long tests reached

Written by `scripts/test --long`; not by hand. {machine}.
"""


def figures(text):
    """part -> [(name, value, comment)], as they were noted."""
    parts = {}
    for line in text.splitlines():
        name, value, comment = line.split('\t')
        part, _, rest = name.partition(': ' if ': ' in name else ' ')
        parts.setdefault(part, []).append((rest, value, comment))
    return parts


def total(rows):
    """The sum, where all of them count the same."""
    return f'\n{sum(int(value) for _, value, _ in rows)} in all.\n'


def page(text):
    machine = f'{os.cpu_count()} processors, {platform.machine()}, Linux {platform.release().split("-")[0]}'
    out = [HEAD.format(machine=machine)]
    for part, rows in figures(text).items():
        out.append(f'## {part}\n\n| what | figure | of it |\n|---|---:|---|')
        out += [f'| {name} | {value} | {comment} |' for name, value, comment in rows]
        out.append(total(rows) if part in ('kills', 'minutes') else '')
    return '\n'.join(out).rstrip() + '\n'


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(page(Path(sys.argv[1]).read_text()))


if __name__ == '__main__':
    main()
