"""The peak of the program's memory, where there is much of something."""
import random
import subprocess

import gen_lines
import gen_log
import kit
import pairs
import wire
from page import Row

LIMIT_MB = 64
STDERR = (16 << 20) - 4096  # with what stands around it just below the largest record that is taken
LOUD = 2  # so many such records


def loud_end(rng):
    """An ActionExecutionEnd whose command printed nearly 16 MiB and failed. Field numbers: proto/buck2.proto."""
    target = wire.with_length(1, b'root//package/loud') + wire.with_length(2, b'loud')
    key = wire.with_length(2, wire.with_length(1, target))
    name = wire.with_length(1, b'br2_package') + wire.with_length(2, b'build')
    stderr = b''.join(rng.randbytes(40).hex().encode() + b'\n' for _ in range(STDERR // 81))
    digest = wire.with_length(1, rng.randbytes(32).hex().encode() + b':141')
    details = wire.with_length(3, stderr) + wire.with_number(4, 2) + wire.with_length(5, wire.with_length(2, digest))
    command = wire.with_length(1, details) + wire.with_length(3, b'')
    return (wire.with_length(1, key) + wire.with_length(5, name) + wire.with_number(6, 1) + wire.with_length(11, b'')
            + wire.with_number(22, 2) + wire.with_length(25, command))


def loud_log(path, seed):
    """A log of a few records of nearly 16 MiB, which are wanted."""
    rng, recorded = random.Random(seed), gen_log.recorded()
    trace = gen_lines.trace_id(rng)
    with open(path, 'wb') as out:
        pack = subprocess.Popen(['zstd', '-q', '-1'], stdin=subprocess.PIPE, stdout=out)
        pack.stdin.write(recorded.header(trace))
        for number in range(1, LOUD + 1):
            event = (wire.with_length(1, wire.with_number(1, 1_796_000_000 + number)) + wire.with_length(2, trace)
                     + wire.with_number(3, number) + wire.with_length(21, wire.with_length(51, loud_end(rng))))
            record = wire.with_length(1, event)
            pack.stdin.write(wire.encode(len(record)) + record)
        pack.stdin.write(recorded.ends)
        pack.stdin.close()
        assert pack.wait() == 0
    return path


def peak(k, name, rows, *options, logs):
    """A row: the peak while these logs are stored, which must bring so many actions."""
    db = k.fresh('peak.db')
    _, used = pairs.peaked(k.command(db, *options, logs=logs))
    kit.count(db, *rows)
    return Row(f'peak of memory: {name}', [used / 1e6], goal=LIMIT_MB, unit='MB', gross=4 * LIMIT_MB)


def peaks(k):
    """The largest resident size of the process, which stores all: the large log, the eight, records of nearly 16 MiB of stderr
    (larger ones are not taken), and lookups."""
    yield peak(k, f'one log ({k.log.words()})', ('lookup', k.log.made.actions), '--no-remote', logs=[k.log.path])
    many = sum(log.made.actions for log in k.eight_logs)
    yield peak(k, f'8 logs of {k.sizes.each} MB', ('lookup', many), '--no-remote', logs=[log.path for log in k.eight_logs])
    loud = [loud_log(k.folder / f'loud{n}_events.pb.zst', n) for n in range(4)]
    yield peak(k, f'one log with {LOUD} records of 16 MiB of stderr', ('attempt_stderr', LOUD), '--no-remote', logs=loud[:1])
    yield peak(k, '4 such logs', ('attempt_stderr', 4 * LOUD), '--no-remote', logs=loud)
    for path in loud:
        path.unlink()
    job = k.job_log
    yield peak(k, f'{job.made.actions} lookups, 128 in flight', ('result', job.made.actions), '--in-flight', '128', '--endpoint',
               k.server(False).address, logs=[job.path])
