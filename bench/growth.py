"""What an action costs as logs grow: ten times as large from one line to the next."""
import shutil

import harness
import memory
import pairs
from page import Row, Table

BYTES_AN_ACTION = 1500  # of disk: the packed log, the database, its journal
LINEAR = 1.5


def room_for(k, actions):
    free = shutil.disk_usage(k.folder).free
    if free < actions * BYTES_AN_ACTION:
        raise SystemExit(f'{actions} actions want {actions * BYTES_AN_ACTION / 1e9:.0f} GB in {k.folder}, which has'
                         f' {free / 1e9:.0f}: set TMPDIR to a folder with more')


def measure(k, actions):
    """(actions, cost, peak of memory, bytes of the database) of one log that is stored, no lookups."""
    room_for(k, actions)
    log, db = k.make_log('growing_events.pb.zst', actions=actions, seed=6), k.fresh('growing.db')
    spent, peak = pairs.peaked(k.command(db, '--no-remote', logs=[log.path]))
    stored, size = harness.value(db, 'SELECT count(*) FROM action'), db.stat().st_size
    assert stored >= log.made.actions, f'{stored} actions of {log.made.actions} are stored'
    db.unlink()
    log.path.unlink()
    return stored, spent, peak, size


def sizes(largest):
    return [10**n for n in range(4, 8) if 10**n <= largest]


def grow(k):
    """One log stored in a new database, no lookups, once each, ten times as large from line to line."""
    found = [measure(k, actions) for actions in sizes(k.sizes.growth)]
    cpus, walls = ([getattr(spent, kind) / actions * 1e6 for actions, spent, *_ in found] for kind in ('cpu', 'wall'))
    for what, each in (('CPU', cpus), ('time', walls)):
        yield Row(f'growing from {found[0][0]} to {found[-1][0]} actions: {what} an action', [each[-1] / each[0]], goal=LINEAR)
    yield Row(f'peak of memory: {found[-1][0]} actions in one log', [found[-1][2] / 1e6], goal=memory.LIMIT_MB, unit='MB')
    lines = [[actions, f'{spent.wall:.2f}', f'{wall:.1f}', f'{cpu:.1f}', f'{peak / 1e6:.0f}', f'{size / 1e6:.0f}',
              f'{size / actions:.0f}'] for (actions, spent, peak, size), cpu, wall in zip(found, cpus, walls)]
    yield Table('Growth', 'Memory is the peak of the process.',
                ['actions', 'seconds', 'µs an action', 'CPU µs an action', 'MB of memory', 'MB of database', 'bytes an action'],
                lines)
