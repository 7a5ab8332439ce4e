"""PolderCast as a system: events go along the ring of a topic, and to random peers of the topic.

A peer that receives an event for the first time sends it to its ring neighbours, but for the one it came
from, and to random peers of its topic, F in all (PolderCast, Section 4.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sims.anchors.poldercast.layer import Rings
from sims.anchors.poldercast.settings import PolderCastSettings
from sims.anchors.pushing.tables import PushRules, PushTables, rows
from sims.systems.grouped import Grouped, counts
from sims.systems.interface import Integers, Knob
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.cyclon.rendezvous import Rendezvous
from sub2sub.compiled.vicinity.layer import Vicinity
from sub2sub.compiled.vicinity.proximity import packed_boxes
from sub2sub.errors import require
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import DESCRIPTOR, LINK, NAME
from sub2sub.peers.settings import CyclonSettings, VicinitySettings

PATIENCE = 10


@dataclass(frozen=True)
class RingFanout:
    """Settings of PolderCast's dissemination.

    Attributes
    ----------
    fanout : int
        F: peers an event is sent to, two ring neighbours among them.
    retries : int
        How often a message is repeated that is not acknowledged; 0 for no acknowledgements.
    """

    fanout: int = 4
    retries: int = 0

    def __post_init__(self) -> None:
        require(self, fanout=2, retries=0)


class PolderCastSystem(Grouped):
    """A ring in each group; random links are not restricted to groups."""

    name = "poldercast"
    layers = PolderCastSettings
    dissemination = RingFanout
    knobs = (
        *(Knob(fanout=f) for f in (2, 3, 4, 5, 6, 8)),
        *(Knob(fanout=f, retries=2) for f in (2, 3, 4)),
    )
    probe = Knob(fanout=4)
    layer_names = ("cyclon", "vicinity", "rings")
    within = False
    compared: ClassVar[PolderCastSettings] = PolderCastSettings()

    def protocol(self, population: Population, layers: PolderCastSettings | None) -> Sequence[Layer]:
        """CYCLON, VICINITY and RINGS."""
        given = layers or self.compared
        self.cyclon = Cyclon(len(population), given.cyclon, self.seed)
        # Equal topics overlap, all others are apart.
        topic = self.groups.of[:, None].astype(np.float64)
        self.boxes = packed_boxes(topic, topic + np.float64(0.5))
        self.vicinity = Vicinity(self.boxes, 1, self.cyclon, given.vicinity, self.seed)
        self.rings = Rings(self.groups, self.cyclon, self.vicinity, given.rings, self.seed)
        return [Rendezvous(self.cyclon, PATIENCE, self.seed), self.cyclon, self.vicinity, self.rings]

    def forget(self) -> None:
        """Take note of newcomers' topics."""
        super().forget()
        self.boxes[:, 0, 0], self.boxes[:, 1, 0] = self.groups.of, self.groups.of + 0.5

    def tables(self) -> PushTables:
        """Ring neighbours, and others of the topic."""
        peers = self.rings.peers
        eager = [peer.adjacent() for peer in peers]
        near = [
            list(dict.fromkeys(other for other, _ in mates if other not in own))
            for mates, own in zip(self.rings.mates(), eager, strict=True)
        ]
        return PushTables(rows(eager), rows(near), rows([[]] * len(peers)))

    def rules(self, settings: RingFanout) -> PushRules:
        """F - 2 random ones."""
        return PushRules(fanout=settings.fanout - 2, retries=settings.retries)

    def entry_bytes(self, kind: str) -> int:
        """Links within a topic include an ID and the topic."""
        return LINK if kind in ("random", "entries") else DESCRIPTOR + NAME

    def links(self) -> dict[str, Integers]:
        """Links of all modules."""
        sizes = {
            "random": self.cyclon.size.astype(np.int64),
            "proximity": self.vicinity.size.astype(np.int64),
            "ring": counts([peer.links() for peer in self.rings.peers]),
        }
        return {**{kind: size[self.peer_of] for kind, size in sizes.items()}, **self.entry_links()}


class NarrowPolderCast(PolderCastSystem):
    """The same with smaller views: less memory and upkeep, and fewer of its topic to send an event to."""

    name = "poldercast, views 10"
    compared = PolderCastSettings(
        CyclonSettings(view=10, shuffle=5, retry=10, tries=3),
        VicinitySettings(view=10, shuffle=5, max_age=20),
    )
