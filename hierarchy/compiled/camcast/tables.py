"""Topic tables and super-topic tables, and static random ones.

CAMCAST, Section 3.2 and Figure 3: a member keeps some members of its own community (the topic table) and
z members of the super-community (the super-topic table); with several parents, one super-topic table for
each (Section 3.6). If the super-community is empty, the next populated supertopic takes its place.
Static tables are those of the papers' simulations: uniform, without repetition, never updated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.communities import Communities, places_in, populated_supertopics
from hierarchy.camcast.settings import Settings, for_topics
from hierarchy.compiled.camcast.sampling import draw_others, draw_some
from sub2sub.compiled.common.randomness import draw, peer_key, unit
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.errors import InputError
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("camcast tables")


class Tables(NamedTuple):
    """Membership tables of all n members; rows are packed to the left and padded with -1."""

    topic: NDArray[np.int32]  # (n,) community of each member
    topic_table: NDArray[np.int32]  # (n, k) members of the same community
    super_table: NDArray[np.int32]  # (n, slots, z) members of the super-communities, one slot each


class StaticTables:
    """Draws the tables of a fixed population, any number of times.

    Parameters
    ----------
    communities : Communities
        The members.
    settings : Settings, optional
        Table sizes, of all topics or of each.

    Examples
    --------
    >>> tables = StaticTables(Communities.chain(10, 100, 1000)).draw(seed=1)
    >>> tables.topic_table.shape, tables.super_table.shape
    ((1110, 11), (1110, 1, 3))
    >>> set(tables.topic[tables.super_table[tables.topic == 2]].ravel().tolist())
    {1}
    """

    def __init__(self, communities: Communities, settings: Settings | None = None) -> None:
        self.communities = communities
        sizes = communities.sizes
        own = for_topics(settings, len(sizes), communities.tree)
        self._table_size = np.array([s.table_size(int(n)) for s, n in zip(own, sizes, strict=True)], np.int32)
        self._z = np.array([s.z for s in own], np.int64)
        self._above = populated_supertopics(communities.tree, sizes)
        self._place = places_in(communities.members)

    def draw(self, seed: int, run: int = 0) -> Tables:
        """Draw all tables; the same seed and run give the same tables."""
        c = self.communities
        tables = Tables(
            c.topic,
            np.full((len(c), int(self._table_size.max())), -1, np.int32),
            np.full((len(c), self._above.shape[1], int(self._z.max())), -1, np.int32),
        )
        key = cycle_key(seed, STREAM, run)
        fill_topic_tables(c.topic, c.start, c.members, self._place, self._table_size, key, tables.topic_table)
        _fill_super_tables(c.topic, c.start, c.members, self._above, self._z, key, tables.super_table)
        return tables


def thin(tables: Tables, share: float, seed: int, run: int = 0) -> Tables:
    """Copy tables, and remove each entry with probability `share`, because it seems crashed to its owner.

    The weakly consistent membership of Figures 17 and 18: a process may seem crashed to one process and alive
    to another.

    Examples
    --------
    >>> tables = StaticTables(Communities.chain(10, 1000)).draw(seed=1)
    >>> thinned = thin(tables, 0.5, seed=1)
    >>> bool(5000 < (thinned.topic_table >= 0).sum() < 6000)  # of about 11,000
    True
    """
    if not 0 <= share <= 1:
        raise InputError(f"share: expected a probability, got {share}")
    copy = Tables(tables.topic, tables.topic_table.copy(), tables.super_table.copy())
    key = cycle_key(seed, stream_number("camcast thinning"), run)
    _thin_rows(copy.topic_table, share, key)
    rows = copy.super_table.reshape(-1, copy.super_table.shape[2])
    _thin_rows(rows, share, np.uint64(peer_key(key, -1)))
    return copy


@kernel
def _thin_rows(rows, share, key):
    for row in range(len(rows)):
        own = peer_key(key, row)
        kept = 0
        for i in range(rows.shape[1]):
            if rows[row, i] >= 0 and unit(draw(own, i)) >= share:
                rows[row, kept] = rows[row, i]
                kept += 1
        rows[row, kept:] = -1


@kernel
def fill_topic_tables(group, start, members, place, table_size, key, topic_table):
    """Draw other members of each member's group; `place` is the position of a member in `members`."""
    for member in range(len(group)):
        t = group[member]
        row = topic_table[member, : table_size[t]]
        own = peer_key(key, member)
        draw_others(members[start[t] : start[t + 1]], place[member] - start[t], own, np.int64(0), row)


@kernel
def _fill_super_tables(topic, start, members, above, z, key, super_table):
    key = peer_key(key, -1)  # draws apart from those of the topic tables
    for member in range(len(topic)):
        own = peer_key(key, member)
        k = np.int64(0)
        for slot in range(above.shape[1]):
            u = above[topic[member], slot]
            if u >= 0:
                row = super_table[member, slot, : z[topic[member]]]
                k = draw_some(members[start[u] : start[u + 1]], own, k, row)
