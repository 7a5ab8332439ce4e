"""TCP connections of a node: bounded in number; silent, slow and misbehaving ones are closed.

A connection carries frames both ways; replies go back where their request came from. What one connection does
with its frames: `sub2sub.live.net.channel`. A sender pays for frames, for bytes, and together with all others
at its address for the processor time that handling them takes; overdrawn, it is read more slowly. What goes
out waits in a bounded queue; a reader too slow for it loses the connection. A frame that is refused ends its
connection.

Connections are counted from the first byte on, TLS handshakes included: all together, by address, and those
of strangers, which may not take the places kept for peers the node knows. How fast connections are opened:
`sub2sub.live.net.dials`. Names of hosts are looked up only for addresses that the user has given, or under
TLS, where the teller has a certificate.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from asyncio.sslproto import SSLProtocol
from collections import Counter, OrderedDict
from collections.abc import Callable
from math import inf
from typing import Any

from sub2sub.live.core.host_addresses import host_of, is_loopback, is_numeric
from sub2sub.live.net.budgets import Buckets
from sub2sub.live.net.channel import Address, Channel, Reader
from sub2sub.live.net.dials import Dials
from sub2sub.live.net.lines import Lines
from sub2sub.live.net.unfinished import UnfinishedFrames
from sub2sub.live.wire.limits import Limits

__all__ = ["Address", "Channel", "Connections"]

SPACE = 1 << 16  # bytes read at once
AT_ONCE = 0.05  # seconds of processor of a host's frames before its connections stand in line
HANDSHAKE = 0.004  # seconds of processor that a TLS handshake takes
STRANGE_HANDSHAKES = 2.0  # that fail, per second, of a host that the node does not know
STRANGERS = ""  # the account of all hosts that the node does not know, for handshakes
LOOKS = 4  # at connections that may be overdue, within a limit
OTHER_FILES = 64  # descriptors of a process that are no connections


def open_files() -> int:
    """Descriptors that the process may have, where that is known."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 1 << 16
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1 << 16 if most == resource.RLIM_INFINITY else most


class Handshake(SSLProtocol):
    """TLS over a connection that was accepted, with less memory for each: strangers may have many."""

    max_size = 1 << 14  # bytes, as of a TLS record; 2^18 by default


