"""The community programming interface: get a community, subscribe, publish, unsubscribe, stop publishing.

CAMCAST, Section 5.1. A process has one `CommunityManager`, which returns a `Community` for each topic. The
first subscription or publication makes the process a member; it leaves when it has no subscription left and
has stopped publishing. A `Transport` carries events: `hierarchy.membership.SimulatedTransport`, or one's own.
Over TCP, `hierarchy.live.Process` has the same methods with `await`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from sub2sub.errors import InputError
from sub2sub.peers.descriptors import MAX_DATA


@dataclass(frozen=True)
class CommunityEvent:
    """An event as a subscriber receives it.

    Attributes
    ----------
    topic : str
        The topic it was published on.
    data : bytes
        What was published.
    id : int
        The same for all receivers; a process in two communities may get an event in both.
    publisher : int
        The process that published it.
    round : int
        Number of hops from the publisher.
    """

    topic: str
    data: bytes
    id: int
    publisher: int
    round: int


LOG = logging.getLogger(__name__)
Subscriber = Callable[[CommunityEvent], None]


@runtime_checkable
class Transport(Protocol):
    """The network that communities need."""

    def join(self, process: int, topic: str, deliver: Subscriber) -> None:
        """Make a process a member of a community; `deliver` is called for each of its events, once."""

    def leave(self, process: int, topic: str) -> None:
        """Remove a process from a community."""

    def publish(self, process: int, topic: str, data: bytes, upward: float | None = None) -> int:
        """Publish on a topic of which the process is a member; returns the id of the event."""

    def parents(self, topic: str) -> list[str]:
        """The direct supertopics; refuses an unknown topic."""

    def add_parent(self, topic: str, parent: str) -> None:
        """Give a topic a further supertopic."""


def check_callback(callback: object) -> None:
    """Refuse a callback that is not callable."""
    if not callable(callback):
        raise InputError(f"callback: expected a function of one event, got {callback!r}")


def check_data(data: object) -> bytes:
    """The data of an event, as bytes; refuses other types and too many bytes."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InputError(f"data: expected bytes, got {type(data).__name__}")
    if len(data) > MAX_DATA:
        raise InputError(f"data: expected at most {MAX_DATA} bytes, got {len(data)}")
    return bytes(data)


def check_upward(upward: object) -> None:
    """Refuse a value that is not a probability."""
    if upward is not None and not (isinstance(upward, int | float) and 0 <= upward <= 1):
        raise InputError(f"upward: expected a probability, got {upward!r}")


def not_subscribed(topic: str, subscription: object) -> InputError:
    """The error for ending a subscription that does not exist."""
    return InputError(
        f"subscription: expected one to {topic!r} that has not ended, got {type(subscription).__name__}"
    )


def not_publishing(topic: str) -> InputError:
    """The error for `stop_publishing` without a publication."""
    return InputError(f"stop_publishing: expected a publisher of {topic!r}; nothing was published")


class CommunityManager:
    """The communities of one process.

    Parameters
    ----------
    process : int
        Number of the process.
    transport : Transport
        Carries its events.

    Examples
    --------
    >>> from hierarchy.membership import SimulatedTransport
    >>> from hierarchy.topics import TopicTree
    >>> network = SimulatedTransport(TopicTree.from_paths([".soccer.italy"]), seed=1)
    >>> alice, bob = (CommunityManager(process, network) for process in (1, 2))
    >>> heard = []
    >>> subscription = alice.community(".soccer").subscribe(lambda event: heard.append(event.data))
    >>> italy = bob.community(".soccer.italy")
    >>> _ = italy.publish(b"goal")
    >>> heard
    [b'goal']
    >>> alice.community(".soccer").unsubscribe(subscription)
    >>> italy.stop_publishing()
    """

    def __init__(self, process: int, transport: Transport) -> None:
        if not isinstance(process, int):
            raise InputError(f"process: expected the number of a process, got {process!r}")
        if not isinstance(transport, Transport):
            raise InputError(f"transport: expected a SimulatedTransport, got {transport!r}")
        self.process = process
        self.transport = transport
        self._communities: dict[str, Community] = {}

    def community(self, topic: str) -> Community:
        """The community of a topic, the same object each time."""
        if not isinstance(topic, str):
            raise InputError(f"topic: expected the name of a topic, got {topic!r}")
        if topic not in self._communities:
            self.parents(topic)
            self._communities[topic] = Community(self.process, topic, self.transport)
        return self._communities[topic]

    def super_communities(self, topic: str) -> list[Community]:
        """The communities of the direct supertopics."""
        return [self.community(parent) for parent in self.parents(topic)]

    def parents(self, topic: str) -> list[str]:
        """The direct supertopics of a topic."""
        return self.transport.parents(topic)

    def add_parent(self, topic: str, parent: str) -> None:
        """Add a further supertopic of a topic; every process has to add it, for its events to get there."""
        self.transport.add_parent(topic, parent)

    def leave(self) -> None:
        """Leave all communities."""
        for community in self._communities.values():
            community.leave()


class Community:
    """One process's view of the community of one topic; made by `CommunityManager.community`."""

    def __init__(self, process: int, topic: str, transport: Transport) -> None:
        self.process = process
        self.topic = topic
        self._transport = transport
        self._subscribers: list[Subscriber] = []
        self._publishes = False

    @property
    def is_member(self) -> bool:
        """Whether the process takes part in the community now."""
        return self._publishes or bool(self._subscribers)

    def subscribe(self, callback: Subscriber) -> Subscriber:
        """Call `callback` with each event of the topic and of its subtopics; returns it.

        Can decorate a function.
        """
        check_callback(callback)
        self._enter()
        self._subscribers.append(callback)
        return callback

    def unsubscribe(self, subscription: Subscriber) -> None:
        """End a subscription."""
        if subscription not in self._subscribers:
            raise not_subscribed(self.topic, subscription)
        self._subscribers.remove(subscription)
        self._leave_if_idle()

    def publish(self, data: bytes = b"", upward: float | None = None) -> int:
        """Publish an event on the topic; the first one joins the community. Returns the event's id.

        Parameters
        ----------
        data : bytes
        upward : float, optional
            The event's own p_sel, the paper's `setUpwardProb`; by default that of each community.
        """
        data = check_data(data)
        check_upward(upward)
        self._enter()
        try:
            id = self._transport.publish(self.process, self.topic, data, upward)
        except BaseException:  # nothing was published
            self._leave_if_idle()
            raise
        self._publishes = True
        return id

    def stop_publishing(self) -> None:
        """Stay in the community only as long as there are subscriptions."""
        if not self._publishes:
            raise not_publishing(self.topic)
        self._publishes = False
        self._leave_if_idle()

    def leave(self) -> None:
        """End all subscriptions, and the membership."""
        if self.is_member:
            self._subscribers, self._publishes = [], False
            self._leave_if_idle()

    def _enter(self) -> None:
        if not self.is_member:
            self._transport.join(self.process, self.topic, self._deliver)

    def _leave_if_idle(self) -> None:
        if not self.is_member:
            self._transport.leave(self.process, self.topic)

    def _deliver(self, event: CommunityEvent) -> None:
        for subscriber in list(self._subscribers):
            try:
                subscriber(event)
            except Exception:  # an error of one subscriber must not keep the event from others
                LOG.exception("a subscriber of %s failed", self.topic)
