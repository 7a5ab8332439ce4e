"""TLS connections are accepted here: a handshake that does not end costs little and keeps nobody out.

Strangers end here: whoever shows no certificate of the swarm's authority, before any byte is parsed that is
not TLS. A stranger may begin many handshakes and end none. Of those that are under way, only so many are kept
(`Limits.handshakes`): with one more, the oldest is given up, which has had more time than a member needs. All
this is asyncio's public interface: a socket is accepted, and `connect_accepted_socket` does the rest.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import Callable

from sub2sub.live.wire.limits import Limits

PAUSE = 0.05  # seconds without accepting, where the process has no descriptor left


class Handshakes:
    """A listening socket, and the handshakes that were begun there.

    Parameters
    ----------
    context : ssl.SSLContext
        May be exchanged while it listens: later handshakes use the new one.
    new_channel : callable
        Returns the protocol of a connection whose handshake is complete.
    limits : Limits
    counts : Counter
        Counts handshakes that failed.
    """

    def __init__(
        self,
        context: ssl.SSLContext,
        new_channel: Callable[[], asyncio.BaseProtocol],
        limits: Limits,
        counts: Counter[str],
    ) -> None:
        self.context, self.new_channel, self.limits, self.counts = context, new_channel, limits, counts
        self._under_way: dict[asyncio.Task[None], None] = {}  # the oldest first
        self._socket: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None

    async def listen(self, host: str, port: int) -> tuple[str, int]:
        """Accept connections; return the address, with the port that was free if `port` is 0."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, address = found[0][0], found[0][4]
        self._socket = socket.create_server(address, family=family, backlog=self.limits.incoming)
        self._socket.setblocking(False)
        self._accepting = asyncio.create_task(self._accept(self._socket))
        name = self._socket.getsockname()
        return str(name[0]), int(name[1])

    def close(self) -> None:
        """Accept nothing more, and give up the handshakes that are under way."""
        for task in self._tasks():
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until all of that is over."""
        await asyncio.gather(*self._tasks(), return_exceptions=True)
        if self._socket:
            self._socket.close()

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [*self._under_way, *([self._accepting] if self._accepting else [])]

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError:
                await asyncio.sleep(PAUSE)
                continue
            if len(self._under_way) >= self.limits.handshakes:
                oldest = next(iter(self._under_way))
                del self._under_way[oldest]
                self.counts["handshakes failed"] += oldest.cancel()  # unless it has failed just now
            task = asyncio.create_task(self._shake_hands(connection))
            self._under_way[task] = None
            task.add_done_callback(lambda done: self._under_way.pop(done, None))
            await asyncio.sleep(0)  # members have a turn between two strangers

    async def _shake_hands(self, connection: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self.new_channel, connection, ssl=self.context, ssl_handshake_timeout=self.limits.handshake
            )
        except (OSError, ssl.SSLError):
            self.counts["handshakes failed"] += 1
