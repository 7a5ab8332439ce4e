"""Events and publishers with readable peers: kernels must give the same results with the same random numbers.

A peer forwards by `sub2sub.peers.forwarding.forward` and a publisher walks by `sub2sub.peers.publisher.Walk`,
as live ones do. What is added is the network, virtual peers on one host, and what is counted.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.timing.latency import Clock, travel
from sub2sub.peers.descriptors import Descriptor
from sub2sub.peers.draws import Dice
from sub2sub.peers.forwarding import LOSS, STREAM, PeerLinks, forward
from sub2sub.peers.publisher import CONTACT, HAND_OVER, PER_STEP, REPLY, REQUEST, Walk
from sub2sub.peers.publisher import STREAM as PUBLISHER
from sub2sub.peers.settings import DisseminationSettings, PublisherSettings
from tests.sub2sub.geometry import naive
from tests.sub2sub.overlay.engine import descriptors

Point = tuple[float, ...]


@dataclass
class Peer:
    """A subscriber with its views; ring neighbours in the order of the ring, beginning with its successor."""

    number: int
    box: naive.Box
    host: int
    near: list[int] = field(default_factory=list)
    random: list[int] = field(default_factory=list)
    ring: list[int] = field(default_factory=list)


@dataclass
class Report:
    """The outcome of one event."""

    hop_of: dict[int, int] = field(default_factory=dict)
    when: dict[int, float] = field(default_factory=dict)
    applications: set[int] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    received: Counter[int] = field(default_factory=Counter)
    spammed: Counter[int] = field(default_factory=Counter)
    forwarded: Counter[int] = field(default_factory=Counter)
    failures: set[tuple[int, int]] = field(default_factory=set)


class Dissemination:
    """Delivers the messages of an event in the order of time or, without a clock, of hops."""

    def __init__(
        self, peers: list[Peer], network: Network, settings: DisseminationSettings, seed: int, cycle: int
    ):
        self.peers, self.network, self.settings = peers, network, settings
        self.descriptors = descriptors([peer.box for peer in peers])
        self.dice = Dice.of(seed, STREAM, cycle)
        self.clock = Clock.of(network.timing, np.array([peer.host for peer in peers]))

    def publish(self, number: int, point: Point, entry: int) -> Report:
        self.point, self.dice_of_event = point, self.dice.of_peer(number)
        self.report, self.on_their_way, self.free = Report(), [], Counter[int]()
        if entry >= 0 and self.is_up(entry):
            self.put(0.0, entry, None, 0)
        while self.on_their_way:
            when, _, peer, sender, hop = heapq.heappop(self.on_their_way)
            self.receive(when, peer, sender, hop)
        return self.report

    def put(self, when: float, peer: int, sender: int | None, hop: int) -> None:
        self.report.counts["put"] += 1
        heapq.heappush(self.on_their_way, (when, self.report.counts["put"], peer, sender, hop))

    def leaves(self, sender: Peer, to: int, waited: int) -> float:
        """When a message has left the uplink of its sender."""
        now = self.report.when[sender.number]
        place = int(self.clock.place[sender.number]) if self.clock.timed else -1
        if not self.clock.timed or place == self.clock.place[to]:
            return now
        if waited:
            return now + self.clock.occupied
        self.free[place] = max(now, self.free[place]) + self.clock.occupied
        return self.free[place]

    def matches(self, peer: int) -> bool:
        return naive.contains_point(self.peers[peer].box, self.point)

    def alive(self, peer: int) -> bool:
        return bool(self.network.alive[peer])

    def neighbours_on_host(self, peer: int) -> list[int]:
        host = self.peers[peer].host
        return [other.number for other in self.peers if other.host == host] if host >= 0 else [peer]

    def is_up(self, peer: int) -> bool:
        return self.alive(peer) or any(self.alive(other) for other in self.neighbours_on_host(peer))

    def resident(self, peer: int) -> int | None:
        """The peer that takes a message for `peer`."""
        candidates = [peer] if self.alive(peer) else self.neighbours_on_host(peer)
        return next((other for other in candidates if self.alive(other) and self.matches(other)), None)

    def receive(self, when: float, peer: int, sender: int | None, hop: int) -> None:
        taker = self.resident(peer)
        if taker is None:
            self.report.counts["spam"] += 1
            self.report.spammed[peer] += 1
            return
        self.report.received[taker] += 1
        if taker in self.report.hop_of:
            self.report.counts["duplicates"] += 1
            return
        self.report.hop_of[taker], self.report.when[taker] = hop, when
        host = self.peers[taker].host
        self.report.applications.add(host if host >= 0 else -1 - taker)
        self.forward(self.peers[taker], sender)

    def send(self, sender: Peer, to: int, dice: Dice, acknowledged: bool, waited: int) -> bool | None:
        hop = self.report.hop_of[sender.number] + 1
        if sender.host >= 0 and sender.host == self.peers[to].host:
            if not self.alive(to):
                return False
            self.report.counts["local"] += 1
            self.put(self.report.when[sender.number] + (not self.clock.timed), to, sender.number, hop)
            return self.resident(to) is not None
        if to not in self.departed:
            self.departed[to] = self.leaves(sender, to, waited)
        number = self.report.forwarded[sender.number]
        lost, ack_lost = (dice.chance(LOSS + 2 * number + k, self.network.loss) for k in (0, 1))
        self.report.forwarded[sender.number] += 1
        self.report.counts["messages"] += 1
        silent = None if acknowledged else True
        if lost or self.network.group[sender.number] != self.network.group[to] or not self.is_up(to):
            self.report.counts["failed"] += 1
            return silent
        took = travel(self.clock, sender.number, to, waited, np.uint64(dice.key))
        self.put(self.departed[to] + took, to, sender.number, hop)
        self.report.counts["acks"] += acknowledged
        return self.resident(to) is not None if acknowledged and not ack_lost else silent

    def forward(self, peer: Peer, came_from: int | None) -> None:
        dice, self.departed = self.dice_of_event.of_peer(peer.number), {}
        took: dict[int, bool | None] = {}

        def send(to: Descriptor, waited: int | None) -> bool | None:
            acknowledged = waited is not None and self.settings.acknowledged
            answer = self.send(peer, to.id, dice, acknowledged, waited or 0)
            if waited is not None:
                took[to.id] = answer
            return answer

        views = PeerLinks(*(self.known(view) for view in (peer.near, peer.random, peer.ring)))
        forward(views, self.point, came_from, self.settings, dice, send)
        self.report.failures |= {(peer.number, to) for to, answer in took.items() if not answer}

    def known(self, numbers: Sequence[int]) -> list[Descriptor]:
        return [self.descriptors[number] for number in numbers]


class Publisher:
    def __init__(
        self,
        peers: list[Peer],
        network: Network,
        settings: PublisherSettings,
        number: int,
        point: Point,
        seed: int,
    ) -> None:
        self.peers, self.network, self.settings = peers, network, settings
        self.descriptors = descriptors([peer.box for peer in peers])
        self.dice = Dice.of(seed, PUBLISHER, 3).of_peer(number)
        self.path = Walk(point, settings)
        self.home, self.last_to_answer = 0, -1
        self.entry, self.messages, self.failed = -1, 0, 0

    @property
    def steps(self) -> int:
        return self.path.steps

    def walk(self) -> None:
        if not self.network.alive.any():
            return
        while self.entry < 0 and (move := self.path.next()):
            if not move.hand_over:
                self.ask(self.anybody() if move.peer is None else move.peer.id)
            elif move.peer and self.arrives(move.peer.id, HAND_OVER):
                self.messages += 1  # the acknowledgement
                self.entry = move.peer.id

    def draw(self, k: int) -> int:
        return PER_STEP * (self.steps - 1) + k

    def lost(self, k: int) -> bool:
        return self.dice.chance(self.draw(k), self.network.loss)

    def arrives(self, peer: int, k: int) -> bool:
        self.messages += 1
        there = self.network.alive[peer] and self.network.group[peer] == self.home
        if there and not self.lost(k):
            return True
        self.failed += 1
        return False

    def anybody(self) -> int:
        """A random link of the last peer that answered; at first, a random peer."""
        choices = self.peers[self.last_to_answer].random if self.last_to_answer >= 0 else []
        live = np.flatnonzero(self.network.alive).tolist()
        peer = (choices or live)[self.dice.below(self.draw(CONTACT), len(choices or live))]
        if self.steps == 1:
            self.home = int(self.network.group[peer])
        return peer

    def ask(self, peer: int) -> None:
        if not self.arrives(peer, REQUEST):
            return
        self.messages += 1
        if self.lost(REPLY):
            self.failed += 1
            return
        self.last_to_answer, known = peer, self.peers[peer]
        offers = known.near + known.random + (known.ring if self.settings.ring_offers else [])
        self.path.answered(self.descriptors[peer], [self.descriptors[other] for other in offers])
