#!/usr/bin/python3
"""Holds what is built to cmake/compile.cmake's hardening: the program itself, and how its parts were compiled.

usage: BR2_INGEST=PROGRAM check_hardening.py

A program under a sanitizer has no _FORTIFY_SOURCE, which hides faults from it. What leaves no mark in a program
(stack clash protection), or loses it to Debian's start files (-fcf-protection), is read from the build.ninja that made it.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

FLAGS = ('-fPIE', '-fstack-protector-strong', '-fstack-clash-protection',
         *{'x86_64': ['-fcf-protection'], 'aarch64': ['-mbranch-protection=standard']}.get(os.uname().machine, []))


def of_program(elf):
    """What is wrong with a program, from `readelf -hldnsW`."""
    sanitized = '__asan_init' in elf
    wanted = {
        'not position independent': re.search(r'Type:\s+DYN .*Position-Independent', elf),
        'no RELRO segment': 'GNU_RELRO' in elf,
        'symbols are bound while it runs': re.search(r'BIND_NOW|FLAGS_1.*\bNOW\b', elf),
        'the stack is executable': re.search(r'GNU_STACK\s.*\bRW\b', elf),
        'a segment is written and executed': not re.search(r'LOAD\s.*\bRWE\b', elf),
        'libraries are sought beside it (RPATH)': not re.search(r'\((RPATH|RUNPATH)\)', elf),
        'no stack protector': '__stack_chk_fail' in elf,
        'no _FORTIFY_SOURCE': sanitized or re.search(r'__v?snprintf_chk', elf),
    }
    return [what for what, holds in wanted.items() if not holds]


def of_build(ninja):
    """Which compilations of ours lack a flag, from build.ninja."""
    problems = []
    for target, flags in re.findall(r'^build ((?:ingest|proto)/\S+\.o):.*?^  FLAGS = ([^\n]*)', ninja, re.MULTILINE | re.DOTALL):
        problems += [f'{target}: compiled without {flag}' for flag in FLAGS if flag not in flags.split()]
        if '-fsanitize=' not in flags and '-O' in flags and '-D_FORTIFY_SOURCE=3' not in flags.split():
            problems.append(f'{target}: compiled without -D_FORTIFY_SOURCE=3')
    return problems


def main():
    program = Path(os.environ['BR2_INGEST'])
    elf = subprocess.run(['readelf', '-hldnsW', program], check=True, capture_output=True, text=True).stdout
    ninja = (program.parents[1] / 'build.ninja').read_text()
    assert ' FLAGS = ' in ninja
    problems = [f'{program}: {what}' for what in of_program(elf)] + of_build(ninja)
    print('\n'.join(problems) or 'hardened as cmake/compile.cmake says')
    return bool(problems)


if __name__ == '__main__':
    sys.exit(main())
