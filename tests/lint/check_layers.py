#!/usr/bin/python3
"""Holds the layers and the owners of third-party headers (CONTRIBUTING.md).

usage: check_layers.py [ROOT]

util <- model <- stages <- joints, show <- verbs <- main. A stage is the files that
begin with its name (lookup.c, lookup_grpc.c, …); stages do not include each
other but for the pairs listed here, each with its reason.
"""
import fnmatch
import re
import sys
from pathlib import Path

# Layer by layer, each may include those above it. Patterns of module names
# (a module is a file's path below ingest/ without its ending).
UTIL = ['util/*']
# Plain structs, texts, and pure functions of them that several stages know.
MODEL = ['model', 'cluster', 'embedded', 'digest', 'redact*', 'shape']
STAGES = {
    'config': ['config', 'buckconfig*', 'project', 'remote*'],
    'discover': ['discover*'],
    'stream': ['stream*'],
    'decode': ['decode*'],
    'lookup': ['lookup*'],
    'result': ['result*'],
    'store': ['store*'],
    'cluster': ['cluster_*'],
}
JOINTS = ['reader', 'clean', 'spans', 'instance', 'held', 'cli_config', 'places', 'reading', 'readers', 'rows', 'rowput', 'runlog', 'slice',
          'ask*', 'pipeline*']
SHOW = ['check*', 'compare*', 'report*', 'views*', 'export*', 'html*', 'plan*', 'figures', 'output', 'symptom']
# The store, and the list of logs that a report is about.
SHOW_STAGES = ['store', 'discover']
COMMON = ['common', 'database', 'flags_*', 'scope']
VERBS = ['cmd', 'cmd_*']
MAIN = ['main']

# One stage may know another's header only here.
STAGE_PAIRS = {
    ('lookup', 'config'): 'the gRPC transport is opened on a struct remote',
    ('discover', 'config'): 'a project root is found and named as the configuration does it',
}

# Header -> the only modules that include it.
OWNERS = {
    'nghttp2/*': ['lookup_http2'],
    'openssl/*': ['util/connection'],
    'sqlite3.h': ['store*'],
    'zstd*.h': ['util/unpack'],
    'zlib.h': ['util/unpack'],
    'jansson.h': ['project', 'lookup_recording', 'lookup_replay',
                  'cluster_*'],
    'curl/*': ['util/http*', 'util/connection', 'util/curl_files'],
    'yaml.h': ['cluster_values'],
    'protobuf-c/*': ['util/wire', 'decode_pb*', 'result', 'lookup_message'],
    'buck2.pb-c.h': ['decode_pb*'],
    'reapi.pb-c.h': ['result', 'lookup_message'],
    'buildbarn.pb-c.h': ['result'],
}
# C11, POSIX and Linux: nobody's.
SYSTEM = re.compile(
    r'(arpa/|net/|netinet/|sys/|linux/)\w+\.h|'
    r'(assert|ctype|dirent|endian|errno|fcntl|float|fnmatch|getopt|glob|inttypes|langinfo|libgen|'
    r'limits|locale|math|netdb|poll|pthread|pwd|regex|setjmp|signal|spawn|stdalign|stdarg|'
    r'stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|termios|time|'
    r'unistd|wchar|wctype)\.h')

INCLUDE = re.compile(r'^\s*#\s*include\s*(<([^>]+)>|"([^"]+)")')


def matches(module, patterns):
    return any(fnmatch.fnmatchcase(module, p) for p in patterns)


def stage_of(module):
    for stage, patterns in STAGES.items():
        if matches(module, patterns):
            return stage
    return None


def layer_of(module):
    """0 util … 6 main; None for a module that this table does not know."""
    if stage_of(module):
        return 2
    for number, patterns in ((0, UTIL), (1, MODEL), (3, JOINTS), (3, SHOW), (4, COMMON),
                             (5, VERBS), (6, MAIN)):
        if matches(module, patterns):
            return number
    return None


def check_own(module, target):
    """Why `module` may not include our header `target`, or None."""
    mine, theirs = layer_of(module), layer_of(target)
    if theirs is None:
        return f'"{target}.h" belongs to no layer: add it to the table in check_layers.py'
    if theirs > mine:
        return f'"{target}.h" is of a higher layer'
    if mine == theirs == 2 and stage_of(module) != stage_of(target):
        if (stage_of(module), stage_of(target)) not in STAGE_PAIRS:
            return f'"{target}.h": the stages {stage_of(module)} and {stage_of(target)} do not know each other'
    if matches(module, SHOW) and theirs in (2, 3) and not matches(target, SHOW):
        if stage_of(target) not in SHOW_STAGES:
            return f'"{target}.h": what shows rows knows the store alone'
    if mine == 5 and theirs == 5 and target != 'cmd':
        return f'"{target}.h": verbs do not know each other'
    return None


def check_foreign(module, header):
    """Why `module` may not include <header>, or None."""
    for pattern, owners in OWNERS.items():
        if fnmatch.fnmatchcase(header, pattern):
            if matches(module, owners):
                return None
            return f'<{header}> belongs to {", ".join(owners)}'
    if SYSTEM.fullmatch(header):
        return None
    return f'<{header}> has no owner: add it to the table in check_layers.py'


def check_file(path, module):
    problems = []
    if layer_of(module) is None:
        problems.append((1, 'belongs to no layer: add it to the table in check_layers.py'))
        return problems
    first = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        foreign, own = found.group(2), found.group(3)
        if first is None:
            first = own
            header = path.with_suffix('.h')
            if path.suffix == '.c' and header.exists() and own != f'{module}.h':
                problems.append((number, f'includes "{module}.h" not first'))
        if own and not own.endswith('.pb-c.h'):
            problem = check_own(module, own.removesuffix('.h'))
        else:
            problem = check_foreign(module, foreign or own)
        if problem:
            problems.append((number, problem))
    return problems


def check(root):
    problems = []
    ingest = Path(root) / 'ingest'
    for path in sorted(ingest.rglob('*.[ch]')):
        module = str(path.relative_to(ingest).with_suffix(''))
        for line, text in check_file(path, module):
            problems.append(f'{path.relative_to(root)}:{line}: {text}')
    return problems


if __name__ == '__main__':
    found = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    print('\n'.join(found) or 'layers and owners hold')
    sys.exit(bool(found))
