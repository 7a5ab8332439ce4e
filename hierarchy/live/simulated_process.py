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

from collections.abc import Callable
from types import TracebackType

from hierarchy.camcast.community import Community, CommunityManager, Event, Transport
from hierarchy.live.events import Events
from sub2sub.errors import InputError


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
        if topic not in self._communities:
            self._communities[topic] = SimulatedCommunity(self._manager.community(topic))
        return self._communities[topic]

    async def leave(self) -> None:
        """Leave all communities."""
        for community in self._communities.values():
            await community.leave()


class SimulatedCommunity:
    """One process's view of the community of one topic; made by `SimulatedProcess.community`."""

    def __init__(self, community: Community) -> None:
        self.topic, self._community = community.topic, community
        self._subscribers: dict[Events, Callable[[Event], None]] = {}
        self._publishes = False

    async def subscribe(self, callback: Callable[[Event], None] | None = None) -> Events:
        """Receive each event of the topic and of its subtopics; without a callback, iterate over them."""
        if callback is not None and not callable(callback):
            raise InputError(f"callback: expected a function of one event, got {callback!r}")
        events = Events(callback)
        self._subscribers[events] = self._community.subscribe(events.deliver)
        return events

    async def unsubscribe(self, events: Events) -> None:
        """End a subscription."""
        if events not in self._subscribers:
            raise InputError(f"events: expected a subscription to {self.topic!r} that has not ended")
        self._community.unsubscribe(self._subscribers.pop(events))
        events.close()

    async def publish(self, data: bytes = b"") -> int:
        """Publish an event; returns its id."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InputError(f"data: expected bytes, got {type(data).__name__}")
        self._publishes = True
        return self._community.publish(bytes(data))

    async def stop_publishing(self) -> None:
        """Stay in the community only as long as there are subscriptions."""
        self._community.stop_publishing()
        self._publishes = False

    async def leave(self) -> None:
        """End all subscriptions, and the membership."""
        for events in list(self._subscribers):
            await self.unsubscribe(events)
        if self._publishes:
            await self.stop_publishing()
