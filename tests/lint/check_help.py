#!/usr/bin/python3
"""Holds the manual against --help, verb by verb, and both against good form.

usage: BR2_INGEST=PROGRAM check_help.py [ROOT]

Every option of a verb's --help has an .It in the manual's subsection of that
verb (or in the list of what all verbs take), with the same letter and the same
kind of value, and the reverse. Help goes to standard output, at most 80
columns wide. mandoc finds nothing to say.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

HELP_OPTION = re.compile(r'^  (?:-(\w), |    )--([\w-]+)( \S+)?', re.MULTILINE)
HELP_VERB = re.compile(r'^  (\w+) {2,}\S', re.MULTILINE)
FLAG = re.compile(r'Fl (-?[\w-]+)((?: Ns)? (?:= )?(?:Ar|Cm) \S+)?')


def option_of(letter, name, value):
    return f'{"-" + letter + " " if letter else ""}--{name}{" VALUE" if value else ""}'


def in_help(text):
    """{'-q --quiet', '--db VALUE', …}"""
    return {option_of(letter, name, value) for letter, name, value in HELP_OPTION.findall(text)}


def of_item(line):
    """The options of one `.It Fl …` line: a letter joins the name that follows it."""
    found, letter = set(), ''
    for name, value in FLAG.findall(line):
        if not name.startswith('-'):
            letter = name
            continue
        found.add(option_of(letter, name[1:], value))
        letter = ''
    return found


def in_manual(text):
    """(options that all verbs take, {verb: its own options})."""
    common, verbs, place = set(), {}, None
    for line in text.splitlines():
        if line.startswith('.Sh '):
            place = common if line == '.Sh DESCRIPTION' else None
        elif line.startswith('.Ss '):
            place = verbs.setdefault(line.split()[1], set())
        elif line.startswith('.It Fl ') and place is not None:
            place |= of_item(line)
    return common, verbs


def compare(where, help_options, manual_options):
    return ([f'{where}: {option} is not in the manual' for option in sorted(help_options - manual_options)] +
            [f'{where}: {option} is not in --help' for option in sorted(manual_options - help_options)])


def help_of(program, *verb):
    shown = subprocess.run([program, *verb, '--help'], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    where = ' '.join([*verb, '--help'])
    problems = [f'{where}: {len(line)} columns: {line}' for line in shown.stdout.splitlines() if len(line) > 80]
    if shown.returncode != 0:
        problems.append(f'{where}: exit {shown.returncode}')
    if shown.stderr:
        problems.append(f'{where}: says on standard error: {shown.stderr}')
    return shown.stdout, problems


def lint(manual):
    said = subprocess.run(['mandoc', '-Tlint', manual], capture_output=True, text=True)
    return (said.stdout + said.stderr).splitlines()


def check(root, program):
    manual = Path(root) / 'ingest/br2-ingest.1'
    common, verbs = in_manual(manual.read_text())
    text, problems = help_of(program)
    offered = set(HELP_VERB.findall(text))
    problems += [f'{verb} is not in the manual' for verb in sorted(offered - verbs.keys())]
    problems += [f'{verb} is not in --help' for verb in sorted(verbs.keys() - offered)]
    for verb in sorted(offered & verbs.keys()):
        text, faults = help_of(program, verb)
        problems += faults + compare(verb, in_help(text), common | verbs[verb])
    return problems + lint(manual)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]
    problems = check(root, os.environ['BR2_INGEST'])
    print('\n'.join(problems) if problems else 'help and manual agree')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
