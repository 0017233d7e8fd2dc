"""Rows with goals, tables without, and the page that holds them: bench/RESULTS.md."""
import os
import platform
import statistics
from pathlib import Path

HEAD = '| what | must reach | median | range | |\n|---|---|---|---|---|'


class Row:
    """One figure, measured several times, and what it must reach.

    `goal`: None, the most that it may be or, `at_least`, the least. `gross`: the
    median beyond which something broke; None: twice the goal, or half of it."""

    def __init__(self, name, values, goal=None, at_least=False, unit='x', gross=None):
        assert values
        self.name, self.values, self.goal, self.at_least, self.unit = name, list(values), goal, at_least, unit
        self.gross = gross or (goal and (goal / 2 if at_least else goal * 2))
        self.median = statistics.median(self.values)

    def keeps(self, limit):
        return limit is None or (self.median >= limit if self.at_least else self.median <= limit)

    def reached(self):
        return self.keeps(self.goal)

    def broken(self):
        return not self.keeps(self.gross)

    def figure(self, value):
        text = f'{value:.0f}' if abs(value) >= 100 else f'{value:.2f}' if self.unit == 'x' else f'{value:.1f}'
        return f'{text}{"x" if self.unit == "x" else " " + self.unit}'

    def goal_text(self):
        return '' if self.goal is None else f'{">=" if self.at_least else "<="} {self.goal:g}{"x" if self.unit == "x" else " " + self.unit}'

    def text(self):
        mark = '' if self.goal is None else 'reached' if self.reached() else '**NOT REACHED**'
        spread = f'{self.figure(min(self.values))} - {self.figure(max(self.values))}' if len(self.values) > 1 else ''
        return f'| {self.name} | {self.goal_text()} | {self.figure(self.median)} | {spread} | {mark} |'


class Table:
    """Figures beside the rows: a heading, what to know, columns, and lines of cells."""

    def __init__(self, heading, words, columns, lines):
        self.heading, self.words, self.columns, self.lines = heading, words, columns, lines

    def text(self):
        cells = [self.columns, ['---'] + ['---:'] * (len(self.columns) - 1), *self.lines]
        return '\n'.join([f'## {self.heading}', '', self.words, '', *('| ' + ' | '.join(map(str, line)) + ' |' for line in cells)])


def machine():
    model = next((text.split(':')[1].strip() for text in open('/proc/cpuinfo') if text.startswith('model name')), '?')
    memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30
    debian = Path('/etc/debian_version').read_text().strip()
    return (f'{model}, {os.cpu_count()} cores, {memory:.0f} GiB; Linux {platform.release()}, Debian {debian}.'
            f' Load when it began: {os.getloadavg()[0]:.1f}.')


def page(words, results):
    """Markdown of all rows, then of all tables."""
    rows = [r for r in results if isinstance(r, Row)]
    tables = [r for r in results if isinstance(r, Table)]
    missed = sum(not r.reached() for r in rows)
    goals = sum(r.goal is not None for r in rows)
    return '\n\n'.join(['# Benchmarks', *words, f'{goals - missed} of {goals} goals are reached.',
                        '\n'.join([HEAD, *(r.text() for r in rows)]), *(t.text() for t in tables)]) + '\n'
