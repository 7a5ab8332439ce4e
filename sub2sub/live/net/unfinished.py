"""Large frames that have begun to arrive: bounded in bytes, and shared out among hosts.

A few connections that announce the longest frames, and then send nothing, would keep everybody else's large
frames out. So where there is no room, the host that awaits most makes some, if it has more than the other.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol


class Receiving(Protocol):
    """A channel on which a frame arrives."""

    host: str

    def close(self) -> None:
        """Close it; it lets go of its frame."""


class UnfinishedFrames:
    """The bytes of large frames that are awaited, over all connections.

    Parameters
    ----------
    most : int
        Bytes.

    Attributes
    ----------
    total : int
        Bytes that are awaited, those that have arrived included.
    """

    def __init__(self, most: int) -> None:
        self.most, self.total = most, 0
        self._sizes: dict[Receiving, int] = {}

    def admit(self, channel: Receiving, size: int) -> bool:
        """Await a frame of a channel; False if there is no room for it."""
        while self.total + size > self.most:
            by_host: Counter[str] = Counter()
            for each, bytes_of_it in self._sizes.items():
                by_host[each.host] += bytes_of_it
            crowded, held = max(by_host.items(), key=lambda pair: pair[1], default=("", 0))
            if held <= by_host[channel.host] + size:
                return False
            next(each for each in self._sizes if each.host == crowded).close()
        self._sizes[channel] = size
        self.total += size
        return True

    def let_go(self, channel: Receiving) -> None:
        """Await a channel's frame no longer: it has arrived, or never will."""
        self.total -= self._sizes.pop(channel, 0)
