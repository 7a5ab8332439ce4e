"""One overlay for topics and ranges: Sub-2-Sub's three kinds of links, and CAMCAST's two tables.

A topic subscription is a range subscription (`hierarchy.topics.NestedRanges`), so rings need no change for
topics, and the ranges in descriptors determine the community of each peer. The publisher of an event chooses
whether it is forwarded by CAMCAST's routing or along the rings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.compiled.shared.layer import NestedTables
from hierarchy.compiled.shared.points import Points
from hierarchy.compiled.shared.routing import Tables, route_events, routing_tables
from hierarchy.peers.route_choice import (
    OTHERS,
    STRANGER,
    TRIES,
    Known,
    RouteChoice,
    choose_route,
    likely_size,
)
from hierarchy.peers.route_choice import STREAM as ASKING
from hierarchy.peers.settings import CamcastRoute, SharedSettings
from hierarchy.peers.tables import EAGER
from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import FREE
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import TOP, points
from sub2sub.geometry.space import AttributeSpace
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.overlay.published import Published
from sub2sub.peers.draws import Dice
from sub2sub.peers.settings import DisseminationSettings

if TYPE_CHECKING:  # an overlay needs its ranges, not its code
    from hierarchy.topics import NestedRanges

Route = CamcastRoute | DisseminationSettings
"""How an event is forwarded: by CAMCAST's routing, or along the rings."""


