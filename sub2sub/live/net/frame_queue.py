"""Frames on their way out: those that wait to be written, and those of which nothing shows that they arrived.

A frame waits while its connection is opened, or while the other end does not read. A frame that was written
may be lost: where the other node has restarted while the network was cut, the connection looks open, and is
reset by the first frame that arrives there. An unanswered request is asked again; for an event, which may
have one way to go, the end of the connection is the sign. So events are remembered for as long as a
connection may take to open (one that is reset is reset sooner), and sent once more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from sub2sub.live.wire.limits import Limits

Failed = Callable[[], None] | None
TOGETHER = 1 << 16  # bytes written at once


class Posted(NamedTuple):
    """A frame to send, what to call if that fails, and whether it is sent once more if it may be lost."""

    data: bytes
    failed: Failed = None
    again: bool = False


class FrameQueue:
    """The frames of one connection that wait, no more than `Limits.queue` and `Limits.queue_bytes`.

    Examples
    --------
    >>> queue = FrameQueue(Limits(queue=2))
    >>> [queue.add(Posted(b"frame")) for _ in range(3)], queue.held
    ([True, True, False], 10)
    >>> [posted.data for posted in queue.take()], queue.held
    ([b'frame', b'frame'], 0)
    """

    def __init__(self, limits: Limits) -> None:
        self.limits, self.held = limits, 0
        self._waiting: deque[Posted] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, posted: Posted) -> bool:
        """Let a frame wait; return whether there is room for it. A single one may be of any length."""
        full = len(self) >= self.limits.queue or self.held + len(posted.data) > self.limits.queue_bytes
        if full and self._waiting:
            return False
        self._waiting.append(posted)
        self.held += len(posted.data)
        return True

    def take(self, most: int = TOGETHER) -> list[Posted]:
        """Remove and return the first frames: one, and further ones up to so many bytes."""
        taken, size = list[Posted](), 0
        while self._waiting and (not taken or size + len(self._waiting[0].data) <= most):
            taken.append(self._waiting.popleft())
            size += len(taken[-1].data)
        self.held -= size
        return taken


class Unheard:
    """The last frames written that may be lost: of `Limits.connect` seconds, and no more than may wait.

    What comes back meanwhile says nothing: it may have been sent before they arrived.

    Examples
    --------
    >>> unheard = Unheard(Limits(connect=3.0, queue=2))
    >>> for second in (0, 5, 6, 7):
    ...     unheard.note(Posted(bytes([second])), now=second)
    >>> [posted.data for posted in unheard.take(now=9.5)]  # the others are too old, or too many
    [b'\\x07']
    """

    def __init__(self, limits: Limits) -> None:
        self.limits, self.held = limits, 0
        self._frames: deque[tuple[float, Posted]] = deque()

    def __len__(self) -> int:
        return len(self._frames)

    def note(self, posted: Posted, now: float) -> None:
        """Remember a frame that was written, and what to call if it is lost."""
        self._frames.append((now, posted))
        self.held += len(posted.data)
        while len(self) > self.limits.queue or (len(self) > 1 and self.held > self.limits.queue_bytes):
            self.held -= len(self._frames.popleft()[1].data)

    def take(self, now: float) -> list[Posted]:
        """Remove all frames, as the connection has ended; return those that may be lost."""
        lost = [posted for when, posted in self._frames if now - when <= self.limits.connect]
        self._frames.clear()
        self.held = 0
        return lost
