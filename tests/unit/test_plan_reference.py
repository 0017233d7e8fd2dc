"""The clockwork of `plan` against a slow reference: thousands of small random pools."""
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

    def __init__(self, low, high, concurrency, start, turn, cooldown):
        self.low, self.high, self.concurrency = low, high, concurrency
        self.start, self.turn, self.cooldown = start, turn, cooldown
        self.workers, self.waiting, self.lives, self.begun, self.last = [], [], [], {}, None

    def places(self, worker, now):
        return 0 if worker.ready > now else self.concurrency - len(worker.free_at)

    def bury(self, now):
        """Who was idle for the cooldown has gone, at the moment when that was over."""
        for worker in list(self.workers):
            if worker.idle_since is not None and worker.number >= self.low and worker.idle_since + self.cooldown <= now:
                self.lives.append((worker.begin, worker.idle_since + self.cooldown))
                self.workers.remove(worker)

    def run(self, worker, action, now):
        number, service = action
        self.begun[number] = (now, worker.number)
        self.last = max(self.last or 0, now + service)
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

    def advance(self, now):
        while (event := self.next_event()) and (now is None or event[0] <= now):
            moment, kind, _, worker = event
            if kind == 0:
                worker.free_at.remove(moment)
            self.give(worker, moment)

    def arrive(self, number, now, service):
        self.advance(now)
        self.bury(now)
        self.waiting.append((number, service))
        for worker in sorted(self.workers, key=lambda w: w.number):
            if self.places(worker, now):
                self.give(worker, now)
                return
        starting = sum(worker.ready > now for worker in self.workers)
        while starting * self.concurrency < len(self.waiting) and len(self.workers) < self.high:
            free = min(set(range(self.high)) - {w.number for w in self.workers})
            self.workers.append(Worker(free, now, now + self.start))
            starting += 1
            if not self.start:
                self.advance(now)
                return

    def simulate(self, actions):
        first = actions[0][0]
        self.workers = [Worker(i, first, first) for i in range(self.low)]
        for number, (arrival, service) in enumerate(actions):
            self.arrive(number, arrival, service)
        self.advance(None)
        for worker in self.workers:
            until = self.last if worker.number < self.low else worker.idle_since + self.cooldown
            self.lives.append((worker.begin, until))
        return self.last, [self.begun[i] for i in range(len(actions))], sorted(self.lives)


def made_case(rng):
    high = rng.randint(1, 6)
    pool = (rng.randint(0, high), high, rng.choice([1, 1, 1, 2, 3]), rng.choice([0, rng.randint(1, 70), 65]),
            rng.choice([0, 0, 1, 5]), rng.choice([0, 1, 30, 300]))
    gaps = rng.choice([3, 30, 400])
    moment, actions = 1000, []
    for _ in range(rng.randint(1, 40)):
        moment += rng.choice([0, 0, rng.randint(0, gaps)])
        actions.append((moment, rng.choice([0, rng.randint(0, 5), rng.randint(0, 200)])))
    return pool, actions


def outcome(line):
    last, actions, lives = (list(map(int, part.split())) for part in line.split('|'))
    return last[0], list(zip(actions[::2], actions[1::2])), list(zip(lives[::2], lives[1::2]))


def test_the_clockwork_agrees_with_the_reference():
    rng = random.Random(5)
    cases = [made_case(rng) for _ in range(5000)]
    text = ''.join(' '.join(map(str, (*pool, len(actions), *(n for action in actions for n in action)))) + '\n'
                   for pool, actions in cases)
    ran = subprocess.run([os.environ['PLAN_PROBE']], input=text, capture_output=True, text=True, check=True)
    lines = ran.stdout.splitlines()
    assert len(lines) == len(cases)
    for (pool, actions), line in zip(cases, lines):
        assert outcome(line) == Pool(*pool).simulate(actions), (pool, actions)
