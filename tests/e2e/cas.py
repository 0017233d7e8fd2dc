"""Blobs for a real bb_storage, and HistoricalExecuteResponses made out of recorded ones."""
import base64
import gzip
import hashlib
import json
import sys

import grpc

import harness

sys.path.insert(0, str(harness.BUILDBARN))
from load import V2, digest, part, varint  # noqa: E402

SHA256, SHA1, MD5, SHA384, SHA512, SHA256TREE, BLAKE3, GITSHA1 = 1, 2, 3, 5, 6, 8, 9, 10


def recorded():
    """The recorded blobs by digest."""
    with gzip.open(harness.LOGS / 'cache/blobs.jsonl.gz', 'rt') as lines:
        return {row['digest']: base64.b64decode(row['data']) for row in map(json.loads, lines)}


def put(address, blob, instance='', function=SHA256, hashed=None):
    """Stores it and returns its digest; `hashed` where Python does not know the function."""
    names = {SHA256: 'sha256', SHA1: 'sha1', MD5: 'md5', SHA384: 'sha384', SHA512: 'sha512'}
    name = f'{hashed or hashlib.new(names[function], blob).hexdigest()}:{len(blob)}'
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary(V2 + 'ContentAddressableStorage/BatchUpdateBlobs')
        answer = call(part(1, instance.encode()) + part(2, part(1, digest(name)) + part(2, blob)) +
                      b'\x28' + varint(function), timeout=30)
    assert b'\x08\x05' not in answer[-8:], answer
    return name


def about(action, padding=0):
    """A HistoricalExecuteResponse: the action succeeded, with that many bytes of stdout."""
    result = b'\x20\x00' + part(5, b'x' * padding) if padding else b'\x20\x00'
    return part(1, digest(action)) + part(3, part(1, result))
