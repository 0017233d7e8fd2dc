"""The peers that ask an action cache for the same digests: ghz, and one grpcurl process a digest."""
import json
import subprocess

import kit
import pairs
import peers

METHOD = 'build.bazel.remote.execution.v2.ActionCache/GetActionResult'
PROTO = kit.BENCH / 'action_cache.proto'
GRPCURLS = 8  # at a time


def request(digest):
    hash_, size = digest.split(':')
    return {'instance_name': kit.INSTANCE, 'digest_function': 1, 'action_digest': {'hash': hash_, 'size_bytes': size}}


def ghz(k, server, digests, in_flight):
    """A function that asks for all; its replies are discarded."""
    data, report = k.folder / 'requests.json', k.folder / 'ghz.json'

    def run():
        data.write_text(json.dumps([request(d) for d in digests]))
        spent = pairs.cost([peers.peer(peers.GHZ), '--insecure', '--proto', PROTO, '--call', METHOD, '-D', data,
                            '-n', len(digests), '-c', in_flight, '--connections', 1, '-O', 'json', '-o', report, server.address])
        told = json.loads(report.read_text())['statusCodeDistribution']
        assert told == {'OK': len(digests)}, told
        return spent

    return run


def grpcurl(k, server, digests):
    """A function that asks as the script does. xargs fails if one call did not bring a result."""
    words = k.folder / 'calls'
    command = ['xargs', '-0', '-I', '{}', '-P', GRPCURLS, '-a', words, peers.peer(peers.GRPCURL), '-plaintext',
               '-import-path', kit.BENCH, '-proto', PROTO.name, '-d', '{}', server.address, METHOD]
    absent = 'f' * 64 + ':1'

    def run(asked=digests):
        words.write_text(''.join(json.dumps(request(d)) + '\0' for d in asked))
        return pairs.cost(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def fails():
        try:
            run([absent])
        except SystemExit:
            return True
        return False

    assert fails(), 'a digest that no cache has makes grpcurl no error'
    return run


def scaled(measure, factor):
    """What `factor` times the calls cost, each being a process like the other."""
    def run():
        spent = measure()
        return pairs.Cost(spent.wall * factor, spent.cpu * factor)

    return run
