"""Namespaces of Linux, for what a test may do to no machine: a small disk that fills up, a
network that goes dark. Tests that need one carry the mark `namespace`. Where the machine forbids
namespaces they fail and say so; BR2_NO_NETNS=1 leaves them out, and counts them (conftest.py)."""
import contextlib
import os
import shutil
import subprocess
from pathlib import Path


class Namespace:
    """With mounts and a network of its own, until its end. What runs `inside` it sees them."""

    def __init__(self):
        command = ['unshare', '--user', '--map-root-user', '--mount', '--net', 'sh', '-c', 'echo there; exec cat']
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self.process.stdout.readline() != b'there\n':
            why = self.process.communicate()[1].decode().strip()
            raise AssertionError(f'this machine allows no namespaces ({why}): BR2_NO_NETNS=1 leaves such tests out')
        self.inside = ['nsenter', f'--target={self.process.pid}', '--user', '--preserve-credentials', '--mount', '--net']

    def light(self, on=True):
        """Takes the network up, or down: what is sent then is dropped without a word."""
        self.run('ip', 'link', 'set', 'lo', 'up' if on else 'down')

    def run(self, *command):
        done = subprocess.run([*self.inside, *map(str, command)], capture_output=True, text=True)
        assert done.returncode == 0, f'{command} in a namespace: {done.stderr}: BR2_NO_NETNS=1 leaves such tests out'

    def path(self, path):
        """What is mounted there inside, as seen from outside; SQLite cannot be given it, as it follows the link."""
        return Path(f'/proc/{self.process.pid}/root{path}')

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.communicate()


class Disk:
    """A small one, mounted at `place` in a namespace."""

    def __init__(self, namespace, place, mib=16):
        self.place = Path(place)
        namespace.run('mount', '-t', 'tmpfs', '-o', f'size={mib}m,mode=0777', 'none', place)
        self.seen = namespace.path(place)
        self.filler = self.seen / 'filler'

    def leave(self, kib):
        """Fills it up to so much."""
        self.make_room()
        free = os.statvfs(self.seen)
        with open(self.filler, 'wb') as filler:
            os.posix_fallocate(filler.fileno(), 0, free.f_bavail * free.f_frsize - kib * 1024)

    def make_room(self):
        with contextlib.suppress(FileNotFoundError):
            self.filler.unlink()

    def take_out(self, name, into):
        """Copies of the file and of what stands beside it by its name, such as a journal; that of the file."""
        for old in into.glob(f'{name}*'):
            old.unlink()
        for file in self.seen.glob(f'{name}*'):
            shutil.copy(file, into)
        return into / name
