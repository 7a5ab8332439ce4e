"""P-Grid's meetings and routing with one object a peer, paths as strings of bits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sub2sub.kernels.randomness import below, draw, unit


class Dice:
    def __init__(self, key, k: int = 0) -> None:
        self.key, self.k = key, k

    def bits(self):
        self.k += 1
        return np.uint64(draw(self.key, self.k - 1))

    def below(self, n: int) -> int:
        return int(below(self.bits(), n))


@dataclass(eq=False)
class Peer:
    number: int
    most: int
    buddies_most: int
    path: str = ""
    references: dict[int, list[Peer]] = field(default_factory=dict)
    buddies: list[Peer] = field(default_factory=list)
    acquaintances: list[Peer] = field(default_factory=list)

    def refer(self, place: int, peer: Peer, dice: Dice) -> None:
        self._put(self.references.setdefault(place, []), self.most, peer, dice)

    def befriend(self, peer: Peer, dice: Dice) -> None:
        self._put(self.buddies, self.buddies_most, peer, dice)

    @staticmethod
    def _put(row: list[Peer], most: int, peer: Peer, dice: Dice) -> None:
        if peer in row:
            return
        if len(row) < most:
            row.append(peer)
        else:
            row[dice.below(most)] = peer

    def extend(self, bit: str, across: Peer, dice: Dice) -> None:
        self.path += bit
        for buddy in self.buddies:
            self._put(self.acquaintances, self.buddies_most, buddy, dice)
        self.buddies = []
        self.refer(len(self.path) - 1, across, dice)


def common_prefix(a: str, b: str) -> int:
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length


def meet(a: Peer, b: Peer, depth: int, enough: int, deepest: int, dice: Dice) -> int:
    """The EXCHANGE of the paper; returns its messages."""
    waiting = [(a, b, 0)]
    messages = 0
    while waiting:
        a, b, recursion = waiting.pop()
        messages += 2
        common = common_prefix(a.path, b.path)
        for place in range(common):
            for peer, other in ((a, b), (b, a)):
                for reference in list(other.references.get(place, [])):
                    if reference is not peer:
                        peer.refer(place, reference, dice)
        at_end_a, at_end_b = len(a.path) == common, len(b.path) == common
        crowded = max(len(a.buddies), len(b.buddies)) + 1 >= 2 * enough
        if at_end_a and at_end_b and common < depth and crowded:
            a.extend("0", b, dice)
            b.extend("1", a, dice)
        elif at_end_a and at_end_b:
            for peer, other in ((a, b), (b, a)):
                for buddy in list(other.buddies):
                    if buddy is not peer:
                        peer.befriend(buddy, dice)
            a.befriend(b, dice)
            b.befriend(a, dice)
        elif at_end_a:
            a.extend("1" if b.path[common] == "0" else "0", b, dice)
            b.refer(common, a, dice)
        elif at_end_b:
            b.extend("1" if a.path[common] == "0" else "0", a, dice)
            a.refer(common, b, dice)
        else:
            a.refer(common, b, dice)
            b.refer(common, a, dice)
            if recursion < deepest:
                rows = [a.references[common], b.references[common]]
                for i in range(a.most):
                    for row, one, other in ((rows[0], b, b), (rows[1], a, a)):
                        if i < len(row) and row[i] is not other and len(waiting) < 64:
                            waiting.append((one, row[i], recursion + 1))
    return messages


def route(start: Peer, key: str, depth: int, alive, loss: float, dice: Dice) -> tuple[int, int, int]:
    """QUERY without recursion; returns (peer or -1, hops, messages)."""
    at, hops, messages = start, 0, 0
    while True:
        common = common_prefix(at.path, key)
        if common == len(at.path):
            return at.number, hops, messages
        left = list(at.references.get(common, []))
        following = None
        while left and following is None:
            chosen = left.pop(dice.below(len(left)))
            messages += 1
            arrives = unit(dice.bits()) >= loss
            if arrives and alive[chosen.number]:
                following = chosen
        if following is None:
            return -1, hops, messages
        at, hops = following, hops + 1
        if hops > 2 * depth:
            return -1, hops, messages
