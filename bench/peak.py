"""Runs a command and says, as one JSON object on standard error, what it cost and the peak of its memory.

usage: python3 -I -S peak.py COMMAND...

A child's peak (ru_maxrss) begins at that of the process that forked it, so a large
parent would count for the child: this one has some 10 MB, which is the least that
can be seen.
"""
import os
import sys
import time


def main(command):
    started = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    print('\n{"code": %d, "wall": %f, "cpu": %f, "max_rss_bytes": %d}' % (
        os.waitstatus_to_exitcode(status), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024),
          file=sys.stderr)


if __name__ == '__main__':
    main(sys.argv[1:])
