"""Sub-2-Sub: events follow the rings of matching subscribers, and random shortcuts across them (Sub-2-Sub).

Every subscriber is a peer with its box. It is billed for the exchanges of CYCLON, VICINITY and the ring layer
and for probes. Three forms are compared. `Sub2Sub` is what the library does by default, overlay and events:
no setting is chosen. `TunedSub2Sub` has the same overlay, and the settings of events that need the fewest
messages. Its events go without acknowledgements or, as for every other system, with them (`tries`): then a
peer sends again to a neighbour that does not answer, then to the next, and is billed an acknowledgement for
every message to a ring neighbour that arrives. For events with few subscribers nothing else helps: on a ring
of two subscribers there is one message, and no other peer that could repeat it.
`PublishedSub2Sub` is the paper's, overlay and events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sims.config.entries import Kinds
from sims.config.layer_entries import LAYER
from sims.engine.simulation import Simulation
from sims.observers import RingCompleteness
from sims.observers.deliveries import Deliveries
from sims.observers.publishers import Publishers
from sims.observers.recovering import Recovering
from sims.observers.snapshots import KINDS
from sims.systems.interface import LINK_OBSERVERS, Integers, Knob, System
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import DESCRIPTOR, LINK, RANGE
from sub2sub.peers.settings import DisseminationSettings, OverlaySettings


@dataclass(frozen=True)
class RingLayers(OverlaySettings):
    """Settings of the layers, and custom layers.

    Attributes
    ----------
    near : table
        A layer in VICINITY's place, `kind = "module:Class"` and its settings.
    above : list of tables
        Layers above the rings.
    """

    near: LAYER | None = None
    above: tuple[LAYER, ...] = ()


class RingOverlay(System):
    """The overlay of Sub-2-Sub; what is sent over it is up to subclasses."""

    layers: ClassVar[type] = RingLayers
    layer_names: ClassVar[tuple[str, ...]] = KINDS
    observers: ClassVar[Kinds] = {
        "rings": RingCompleteness,
        "delivery": Deliveries,
        "publishers": Publishers,
        "recovery": Recovering,
        **LINK_OBSERVERS,
    }
    usual: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"kind": "rings"},
        {"kind": "delivery", "at": "end"},
        {"kind": "degrees", "layer": "ring", "at": "end"},
    )
    overlay: Overlay

    def build(self, layers: OverlaySettings | None, spare: int) -> Overlay:
        """Random, proximity and ring links."""
        wanted = self.wanted
        population = Population.of(wanted.lows, wanted.highs, wanted.ids, spare=spare, seed=self.seed)
        near, above = (layers.near, layers.above) if isinstance(layers, RingLayers) else (None, ())
        return Overlay(population, layers, seed=self.seed, vicinity=near, above=above)

    def entry_bytes(self, kind: str) -> int:
        """Random links are addresses; others include a box."""
        return LINK if kind == "random" else DESCRIPTOR + RANGE * self.wanted.d

    def links(self) -> dict[str, Integers]:
        """Random, proximity and ring links."""
        o = self.overlay
        sizes: dict[str, NDArray[Any]] = {
            "random": o.cyclon.size,
            "proximity": o.vicinity.size,
            "ring": o.ring.pool.size,
        }
        return {kind: size[self.peer_of].astype(np.int64) for kind, size in sizes.items()}


class Sub2Sub(RingOverlay):
    """Ring neighbours and k shortcuts, as the library has them by default."""

    name = "sub2sub"
    dissemination = DisseminationSettings
    probe = Knob(shortcuts=2)
    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob(shortcuts=DisseminationSettings.shortcuts, tries=DisseminationSettings.tries),
    )

    @classmethod
    def at(cls, knob: Knob) -> DisseminationSettings:
        """The knob's shortcuts, with or without acknowledgements."""
        tries = knob.settings.get("tries", 1)
        return DisseminationSettings(retries=3 if tries > 1 else 0, **{**knob.settings, "tries": tries})

    def publish(
        self,
        events: Integers,
        publishers: Integers | None,
        settings: DisseminationSettings,
        salt: int,
        record: bool = False,
    ) -> Outcome:
        """Let each event enter at its publisher's peer, or at a random subscriber of it."""
        return disseminate(
            Links.of(self.overlay), self.network, self.points[events], entry=publishers, settings=settings,
            seed=self.seed, cycle=salt, record=record,
        )  # fmt: skip

    def publish_tests(
        self, simulation: Simulation, settings: DisseminationSettings, record: bool = False
    ) -> tuple[Integers, Outcome]:
        """Let each event enter at a random subscriber of it; events without subscribers cost nothing."""
        events = np.arange(len(self.points))
        return events, self.publish(events, None, settings, simulation.cycle, record)


class TunedSub2Sub(Sub2Sub):
    """With the number of shortcuts and tries that needs the fewest messages."""

    name = "sub2sub, tuned"
    knobs = (
        *(Knob(shortcuts=k) for k in (0, 1, 2, 4, 8)),
        *(Knob(shortcuts=k, tries=3) for k in (0, 1, 2)),
    )


class PublishedSub2Sub(Sub2Sub):
    """As published: no hello, no ages, nothing dropped; shortcuts are proximity and random links."""

    name = "sub2sub as published"
    knobs = tuple(Knob(shortcuts=k) for k in (0, 1, 2, 4, 8))

    @classmethod
    def at(cls, knob: Knob) -> DisseminationSettings:
        """The knob's shortcuts."""
        return DisseminationSettings.paper(**knob.settings)

    def build(self, layers: OverlaySettings | None, spare: int) -> Overlay:
        """The paper's overlay, unless other settings are given."""
        return super().build(layers or OverlaySettings.paper(), spare)
