"""One connection as its user sees it: something to post frames to, bounded in frames and in bytes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from sub2sub.live.wire.limits import Limits

__all__ = ["Address", "Channel"]

Address = tuple[str, int]
Failed = Callable[[], None] | None
TOGETHER = 1 << 16  # bytes written at once


class Channel:
    """A connection's outgoing queue.

    Attributes
    ----------
    address : (host, port) or None
        Where it leads, if it was opened from here.
    host : str
        The other end's.
    waiting : deque
        Frames to be sent, each with what to call if it cannot be.
    held : int
        Bytes of them.
    """

    def __init__(self, limits: Limits, outgoing: Address | None, host: str) -> None:
        self.limits, self.address, self.host = limits, outgoing, host
        self.waiting: deque[tuple[bytes, Failed]] = deque()
        self.held = 0
        self.closed = False
        self.tasks: list[asyncio.Task[None]] = []
        self._filled = asyncio.Event()

    def post(self, data: bytes, failed: Failed = None) -> bool:
        """Queue a frame; False if the connection is closed or its reader too slow."""
        if self.closed:
            return False
        full = len(self.waiting) >= self.limits.queue or self.held + len(data) > self.limits.queue_bytes
        if full and self.waiting:
            self.close()
            return False
        self.waiting.append((data, failed))
        self.held += len(data)
        self._filled.set()
        return True

    async def take(self) -> tuple[bytes, int, list[Callable[[], None]]]:
        """Frames to be written at once: their bytes, how many, and what to call if that fails."""
        while not self.waiting:
            self._filled.clear()
            await self._filled.wait()
        parts: list[bytes] = []
        told: list[Callable[[], None]] = []
        size = 0
        while self.waiting and (not parts or size + len(self.waiting[0][0]) <= TOGETHER):
            data, failed = self.waiting.popleft()
            parts.append(data)
            size += len(data)
            if failed:
                told.append(failed)
        self.held -= size
        return b"".join(parts) if len(parts) > 1 else parts[0], len(parts), told

    def close(self) -> None:
        """Close, and report what still waits as failed."""
        if self.closed:
            return
        self.closed = True
        for task in self.tasks:
            if task is not asyncio.current_task():
                task.cancel()
        while self.waiting:
            _, failed = self.waiting.popleft()
            if failed:
                asyncio.get_running_loop().call_soon(failed)
        self.held = 0
