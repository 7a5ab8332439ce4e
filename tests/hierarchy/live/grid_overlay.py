"""Live members in a P-Grid without sockets, whose messages arrive at once."""

from __future__ import annotations

from collections import deque
from itertools import count

import numpy as np

from hierarchy.camcast import TopicSettings
from hierarchy.live import MemberSettings
from hierarchy.live.grid_member import GridMember
from hierarchy.peers.contacts import Contact, Sends
from hierarchy.peers.settings import ScampSettings
from sub2sub.peers.draws import Dice

TOPICS = (".", ".d", ".d.g")
SETTINGS = MemberSettings(TopicSettings(c=0.0, a=2.0, z=3, rounding="up"), ScampSettings(c=0))


class Overlay:
    """Members that exchange messages in the order they were sent; who is dead cannot be reached."""

    def __init__(self, keeps_scamp: bool) -> None:
        self.keeps_scamp = keeps_scamp
        self.members: dict[int, GridMember] = {}
        self.dead: set[int] = set()
        self._keys = count(1)

    def dice(self) -> Dice:
        return Dice(next(self._keys) * 7919)

    def enter(self, number: int, topic: str) -> None:
        own = Contact(number, "h", number, topic)
        member = GridMember(own, lambda event: None, SETTINGS, self.keeps_scamp)
        live = [each.own for each in self.members.values()]
        self.members[number] = member
        contact = live[self.dice().next_below(len(live))]._replace(id=0) if live else None
        self.carry(member, member.join(contact, self.dice()))

    def step(self) -> None:
        for number, member in list(self.members.items()):
            if number not in self.dead:
                self.carry(member, member.tick(self.dice()))

    def carry(self, member: GridMember, sends: Sends) -> None:
        waiting = deque((member, send) for send in sends)
        while waiting:
            sender, send = waiting.popleft()
            assert send.to is not None
            if send.to.port in self.dead:
                more = sender.unreachable(send.to, send.message, self.dice())
                waiting.extend((sender, each) for each in more)
                continue
            receiver = self.members[send.to.port]
            for answer in list(receiver.receive(send.message, sender.own.id, self.dice())):
                if answer.to is not None:
                    waiting.append((receiver, answer))
                    continue
                more = sender.receive(answer.message, receiver.own.id, self.dice())
                waiting.extend((sender, each) for each in more)


def built(keeps_scamp: bool, at_once: int = 6) -> Overlay:
    """Sixty members, so many of them between two cycles."""
    overlay = Overlay(keeps_scamp)
    topics = [TOPICS[0]] * 6 + [TOPICS[1]] * 18 + [TOPICS[2]] * 36
    order = np.random.default_rng(1).permutation(len(topics))
    for place, i in enumerate(order.tolist()):
        overlay.enter(i + 1, topics[i])
        if place % at_once == 0:
            overlay.step()
    for _ in range(25):
        overlay.step()
    return overlay
