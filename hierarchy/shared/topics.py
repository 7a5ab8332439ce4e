"""Topics by name, and subscriptions to them: what the shared overlay is asked for.

A subscription is the ranges of its filter on the axis of topics (`hierarchy.topics.filters`), times its
conditions on the attributes. Each range is a virtual peer of its subscriber's host, which receives an event
once.

A subscription to a topic and its subtopics without conditions is a member of that topic. All others, to a
part of a topic's events, are range subscribers. Both routings reach both, exactly.

`Topics.overlay` starts the overlay (`hierarchy.shared.topic_overlay`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import networkx as nx

from hierarchy.peers.settings import SharedSettings
from hierarchy.topics import NestedRanges, TopicTree
from hierarchy.topics.filters import Filter, levels_of, parse, ranges_of
from sub2sub.errors import InputError
from sub2sub.geometry.attributes import Int
from sub2sub.geometry.space import AttributeSpace

if TYPE_CHECKING:
    from hierarchy.shared.topic_overlay import TopicOverlay

TOPIC = "topic"  # the first axis
RESERVED = {TOPIC, "by", "subtopics", "route", "filter"}
Levels = tuple[str, ...]
Box = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Subscription:
    """A subscription as it was asked for: who wants which topics, on which conditions."""

    by: str
    filter: str
    topic: int | None  # the number of the topic, which it follows wherever that moves; None for wildcards
    subtopics: bool
    conditions: Mapping[str, Any]
    ranges: Box  # of the attributes, by the conditions


class Topics:
    """Topics and subscriptions to them. `Topics.of` makes them from paths or a graph.

    Examples
    --------
    >>> from sub2sub import Float
    >>> topics = Topics.of(["sport.soccer.cup", "sport.tennis", "news"], attributes={"price": Float(0, 100)})
    >>> topics.subscribe("sport.soccer", price=(0, 10), by="alice")
    >>> topics.subscribe("sport.*", by="bob")
    >>> topics.subscribe("sport.>", by="carol")
    >>> overlay = topics.overlay(seed=1).run(20)
    >>> overlay.publish("sport.soccer.cup", price=3)
    <sport.soccer.cup by rings: received by alice, carol; missed by nobody>
    >>> overlay.publish("sport.tennis", price=50).received
    ('bob', 'carol')
    """

    def __init__(self, attributes: Mapping[str, Any] | None = None, most: int = 64) -> None:
        self.nested, self.most = NestedRanges(TopicTree()), most
        self._labels: list[str] = [""]
        self._numbers: dict[Levels, int] = {(): 0}
        self._by_name: dict[str, int] = {}  # of a graph
        self.attributes = dict(attributes or {})
        for name in self.attributes.keys() & RESERVED:
            raise InputError(f"attributes: {name!r} has a meaning of its own here, expected another name")
        self.subscriptions: list[Subscription] = []

    @classmethod
    def of(
        cls,
        topics: Iterable[str] | nx.DiGraph = (),
        *,
        attributes: Mapping[str, Any] | None = None,
        most: int = 64,
    ) -> Topics:
        """Topics from paths, or from a graph with an edge from each topic to its subtopics.

        Parameters
        ----------
        topics : iterable of str, or networkx.DiGraph
            Paths such as `sport.soccer` or `sport/soccer`; topics above need not be listed.
        attributes : mapping of names to types, optional
            What events have besides a topic, as of `sub2sub.AttributeSpace`.
        most : int
            Ranges that one filter may need, at most.

        Examples
        --------
        >>> import networkx as nx
        >>> topics = Topics.of(nx.DiGraph([("sport", "soccer"), ("italy", "serie-a"), ("soccer", "serie-a")]))
        >>> topics.subscribe("italy", by="alice")
        >>> topics.subscribe("sport", by="bob")
        >>> topics.overlay(seed=1).run(5).publish("serie-a").received
        ('alice', 'bob')
        """
        made = cls(attributes, most)
        if isinstance(topics, nx.DiGraph):
            graph = TopicTree.from_graph(topics)
            made.nested = NestedRanges(graph)
            made._labels = [graph.name(topic) for topic in range(len(graph))]
            made._by_name = {graph.name(topic): topic for topic in graph}
            return made
        if isinstance(topics, str):
            raise InputError(f"topics: expected paths or a networkx.DiGraph, got the string {topics!r}")
        for path in topics:
            made.number(path, add=True)
        return made

    def subscribe(self, filter: str, *, by: str, subtopics: bool = True, **conditions: Any) -> None:
        """Subscribe to a topic with its subtopics, or to all topics that match a filter with wildcards.

        Parameters
        ----------
        filter : str
            A path such as `sport.soccer`, or a filter of MQTT 5 (`a/#`, `a/+/b`) or NATS (`a.>`, `a.*.b`). A
            topic that is not there yet is added.
        by : str
            The subscriber's name. Several subscriptions of one name run on one host.
        subtopics : bool
            Whether a path without wildcards includes the topics below, as in CAMCAST; if not, it is that
            topic alone, as in MQTT and NATS.
        **conditions
            By attribute: an exact value, or a pair (low, high); an attribute that is not named may have any
            value.
        """
        if not isinstance(by, str) or not by:
            raise InputError(f"by: expected the name of a subscriber, got {by!r}")
        if unknown := conditions.keys() - self.attributes.keys():
            known = ", ".join(self.attributes) or "no attributes"
            raise InputError(f"conditions: expected {known}, got {', '.join(sorted(unknown))}")
        lows, highs = self.space.subscriptions([{TOPIC: 0, **conditions}])
        ranges = tuple(lows[0, 1:].tolist()), tuple(highs[0, 1:].tolist())
        topic = None if self._parsed(filter).has_wildcards else self.number(filter, add=True)
        wanted = Subscription(by, filter, topic, subtopics, conditions, ranges)
        self.boxes(wanted)
        self.subscriptions.append(wanted)

    def number(self, topic: str, add: bool = False) -> int:
        """The number of a topic; if `add` is set, it is added with those above it if it is not there."""
        if topic in self._by_name:
            return self._by_name[topic]
        levels = levels_of(topic)
        if levels not in self._numbers and (self._by_name or not add):
            raise InputError(f"topic: expected a topic that is there, got {topic!r}")
        for depth in range(1, len(levels) + 1):
            if levels[:depth] not in self._numbers:
                self._add(levels[:depth])
        return self._numbers[levels]

    def _add(self, levels: Levels) -> None:
        """Add a topic below one that is there."""
        added = self.nested.add("/" + "/".join(levels), [self._numbers[levels[:-1]]])
        self._numbers[levels] = added.topic
        self._labels.append(levels[-1])

    def remove(self, topic: str) -> None:
        """Remove a topic without subtopics, and the subscriptions to it alone."""
        number = self.number(topic)
        self.nested.remove(number)
        self._rename(number, None)
        self.subscriptions[:] = [wanted for wanted in self.subscriptions if wanted.topic != number]

    def move(self, topic: str, *, under: str | None = None, name: str | None = None) -> None:
        """Give a topic and those below it another supertopic, or the topic another last level."""
        number = self.number(topic)
        old = next((levels for levels, its in self._numbers.items() if its == number), None)
        if old is None or not old:
            raise InputError(f"topic: expected a topic that was given by a path, got {topic!r}")
        above = old[:-1] if under is None else levels_of(under)
        if name is not None and (not isinstance(name, str) or not name or {*name} & {*"./+#*>"}):
            raise InputError(f"name: expected one level of a path, got {name!r}")
        new = (*above, old[-1] if name is None else name)
        if new in self._numbers or above not in self._numbers:
            raise InputError(f"topic: expected a free place below a topic that is there, got {new!r}")
        if under is not None:
            self.nested.move(number, self._numbers[above])
        self._rename(number, new)

    def _rename(self, number: int, new: Levels | None) -> None:
        """Give a topic and all below it other levels, or none."""
        old = next(levels for levels, its in self._numbers.items() if its == number)
        names = {}
        for levels, its in self._numbers.items():
            if levels[: len(old)] != old:
                names[levels] = its
            elif new is not None:
                names[new + levels[len(old) :]] = its
                self.nested.tree.rename(its, "/" + "/".join(new + levels[len(old) :]))
        self._numbers = names
        if new is not None:
            self._labels[number] = new[-1]

    def overlay(self, seed: int = 0, settings: SharedSettings | None = None) -> TopicOverlay:
        """Start the shared overlay of all subscriptions, in which every peer has one random link."""
        if not self.subscriptions:
            raise InputError("topics: expected one or more subscriptions before an overlay starts")
        from hierarchy.shared.topic_overlay import TopicOverlay

        return TopicOverlay(self, seed, settings)

    @property
    def space(self) -> AttributeSpace:
        """The axes: topics first, then the attributes."""
        return AttributeSpace({TOPIC: Int(0, 2**53), **self.attributes})

    def boxes(self, wanted: Subscription) -> list[Box]:
        """The closed boxes of a subscription, one for each range of its filter."""
        nested = self.nested
        if wanted.topic is None:
            parsed = self._parsed(wanted.filter)
            ranges = ranges_of(parsed, nested, self._labels.__getitem__, wanted.filter, self.most)
        elif wanted.subtopics:
            ranges = [(low, high - 1) for low, high in nested.ranges(wanted.topic).tolist()]
        else:
            ranges = [(nested.point(wanted.topic),) * 2]
        lows, highs = wanted.ranges
        return [((float(low), *lows), (float(high), *highs)) for low, high in ranges]

    def _parsed(self, text: str) -> Filter:
        return Filter((text,), None, "nats") if text in self._by_name else parse(text)
