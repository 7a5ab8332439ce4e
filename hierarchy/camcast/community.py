"""The community programming interface: get a community, subscribe, publish, unsubscribe, stop publishing.

CAMCAST Section 5.1. A process has one `CommunityManager`, which hands out a `Community` for each topic. The
first subscription or publication makes the process a member; it leaves when it has no subscription left and
has stopped publishing. A `Transport` carries events: `hierarchy.membership.SimulatedTransport`, or live
peers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from sub2sub.errors import InputError


@dataclass(frozen=True)
class Event:
    """An event as a subscriber receives it.

    Attributes
    ----------
    topic : str
        The topic it was published on.
    data : object
        What was published.
    id : int
        The same for all who receive it; a process in two communities may get it in both.
    publisher : int
        The process that published it.
    round : int
        Steps it took.
    """

    topic: str
    data: Any
    id: int
    publisher: int
    round: int


LOG = logging.getLogger(__name__)
Subscriber = Callable[[Event], None]


class Transport(Protocol):
    """What communities need of a network: simulated, or of live peers."""

    def join(self, process: int, topic: str, deliver: Subscriber) -> None:
        """Make a process a member of a community; `deliver` is called for each of its events, once."""

    def leave(self, process: int, topic: str) -> None:
        """Take a process out of a community."""

    def publish(self, process: int, topic: str, data: Any) -> int:
        """Publish on a topic of which the process is a member; returns the id of the event."""

    def parents(self, topic: str) -> list[str]:
        """The direct supertopics; refuses an unknown topic."""


class CommunityManager:
    """Hands out the communities of one process.

    Parameters
    ----------
    process : int
        Number of the process.
    transport : Transport
        What carries its events.

    Examples
    --------
    >>> from hierarchy.membership import SimulatedTransport
    >>> from hierarchy.topics import TopicTree
    >>> network = SimulatedTransport(TopicTree.from_paths([".soccer.italy"]), seed=1)
    >>> alice, bob = (CommunityManager(process, network) for process in (1, 2))
    >>> heard = []
    >>> subscription = alice.community(".soccer").subscribe(lambda event: heard.append(event.data))
    >>> italy = bob.community(".soccer.italy")
    >>> _ = italy.publish("goal")
    >>> heard
    ['goal']
    >>> alice.community(".soccer").unsubscribe(subscription)
    >>> italy.stop_publishing()
    """

    def __init__(self, process: int, transport: Transport) -> None:
        self.process = process
        self.transport = transport
        self._communities: dict[str, Community] = {}

    def community(self, topic: str) -> Community:
        """The community of a topic, the same object each time."""
        if topic not in self._communities:
            self.transport.parents(topic)
            self._communities[topic] = Community(self.process, topic, self.transport)
        return self._communities[topic]

    def super_communities(self, topic: str) -> list[Community]:
        """The communities of the direct supertopics."""
        return [self.community(parent) for parent in self.transport.parents(topic)]


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

    def subscribe(self, subscriber: Subscriber) -> Subscriber:
        """Call `subscriber` with each event of the topic and of its subtopics; returns it.

        Can decorate a function.
        """
        if not callable(subscriber):
            raise InputError(f"subscriber: expected a function of one event, got {subscriber!r}")
        self._enter()
        self._subscribers.append(subscriber)
        return subscriber

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """End a subscription."""
        if subscriber not in self._subscribers:
            raise InputError(
                f"subscriber: expected one that is subscribed to {self.topic!r}, got {subscriber!r}"
            )
        self._subscribers.remove(subscriber)
        self._leave_if_idle()

    def publish(self, data: Any) -> int:
        """Publish an event on the topic; the first one joins the community. Returns the event's id."""
        self._enter()
        try:
            id = self._transport.publish(self.process, self.topic, data)
        except BaseException:  # refused: it is as if nothing had been published
            self._leave_if_idle()
            raise
        self._publishes = True
        return id

    def stop_publishing(self) -> None:
        """Stay in the community only as long as there are subscriptions."""
        if not self._publishes:
            raise InputError(
                f"stop_publishing: expected a publisher of {self.topic!r}; nothing was published"
            )
        self._publishes = False
        self._leave_if_idle()

    def _enter(self) -> None:
        if not self.is_member:
            self._transport.join(self.process, self.topic, self._deliver)

    def _leave_if_idle(self) -> None:
        if not self.is_member:
            self._transport.leave(self.process, self.topic)

    def _deliver(self, event: Event) -> None:
        for subscriber in list(self._subscribers):
            try:
                subscriber(event)
            except Exception:  # an application's mistake must not keep the event from others
                LOG.exception("a subscriber of %s failed", self.topic)
