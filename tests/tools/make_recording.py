#!/usr/bin/python3
"""Makes a recording (br2-ingest --replay FILE) of the answers that the recorded
cache would give. The demo and the golden tests answer from it.

usage: make_recording.py [CACHE_DIR [FILE.jsonl.zst]]

CACHE_DIR holds action_results.jsonl.gz (see tests/data/logs/README.md). The
format is that of ingest/lookup_recording.h, packed by zstd; equal input gives
an equal file.
"""
import gzip
import json
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parents[1] / 'data'
HEADER = {'format': 'br2-ingest recording', 'version': 1}


def answers(cache):
    with gzip.open(cache / 'action_results.jsonl.gz', 'rt') as lines:
        for line in lines:
            entry = json.loads(line)
            yield {'method': 'GetActionResult', 'instance': entry['instance'], 'function': 'sha256',
                   'digest': entry['digest'], 'code': 0, 'message': '', 'reply': entry['action_result']}


def main():
    cache = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / 'logs/cache'
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else DATA / 'recordings/demo.jsonl.zst'
    entries = sorted(answers(cache), key=lambda e: (e['instance'], e['digest']))
    lines = [json.dumps(entry, separators=(',', ':')) for entry in [HEADER, *entries]]
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(['zstd', '-q', '-19', '-f', '-o', target], check=True, input='\n'.join(lines).encode() + b'\n')
    print(f'{len(entries)} answers, {target.stat().st_size} bytes')


if __name__ == '__main__':
    main()
