"""The running overlay of `Topics`: publish by name, and change topics and subscriptions.

If a change moves the ranges of topics, subscriptions follow as changed subscriptions do: the peer of the old
range leaves, and one of the new range joins on the same host. All ranges are of one layout at any time,
whose number is `TopicOverlay.layout`; an event is published in one layout. A peer that has joined misses
events until others know it: mostly for one cycle; in an overlay of a handful of peers, of which half have
changed at once, for up to ten (`OverlaySettings.patience`).
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
from hierarchy.shared.overlay import Route, SharedOverlay
from hierarchy.shared.topics import TOPIC, Box, Topics
from hierarchy.topics.filters import levels_of
from sub2sub.compiled.common.growth import make_room
from sub2sub.compiled.common.randomness import draws
from sub2sub.errors import InputError
from sub2sub.overlay.population import Population
from sub2sub.overlay.published import Published
from sub2sub.peers.draws import cycle_key, stream_number
from sub2sub.peers.settings import DisseminationSettings

STREAM = stream_number("topics")


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
        """One line."""
        names = (", ".join(side) or "nobody" for side in (self.received, self.missed))
        return "<{} by {}: received by {}; missed by {}>".format(self.topic, self.route, *names)


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
        self.names: list[str] = list(dict.fromkeys(each.by for each in topics.subscriptions))
        boxes = self._wanted()
        rows = [(host, box) for host in sorted(boxes) for box in sorted(boxes[host])]
        if len(rows) < 2:
            raise InputError(f"topics: expected subscriptions with 2 or more ranges, got {len(rows)}")
        lows, highs = (np.array([box[side] for _, box in rows]) for side in (0, 1))
        population = Population.of(lows, highs, hosts=[host for host, _ in rows], seed=seed)
        given = settings or SharedSettings(axes=topics.space.axes if topics.attributes else ())
        self.shared = SharedOverlay(population, given, seed, topics=self.topics.nested, space=topics.space)
        self.shared.bootstrap()

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
        self._change(partial(self.topics.subscribe, filter, by=by, subtopics=subtopics, **conditions))

    def unsubscribe(self, filter: str, *, by: str) -> None:
        """End all subscriptions of a subscriber to this filter."""
        kept = [s for s in self.topics.subscriptions if (s.by, s.filter) != (by, filter)]
        if len(kept) == len(self.topics.subscriptions):
            raise InputError(f"filter: expected a filter that {by!r} subscribes to, got {filter!r}")
        self.topics.subscriptions[:] = kept
        self._follow()

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

    def _change(self, change: Callable[[], Any]) -> None:
        """Change topics or subscriptions, and let all subscriptions follow."""
        nested = self.topics.nested
        before = nested.bounds()
        change()
        after = nested.bounds()[: len(before)]
        there = [topic for topic in range(len(before)) if topic in nested.tree]
        self.layout += bool((before[there] != after[there]).any())
        self._follow()

    def _wanted(self) -> dict[int, set[Box]]:
        """The boxes of all subscriptions, by host."""
        boxes: dict[int, set[Box]] = {}
        for wanted in self.topics.subscriptions:
            if wanted.by not in self.names:
                self.names.append(wanted.by)
            boxes.setdefault(self.names.index(wanted.by), set()).update(self.topics.boxes(wanted))
        return boxes

    def _follow(self) -> None:
        """Let peers leave whose boxes nobody wants any more, and others join; first on half of the hosts.

        So there are always peers of the other half that newcomers can turn to.
        """
        wanted = self._wanted()
        for half in (0, 1):
            lows, highs = self.shared.population.ranges()
            held: dict[int, dict[Box, int]] = {}
            for peer in np.flatnonzero(self.shared.population.present).tolist():
                box = tuple(lows[peer].tolist()), tuple(highs[peer].tolist())
                held.setdefault(int(self.shared.population.host[peer]), {})[box] = peer
            hosts = [host for host in sorted({*wanted, *held}) if host % 2 == half]
            old = [p for h in hosts for box, p in held.get(h, {}).items() if box not in wanted.get(h, ())]
            new = [(h, box) for h in hosts for box in sorted(wanted.get(h, set()) - held.get(h, {}).keys())]
            self._replace(np.array(old, np.int64), new)

    def _replace(self, old: NDArray[np.int64], new: list[tuple[int, Box]]) -> None:
        """Let peers leave for good, and others join on these hosts; each in the place of one on its host."""
        overlay, population, cycle = self.shared, self.shared.population, self.shared.cycle
        moved = make_room(overlay, len(new))
        old = old if moved is None else moved.peers(old)
        key = cycle_key(overlay.seed, STREAM, int(population.row.max()))
        dormant = np.flatnonzero(population.dormant)
        newcomers = np.sort(dormant[np.argsort(draws(key, dormant, 0))[: len(new)]])
        among = np.setdiff1d(np.flatnonzero(overlay.network.alive == 1), old)
        if new:
            hosts = np.array([host for host, _ in new])
            lows, highs = (np.array([box[side] for _, box in new]) for side in (0, 1))
            population.activate(newcomers, lows, highs, hosts)
            overlay.admit(newcomers, self._contacts(newcomers, among, key), cycle)
            pairs = _pairs(population.host, old, newcomers)
        overlay.network.alive[old] = 0
        population.retire(old)
        if new and pairs:
            overlay.change(*(np.array(side, np.int64) for side in zip(*pairs, strict=True)))

    def _contacts(
        self, newcomers: NDArray[np.int64], among: NDArray[np.int64], key: np.uint64
    ) -> NDArray[np.int64]:
        """A peer for each newcomer to join by: one on its own host, if one is there, else a random one.

        Peers that have joined just now know nobody yet, and are asked only if there are no others.
        """
        settled = among[self.shared.tables.since[among] < self.shared.cycle]
        among = settled if settled.size else among
        if not among.size:
            raise InputError("topics: expected a live peer that newcomers can join by, found none")
        host = self.shared.population.host
        at_home = dict(zip(host[among].tolist(), among.tolist(), strict=True))
        chosen = among[(draws(key, newcomers, 1) % np.uint64(among.size)).astype(np.int64)]
        found = zip(host[newcomers].tolist(), chosen.tolist(), strict=True)
        return np.array([at_home.get(own, other) for own, other in found], np.int64)

    def _entry(
        self, topic: str, at: NDArray[np.float64], by: str | None, by_tables: bool, prefer_members: bool
    ) -> int | None:
        """The peer that publishes an event; None if nobody matches it."""
        lows, highs = self.shared.population.ranges()
        fits = (self.shared.network.alive == 1) & np.all((lows <= at) & (at <= highs), axis=1)
        what = "subscriber that matches the event"
        if by is not None:
            fits &= self.shared.population.host == (self.names.index(by) if by in self.names else -1)
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
