"""A population of hpmcast participants: views by the definition of delegates, a network, and counts."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hierarchy.hpmcast import AddressSpace, Gossip
from hierarchy.hpmcast.dissemination import STREAM
from hierarchy.peers.hpmcast import AdaptiveParticipant, Buffered, Participant
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.timing.latency import Clock, next_beat, travel
from sub2sub.peers.draws import Dice, cycle_key
from tests.acknowledged import copies


def delegates(members: Sequence[int], redundancy: int) -> list[int]:
    """The participants with the smallest addresses; numbers sort as addresses do."""
    return sorted(members)[:redundancy]


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
        self.reached = [-1] * len(self.addresses)
        self.sent, self.received = [0] * len(self.addresses), [0] * len(self.addresses)
        self.participants = [self._participant(x) for x in range(len(self.addresses))]

    def _participant(self, x: int) -> Participant:
        views, wanted, lines = {}, {}, {}
        for level in range(1, self.space.levels + 1):
            rows = view(self.space, self.addresses, x, level, self.redundancy)
            views[level], lines[level] = [y for row in rows for y in row], len(rows)
            wanted[level] = {y for y in views[level] if self._subsystem_wants(y, level - 1)}
            if 0 < len(wanted[level]) < self.settings.audience:
                wanted[level] |= set(views[level][: self.settings.audience])
        kind = AdaptiveParticipant if self.settings.adaptive else Participant
        return kind(x, views, wanted, lines, self.settings)

    def _subsystem_wants(self, y: int, level: int) -> bool:
        branch = self.space.branch(self.addresses[y], level)
        return any(
            wants and self.space.branch(address, level) == branch
            for wants, address in zip(self.interested, self.addresses, strict=True)
        )

    def multicast(self, publisher: int, seed: int, event: int) -> int:
        key = Dice(cycle_key(seed, STREAM, event))
        self.participants[publisher].publish(self.space.levels)
        self.reached[publisher] = 0
        active, now = [publisher], 0
        while active:
            now += 1
            going: list[int] = []
            self.fresh: list[int] = []
            for x in active:
                person = self.participants[x]
                if person.move_down():
                    going.append(x)
                    self._gossip(person, key.of_peer(now).of_peer(x), now)
            active = sorted(going + self.fresh)
        return now - 1

    def _gossip(self, person: Participant, dice: Dice, now: float) -> None:
        def send(other: int, event: Buffered, draw: int) -> None:
            attempt = self._arrives_after(person, other, event.level, dice, draw)
            if attempt is not None:
                self._arrive(person, other, event, now, attempt, dice)

        person.gossip(dice, send)

    def _arrive(
        self, person: Participant, dest: int, event: Buffered, now: float, attempt: int, dice: Dice
    ) -> None:
        """A message arrives in the round in which it is sent."""
        self._receive(dest, event, int(now))

    def _receive(self, dest: int, event: Buffered, now: int) -> bool:
        self.received[dest] += 1
        is_first = self.participants[dest].receive(event)
        if is_first:
            self.reached[dest] = now
            self.fresh.append(dest)
        return is_first

    def _arrives_after(self, person: Participant, dest: int, level: int, dice: Dice, k: int) -> int | None:
        """Which copy of a message is the first to arrive, as the settings say; None if none does."""
        alive, group, loss = self.network.alive, self.network.group, self.network.loss
        there = bool(alive[dest]) and group[dest] == group[person.number]
        again = self.settings.retries if level >= self.settings.reliable else 0
        arrived = copies(dice, k, loss, there, again)
        self.sent[person.number] += len(arrived)
        self.messages[level - 1] += len(arrived)
        self.received[dest] += max(sum(arrived) - 1, 0)
        return arrived.index(True) if True in arrived else None


class TimedSystem(System):
    """The same participants in milliseconds: each has a timer, and every message is due at its own time."""

    def multicast(self, publisher: int, seed: int, event: int) -> int:
        key, n = Dice(cycle_key(seed, STREAM, event)), len(self.addresses)
        self.clock, self.fresh = Clock.of(self.network.timing, np.arange(n)), []
        self.free, self.when, turns = [0.0] * n, {publisher: 0.0}, [0] * n
        self.due: list[tuple[float, int, int, Buffered | None, int]] = []
        self.puts = 0
        self.participants[publisher].publish(self.space.levels)
        self.reached[publisher] = 0
        self.put(0.0, publisher, None, 0)
        while self.due:
            self.now, _, x, event_there, hop = heapq.heappop(self.due)
            now, person = self.now, self.participants[x]
            if event_there is not None:
                if self._receive(x, event_there, hop):
                    self.when[x] = now
                    self.put(next_beat(self.clock, x, now, 1.0), x, None, 0)
            elif person.move_down():
                turns[x] += 1
                self._gossip(person, key.of_peer(turns[x]).of_peer(x), now)
                self.put(now + self.clock.tick, x, None, 0)
        return max(turns)

    def put(self, when: float, x: int, event: Buffered | None, hop: int) -> None:
        self.puts += 1
        heapq.heappush(self.due, (when, self.puts, x, event, hop))

    def _arrive(
        self, person: Participant, dest: int, event: Buffered, now: float, attempt: int, dice: Dice
    ) -> None:
        took = travel(self.clock, person.number, dest, attempt, np.uint64(dice.key))
        self.put(self.free[person.number] + took, dest, replace(event), self.reached[person.number] + 1)

    def _arrives_after(self, person: Participant, dest: int, level: int, dice: Dice, k: int) -> int | None:
        """The first copy occupies the uplink, whether it arrives or not."""
        self.free[person.number] = max(self.free[person.number], self.now) + self.clock.occupied
        return super()._arrives_after(person, dest, level, dice, k)
