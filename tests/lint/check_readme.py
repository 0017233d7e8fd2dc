#!/usr/bin/python3
"""Runs the example queries of README.md and compares what they print.

usage: BR2_INGEST=PROGRAM check_readme.py [--update]

The data are the recorded logs of tests/data, ingested against the recording.
A line of the console block that begins with "$ " is a command; what follows,
to the next one, is its output. Only `sqlite3` and `br2-ingest` are run, in a folder
that holds nothing but the database.
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / 'README.md'
DATA = ROOT / 'tests' / 'data'
SAMPLES = ('demo-x86_64', 'cells', 'failures')


def ingest(binary, folder):
    for sample in SAMPLES:
        subprocess.run(
            [binary, '--quiet', '--db', 'demo.db', '--replay',
             DATA / 'recordings' / 'demo.jsonl.zst', DATA / 'logs' / sample],
            cwd=folder, check=True)
    subprocess.run(
        [binary, '--quiet', '--db', 'demo.db', '--no-remote', '--pods', DATA / 'pods' / 'recorded.json',
         DATA / 'logs' / 'failures'], cwd=folder, check=True)


def run(command, folder):
    words = shlex.split(command)
    if words[0] == 'br2-ingest':
        words[0] = pathlib.Path(os.environ['BR2_INGEST']).resolve()
    elif words[0] != 'sqlite3':
        sys.exit(f'README.md: only sqlite3 and br2-ingest are run, not {words[0]}')
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
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
    with tempfile.TemporaryDirectory() as folder:
        ingest(pathlib.Path(os.environ['BR2_INGEST']).resolve(), folder)
        fresh = rewrite(text, folder)
    if update:
        README.write_text(fresh)
    elif fresh != text:
        subprocess.run(['diff', '-u', README, '-'], input=fresh, text=True)
        sys.exit('README.md: examples print something else; check_readme.py --update')


main()
