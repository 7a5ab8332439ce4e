"""GossipSub v1.1 as a system: events are pushed along a mesh and announced to others at heartbeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sims.anchors.gossipsub.layer import GossipSub
from sims.anchors.gossipsub.settings import GossipSubSettings
from sims.anchors.pushing.tables import PushRules, PushTables, rows
from sims.systems.grouped import Grouped, counts
from sims.systems.interface import Integers, Knob
from sub2sub.compiled.common.layer import Layer
from sub2sub.errors import require
from sub2sub.overlay.population import Population


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
    """

    D_lazy: int = 6
    mcache_gossip: int = 3
    heartbeat: int = 10
    retries: int = 0

    def __post_init__(self) -> None:
        require(self, heartbeat=1, D_lazy=0, mcache_gossip=0, retries=0)


class GossipSubSystem(Grouped):
    """A mesh in each group."""

    name = "gossipsub"
    layers = GossipSubSettings
    dissemination = MeshPush
    knobs = (
        *(Knob(D_lazy=d, mcache_gossip=g) for d, g in ((0, 0), (3, 1), (6, 1), (6, 3))),
        *(Knob(D_lazy=0, mcache_gossip=0, retries=r) for r in (1, 2)),
    )
    probe = Knob(D_lazy=3, mcache_gossip=1)
    layer_names = ("gossipsub",)
    compared: ClassVar[GossipSubSettings] = GossipSubSettings()

    def protocol(self, population: Population, layers: GossipSubSettings | None) -> Sequence[Layer]:
        """The layer GossipSub."""
        self.layer = GossipSub(len(population), layers or self.compared, self.seed)
        return [self.layer]

    def tables(self) -> PushTables:
        """The mesh, and other connections."""
        peers = self.layer.peers
        eager, lazy = rows(peer.mesh for peer in peers), rows(peer.gossip() for peer in peers)
        return PushTables(eager, rows([[]] * len(peers)), lazy)

    def rules(self, settings: MeshPush) -> PushRules:
        """Announce to some at heartbeats."""
        return PushRules(
            announce=settings.D_lazy, period=settings.heartbeat, windows=settings.mcache_gossip,
            retries=settings.retries,
        )  # fmt: skip

    def links(self) -> dict[str, Integers]:
        """Links of the mesh, and other connections."""
        peers, own = self.layer.peers, self.peer_of
        kinds = {"mesh": [peer.mesh for peer in peers], "connections": [peer.gossip() for peer in peers]}
        return {**{kind: counts(links)[own] for kind, links in kinds.items()}, **self.entry_links()}


class MeshOf3(GossipSubSystem):
    """The same with a mesh of three links: fewer copies of an event, and fewer ways for it."""

    name = "gossipsub, D 3"
    compared = GossipSubSettings(D=3, D_lo=2, D_hi=6, D_out=1)


class MeshOf4(GossipSubSystem):
    """The same with four."""

    name = "gossipsub, D 4"
    compared = GossipSubSettings(D=4, D_lo=3, D_hi=8, D_out=1)


class MeshOf8(GossipSubSystem):
    """The same with eight, as in Ethereum's consensus layer: faster, and more copies."""

    name = "gossipsub, D 8"
    compared = GossipSubSettings(D=8, D_lo=6, D_hi=12)
