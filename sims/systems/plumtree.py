"""Plumtree over HyParView as a system: events are pushed along a tree and announced along other links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sims.anchors.hyparview.settings import HyParViewSettings
from sims.anchors.plumtree.layer import Plumtree
from sims.anchors.pushing.tables import PushRules, PushTables, rows
from sims.systems.grouped import Grouped, counts
from sims.systems.interface import Integers, Knob
from sub2sub.compiled.common.layer import Layer
from sub2sub.errors import require
from sub2sub.overlay.population import Population


@dataclass(frozen=True)
class LazyPush:
    """Settings of Plumtree's dissemination.

    Attributes
    ----------
    wait : int
        Hops between the announcement of a missing event and the request for it. With fewer, events are
        requested that are in transit; with more, broken trees cost more time.
    retries : int
        How often a push is repeated that is not acknowledged; 0 for no acknowledgements.
    """

    wait: int = 4
    retries: int = 0

    def __post_init__(self) -> None:
        require(self, wait=0, retries=0)


class PlumtreeSystem(Grouped):
    """A tree in each group."""

    name = "plumtree"
    layers = HyParViewSettings
    dissemination = LazyPush
    knobs = tuple(Knob(wait=w, retries=r) for w, r in ((2, 0), (4, 0), (8, 0), (16, 0), (8, 1), (8, 2)))
    probe = Knob(wait=4, retries=0)
    layer_names = ("plumtree",)
    compared: ClassVar[HyParViewSettings] = HyParViewSettings()

    def protocol(self, population: Population, layers: HyParViewSettings | None) -> Sequence[Layer]:
        """Plumtree, which keeps HyParView's views as well."""
        self.layer = Plumtree(len(population), layers or self.compared, self.seed)
        return [self.layer]

    def tables(self) -> PushTables:
        """Branches of the tree, and other active links."""
        peers = self.layer.peers
        eager, lazy = rows(peer.eager() for peer in peers), rows(peer.lazy for peer in peers)
        return PushTables(eager, rows([[]] * len(peers)), lazy)

    def rules(self, settings: LazyPush) -> PushRules:
        """Announce to all at once."""
        return PushRules(wait=settings.wait, retries=settings.retries)

    def links(self) -> dict[str, Integers]:
        """Links of both views."""
        peers, own = self.layer.peers, self.peer_of
        views = {"active": [peer.active for peer in peers], "passive": [peer.passive for peer in peers]}
        return {**{kind: counts(view)[own] for kind, view in views.items()}, **self.entry_links()}


class ActiveViewOf3(PlumtreeSystem):
    """The same over active views of three: fewer links to announce events along, and to mend a tree with."""

    name = "plumtree, view 3"
    compared = HyParViewSettings(active=3, passive=18)


class ActiveViewOf4(PlumtreeSystem):
    """The same over active views of four."""

    name = "plumtree, view 4"
    compared = HyParViewSettings(active=4, passive=24)
