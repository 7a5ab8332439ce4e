"""Populations of readable peers, stepped layer by layer: the kernels must make the same decisions.

The peers are the ones that live peers run. What is added is what an engine adds: whose turn it is, what the
network loses, what it costs. A peer's ID is its number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.ring.probes import MEMORY, MISTAKE
from sub2sub.peers import cyclon, ring, vicinity
from sub2sub.peers.cyclon import CyclonPeer, Shuffle
from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.draws import Dice
from sub2sub.peers.newcomer import Newcomer
from sub2sub.peers.ring import RingPeer
from sub2sub.peers.settings import CyclonSettings, RingSettings, VicinitySettings
from sub2sub.peers.verification import Verification, Verify
from sub2sub.peers.vicinity import VicinityPeer
from tests.sub2sub.geometry import naive

Row = list[tuple[int, int]]


def descriptors(boxes: Sequence[naive.Box]) -> list[Descriptor]:
    """Peers with these half-open boxes, numbered."""
    return [
        Descriptor.half_open(number, tuple(low for low, _ in box), tuple(high for _, high in box))
        for number, box in enumerate(boxes)
    ]


def row(view: Sequence[Link]) -> Row:
    """A view as numbers and stamps."""
    return [(link.peer.id, link.stamp) for link in view]


@dataclass
class Cost:
    messages: int = 0
    failed: int = 0
    links: int = 0

    def send(self, arrives: bool, copies: int = 1) -> bool:
        self.messages += copies
        self.failed += not arrives
        return arrives


def reaches(network: Network, a: int, b: int) -> bool:
    return bool(network.alive[b]) and network.group[a] == network.group[b]


def copies(dice: Dice, k: int, loss: float, tries: int) -> tuple[int, bool]:
    """How often a message is sent that is repeated while it is lost, and whether it arrives.

    One draw decides: the first k copies are lost if it falls below loss^k.
    """
    lost = [dice.chance(k, loss ** (copy + 1)) for copy in range(tries)]
    return (lost.index(False) + 1, True) if False in lost else (tries, False)


class Persistence:
    """How often each peer sends a message of the ring layer while it is lost: one peer at a time."""

    def __init__(self, settings: RingSettings, n: int) -> None:
        self.settings, self.known = settings, [[0.0, 0.0] for _ in range(n)]
        self.tries = [settings.tries] * n
        self.fresh: list[tuple[int, int]] = []

    def arrived(self, peer: int, copies: int) -> None:
        self.fresh.append((peer, copies))

    def end_cycle(self) -> None:
        self.known = [[MEMORY * copies, MEMORY * repeated] for copies, repeated in self.known]
        for peer, copies in self.fresh:
            self.known[peer][0] += copies
            self.known[peer][1] += copies - 1
        self.fresh = []
        for peer, (copies, repeated) in enumerate(self.known):
            share, self.tries[peer] = repeated / max(copies, 1), self.settings.tries
            share += 2 * math.sqrt(share / max(copies, 1))
            while share ** self.tries[peer] > MISTAKE and self.tries[peer] < self.settings.most_tries:
                self.tries[peer] += 1

    def forget(self, peer: int) -> None:
        self.known[peer], self.tries[peer] = [0.0, 0.0], self.settings.tries


class CyclonEngine:
    def __init__(self, population: Sequence[Descriptor], settings: CyclonSettings, seed: int) -> None:
        self.settings, self.seed = settings, seed
        self.peers = [CyclonPeer(own, settings, phase=own.id) for own in population]

    def join(self, number: int, contact: int, cycle: int) -> None:
        own = self.peers[number].own
        self.peers[number] = CyclonPeer(own, self.settings, phase=number, since=cycle)
        if contact >= 0:
            self.peers[number].join([self.peers[contact].own], cycle)

    def step(self, cycle: int, network: Network) -> Cost:
        cost = Cost()
        chosen = [peer.partner(cycle) for peer in self.peers]
        for number, (peer, (partner, again)) in enumerate(zip(self.peers, chosen, strict=True)):
            dice = Dice.of(self.seed, cyclon.STREAM, cycle).of_peer(number)
            if network.alive[number] and partner:
                shuffle = peer.turn_to(partner, again, cycle, dice)
                self.exchange(peer, shuffle, network, dice, cost)
        return cost

    def exchange(self, peer: CyclonPeer, shuffle: Shuffle, network: Network, dice: Dice, cost: Cost) -> None:
        partner, tries = self.peers[shuffle.partner.id], self.settings.tries
        sent, arrives = copies(dice, cyclon.REQUEST, network.loss, tries)
        if not reaches(network, peer.own.id, partner.own.id):
            sent, arrives = tries, False
        if not cost.send(arrives, sent):
            peer.fail(shuffle)
            return
        reply = partner.answer(shuffle.links, dice)
        cost.links += len(shuffle.links) + len(reply)
        sent, arrives = copies(dice, cyclon.REPLY, network.loss, tries)
        if cost.send(arrives, sent):
            peer.finish(shuffle, reply)
        else:
            peer.fail(shuffle)


class VicinityEngine:
    def __init__(
        self, population: Sequence[Descriptor], below: CyclonEngine, settings: VicinitySettings, seed: int
    ) -> None:
        self.below, self.settings, self.seed = below, settings, seed
        self.peers = [VicinityPeer(own, settings, around=len(population)) for own in population]

    def join(self, number: int) -> None:
        self.peers[number].view = []

    def step(self, cycle: int, network: Network) -> Cost:
        cost = Cost()
        living = [(peer, self.dice(peer, cycle)) for peer in self.peers if network.alive[peer.own.id]]
        partners = [peer.feed(self.randoms(peer), cycle, dice) for peer, dice in living]
        for (peer, dice), partner in zip(living, partners, strict=True):
            if partner:
                self.exchange(peer, partner, cycle, network, dice, cost)
        return cost

    def dice(self, peer: VicinityPeer, cycle: int) -> Dice:
        return Dice.of(self.seed, vicinity.STREAM, cycle).of_peer(peer.own.id)

    def exchange(
        self, peer: VicinityPeer, partner: Descriptor, cycle: int, network: Network, dice: Dice, cost: Cost
    ) -> None:
        lost = dice.chance(vicinity.REQUEST, network.loss)
        if not cost.send(reaches(network, peer.own.id, partner.id) and not lost):
            peer.fail(partner)
            return
        other = self.peers[partner.id]
        request = peer.offer(partner, self.randoms(peer), cycle, dice)
        reply = other.answer(peer.own, request, self.randoms(other), cycle, dice)
        cost.links += len(request) + len(reply)
        if cost.send(not dice.chance(vicinity.REPLY, network.loss)):
            peer.finish(reply, cycle, dice)

    def randoms(self, peer: VicinityPeer) -> list[Link]:
        return self.below.peers[peer.own.id].view


class FigureThree:
    """Which candidates a ring view needs: Figure 3, literally and without memory."""

    def __init__(self, own: Descriptor) -> None:
        self.own = own
        self.refused: dict[int, Descriptor] = {}

    def needed(self, others: dict[int, Descriptor]) -> set[int]:
        ids = sorted(others)
        boxes = [naive_box(others[id]) for id in ids]
        selected = naive.figure_3(naive_box(self.own), self.own.id, boxes, ids)
        return {ids[k] for side in selected for k in side}

    def may_be_needed(self, peer: Descriptor) -> bool:
        return naive.overlap(naive_box(self.own), naive_box(peer))

    def offer(
        self, neighbours: Sequence[Descriptor], candidates: Sequence[Descriptor], cap: int
    ) -> tuple[list[Descriptor], set[int]]:
        view, taken = {peer.id: peer for peer in neighbours}, []
        for peer in candidates:
            full = cap > 0 and len(view) >= cap
            if not full and peer.id in self.needed({**view, peer.id: peer}):
                view[peer.id] = peer
                taken.append(peer)
        return taken, self.needed(view)

    def first(self, neighbours: Sequence[Descriptor], candidates: Sequence[Descriptor]) -> int:
        view = {peer.id: peer for peer in neighbours}
        for place, peer in enumerate(candidates):
            if peer.id in self.needed({**view, peer.id: peer}):
                return place
        return -1

    def kept(self, neighbours: Sequence[Descriptor]) -> set[int]:
        return self.needed({peer.id: peer for peer in neighbours})

    def forget(self) -> None:
        pass


def naive_box(peer: Descriptor) -> naive.Box:
    return list(zip(peer.low, peer.end, strict=True))


@dataclass
class RingCost(Cost):
    hellos: int = 0
    verifying: int = 0
    joining: int = 0
    news: list[tuple[int, Descriptor]] = field(default_factory=list)
    lasting: list[tuple[int, Descriptor]] = field(default_factory=list)


class RingEngine:
    def __init__(self, population: Sequence[Descriptor], settings: RingSettings, seed: int) -> None:
        self.settings, self.seed, self.n = settings, seed, len(population)
        self.peers = [self.peer(own) for own in population]
        self.contacts: dict[int, int] = {}
        self.changes: list[tuple[int, int]] = []
        self.persistence = Persistence(settings, self.n)

    def peer(self, own: Descriptor) -> RingPeer:
        return RingPeer(own, self.settings, around=self.n, need=FigureThree(own))

    def step(self, cycle: int, network: Network, fed: Sequence[Row]) -> RingCost:
        """Step all peers; `fed` are the links of each from the layers below."""
        cost = RingCost()
        known = [[Link(self.peers[peer].own, stamp) for peer, stamp in row] for row in fed]
        self.tell_changes(cycle, network, cost)
        self.join(cycle, network, known, cost)
        living = [(peer, self.dice(peer, cycle)) for peer in self.peers if network.alive[peer.own.id]]
        for peer, _ in living:
            peer.expire(cycle)
            number = peer.own.id
            verify = self.verify(number, cycle, network, cost)
            self.note(cost, number, peer.consider(known[number], cycle, verify))
            cost.lasting += [(number, told) for told in peer.hellos_due(cycle)]
        exchanges = self.settings.exchanges
        for turn in range(exchanges + self.settings.searches if exchanges else 0):
            more = turn >= exchanges
            partners = [
                None if more and not peer.is_searching(cycle) else peer.partner(turn, dice)
                for peer, dice in living
            ]
            for (peer, dice), partner in zip(living, partners, strict=True):
                if partner:
                    self.exchange(peer, self.peers[partner.id], turn, cycle, network, known, dice, cost)
        if self.settings.hello:
            self.say_hello(cycle, network, cost)
        self.persistence.end_cycle()
        return cost

    def dice(self, peer: RingPeer, cycle: int) -> Dice:
        return Dice.of(self.seed, ring.STREAM, cycle).of_peer(peer.own.id)

    def asks(self, a: int, b: int, cycle: int, network: Network) -> tuple[bool, int]:
        """Whether b answers a, each message sent again while it is lost; and the messages."""
        dice, tries = Dice.of(self.seed, ring.VERIFYING, cycle).of_peer(a).of_peer(b), self.persistence.tries
        if not reaches(network, a, b):
            return False, tries[a]
        there, arrives = copies(dice, 0, network.loss, tries[a])
        back, returns = copies(dice, 1, network.loss, tries[b])
        if arrives and returns:
            self.persistence.arrived(a, there)
            self.persistence.arrived(b, back)
        return arrives and returns, there + back * arrives

    def verify(self, number: int, cycle: int, network: Network, cost: RingCost) -> Verify:
        def is_there(peer: Descriptor) -> bool:
            answered, messages = self.asks(number, peer.id, cycle, network)
            cost.verifying += messages
            cost.failed += not answered
            return answered

        def verify(verification: Verification) -> list[Descriptor]:
            return verification.run(is_there, cycle)

        return verify

    def tell_changes(self, cycle: int, network: Network, cost: RingCost) -> None:
        """Let hosts tell the neighbours of their old peers which peers have replaced them."""
        for old, new in self.changes:
            if not network.alive[new]:
                continue
            for neighbour in [each.peer.id for each in self.peers[old].in_order() if each.peer.id != new]:
                answered, messages = self.asks(old, neighbour, cycle, network)
                cost.verifying += messages
                cost.failed += not answered
                if answered:
                    told, own = self.peers[neighbour], self.peers[new]
                    told.hear_of_change(old, own.own, cycle, self.verify(neighbour, cycle, network, cost))
                    own.consider([Link(told.own, cycle)], cycle, self.verify(new, cycle, network, cost))
        self.changes = []

    def join(self, cycle: int, network: Network, known: list[list[Link]], cost: RingCost) -> None:
        """Let newcomers with a contact ask for their neighbours."""
        for number, contact in sorted(self.contacts.items()):
            if not network.alive[number]:
                continue
            peer = self.peers[number]
            newcomer = Newcomer(peer, [self.peers[contact].own], cycle)
            while (other := newcomer.next()) is not None:
                answered, messages = self.asks(number, other.id, cycle, network)
                cost.joining += messages
                cost.failed += not answered
                if answered:
                    asked = self.peers[other.id]
                    links = [link.peer for link in known[other.id]]
                    links += [each.peer for each in asked.in_order()]
                    asked.consider(
                        [Link(peer.own, cycle)], cycle, self.verify(other.id, cycle, network, cost)
                    )
                    newcomer.answered(other, links)
                else:
                    newcomer.silent(other)
        self.contacts = {}

    def note(self, cost: RingCost, number: int, newcomers: list[Descriptor]) -> None:
        cost.news += [(number, newcomer) for newcomer in newcomers]

    def exchange(
        self, peer: RingPeer, other: RingPeer, turn: int, cycle: int, network: Network,
        known: list[list[Link]], dice: Dice, cost: RingCost,
    ) -> None:  # fmt: skip
        a, b = peer.own.id, other.own.id
        tries = self.persistence.tries
        sent, arrives = copies(dice, turn * ring.DRAWS + ring.REQUEST, network.loss, tries[a])
        if not reaches(network, a, b):
            sent, arrives = tries[a], False
        if not cost.send(arrives, sent):
            peer.fail(other.own, cycle)
            return
        report, verify = peer.report(known[a]), self.verify(b, cycle, network, cost)
        reply, newcomers = other.answer(peer.own, report, known[b], cycle, verify)
        self.note(cost, b, newcomers)
        if reply:
            back, arrives = copies(dice, turn * ring.DRAWS + ring.REPLY, network.loss, tries[b])
            if cost.send(arrives, back):
                self.persistence.arrived(a, sent)
                self.persistence.arrived(b, back)
                verify = self.verify(a, cycle, network, cost)
                self.note(cost, a, peer.finish(other.own, reply, cycle, verify))

    def say_hello(self, cycle: int, network: Network, cost: RingCost) -> None:
        everybody = Dice.of(self.seed, ring.STREAM, cycle).of_peer(self.n)
        hellos = cost.lasting if self.settings.hello_after else cost.news
        for told, teller in sorted({(told.id, teller) for teller, told in hellos}):
            cost.hellos += 1
            lost = everybody.of_peer(teller).of_peer(told).chance(0, network.loss)
            if reaches(network, teller, told) and not lost:
                verify = self.verify(told, cycle, network, cost)
                self.peers[told].consider([Link(self.peers[teller].own, cycle)], cycle, verify)

    def links(self) -> list[list[tuple[int, int, int, int]]]:
        """The neighbours of all peers in the order of the ring: number, stamp, met, since."""
        return [
            [(each.peer.id, each.stamp, each.met, each.since) for each in peer.in_order()]
            for peer in self.peers
        ]
