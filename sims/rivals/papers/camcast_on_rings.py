"""Topics and ranges on one overlay: each event by CAMCAST's routing or along the rings (`hierarchy.shared`).

Every subscriber is a peer of the shared overlay, and is billed for all its layers: those of Sub-2-Sub, the
second VICINITY over points, and the tables. A publisher by CAMCAST's routing subscribes to its event's topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hierarchy.shared import CamcastRoute, Route, SharedOverlay, SharedSettings
from sims.config.entries import Kinds
from sims.config.topic_workload import TopicSource, TopicWorkload
from sims.observers.deliveries import Deliveries
from sims.rivals.base.entrants import Knob, Look
from sims.rivals.base.system import Integers, Publication
from sims.rivals.papers.sub2sub import RingOverlay
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.common.views import FREE
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.errors import InputError, require
from sub2sub.peers.draws import cycle_key, stream_number
from sub2sub.peers.settings import DisseminationSettings, OverlaySettings

STREAM = stream_number("mixed workload")


@dataclass(frozen=True)
class MixedWorkload(TopicWorkload):
    """The topics, and the subscriptions to topics or to ranges.

    Attributes
    ----------
    ranges : float
        Share of the subscribers that want a range instead of a topic.
    width : float
        Of the widest such range, as a share of the root's; widths and places are uniform.
    """

    ranges: float = 0.0
    width: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, ranges=(0, 1), width=(0, 1))
        if self.ranges and self.table is not None:
            raise InputError("ranges: expected 0, because the table has all subscriptions")

    def source(self, seed: int, size: int = 0) -> TopicSource:
        """Topics as ranges, and ranges."""
        return super().source(seed, size) if self.table else MixedSource(self, seed)


class MixedSource(TopicSource):
    """Subscriptions to topics and to ranges; each row is a function of its number and the seed.

    Examples
    --------
    >>> low, high = MixedSource(MixedWorkload(ranges=1.0), seed=1).rows(0, 100)
    >>> bool((low <= high).all()), len(np.unique(low)) > 90
    (True, True)
    """

    def rows(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Closed ranges of the subscriptions [start, stop)."""
        lows, highs = super().rows(start, stop)
        workload = self.workload
        if not isinstance(workload, MixedWorkload) or not workload.ranges:
            return lows, highs
        key, numbers = cycle_key(self.seed, STREAM, 0), np.arange(start, stop)
        share, place, width = (draws(key, numbers, k) / 2.0**64 for k in range(3))
        span = float(self.ranges.bounds()[0, 1])
        size = np.floor(1 + width * workload.width * (span - 1))
        low = np.floor(place * (span - size))
        is_range = (share < workload.ranges)[:, None]
        lows = np.where(is_range, low[:, None], lows)
        return lows, np.where(is_range, (low + size - 1)[:, None], highs)


@dataclass(frozen=True)
class SharedDissemination:
    """Settings of dissemination.

    Attributes
    ----------
    route : str
        By CAMCAST's routing or along the rings.
    c, g, a, coins
        As of `hierarchy.shared.CamcastRoute`.
    shortcuts, tries, retries : int
        As of `sub2sub.DisseminationSettings`: along the rings, and of CAMCAST's routing.
    """

    route: Literal["camcast", "rings"] = "camcast"
    c: float = 0.0
    g: float = 3.0
    a: float = 1.0
    coins: bool = False
    shortcuts: int = 1
    tries: int = 3
    retries: int = 3

    def __post_init__(self) -> None:
        if self.route not in ("camcast", "rings"):
            raise InputError(f"route: expected 'camcast' or 'rings', got {self.route!r}")
        self.chosen()

    def chosen(self) -> Route:
        """The settings of the chosen route."""
        rings = DisseminationSettings(shortcuts=self.shortcuts, tries=self.tries, retries=self.retries)
        return rings if self.route == "rings" else CamcastRoute(self.c, self.g, self.a, self.coins, rings)


class RingDeliveries(Deliveries):
    """Publishes the same test events from the same publishers along the rings."""

    name = "ring-delivery"

    def __init__(self, system: CamcastOnRings, settings: SharedDissemination, folder: Any) -> None:
        super().__init__(system, replace(settings, route="rings"), folder, details=False)


class CamcastOnRings(RingOverlay):
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
    worlds = ("topics",)
    look = Look("red", "v", "--")
    probe = Knob(c=0, g=3)
    knobs = (
        *(Knob(c=c, g=g) for c, g in ((0, 1), (0, 3), (1, 3), (2, 3), (4, 6), (8, 20))),
        *(Knob(c=c, g=g, tries=1, retries=0) for c, g in ((0, 3), (2, 3), (2, 10), (4, 20))),
        *(Knob(c=c, g=g, coins=True) for c, g in ((2, 10), (4, 20))),
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
        own = {kind: self.by_subscriber(size.astype(np.int64)) for kind, size in sizes.items()}
        return {**super().links(), **own}

    def may_publish(self, event: int) -> Integers:
        """Live subscribers of the event's topic; those that are ready, if there are any."""
        among = super().may_publish(event)
        ready = among[self.overlay.ready()[among]]
        return ready if ready.size else among

    def spread(self, asked: Publication, settings: SharedDissemination) -> Outcome:
        """By the route that the settings name."""
        points = self.points[asked.events]
        return self.overlay.spread(points, asked.publishers, settings.chosen(), asked.salt, asked.record)
