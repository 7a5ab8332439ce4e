"""The running overlay of `Topics`: publish by name, and change topics and subscriptions.

If a change moves the ranges of topics, subscriptions follow as changed subscriptions do: the peer of the old
range leaves, and one of the new range joins on the same host. All ranges are of one layout at any time,
whose number is `TopicOverlay.layout`; an event is published in one layout. A peer that has joined misses
events until others know it: mostly for one cycle; if all change at once, until gossip has built the overlay
anew.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hierarchy.peers.settings import CamcastRoute, SharedSettings
from hierarchy.shared.shared_overlay import Route, SharedOverlay
from hierarchy.shared.topics import TOPIC, Box, Topics
from hierarchy.topics.filters import levels_of
from sub2sub.compiled.common.randomness import draws
from sub2sub.errors import InputError
from sub2sub.overlay.arrivals import depart, enter
from sub2sub.overlay.population import Population
from sub2sub.overlay.published import Published
from sub2sub.peers.draws import cycle_key, stream_number
from sub2sub.peers.settings import DisseminationSettings

STREAM, CONTACTS = stream_number("topics"), stream_number("topics/contacts")


@dataclass(frozen=True)
class Delivery:
    """One event: who received it, by name.

    Attributes
    ----------
    topic : str
    received : tuple of str
        Subscribers that have it, by name, each once however many of their subscriptions match.
    missed : tuple of str
        Those that match and do not have it.
    route : "camcast" or "rings"
    layout : int
        The layout of topics in which it was published.
    published : Published
        Hops, messages and all else.
    why : str
        Why this route was chosen, if `route="auto"` was asked for.
    """

    topic: str
    received: tuple[str, ...]
    missed: tuple[str, ...]
    route: str
    layout: int
    published: Published
    why: str = ""

    def __repr__(self) -> str:
        """One line, with the first ten names."""
        more = (f" and {len(side) - 10} more" * (len(side) > 10) for side in (self.received, self.missed))
        received, missed = (
            (", ".join(side[:10]) or "nobody") + rest
            for side, rest in zip((self.received, self.missed), more, strict=True)
        )
        return f"<{self.topic} by {self.route}: received by {received}; missed by {missed}>"


class TopicOverlay:
    """The running overlay of `Topics`; made by `Topics.overlay`.

    Attributes
    ----------
    topics : Topics
        A copy of those that it was made of: topics and subscriptions as they are now.
    layout : int
        Counts the changes that moved ranges.
    shared : SharedOverlay
    """

    def __init__(self, topics: Topics, seed: int = 0, settings: SharedSettings | None = None) -> None:
        self.topics, self.layout = deepcopy(topics), 0
        self.names: list[str] = []  # of the hosts
        self._host: dict[str, int] = {}
        boxes = self._wanted()
        rows = [(host, box) for host in sorted(boxes) for box in sorted(boxes[host])]
        if len(rows) < 2:
            raise InputError(f"topics: expected subscriptions with 2 or more ranges, got {len(rows)}")
        lows, highs = (np.array([box[side] for _, box in rows]) for side in (0, 1))
        population = Population.of(lows, highs, hosts=[host for host, _ in rows], seed=seed)
        given = settings or SharedSettings(axes=topics.space.axes if topics.attributes else ())
        self.shared = SharedOverlay(population, given, seed, topics=self.topics.nested, space=topics.space)
        self.shared.bootstrap()

    def __repr__(self) -> str:
        """One line."""
        peers, topics = int(self.shared.population.present.sum()), len(self.topics.nested.tree)
        return f"<TopicOverlay of {topics} topics, {peers} ranges, after {self.shared.cycle} cycles>"

    def run(self, cycles: int) -> TopicOverlay:
        """Run more cycles; returns the overlay itself."""
        self.shared.run(cycles)
        return self

    def publish(
        self,
        topic: str,
        *,
        by: str | None = None,
        route: Literal["rings", "camcast", "auto"] | Route = "rings",
        **values: Any,
    ) -> Delivery:
        """Publish an event of a topic; it is added if it is not there yet.

        Parameters
        ----------
        topic : str
        by : str, optional
            The subscriber that publishes. By default a random one that matches the event and has not joined
            just now or, by CAMCAST's routing, a random member of the topic that is ready.
        route : "rings", "camcast", "auto", or settings of a route
            Along the rings, or by CAMCAST's routing: only members publish by that. With "auto" the publisher
            chooses the one that it expects to cost less (`hierarchy.peers.route_choice`), and says why.
        **values
            A value of every attribute.
        """
        if self.topics._parsed(topic).has_wildcards:
            raise InputError(f"topic: expected a topic without wildcards to publish to, got {topic!r}")
        if topic not in self.topics._by_name and levels_of(topic) not in self.topics._numbers:
            self.add_topic(topic)
        point = self.topics.nested.point(self.topics.number(topic))
        event = [{TOPIC: point, **values}]
        at = self.topics.space.events(event)[0]
        routes: dict[Any, Route] = {"rings": DisseminationSettings(), "camcast": CamcastRoute()}
        if isinstance(route, str) and route not in (*routes, "auto"):
            raise InputError(f"route: expected 'rings', 'camcast' or 'auto', got {route!r}")
        settings: Any = routes.get(route, route)
        why = ""
        entry = self._entry(topic, at, by, isinstance(settings, CamcastRoute), prefer_members=route == "auto")
        rows = None if entry is None else self.shared.population.row[[entry]]
        if route == "auto":
            settings, why = routes["rings"], "nobody matches the event"
            if rows is not None:
                settings, why, _ = self.shared.choose_routes(event, rows)[0]
        by_tables = isinstance(settings, CamcastRoute)
        published = self.shared.publish(event, at=rows, settings=settings)
        hosts, row = self.shared.population.host, self.shared.population.row
        peers = np.argsort(row, kind="stable")
        peers = peers[row[peers] >= 0]

        def named(subscriptions: NDArray[np.int64]) -> tuple[str, ...]:
            found = peers[np.searchsorted(row[peers], subscriptions)]
            return tuple(sorted({self.names[host] for host in hosts[found].tolist()}))

        received = named(published.received["subscription"])
        missed = tuple(name for name in named(published.missed["subscription"]) if name not in received)
        name = "camcast" if by_tables else "rings"
        return Delivery(topic, received, missed, name, self.layout, published, why)

    def subscribe(self, filter: str, *, by: str, subtopics: bool = True, **conditions: Any) -> None:
        """Subscribe while the overlay runs, as `Topics.subscribe` does."""
        self._change(partial(self.topics.subscribe, filter, by=by, subtopics=subtopics, **conditions), by)

    def unsubscribe(self, filter: str, *, by: str) -> None:
        """End all subscriptions of a subscriber to this filter."""
        kept = [s for s in self.topics.subscriptions if (s.by, s.filter) != (by, filter)]
        if len(kept) == len(self.topics.subscriptions):
            raise InputError(f"filter: expected a filter that {by!r} subscribes to, got {filter!r}")
        self.topics.subscriptions[:] = kept
        self._follow(by)

    def add_topic(self, topic: str) -> None:
        """Add a topic, and those above it that are not there; filters include it from now on."""
        self._change(partial(self.topics.number, topic, add=True))

    def remove_topic(self, topic: str) -> None:
        """Remove a topic without subtopics, and the subscriptions to it alone."""
        self._change(partial(self.topics.remove, topic))

    def rename_topic(self, topic: str, name: str) -> None:
        """Give a topic another last level. Its subscribers stay, and filters match by the new name."""
        self._change(partial(self.topics.move, topic, name=name))

    def move_topic(self, topic: str, under: str) -> None:
        """Move a topic with its subtopics below another. Its subscribers stay, and filters match anew."""
        self._change(partial(self.topics.move, topic, under=under))

    def _change(self, change: Callable[[], Any], by: str | None = None) -> None:
        """Change topics, or the subscriptions of one; let all subscriptions follow that this concerns."""
        nested = self.topics.nested
        before, changes = nested.bounds(), nested.tree.changes
        change()
        after = nested.bounds()[: len(before)]
        there = [topic for topic in range(len(before)) if topic in nested.tree]
        self.layout += bool((before[there] != after[there]).any())
        self._follow(by if nested.tree.changes == changes else None)

    def _wanted(self, by: str | None = None) -> dict[int, set[Box]]:
        """The boxes of all subscriptions, or of those of one subscriber, by host."""
        boxes: dict[int, set[Box]] = {}
        for wanted in self.topics.subscriptions:
            if by in (None, wanted.by):
                if wanted.by not in self._host:
                    self._host[wanted.by] = len(self.names)
                    self.names.append(wanted.by)
                boxes.setdefault(self._host[wanted.by], set()).update(self.topics.boxes(wanted))
        return boxes

    def _follow(self, by: str | None = None) -> None:
        """Let peers leave for good whose boxes nobody wants any more, and others join."""
        overlay, population, wanted = self.shared, self.shared.population, self._wanted(by)
        lows, highs = population.ranges()
        held: dict[int, dict[Box, int]] = {}
        mine = population.present if by is None else population.present & (population.host == self._host[by])
        for peer in np.flatnonzero(mine).tolist():
            box = tuple(lows[peer].tolist()), tuple(highs[peer].tolist())
            held.setdefault(int(population.host[peer]), {})[box] = peer
        leaving = [p for h, boxes in held.items() for box, p in boxes.items() if box not in wanted.get(h, ())]
        new = [(h, box) for h in sorted(wanted) for box in sorted(wanted[h] - held.get(h, {}).keys())]
        old_rows, newcomers = population.row[leaving], np.zeros(0, np.int64)
        if new:
            first = int(population.row.max())
            keys = cycle_key(overlay.seed, STREAM, first), cycle_key(overlay.seed, CONTACTS, first)
            lows, highs = (np.array([box[side] for _, box in new]) for side in (0, 1))
            hosts = np.array([host for host, _ in new])
            newcomers = enter(overlay, keys, overlay.cycle, lows, highs, hosts, np.array(leaving, np.int64))
        old = overlay.peers_of(old_rows)  # their numbers may have changed
        pairs = _pairs(population.host, old, newcomers)
        depart(overlay, old)
        if pairs:
            overlay.change(*(np.array(side, np.int64) for side in zip(*pairs, strict=True)))

    def _entry(
        self, topic: str, at: NDArray[np.float64], by: str | None, by_tables: bool, prefer_members: bool
    ) -> int | None:
        """The peer that publishes an event; None if nobody matches it."""
        lows, highs = self.shared.population.ranges()
        fits = (self.shared.network.alive == 1) & np.all((lows <= at) & (at <= highs), axis=1)
        what = "subscriber that matches the event"
        if by is not None:
            fits &= self.shared.population.host == self._host.get(by, -1)
        low, high = self.topics.nested.range(self.topics.number(topic))
        members = fits & (lows[:, 0] == low) & (highs[:, 0] == high - 1) & (self.shared.topical == 1)
        if prefer_members and members.any():
            fits = members
        if by_tables:
            fits, what = members, "member of the topic; others publish along the rings"
        peers = np.flatnonzero(fits)
        if not peers.size and by is None and not by_tables:
            return None
        if not peers.size:
            raise InputError(f"by: expected a {what}, got {by!r} for {topic!r}")
        there = self.shared.tables.since[peers] < self.shared.cycle
        ready = peers[self.shared.ready()[peers] if by_tables else there]
        peers = ready if ready.size else peers
        draw = draws(cycle_key(self.shared.seed, STREAM, self.shared.cycle), np.arange(1), 2)[0]
        return int(peers[int(draw) % peers.size])


def _pairs(host: NDArray[np.int64], old: NDArray[np.int64], new: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Peers that leave and that join on the same host, as far as there are as many."""
    leaving: dict[int, list[int]] = {}
    for peer in old.tolist():
        leaving.setdefault(int(host[peer]), []).append(peer)
    return [(leaving[h].pop(), peer) for peer in new.tolist() if leaving.get(h := int(host[peer]))]
