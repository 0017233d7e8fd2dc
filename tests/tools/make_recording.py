#!/usr/bin/python3
"""Makes a recording (br2-ingest --replay FILE) of the answers that the recorded
cache would give. The demo and the golden tests answer from it.

usage: make_recording.py [CACHE_DIR [FILE.jsonl.zst]]

CACHE_DIR holds action_results.jsonl.gz and blobs.jsonl.gz (see
tests/data/logs/README.md). Of the blobs those are taken that an expected.json of
the samples beside it names as a failed attempt's result, under the sample's
instance. The format is that of ingest/lookup_recording.h, packed by zstd; equal
input gives an equal file.
"""
import gzip
import json
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parents[1] / 'data'
HEADER = {'format': 'br2-ingest recording', 'version': 1}


def rows(path):
    with gzip.open(path, 'rt') as lines:
        yield from map(json.loads, lines)


def answer(method, instance, digest, reply):
    return {'method': method, 'instance': instance, 'function': 'sha256', 'digest': digest, 'code': 0, 'message': '',
            'reply': reply}


def results(cache):
    for row in rows(cache / 'action_results.jsonl.gz'):
        yield answer('GetActionResult', row['instance'], row['digest'], row['action_result'])


def historical(cache):
    blobs = {row['digest']: row['data'] for row in rows(cache / 'blobs.jsonl.gz')}
    for path in cache.parent.glob('*/expected.json'):
        expected = json.loads(path.read_text())
        for link in expected['historical']:
            yield answer('ReadBlob', expected['instance'], link['link'], blobs[link['link']])


def main():
    cache = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / 'logs/cache'
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else DATA / 'recordings/demo.jsonl.zst'
    entries = sorted([*results(cache), *historical(cache)], key=lambda e: (e['method'], e['instance'], e['digest']))
    lines = [json.dumps(entry, separators=(',', ':')) for entry in [HEADER, *entries]]
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(['zstd', '-q', '-19', '-f', '-o', target], check=True, input='\n'.join(lines).encode() + b'\n')
    print(f'{len(entries)} answers, {target.stat().st_size} bytes')


if __name__ == '__main__':
    main()
