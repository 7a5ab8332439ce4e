"""One overlay for topics and ranges: Sub-2-Sub's three kinds of links, and CAMCAST's two tables.

A topic subscription is a range subscription (`hierarchy.topics.NestedRanges`), so the rings carry topics
without knowing it, and the ranges in descriptors tell who is of which community. A publication goes by
CAMCAST's routing or along the rings, as its publisher likes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.shared.layer import NestedTables
from hierarchy.shared.points import Points
from hierarchy.shared.routing import CamcastRoute, route_events
from hierarchy.shared.settings import SharedSettings
from sub2sub.errors import InputError
from sub2sub.events.dissemination import DisseminationSettings, disseminate
from sub2sub.events.outcome import Outcome
from sub2sub.geometry.boxes import points
from sub2sub.overlay.layer import Layer
from sub2sub.overlay.links import Links
from sub2sub.overlay.network import Network
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population

if TYPE_CHECKING:  # an overlay needs its ranges, not its code
    from hierarchy.topics import NestedRanges

__all__ = ["Route", "SharedOverlay"]

Route = CamcastRoute | DisseminationSettings
"""How an event goes: by CAMCAST's routing, or along the rings."""


class SharedOverlay(Overlay):
    """Random, proximity and ring links of a population, and the tables of its topics.

    Parameters
    ----------
    population : Population
        Topic subscriptions, range subscriptions, or both.
    settings : SharedSettings, optional
    seed : int
    network : Network, optional
    topics : NestedRanges, optional
        Which ranges are topics; every range counts as one if not given. A peer uses it for its own
        subscription alone: who subscribes to a topic knows that it does, and says so in its descriptor.
    axis : int
        The attribute whose ranges are topics. A topic subscription says nothing about others.

    Attributes
    ----------
    topical : (n,) uint8
        1 for peers whose subscription is a topic's.
    points : Points
    tables : NestedTables

    Examples
    --------
    Five subscribers of a supertopic and twenty of a subtopic; the first of these publishes.

    >>> lows, highs = [[0.0]] * 5 + [[10.0]] * 20, [[99.0]] * 5 + [[19.0]] * 20
    >>> overlay = SharedOverlay(Population.of(lows, highs), seed=1)
    >>> overlay.bootstrap()
    >>> for cycle in range(1, 21):
    ...     cost = overlay.step(cycle)
    >>> publisher = [int(np.flatnonzero(overlay.population.row == 5)[0])]
    >>> for route in (CamcastRoute(c=4), DisseminationSettings()):
    ...     outcome = overlay.publish([[10.0]], publisher, route)
    ...     print(outcome.hit_ratio, outcome.spam.tolist())
    1.0 [0]
    1.0 [0]
    """

    settings: SharedSettings

    def __init__(
        self,
        population: Population,
        settings: SharedSettings | None = None,
        seed: int = 0,
        network: Network | None = None,
        topics: NestedRanges | None = None,
        axis: int = 0,
    ) -> None:
        super().__init__(population, settings or SharedSettings(), seed, network)
        if not 0 <= axis < population.d:
            raise InputError(f"axis: expected an attribute from 0 to {population.d - 1}, got {axis}")
        self.topics, self.axis = topics, axis
        self.topical = np.ones(len(population), np.uint8)
        self._classify(np.arange(len(population)))
        self.points = Points(population, self.cyclon, self.settings.points, seed)
        self.tables = NestedTables(
            population, self.topical, self.cyclon, self.vicinity, self.points, self.ring,
            self.settings.tables, seed,
        )  # fmt: skip

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers in the order they are stepped."""
        return *super().layers, self.points, self.tables

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Let peers (re)start from a contact each, maybe with other subscriptions than before."""
        self._classify(peers)
        super().join(peers, contacts, cycle)

    def publish(
        self,
        events: ArrayLike,
        publishers: ArrayLike,
        route: Route | None = None,
        cycle: int = 0,
        record: bool = False,
    ) -> Outcome:
        """Publish events, each from its publisher, under the faults of the network as it is; change nothing.

        Parameters
        ----------
        events : (m, d) array_like
        publishers : (m,) array_like of int
            Live peers. By CAMCAST's routing each has to be a member of its event's topic.
        route : CamcastRoute or DisseminationSettings
            By CAMCAST's routing, or along the rings; the former if not given.
        cycle : int
            What the draws depend on, with the seed and the numbers of event and peer.
        record : bool
            Whether to keep who got what when.

        Raises
        ------
        InputError
            For events and publishers that do not fit.
        """
        at, by = points(events, self.population.d), np.asarray(publishers)
        if by.shape != (len(at),) or (by.dtype.kind not in "iu" and len(at)):
            raise InputError(f"publishers: expected {len(at)} integers, got {by.dtype} of shape {by.shape}")
        by = by.astype(np.int64)
        inside = (by >= 0) & (by < len(self.population))
        up = inside & (self.network.alive[np.where(inside, by, 0)] == 1)
        if not up.all():
            k = int(np.flatnonzero(~up)[0])
            raise InputError(f"publishers row {k}: expected a live peer, got {by[k]}")
        if isinstance(route, DisseminationSettings):
            return disseminate(
                Links.of(self), self.network, at, entry=by, settings=route, seed=self.seed, cycle=cycle,
                record=record,
            )  # fmt: skip
        self._check_members(at, by)
        return route_events(self, at, by, route or CamcastRoute(), cycle, record)

    def _check_members(self, at: NDArray[np.float64], by: NDArray[np.int64]) -> None:
        """Refuse publishers outside the community of their event's topic (CAMCAST, Section 2.1)."""
        lows, highs = self.population.ranges()
        fits = (self.topical[by] == 1) & np.all((lows[by] <= at) & (at <= highs[by]), axis=1)
        if self.topics is not None:
            own = [self.topics.range(self.topics.topic_at(int(x))) for x in at[:, self.axis]]
            bounds = np.array(own, np.float64).reshape(-1, 2)
            fits &= (lows[by, self.axis] == bounds[:, 0]) & (highs[by, self.axis] == bounds[:, 1] - 1)
        if not fits.all():
            k = int(np.flatnonzero(~fits)[0])
            raise InputError(
                f"publishers row {k}: expected a member of the topic of event {at[k].tolist()}, got peer "
                f"{by[k]}; others publish along the rings"
            )

    def _classify(self, peers: NDArray[np.int64]) -> None:
        """Note which of `peers` subscribe to a topic."""
        if self.topics is None:
            return
        lows, highs = (side[peers] for side in self.population.ranges())
        bounds = {tuple(row) for row in self.topics.bounds().tolist()}
        own = zip(lows[:, self.axis].tolist(), (highs[:, self.axis] + 1).tolist(), strict=True)
        self.topical[peers] = [pair in bounds for pair in own]
