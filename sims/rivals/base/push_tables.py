"""The links along which members push and announce events, and the rules by which they use them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Rows(NamedTuple):
    """Rows of different length: row i is ``item[start[i] : start[i + 1]]``."""

    start: NDArray[np.int64]
    item: NDArray[np.int32]


def rows(lists: Iterable[Sequence[int]]) -> Rows:
    """Lists as rows.

    Examples
    --------
    >>> rows([[3, 1], [], [2]])
    Rows(start=array([0, 2, 2, 3]), item=array([3, 1, 2], dtype=int32))
    """
    held = list(lists)
    start = np.append(0, np.cumsum([len(row) for row in held])).astype(np.int64)
    return Rows(start, np.array([item for row in held for item in row], np.int32))


class PushTables(NamedTuple):
    """Links of each member.

    Attributes
    ----------
    eager : Rows
        Those it pushes every event to.
    pool : Rows
        Those it pushes an event to some of, at random.
    lazy : Rows
        Those it announces an event to.
    """

    eager: Rows
    pool: Rows
    lazy: Rows

    @classmethod
    def of(
        cls,
        eager: Sequence[Sequence[int]],
        pool: Sequence[Sequence[int]] | None = None,
        lazy: Sequence[Sequence[int]] | None = None,
    ) -> PushTables:
        """From the links of each member, none of a kind that is not given."""
        return cls(*(rows([[]] * len(eager) if links is None else links) for links in (eager, pool, lazy)))


class PushRules(NamedTuple):
    """How links are used; times are in hops.

    Attributes
    ----------
    fanout : int
        How many members it pushes to in all, those of its pool after the eager ones.
    announce : int
        How many of its lazy links it announces an event to; -1 for all.
    period : int
        Hops between two heartbeats, at which events are announced; 0 to announce at once.
    windows : int
        Heartbeats at which an event is announced.
    wait : int
        Hops from the first announcement of an event that has not come to the request for it.
    retries : int
        Times a push is sent again that is not acknowledged; 0 for no acknowledgements.
    floods : bool
        Whether a publisher pushes its event along its lazy links, too.
    refuses : bool
        Whether a member that gets an event tells its eager links at once not to push it; without a pool.
    control : float
        For how long a message without the event occupies an uplink, relative to one with it; messages that
        are sent again occupy it only if this is above 0.
    """

    fanout: int = 0
    announce: int = -1
    period: int = 0
    windows: int = 1
    wait: int = 0
    retries: int = 0
    floods: bool = False
    refuses: bool = False
    control: float = 0.0


class Way(NamedTuple):
    """The route of an event from its publisher to the members that push it.

    Attributes
    ----------
    reached : list of (int, int, float)
        Members, and the hop and the time at which each receives it.
    payers : list of int
        Members that sent a message, each as often as it did.
    """

    reached: list[tuple[int, int, float]]
    payers: list[int]


class Starts(NamedTuple):
    """The members that have each event before any push, and the cost of its route to them.

    Attributes
    ----------
    first : Rows
        Members that have event k before any push, its publisher first.
    hop, when : int32 and float64 arrays
        At which hop and time, in the order of `first.item`.
    payer : Rows
        Members that sent messages to get it there, each as often as messages were sent.
    """

    first: Rows
    hop: NDArray[np.int32]
    when: NDArray[np.float64]
    payer: Rows

    @classmethod
    def of(cls, publishers: Sequence[int], ways: Sequence[Way] | None = None) -> Starts:
        """From publishers alone, or with a way each.

        Examples
        --------
        >>> Starts.of([4, 5], [Way([(7, 1, 30.0)], [4, 4]), Way([], [])]).first
        Rows(start=array([0, 2, 3]), item=array([4, 7, 5], dtype=int32))
        """
        told = ways if ways is not None else [Way([], [])] * len(publishers)
        reached = [
            [(own, 0, 0.0), *sorted(way.reached, key=lambda member: member[2])]
            for own, way in zip(publishers, told, strict=True)
        ]
        first = rows([[member for member, _, _ in row] for row in reached])
        hop = np.array([hop for row in reached for _, hop, _ in row], np.int32)
        when = np.array([when for row in reached for _, _, when in row], np.float64)
        return cls(first, hop, when, rows([way.payers for way in told]))
