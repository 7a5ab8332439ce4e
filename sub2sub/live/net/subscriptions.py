"""A subscription as an application holds it: a callback, or events to iterate over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sub2sub.live.core.live_peer import Core
from sub2sub.live.core.messages import Event
from sub2sub.peers.descriptors import Descriptor

LOG = logging.getLogger(__name__)
EventT = TypeVar("EventT")


@dataclass(frozen=True)
class Received:
    """An event as a subscriber receives it.

    Attributes
    ----------
    name : bytes
        The same for all receivers.
    point : tuple of float
    data : bytes
    hops : int
        How often it was forwarded on its way here.
    """

    name: bytes
    point: tuple[float, ...]
    data: bytes
    hops: int


class Inbox(Generic[EventT]):
    """Events for an application: handed to a callback, or kept until it iterates over them.

    Attributes
    ----------
    lost : int
        Events dropped because they were not fetched in time, oldest first.
    """

    WAITING = 1024  # events that wait to be fetched

    def __init__(self, callback: Callable[[EventT], None] | None = None) -> None:
        self.lost = 0
        self._callback = callback
        self._events: asyncio.Queue[EventT | None] = asyncio.Queue(self.WAITING)
        self._ended = False

    def deliver(self, event: EventT) -> None:
        """Hand an event to the application."""
        if not self._callback:
            self._put(event)
            return
        try:
            self._callback(event)
        except Exception:  # an application's mistake must not keep the event from others
            LOG.exception("a subscriber's callback failed")

    def close(self) -> None:
        """End the iteration over events once those that wait are fetched."""
        self._ended = True
        self._put(None)

    def __aiter__(self) -> Inbox[EventT]:
        return self

    async def __anext__(self) -> EventT:
        if self._ended and self._events.empty():
            raise StopAsyncIteration
        event = await self._events.get()
        if event is None:
            raise StopAsyncIteration
        return event

    def _put(self, event: EventT | None) -> None:
        if self._events.full():
            self._events.get_nowait()
            self.lost += 1
        self._events.put_nowait(event)


class Subscription(Inbox[Received]):
    """One subscription; made by `Node.subscribe`.

    Attributes
    ----------
    own : Descriptor
        The peer it is in the overlay.
    core : Core
        That peer's state, to look at.
    """

    core: Core

    def __init__(self, own: Descriptor, callback: Callable[[Received], None] | None = None) -> None:
        super().__init__(callback)
        self.own = own

    def take(self, event: Event) -> None:
        """Hand an event of the overlay to the application."""
        self.deliver(Received(event.name, event.point, event.data, event.hops))
