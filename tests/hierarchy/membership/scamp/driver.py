"""Live members driven in the simulator's order with the simulator's draws: the oracle of SCAMP's kernels.

Turn by turn, member by member; whatever a message causes is done before the next one is sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hierarchy.live.member import Member
from hierarchy.live.member_settings import MemberSettings
from hierarchy.peers.contacts import Contact, Sends
from hierarchy.peers.scamp import BALANCE, BEAT, JOIN, LEAVE, REFILL, RENEW, STREAM
from hierarchy.peers.scamp_messages import (
    Dropped,
    Kept,
    Replace,
    Subscribe,
    Weigh,
    Weighed,
)
from hierarchy.peers.settings import ScampSettings
from sub2sub.compiled.common.network import Network
from sub2sub.peers.draws import Dice, cycle_key

FREE = (Kept, Dropped, Weigh)  # the simulator neither counts nor loses these


def contact(number: int) -> Contact:
    return Contact(number + 1, "h", number + 1, ".")


class Driver:
    """Nodes, the messages between them, and the `join`, `leave` and `step` of a layer."""

    def __init__(
        self,
        n: int,
        seed: int,
        settings: ScampSettings,
        wanted: int = 0,
    ) -> None:
        self.seed, self.settings, self.wanted = seed, settings, wanted
        self.nodes = [self.make(i) for i in range(n)]
        self.contacts: list[Contact | None] = [None] * n
        self.joining: list[int] = []
        self.leaving: list[int] = []
        self.messages = 0
        self.renewing = False

    def make(self, i: int) -> Member:
        member = Member(contact(i), lambda event: None, MemberSettings(scamp=self.settings, grace=0))
        member.scamp.wanted = self.wanted
        return member

    def join(self, peers: Iterable[int], contacts: Iterable[int], cycle: int) -> None:
        for peer, other in zip(peers, contacts, strict=True):
            self.nodes[peer] = self.make(peer)
            self.contacts[peer] = contact(other) if other >= 0 else None
            self.nodes[peer].scamp.contact = self.contacts[peer]
            self.joining = [i for i in self.joining if i != peer] + [peer]
            self.leaving = [i for i in self.leaving if i != peer]

    def leave(self, peers: Iterable[int], cycle: int) -> None:
        for peer in peers:
            self.joining = [i for i in self.joining if i != peer]
            self.leaving.append(peer)

    def step(self, cycle: int, network: Network) -> int:
        self.messages, self.network = 0, network
        key = Dice(cycle_key(self.seed, STREAM, cycle))
        for node in self.nodes:
            node.cycle = cycle
        live = [i for i in range(len(self.nodes)) if network.alive[i]]
        for i in self.leaving:
            self.carry(i, self.nodes[i].leave(), key.of_peer(LEAVE).of_peer(i))
        joining, self.joining, self.leaving = self.joining, [], []
        for i in joining:
            if network.alive[i]:
                dice = key.of_peer(JOIN).of_peer(i)
                self.carry(i, self.nodes[i].join(self.contacts[i], dice), dice)
        renewing, beating = key.of_peer(RENEW), key.of_peer(BEAT)
        keys = renewing, renewing, beating, key.of_peer(REFILL).of_peer(RENEW), beating
        for number, own in enumerate(keys):
            for i in live:
                dice, turn = own.of_peer(i), self.nodes[i].scamp_turns()[number]
                self.renewing = turn.__name__ == "renew"
                self.carry(i, turn(dice), dice)
        if self.settings.indirection:
            self.balance(live, cycle, key.of_peer(BALANCE))
        return self.messages

    def carry(self, i: int, sends: Sends, dice: Dice) -> None:
        """Deliver what i sends; what that causes comes first."""
        waiting = [(self.nodes[i], sends)]
        while waiting:
            sender, sends = waiting[-1]
            send = next(sends, None)
            if send is None:
                waiting.pop()
                continue
            assert send.to is not None
            to = self.nodes[send.to.id - 1]
            free = self.is_free(sender, send.message)
            self.messages += not free
            if free or self.arrives(sender, to, dice):
                waiting.append((to, to.scamp.receive(send.message, sender.own.id, to.cycle, dice)))
            else:
                waiting.append((sender, iter(sender.unreachable(send.to, send.message, dice))))

    def is_free(self, sender: Member, message: Any) -> bool:
        if isinstance(message, Replace):
            return self.renewing
        if isinstance(message, Subscribe) and message.newcomer.id == sender.own.id and message.steps == 0:
            return bool(sender.scamp.returned)
        return isinstance(message, FREE)

    def arrives(self, sender: Member, receiver: Member, dice: Dice) -> bool:
        a, b = sender.own.id - 1, receiver.own.id - 1
        through = dice.next_unit() >= self.network.loss and bool(self.network.alive[b])
        return through and bool(self.network.group[a] == self.network.group[b])

    def balance(self, live: list[int], cycle: int, key: Dice) -> None:
        """All send their weights, then all answer; the loss of an answer is a draw of its receiver."""
        for i in live:
            self.carry(i, self.nodes[i].scamp.weigh(), key)
        answers: dict[tuple[int, int], Weighed] = {}
        for i in live:
            for send in self.nodes[i].scamp.answer_weights(since=cycle):
                assert send.to is not None
                answers[send.to.id - 1, i] = send.message
        for i in live:
            node, dice = self.nodes[i], key.of_peer(i)
            for link in list(node.scamp.view):
                self.messages += 2
                other = link.peer.id - 1
                if self.arrives(self.nodes[other], node, dice) and (i, other) in answers:
                    assert not list(node.receive(answers[i, other], link.peer.id, dice))
            node.scamp.normalise_weights()

    def views(self) -> list[tuple[list[int], list[int], list[int], list[float]]]:
        """PartialView, InView, leases and request, and weights of each, in the simulator's numbers."""
        return [
            (
                [link.peer.id - 1 for link in scamp.view],
                [holder.id - 1 for holder in scamp.inward],
                [scamp.lease_end, scamp.served, scamp.asked, *(link.expires for link in scamp.view)],
                [round(link.weight, 9) for link in scamp.view],
            )
            for scamp in (node.scamp for node in self.nodes)
        ]


def simulated_views(scamp: Any) -> list[tuple[list[int], list[int], list[int], list[float]]]:
    """The same of a layer."""
    v, rows = scamp.views, []
    for i in range(len(v.size)):
        size = v.size[i]
        state = [int(v.lease_end[i]), bool(v.served[i]), int(v.asked[i])]
        leases = [*state, *v.expires[i, :size].tolist()]
        weights = np.round(v.weight[i, :size], 9).tolist()
        rows.append((v.partial[i, :size].tolist(), v.inward[i, : v.in_size[i]].tolist(), leases, weights))
    return rows
