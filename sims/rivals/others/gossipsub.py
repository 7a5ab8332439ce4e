"""GossipSub v1.1 and v1.2: events are pushed along a mesh of bounded degree, and announced at heartbeats.

libp2p specifications, pubsub/gossipsub: v1.0 ("Mesh maintenance", "Control messages") and v1.1 (outbound mesh
quotas, backoff after pruning, peer exchange on pruning, flood publishing) and v1.2 (IDONTWANT). At every
heartbeat a peer grafts random connections if its mesh has fewer than D_lo links, and prunes to D if it has
more than D_hi; both ends of a link know it.

Readings:

- No scoring, so no opportunistic grafting: all peers are equal. Flood publishing goes to all connections.
- A publisher outside a group sends to D members of it that it knows (fan-out peers).
- Events are announced at heartbeats of a second (`heartbeat`), the mesh is kept once in a cycle of upkeep.
- Discovery is left open by the specification. Here the rendezvous names a peer of the topic whenever one has
  fewer than D_lo connections, and `Prune` names connections of the pruned link's other end (peer exchange).
- A connection breaks when a keep-alive message is not answered, as in TCP.
- A peer with too many connections closes one that is not in its mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from sims.rivals.base.entrants import Knob, Look, Variant
from sims.rivals.base.grouped import Grouped
from sims.rivals.base.objects import ObjectLayer, ObjectPeer, Sends, any_of, sample
from sims.rivals.base.push_tables import PushRules, PushTables
from sub2sub.compiled.common.layer import Layer
from sub2sub.errors import InputError, require
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import LINK, NAME
from sub2sub.peers.draws import Dice

EXCHANGED = 4  # connections that a `Prune` names


@dataclass(frozen=True)
class GossipSubSettings:
    """Settings of GossipSub, with the names and defaults of its specification (v1.0 and v1.1).

    Attributes
    ----------
    D, D_lo, D_hi : int
        Desired number of mesh links, and the bounds at which a peer grafts or prunes. More links are faster
        and more reliable; each costs a copy of every event.
    D_out : int
        Least number of mesh links that the peer opened itself (v1.1).
    backoff : int
        Cycles (heartbeats) before a link that was pruned may be grafted again (v1.1; 60 there).
    connections : int
        Peers of its topic that a peer is connected to, and gossips with. libp2p leaves it to discovery.
    keepalive : int
        Cycles between two keep-alive messages on a connection.
    tries : int
        Copies of a message before its target counts as unreachable.
    """

    D: int = 6
    D_lo: int = 5
    D_hi: int = 12
    D_out: int = 2
    backoff: int = 10
    connections: int = 16
    keepalive: int = 4
    tries: int = 3

    def __post_init__(self) -> None:
        if not 0 < self.D_lo <= self.D <= self.D_hi <= 2 * self.connections:
            raise InputError(
                "gossipsub: expected 0 < D_lo <= D <= D_hi <= 2 connections, got "
                f"{self.D_lo}, {self.D}, {self.D_hi}, {self.connections}"
            )
        if not 0 <= self.D_out <= self.D // 2 or (self.D_out >= self.D_lo):
            raise InputError(f"gossipsub.D_out: expected less than D_lo and at most D / 2, got {self.D_out}")
        require(self, "gossipsub", backoff=1, keepalive=1, tries=1)


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


@dataclass(frozen=True)
class MeshPush:
    """Settings of GossipSub's dissemination.

    Attributes
    ----------
    D_lazy : int
        Connections outside the mesh that an event is announced to at a heartbeat; 0 for no gossip.
    mcache_gossip : int
        Heartbeats at which an event is announced.
    heartbeat : int
        Hops between two heartbeats: a second, where a hop takes a tenth of one.
    retries : int
        How often a push is repeated that is not acknowledged; 0 for no acknowledgements.
    flood_publish : bool
        Whether a publisher sends its event to all its connections, not to its mesh alone (v1.1).
    idontwant : bool
        Whether a peer that receives an event tells its mesh so at once, so that others do not send it (v1.2).
        It saves copies that wait for an uplink, which small events do not.
    """

    D_lazy: int = 6
    mcache_gossip: int = 3
    heartbeat: int = 10
    retries: int = 0
    flood_publish: bool = False
    idontwant: bool = False

    def __post_init__(self) -> None:
        require(self, heartbeat=1, D_lazy=0, mcache_gossip=0, retries=0)


def gossipsub(n: int, settings: GossipSubSettings, seed: int) -> ObjectLayer[GossipSubPeer]:
    """Return the layer of a population with one topic each."""
    return ObjectLayer("gossipsub", n, lambda peer: GossipSubPeer(peer, settings), settings.tries, seed)


class GossipSub(Grouped):
    """A mesh in each group."""

    name = "gossipsub"
    layers = GossipSubSettings
    dissemination = MeshPush
    knobs = (
        *(Knob(D_lazy=d, mcache_gossip=g) for d, g in ((0, 0), (3, 1), (6, 1))),
        *(Knob(D_lazy=0, mcache_gossip=0, retries=r) for r in (1, 2)),
    )
    probe = Knob(D_lazy=3, mcache_gossip=1)
    look = Look("green", "s", "--")
    variants: ClassVar[dict[str, Variant]] = {
        "v1.2": Variant(base=MeshPush(flood_publish=True, idontwant=True), look=Look("green", "*", "--")),
        "D 8": Variant(GossipSubSettings(D=8, D_lo=6, D_hi=12), look=Look("green", "D", "--")),  # Ethereum's
        "D 3": Variant(GossipSubSettings(D=3, D_lo=2, D_hi=6, D_out=1), look=Look("green", "+", "--")),
    }
    layer_names = ("gossipsub",)

    def protocol(self, population: Population, layers: GossipSubSettings | None) -> Sequence[Layer]:
        """The mesh and other connections."""
        settings = layers or GossipSubSettings()
        self.layer, self.entered = gossipsub(len(population), settings, self.seed), settings.D
        return [self.layer]

    def tables(self) -> PushTables:
        """The mesh, and other connections."""
        peers = self.layer.peers
        return PushTables.of([peer.mesh for peer in peers], lazy=[peer.gossip() for peer in peers])

    def rules(self, settings: MeshPush) -> PushRules:
        """Announce to some at heartbeats."""
        return PushRules(
            announce=settings.D_lazy, period=settings.heartbeat, windows=settings.mcache_gossip,
            retries=settings.retries, floods=settings.flood_publish, refuses=settings.idontwant,
        )  # fmt: skip

    def own_links(self) -> dict[str, Sequence[Sequence[int]]]:
        """Links of the mesh, and other connections."""
        peers = self.layer.peers
        return {"mesh": [peer.mesh for peer in peers], "connections": [peer.gossip() for peer in peers]}
