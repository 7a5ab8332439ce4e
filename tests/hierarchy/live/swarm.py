"""Live members of nested communities without clocks or sockets: a cycle at a time, messages may be lost.

The members are those of `hierarchy.live`, decision for decision; only what carries their messages is left
out, so that a thousand fit into one process. Within a cycle messages arrive in any order, and so do those
they cause. One that is lost could not be delivered, and its sender is told, as on a connection that broke.
Histories with clocks, connections and every other fault: `tests.histories.communities`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import networkx as nx
import numpy as np

from hierarchy.live.grid_member import GridMember
from hierarchy.live.member import Member
from hierarchy.live.member_settings import MemberSettings
from hierarchy.peers.contacts import Contact, Send
from sub2sub.peers.draws import Dice

GATEWAYS = 2  # of each community: its first members
DEEP = 60  # messages of which one causes the next, within a cycle


class Swarm:
    """Members of all communities, each at an address of its own.

    Parameters
    ----------
    membership : str
        "unstructured", "semi-structured" or "structured".
    loss : float
        Chance that a message is lost.
    seed : int
    settings : MemberSettings, optional
    rest : int, optional
        Of `GridMember`.

    Examples
    --------
    >>> swarm = Swarm("unstructured", loss=0.05, seed=1)
    >>> swarm.enter([".a", ".a.b", ".a.b"])
    >>> for _ in range(5):
    ...     swarm.cycle()
    >>> swarm.parts()
    {'.a': 1, '.a.b': 1}
    """

    def __init__(
        self, membership: str, loss: float, seed: int, settings: MemberSettings | None = None, rest: int = 6
    ) -> None:  # fmt: skip
        self.rng, self.membership, self.loss = np.random.default_rng(seed), membership, loss
        self.settings, self.rest = settings or MemberSettings(), rest
        self.members: dict[int, Member] = {}
        self._waiting: list[tuple[int, int, Send]] = []
        self._gateways: dict[str, list[Contact]] = {}
        self._overlay: Contact | None = None

    def enter(self, topics: Sequence[str]) -> None:
        """Let one newcomer after the other subscribe, all within the same cycle."""
        for topic in topics:
            number = len(self.members) + 1
            own = Contact(number, "h", number, topic)
            if self.membership == "unstructured":
                known = self._gateways.setdefault(topic, [])
                member = Member(own, lambda event: None, self.settings, self._gateways)
                contact = known[int(self.rng.integers(len(known)))] if known else None
                known += [own] if len(known) < GATEWAYS else []
            else:
                keeps_scamp = self.membership == "semi-structured"
                member = GridMember(own, lambda event: None, self.settings, keeps_scamp, rest=self.rest)
                contact = self._overlay
                self._overlay = self._overlay or own
            self.members[own.id] = member
            self._send(member, member.join(contact, self._dice()))

    def cycle(self) -> None:
        """Let everybody's clock tick once, in any order, and deliver what they say."""
        for id in self.rng.permutation(list(self.members)).tolist():
            self._send(self.members[id], self.members[id].tick(self._dice()))
        for _ in range(DEEP):
            batch, self._waiting = self._waiting, []
            for place in self.rng.permutation(len(batch)).tolist():
                self._carry(*batch[place])

    def parts(self, strong: bool = True) -> dict[str, int]:
        """How many (strongly) connected components the topic tables of each community have."""
        count = nx.number_strongly_connected_components if strong else nx.number_weakly_connected_components
        graphs: dict[str, nx.DiGraph[int]] = {}
        for id, member in self.members.items():
            graph = graphs.setdefault(member.own.topic, nx.DiGraph())
            graph.add_node(id)
            graph.add_edges_from((id, each.id) for each in member.topic_table())
        return {topic: count(graph) for topic, graph in sorted(graphs.items())}

    def _dice(self) -> Dice:
        return Dice(int(self.rng.integers(1 << 62)))

    def _send(self, member: Member, sends: Iterable[Send], back: int = 0) -> None:
        self._waiting += ((member.own.id, send.to.id if send.to else back, send) for send in sends)

    def _carry(self, sender: int, to: int, send: Send) -> None:
        if to == sender and send.to is not None and self.membership == "unstructured":
            return  # one's own gateway
        if self.rng.random() < self.loss:
            target = send.to or self.members[to].own
            again = self.members[sender].unreachable(target, send.message, self._dice())
            self._send(self.members[sender], again)
        else:
            receiver = self.members[to]
            self._send(receiver, receiver.receive(send.message, sender, self._dice()), back=sender)
