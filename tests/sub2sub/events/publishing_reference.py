"""A publisher's walk as Section 4.1 of Sub-2-Sub tells it: peers it knows, asked one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sub2sub.events.publishing import CONTACT, HAND_OVER, PER_STEP, REPLY, REQUEST, STREAM, PublisherSettings
from sub2sub.kernels.randomness import cycle_key, draw, peer_key, unit
from sub2sub.overlay.network import Network
from tests.sub2sub.events.reference import Event, Peer
from tests.sub2sub.geometry import naive


@dataclass
class Known:
    peer: Peer
    distance: float
    asked: bool = False


class Publisher:
    def __init__(
        self,
        peers: list[Peer],
        network: Network,
        settings: PublisherSettings,
        number: int,
        event: Event,
        seed: int,
    ) -> None:
        self.peers, self.network, self.settings, self.event = peers, network, settings, event
        self.key = np.uint64(peer_key(cycle_key(seed, STREAM, 3), number))
        self.known: list[Known] = []
        self.home, self.last_to_answer = 0, None
        self.entry, self.steps, self.messages, self.failed = -1, 0, 0, 0

    def walk(self) -> None:
        if not self.network.alive.any():
            return
        while self.entry < 0 and self.steps < self.settings.max_steps:
            self.draws = PER_STEP * self.steps
            self.steps += 1
            if self.matching():
                self.hand_over()
            else:
                peer = self.next_to_ask()
                if self.ask(peer) and self.matching():
                    self.hand_over()

    def bits(self, k: int) -> int:
        return int(draw(self.key, self.draws + k))

    def one_of(self, choices: list[int]) -> Peer:
        return self.peers[choices[(self.bits(CONTACT) >> 32) * len(choices) >> 32]]

    def lost(self, k: int) -> bool:
        return bool(unit(np.uint64(self.bits(k))) < self.network.loss)

    def arrives(self, peer: Peer, k: int) -> bool:
        self.messages += 1
        there = self.network.alive[peer.number] and self.network.group[peer.number] == self.home
        if there and not self.lost(k):
            return True
        self.failed += 1
        return False

    def not_asked(self) -> list[Known]:
        return sorted((known for known in self.known if not known.asked), key=lambda known: known.distance)

    def matching(self) -> bool:
        return any(self.matches(known.peer) for known in self.not_asked())

    def matches(self, peer: Peer) -> bool:
        return naive.contains_point(peer.box, self.event)

    def hand_over(self) -> None:
        known = self.not_asked()[0]
        known.asked = True
        if self.arrives(known.peer, HAND_OVER):
            self.entry = known.peer.number

    def next_to_ask(self) -> Peer:
        if self.not_asked():
            known = self.not_asked()[0]
            known.asked = True
            return known.peer
        if self.last_to_answer and self.last_to_answer.random:
            return self.one_of(self.last_to_answer.random)
        peer = self.one_of(np.flatnonzero(self.network.alive).tolist())
        if self.steps == 1:
            self.home = int(self.network.group[peer.number])
        return peer

    def ask(self, peer: Peer) -> bool:
        if not self.arrives(peer, REQUEST):
            return False
        self.messages += 1
        if self.lost(REPLY):
            self.failed += 1
            return False
        self.last_to_answer = peer
        self.keep(peer, asked=not self.matches(peer))
        for other in peer.near + peer.random + (peer.ring if self.settings.ring_offers else []):
            self.keep(self.peers[other], asked=False)
        return True

    def distance(self, peer: Peer) -> float:
        if self.matches(peer):
            return -1.0
        return sum(
            max(low - x, x - high, 0.0) ** 2 for (low, high), x in zip(peer.box, self.event, strict=True)
        )

    def keep(self, peer: Peer, asked: bool) -> None:
        if any(known.peer is peer for known in self.known):
            return
        newcomer = Known(peer, self.distance(peer), asked)
        if len(self.known) < self.settings.view:
            self.known.append(newcomer)
            return
        farthest = max(self.known, key=lambda known: known.distance)
        if newcomer.distance < farthest.distance:
            self.known[self.known.index(farthest)] = newcomer
