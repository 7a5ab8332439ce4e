"""TCP connections of a node: few, bounded, and given up on those that are silent, slow or rude.

A connection carries frames both ways; replies go back where their request came from. Frames of one connection
are handled one after the other, and the next is read when the last has been handled: a sender that is
faster than that waits in its own buffers. What goes out waits in a bounded queue; a reader too slow for it
loses the connection. A frame that is refused ends its connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from sub2sub.live.wire.limits import Limits

__all__ = ["Address", "Channel", "Connections", "Format"]

Address = tuple[str, int]
PREFIX = 4
LOG = logging.getLogger(__name__)
FrameT = TypeVar("FrameT")
ReadT = TypeVar("ReadT", covariant=True)


class Format(Protocol[ReadT]):
    """How frames are read: `sub2sub.live.wire.format`, or another protocol's."""

    def size_of(self, prefix: bytes) -> int:
        """The length a prefix announces; raises a ValueError when it is out of range."""
        ...

    def decode(self, body: bytes) -> ReadT:
        """The frame in a body; raises a ValueError when it is none."""
        ...


class Channel:
    """One connection, as its user sees it: something to post frames to."""

    def __init__(self, queue: int, outgoing: Address | None) -> None:
        self.address = outgoing
        self.waiting: asyncio.Queue[tuple[bytes, Callable[[], None] | None]] = asyncio.Queue(queue)
        self.closed = False
        self.tasks: list[asyncio.Task[None]] = []

    def post(self, data: bytes, failed: Callable[[], None] | None = None) -> bool:
        """Queue a frame; False if the connection is closed or its reader too slow. `failed`: see there."""
        if self.closed:
            return False
        try:
            self.waiting.put_nowait((data, failed))
        except asyncio.QueueFull:
            self.close()
            return False
        return True

    def close(self) -> None:
        """Close, and report what still waits as failed."""
        if self.closed:
            return
        self.closed = True
        for task in self.tasks:
            if task is not asyncio.current_task():
                task.cancel()
        while not self.waiting.empty():
            _, failed = self.waiting.get_nowait()
            if failed:
                asyncio.get_running_loop().call_soon(failed)


