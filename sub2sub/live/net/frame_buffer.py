"""Bytes on their way in, cut into frames; what is awaited of large frames is bounded over all connections.

A connection holds one frame that is not complete, at most, whose length its prefix announces. Where all
connections of a node together await more than `Limits.unfinished` bytes, a further large frame is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from sub2sub.live.wire.framing import LENGTH, size_of

PREFIX = LENGTH.size
SMALL = 1 << 16  # bytes of a frame that is not counted as unfinished


@dataclass
class Unfinished:
    """The bytes of large frames that a node awaits, and the most it may."""

    most: int
    total: int = 0


class FrameBuffer:
    """What has arrived through one connection and was not handled yet.

    Parameters
    ----------
    unfinished : Unfinished
        The account that all connections share.

    Examples
    --------
    >>> buffer = FrameBuffer(Unfinished(most=1 << 20))
    >>> buffer.add(bytes([0, 0, 0, 2]) + b"ab" + bytes([0, 0, 0, 3]) + b"c")
    >>> buffer.next_body(), buffer.next_body(), len(buffer)
    (b'ab', None, 5)
    """

    def __init__(self, unfinished: Unfinished) -> None:
        self.unfinished = unfinished
        self._data: bytes | bytearray = b""
        self._size = -1  # of the frame that has begun to arrive, once that is known

    def __len__(self) -> int:
        return len(self._data)

    def add(self, data: bytes) -> None:
        """Take what has arrived; a frame in many pieces is put together in place."""
        if not self._data:
            self._data = data
            return
        if isinstance(self._data, bytes):
            self._data = bytearray(self._data)
        self._data += data

    def next_body(self) -> bytes | None:
        """Remove and return the bytes of the next frame, None while it has not arrived.

        Raises
        ------
        ValueError
            For a length out of range, or when too many bytes of unfinished frames are awaited already.
        """
        data = self._data
        if self._size < 0 and len(data) >= PREFIX:
            self._await(size_of(bytes(data[:PREFIX])))
        end = PREFIX + self._size
        if self._size < 0 or len(data) < end:
            return None
        self._data = data[end:]
        self.forget_frame()
        return bytes(data[PREFIX:end])

    def forget_frame(self) -> None:
        """Await the frame that has begun to arrive no longer."""
        if self._size > SMALL:
            self.unfinished.total -= self._size
        self._size = -1

    def _await(self, size: int) -> None:
        if size > SMALL:
            if self.unfinished.total + size > self.unfinished.most:
                raise ValueError(f"{self.unfinished.total} bytes of unfinished frames are awaited already")
            self.unfinished.total += size
        self._size = size
