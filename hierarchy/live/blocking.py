"""A live process without `await`: a transport for `hierarchy.camcast.CommunityManager`, over TCP.

The calls, events and ids are those of simulated communities (`hierarchy.membership.SimulatedTransport`); only
the transport differs. The process runs in a thread of its own, in which subscribers are called too.

>>> from queue import Queue
>>> from hierarchy.camcast import CommunityManager
>>> heard = Queue()
>>> with LiveTransport(period=0.05) as one:
...     gateways = {".soccer": [one.address], ".soccer.italy": []}
...     with LiveTransport(gateways, period=0.05) as other:
...         alice, bob = CommunityManager(1, one), CommunityManager(2, other)
...         subscription = alice.community(".soccer").subscribe(heard.put)
...         _ = bob.community(".soccer.italy").publish(b"goal")
...         event = heard.get(timeout=20)
>>> event.topic, event.data
('.soccer.italy', b'goal')
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from threading import Thread
from types import TracebackType
from typing import Any, TypeVar

from hierarchy.camcast.community import Subscriber
from hierarchy.live.events import Events
from hierarchy.live.process import Process
from sub2sub.errors import InputError
from sub2sub.live.net.connections import Address

T = TypeVar("T")


class LiveTransport:
    """One live process, called from other threads.

    Parameters
    ----------
    gateways : mapping of str to addresses, optional
    **options
        As of `hierarchy.live.Process`.
    """

    def __init__(self, gateways: Mapping[str, Sequence[Address]] | None = None, **options: Any) -> None:
        self.process = Process(gateways, **options)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="live process", daemon=True)
        self._joined: dict[str, Events] = {}
        self._published: set[str] = set()
        self._thread.start()
        try:
            self._run(self.process.__aenter__())
        except BaseException:
            self._stop()
            raise

    def __enter__(self) -> LiveTransport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def address(self) -> Address:
        """Where others reach the process."""
        return self.process.address

    def join(self, process: int, topic: str, deliver: Subscriber) -> None:
        """Make the process a member of a community."""
        if topic in self._joined:
            raise InputError(f"topic: expected one process for each transport, got a second on {topic!r}")
        self._joined[topic] = self._run(self.process.community(topic).subscribe(deliver))

    def leave(self, process: int, topic: str) -> None:
        """Take the process out of a community."""
        self._check_member(topic)
        community = self.process.community(topic)
        if topic in self._published:
            self._published.discard(topic)
            self._run(community.stop_publishing())
        self._run(community.unsubscribe(self._joined.pop(topic)))

    def publish(self, process: int, topic: str, data: bytes, upward: float | None = None) -> int:
        """Publish on a topic of which the process is a member; returns the id of the event."""
        self._check_member(topic)
        name = self._run(self.process.community(topic).publish(data, upward))
        self._published.add(topic)
        return name

    def parents(self, topic: str) -> list[str]:
        """The direct supertopics; refuses what is no topic."""
        return self.process.parents(topic)

    def add_parent(self, topic: str, parent: str) -> None:
        """Give a topic a further supertopic."""

        async def add() -> None:
            self.process.add_parent(topic, parent)

        self._run(add())

    def close(self) -> None:
        """Leave all communities and end the thread."""
        if self._thread.is_alive():
            self._run(self.process.leave())
            self._stop()

    def _check_member(self, topic: str) -> None:
        if topic not in self._joined and self._thread.is_alive():
            raise InputError(f"topic: expected one of which the process is a member, got {topic!r}")

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Have the process's thread do something, and wait for the outcome."""
        if not self._thread.is_alive():
            work.close()
            raise InputError("transport: expected one that is not closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
