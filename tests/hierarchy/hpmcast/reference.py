"""hpmcast's Figure 6: one object per participant, views by the definition of delegates."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf, log

import numpy as np

from hierarchy.hpmcast import AddressSpace, Gossip
from hierarchy.hpmcast.dissemination import STREAM
from hierarchy.hpmcast.gossiping import AGAIN
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import below, draw, peer_key, unit
from sub2sub.compiled.timing.latency import Clock, next_beat, travel
from sub2sub.peers.draws import cycle_key


def delegates(members: Sequence[int], redundancy: int) -> list[int]:
    """The participants with the smallest addresses; numbers sort as addresses do."""
    return sorted(members)[:redundancy]


def person_key(key: np.uint64, now: int, x: int) -> np.uint64:
    """The key of one participant's draws in one round."""
    return np.uint64(peer_key(np.uint64(peer_key(key, now)), x))


def view(
    space: AddressSpace, addresses: Sequence[int], x: int, level: int, redundancy: int
) -> list[list[int]]:
    """The view of `level` of participant x: the delegates of each line, lines in the order of addresses."""
    group = [
        y
        for y, address in enumerate(addresses)
        if space.branch(address, level) == space.branch(addresses[x], level)
    ]
    lines: dict[int, list[int]] = {}
    for y in group:
        lines.setdefault(space.component(addresses[y], level - 1), []).append(y)
    return [delegates(lines[component], redundancy) for component in sorted(lines)]


@dataclass
class Buffered:
    """An event in a gossip buffer."""

    level: int
    prob: float
    rounds: int
    prior: float = 0.0
    hits: int = 0
    tried: int = 0

    def __post_init__(self) -> None:
        self.prior = self.prob


@dataclass
class Participant:
    number: int
    views: dict[int, list[int]]
    wanted: dict[int, set[int]]
    settings: Gossip
    buffer: Buffered | None = None
    reached: int = -1
    sent: int = 0
    received: int = 0
    filtered: int = 0
    matched: dict[int, int] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)

    def rounds(self, level: int, prob: float) -> float:
        s = self.settings
        fanout = s.fanout * prob * (1 - s.loss) * (1 - s.crash)
        size = len(self.views[level]) * prob * (s.lowest[0] if level == 1 else 1)
        if size <= 0 or fanout <= 0:
            return -inf
        return log(size) * (1 / fanout + 1 / log(fanout + 1)) + s.constant

    def match(self, level: int, times: int = 1) -> None:
        self.filtered += times
        self.matched[level] = self.matched.get(level, 0) + times

    def estimate(self, level: int, above: float) -> float:
        return 1 - (1 - above) ** (1 / max(self.lines[level], 1))

    def adjust(self) -> None:
        held, weight = self.buffer, self.settings.fanout
        assert held is not None
        held.prob = (weight * held.prior + held.hits) / (weight + held.tried)

    def getprob(self, level: int) -> float:
        self.match(level, self.lines[level])
        share = len(self.wanted[level]) / len(self.views[level]) if self.views[level] else 0.0
        return share / (self.settings.lowest[1] if level == 1 else 1)

    def publish(self, level: int) -> None:
        self.buffer = Buffered(level, self.getprob(level), 0)
        self.reached = 0

    def receive(self, message: Buffered, now: int) -> bool:
        self.received += 1
        if self.reached >= 0:
            return False
        self.buffer = Buffered(message.level, message.prob, message.rounds)
        self.reached = now
        return True