@dataclass(frozen=True)
class RoutedEvents(Published):
    """Events that were published by CAMCAST's routing.

    Attributes
    ----------
    not_ready : int64
        The numbers of the events that were not sent, because their publishers were not ready. They count as
        missed by all that match them.
    """

    not_ready: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def __repr__(self) -> str:
        """One line."""
        waiting = f", {len(self.not_ready)} not sent: publisher not ready" if len(self.not_ready) else ""
        return super().__repr__().removesuffix(">") + waiting + ">"


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
        The ranges of topics on the first attribute; if not given, every range is a topic. A topic
        subscription does not restrict the others. A peer uses it only for its own subscription: it knows
        whether it subscribes to a topic, and its descriptor says so.
    space : AttributeSpace, optional
        The names and types of the attributes.
    **layers
        As for `sub2sub.Overlay`: a layer in place of VICINITY, and further layers.

    Attributes
    ----------
    topical : (n,) uint8
        1 for peers that subscribe to a topic.
    points : Points
    tables : NestedTables

    Examples
    --------
    Five subscribers of a supertopic and twenty of a subtopic; the first of the twenty publishes.

    >>> lows, highs = [[0.0]] * 5 + [[10.0]] * 20, [[99.0]] * 5 + [[19.0]] * 20
    >>> overlay = SharedOverlay(Population.of(lows, highs), seed=1)
    >>> overlay.bootstrap()
    >>> for cycle in range(1, 21):
    ...     cost = overlay.step(cycle)
    >>> for route in (CamcastRoute(c=4), DisseminationSettings()):
    ...     published = overlay.publish([[10.0]], at=[5], settings=route)
    ...     print(published.hit_ratio, published.outcome.spam.tolist())
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
        *,
        topics: NestedRanges | None = None,
        space: AttributeSpace | None = None,
        **layers: Any,
    ) -> None:
        if settings is not None and not isinstance(settings, SharedSettings):
            raise InputError(f"settings: expected SharedSettings, got {type(settings).__name__}")
        super().__init__(population, settings or SharedSettings(), seed, network, **layers)
        if topics is not None and not hasattr(topics, "bounds"):
            raise InputError(f"topics: expected NestedRanges, got {type(topics).__name__}")
        self.topics, self.space = topics, space
        self.topical = np.ones(len(population), np.uint8)
        self._classify(np.arange(len(population)))
        self.points = Points(population, self.cyclon, self.settings.points, seed)
        self.tables = NestedTables(
            population, self.topical, self.cyclon, self.vicinity, self.points, self.ring,
            self.settings.tables, seed,
        )  # fmt: skip
        self.above = (self.points, self.tables, *self.above)

    def admit(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Let peers start or restart from one contact each; their subscriptions may have changed."""
        self._classify(peers)
        super().admit(peers, contacts, cycle)

    def grow(self, moved: Renumbering) -> None:
        """Let the layers go on with a population that has grown."""
        self.topical = self.tables.topical = moved.rows(self.topical, 1)
        self._classify(np.flatnonzero(self.population.dormant))
        super().grow(moved)

    def ready(self) -> NDArray[np.bool_]:
        """Which peers may publish by CAMCAST's routing (CAMCAST, Section 5.1; `TablePeer.is_ready`).

        They have a super-topic entry, or have searched long enough to know that there is none.
        """
        age = self.cycle - self.tables.since
        known = (self.tables.above[:, 0] != FREE) | (age > EAGER)
        ready: NDArray[np.bool_] = known & (self.topical == 1)
        return ready

    def publish(
        self,
        events: Any,
        *,
        at: ArrayLike | None = None,
        settings: Route | None = None,
        threads: int = 1,
        progress: bool = False,
    ) -> Published | RoutedEvents:
        """Publish events by CAMCAST's routing or along the rings, depending on the type of `settings`.

        With CAMCAST's routing a publisher has to be ready (`ready`; CAMCAST, Section 5.1). The event of one
        that is not, or that is down, goes nowhere: it reaches nobody, and is counted in
        `RoutedEvents.not_ready`.

        Parameters
        ----------
        events : (m, d) array_like
            If attributes have names, also rows or columns as for `AttributeSpace.events`.
        at : (m,) array_like of int
            The subscription that publishes each event. Optional along the rings: by default a random one that
            matches the event.
        settings : CamcastRoute or DisseminationSettings, optional
            Along the rings if not given.
        threads, progress
            For events along the rings.
        """
        if not isinstance(settings, CamcastRoute):
            return super().publish(events, at=at, settings=settings, threads=threads, progress=progress)
        if at is None:
            raise InputError(
                "at: expected the subscription each event is published by, a member of its topic"
            )
        found, given = self._points(events)
        publishers = self._entries(at, len(found))
        self._check_members(found, publishers)
        ready = self.ready()[publishers] & (self.network.alive[publishers] == 1)
        entry = np.where(ready, publishers, -1)
        outcome = route_events(self, found, entry, settings, self.cycle, record=True)
        published = Published.of(self.population, self.network, found, outcome, given)
        return RoutedEvents(**vars(published), not_ready=np.flatnonzero(~ready))

    def choose_routes(self, events: Any, at: ArrayLike) -> list[RouteChoice]:
        """The route by which each publisher would send its event, and why (`hierarchy.peers.route_choice`).

        Parameters
        ----------
        events : (m, d) array_like
            As for `publish`.
        at : (m,) array_like of int
            The subscription that publishes each event.

        Examples
        --------
        >>> lows, highs = [[0.0]] * 9 + [[2.0]] * 9, [[9.0]] * 9 + [[3.0]] * 9
        >>> SharedOverlay(Population.of(lows, highs), seed=1).run(20).choose_routes([[2.0]], [9])[0].why
        'communities of 9, 9, 0% ranges: 7 copies besides their rings, 18 along the rings of all'
        """
        found, _ = self._points(events)
        publishers = self._entries(at, len(found))
        camcast, rings = CamcastRoute(), DisseminationSettings()
        tables, _ = routing_tables(self, camcast)
        ready = self.ready() & (self.network.alive == 1)
        choices = []
        for point, peer in zip(found, publishers.tolist(), strict=True):
            if not ready[peer] or not self._are_members(point[None], np.array([peer]))[0]:
                choices.append(RouteChoice(rings, STRANGER))
                continue
            ask = partial(self._ask_above, tables, peer, point)
            choices.append(choose_route(self._known_to(peer, tables, point, 0), ask, camcast, rings))
        return choices

    def _known_to(self, peer: int, tables: Tables, point: NDArray[np.float64], messages: int) -> Known:
        """What a member knows of its community, and of those that match an event, from its views."""
        links = Links.of(self)
        near = links.near[peer, : links.near_size[peer]] & 0xFFFFFFFF
        random = links.random[peer, : links.random_size[peer]] & 0xFFFFFFFF
        start = links.ring_start[peer]
        ring = links.ring_peer[start : start + links.ring_size[peer]]
        known = np.unique(np.concatenate([near, random, ring]).astype(np.int64))
        lows, highs = (side[known] for side in self.population.ranges())
        matching = known[np.all((lows <= point) & (point <= highs), axis=1)]
        ranges = int((self.topical[matching] == 0).sum())
        equals = self.tables.equals[peer]
        ways = self.population.ids[equals[equals != FREE] & 0xFFFFFFFF] - self.population.ids[peer]
        size = likely_size(float(tables.size[peer]), ways.tolist(), self.settings.tables.neighbours)
        return Known(size, ranges, matching.size, messages)

    def _ask_above(self, tables: Tables, publisher: int, point: NDArray[np.float64]) -> Iterator[Known]:
        """Let a publisher ask a member of each community above its own, one after the other."""
        network, dice = self.network, Dice.of(self.seed, ASKING, self.cycle).of_peer(publisher)
        member, draw = publisher, 0
        while (tables.above[member] >= 0).any():
            messages, answered = 0, False
            for other in tables.above[member, :OTHERS][tables.above[member, :OTHERS] >= 0].tolist():
                there = network.alive[other] == 1 and network.group[other] == network.group[publisher]
                for _ in range(TRIES):
                    arrives = there and not dice.chance(draw, network.loss)
                    answered = arrives and not dice.chance(draw + 1, network.loss)
                    messages, draw = messages + 1 + arrives, draw + 2
                    if answered:
                        break
                if answered:
                    member = other
                    yield self._known_to(other, tables, point, messages)
                    break
            if not answered:
                yield Known(None, messages=messages)
                return

    def spread(
        self,
        events: ArrayLike,
        publishers: ArrayLike,
        route: Route | None = None,
        cycle: int = 0,
        record: bool = False,
    ) -> Outcome:
        """Disseminate each event from its publisher, with the present faults of the network.

        Parameters
        ----------
        publishers : (m,) array_like of int
            Live peers. For CAMCAST's routing, each has to be a member of its event's topic.
        route : CamcastRoute or DisseminationSettings
            CAMCAST's routing, or along the rings; CAMCAST's routing if not given.
        cycle : int
            Determines the random numbers, with the seed and the numbers of event and peer.
        record : bool
            Whether to record which peer received which event, and when.

        Raises
        ------
        InputError
            If the arrays do not match, or a publisher may not publish its event.
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

    def _are_members(self, at: NDArray[np.float64], by: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which peers are members of the topic of their event (CAMCAST, Section 2.1)."""
        lows, highs = self.population.ranges()
        fits: NDArray[np.bool_] = (self.topical[by] == 1) & np.all(
            (lows[by] <= at) & (at <= highs[by]), axis=1
        )
        if self.topics is not None:
            own = [self.topics.range(self.topics.topic_at(int(x))) for x in at[:, 0]]
            bounds = np.array(own, np.float64).reshape(-1, 2)
            fits &= (lows[by, 0] == bounds[:, 0]) & (highs[by, 0] == bounds[:, 1] - 1)
        return fits

    def _check_members(self, at: NDArray[np.float64], by: NDArray[np.int64]) -> None:
        """Refuse publishers that are not members of their event's topic."""
        fits = self._are_members(at, by)
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
        own = zip(lows[:, 0].tolist(), (highs[:, 0] + 1).tolist(), strict=True)
        first, last = (-TOP, TOP) if self.space is None else (side[1:] for side in self.space.bounds)
        is_open = np.all((lows[:, 1:] <= first) & (highs[:, 1:] >= last), axis=1)
        self.topical[peers] = is_open & np.array([pair in bounds for pair in own], bool)
