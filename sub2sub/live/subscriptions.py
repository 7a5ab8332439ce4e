"""A subscription as an application holds it: a callback, or events to iterate over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from sub2sub.live.core import Core
from sub2sub.live.messages import Event
from sub2sub.live.peers import Descriptor

__all__ = ["Received", "Subscription"]


LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Received:
    """An event as a subscriber receives it.

    Attributes
    ----------
    name : bytes
        The same for all who receive it.
    point : tuple of float
    data : bytes
    hops : int
        How often it was forwarded on its way here.
    """

    name: bytes
    point: tuple[float, ...]
    data: bytes
    hops: int


class Subscription:
    """One subscription; made by `Node.subscribe`.

    Attributes
    ----------
    own : Descriptor
        The peer it is in the overlay.
    core : Core
        That peer's state, to look at.
    lost : int
        Events dropped because they were not fetched in time, oldest first.
    """

    WAITING = 1024  # events that wait to be fetched

    def __init__(self, own: Descriptor, callback: Callable[[Received], None] | None = None) -> None:
        self.own, self.lost = own, 0
        self.core: Core
        self._callback = callback
        self._events: asyncio.Queue[Received | None] = asyncio.Queue(self.WAITING)
        self._ended = False

    def deliver(self, event: Event) -> None:
        """Hand an event to the application."""
        received = Received(event.name, event.point, event.data, event.hops)
        if self._callback:
            try:
                self._callback(received)
            except Exception:  # an application's mistake must not keep the event from others
                LOG.exception("a subscriber's callback failed")
        else:
            self._put(received)

    def close(self) -> None:
        """End the iteration over events once those that wait are fetched."""
        self._ended = True
        self._put(None)

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Received:
        if self._ended and self._events.empty():
            raise StopAsyncIteration
        event = await self._events.get()
        if event is None:
            raise StopAsyncIteration
        return event

    def _put(self, event: Received | None) -> None:
        if self._events.full():
            self._events.get_nowait()
            self.lost += 1
        self._events.put_nowait(event)
