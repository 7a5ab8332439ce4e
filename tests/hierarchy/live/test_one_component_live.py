"""Live members, without sockets: a community is one component, however many come at once and however much
is lost.

Messages arrive in any order within a cycle; one that is lost cannot be delivered, as on a connection that
broke.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from hierarchy.contacts import Contact
from hierarchy.live import Member, MemberSettings
from hierarchy.live.grid_member import GridMember
from hierarchy.membership.census.settings import CensusSettings
from hierarchy.membership.scamp.settings import ScampSettings
from sub2sub.kernels.dice import Dice

TOPICS = [".a"] * 6 + [".a.b"] * 24
SETTINGS = MemberSettings(scamp=ScampSettings(lease=16), census=CensusSettings(period=20))


class Swarm:
    """Members of all communities, each with an address of its own, and messages that may be lost."""

    def __init__(self, kind: str, loss: float, seed: int) -> None:
        self.rng, self.kind, self.loss = np.random.default_rng(seed), kind, loss
        self.members: dict[int, Member] = {}
        self.waiting: list = []
        self.gateways: dict[str, list[Contact]] = {}
        self.overlay: Contact | None = None

    def dice(self) -> Dice:
        return Dice(int(self.rng.integers(1 << 62)))

    def enter(self, number: int, topic: str) -> None:
        own = Contact(number, "h", number, topic)
        if self.kind == "unstructured":
            known = self.gateways.setdefault(topic, [])
            member = Member(own, lambda event: None, SETTINGS, self.gateways)
            contact = known[int(self.rng.integers(len(known)))] if known else None
            known += [own] if len(known) < 2 else []
        else:
            member = GridMember(own, lambda event: None, SETTINGS, self.kind == "semi-structured", rest=6)
            contact = self.overlay
            self.overlay = self.overlay or own
        self.members[number] = member
        self.send(member, member.join(contact, self.dice()))

    def send(self, member: Member, sends, back: int = 0) -> None:
        for send in sends:
            self.waiting.append((member.own.id, send.to.id if send.to else back, send))

    def cycle(self) -> None:
        for number in self.rng.permutation(list(self.members)).tolist():
            self.send(self.members[number], self.members[number].tick(self.dice()))
        for _ in range(60):  # what a message causes is sent within the cycle
            batch, self.waiting = self.waiting, []
            for place in self.rng.permutation(len(batch)).tolist():
                sender, to, send = batch[place]
                if to == sender and send.to is not None and self.kind == "unstructured":
                    continue  # one's own gateway
                if self.rng.random() < self.loss:
                    target = send.to or self.members[to].own
                    self.send(
                        self.members[sender],
                        self.members[sender].unreachable(target, send.message, self.dice()),
                    )
                else:
                    receiver = self.members[to]
                    self.send(receiver, receiver.receive(send.message, sender, self.dice()), back=sender)

    def parts(self) -> list[int]:
        counts = []
        for topic in sorted(set(TOPICS)):
            graph = nx.DiGraph()
            for number, member in self.members.items():
                if member.own.topic == topic:
                    graph.add_node(number)
                    graph.add_edges_from((number, each.id) for each in member.topic_table())
            counts.append(nx.number_strongly_connected_components(graph))
        return counts


@pytest.mark.parametrize("kind", ["unstructured", "semi-structured", "structured"])
@pytest.mark.parametrize("loss", [0.0, 0.05, 0.15])
@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "one by one"])
def test_communities_become_one_component_and_stay_so(kind, loss, at_once) -> None:
    """Through two leases of everybody: nobody is in no table while it renews its own."""
    swarm = Swarm(kind, loss, seed=3)
    for number in np.random.default_rng(3).permutation(len(TOPICS)).tolist():
        swarm.enter(number + 1, TOPICS[number])
        if not at_once:
            swarm.cycle()
    for cycle in range(30 + 32):
        swarm.cycle()
        assert cycle < 30 or swarm.parts() == [1, 1], cycle


def test_members_count_their_community() -> None:
    swarm = Swarm("unstructured", 0.05, seed=1)
    for number, topic in enumerate(TOPICS):
        swarm.enter(number + 1, topic)
    for _ in range(30):
        swarm.cycle()
    for member in swarm.members.values():
        size = TOPICS.count(member.own.topic)
        assert 0.5 * size < member.census.estimate() < 1.8 * size
        assert member.p_sel() == pytest.approx(min(1, 5 / size), rel=0.8)
