"""The tables of hpmcast, equal ones stored once.

After some time all participants of a subsystem have equal tables. Participants with equal tables share one
copy here, because matching an event with n copies takes n times as long. No participant learns anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hierarchy.hpmcast import Knowledge
from hierarchy.hpmcast.membership.tables import Table
from sub2sub.compiled.common.randomness import mix
from sub2sub.compiled.machinery.compilation import kernel


def shared_rows(known: Knowledge) -> Knowledge:
    """The same knowledge with equal tables of a level stored once.

    Examples
    --------
    >>> from hierarchy.hpmcast import Membership, Population
    >>> layer = Membership(Population.regular(a=4, levels=2))
    >>> layer.make_exact()
    >>> [len(table.members) for table in shared_rows(layer.knowledge()).tables]
    [4, 1]
    """
    tables, bounds, rows = [], [], []
    for table in known.tables:
        _, first, row = np.unique(_fingerprints(table), return_index=True, return_inverse=True)
        # The stamp of a line is not looked at when events are published.
        columns: list[Any] = [column[first] for column in table]
        tables.append(Table(*columns))
        bounds.append(np.arange(len(first) + 1, dtype=np.int64) * table.members.shape[1])
        rows.append(row.astype(np.int32))
    return Knowledge(tables, bounds, np.stack(rows), known.compared)


@kernel
def _fingerprints(table):
    """64 bits for each row of a table: of its lines' members, delegates and boxes."""
    marks = np.zeros(table.members.shape[0], np.uint64)
    for r in range(table.members.shape[0]):
        mark = np.uint64(1)
        for s in range(table.members.shape[1]):
            if table.members[r, s] == 0:
                continue
            mark = mix(mark ^ np.uint64(s))
            for k in range(table.delegates.shape[2]):
                mark = mix(mark ^ np.uint64(np.int64(table.delegates[r, s, k]) + 1))
            for b in range(table.used[r, s]):
                for end in range(2):
                    for k in range(table.boxes.shape[4]):
                        mark = mix(mark ^ np.float64(table.boxes[r, s, b, end, k]).view(np.uint64))
        marks[r] = mark
    return marks
