"""Connections of the simulated network, as asyncio's transports.

The bytes of one `write` arrive together or not at all. With `loss`, `duplicated` and `overtaking` the network
is harsher than TCP, where bytes would only be late. A reader that does not read holds its writer back, as in
TCP.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sub2sub.live.virtual.machine import Machine

if TYPE_CHECKING:
    from sub2sub.live.virtual.conditions import Network

WINDOW = 1 << 18  # bytes under way or unread, beyond which a writer has to wait


class End(asyncio.Transport):
    """One end of a connection."""

    def __init__(self, network: Network, machine: Machine, here: tuple[str, int], there: tuple[str, int]):
        super().__init__({"peername": there, "sockname": here})
        self.network, self.machine, self.here, self.there = network, machine, here, there
        self.name = repr((here, there)).encode()  # in the network's digest
        self.other: End
        self.protocol: Any = None
        self.last_arrival = 0.0
        self._closing = self._lost = self._ended = False
        self._reading_paused = self._writing_paused = False
        self._arrived: deque[bytes | None] = deque()
        self._unread = 0

    def begin(self, protocol: asyncio.Protocol) -> None:
        """Attach a protocol."""
        self.protocol = protocol
        self.machine.ends[self] = None
        protocol.connection_made(self)
        self._call(self._read)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send some bytes."""
        if self._closing or self._lost:
            return
        self._unread += len(data)
        self.network.carry(self, bytes(data))
        if self._unread > WINDOW and not self._writing_paused:
            self._writing_paused = True
            self.protocol.pause_writing()

    def arrive(self, data: bytes | None) -> None:
        """Take bytes that arrive; None is the end of the stream."""
        if self._lost or self.machine.crashed:
            self.other.credit(data)
            if not self.machine.silent:
                self.other.reset()
            return
        if self._ended:
            self.other.credit(data)
            return  # overtaken by the end
        self._ended = data is None
        self._arrived.append(data)
        self._call(self._read)

    def credit(self, data: bytes | None) -> None:
        """Note that bytes were read by the other end, or lost."""
        self._unread -= len(data or b"")
        if self._writing_paused and self._unread <= WINDOW // 2:
            self._writing_paused = False
            self._call(self._resume_writing)

    def reset(self) -> None:
        """Lose the connection."""
        self._call(self._lose, ConnectionResetError("reset by the other end"))

    def die(self, silent: bool) -> None:
        """End when the machine crashes."""
        self._lost = True
        self.machine.ends.pop(self, None)
        if not silent:
            self.network.say_end(self)

    def close(self) -> None:
        """Close; bytes that were written still arrive."""
        if not self._closing:
            self._closing = True
            self.network.say_end(self)
            self._call(self._lose, None)

    def abort(self) -> None:
        """Close at once."""
        self.close()

    def is_closing(self) -> bool:
        """Whether it is closed or about to be."""
        return self._closing or self._lost

    def pause_reading(self) -> None:
        """Stop reading."""
        self._reading_paused = True

    def resume_reading(self) -> None:
        """Resume reading."""
        self._reading_paused = False
        self._call(self._read)

    def _call(self, callback: Callable[..., None], *arguments: Any) -> None:
        self.network.loop.call_soon(callback, *arguments, context=self.machine.context)

    def _read(self) -> None:
        while self._arrived and self.protocol and not self._reading_paused and not self._lost:
            data = self._arrived.popleft()
            if data is None:
                if not self.protocol.eof_received():
                    self.close()
            else:
                self.other.credit(data)
                self.protocol.data_received(data)

    def _resume_writing(self) -> None:
        if not self._lost:
            self.protocol.resume_writing()

    def _lose(self, error: Exception | None) -> None:
        if not self._lost:
            self._lost = self._closing = True
            self.machine.ends.pop(self, None)
            for data in self._arrived:
                self.other.credit(data)
            if self.protocol:
                self.protocol.connection_lost(error)
