#!/usr/bin/python3
"""Runs the example commands of README.md and compares what they print.

usage: BR2_INGEST=PROGRAM check_readme.py [--update]

The database is the one that scripts/demo makes, by the same command on the same logs.
A line of the console block that begins with "$ " is a command; what follows,
to the next one, is its output. Only `sqlite3` and `br2-ingest` are run, in a folder
that holds nothing but the database.
"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / 'README.md'
DEMO = (ROOT / 'scripts' / 'demo').read_text()
DATA = 'tests/data'
SAMPLES = 'demo-x86_64 cells failures'
ANSWERS = f'--replay {DATA}/recordings/demo.jsonl.zst'
PODS = f'--pods {DATA}/pods/recorded.json'


def check_demo():
    """What is shown is what somebody gets who follows the README: the demo's file."""
    for words in (f'for sample in {SAMPLES}; do', ANSWERS, f'"${{answers[@]}}" {PODS}\n'):
        if words not in DEMO:
            sys.exit(f'scripts/demo no longer says: {words.strip()}')


def ingest(binary, folder):
    """Makes folder/demo.db."""
    with tempfile.TemporaryDirectory() as made:
        for sample in SAMPLES.split():
            shutil.copytree(ROOT / DATA / 'logs' / sample, f'{made}/experiments/{sample}')
            os.remove(f'{made}/experiments/{sample}/expected.json')
        subprocess.run([binary, f'{made}/experiments', '--quiet', '--db', f'{folder}/demo.db', *ANSWERS.split(),
                        *PODS.split()], cwd=ROOT, check=True)


def run(command, folder):
    words = shlex.split(command)
    if words[0] == 'br2-ingest':
        words[0] = pathlib.Path(os.environ['BR2_INGEST']).resolve()
    elif words[0] != 'sqlite3':
        sys.exit(f'README.md: only sqlite3 and br2-ingest are run, not {words[0]}')
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'README.md: $ {command}\n{done.stderr}')
    return done.stdout + done.stderr


def rewrite(text, folder):
    """The text with every command's output made anew."""
    out, inside, after_command = [], False, False
    for line in text.splitlines():
        if line.startswith('```'):
            inside = line == '```console'
            after_command = False
        if inside and line.startswith('$ '):
            out += [line] + run(line[2:], folder).splitlines()
            after_command = True
        elif not (inside and after_command):
            out.append(line)
    return '\n'.join(out) + '\n'


def main():
    update = sys.argv[1:] == ['--update']
    if sys.argv[1:] and not update or 'BR2_INGEST' not in os.environ:
        sys.exit(__doc__)
    text = README.read_text()
    if '$ sqlite3' not in text:
        sys.exit('README.md: no example to run')
    check_demo()
    with tempfile.TemporaryDirectory() as folder:
        ingest(pathlib.Path(os.environ['BR2_INGEST']).resolve(), folder)
        fresh = rewrite(text, folder)
    if update:
        README.write_text(fresh)
    elif fresh != text:
        subprocess.run(['diff', '-u', README, '-'], input=fresh, text=True)
        sys.exit('README.md: examples print something else; check_readme.py --update')


main()
