"""The membership protocol of hpmcast, Section 4.2, with one object per participant and one per line."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from hierarchy.hpmcast import Condensation, Population, Upkeep
from hierarchy.hpmcast.membership.layer import JOINING, STREAM
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import below, draw, peer_key, unit
from sub2sub.peers.draws import cycle_key

Box = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Line:
    stamp: int = -1
    members: int = 0
    delegates: tuple[int, ...] = ()
    boxes: tuple[Box, ...] = ()


def covers(outer: Box, inner: Box) -> bool:
    return all(a <= b for a, b in zip(outer[0], inner[0], strict=True)) and all(
        a >= b for a, b in zip(outer[1], inner[1], strict=True)
    )


def hull(a: Box, b: Box) -> Box:
    return (
        tuple(min(pair) for pair in zip(a[0], b[0], strict=True)),
        tuple(max(pair) for pair in zip(a[1], b[1], strict=True)),
    )


def joins(a: Box, b: Box) -> bool:
    ends = list(zip(*a, *b, strict=True))
    apart = [(lo, hi, low, high) for lo, hi, low, high in ends if (lo, hi) != (low, high)]
    return len(apart) <= 1 and all(max(lo, low) <= min(hi, high) for lo, hi, low, high in apart)


def volume(box: Box, whole: Box) -> float:
    result = 1.0
    for low, high, start, end in zip(*box, *whole, strict=True):
        result *= max(0.0, high / 2 - low / 2) / (end / 2 - start / 2)
    return result


def regroup(boxes: list[Box], most: int) -> list[Box]:
    """Boxes one by one into a list that keeps to `most` of them."""
    held: list[Box] = []
    for box in boxes:
        while not any(covers(other, box) for other in held):
            b = 0
            while b < len(held):
                if covers(box, held[b]):
                    del held[b]
                elif joins(held[b], box):
                    box = hull(box, held.pop(b))
                    b = 0
                else:
                    b += 1
            held.append(box)
            if len(held) <= most:
                break
            whole = held[0]
            for other in held[1:]:
                whole = hull(whole, other)

            def waste(pair: tuple[int, int], whole: Box = whole) -> float:
                a, b = held[pair[0]], held[pair[1]]
                shared = (
                    tuple(max(p) for p in zip(a[0], b[0], strict=True)),
                    tuple(min(p) for p in zip(a[1], b[1], strict=True)),
                )
                return volume(hull(a, b), whole) - volume(a, whole) - volume(b, whole) + volume(shared, whole)

            pairs = [(a, b) for a in range(len(held)) for b in range(a + 1, len(held))]
            left, right = min(pairs, key=waste)
            box = hull(held[left], held[right])
            del held[right], held[left]
    return held


@dataclass
class Peer:
    number: int
    interest: Box
    tables: dict[int, dict[int, Line]] = field(default_factory=dict)
    contact: int = -1
    sponsor: int = -1
    meet: int = -1

    def others(self, level: int) -> list[int]:
        lines = (line for _, line in sorted(self.tables[level].items()) if line.members)
        return [y for line in lines for y in line.delegates if y != self.number]

    def line(self, level: int, slot: int) -> Line:
        return self.tables[level].get(slot, Line())


class Reference:
    def __init__(
        self,
        population: Population,
        condensation: Condensation,
        upkeep: Upkeep,
        interests: list[Box],
        seed: int,
    ) -> None:
        self.population, self.condensation, self.upkeep, self.seed = population, condensation, upkeep, seed
        self.levels = range(1, population.levels + 1)
        self.joining = 0  # messages of newcomers
        self.peers = [
            Peer(x, interests[x], {level: {} for level in self.levels}) for x in range(population.n)
        ]

    def slot(self, x: int, level: int) -> int:
        return self.population.space.component(int(self.population.addresses[x]), level - 1)

    def distance(self, x: int, y: int) -> int:
        addresses = self.population.addresses
        return self.population.space.distance(int(addresses[x]), int(addresses[y]))

    def step(self, cycle: int, network: Network) -> None:
        self.cycle, self.network = cycle, network
        self.key = cycle_key(self.seed, STREAM, cycle)
        self.living = [peer for peer in self.peers if network.alive[peer.number]]
        for peer in self.living:
            own = Line(cycle, 1, (peer.number,), (peer.interest,))
            peer.tables[1][self.slot(peer.number, 1)] = own
        self.renew()
        self.join()
        self.give_up()
        self.renew()
        self.gossip()

    def renew(self) -> None:
        most = self.condensation.most(self.population.levels)
        for peer in self.living:
            for level in self.levels[1:]:
                lines = [line for _, line in sorted(peer.tables[level - 1].items()) if line.members]
                delegates = sorted(y for line in lines for y in line.delegates)
                joint = regroup([box for line in lines for box in line.boxes], most[level - 1])
                peer.tables[level][self.slot(peer.number, level)] = Line(
                    self.cycle,
                    sum(line.members for line in lines),
                    tuple(delegates[: self.condensation.redundancy]),
                    tuple(joint),
                )

    def join(self) -> None:
        walking = {}
        for peer in self.living:
            if peer.contact >= 0 and self.asks(peer.number, peer.contact, 0) == 2:
                walking[peer.number] = peer.contact
        ends = {}
        redundancy = self.condensation.redundancy
        for level in reversed(self.levels[1:]):
            for x, c in list(walking.items()):
                if self.distance(x, c) != level:
                    continue
                line = self.peers[c].line(level, self.slot(x, level))
                if line.members == 0:
                    ends[x] = walking.pop(x)
                    continue
                question = 1 + (level - 2) * redundancy
                for k, z in enumerate(line.delegates):
                    if z != x and self.asks(x, z, question + k) == 2:
                        walking[x] = z
                        break
                else:
                    del walking[x]
        ends |= walking
        last = 1 + (len(self.levels) - 1) * redundancy
        handed = {x: self.asks(x, c, last) for x, c in ends.items()}
        for level in self.levels:
            for x, c in sorted(ends.items()):
                own = self.slot(x, level)
                if handed[x] and self.distance(x, c) == level:
                    self.peers[c].tables[level][own] = self.peers[x].line(level, own)
                if handed[x] == 2 and self.distance(x, c) <= level:
                    for s, line in self.peers[c].tables[level].items():
                        if s != own and line.stamp > self.peers[x].line(level, s).stamp:
                            self.peers[x].tables[level][s] = line
        for x, fate in handed.items():
            if fate == 2:
                self.peers[x].contact = -1

    def asks(self, x: int, z: int, k: int) -> int:
        """How many of a question and its answer arrive."""
        key = np.uint64(peer_key(cycle_key(self.seed, JOINING, self.cycle), x))
        for message in range(2):
            self.joining += 1
            lost = self.network.loss > 0 and unit(np.uint64(draw(key, 2 * k + message))) < self.network.loss
            if lost or not self.reaches(*((x, z) if message == 0 else (z, x))):
                return message
        return 2

    def give_up(self) -> None:
        first = 2 * (self.upkeep.fanout + 1) + 1
        for level, limit in zip(self.levels, self.upkeep.limits(self.population.levels), strict=True):
            for peer in self.living:
                for s, line in list(peer.tables[level].items()):
                    silent = line.members and self.cycle - line.stamp > limit
                    if s == self.slot(peer.number, level) or not silent:
                        continue
                    if level == 1 and self.pong(peer.number, line, 2 * (first + s)):
                        peer.tables[level][s] = replace(line, stamp=self.cycle)
                    else:
                        peer.tables[level][s] = replace(line, stamp=self.cycle, members=0)

    def pong(self, x: int, line: Line, k: int) -> bool:
        """Whether a question and its answer arrive, each sent again while lost."""
        if self.upkeep.tries == 0 or not self.reaches(x, line.delegates[0]):
            return False
        all_lost = self.network.loss**self.upkeep.tries
        return bool(unit(self.draw(x, k)) >= all_lost and unit(self.draw(x, k + 1)) >= all_lost)

    def gossip(self) -> None:
        fanout = self.upkeep.fanout
        gossips: list[tuple[int, int, int]] = []
        for peer in self.living:
            x = peer.number
            level = 1 + int(below(self.draw(x, 0), self.population.levels))
            others = peer.others(level)
            partners = [
                others.pop(int(below(self.draw(x, 1 + k), len(others))))
                for k in range(min(fanout, len(others)))
            ]
            extra = peer.meet
            if extra < 0 and unit(self.draw(x, fanout + 1)) < self.upkeep.revisit:
                lines = [line for _, line in sorted(peer.tables[level].items())]
                old = [line.delegates[0] for line in lines if not line.members and line.delegates]
                old += [peer.sponsor] if peer.sponsor >= 0 else []
                if old:
                    extra = old[int(below(self.draw(x, fanout + 2), len(old)))]
            numbered = [*enumerate(partners), *([(fanout, extra)] if extra >= 0 else [])]
            gossips += [(x, y, self.fate(x, y, k)) for k, y in numbered]
        for peer in self.peers:
            peer.meet = -1
        named: dict[int, tuple[int, int]] = {}
        for level in self.levels:
            for x, y, fate in gossips:
                self.exchange(level, x, y, fate, named)
        for x, (z, when) in named.items():
            line = self.peers[x].line(1, self.slot(z, 1))
            strange = self.distance(x, z) > 1 or line.stamp == -1
            revived = line.members == 0 and when - line.stamp > self.upkeep.timeout[0]
            if strange or revived:
                self.peers[x].meet = z

    def exchange(self, level: int, x: int, y: int, fate: int, named: dict[int, tuple[int, int]]) -> None:
        if self.distance(x, y) > level or fate == 0:
            return
        own = self.slot(x, level)
        theirs, mine = self.peers[y].tables[level], self.peers[x].tables[level]
        if fate >= 2:
            self.pull(level, x, y, named)
        if self.distance(x, y) == level and self.peers[y].line(level, own).stamp < mine[own].stamp:
            theirs[own] = mine[own]
        if fate >= 3:
            self.pull(level, y, x, named)

    def pull(self, level: int, x: int, y: int, named: dict[int, tuple[int, int]]) -> None:
        own = self.slot(x, level)
        for s, line in list(self.peers[y].tables[level].items()):
            if s != own and line.stamp > self.peers[x].line(level, s).stamp:
                self.peers[x].tables[level][s] = line
            elif s == own and line.members:
                for z in line.delegates:
                    if z != x and z not in self.peers[x].line(level, s).delegates:
                        named[x] = (z, line.stamp)

    def fate(self, x: int, y: int, k: int) -> int:
        width = self.upkeep.fanout + 1
        for message in range(3 if self.upkeep.bidirectional else 2):
            if self.lost(x, width + 2 + 3 * k + message) or not self.reaches(x, y):
                return message
        return 3 if self.upkeep.bidirectional else 2

    def reaches(self, x: int, y: int) -> bool:
        return bool(self.network.alive[y]) and self.network.group[x] == self.network.group[y]

    def lost(self, x: int, k: int) -> bool:
        return self.network.loss > 0 and unit(self.draw(x, k)) < self.network.loss

    def draw(self, x: int, k: int) -> np.uint64:
        return np.uint64(draw(np.uint64(peer_key(self.key, x)), k))
