"""A node of the shared overlay: it subscribes to topics and to ranges, and publishes by either way.

A `Node` (`sub2sub.live`) that knows the topics as nested ranges of the first attribute. All nodes of an
overlay have to know the same topics; methods change them while running, and have to be called at every node,
in the same order. A topic subscription is one peer for the topic's own range, and one for each range that the
topic includes by a further parent.

>>> import asyncio
>>> from hierarchy.topics import NestedRanges, TopicTree
>>> def topics():
...     return NestedRanges(TopicTree.from_paths([".soccer.italy"]))
>>> async def example():
...     async with SharedNode(topics(), period=0.05) as alice:
...         soccer = await alice.subscribe_topic(".soccer")
...         async with SharedNode(topics(), contact=alice.address, period=0.05) as bob:
...             await bob.subscribe_topic(".soccer.italy")
...             await bob.publish_topic(".soccer.italy", b"goal", CamcastRoute())
...             event = await anext(soccer)
...             return event.data
>>> asyncio.run(example())
b'goal'
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from hierarchy.camcast.manager import check_callback, check_data
from hierarchy.peers.route_choice import OTHERS, STRANGER, Known, RouteChoice, choose_route
from hierarchy.peers.router import tightest_first
from hierarchy.peers.settings import CamcastRoute
from hierarchy.shared.live import table_messages as t
from hierarchy.shared.live.shared_core import SharedCore, SharedCoreSettings, topical_id
from hierarchy.shared.live.table_wire import PROTOCOL
from hierarchy.topics import NestedRanges
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import TOP
from sub2sub.live.core.live_peer import Core
from sub2sub.live.net.entry import Published
from sub2sub.live.net.node import Node
from sub2sub.live.net.subscriptions import Inbox, Received, Subscription
from sub2sub.live.wire.format import NAME
from sub2sub.live.wire.framing import Protocol
from sub2sub.peers.descriptors import Descriptor

LEVELS = 64  # communities above its own that a publisher asks, at most
WAIT = 16  # cycles to wait before publishing by CAMCAST's routing, at most


@dataclass(frozen=True)
class PublishedTopic(Published):
    """What became of publishing to a topic: by which route ("camcast" or "rings"), and why if asked."""

    route: str = "rings"
    why: str = ""


class TopicSubscription(Inbox[Received]):
    """A subscription to a topic; made by `SharedNode.subscribe_topic`.

    Attributes
    ----------
    topic : str
    parts : list of Subscription
        Its peers in the overlay; the first is a member of the topic's community.
    """

    def __init__(self, topic: str, callback: Callable[[Received], None] | None = None) -> None:
        super().__init__(callback)
        self.topic = topic
        self.parts: list[Subscription] = []


class SharedNode(Node):
    """A live node of the shared overlay.

    Parameters
    ----------
    topics : NestedRanges
        The topics, as ranges of the first attribute.
    attributes : int
        A topic subscription leaves all but the first open.
    *given, **named
        As of `sub2sub.live.Node`; `settings` are `SharedCoreSettings`, and named.
    """

    wire_protocol: ClassVar[Protocol] = PROTOCOL
    core_type: ClassVar[type[Core]] = SharedCore
    answered: ClassVar[tuple[type[Any], ...]] = (*Node.answered, t.Alike, t.Greet, t.Inquire, t.Tables)
    events: ClassVar[tuple[type[Any], ...]] = (*Node.events, t.Routed)
    with_sender_last: ClassVar[tuple[type[Any], ...]] = (*Node.with_sender_last, t.Alike)

    def __init__(self, topics: NestedRanges, attributes: int = 1, *given: Any, **named: Any) -> None:
        if not isinstance(topics, NestedRanges):
            raise InputError(f"topics: expected NestedRanges, got {topics!r}")
        named["settings"] = named.get("settings") or SharedCoreSettings()
        super().__init__(attributes, *given, **named)
        self.topics = topics
        self.followed: list[TopicSubscription] = []

    def new_id(self, topical: bool = False) -> int:
        """A sequence ID whose last bit says whether its subscription is a topic's.

        Where IDs are bound, topics have the odd numbers of a certificate, and ranges the even ones.
        """
        for _ in range(self.connections.limits.subscriptions):
            id = super().new_id()
            if self.identity is None or bool(id & 1) == topical:
                return topical_id(id, topical)
        kind = "topic" if topical else "range"
        raise InputError(f"limits.subscriptions: expected more for one more subscription to a {kind}")

    async def subscribe_topic(
        self, topic: str, callback: Callable[[Received], None] | None = None
    ) -> TopicSubscription:
        """Receive each event of a topic and of its subtopics; without a callback, iterate over them."""
        self.topics.tree.number(topic)
        if callback is not None:
            check_callback(callback)
        subscription = TopicSubscription(topic, callback)
        await self._enter(subscription)
        self.followed.append(subscription)
        return subscription

    async def unsubscribe_topic(self, subscription: TopicSubscription) -> None:
        """End a subscription to a topic."""
        if subscription not in self.followed:
            raise InputError("subscription: expected one of this node that has not ended")
        self.followed.remove(subscription)
        await self._exit(subscription)
        subscription.close()

    async def publish_topic(
        self, topic: str, data: bytes = b"", route: CamcastRoute | Literal["auto"] | None = None
    ) -> PublishedTopic:
        """Publish an event of a topic along the rings or, with a route, by CAMCAST's routing.

        By CAMCAST's routing the node has to be subscribed to the topic. It waits until its peer knows
        members above, or that there are none (CAMCAST, Section 5.1), for `WAIT` cycles at most. With "auto"
        it takes the route that it expects to cost less (`hierarchy.peers.route_choice`), and says why.
        """
        data, why = check_data(data), ""
        at = (float(self.topics.point(topic)), *([0.0] * (self.attributes - 1)))
        if route == "auto":
            chosen, why, _ = await self._choose_route(topic, at)
            route = chosen if isinstance(chosen, CamcastRoute) else None
        if not isinstance(route, CamcastRoute | None):
            raise InputError(f"route: expected a CamcastRoute, 'auto', or none for the rings, got {route!r}")
        if route is None:
            return PublishedTopic(**vars(await self.publish(at, data)), why=why)
        core = self._member(topic)
        for _ in range(4 * WAIT):
            if core.is_ready:
                break
            await asyncio.sleep(self.period / 4)
        name = self.dice.randbytes(NAME)
        c, g, a = (float(number) + 0.0 for number in (route.c, route.g, route.a))  # no -0.0: it is signed
        event = t.Routed(name, at, 0, c, g, a, data)
        self.dispatch(core, core.route(event, self._draws(core)))
        return PublishedTopic(name, core.own.id, 0, route="camcast", why=why)

    async def _choose_route(self, topic: str, at: tuple[float, ...]) -> RouteChoice:
        """The route by which to publish an event; asks the communities above if that decides it."""
        rings, camcast = self.settings.dissemination, CamcastRoute()
        core = next((each.parts[0].core for each in self.followed if each.topic == topic), None)
        if not isinstance(core, SharedCore) or not core.is_ready:
            return RouteChoice(rings, STRANGER)
        own, above = core.known_of(at), tightest_first(core.tables)[0][:OTHERS]
        choice = choose_route(own, list, camcast, rings)
        if choice.route is rings:  # its own community decides
            return choice
        answers = [known async for known in self._ask_above(above, at)]
        return choose_route(own, lambda: answers, camcast, rings)

    async def _ask_above(self, above: Sequence[Descriptor], at: tuple[float, ...]) -> AsyncIterator[Known]:
        """Ask a member of each community from that of `above` on upward."""
        for _ in range(LEVELS):
            messages = 0
            for peer in above:
                answer = await self.request(peer, t.Count(self.dice.getrandbits(63), at))
                messages += 1 + (answer is not None)
                if isinstance(answer, t.Counted) and answer.links.peers[0].id == peer.id:
                    yield Known(answer.size, answer.ranges, answer.matching, messages)
                    above = answer.links.peers[1 : 1 + OTHERS]
                    break
            else:
                if above:
                    yield Known(None, messages=messages)
                return

    async def add_topic(self, name: str, parents: Sequence[str | int] | None = None) -> None:
        """Take note of a new topic; subscriptions whose ranges change join anew."""
        self.topics.add(name, parents)
        await self._follow_topics()

    async def add_parent(self, topic: str, parent: str) -> None:
        """Take note of another supertopic of a topic; its subscribers now get the topic's events too."""
        self.topics.tree.add_parent(topic, parent)
        await self._follow_topics()

    async def move_topic(self, topic: str, under: str) -> None:
        """Take note that a topic has moved below another, with its subtopics and its name."""
        self.topics.move(topic, under)
        await self._follow_topics()

    async def rename_topic(self, topic: str, name: str) -> None:
        """Take note of another name of a topic; its ranges and subscribers stay."""
        self.topics.tree.rename(topic, name)
        for subscription in self.followed:
            if subscription.topic == topic:
                subscription.topic = name

    async def remove_topic(self, topic: str) -> None:
        """Take note that a topic without subtopics is gone; subscriptions to it end."""
        for subscription in [each for each in self.followed if each.topic == topic]:
            await self.unsubscribe_topic(subscription)
        self.topics.remove(topic)
        await self._follow_topics()

    async def _follow_topics(self) -> None:
        """Change peers whose ranges are not those of their topics any more; others are told what they are."""
        for subscription in self.followed:
            boxes, parts = self._boxes(subscription.topic), subscription.parts
            for number, (part, (low, high)) in enumerate(zip(parts, boxes, strict=False)):
                if (part.own.low, part.own.high) != (low, high):
                    self._change_to(part, self._peer(number, low, high))
            for part in parts[len(boxes) :]:
                await self.unsubscribe(part)
            del parts[len(boxes) :]
            await self._enter(subscription)

    async def _enter(self, subscription: TopicSubscription) -> None:
        """Begin a peer for each range of a topic that has none: the first is a topic's, the others ranges."""
        begun = len(subscription.parts)
        for number, (low, high) in enumerate(self._boxes(subscription.topic)[begun:], begun):
            own = self._peer(number, low, high)
            subscription.parts.append(await self._subscribe_as(own, subscription.deliver))

    def _peer(self, number: int, low: tuple[float, ...], high: tuple[float, ...]) -> Descriptor:
        return Descriptor(self.new_id(topical=number == 0), low, high, self.address)

    async def _exit(self, subscription: TopicSubscription) -> None:
        for part in subscription.parts:
            await self.unsubscribe(part)
        subscription.parts = []

    def _boxes(self, topic: str) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
        """The ranges of a topic, open in all attributes but the first."""
        others = self.attributes - 1
        return [
            ((low, *([-TOP] * others)), (high, *([TOP] * others)))
            for low, high in self.topics.closed_ranges(topic).tolist()
        ]

    def _member(self, topic: str) -> SharedCore:
        for subscription in self.followed:
            if subscription.topic == topic and subscription.parts:
                core = subscription.parts[0].core
                assert isinstance(core, SharedCore)
                return core
        raise InputError(
            f"topic: expected one this node subscribes to, got {topic!r}; others publish along the rings"
        )
