"""The clockwork of `plan` against a slow reference: thousands of small random cases."""
import os
import random
import subprocess


class Worker:
    def __init__(self, number, begin, ready):
        self.number, self.begin, self.ready = number, begin, ready
        self.free_at = []      # when each action that it runs lets go of it
        self.idle_since = None  # None: starting, or busy


class Pool:
    """The rules of plan_sim.h, as they are written there: every step looks at everybody."""

    def __init__(self, low, high, concurrency, shares, start, turn, cooldown):
        self.low, self.high, self.concurrency, self.shares = low, high, concurrency, shares
        self.start, self.turn, self.cooldown = start, turn, cooldown
        self.workers, self.waiting, self.lives, self.begun, self.last = [], [], [], {}, 0

    def places(self, worker, now):
        return 0 if worker.ready > now else self.concurrency - len(worker.free_at)

    def bury(self, now):
        """Who was idle for the cooldown has gone, at the moment when that was over."""
        for worker in list(self.workers):
            if worker.idle_since is not None and worker.number >= self.low and worker.idle_since + self.cooldown <= now:
                self.lives.append((worker.begin, worker.idle_since + self.cooldown))
                self.workers.remove(worker)

    def run(self, worker, action, now):
        number, service, _ = action
        self.begun[number] = (now, worker.number)
        self.last = max(self.last, now + service)
        worker.free_at.append(now + service + self.turn)
        worker.idle_since = None

    def give(self, worker, now):
        """A worker with a free place takes what waits; without work it is idle from now on."""
        while self.waiting and self.places(worker, now):
            self.run(worker, self.waiting.pop(0), now)
        if not worker.free_at and worker.idle_since is None:
            worker.idle_since = now

    def next_event(self):
        """(moment, 0 a place becomes free / 1 a worker is ready, number, worker)"""
        done = [(t, 0, w.number, w) for w in self.workers for t in w.free_at]
        ready = [(w.ready, 1, w.number, w) for w in self.workers if not w.free_at and w.idle_since is None]
        return min(done + ready, key=lambda event: event[:3], default=None)

    def happen(self, event):
        moment, kind, _, worker = event
        if kind == 0:
            worker.free_at.remove(moment)
        self.give(worker, moment)

    def take(self, now):
        """Whether a worker with a free place took the action that waits."""
        for worker in sorted(self.workers, key=lambda w: w.number):
            if self.places(worker, now):
                self.give(worker, now)
                return True
        return False

    def wants(self, now):
        starting = sum(worker.free_at == [] and worker.idle_since is None for worker in self.workers)
        return starting * self.concurrency < len(self.waiting) and len(self.workers) < self.high

    def add(self, now):
        free = min(set(range(self.high)) - {w.number for w in self.workers})
        self.workers.append(Worker(free, now, now + self.start))


class Together:
    """All pools; those that share have so many workers and no more."""

    def __init__(self, together, pools):
        self.pools = [Pool(*pool) for pool in pools]
        self.together = together

    def sharing(self):
        return [pool for pool in self.pools if pool.shares]

    def bury(self, now):
        for pool in self.pools:
            pool.bury(now)

    def make_room(self, now):
        self.bury(now)
        if sum(len(pool.workers) for pool in self.sharing()) < self.together:
            return True
        idle = [(worker.idle_since + pool.cooldown, i, worker.number, worker)
                for i, pool in enumerate(self.pools) if pool.shares
                for worker in pool.workers if worker.idle_since is not None and worker.number >= pool.low]
        if not idle:
            return False
        _, i, _, worker = min(idle, key=lambda one: one[:3])
        self.pools[i].lives.append((worker.begin, now))
        self.pools[i].workers.remove(worker)
        return True

    def spread(self, now):
        while wanting := [pool for pool in self.sharing() if pool.wants(now)]:
            if not self.make_room(now):
                return
            min(wanting, key=lambda pool: pool.waiting[0][2]).add(now)

    def advance(self, now):
        while True:
            events = [(event[:2], i, event) for i, pool in enumerate(self.pools) if (event := pool.next_event())]
            (moment, _), i, event = min(events, key=lambda one: one[:2], default=((None, 0), 0, None))
            if event is None or (now is not None and moment > now):
                return
            self.pools[i].happen(event)
            self.spread(moment)

    def arrive(self, number, i, now, service):
        pool = self.pools[i]
        self.advance(now)
        self.bury(now)
        pool.waiting.append((number, service, now))
        if pool.take(now):
            return
        if pool.shares:
            self.spread(now)
        else:
            while pool.wants(now):
                pool.add(now)

    def begin(self, actions):
        for i, pool in enumerate(self.pools):
            first = next((arrival for k, arrival, _ in actions if k == i), None)
            if first is None:
                pool.shares = 0
            else:
                pool.workers = [Worker(n, first, first) for n in range(pool.low)]
        stay = sum(pool.low for pool in self.sharing())
        self.together = max(self.together, stay + any(not pool.low for pool in self.sharing()))

    def simulate(self, actions):
        self.begin(actions)
        for number, (pool, arrival, service) in enumerate(actions):
            self.arrive(number, pool, arrival, service)
        self.advance(None)
        last = max(pool.last for pool in self.pools)
        begun, lives = {}, []
        for i, pool in enumerate(self.pools):
            begun.update(pool.begun)
            ended = [(w.begin, last if w.number < pool.low else w.idle_since + pool.cooldown) for w in pool.workers]
            lives += [(i, *life) for life in pool.lives + ended]
        return last, [begun[i] for i in range(len(actions))], sorted(lives)


def made_pool(rng, shares):
    high = rng.randint(1, 6)
    return (rng.choice([0, rng.randint(0, high)]), high, rng.choice([1, 1, 1, 2, 3]), shares,
            rng.choice([0, rng.randint(1, 70), 65]), rng.choice([0, 0, 1, 5]), rng.choice([0, 1, 30, 300]))


def made_case(rng, pools):
    made = [made_pool(rng, int(rng.random() < 0.8)) for _ in range(pools)]
    gaps = rng.choice([3, 30, 400])
    moment, actions = 1000, []
    for _ in range(rng.randint(1, 40)):
        moment += rng.choice([0, 0, rng.randint(0, gaps)])
        actions.append((rng.randrange(pools), moment, rng.choice([0, rng.randint(0, 5), rng.randint(0, 200)])))
    return rng.randint(1, 6), made, actions


def outcome(line):
    last, actions, lives = (list(map(int, part.split())) for part in line.split('|'))
    return last[0], list(zip(actions[::2], actions[1::2])), list(zip(lives[::3], lives[1::3], lives[2::3]))


def words(case):
    together, pools, actions = case
    numbers = [together, len(pools), len(actions), *(n for row in [*pools, *actions] for n in row)]
    return ' '.join(map(str, numbers)) + '\n'


def test_the_clockwork_agrees_with_the_reference():
    rng = random.Random(5)
    cases = [made_case(rng, pools) for pools in (1, 2, 3) for _ in range(2500)]
    ran = subprocess.run([os.environ['PLAN_PROBE']], input=''.join(map(words, cases)), capture_output=True, text=True,
                         check=True)
    lines = ran.stdout.splitlines()
    assert len(lines) == len(cases)
    for case, line in zip(cases, lines):
        together, pools, actions = case
        assert outcome(line) == Together(together, pools).simulate(actions), case
