"""A process of a simulated network with the names of a live one: what runs on `Process` runs on this.

The same calls, the same events and the same ids: `community`, then `subscribe`, `publish`, `unsubscribe`
and `stop_publishing`. Simulated time passes only in these calls and in `SimulatedTransport.step`. The same
without `await` is `hierarchy.camcast.CommunityManager`.

>>> import asyncio
>>> from hierarchy.topics import TopicTree
>>> from hierarchy.membership import SimulatedTransport
>>> async def example():
...     network = SimulatedTransport(TopicTree.from_paths([".soccer.italy"]), seed=1)
...     async with SimulatedProcess(network, 1) as alice, SimulatedProcess(network, 2) as bob:
...         events = await alice.community(".soccer").subscribe()
...         await bob.community(".soccer.italy").publish(b"goal")
...         return await anext(events)
>>> event = asyncio.run(example())
>>> event.topic, event.data
('.soccer.italy', b'goal')
"""

from __future__ import annotations

from types import TracebackType

from hierarchy.camcast.community import (
    Community,
    CommunityManager,
    Subscriber,
    Transport,
    check_callback,
    not_subscribed,
)
from hierarchy.live.events import Events


class SimulatedProcess:
    """A process of a simulated network.

    Parameters
    ----------
    transport : Transport
        The network.
    number : int
        Of the process, a different one each.
    """

    def __init__(self, transport: Transport, number: int) -> None:
        self._manager = CommunityManager(number, transport)
        self._communities: dict[str, SimulatedCommunity] = {}

    async def __aenter__(self) -> SimulatedProcess:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.leave()

    def community(self, topic: str) -> SimulatedCommunity:
        """The community of a topic, the same object each time."""
        community = self._manager.community(topic)
        return self._communities.setdefault(topic, SimulatedCommunity(community))

    def super_communities(self, topic: str) -> list[SimulatedCommunity]:
        """The communities of the direct supertopics."""
        return [self.community(parent) for parent in self.parents(topic)]

    def parents(self, topic: str) -> list[str]:
        """The direct supertopics of a topic."""
        return self._manager.parents(topic)

    def add_parent(self, topic: str, parent: str) -> None:
        """Take note of a further supertopic of a topic."""
        self._manager.add_parent(topic, parent)

    async def leave(self) -> None:
        """Leave all communities."""
        for community in self._communities.values():
            await community.leave()


class SimulatedCommunity:
    """One process's view of the community of one topic; made by `SimulatedProcess.community`."""

    def __init__(self, community: Community) -> None:
        self.topic, self._community = community.topic, community
        self._subscribers: list[Events] = []

    @property
    def is_member(self) -> bool:
        """Whether the process takes part in the community now."""
        return self._community.is_member

    async def subscribe(self, callback: Subscriber | None = None) -> Events:
        """Receive each event of the topic and of its subtopics; without a callback, iterate over them."""
        if callback is not None:
            check_callback(callback)
        events = Events(callback)
        self._community.subscribe(events.deliver)
        self._subscribers.append(events)
        return events

    async def unsubscribe(self, subscription: Events) -> None:
        """End a subscription."""
        if subscription not in self._subscribers:
            raise not_subscribed(self.topic, subscription)
        self._subscribers.remove(subscription)
        self._community.unsubscribe(subscription.deliver)
        subscription.close()

    async def publish(self, data: bytes = b"", upward: float | None = None) -> int:
        """Publish an event; returns its id."""
        return self._community.publish(data, upward)

    async def stop_publishing(self) -> None:
        """Stay in the community only as long as there are subscriptions."""
        self._community.stop_publishing()

    async def leave(self) -> None:
        """End all subscriptions, and the membership."""
        for events in self._subscribers:
            events.close()
        self._subscribers = []
        self._community.leave()