class Connections(Generic[FrameT]):
    """All connections of a node.

    Parameters
    ----------
    format : Format
        How to read frames.
    handle : callable
        Called with each frame and the channel it came through.
    limits : Limits
    server_tls, client_tls : ssl.SSLContext, optional
        For connections accepted and opened (see `sub2sub.live.net.tls`); plain TCP without.

    Attributes
    ----------
    counts : Counter
        Frames and bytes in and out, connections opened, refused, failed, closed for slowness.
    """

    def __init__(
        self,
        format: Format[FrameT],
        handle: Callable[[FrameT, Channel], None],
        limits: Limits | None = None,
        server_tls: ssl.SSLContext | None = None,
        client_tls: ssl.SSLContext | None = None,
    ) -> None:
        self.format, self.handle, self.limits = format, handle, limits or Limits()
        self.server_tls, self.client_tls = server_tls, client_tls
        self.counts: Counter[str] = Counter()
        self._server: asyncio.Server | None = None
        self._incoming: set[Channel] = set()
        self._outgoing: OrderedDict[Address, Channel] = OrderedDict()
        self._failures: OrderedDict[Address, tuple[int, float]] = OrderedDict()

    async def listen(self, host: str, port: int) -> Address:
        """Accept connections; returns the address, with the port that was free if `port` is 0."""
        self._server = await asyncio.start_server(self._accept, host, port, ssl=self.server_tls)
        name = self._server.sockets[0].getsockname()
        return str(name[0]), int(name[1])

    async def close(self) -> None:
        """Close everything, and wait until it is."""
        if self._server:
            self._server.close()
        channels = [*self._incoming, *self._outgoing.values()]
        tasks = [task for channel in channels for task in channel.tasks]
        for channel in channels:
            channel.close()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._server:
            await self._server.wait_closed()

    def post(self, to: Address, data: bytes, failed: Callable[[], None]) -> None:
        """Send a frame; `failed` is called, later, if that is known not to have worked."""
        loop = asyncio.get_running_loop()
        channel = self._outgoing.get(to)
        if channel is None or channel.closed:
            if loop.time() < self._failures.get(to, (0, 0.0))[1]:
                loop.call_soon(failed)
                return
            channel = self._open(to)
        self._outgoing.move_to_end(to)
        if not channel.post(data, failed):
            self.counts["slow"] += 1
            loop.call_soon(failed)

    def _open(self, to: Address) -> Channel:
        channel = Channel(self.limits.queue, to)
        self._outgoing[to] = channel
        while len(self._outgoing) > self.limits.outgoing:
            _, oldest = self._outgoing.popitem(last=False)
            oldest.close()
        channel.tasks.append(asyncio.create_task(self._connect(channel, to)))
        return channel

    async def _connect(self, channel: Channel, to: Address) -> None:
        try:
            async with asyncio.timeout(self.limits.connect):
                name = to[0] if self.client_tls else None
                reader, writer = await asyncio.open_connection(*to, ssl=self.client_tls, server_hostname=name)
        except (OSError, TimeoutError, ssl.SSLError, ValueError):
            self._note_failure(to)
            self._forget(channel)
            return
        self._failures.pop(to, None)
        self.counts["opened"] += 1
        await self._serve(channel, reader, writer)

    def _note_failure(self, to: Address) -> None:
        self.counts["unreachable"] += 1
        times = self._failures.pop(to, (0, 0.0))[0] + 1
        pause = min(self.limits.back_off * 2 ** min(times - 1, 30), self.limits.most_back_off)
        self._failures[to] = times, asyncio.get_running_loop().time() + pause
        while len(self._failures) > self.limits.remembered:
            self._failures.popitem(last=False)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._incoming) >= self.limits.incoming:
            self.counts["refused"] += 1
            writer.transport.abort()
            return
        channel = Channel(self.limits.queue, None)
        self._incoming.add(channel)
        task = asyncio.current_task()
        if task:
            channel.tasks.append(task)
        with contextlib.suppress(asyncio.CancelledError):  # asyncio would print it as an error
            await self._serve(channel, reader, writer)

    async def _serve(
        self, channel: Channel, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Read and write until either ends."""
        sending = asyncio.create_task(self._send(channel, writer))
        channel.tasks.append(sending)
        try:
            await self._receive(channel, reader)
        except (OSError, EOFError, TimeoutError, ssl.SSLError):
            pass
        finally:
            sending.cancel()
            self._forget(channel)
            writer.transport.abort()

    async def _receive(self, channel: Channel, reader: asyncio.StreamReader) -> None:
        loop, limits = asyncio.get_running_loop(), self.limits
        allowed, then = float(limits.burst), loop.time()
        while True:
            async with asyncio.timeout(limits.idle):
                prefix = await reader.readexactly(PREFIX)
            try:
                size = self.format.size_of(prefix)
                async with asyncio.timeout(limits.frame):
                    frame = self.format.decode(await reader.readexactly(size))
            except ValueError as error:
                self.counts["malformed"] += 1
                LOG.info("closing a connection: %s", error)
                return
            self.counts["frames in"] += 1
            self.counts["bytes in"] += PREFIX + size
            self.handle(frame, channel)
            now = loop.time()
            allowed = min(limits.burst, allowed + (now - then) * limits.rate) - 1.0
            then = now
            if allowed < 0.0:
                await asyncio.sleep(-allowed / limits.rate)

    async def _send(self, channel: Channel, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, ssl.SSLError):
            while True:
                data, failed = await channel.waiting.get()
                try:
                    writer.write(data)
                    async with asyncio.timeout(self.limits.idle):
                        await writer.drain()
                except BaseException:
                    if failed:
                        asyncio.get_running_loop().call_soon(failed)
                    raise
                self.counts["frames out"] += 1
                self.counts["bytes out"] += len(data)
        channel.close()

    def _forget(self, channel: Channel) -> None:
        self._incoming.discard(channel)
        if channel.address and self._outgoing.get(channel.address) is channel:
            del self._outgoing[channel.address]
        channel.close()
