"""A population of `TablePeer` objects, stepped in order; the kernels must make the same decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hierarchy.peers.tables import ASKS, DRAWS, GREETINGS, STREAM, TableContents, TablePeer
from hierarchy.shared.shared_overlay import SharedOverlay
from sub2sub.compiled.common.network import Network
from sub2sub.peers.descriptors import DESCRIPTOR, HEADER, RANGE, Descriptor, Link
from sub2sub.peers.draws import Dice
from tests.sub2sub.overlay.engine import copies, reaches


class TableDriver:
    def __init__(self, overlay: SharedOverlay) -> None:
        self.overlay, people = overlay, overlay.population
        boxes = people.boxes[:, :, : people.d].tolist()
        self.own = [Descriptor.half_open(k, tuple(low), tuple(end)) for k, (low, end) in enumerate(boxes)]
        self.peers = [self.peer(k, 0) for k in range(len(people))]
        self.counts = dict.fromkeys(("messages", "failed", "bytes", "asked", "greeted"), 0)

    def peer(self, number: int, since: int) -> TablePeer:
        overlay = self.overlay
        return TablePeer(
            self.own[number], overlay.settings.tables, len(self.own),
            lambda other: bool(overlay.topical[other.id]), since,
        )  # fmt: skip

    def fed(self) -> list[list[Link]]:
        """The links that each peer has in the other layers, in the order of the layers."""
        overlay, rows = self.overlay, [[] for _ in self.own]
        for layer in (overlay.cyclon, overlay.vicinity, overlay.points, overlay.ring):
            for holder, peer, stamp in zip(*(side.tolist() for side in layer.links()), strict=True):
                rows[holder].append(Link(self.own[peer], stamp))
        return rows

    def send(self, a: int, b: int, dice: Dice, k: int, same: int = 0, other: int = 0) -> bool:
        network, tries = self.overlay.network, self.overlay.settings.tables.tries
        sent, arrives = copies(dice, k, network.loss, tries)
        if not reaches(network, a, b):
            sent, arrives = tries, False
        d = self.overlay.population.d
        box = DESCRIPTOR + RANGE * d
        self.counts["messages"] += sent
        self.counts["failed"] += not arrives
        self.counts["bytes"] += sent * (HEADER + box + DESCRIPTOR * same + box * other)
        return arrives

    def greet(self, number: int, cycle: int) -> Callable[[Descriptor], bool]:
        def ask(other: Descriptor) -> bool:
            dice = Dice.of(self.overlay.seed, GREETINGS, cycle).of_peer(number).of_peer(other.id)
            self.counts["greeted"] += 1
            if not self.send(number, other.id, dice, 0):
                return False
            self.peers[other.id].heard_from(self.own[number], cycle)
            return self.send(other.id, number, dice, 1)

        return ask

    def step(self, cycle: int) -> dict[str, int]:
        self.counts = dict.fromkeys(self.counts, 0)
        fed, alive = self.fed(), self.overlay.network.alive
        self.ring: list[list[Link]] = [[] for _ in self.own]
        for holder, peer, stamp in zip(*(side.tolist() for side in self.overlay.ring.links()), strict=True):
            self.ring[holder].append(Link(self.own[peer], stamp))
        for number, peer in enumerate(self.peers):
            if alive[number] and self.overlay.topical[number]:
                dice = Dice.of(self.overlay.seed, STREAM, cycle).of_peer(number)
                peer.expire(cycle)
                peer.hear(fed[number], cycle, self.greet(number, cycle))
                for step, other in enumerate(peer.to_ask(cycle)):
                    self.ask(peer, self.peers[other.id], step, cycle, dice)
                for k, other in enumerate(peer.partners(cycle)):
                    self.exchange(peer, other, 2 * k, cycle, dice)
        return self.counts

    def ask(self, peer: TablePeer, other: TablePeer, step: int, cycle: int, dice: Dice) -> None:
        a, b = peer.own.id, other.own.id
        self.counts["asked"] += 1
        if self.send(a, b, dice, ASKS + step * DRAWS):
            links = other.ways(peer.own, step, cycle, dice, self.ring[b])
            same = sum(link.peer.low == other.own.low and link.peer.end == other.own.end for link in links)
            if self.send(b, a, dice, ASKS + step * DRAWS + 1, same, len(links) - same):
                peer.heard_from(other.own, cycle)
                peer.hear(links, cycle, self.greet(a, cycle))
                return
        peer.fail(other.own, cycle)

    def exchange(self, peer: TablePeer, partner: Descriptor, first: int, cycle: int, dice: Dice) -> None:
        a, b, told = peer.own.id, partner.id, peer.tell()
        if self.send(a, b, dice, first, *_billed(told)):
            reply = self.peers[b].answer(peer.own, told, cycle, self.greet(b, cycle))
            if self.send(b, a, dice, first + 1, *_billed(reply)):
                peer.finish(partner, reply, cycle, self.greet(a, cycle))
                return
        peer.fail(partner, cycle)


def _billed(told: TableContents) -> tuple[int, int]:
    return len(told.equals), len(told.above) + len(told.below)


def entries_of(row: NDArray[np.int64]) -> list[tuple[int, int]]:
    """A packed row as numbers and stamps."""
    return [(int(word) & 0xFFFFFFFF, int(word) >> 32) for word in row if word != np.iinfo(np.int64).max]


def links_of(table: Sequence[Link]) -> list[tuple[int, int]]:
    return [(link.peer.id, link.stamp) for link in table]


def whole(n: int, loss: float) -> Network:
    network = Network.whole(n)
    network.loss = loss
    return network
