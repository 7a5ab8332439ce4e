"""Dissemination as Section 4.2 of Sub-2-Sub tells it: one object a peer, a message a call.

What the kernel must agree with, draw for draw, is which draw a decision takes, that a peer's shortcuts are
tried in the order in which a Fisher-Yates shuffle brings them up, and that peers forward in the order in
which they received.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from sub2sub.events.dissemination import STREAM, DisseminationSettings
from sub2sub.events.forwarding import LOSS, SHORTCUT
from sub2sub.kernels.randomness import cycle_key, draw, peer_key, unit
from sub2sub.overlay.network import Network
from tests.sub2sub.geometry import naive

Event = tuple[float, ...]


@dataclass
class Peer:
    """A subscriber with its views; ring neighbours in the order of the ring, starting after itself."""

    number: int
    box: naive.Box
    host: int
    near: list[int] = field(default_factory=list)
    random: list[int] = field(default_factory=list)
    ring: list[int] = field(default_factory=list)


@dataclass
class Report:
    """What became of one event."""

    hop_of: dict[int, int] = field(default_factory=dict)
    applications: set[int] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    received: Counter[int] = field(default_factory=Counter)
    forwarded: Counter[int] = field(default_factory=Counter)
    failures: set[tuple[int, int]] = field(default_factory=set)


class Dissemination:
    def __init__(
        self, peers: list[Peer], network: Network, settings: DisseminationSettings, seed: int, cycle: int
    ):
        self.peers, self.network, self.settings = peers, network, settings
        self.key = cycle_key(seed, STREAM, cycle)

    def publish(self, number: int, event: Event, entry: int) -> Report:
        self.event, self.key_of_event = event, np.uint64(peer_key(self.key, number))
        self.report, self.queue = Report(), []
        if entry >= 0 and self.is_up(entry):
            self.receive(entry, sender=None, hop=0)
        for peer, sender in self.queue:  # grows while it is read
            self.forward(self.peers[peer], sender)
        return self.report

    def matches(self, peer: int) -> bool:
        return naive.contains_point(self.peers[peer].box, self.event)

    def alive(self, peer: int) -> bool:
        return bool(self.network.alive[peer])

    def neighbours_on_host(self, peer: int) -> list[int]:
        host = self.peers[peer].host
        return [other.number for other in self.peers if other.host == host] if host >= 0 else [peer]

    def is_up(self, peer: int) -> bool:
        return self.alive(peer) or any(self.alive(other) for other in self.neighbours_on_host(peer))

    def resident(self, peer: int) -> int | None:
        """Who takes what arrived for `peer`."""
        candidates = [peer] if self.alive(peer) else self.neighbours_on_host(peer)
        return next((other for other in candidates if self.alive(other) and self.matches(other)), None)

    def receive(self, peer: int, sender: int | None, hop: int) -> bool:
        taker = self.resident(peer)
        if taker is None:
            self.report.counts["spam"] += 1
            return False
        self.report.received[taker] += 1
        if taker in self.report.hop_of:
            self.report.counts["duplicates"] += 1
            return True
        self.report.hop_of[taker] = hop
        host = self.peers[taker].host
        self.report.applications.add(host if host >= 0 else -1 - taker)
        self.queue.append((taker, sender))
        return True

    def send(self, sender: Peer, to: int) -> bool:
        hop = self.report.hop_of[sender.number] + 1
        if sender.host >= 0 and sender.host == self.peers[to].host:
            if not self.alive(to):
                return False
            self.report.counts["local"] += 1
            return self.receive(to, sender.number, hop)
        lost = self.chance(sender, LOSS + self.report.forwarded[sender.number], self.network.loss)
        self.report.forwarded[sender.number] += 1
        self.report.counts["messages"] += 1
        if lost or self.network.group[sender.number] != self.network.group[to] or not self.is_up(to):
            self.report.counts["failed"] += 1
            return False
        return self.receive(to, sender.number, hop)

    def bits(self, peer: Peer, k: int) -> int:
        return int(draw(np.uint64(peer_key(self.key_of_event, peer.number)), k))

    def chance(self, peer: Peer, k: int, probability: float) -> bool:
        return bool(unit(np.uint64(self.bits(peer, k))) < probability)

    def forward(self, peer: Peer, came_from: int | None) -> None:
        outcome: dict[int, bool] = {}  # of what was sent in this turn
        for view in (peer.ring, peer.ring[::-1]):
            self.follow_ring(peer, view, came_from, outcome)
        self.follow_shortcuts(peer, came_from, outcome)

    def follow_ring(
        self, peer: Peer, view: list[int], came_from: int | None, outcome: dict[int, bool]
    ) -> None:
        """To the nearest that matches; to the next ones while nobody answers."""
        tries = 1 + self.settings.retries
        for neighbour in filter(self.matches, view):
            if neighbour == came_from or outcome.get(neighbour) is True or tries == 0:
                return
            if neighbour not in outcome:
                outcome[neighbour] = self.send(peer, neighbour)
                if outcome[neighbour]:
                    return
                self.report.failures.add((peer.number, neighbour))
                tries -= 1

    def follow_shortcuts(self, peer: Peer, came_from: int | None, outcome: dict[int, bool]) -> None:
        pool = peer.near + peer.random + (peer.ring if self.settings.ring_shortcuts else [])
        sent = 0
        for k in range(len(pool)):
            if sent == self.settings.shortcuts:
                return
            other = k + ((self.bits(peer, SHORTCUT + k) >> 32) * (len(pool) - k) >> 32)
            pool[k], pool[other] = pool[other], pool[k]
            if pool[k] != came_from and pool[k] not in outcome and self.matches(pool[k]):
                outcome[pool[k]] = self.send(peer, pool[k])
                sent += 1
