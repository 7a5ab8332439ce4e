"""SCAMP with one object a node, written after the paper; same order of decisions as the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hierarchy.membership.scamp.layer import STREAM, ScampSettings
from hierarchy.membership.scamp.steps import BALANCE, BEAT, JOIN, LEAVE, RENEW
from sub2sub.kernels.randomness import below, cycle_key, draw, peer_key, unit


class Dice:
    """Draws of one node in one phase of a cycle."""

    def __init__(self, key, phase: int, node: int) -> None:
        self.key = np.uint64(peer_key(np.uint64(peer_key(key, phase)), node))
        self.k = 0

    def bits(self):
        self.k += 1
        return np.uint64(draw(self.key, self.k - 1))

    def unit(self) -> float:
        return unit(self.bits())

    def below(self, n: int) -> int:
        return int(below(self.bits(), n))


@dataclass
class Link:
    peer: Node
    expires: int
    weight: float


@dataclass(eq=False)
class Node:
    number: int
    view: list[Link] = field(default_factory=list)
    inward: list[Node] = field(default_factory=list)
    lease_end: int = 0
    contact: Node | None = None
    heard: int = 0

    def has(self, peer: Node) -> bool:
        return any(link.peer is peer for link in self.view)

    def keep(self, peer: Node) -> None:
        weight = sum(link.weight for link in self.view) / len(self.view) if self.view else 1.0
        self.view.append(Link(peer, peer.lease_end, weight))
        peer.inward.append(self)

    def drop(self, peer: Node) -> None:
        place = next(i for i, link in enumerate(self.view) if link.peer is peer)
        self.view[place] = self.view[-1]
        self.view.pop()

    def forget_inward(self, holder: Node) -> None:
        if holder in self.inward:
            self.inward[self.inward.index(holder)] = self.inward[-1]
            self.inward.pop()

    def clear(self) -> None:
        self.view, self.inward, self.lease_end = [], [], 0


class ReferenceScamp:
    """Nodes and the messages between them."""

    def __init__(self, n: int, seed: int, settings: ScampSettings) -> None:
        self.nodes = [Node(i) for i in range(n)]
        self.seed, self.s = seed, settings
        self.joining: list[Node] = []
        self.leaving: list[Node] = []
        self.messages = 0

    def join(self, peers, contacts) -> None:
        for peer, contact in zip(peers, contacts, strict=True):
            node = self.nodes[peer]
            node.contact = self.nodes[contact] if contact >= 0 else None
            self.joining = [other for other in self.joining if other is not node]
            self.leaving = [other for other in self.leaving if other is not node]
            node.clear()
        self.joining += [self.nodes[peer] for peer in peers]

    def leave(self, peers) -> None:
        self.joining = [node for node in self.joining if node.number not in peers]
        self.leaving += [self.nodes[peer] for peer in peers]

    def step(self, cycle: int, network) -> int:
        self.messages = 0
        self.network = network
        key = cycle_key(self.seed, STREAM, cycle)
        for node in self.leaving:
            self.unsubscribe(node, Dice(key, LEAVE, node.number))
        joining, self.joining, self.leaving = self.joining, [], []
        for node in joining:
            if self.is_alive(node):
                self.begin_lease(node, self.s.c, cycle, Dice(key, JOIN, node.number))
        due = [
            node
            for node in self.nodes
            if self.is_alive(node)
            and node.lease_end > 0
            and (node.lease_end <= cycle or node.heard < cycle - self.s.isolation or not node.view)
        ]
        for node in due:
            self.renew(node, cycle, Dice(key, RENEW, node.number))
        for node in self.nodes:
            if self.is_alive(node):
                for link in reversed(list(node.view)):
                    if link.expires <= cycle:
                        node.drop(link.peer)
        for node in self.nodes:
            if self.is_alive(node):
                dice = Dice(key, BEAT, node.number)
                for link in node.view:
                    if self.send(node, link.peer, dice):
                        link.peer.heard = cycle
        if self.s.indirection:
            self.balance(key)
        return self.messages

    def is_alive(self, node: Node) -> bool:
        return bool(self.network.alive[node.number])

    def send(self, sender: Node, receiver: Node, dice: Dice) -> bool:
        self.messages += 1
        same = self.network.group[sender.number] == self.network.group[receiver.number]
        return dice.unit() >= self.network.loss and self.is_alive(receiver) and bool(same)

    def begin_lease(self, node: Node, extra: int, cycle: int, dice: Dice) -> None:
        node.lease_end = cycle + self.s.lease + dice.below(self.s.lease // 2 + 1)
        node.heard = cycle
        start = self.reach_somebody(node, dice)
        if start is None:
            return
        server = self.walk(start, dice)
        if server is node:
            server = start
        if not node.view:
            node.keep(server)
        self.subscribe(node, server, extra, dice)

    def reach_somebody(self, node: Node, dice: Dice) -> Node | None:
        if self.s.contact_first and node.contact is not None and self.send(node, node.contact, dice):
            return node.contact
        for known in ([link.peer for link in node.view], node.inward):
            for _ in range(min(3, len(known))):
                target = known[dice.below(len(known))]
                if self.send(node, target, dice):
                    return target
        if self.s.contact_first:
            return None
        if node.contact is not None and self.send(node, node.contact, dice):
            return node.contact
        return None

    def renew(self, node: Node, cycle: int, dice: Dice) -> None:
        if node.lease_end <= cycle:
            for holder in node.inward:
                if any(link.peer is node and link.expires <= cycle for link in holder.view):
                    holder.drop(node)
            node.inward = []
        self.begin_lease(node, 0, cycle, dice)

    def walk(self, at: Node, dice: Dice) -> Node:
        for _ in range(self.s.indirection):
            if not at.view:
                break
            left = dice.unit() * sum(link.weight for link in at.view)
            for link in at.view:
                target = link.peer
                if left < link.weight:
                    break
                left -= link.weight
            if self.send(at, target, dice):
                at = target
        return at

    def subscribe(self, node: Node, server: Node, extra: int, dice: Dice) -> None:
        if not server.view and server is not node:
            server.keep(node)
            return
        known = [link.peer for link in server.view]
        for copy in range(len(known) + extra):
            target = known[copy] if copy < len(known) else known[dice.below(len(known))]
            through = self.send(server, target, dice)
            self.forward(node, target if through else server, through, dice)

    def forward(self, node: Node, holder: Node, arrived: bool, dice: Dice) -> None:
        for _ in range(self.s.hop_limit):
            known = arrived and (holder is node or holder.has(node))
            if arrived and not known and dice.unit() * (1 + len(holder.view)) < 1:
                holder.keep(node)
                return
            if not holder.view:
                return
            target = holder.view[dice.below(len(holder.view))].peer
            arrived = self.send(holder, target, dice)
            if arrived:
                holder = target

    def unsubscribe(self, node: Node, dice: Dice) -> None:
        heirs, known_by = [link.peer for link in node.view], list(node.inward)
        for i, holder in enumerate(known_by):
            through = self.send(node, holder, dice)
            if not through or not holder.has(node):
                continue
            holder.drop(node)
            if i < len(known_by) - self.s.c - 1 and heirs:
                heir = heirs[i % len(heirs)]
                if heir is not holder and not holder.has(heir):
                    holder.keep(heir)
        for heir in heirs:
            heir.forget_inward(node)
        node.clear()

    def balance(self, key) -> None:
        into = dict.fromkeys(self.nodes, 0.0)
        for node in self.nodes:
            if self.is_alive(node):
                for link in node.view:
                    into[link.peer] += link.weight
        for node in self.nodes:
            if self.is_alive(node):
                dice = Dice(key, BALANCE, node.number)
                for link in node.view:
                    self.messages += 1  # what the other side weighs in sum, and back
                    if self.send(link.peer, node, dice) and self.is_alive(link.peer):
                        link.weight /= into[link.peer]
                total = sum(link.weight for link in node.view)
                for link in node.view:
                    link.weight /= total
