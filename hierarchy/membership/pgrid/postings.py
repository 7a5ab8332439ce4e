"""Which peer holds which announcement: (holder, topic, member, expiry) as four parallel columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Postings:
    """Announcements *member m is of community t*, as the peers of an index hold them.

    Examples
    --------
    >>> index = Postings()
    >>> index.post(holder=[4, 4, 5], topic=[1, 1, 1], member=[7, 8, 7], expires=[10, 10, 10])
    >>> index.copy_between(np.array([[4, 5]]))
    >>> index.rows[index.rows[:, 0] == 5, 2].tolist()
    [7, 8]
    """

    def __init__(self) -> None:
        self.rows = np.empty((0, 4), np.int64)

    def post(self, holder: ArrayLike, topic: ArrayLike, member: ArrayLike, expires: ArrayLike) -> None:
        """Add announcements; a newer one of the same member takes the place of the older."""
        new = np.column_stack([holder, topic, member, expires]).astype(np.int64)
        self._set(np.concatenate([self.rows, new]))

    def expire(self, cycle: int) -> None:
        """Drop what is over."""
        self.rows = self.rows[self.rows[:, 3] > cycle]

    def withdraw(self, members: ArrayLike) -> None:
        """Drop all announcements of some members."""
        self.rows = self.rows[~np.isin(self.rows[:, 2], members)]

    def keep_where(self, kept: NDArray[np.bool_]) -> None:
        """Keep only some rows."""
        self.rows = self.rows[kept]

    def copy_between(self, pairs: NDArray[np.int64]) -> None:
        """Let both holders of each pair have what either had."""
        if len(pairs) == 0 or len(self.rows) == 0:
            return
        first = np.searchsorted(self.rows[:, 0], pairs)
        counts = np.searchsorted(self.rows[:, 0], pairs, side="right") - first
        parts = [self.rows]
        for side in (0, 1):
            take = np.repeat(first[:, side] - np.cumsum(counts[:, side]) + counts[:, side], counts[:, side])
            copied = self.rows[take + np.arange(counts[:, side].sum())].copy()
            copied[:, 0] = np.repeat(pairs[:, 1 - side], counts[:, side])
            parts.append(copied)
        self._set(np.concatenate(parts))

    def span(
        self, holder: NDArray[np.int64], topic: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the rows of each (holder, topic) begin and end."""
        code = self._code(self.rows[:, 0], self.rows[:, 1])
        wanted = self._code(holder, topic)
        return np.searchsorted(code, wanted), np.searchsorted(code, wanted, side="right")

    @staticmethod
    def _code(holder: NDArray[np.int64], topic: NDArray[np.int64]) -> NDArray[np.int64]:
        return holder << 31 | topic

    def _set(self, rows: NDArray[np.int64]) -> None:
        """Sort by holder, topic and member, and keep the latest of equal ones."""
        order = np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], rows[:, 0]))
        rows = rows[order]
        last = np.ones(len(rows), bool)
        last[:-1] = np.any(rows[1:, :3] != rows[:-1, :3], axis=1)
        self.rows = rows[last]
