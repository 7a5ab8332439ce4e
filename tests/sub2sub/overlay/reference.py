"""CYCLON and VICINITY as the papers tell them: one object a peer, a view a list of links.

Nothing here is packed, padded or masked. What the kernels must agree with, draw for draw, is only this: which
draws a decision takes, that the order of a view matters to draws by place, and that a removed link's place is
filled by the last link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sub2sub.cyclon import layer as cyclon
from sub2sub.cyclon.settings import CyclonSettings
from sub2sub.kernels.randomness import cycle_key, draw, peer_key, unit
from sub2sub.overlay.network import Network
from sub2sub.vicinity import layer as vicinity
from sub2sub.vicinity.proximity import Tie
from sub2sub.vicinity.settings import VicinitySettings
from tests.sub2sub.geometry import naive

FULLY_APART, BARELY_APART = np.float32(3e38), np.float32(1e-30)


@dataclass(frozen=True)
class Link:
    peer: int
    stamp: int


View = list[Link]


def peers(view: Sequence[Link]) -> list[int]:
    return [link.peer for link in view]


def oldest_of(view: View) -> int:
    """Place of the oldest link, of equally old ones that to the lowest peer."""
    return min(range(len(view)), key=lambda place: (view[place].stamp, view[place].peer))


def remove(view: View, place: int) -> Link:
    view[place], view[-1] = view[-1], view[place]
    return view.pop()


@dataclass
class Dice:
    """The draws of one peer in one cycle, by number."""

    seed: int
    stream: int
    cycle: int
    peer: int
    key: np.uint64 = field(init=False)

    def __post_init__(self) -> None:
        self.key = np.uint64(peer_key(cycle_key(self.seed, self.stream, self.cycle), self.peer))

    def bits(self, k: int) -> int:
        return int(draw(self.key, k))

    def below(self, k: int, n: int) -> int:
        return (self.bits(k) >> 32) * n >> 32

    def chance(self, k: int, probability: float) -> bool:
        return bool(unit(np.uint64(self.bits(k))) < probability)

    def sample(self, first: int, size: int, count: int) -> list[int]:
        """Floyd's sample of places, in their order; a draw is good for three, 21 bits apart."""
        chosen: set[int] = set()
        for k in range(count):
            last = size - count + k
            bits = self.bits(first + k // 3) << 21 * (k % 3) & 0xFFFFFFFFFFFFFFFF
            place = (bits >> 32) * (last + 1) >> 32
            chosen.add(last if place in chosen else place)
        return sorted(chosen)


@dataclass
class Cost:
    messages: int = 0
    failed: int = 0
    links: int = 0


def reaches(network: Network, a: int, b: int) -> bool:
    return bool(network.alive[b]) and network.group[a] == network.group[b]


class CyclonPeer:
    """Section 3 of the CYCLON paper, enhanced shuffling."""

    def __init__(self, number: int, settings: CyclonSettings) -> None:
        self.number, self.settings = number, settings
        self.view: View = []
        self.lost: int | None = None
        self.tried_in_vain = False

    def tries_again(self, cycle: int) -> bool:
        """Whether it is time for the partner that did not answer."""
        retry = self.settings.retry
        return retry > 0 and self.lost is not None and (not self.view or (cycle + self.number) % retry == 0)

    def request(self, dice: Dice, cycle: int) -> tuple[list[int], View]:
        """A few links at random and a fresh one to oneself; where the former stand."""
        places = dice.sample(cyclon.SENT, len(self.view), min(self.settings.shuffle - 1, len(self.view)))
        return places, [self.view[place] for place in places] + [Link(self.number, cycle)]

    def reply(self, dice: Dice) -> tuple[list[int], View]:
        places = dice.sample(cyclon.ANSWERED, len(self.view), min(self.settings.shuffle, len(self.view)))
        return places, [self.view[place] for place in places]

    def receive(self, links: View, sent: list[int]) -> None:
        """Fill free places, then overwrite what was sent away; what is known is discarded."""
        known = {self.number, *peers(self.view)}
        for link in links:
            if link.peer in known:
                continue
            if len(self.view) < self.settings.view:
                self.view.append(link)
            elif sent:
                self.view[sent.pop(0)] = link


class CyclonReference:
    def __init__(self, n: int, settings: CyclonSettings, seed: int) -> None:
        self.peers = [CyclonPeer(number, settings) for number in range(n)]
        self.seed = seed

    def step(self, cycle: int, network: Network) -> Cost:
        cost = Cost()
        for peer in self.peers:
            again = peer.tries_again(cycle)
            if network.alive[peer.number] and (peer.view or again):
                dice = Dice(self.seed, cyclon.STREAM, cycle, peer.number)
                number = peer.lost if again else remove(peer.view, oldest_of(peer.view)).peer
                if self.shuffle(peer, self.peers[number], cycle, network, dice, cost):
                    peer.lost = None if again else peer.lost
                elif again:
                    peer.tried_in_vain = True
                elif peer.lost is None or peer.tried_in_vain:
                    peer.lost, peer.tried_in_vain = number, False
        return cost

    def shuffle(
        self, peer: CyclonPeer, partner: CyclonPeer, cycle: int, network: Network, dice: Dice, cost: Cost
    ) -> bool:
        """Exchange links; whether the partner answered."""
        copies = self.send(dice, cyclon.REQUEST, network.loss, peer.settings.tries)
        if not reaches(network, peer.number, partner.number):
            copies = [True] * peer.settings.tries
        cost.messages += len(copies)
        if copies[-1]:
            cost.failed += 1
            return False
        sent, request = peer.request(dice, cycle)
        answered, reply = partner.reply(dice)
        partner.receive(request, answered)
        copies = self.send(dice, cyclon.REPLY, network.loss, peer.settings.tries)
        cost.messages += len(copies)
        cost.links += len(request) + len(reply)
        if copies[-1]:
            cost.failed += 1
            return False
        peer.receive(reply, sent)
        return True

    def send(self, dice: Dice, k: int, loss: float, tries: int) -> list[bool]:
        """Of each copy of a message that is repeated while it is lost: whether it was lost."""
        copies: list[bool] = []
        while len(copies) < tries and (not copies or copies[-1]):
            copies.append(dice.chance(k, loss ** (len(copies) + 1)))
        return copies


def squared_distance(a: naive.Box, b: naive.Box) -> float:
    """Between two boxes; summed four attributes at a time, as floats do not add up in any order."""
    gaps = [max(0.0, p - s, r - q) for (p, q), (r, s) in zip(a, b, strict=True)]
    squares = [gap * gap for gap in gaps] + [0.0] * (-len(gaps) % 4)
    fours = [squares[k : k + 4] for k in range(0, len(squares), 4)]
    return sum((first + second) + (third + fourth) for first, second, third, fourth in fours)


class VicinityPeer:
    """Keeps the nearest links it has seen."""

    def __init__(self, number: int, boxes: list[naive.Box], settings: VicinitySettings) -> None:
        self.number, self.boxes, self.settings = number, boxes, settings
        self.view: View = []

    def gap(self, other: int) -> np.float32:
        """How far the box of `other` is from one's own (Sub-2-Sub, Section 4.1)."""
        mine, its, n = self.boxes[self.number], self.boxes[other], len(self.boxes)
        if not naive.overlap(mine, its):
            return min(max(np.float32(squared_distance(mine, its)), BARELY_APART), FULLY_APART)
        if self.settings.tie == Tie.SEQUENCE:
            way = abs(self.number - other)
            return np.float32(min(way, n - way) / n) * BARELY_APART
        return np.float32(0.0)

    def gaps(self) -> list[np.float32]:
        return [self.gap(peer) for peer in peers(self.view)]

    def worst(self) -> np.float32:
        """What a link must not be farther than to be of interest."""
        return max(self.gaps()) if len(self.view) == self.settings.view else np.float32(np.inf)

    def expire(self, oldest_allowed: int) -> None:
        while self.view and self.view[oldest_of(self.view)].stamp < oldest_allowed:
            remove(self.view, oldest_of(self.view))

    def nearest_for(self, target: VicinityPeer, randoms: View, start: int) -> View:
        """Links that suit `target` best, among the view from place `start` on and the random links."""
        view = self.view[start:] + self.view[:start]
        everything = view + [link for link in randoms if link.peer not in peers(self.view)]
        others = [link for link in everything if link.peer != target.number]
        return sorted(others, key=lambda link: target.gap(link.peer))[: self.settings.shuffle - 1]

    def receive(self, links: View, dice: Dice, first: int, oldest_allowed: int) -> None:
        """Keep the nearest; what is known is only refreshed."""
        worst = self.worst()
        links = [link for link in links if link.stamp >= oldest_allowed and self.gap(link.peer) <= worst]
        known = peers(self.view)
        news = [link for link in links if link.peer not in known]
        for link in links:
            if link.peer in known:
                place = known.index(link.peer)
                self.view[place] = max(self.view[place], link, key=lambda copy: copy.stamp)
        as_near_as_all = []
        for link in news:
            if len(self.view) < self.settings.view:
                self.view.append(link)
            elif self.gap(link.peer) < self.worst():
                self.view[self.gaps().index(self.worst())] = link
            elif self.gap(link.peer) == 0.0:
                as_near_as_all.append(link)
        if self.settings.tie == Tie.RANDOM and self.worst() == 0.0:
            room = self.settings.view
            places = dice.sample(first, room, min(room, len(as_near_as_all)))
            for place, link in zip(places, as_near_as_all, strict=False):
                self.view[place] = link


class VicinityReference:
    def __init__(
        self, boxes: list[naive.Box], below: CyclonReference, settings: VicinitySettings, seed: int
    ) -> None:
        self.peers = [VicinityPeer(number, boxes, settings) for number in range(len(boxes))]
        self.below, self.max_age, self.seed = below, settings.max_age, seed

    def step(self, cycle: int, network: Network) -> Cost:
        cost = Cost()
        oldest_allowed = cycle - self.max_age if self.max_age else 0
        for peer in self.peers:
            if network.alive[peer.number]:
                dice = Dice(self.seed, vicinity.STREAM, cycle, peer.number)
                peer.receive(self.below.peers[peer.number].view, dice, vicinity.FED, oldest_allowed)
                peer.expire(oldest_allowed)
                if peer.view:
                    self.exchange(peer, cycle, network, dice, oldest_allowed, cost)
        return cost

    def exchange(
        self, peer: VicinityPeer, cycle: int, network: Network, dice: Dice, oldest_allowed: int, cost: Cost
    ) -> None:
        place = oldest_of(peer.view)
        partner = self.peers[peer.view[place].peer]
        cost.messages += 1
        if not reaches(network, peer.number, partner.number) or dice.chance(vicinity.REQUEST, network.loss):
            cost.failed += 1
            remove(peer.view, place)
            return
        start = dice.below(vicinity.START, len(peer.view))
        request = peer.nearest_for(partner, self.below.peers[peer.number].view, start)
        start = dice.below(vicinity.HIS_START, max(len(partner.view), 1))
        reply = partner.nearest_for(peer, self.below.peers[partner.number].view, start)
        request.append(Link(peer.number, cycle))
        reply.append(Link(partner.number, cycle))
        partner.receive(request, dice, vicinity.THERE, oldest_allowed)
        cost.messages += 1
        cost.links += len(request) + len(reply)
        if dice.chance(vicinity.REPLY, network.loss):
            cost.failed += 1
            return
        peer.receive(reply, dice, vicinity.BACK, oldest_allowed)