class Connections:
    """All connections of a node.

    Parameters
    ----------
    format : Reader
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
    dials : Dials
        How fast connections are opened.
    given : set of str
        Hosts that the user has named; these may be names.
    is_known : callable
        Whether peers at a host are known; for them some connections are kept free.
    lines : Lines
        Where connections of hosts that are overdrawn wait.
    space : memoryview
        Where what arrives is put first.
    unfinished : UnfinishedFrames
        Large frames that have begun to arrive.
    """

    def __init__(
        self,
        format: Reader,
        handle: Callable[[Any, Channel], None],
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
        self.unfinished = UnfinishedFrames(self.limits.unfinished)
        # A precise clock of the processor would itself cost as much as a frame; under virtual time nothing
        # takes any time.
        self.spent: Callable[[], float] = time.perf_counter
        self._server: asyncio.Server | None = None
        self._looking: asyncio.TimerHandle | None = None
        limits = self.limits
        self.dials = Dials(limits, self.given)
        self._handshakes = Buckets(STRANGE_HANDSHAKES, 8 * STRANGE_HANDSHAKES, limits.remembered)
        self._processor = Buckets(limits.processor, limits.processor, limits.remembered)
        self._bytes = Buckets(limits.byte_rate, limits.byte_burst, limits.remembered)
        self._at_once = min(AT_ONCE, limits.processor)
        self.lines = Lines(self._owed, self._is_dear)
        self._incoming: dict[Channel, None] = {}
        self._most_incoming = limits.incoming
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
        descriptors = open_files() - self.limits.outgoing_at_once - OTHER_FILES
        self._most_incoming = max(min(self.limits.incoming, descriptors), 2)
        self._server = await loop.create_server(
            lambda: Channel(self), host, port, backlog=self.limits.incoming
        )
        name = self._server.sockets[0].getsockname()
        self.look_within(self.limits.idle)
        return str(name[0]), int(name[1])

    async def flush(self, seconds: float) -> None:
        """Wait for connections that are being opened with something to send, but not for long."""
        opening = [each.task for each in self._outgoing.values() if each.task and each.waiting]
        if opening:
            await asyncio.wait(opening, timeout=seconds)

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

    def post(
        self, to: Address, data: bytes, failed: Callable[[], None], teller: str = "", unanswered: bool = False
    ) -> None:
        """Send a frame; `failed` is called, later, if that is known not to have worked.

        `teller` is the host whose message is the cause, if one is. Of a frame that is `unanswered`, `failed`
        is also called if its connection ends before anything has come back.
        """
        loop = asyncio.get_running_loop()
        channel = self._outgoing.get(to)
        if channel is None:
            if self.backs_off(to):
                loop.call_soon(failed)
                return
            # What messages tell takes no place of a connection whose answer is on its way.
            is_full = len(self._outgoing) >= self.limits.outgoing_at_once
            is_barred = is_full and teller and to not in self.dials.answered
            pause = inf if is_barred else self.dials.pause_before(to, teller, loop.time())
            if pause > self.limits.connect:  # nothing is held against the address
                self.counts["not dialled"] += 1
                loop.call_soon(failed)
                return
            channel = self._open(to, pause)
        self._outgoing.move_to_end(to)
        if not channel.post(data, failed, unanswered):
            self.counts["slow"] += 1
            loop.call_soon(failed)

    def charge(self, host: str, seconds: float, size: int, now: float) -> float:
        """Charge a host processor time and bytes; returns for how many seconds it is overdrawn."""
        return max(self._processor.charge(host, seconds, now), self._bytes.charge(host, size, now))

    def _owed(self, host: str) -> float:
        return self.charge(host, 0.0, 0, asyncio.get_running_loop().time())

    def _is_dear(self, host: str) -> bool:
        now = asyncio.get_running_loop().time()
        return self._processor.spent(host, now) > self._at_once or self._bytes.charge(host, 0.0, now) > 0.0

    def made(self, channel: Channel) -> bool:
        """Note that a connection is there; whether it may stay."""
        transport, now = channel.transport, asyncio.get_running_loop().time()
        if channel.address:
            channel.begin(transport)
            return True
        is_strange = self.server_tls is not None and not self.is_known(channel.host)
        payers = [channel.host, STRANGERS] if is_strange else [channel.host]
        pause = max(self.charge(each, 0.0, 0, now) for each in payers) if self.server_tls else 0.0
        if is_strange:
            pause = max(pause, self._handshakes.charge(channel.host, 1.0, now))
        if pause > self.limits.handshake or not self._admits(channel.host):
            self._handshakes.charge(channel.host, -float(is_strange), now)
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
            self.dials.note_answer(channel.address)
        if channel.address and self._outgoing.get(channel.address) is channel:
            del self._outgoing[channel.address]

    def look_within(self, limit: float) -> None:
        """Look for connections that are overdue a few times within a limit, if not sooner."""
        loop = asyncio.get_running_loop()
        when = loop.time() + limit / LOOKS
        if self._looking is None or when < self._looking.when():
            if self._looking:
                self._looking.cancel()
            self._looking = loop.call_at(when, self._look)

    def _open(self, to: Address, pause: float) -> Channel:
        channel = Channel(self, to)
        self._outgoing[to] = channel
        self._make_room(channel)
        channel.task = asyncio.create_task(self._connect(channel, to, pause))
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
        if len(self._outgoing) > self.limits.outgoing:
            self.look_within(self.limits.answer)

    async def _connect(self, channel: Channel, to: Address, pause: float) -> None:
        loop = asyncio.get_running_loop()
        name = to[0] if self.client_tls else None
        deadline = loop.call_later(pause + self.limits.connect, self._give_up, channel)
        try:
            if not (self.client_tls or to[0] in self.given or is_numeric(to[0])):
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
            handshake = Handshake(
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
        self._handshakes.charge(channel.host, -1.0, loop.time())
        channel.begin(secure)

    def _note_failure(self, to: Address) -> None:
        self.counts["unreachable"] += 1
        times = self._failures.pop(to, (0, 0.0))[0] + 1
        self._failures[to] = times, asyncio.get_running_loop().time()
        while len(self._failures) > self.limits.remembered:
            self._failures.popitem(last=False)

    def relent(self, to: Address) -> None:
        """Shorten the back-off from an address: somebody waits for an answer from there.

        Otherwise, after a partition, it would keep a publisher from the only subscriber.
        """
        if to in self._failures:
            self._failures[to] = 1, self._failures[to][1]

    def backs_off(self, to: Address) -> bool:
        """Whether an address is not to be tried again yet.

        One whose host is connected to this node now is there, and can be reached again after a partition.
        """
        if to not in self._failures:
            return False
        (times, last), limits = self._failures[to], self.limits
        now = asyncio.get_running_loop().time()
        if host_of(to[0]) in self._from and not is_loopback(to[0]):
            times = 1
        pause: float = limits.back_off * 2 ** min(times - 1, 30)
        return now < last + min(pause, limits.most_back_off)

    def _admits(self, host: str) -> bool:
        """Whether there is room for one more; if need be, the host with most connections makes room."""
        limits, known = self.limits, self.is_known(host)
        if self._from[host] >= limits.per_address:
            return False
        most = self._most_incoming
        room = most - (0 if known else min(limits.reserved, most // 2))
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
        now, limits = asyncio.get_running_loop().time(), self.limits
        channels = [*self._incoming, *self._outgoing.values()]
        for channel in channels:
            if channel.is_overdue(now):
                channel.close()
        self._looking = None
        self.look_within(limits.frame if any(channel.begun for channel in channels) else limits.idle)
        self._make_room()
