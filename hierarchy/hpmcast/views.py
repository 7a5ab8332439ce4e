"""Views: the participants to gossip to at each level, compiled from tables (hpmcast, Section 4.1.3).

The view of level i holds the delegates of every line of the table of level i; at level 1, all neighbours.
Exact tables are shared by a whole group; in the membership protocol each participant has its own. `Views.row`
hides the difference, so dissemination works with both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.hpmcast.membership.condensation import line_matches
from hierarchy.hpmcast.membership.tables import LineTables
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.geometry.boxes import points


class Views(NamedTuple):
    """The views of all participants and levels as rows of entries."""

    row: NDArray[np.int32]  # (l, n) `row[i - 1, x]` is the view of level i of participant x
    start: NDArray[np.int64]  # (rows + 1,) start of the entries of each row
    entry: NDArray[np.int32]  # (entries,) a participant
    line: NDArray[np.int64]  # (entries,) the number of its line; lines of all tables have different numbers
    lines: NDArray[np.int32]  # (rows,) lines with entries: the cost to match an event with the whole view
    position: NDArray[np.int32]  # (l, n) position of a participant in its own view of a level; -1: not in it

    @property
    def top(self) -> NDArray[np.int32]:
        """The highest level at which each participant is in its own view; 0 if there is none."""
        levels = np.arange(1, len(self.row) + 1, dtype=np.int32)[:, None]
        highest: NDArray[np.int32] = np.max(np.where(self.position >= 0, levels, 0), axis=0)
        return highest


@kernel
def _compile(members, delegates, bounds, first_line, start, lines, entry, line):
    """Fill rows of entries; with empty `entry`, only count them."""
    fill = entry.shape[0] > 0
    at = start[0]
    for r in range(bounds.shape[0] - 1):
        lines[r] = 0
        for s in range(bounds[r], bounds[r + 1]):
            if members[s] == 0:
                continue
            lines[r] += 1
            for k in range(delegates.shape[1]):
                if delegates[s, k] >= 0:
                    if fill:
                        entry[at] = delegates[s, k]
                        line[at] = first_line + s
                    at += 1
        start[r + 1] = at


@kernel
def _positions(row, start, entry, position):
    for x in range(row.shape[0]):
        position[x] = -1
    for r in range(start.shape[0] - 1):
        for e in range(start[r], start[r + 1]):
            if row[entry[e]] == r:
                position[entry[e]] = e - start[r]


@kernel
def _match(table, compared, event, hit):
    slots = table.members.shape[1]
    for r in range(table.members.shape[0]):
        for s in range(slots):
            if table.members[r, s] > 0:
                hit[r * slots + s] = line_matches(table.boxes[r, s], table.used[r, s], compared, event)


@dataclass(frozen=True)
class Knowledge:
    """Tables of all levels, exact or of the protocol, from which views are made.

    Attributes
    ----------
    tables : sequence of Table
        Level 1 first.
    bounds : sequence of int64 arrays
        Per level, the start of the lines of each view in the table's flattened lines, and the end.
    row : (l, n) int32
        Per level, the view of each participant.
    compared : (l, d) uint8
        The attributes that filters of a level look at.
    """

    tables: Sequence[LineTables]
    bounds: Sequence[NDArray[np.int64]]
    row: NDArray[np.int32]
    compared: NDArray[np.uint8]

    @property
    def levels(self) -> int:
        """Depth l of the hierarchy."""
        return len(self.tables)

    @property
    def first_lines(self) -> list[int]:
        """The number of each level's first line, and the number of lines."""
        return [0, *np.cumsum([table.members.size for table in self.tables]).tolist()]

    def views(self) -> Views:
        """Compile the current tables."""
        rows = np.concatenate([[0], np.cumsum([len(bounds) - 1 for bounds in self.bounds])])
        start, lines = np.zeros(rows[-1] + 1, np.int64), np.zeros(rows[-1], np.int32)

        def fill(entry: NDArray[np.int32], line: NDArray[np.int64]) -> None:
            for i, table in enumerate(self.tables):
                delegates = table.delegates.reshape(-1, table.delegates.shape[2])
                _compile(
                    table.members.reshape(-1), delegates, self.bounds[i], self.first_lines[i],
                    start[rows[i] :], lines[rows[i] :], entry, line,
                )  # fmt: skip

        fill(np.empty(0, np.int32), np.empty(0, np.int64))
        entry, line = np.empty(start[-1], np.int32), np.empty(start[-1], np.int64)
        fill(entry, line)
        position = np.empty(self.row.shape, np.int32)
        for i in range(self.levels):
            _positions(self.row[i], start[rows[i] : rows[i + 1] + 1], entry, position[i])
        return Views((self.row + rows[:-1, None]).astype(np.int32), start, entry, line, lines, position)

    def match(self, event: ArrayLike) -> NDArray[np.uint8]:
        """Which lines an event passes, as a flag per line, numbered as in `Views.line`.

        In tables without interests there are no attributes: the event is [] and passes everywhere.
        """
        attributes = self.compared.shape[1]
        point = points(np.asarray(event)[None], attributes, "event")[0] if attributes else np.empty(0)
        hit = np.zeros(self.first_lines[-1], np.uint8)
        for i, table in enumerate(self.tables):
            _match(table, self.compared[i], point, hit[self.first_lines[i] : self.first_lines[i + 1]])
        return hit
