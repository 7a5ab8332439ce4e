"""The ring layer as its module tells it: one object a peer, a view a dictionary of neighbours.

Nothing is remembered to save work: every offer selects anew, by Figure 3 to the letter, from the neighbours
and the candidate. What the kernels must agree with is who is taken and dropped, when, with which stamp, and
which draws decide.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.randomness import cycle_key, draw, peer_key, unit
from sub2sub.overlay.network import Network
from sub2sub.ring import layer as ring
from sub2sub.ring.layer import Partner, RingSettings
from sub2sub.ring.partner import CHOICE
from sub2sub.ring.pool import MET, PEER, SINCE, STAMP
from tests.sub2sub.geometry import naive
from tests.sub2sub.overlay.reference import Dice, Link, View, reaches


@dataclass
class Neighbour:
    stamp: int
    since: int
    met: int = -1


@dataclass
class Counts:
    messages: int = 0
    failed: int = 0
    hellos: int = 0
    news: list[tuple[int, int]] = field(default_factory=list)


class RingPeer:
    def __init__(self, number: int, boxes: list[naive.Box], settings: RingSettings) -> None:
        self.number, self.boxes, self.settings = number, boxes, settings
        self.view: dict[int, Neighbour] = {}
        self.forgot = -1

    def in_order(self) -> list[int]:
        """The neighbours in the order of the ring."""
        return sorted(self.view, key=lambda x: (x - self.number) % len(self.boxes))

    def needed(self, others: set[int]) -> set[int]:
        """Those of `others` that Figure 3 selects."""
        candidates = sorted(others)
        boxes = [self.boxes[x] for x in candidates]
        selected = naive.figure_3(self.boxes[self.number], self.number, boxes, candidates)
        return {candidates[k] for side in selected for k in side}

    def away(self, x: int) -> int:
        way = abs(x - self.number)
        return min(way, len(self.boxes) - way)

    def heard_from(self, x: int, cycle: int) -> int:
        """Note a message from x, if it is a neighbour; when they last met."""
        if x not in self.view:
            return -1
        before = self.view[x].met
        self.view[x].met = self.view[x].stamp = cycle
        return before

    def remove(self, x: int, cycle: int) -> None:
        del self.view[x]
        self.forgot = cycle

    def expire(self, cycle: int) -> None:
        for x in self.in_order():
            if self.settings.max_age and self.view[x].stamp < cycle - self.settings.max_age:
                self.remove(x, cycle)

    def partner(self, dice: Dice, turn: int) -> int:
        order = self.in_order()
        if self.settings.partner == Partner.NEAREST:
            return min((order[0], order[-1]), key=self.away)
        first = dice.below(turn * ring.DRAWS + CHOICE, len(order))
        if self.settings.partner == Partner.RANDOM:
            return order[first]
        return min(order[first:] + order[:first], key=lambda x: self.view[x].met)

    def new_since(self, met: int, other: RingPeer) -> View:
        """The ring neighbours to offer `other`: not those it was offered when the two met last."""
        memory = met if other.forgot < met else -1
        return [Link(x, self.view[x].stamp) for x in self.in_order() if self.view[x].since >= memory]

    def renew(self, x: int, stamp: int) -> None:
        if self.settings.max_age:
            self.view[x].stamp = max(self.view[x].stamp, stamp)

    def consider(self, links: View, cycle: int, news: list[tuple[int, int]]) -> None:
        """Take what is needed, nearest first, then drop what is no longer."""
        oldest = cycle - self.settings.max_age if self.settings.max_age else 0
        links = [
            link
            for link in links
            if link.stamp >= oldest
            and link.peer != self.number
            and naive.overlap(self.boxes[self.number], self.boxes[link.peer])
        ]
        known, unknown = (
            [link for link in links if (link.peer in self.view) is yes] for yes in (True, False)
        )
        for link in known:
            self.renew(link.peer, link.stamp)
        for link in sorted(unknown, key=lambda link: self.away(link.peer)):
            if link.peer in self.view:
                self.renew(link.peer, link.stamp)
            elif self.settings.cap and len(self.view) >= self.settings.cap:
                continue
            elif link.peer in self.needed({*self.view, link.peer}):
                self.view[link.peer] = Neighbour(link.stamp, since=cycle)
                news.append((self.number, link.peer))
        for x in set(self.view) - self.needed(set(self.view)):
            del self.view[x]


class RingReference:
    def __init__(self, boxes: list[naive.Box], settings: RingSettings, seed: int) -> None:
        self.peers = [RingPeer(number, boxes, settings) for number in range(len(boxes))]
        self.settings, self.seed = settings, seed

    def step(self, cycle: int, network: Network, fed: list[View]) -> Counts:
        """Step everybody; `fed` are the links each has from the layers below."""
        counts = Counts()
        for peer in self.peers:
            if not network.alive[peer.number]:
                continue
            dice = Dice(self.seed, ring.STREAM, cycle, peer.number)
            peer.expire(cycle)
            peer.consider(fed[peer.number], cycle, counts.news)
            for turn in range(self.settings.exchanges):
                if not peer.view:
                    break
                self.exchange(
                    peer, self.peers[peer.partner(dice, turn)], turn, cycle, network, fed, dice, counts
                )
        if self.settings.hello:
            self.say_hello(cycle, network, counts)
        return counts

    def exchange(
        self, peer: RingPeer, other: RingPeer, turn: int, cycle: int, network: Network, fed: list[View],
        dice: Dice, counts: Counts,
    ) -> None:  # fmt: skip
        counts.messages += 1
        if not reaches(network, peer.number, other.number) or dice.chance(
            turn * ring.DRAWS + ring.REQUEST, network.loss
        ):
            counts.failed += 1
            peer.view[other.number].met = cycle
            if self.settings.drop_failed:
                peer.remove(other.number, cycle)
            return
        met_by_other = other.heard_from(peer.number, cycle)
        answered = self.settings.two_sided
        if answered:
            counts.messages += 1
            if dice.chance(turn * ring.DRAWS + ring.REPLY, network.loss):
                counts.failed += 1
                answered = False
        for x in set(peer.view) & set(other.view):
            stamps = peer.view[x].stamp, other.view[x].stamp
            other.renew(x, stamps[0])
            if answered:
                peer.renew(x, stamps[1])
        offers: View = []
        if answered:
            met = peer.heard_from(other.number, cycle)
            offers = fed[other.number] + other.new_since(met, peer)
        answers = fed[peer.number] + peer.new_since(met_by_other, other) + [Link(peer.number, cycle)]
        other.consider(answers, cycle, counts.news)
        if met_by_other < 0:
            other.heard_from(peer.number, cycle)
        if answered:
            peer.consider(offers, cycle, counts.news)

    def say_hello(self, cycle: int, network: Network, counts: Counts) -> None:
        key = np.uint64(peer_key(cycle_key(self.seed, ring.STREAM, cycle), len(self.peers)))
        for k, (teller, told) in enumerate(counts.news):
            counts.hellos += 1
            if reaches(network, teller, told) and not unit(np.uint64(draw(key, k))) < network.loss:
                self.peers[told].consider([Link(teller, cycle)], cycle, [])

    def links(self) -> list[list[tuple[int, int, int, int]]]:
        """Everybody's neighbours in the order of the ring: number, stamp, met, since."""
        views = []
        for peer in self.peers:
            held = [(x, peer.view[x]) for x in peer.in_order()]
            views.append([(x, each.stamp, each.met, each.since) for x, each in held])
        return views


def held_by(layer: ring.Ring) -> list[list[tuple[int, int, int, int]]]:
    """The same of the layer."""
    pool = layer.pool

    def words(t: int, name: int) -> NDArray[np.int32]:
        start = pool.start[t] + name * np.int64(pool.room[t])
        return pool.words[start : start + pool.size[t]]

    fields = (PEER, STAMP, MET, SINCE)
    return [
        [tuple(row) for row in np.stack([words(t, name) for name in fields], axis=1).tolist()]
        for t in range(pool.size.size)
    ]
