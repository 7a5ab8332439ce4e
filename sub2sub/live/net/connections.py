"""TCP connections of a node: bounded in number; silent, slow and misbehaving ones are closed.

A connection carries frames both ways; replies go back where their request came from. What one connection does
with its frames: `sub2sub.live.net.channel`. What goes out waits in a bounded queue; a reader too slow for it
loses the connection. A frame that is refused ends its connection. With TLS nobody without a certificate of
the swarm gets this far (`sub2sub.live.net.handshakes`).
"""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from sub2sub.live.net.channel import Address, Bucket, Channel
from sub2sub.live.net.frame_buffer import Unfinished
from sub2sub.live.net.handshakes import Handshakes
from sub2sub.live.wire.framing import Protocol
from sub2sub.live.wire.limits import Limits

__all__ = ["Address", "Channel", "Connections"]

LOOKS = 4  # at connections that may be overdue, within a limit


class Connections:
    """All connections of a node.

    Parameters
    ----------
    format : Protocol
        How frames are read.
    handle : callable
        Called with each frame and the channel it came through.
    limits : Limits
    server_tls, client_tls : ssl.SSLContext, optional
        For connections accepted and opened (see `sub2sub.live.net.tls`); plain TCP without.

    Attributes
    ----------
    counts : Counter
        Frames and bytes in and out, connections opened, closed for room, failed, closed for slowness.
    unfinished : Unfinished
        Large frames that have begun to arrive.
    """

    def __init__(
        self,
        format: Protocol,
        handle: Callable[[Any, Channel], None],
        limits: Limits | None = None,
        server_tls: ssl.SSLContext | None = None,
        client_tls: ssl.SSLContext | None = None,
    ) -> None:
        self.format, self.handle, self.limits = format, handle, limits or Limits()
        self.server_tls, self.client_tls = server_tls, client_tls
        self.counts: Counter[str] = Counter()
        self.unfinished = Unfinished(self.limits.unfinished)
        self._server: asyncio.Server | Handshakes | None = None
        self._looking: asyncio.TimerHandle | None = None
        self._dials = Bucket(self.limits.dials, self.limits.dials_at_once, now=0.0)
        self._incoming: dict[Channel, None] = {}
        self._hosts: Counter[str] = Counter()  # how many incoming connections come from each
        self._outgoing: OrderedDict[Address, Channel] = OrderedDict()
        self._failures: OrderedDict[Address, tuple[int, float]] = OrderedDict()

    @property
    def open(self) -> int:
        """Connections at the moment."""
        return len(self._incoming) + len(self._outgoing)

    def channels(self) -> list[Channel]:
        """Return all connections."""
        return [*self._incoming, *self._outgoing.values()]

    async def listen(self, host: str, port: int) -> Address:
        """Accept connections; return the address, with the port that was free if `port` is 0."""
        self.look_within(self.limits.idle)
        if self.server_tls:
            self._server = Handshakes(self.server_tls, lambda: Channel(self), self.limits, self.counts)
            return await self._server.listen(host, port)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Channel(self), host, port, backlog=self.limits.incoming
        )
        name = self._server.sockets[0].getsockname()
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

    def post(self, to: Address, data: bytes, failed: Callable[[], None], again: bool = False) -> None:
        """Send a frame; `failed` is called, later, if that is known not to have worked.

        With `again` it is sent once more if its connection ends soon after.
        """
        loop = asyncio.get_running_loop()
        channel = self._outgoing.get(to)
        if channel is None:
            pause = None if self.backs_off(to) else self._pause_before_dial(loop.time())
            if pause is None:
                loop.call_soon(failed)
                return
            channel = self._open(to, pause)
        self._outgoing.move_to_end(to)
        if not channel.post(data, failed, again):
            self.counts["slow"] += 1
            loop.call_soon(failed)

    def made(self, channel: Channel) -> None:
        """Note that a connection is there.

        Where there are too many, the incoming one that was silent for longest makes room.
        """
        if channel.address:
            return
        if len(self._incoming) >= self.limits.incoming:
            self.counts["closed for room"] += 1
            min(self._incoming, key=lambda each: each.heard).close()
        self._incoming[channel] = None
        self._hosts[channel.host] += 1

    def lost(self, channel: Channel) -> None:
        """Note that a connection has ended."""
        if channel in self._incoming:
            del self._incoming[channel]
            self._hosts[channel.host] -= 1
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

    def try_again(self, to: Address) -> None:
        """Let an address be tried at once, whatever failed before: somebody waits for its answer."""
        self._failures.pop(to, None)

    def backs_off(self, to: Address) -> bool:
        """Whether an address is not to be tried again yet.

        One whose host is connected to this node now is there, and can be reached again after a partition.
        """
        if to not in self._failures:
            return False
        times, last = self._failures[to]
        times = 1 if self._hosts[to[0]] else times
        pause: float = self.limits.back_off * 2 ** min(times - 1, 30)
        return asyncio.get_running_loop().time() < last + min(pause, self.limits.most_back_off)

    def _pause_before_dial(self, now: float) -> float | None:
        """Return the seconds to wait before a further connection is opened, None if these are too many."""
        pause = self._dials.charge(1.0, now)
        if pause <= self.limits.connect:
            return pause
        self._dials.charge(-1.0, now)  # nothing is held against the address
        self.counts["not dialled"] += 1
        return None

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

    def _note_failure(self, to: Address) -> None:
        self.counts["unreachable"] += 1
        times = self._failures.pop(to, (0, 0.0))[0] + 1
        self._failures[to] = times, asyncio.get_running_loop().time()
        while len(self._failures) > self.limits.remembered:
            self._failures.popitem(last=False)

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
