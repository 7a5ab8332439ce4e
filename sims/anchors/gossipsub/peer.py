"""One peer of GossipSub, in one topic: its connections, and which of them are its mesh.

libp2p specifications, pubsub/gossipsub: v1.0 ("Mesh maintenance", "Control messages") and v1.1 (outbound mesh
quotas, backoff after pruning, peer exchange on pruning). At every heartbeat a peer grafts random connections
if its mesh has fewer than D_lo links, and prunes to D if it has more than D_hi; both ends of a link know it.

Readings:

- No scoring, so neither opportunistic grafting nor flood publishing: all peers are equal.
- Discovery is left open by the specification. Here the rendezvous names a peer of the topic whenever one has
  fewer than D_lo connections, and `Prune` names connections of the pruned link's other end (peer exchange).
- A connection breaks when a keep-alive message is not answered, as in TCP.
- A peer with too many connections closes one that is not in its mesh.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from sims.anchors.gossipsub.settings import GossipSubSettings
from sims.anchors.objects import ObjectPeer, any_of, sample
from sims.anchors.transport import Sends
from sub2sub.peers.descriptors import LINK, NAME
from sub2sub.peers.draws import Dice

EXCHANGED = 4  # connections that a `Prune` names


class Connect(NamedTuple):
    """A connection is opened; both ends exchange their subscriptions."""

    size: int = LINK + NAME


class Close(NamedTuple):
    """A connection is closed."""

    size: int = 0


class KeepAlive(NamedTuple):
    """A keep-alive message."""

    size: int = 0


class Graft(NamedTuple):
    """A connection becomes part of the mesh."""

    size: int = NAME


class Prune(NamedTuple):
    """The sender is no longer in the topic's mesh; it names other peers that may be."""

    others: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Bytes: the topic, and the other peers."""
        return NAME + LINK * len(self.others)


class GossipSubPeer(ObjectPeer):
    """The links of one peer.

    Attributes
    ----------
    connected, mesh : list of int
        Connections, and those of them that events are pushed along.
    outbound : list of int
        Connections that this peer opened.
    barred : dict
        The cycle until which a pruned link must not be grafted.

    Examples
    --------
    >>> one, other = GossipSubPeer(1, GossipSubSettings()), GossipSubPeer(2, GossipSubSettings())
    >>> one.introduce(2)
    >>> for target, message in one.turn(1, Dice(5)):
    ...     answers = other.receive(1, message, Dice(6))
    >>> one.mesh, other.mesh
    ([2], [1])
    """

    kept: ClassVar[tuple[str, ...]] = ("connected", "mesh", "outbound", "barred", "contacts", "now")

    def __init__(self, own: int, settings: GossipSubSettings) -> None:
        self.own, self.settings, self.now = own, settings, 0
        self.connected: list[int] = []
        self.mesh: list[int] = []
        self.outbound: list[int] = []
        self.barred: dict[int, int] = {}
        self.contacts: list[int] = []

    def introduce(self, contact: int) -> None:
        """Connect to a peer."""
        if contact not in self.contacts:
            self.contacts.append(contact)

    def seeks(self, cycle: int) -> bool:
        """Whether to ask discovery: from time to time, with too few connections."""
        few = len(self.connected) + len(self.contacts)
        wanted = self.settings.D_lo if (cycle + self.own) % 8 else self.settings.connections // 2
        return few < wanted and (few == 0 or (cycle + self.own) % 2 == 0)

    def turn(self, cycle: int, dice: Dice) -> Sends:
        """The heartbeat."""
        self.now, given = cycle, self.settings
        sends: list[tuple[int, Any]] = []
        for contact in self.contacts:
            if contact != self.own and contact not in self.connected:
                self.connected.append(contact)
                self.outbound.append(contact)
                sends.append((contact, Connect()))
        self.contacts = []
        sends += [(other, KeepAlive()) for other in self.connected if self._due(other, cycle)]
        if len(self.mesh) < given.D_lo:
            sends += self._graft(given.D - len(self.mesh), self.connected, dice)
        elif len(self.mesh) > given.D_hi:
            sends += self._trim(dice)
        lacking = given.D_out - sum(other in self.outbound for other in self.mesh)
        if lacking > 0 and len(self.mesh) >= given.D_lo:
            sends += self._graft(lacking, self.outbound, dice)
        return sends

    def receive(self, sender: int, message: Any, dice: Dice) -> Sends:
        """Control messages."""
        if isinstance(message, KeepAlive):
            return () if sender in self.connected else [(sender, Close())]
        if isinstance(message, Connect):
            return self._accept(sender, dice)
        if isinstance(message, Close):
            self._forget(sender)
            return ()
        if isinstance(message, Graft):
            return self._grafted(sender, dice)
        self._bar(sender)  # Prune
        for other in message.others:
            if len(self.connected) + len(self.contacts) < self.settings.connections:
                self.introduce(other)
        return ()

    def unreachable(self, target: int, message: Any, dice: Dice) -> Sends:
        """The connection is broken."""
        self._forget(target)
        return ()

    def links(self) -> list[int]:
        """The connections."""
        return self.connected

    def gossip(self) -> list[int]:
        """Connections outside the mesh."""
        return [other for other in self.connected if other not in self.mesh]

    def _due(self, other: int, cycle: int) -> bool:
        """Whether a keep-alive message is due; the two ends of a connection take turns."""
        half = (other > self.own) * self.settings.keepalive // 2
        return (cycle + self.own + other + half) % self.settings.keepalive == 0

    def _accept(self, sender: int, dice: Dice) -> Sends:
        if sender in self.connected:
            return ()
        self.connected.append(sender)
        others = [other for other in self.gossip() if other != sender]
        if len(self.connected) > 2 * self.settings.connections and others:
            victim = any_of(others, dice)
            self._forget(victim)
            return [(victim, Close())]
        return ()

    def _grafted(self, sender: int, dice: Dice) -> Sends:
        """Add a link to the mesh, unless it is barred or the mesh is full."""
        if sender not in self.connected:
            return [(sender, Prune())]
        full = len(self.mesh) >= self.settings.D_hi and sender not in self.outbound
        if self.barred.get(sender, 0) > self.now or full:
            self._bar(sender)
            return [(sender, Prune(self._exchange(sender, dice)))]
        if sender not in self.mesh:
            self.mesh.append(sender)
        return ()

    def _graft(self, count: int, among: list[int], dice: Dice) -> list[tuple[int, Any]]:
        self.barred = {other: until for other, until in self.barred.items() if until > self.now}
        may = [other for other in among if other not in self.mesh and other not in self.barred]
        chosen = sample(may, count, dice)
        self.mesh += chosen
        return [(other, Graft()) for other in chosen]

    def _trim(self, dice: Dice) -> list[tuple[int, Any]]:
        """Prune to D random links, D_out of them outbound if there are as many."""
        own = sample([other for other in self.mesh if other in self.outbound], self.settings.D_out, dice)
        rest = [other for other in self.mesh if other not in own]
        kept = [*own, *sample(rest, self.settings.D - len(own), dice)]
        dropped = [other for other in self.mesh if other not in kept]
        for other in dropped:
            self._bar(other)
        return [(other, Prune(self._exchange(other, dice))) for other in dropped]

    def _exchange(self, target: int, dice: Dice) -> tuple[int, ...]:
        return tuple(sample([other for other in self.connected if other != target], EXCHANGED, dice))

    def _bar(self, other: int) -> None:
        if other in self.mesh:
            self.mesh.remove(other)
        self.barred[other] = self.now + self.settings.backoff

    def _forget(self, other: int) -> None:
        for links in (self.connected, self.mesh, self.outbound):
            if other in links:
                links.remove(other)
