"""TCP connections of a node: few, bounded, and given up on those that are silent, slow or rude.

A connection carries frames both ways; replies go back where their request came from. Frames of one connection
are handled one after the other, and the next is read when the last has been handled and everybody else had a
turn: a sender that is faster than that waits in its own buffers. A sender pays for frames, for bytes, and
together with all others at its address for the processor time that handling them takes; overdrawn, it is read
more slowly. What goes out waits in a bounded queue; a reader too slow for it loses the connection. A frame
that is refused ends its connection.

Connections are counted from the first byte on, TLS handshakes included: all together, by address, and those
of strangers, who may not take the places kept for peers the node knows. Only so many connections are opened
in a second, whoever names the addresses; names of hosts are looked up only for addresses that the user has
given, or under TLS, where whoever names them has a certificate.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import ssl
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from sub2sub.live.net.budgets import Bucket, Buckets
from sub2sub.live.net.channel import Address, Channel
from sub2sub.live.wire.limits import Limits

__all__ = ["Address", "Channel", "Connections", "Format"]

PREFIX = 4
SMALL = 1 << 16  # bytes of a frame that is not counted as unfinished
LOG = logging.getLogger(__name__)
FrameT = TypeVar("FrameT")
ReadT = TypeVar("ReadT", covariant=True)


class Format(Protocol[ReadT]):
    """How frames are read: `sub2sub.live.wire.format`, or another protocol's."""

    def size_of(self, prefix: bytes) -> int:
        """The length a prefix announces; raises a ValueError when it is out of range."""
        ...

    def decode(self, body: bytes) -> ReadT:
        """The frame in a body; raises a ValueError if the body holds no valid frame."""
        ...


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
    given : set of str
        Hosts that the user has named; these may be names.
    is_known : callable
        Whether peers at a host are known; for them some connections are kept free.
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
        self.given: set[str] = set()
        self.is_known: Callable[[str], bool] = lambda host: False
        self._server: asyncio.Server | None = None
        self._dials: Bucket | None = None
        self._processor = Buckets(self.limits.processor, self.limits.processor, self.limits.remembered)
        self._unfinished = 0
        self._incoming: dict[Channel, None] = {}
        self._outgoing: OrderedDict[Address, Channel] = OrderedDict()
        self._failures: OrderedDict[Address, tuple[int, float]] = OrderedDict()

    async def listen(self, host: str, port: int) -> Address:
        """Accept connections; returns the address, with the port that was free if `port` is 0."""
        self._server = await asyncio.start_server(self._accept, host, port)
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
        channel = Channel(self.limits, to, to[0])
        self._outgoing[to] = channel
        while len(self._outgoing) > self.limits.outgoing:
            _, oldest = self._outgoing.popitem(last=False)
            oldest.close()
        channel.tasks.append(asyncio.create_task(self._connect(channel, to)))
        return channel

    async def _connect(self, channel: Channel, to: Address) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self.limits.connect):
                if not (self.client_tls or to[0] in self.given or _is_numeric(to[0])):
                    raise ValueError(f"{to[0]} is not an address")
                self._dials = self._dials or Bucket(self.limits.dials, self.limits.dials_at_once, loop.time())
                await asyncio.sleep(self._dials.charge(1.0, loop.time()))
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
        host = (writer.get_extra_info("peername") or ("", 0))[0]
        if not self._may_enter(host):
            self.counts["refused"] += 1
            writer.transport.abort()
            return
        channel = Channel(self.limits, None, host)
        self._incoming[channel] = None
        task = asyncio.current_task()
        if task:
            channel.tasks.append(task)
        with contextlib.suppress(asyncio.CancelledError):  # asyncio would print it as an error
            try:
                if self.server_tls:
                    await writer.start_tls(self.server_tls, ssl_handshake_timeout=self.limits.handshake)
            except (OSError, ssl.SSLError):
                self.counts["handshakes failed"] += 1
                self._forget(channel)
                writer.transport.abort()
                return
            await self._serve(channel, reader, writer)

    def _may_enter(self, host: str) -> bool:
        """Whether there is room for one more from a host."""
        limits = self.limits
        room = limits.incoming - (0 if self.is_known(host) else min(limits.reserved, limits.incoming // 2))
        if len(self._incoming) >= room:
            return False
        return sum(each.host == host for each in self._incoming) < limits.per_address

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
        frames = Bucket(limits.rate, limits.burst, loop.time())
        traffic = Bucket(limits.byte_rate, limits.byte_burst, loop.time())
        while True:
            async with asyncio.timeout(limits.idle):
                prefix = await reader.readexactly(PREFIX)
            try:
                body = await self._body(reader, self.format.size_of(prefix))
                began = loop.time()
                frame = self.format.decode(body)
            except ValueError as error:
                self.counts["malformed"] += 1
                LOG.info("closing a connection: %s", error)
                return
            self.counts["frames in"] += 1
            self.counts["bytes in"] += PREFIX + len(body)
            self.handle(frame, channel)
            now = loop.time()
            await asyncio.sleep(
                max(
                    frames.charge(1.0, now),
                    traffic.charge(len(body), now),
                    self._processor.charge(channel.host, now - began, now),
                )
            )

    async def _body(self, reader: asyncio.StreamReader, size: int) -> bytes:
        """The bytes of a frame; of large ones only so many are waited for at once."""
        held = size if size > SMALL else 0
        if self._unfinished + held > self.limits.unfinished:
            raise ValueError(f"{self._unfinished} bytes of unfinished frames are held already")
        self._unfinished += held
        try:
            async with asyncio.timeout(self.limits.frame):
                return await reader.readexactly(size)
        finally:
            self._unfinished -= held

    async def _send(self, channel: Channel, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, ssl.SSLError):
            while True:
                data, frames, told = await channel.take()
                try:
                    writer.write(data)
                    async with asyncio.timeout(self.limits.idle):
                        await writer.drain()
                except BaseException:
                    for failed in told:
                        asyncio.get_running_loop().call_soon(failed)
                    raise
                self.counts["frames out"] += frames
                self.counts["bytes out"] += len(data)
        channel.close()

    def _forget(self, channel: Channel) -> None:
        self._incoming.pop(channel, None)
        if channel.address and self._outgoing.get(channel.address) is channel:
            del self._outgoing[channel.address]
        channel.close()


def _is_numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
