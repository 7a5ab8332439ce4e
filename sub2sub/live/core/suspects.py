"""Peers that did not answer: one silence says little, since connections break; the second is believed."""

from __future__ import annotations

MOST = 1024  # remembered; then the first is forgotten, so that inventions crowd out nobody for long


class Suspects:
    """IDs of peers that were silent, and were not heard from since.

    Examples
    --------
    >>> suspects = Suspects()
    >>> suspects.is_silent_again(7), suspects.is_silent_again(7)
    (False, True)
    >>> suspects.is_silent_again(8)
    False
    >>> suspects.heard_from(8)
    >>> suspects.is_silent_again(8)
    False
    """

    def __init__(self) -> None:
        self._ids: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def is_silent_again(self, id: int) -> bool:
        """Note that a peer did not answer; whether it did not the last time either."""
        if id in self._ids:
            del self._ids[id]
            return True
        self._ids[id] = None
        if len(self._ids) > MOST:
            del self._ids[next(iter(self._ids))]
        return False

    def heard_from(self, id: int) -> None:
        """Note that a peer is there."""
        self._ids.pop(id, None)
