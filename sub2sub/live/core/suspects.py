"""Suspected peers: since connections break, a peer counts as silent only if it fails to answer twice.

Questions that are overdue at the same moment went the same way, and count once.
"""

from __future__ import annotations

MOST = 1024  # suspects; beyond that, the oldest is dropped, so that invented peers cannot fill the memory


class Suspects:
    """IDs of peers that did not answer once, and have not been heard from since.

    Examples
    --------
    >>> suspects = Suspects()
    >>> [suspects.is_silent_again(7, now) for now in (1, 1, 2)]
    [False, False, True]
    >>> suspects.is_silent_again(8, now=1)
    False
    >>> suspects.heard_from(8)
    >>> suspects.is_silent_again(8, now=2)
    False
    """

    def __init__(self) -> None:
        self._ids: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def is_silent_again(self, id: int, now: int) -> bool:
        """Note that a peer did not answer; return whether it did not answer some time before either."""
        if self._ids.setdefault(id, now) != now:
            del self._ids[id]
            return True
        if len(self._ids) > MOST:
            del self._ids[next(iter(self._ids))]
        return False

    def heard_from(self, id: int) -> None:
        """Note a message from a peer."""
        self._ids.pop(id, None)
