"""Topics and ranges on one overlay: each event by CAMCAST's routing or along the rings (`hierarchy.shared`).

Every subscriber is a peer of the shared overlay, and is billed for all its layers: those of Sub-2-Sub, the
second VICINITY over points, and the tables. A publisher by CAMCAST's routing subscribes to its event's topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from hierarchy.shared import CamcastRoute, Route, SharedOverlay, SharedSettings
from sims.config.entries import Kinds
from sims.observers.deliveries import Deliveries
from sims.systems.interface import Integers, Knob
from sims.systems.mixed_workload import MixedWorkload
from sims.systems.sub2sub import RingOverlay
from sub2sub.errors import InputError
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.events.outcome import Outcome
from sub2sub.overlay.overlay import OverlaySettings
from sub2sub.overlay.views import FREE


@dataclass(frozen=True)
class SharedDissemination:
    """Settings of dissemination.

    Attributes
    ----------
    route : str
        By CAMCAST's routing or along the rings.
    c, g, a
        As of `hierarchy.shared.CamcastRoute`.
    shortcuts : int
        Of events along the rings.
    retries : int
        By CAMCAST's routing, times a message is sent again that is not acknowledged; along the rings, how
        many more neighbours are tried. 0 for no acknowledgements.
    """

    route: Literal["camcast", "rings"] = "camcast"
    c: float = 2.0
    g: float = 10.0
    a: float = 1.0
    shortcuts: int = 2
    retries: int = 0

    def __post_init__(self) -> None:
        if self.route not in ("camcast", "rings"):
            raise InputError(f"route: expected 'camcast' or 'rings', got {self.route!r}")
        self.chosen()

    def chosen(self) -> Route:
        """The settings of the chosen route."""
        if self.route == "rings":
            return DisseminationSettings(shortcuts=self.shortcuts, retries=self.retries)
        return CamcastRoute(self.c, self.g, self.a, self.retries)


class RingDeliveries(Deliveries):
    """Publishes the same test events from the same publishers along the rings."""

    name = "ring-delivery"

    def __init__(self, system: SharedCamcast, settings: SharedDissemination, folder: Any) -> None:
        super().__init__(system, replace(settings, route="rings"), folder, details=False)


class SharedCamcast(RingOverlay):
    """CAMCAST's routing on the rings' overlay, and the rings themselves."""

    name = "camcast on rings"
    workload = MixedWorkload
    layers: ClassVar[type] = SharedSettings
    layer_names: ClassVar[tuple[str, ...]] = (*RingOverlay.layer_names, "points", "tables")
    observers: ClassVar[Kinds] = {**RingOverlay.observers, "ring delivery": RingDeliveries}
    usual: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"kind": "rings"},
        {"kind": "delivery", "every": 5},
        {"kind": "ring delivery", "every": 5},
        {"kind": "degrees", "layer": "tables", "at": "end"},
    )
    dissemination = SharedDissemination
    probe = Knob(c=2, g=10)
    # Ring neighbours are sent to first, so c hardly affects reliability: deliveries are missed above.
    knobs = (
        *(Knob(c=c, g=g) for c, g in ((0, 3), (0, 10), (0, 20), (1, 10), (1, 20), (2, 10), (2, 20))),
        *(Knob(c=c, g=g) for c, g in ((3, 15), (4, 20), (8, 40))),
        *(Knob(c=c, g=g, retries=2) for c, g in ((0, 10), (1, 20), (2, 40))),
    )
    overlay: SharedOverlay

    def build(self, layers: OverlaySettings | None, spare: int) -> SharedOverlay:
        """All links of the rings' overlay, and the tables."""
        given = layers if isinstance(layers, SharedSettings) else None
        return SharedOverlay(self.make_population(spare), given, self.seed, topics=self.wanted.tree.ranges)

    def links(self) -> dict[str, Integers]:
        """Those of the rings' overlay, points, and entries of tables."""
        o, tables = self.overlay, self.overlay.tables
        entries = sum((table != FREE).sum(axis=1) for table in (tables.equals, tables.above, tables.below))
        sizes = {"points": o.points.size, "tables": np.asarray(entries)}
        own = {kind: size[self.peer_of].astype(np.int64) for kind, size in sizes.items()}
        return {**super().links(), **own}

    def may_publish(self, event: int) -> Integers:
        """Live subscribers of the event's topic; those that are ready, if there are any."""
        among = super().may_publish(event)
        ready = among[self.overlay.ready()[among]]
        return ready if ready.size else among

    def publish(
        self,
        events: Integers,
        publishers: Integers,
        settings: SharedDissemination,
        salt: int,
        record: bool = False,
    ) -> Outcome:
        """By the route that the settings name."""
        return self.overlay.spread(self.points[events], publishers, settings.chosen(), salt, record)
