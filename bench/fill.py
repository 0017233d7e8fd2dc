"""Fills a running bb_storage with as many action results as a bench wants."""
import base64
import gzip
import json
import sys
from collections import deque

import grpc

import harness
import wire

UPDATE = '/build.bazel.remote.execution.v2.ActionCache/UpdateActionResult'
AT_ONCE = 256


def recorded(instance):
    """Replies of the recorded cache, as bytes."""
    with gzip.open(harness.LOGS / 'cache/action_results.jsonl.gz', 'rt') as lines:
        entries = map(json.loads, lines)
        return [base64.b64decode(e['action_result']) for e in entries if e['instance'] == instance]


def fill(address, instance, digests):
    """Gives each digest one of the recorded results; their outputs must be there (Server.load())."""
    results = recorded(instance)
    with grpc.insecure_channel(address) as channel:
        update = channel.unary_unary(UPDATE, lambda b: b, lambda b: b)
        calls = deque()
        for number, digest in enumerate(digests):
            hash_, size = digest.split(':')
            message = (wire.with_length(1, instance.encode())
                       + wire.with_length(2, wire.with_length(1, hash_.encode()) + wire.with_number(2, int(size)))
                       + wire.with_length(3, results[number % len(results)]))
            calls.append(update.future(message, timeout=60))
            if len(calls) >= AT_ONCE:
                calls.popleft().result()
        for call in calls:
            call.result()


if __name__ == '__main__':
    sys.exit('fill.py is part of bench/run')
