"""TCP connections of a node: bounded in number; silent, slow and misbehaving ones are closed.

A connection carries frames both ways; replies go back where their request came from. What one connection does
with its frames: `sub2sub.live.net.channel`. A sender pays for frames, for bytes, and together with all others
at its address for the processor time that handling them takes; overdrawn, it is read more slowly. What goes
out waits in a bounded queue; a reader too slow for it loses the connection. A frame that is refused ends its
connection.

Connections are counted from the first byte on, TLS handshakes included: all together, by address, and those
of strangers, who may not take the places kept for peers the node knows. Only so many connections are opened
in a second, whoever names the addresses; names of hosts are looked up only for addresses that the user has
given, or under TLS, where whoever names them has a certificate.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
import time
from asyncio.sslproto import SSLProtocol
from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Generic, Protocol, TypeVar

from sub2sub.live.net.budgets import Buckets
from sub2sub.live.net.channel import Address, Channel
from sub2sub.live.wire.limits import Limits

__all__ = ["Address", "Channel", "Connections", "Format"]

SPACE = 1 << 16  # bytes read at once
HANDSHAKE = 0.004  # seconds of processor that a TLS handshake takes
STRANGERS = ""  # to whom handshakes of hosts that nobody knows are charged
LOOKS = 4  # at connections that may be overdue, within the shortest limit
FrameT = TypeVar("FrameT")
ReadT = TypeVar("ReadT", covariant=True)


class Format(Protocol[ReadT]):
    """How frames are read: `sub2sub.live.wire.format`, or another protocol's."""

    def size_of(self, prefix: bytes) -> int:
        """The length a prefix announces; raises a ValueError when it is out of range."""

    def decode(self, body: bytes) -> ReadT:
        """The frame in a body; raises a ValueError if the body holds no valid frame."""


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
    space : memoryview
        Where what arrives is put first.
    unfinished : int
        Bytes of large frames that have begun to arrive.
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
        self.space = memoryview(bytearray(SPACE))
        self.unfinished = 0
        # A precise clock of the processor would itself cost as much as a frame; under virtual time nothing
        # takes any time.
        self.spent: Callable[[], float] = time.perf_counter
        self._server: asyncio.Server | None = None
        self._looking: asyncio.TimerHandle | None = None
        limits = self.limits
        self._dials = Buckets(limits.dials, limits.dials_at_once, 2)
        self._answered: OrderedDict[Address, None] = OrderedDict()
        self._processor = Buckets(limits.processor, limits.processor, limits.remembered)
        self._bytes = Buckets(limits.byte_rate, limits.byte_burst, limits.remembered)
        self._incoming: dict[Channel, None] = {}
        self._from: Counter[str] = Counter()
        self._outgoing: OrderedDict[Address, Channel] = OrderedDict()
        self._failures: OrderedDict[Address, tuple[int, float]] = OrderedDict()

    @property
    def open(self) -> int:
        """Connections at the moment."""
        return len(self._incoming) + len(self._outgoing)

    async def listen(self, host: str, port: int) -> Address:
        """Accept connections; returns the address, with the port that was free if `port` is 0."""
        loop = asyncio.get_running_loop()
        self.spent = getattr(loop, "spent", time.perf_counter)
        self._server = await loop.create_server(
            lambda: Channel(self), host, port, backlog=self.limits.incoming
        )
        name = self._server.sockets[0].getsockname()
        self._look()
        return str(name[0]), int(name[1])

    async def close(self) -> None:
        """Close everything, and wait until it is."""
        if self._server:
            self._server.close()
        if self._looking:
            self._looking.cancel()
        channels = [*self._incoming, *self._outgoing.values()]
        for channel in channels:
            channel.close()
        await asyncio.gather(*(each.task for each in channels if each.task), return_exceptions=True)
        await asyncio.sleep(0)  # until sockets are closed, too
        if self._server:
            await self._server.wait_closed()

    def post(self, to: Address, data: bytes, failed: Callable[[], None]) -> None:
        """Send a frame; `failed` is called, later, if that is known not to have worked."""
        loop = asyncio.get_running_loop()
        channel = self._outgoing.get(to)
        if channel is None:
            if loop.time() < self._failures.get(to, (0, 0.0))[1]:
                loop.call_soon(failed)
                return
            channel = self._open(to)
        self._outgoing.move_to_end(to)
        if not channel.post(data, failed):
            self.counts["slow"] += 1
            loop.call_soon(failed)

    def receive(self, frame: FrameT, channel: Channel) -> None:
        """Handle a frame."""
        self.handle(frame, channel)

    def charge(self, host: str, seconds: float, size: int, now: float) -> float:
        """Charge a host processor time and bytes; returns for how many seconds it is overdrawn."""
        return max(self._processor.charge(host, seconds, now), self._bytes.charge(host, size, now))

    def made(self, channel: Channel) -> bool:
        """Note that a connection is there; whether it may stay."""
        transport, now = channel.transport, asyncio.get_running_loop().time()
        if channel.address:
            channel.begin(transport)
            return True
        payers = [channel.host] if self.is_known(channel.host) else [channel.host, STRANGERS]
        pause = max(self.charge(each, 0.0, 0, now) for each in payers) if self.server_tls else 0.0
        if pause > self.limits.handshake or not self._admits(channel.host):
            self.counts["refused"] += 1
            return False
        self._incoming[channel] = None
        self._from[channel.host] += 1
        if self.server_tls:
            transport.pause_reading()
            for each in payers:
                self.charge(each, HANDSHAKE, 0, now)
            channel.task = asyncio.create_task(self._handshake(channel, transport, self.server_tls, pause))
        else:
            channel.begin(transport)
        return True

    def lost(self, channel: Channel) -> None:
        """Note that a connection has ended."""
        if channel in self._incoming:
            del self._incoming[channel]
            self._from[channel.host] -= 1
            if not self._from[channel.host]:
                del self._from[channel.host]
        if channel.address and channel.has_answered:
            self._answered[channel.address] = None
            if len(self._answered) > self.limits.remembered:
                self._answered.popitem(last=False)
        if channel.address and self._outgoing.get(channel.address) is channel:
            del self._outgoing[channel.address]

    def _open(self, to: Address) -> Channel:
        channel = Channel(self, to)
        self._outgoing[to] = channel
        self._make_room(channel)
        channel.task = asyncio.create_task(self._connect(channel, to))
        return channel

    def _make_room(self, new: Channel | None = None) -> None:
        """Close the connections beyond the limit that were used least, but none whose answer is on its way.

        A peer turns to its ring neighbours again and again, and to others once; by the time of their last use
        neighbours would be closed just before they are needed.
        """
        excess = len(self._outgoing) - self.limits.outgoing
        if excess <= 0:
            return
        now = asyncio.get_running_loop().time()
        others = [channel for channel in self._outgoing.values() if channel is not new]
        idle = sorted((each for each in others if not each.awaits(now)), key=lambda each: each.sent)
        must = len(self._outgoing) - self.limits.outgoing_at_once
        for channel in idle[:excess] if must <= len(idle) else others[:must]:
            channel.close()

    async def _connect(self, channel: Channel, to: Address) -> None:
        loop = asyncio.get_running_loop()
        # Whatever others invent must not keep a node from those that it has talked to.
        asked = "known" if to in self._answered else "unknown"
        pause = self._dials.charge(asked, 1.0, loop.time())
        if pause > self.limits.connect:  # nothing is held against the address
            self._dials.charge(asked, -1.0, loop.time())
            self.counts["not dialled"] += 1
            channel.close()
            return
        name = to[0] if self.client_tls else None
        deadline = loop.call_later(pause + self.limits.connect, self._give_up, channel)
        try:
            if not (self.client_tls or to[0] in self.given or _is_numeric(to[0])):
                raise ValueError(f"{to[0]} is not an address")
            if pause:
                await asyncio.sleep(pause)
            await loop.create_connection(lambda: channel, *to, ssl=self.client_tls, server_hostname=name)
        except (OSError, ssl.SSLError, ValueError):
            self._give_up(channel)
            return
        finally:
            deadline.cancel()
        self._failures.pop(to, None)
        self.counts["opened"] += 1

    def _give_up(self, channel: Channel) -> None:
        """Note that a connection could not be opened."""
        if channel.address and not channel.closed:
            self._note_failure(channel.address)
            channel.close()

    async def _handshake(
        self, channel: Channel, transport: asyncio.Transport, context: ssl.SSLContext, pause: float
    ) -> None:
        loop = asyncio.get_running_loop()
        try:
            if pause:
                await asyncio.sleep(pause)
            # Not `start_tls`: on uvloop the first bytes may have come already, and would be lost.
            done: asyncio.Future[None] = loop.create_future()
            handshake = SSLProtocol(
                loop, channel, context, done, True, call_connection_made=False,
                ssl_handshake_timeout=self.limits.handshake,  # type: ignore[arg-type]
            )  # fmt: skip
            transport.set_protocol(handshake)
            handshake.connection_made(transport)
            channel.hand_over(handshake)
            transport.resume_reading()
            await done
            secure = handshake._app_transport
            if secure is None or channel.closed:
                raise ConnectionResetError("the other end is gone")
        except (OSError, ssl.SSLError):
            self.counts["handshakes failed"] += 1
            channel.close()
            return
        channel.begin(secure)

    def _note_failure(self, to: Address) -> None:
        self.counts["unreachable"] += 1
        times = self._failures.pop(to, (0, 0.0))[0] + 1
        pause = min(self.limits.back_off * 2 ** min(times - 1, 30), self.limits.most_back_off)
        self._failures[to] = times, asyncio.get_running_loop().time() + pause
        while len(self._failures) > self.limits.remembered:
            self._failures.popitem(last=False)

    def _admits(self, host: str) -> bool:
        """Whether there is room for one more from a host; if need be, who has more than others makes room."""
        limits, known = self.limits, self.is_known(host)
        if self._from[host] >= limits.per_address:
            return False
        room = limits.incoming - (0 if known else min(limits.reserved, limits.incoming // 2))
        if len(self._incoming) < room:
            return True
        others = [each for each in self._from if known or not self.is_known(each)]
        crowded = max(others, key=self._from.__getitem__, default=host)
        if self._from[crowded] <= self._from[host] + 1:
            return False
        next(each for each in self._incoming if each.host == crowded).close()
        return True

    def _look(self) -> None:
        """Close connections that are silent, stuck, or in the middle of a frame for too long."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for channel in [*self._incoming, *self._outgoing.values()]:
            if channel.is_overdue(now):
                channel.close()
        self._make_room()
        self._looking = loop.call_later(min(self.limits.idle, self.limits.frame) / LOOKS, self._look)


@lru_cache(1024)
def _is_numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
