"""Rows with goals, tables without, and the page that holds them: bench/RESULTS.md."""
import os
import platform
import statistics
from pathlib import Path

HEAD = '| what | must reach | median | range | |\n|---|---|---|---|---|'


class Row:
    """One figure, measured several times, and what it must reach.

    `goal`: None, the most that it may be or, `at_least`, the least. `gross`: the
    median beyond which something broke; None: twice the goal, or half of it, if there is one."""

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
        digits = 0 if isinstance(value, int) or abs(value) >= 100 else 2 if self.unit == 'x' else 1
        return self.with_unit(f'{value:.{digits}f}')

    def with_unit(self, text):
        return f'{text}x' if self.unit == 'x' else f'{text} {self.unit}'

    def goal_text(self):
        return '' if self.goal is None else self.with_unit(f'{">=" if self.at_least else "<="} {self.goal:g}')

    def text(self):
        mark = '' if self.goal is None else 'reached' if self.reached() else '**NOT REACHED**'
        spread = f'{self.figure(min(self.values))} - {self.figure(max(self.values))}' if len(self.values) > 1 else ''
        return f'| {self.name} | {self.goal_text()} | {self.figure(self.median)} | {spread} | {mark} |'


class Table:
    """Figures beside the rows: a heading, what to know, columns, and lines of cells."""

    def __init__(self, heading, words, columns, lines):
        self.heading, self.words, self.columns, self.lines = heading, words, columns, lines

    def text(self):
        rule = ['---'] + ['---:'] * (len(self.columns) - 1)
        lines = ['| ' + ' | '.join(map(str, cells)) + ' |' for cells in (self.columns, rule, *self.lines)]
        return '\n'.join([f'## {self.heading}', '', self.words, '', *lines])


def machine():
    model = next((text.split(':')[1].strip() for text in open('/proc/cpuinfo') if text.startswith('model name')), '?')
    memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30
    debian = Path('/etc/debian_version').read_text().strip()
    return (f'{model}, {os.cpu_count()} cores, {memory:.0f} GiB; Linux {platform.release()}, Debian {debian}.'
            f' Load when it began: {os.getloadavg()[0]:.1f}.')


def page(words, how, results):
    """Markdown of all rows, then how each bench measures, then of all tables. `how`: (name, sentence)"""
    rows = [r for r in results if isinstance(r, Row)]
    tables = [r for r in results if isinstance(r, Table)]
    missed = sum(not r.reached() for r in rows)
    goals = sum(r.goal is not None for r in rows)
    return '\n\n'.join(['# Benchmarks', *words, f'{goals - missed} of {goals} goals are reached.',
                        '\n'.join([HEAD, *(r.text() for r in rows)]),
                        '## How', '\n'.join(f'- **{name}**: {words}' for name, words in how), *(t.text() for t in tables)]) + '\n'
