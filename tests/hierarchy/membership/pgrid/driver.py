"""Peers of a P-Grid driven in the simulator's order with the simulator's draws: the oracle of the kernels."""

from __future__ import annotations

from typing import Any

from hierarchy.compiled.pgrid.layer import PGrid
from hierarchy.peers.contacts import Contact
from hierarchy.peers.pgrid import GATEWAY, MEET, STREAM, GridPeer, common_prefix, meet, put, random_place
from hierarchy.peers.settings import PGridSettings
from sub2sub.compiled.common.network import Network
from sub2sub.peers.draws import Dice, cycle_key


def contact(number: int, topic: str = ".") -> Contact:
    return Contact(number + 1, "h", number + 1, topic)


class Driver:
    """Peers, and the part of a layer's step that concerns the trie."""

    def __init__(self, n: int, seed: int, settings: PGridSettings, depth: int) -> None:
        self.n, self.seed, self.settings, self.depth = n, seed, settings, depth
        self.peers = [GridPeer(contact(i), settings, depth) for i in range(n)]
        self.joining: list[int] = []
        self.recent: list[int] = []
        self.pairs: list[tuple[int, int]] = []

    def join(self, numbers: list[int]) -> None:
        self.leave(numbers)
        self.joining += numbers

    def leave(self, numbers: list[int]) -> None:
        for i in numbers:
            self.peers[i] = GridPeer(contact(i), self.settings, self.depth)
        self.joining = [i for i in self.joining if i not in numbers]

    def step(self, cycle: int, network: Network) -> int:
        """Introduce newcomers and let everybody meet; returns messages."""
        self.network, self.pairs = network, []
        key = Dice(cycle_key(self.seed, STREAM, cycle))
        messages = sum(self.introduce(i, key.of_peer(GATEWAY).of_peer(i)) for i in self.live(self.joining))
        self.joining = [i for i in self.joining if not network.alive[i]]
        return messages + sum(self.turn(i, key.of_peer(MEET).of_peer(i)) for i in self.live(range(self.n)))

    def live(self, numbers: Any) -> list[int]:
        return [i for i in numbers if self.network.alive[i]]

    def introduce(self, i: int, dice: Dice) -> int:
        known, messages = [j for j in self.live(self.recent) if j != i], 0
        if known:
            first = known[dice.below(1 << 20, len(known))]
            at, _, sent = self.route(first, format(dice.next_bits(), "064b"), dice)
            other, newcomer = self.peers[at if at >= 0 else first], self.peers[i]
            newcomer.take_place(other, dice)
            other.admit(newcomer.own, dice)
            put(newcomer.acquaintances, contact(first), dice)
            self.pairs.append((other.own.id - 1, i))
            messages = sent + 4
        self.recent = [*(j for j in self.recent if j != i), i][-16:]
        return messages

    def turn(self, i: int, dice: Dice) -> int:
        """Check a reference, meet a buddy, meet an acquaintance; returns messages."""
        peer, messages = self.peers[i], 0
        place, slot = dice.next_below(self.depth), dice.next_below(self.settings.references)
        starts = [dice.next_bits(), dice.next_bits()]
        row = peer.references[place] if place < len(peer.path) else [None] * self.settings.references
        checked = row[slot]
        if checked is not None:
            messages += 1
            theirs = self.peers[checked.id - 1].path
            across = len(theirs) > place and common_prefix(peer.path, theirs) == place
            if not self.network.alive[checked.id - 1] or not across:
                row[slot] = None
        for name, start in zip(("buddies", "acquaintances"), starts, strict=True):
            row = getattr(peer, name)
            slot = random_place(row, start)
            other = row[slot] if slot >= 0 else None
            if other is None or other.id == i + 1:
                continue
            if self.arrives(i, other.id - 1, dice):
                messages += self.meeting(i, other.id - 1, dice)
            else:
                messages += 1
                if not self.network.alive[other.id - 1]:
                    row[slot] = None
        return messages

    def meeting(self, i: int, j: int, dice: Dice) -> int:
        asker, asked = self.peers[i], self.peers[j]
        passed_on = asked.acquaintances[dice.next_below(len(asked.acquaintances))]
        put(asked.acquaintances, asker.own, dice)
        if passed_on is not None and passed_on.id != i + 1:
            put(asker.acquaintances, passed_on, dice)
        return self.meet(i, j, dice)

    def meet(self, i: int, j: int, dice: Dice) -> int:
        """A meeting and those it draws in; returns messages."""
        waiting, messages = [(i, j, 0)], 0
        while waiting:
            i, j, recursion = waiting.pop()
            if recursion and not self.arrives(i, j, dice):
                messages += 1
                continue
            messages += 2
            meeting = meet(self.peers[i], self.peers[j], dice)
            if meeting.shares:
                self.pairs.append((i, j))
            if recursion < self.settings.recursion:
                for one, other in meeting.further:
                    if len(waiting) < 64:
                        waiting.append((one.id - 1, other.id - 1, recursion + 1))
        return messages

    def route(self, start: int, key: str, dice: Dice) -> tuple[int, int, int]:
        """Hand a request on; returns (peer or -1, hops, messages)."""
        at, hops, messages = start, 0, 0
        while not self.peers[at].belongs(key):
            for way in self.peers[at].ways(key, dice):
                messages += 1
                if self.arrives(at, way.id - 1, dice):
                    at, hops = way.id - 1, hops + 1
                    break
            else:
                return -1, hops, messages
            if hops > 2 * self.depth:
                return -1, hops, messages
        return at, hops, messages

    def arrives(self, i: int, j: int, dice: Dice) -> bool:
        n = self.network
        return dice.next_unit() >= n.loss and bool(n.alive[j]) and bool(n.group[i] == n.group[j])

    def rows(self) -> list[tuple[str, list[list[int]], list[int], list[int]]]:
        """Paths and rows of all, in the simulator's numbers."""

        def numbers(row: Any) -> list[int]:
            return [each.id - 1 if each else -1 for each in row]

        return [
            (
                peer.path,
                [numbers(row) for row in peer.references],
                numbers(peer.buddies),
                numbers(peer.acquaintances),
            )
            for peer in self.peers
        ]


def simulated_rows(grid: PGrid) -> list[tuple[str, list[list[int]], list[int], list[int]]]:
    """The same of a layer."""
    t = grid.trie
    return [
        (
            path_of(grid, i),
            t.reference[i, : t.length[i]].tolist(),
            t.buddy[i].tolist(),
            t.acquaintance[i].tolist(),
        )
        for i in range(len(t.length))
    ]


def path_of(grid: PGrid, i: int) -> str:
    return format(int(grid.trie.path[i]), "064b")[: grid.trie.length[i]]