@dataclass
class System:
    """All participants, stepped in the order of their addresses."""

    space: AddressSpace
    addresses: Sequence[int]
    interested: Sequence[int]
    redundancy: int
    settings: Gossip
    network: Network
    messages: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.messages = [0] * self.space.levels
        self.participants = [self._participant(x) for x in range(len(self.addresses))]

    def _participant(self, x: int) -> Participant:
        person = Participant(x, {}, {}, self.settings)
        for level in range(1, self.space.levels + 1):
            lines = view(self.space, self.addresses, x, level, self.redundancy)
            person.views[level] = [y for line in lines for y in line]
            person.lines[level] = len(lines)
            wanted = {y for line in lines for y in line if self._subsystem_wants(y, level - 1)}
            if 0 < len(wanted) < self.settings.audience:
                wanted |= set(person.views[level][: self.settings.audience])
            person.wanted[level] = wanted
        return person

    def _subsystem_wants(self, y: int, level: int) -> bool:
        branch = self.space.branch(self.addresses[y], level)
        return any(
            wants and self.space.branch(address, level) == branch
            for wants, address in zip(self.interested, self.addresses, strict=True)
        )

    def multicast(self, publisher: int, seed: int, event: int) -> int:
        key = cycle_key(seed, STREAM, event)
        self.participants[publisher].publish(self.space.levels)
        active, now = [publisher], 0
        while active:
            now += 1
            going, fresh = [], []
            for x in active:
                person = self.participants[x]
                if self._move_down(person):
                    going.append(x)
                    fresh += self._gossip(person, person_key(key, now, x), now)
            active = sorted(going + fresh)
        return now - 1

    def _move_down(self, person: Participant) -> bool:
        """Walk down the levels whose rounds are over; whether there is still one to gossip at."""
        assert person.buffer is not None
        while person.buffer.rounds >= person.rounds(person.buffer.level, person.buffer.prob):
            if person.buffer.level == 1:
                return False
            level = person.buffer.level - 1
            above = person.buffer.prob
            adaptive = self.settings.adaptive
            prob = person.estimate(level, above) if adaptive else person.getprob(level)
            person.buffer = Buffered(level, prob, 0)
        return True

    def _gossip(self, person: Participant, key: np.uint64, now: int) -> list[int]:
        message = person.buffer
        assert message is not None
        message.rounds += 1
        others = [y for y in person.views[message.level] if y != person.number]
        fresh = []
        fanout = self.settings.fanout
        for k in range(min(fanout, len(others))):
            dest = others.pop(int(below(np.uint64(draw(key, k)), len(others))))
            person.match(message.level)
            message.tried += 1
            if dest not in person.wanted[message.level]:
                continue
            message.hits += 1
            attempt = self._sends(person, dest, key, fanout + k)
            if attempt is not None and self._reaches(person, dest, message, now, attempt, key):
                fresh.append(dest)
        if self.settings.adaptive:
            person.adjust()
        return fresh

    def _reaches(
        self, person: Participant, dest: int, message: Buffered, now: float, attempt: int, key: np.uint64
    ) -> bool:
        """A message arrives in the round in which it is sent; whether it is the first one there."""
        return self.participants[dest].receive(message, int(now))

    def _sends(self, person: Participant, dest: int, key: np.uint64, k: int) -> int | None:
        """How often a message is sent again until it arrives, as the settings say; None if it does not."""
        assert person.buffer is not None
        level = person.buffer.level
        alive, group, loss = self.network.alive, self.network.group, self.network.loss
        there = bool(alive[dest]) and group[dest] == group[person.number]
        again = self.settings.retries if level >= self.settings.reliable else 0
        for attempt in range(again + 1):
            person.sent += 1
            self.messages[level - 1] += 1
            lost = loss > 0 and unit(np.uint64(draw(key, k + AGAIN * attempt))) < loss
            if there and not lost:
                return attempt
        return None


class TimedSystem(System):
    """The same participants in milliseconds: each has a timer, and every message is due at its own time."""

    def multicast(self, publisher: int, seed: int, event: int) -> int:
        key, n = cycle_key(seed, STREAM, event), len(self.addresses)
        self.clock = Clock.of(self.network.timing, np.arange(n))
        self.free, self.when, turns = [0.0] * n, {publisher: 0.0}, [0] * n
        self.due: list[tuple[float, int, int, Buffered | None, int]] = []
        self.puts = 0
        self.participants[publisher].publish(self.space.levels)
        self.put(0.0, publisher, None, 0)
        while self.due:
            self.now, _, x, message, hop = heapq.heappop(self.due)
            now = self.now
            person = self.participants[x]
            if message is not None:
                if person.receive(message, hop):
                    self.when[x] = now
                    self.put(next_beat(self.clock, x, now, 1.0), x, None, 0)
            elif self._move_down(person):
                turns[x] += 1
                self._gossip(person, person_key(key, turns[x], x), now)
                self.put(now + self.clock.tick, x, None, 0)
        return max(turns)

    def put(self, when: float, x: int, message: Buffered | None, hop: int) -> None:
        self.puts += 1
        heapq.heappush(self.due, (when, self.puts, x, message, hop))

    def _reaches(
        self, person: Participant, dest: int, message: Buffered, now: float, attempt: int, key: np.uint64
    ) -> bool:
        took = travel(self.clock, person.number, dest, attempt, key)
        self.put(self.free[person.number] + took, dest, replace(message), person.reached + 1)
        return False

    def _sends(self, person: Participant, dest: int, key: np.uint64, k: int) -> int | None:
        """The first copy occupies the uplink, whether it arrives or not."""
        self.free[person.number] = max(self.free[person.number], self.now) + self.clock.occupied
        return super()._sends(person, dest, key, k)
