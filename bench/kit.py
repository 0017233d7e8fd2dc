"""What the benches share: the sizes of this run, our program, generated logs, the real server."""
import contextlib
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import fill
import gen_log
import harness
import pairs
import peers

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / 'bench'
INSTANCE = 'demo-x86_64'
DIGESTS = re.compile(r'(\d+) of them with a remote digest')


class Log:
    """A generated log, and what the generator and the program say of it: they must agree."""

    def __init__(self, path, made):
        self.path, self.made = path, made

    def words(self):
        return f'{self.made.size / 1e6:.0f} MB decoded, packed {self.made.size / self.made.packed:.1f}x'


class Kit:
    """`sizes`: see SIZES in run. `folder` is emptied by who made it; close() stops the servers."""

    def __init__(self, sizes, folder):
        self.sizes, self.folder = sizes, Path(folder)
        self.program, self.probe = peers.ours()
        self.stack = contextlib.ExitStack()

    def close(self):
        self.stack.close()

    # ---- logs ----------------------------------------------------------------------

    def make_log(self, name, **size):
        path = self.folder / name
        log = Log(path, gen_log.write(path, **size))
        told = subprocess.run([self.program, path, '--dry-run', '--project', 'bench', '--db', self.folder / 'none.db'],
                              check=True, capture_output=True, text=True).stdout
        read = int(DIGESTS.search(told)[1])
        assert read == log.made.actions, f'{path}: {read} digests are read, {log.made.actions} were written'
        return log

    @functools.cached_property
    def log(self):
        """The large one."""
        return self.make_log('large_events.pb.zst', megabytes=self.sizes.megabytes)

    @functools.cached_property
    def eight_logs(self):
        return [self.make_log(f'{n}_events.pb.zst', megabytes=self.sizes.each, seed=100 + n) for n in range(8)]

    @functools.cached_property
    def job_log(self):
        """The one whose digests are asked, all of them."""
        return self.make_log('job_events.pb.zst', actions=self.sizes.lookups, keep=sys.maxsize, seed=3)

    # ---- our program -----------------------------------------------------------------

    def command(self, db, *options, logs):
        return [self.program, *logs, '--db', db, '--project', 'bench', '--instance', INSTANCE, '--quiet', '--no-report', *options]

    def ingest(self, db, *options, logs):
        return pairs.cost(self.command(db, *options, logs=logs), stdout=subprocess.DEVNULL)

    def fresh(self, name='ours.db'):
        db = self.folder / name
        db.unlink(missing_ok=True)
        return db

    def dry(self, *logs):
        """A function that reads the logs into structs, and what that cost."""
        return lambda: self.ingest(self.fresh(), '--dry-run', logs=[log.path for log in logs])

    def store(self, *logs):
        """A function that stores the logs in a new database and asks nobody."""
        def run():
            db = self.fresh()
            spent = self.ingest(db, '--no-remote', logs=[log.path for log in logs])
            count(db, 'lookup', sum(log.made.actions for log in logs))
            return spent

        return run

    def paired(self, mine, theirs):
        return pairs.paired(self.sizes.pairs, mine, theirs)

    # ---- the cache ---------------------------------------------------------------------

    def server(self, complete):
        """A bb_storage that has a result for each digest of the job; `complete`: it looks for their outputs first."""
        return self._servers(bool(complete))

    @functools.cache
    def _servers(self, complete):
        folder = self.folder / f'server-{complete}'
        folder.mkdir()
        # Room for all results, and completeness checking by choice: tests/buildbarn/run.sh.
        os.environ.update(BB_AC_BLOCK=str(64 << 20), BB_COMPLETE=str(complete).lower())
        server = self.stack.enter_context(harness.Server(folder))
        fill.fill(server.load().address, INSTANCE, self.job_log.made.digests)
        return server


def plainly(*command):
    """A function that runs a peer whose output nobody reads."""
    return lambda: pairs.cost(command, stdout=subprocess.DEVNULL)


def count(db, table, wanted):
    """The work was done: so many rows are there."""
    found = harness.value(db, f'SELECT count(*) FROM {table}')
    assert found == wanted, f'{found} rows of {table}, not {wanted}'
