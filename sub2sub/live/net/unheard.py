"""Frames that were written, and of which there is no sign yet that they arrived.

A frame that was written may be lost: where the other node has restarted while the network was cut, the
connection looks open, and is reset by the first frame that arrives there. An unanswered request is asked
again; for a frame that nobody answers, the end of the connection is the only sign. So these are remembered,
within bounds, until anything comes back through the connection, or for as long as a connection may take to
open: a frame that is reset is reset sooner.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from sub2sub.live.wire.limits import Limits

Failed = Callable[[], None] | None


class Unheard:
    """The last such frames of a connection: of `limits.connect` seconds, and no more than may wait.

    Examples
    --------
    >>> lost = []
    >>> unheard = Unheard(Limits(connect=3.0, queue=2))
    >>> for second in (0.0, 5.0, 6.0, 7.0):
    ...     unheard.note(b"frame", lambda second=second: lost.append(second), now=second)
    >>> for failed in unheard.take(now=9.5):
    ...     failed()
    >>> lost  # the others are too old, or too many
    [7.0]
    """

    def __init__(self, limits: Limits) -> None:
        self.limits, self.held = limits, 0
        self._frames: deque[tuple[float, int, Failed]] = deque()

    def __len__(self) -> int:
        return len(self._frames)

    def note(self, data: bytes, failed: Failed, now: float) -> None:
        """Remember a frame that was written, and what to call if it is lost."""
        self._frames.append((now, len(data), failed))
        self.held += len(data)
        while len(self) > self.limits.queue or (len(self) > 1 and self.held > self.limits.queue_bytes):
            self.held -= self._frames.popleft()[1]

    def heard(self) -> None:
        """Note that something came: the connection is in order, and what was sent has arrived."""
        self._frames.clear()
        self.held = 0

    def take(self, now: float) -> list[Failed]:
        """What to call, as the connection has ended."""
        lost = [failed for when, _, failed in self._frames if now - when <= self.limits.connect]
        self.heard()
        return lost
