"""Turns: the exchanges of a cycle, in an order that several threads can follow.

In a cycle of a layer all peers first choose their partners. Then the exchanges take place, in the order of
the peers that begin them. (In PeerSim a peer chooses its partner in its turn, after exchanges of others in
the same cycle. Peers without a common clock may act in either order.) Because partners are known in advance,
exchanges that share no peer can run at the same time. Exchanges are grouped into waves: each goes into the
first wave after all waves in which one of its two peers is busy. So exchanges that share a peer keep their
order, and the result is the same as without threads.

If very many peers choose the same partner, there are many waves with few exchanges each. Waves that are too
small for several threads are left to one thread, and so are exchanges beyond the last of `WAVES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.threads import share_out, threads
from sub2sub.compiled.machinery.compilation import hot

NOBODY = -1
WAVES = 256
WORTH = 1000.0  # microseconds of work in a wave, at least, for several threads
FEW = 4096  # populations below this size use one thread

Work = Callable[[int, NDArray[np.int32]], int]
"""Called with the number of a thread and peers to process in this order; returns how many it processed."""


@hot
def _place_in_waves(partner, busy, wave, counts):
    """Find the wave of every exchange; the last wave also gets the exchanges beyond it."""
    last = counts.shape[0] - 1
    for i in range(partner.shape[0]):
        j = partner[i]
        if j < 0:
            continue
        mine = min(max(busy[i], busy[j]), last)
        busy[i], busy[j] = mine + 1, mine + 1
        wave[i] = mine
        counts[mine] += 1


@hot
def _sort_by_wave(partner, wave, next_place, order):
    for i in range(partner.shape[0]):
        if partner[i] >= 0:
            order[next_place[wave[i]]] = i
            next_place[wave[i]] += 1


def waves(partner: NDArray[np.int32], most: int = WAVES) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The peers that begin exchanges, wave by wave, and where each wave begins.

    Examples
    --------
    >>> order, bounds = waves(np.array([1, 2, NOBODY, 4, 5, NOBODY], np.int32))
    >>> [order[first:last].tolist() for first, last in zip(bounds, bounds[1:])]
    [[0, 3], [1, 4]]
    """
    n = partner.shape[0]
    busy, wave, counts = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(most, np.int64)
    _place_in_waves(partner, busy, wave, counts)
    bounds = np.concatenate([[0], np.cumsum(counts)])
    order = np.empty(bounds[-1], np.int32)
    _sort_by_wave(partner, wave, bounds[:-1].copy(), order)
    return order, bounds[: np.flatnonzero(counts)[-1] + 2] if order.size else bounds[:1]


def _stretches(bounds: NDArray[np.int64], least: int) -> Iterator[tuple[bool, int, int]]:
    """Stretches of the order: (for several threads?, first, last).

    Each wide wave is a stretch; consecutive narrow waves form one. The last of `WAVES` counts as narrow,
    because its exchanges may share peers.
    """
    wide = (np.diff(bounds) >= least).tolist()
    if len(wide) == WAVES:
        wide[-1] = False
    for is_wide, group in groupby(range(len(wide)), key=wide.__getitem__):
        numbers = list(group)
        if is_wide:
            yield from ((True, int(bounds[k]), int(bounds[k + 1])) for k in numbers)
        else:
            yield False, int(bounds[numbers[0]]), int(bounds[numbers[-1] + 1])


def exchange_in_waves(
    partner: NDArray[np.int32], work: Work, make_space: Callable[[], None] | None = None, each: float = 2.0
) -> None:
    """Let `work` carry out the exchanges of all peers with their partners (`NOBODY` for none).

    If `work` stops for lack of space, `make_space` is called and `work` continues. `each` is the approximate
    duration of an exchange in microseconds; it decides which waves use several threads, not the result.

    Examples
    --------
    >>> begun = []
    >>> exchange_in_waves(np.array([1, NOBODY, 0]), lambda thread, peers: begun.extend(peers) or len(peers))
    >>> [int(peer) for peer in begun]
    [0, 2]
    """
    if threads() == 1 or partner.shape[0] < FEW:
        _work_off(np.flatnonzero(partner >= 0).astype(np.int32), work, make_space, at_once=False)
        return
    order, bounds = waves(partner)
    least = int(WORTH / each)
    for is_wide, first, last in _stretches(bounds, least):
        _work_off(order[first:last], work, make_space, at_once=is_wide, least=least // 4)


def everybody(n: int, work: Work, make_space: Callable[[], None] | None = None) -> None:
    """Let `work` process all peers independently, in any order.

    Examples
    --------
    >>> everybody(3, lambda thread, peers: print(peers.tolist()) or len(peers))
    [0, 1, 2]
    """
    _work_off(np.arange(n, dtype=np.int32), work, make_space, at_once=n >= FEW)


def _work_off(
    peers: NDArray[np.int32],
    work: Work,
    make_space: Callable[[], None] | None,
    at_once: bool,
    least: int = 256,
) -> None:
    def part(thread: int, first: int, last: int) -> int:
        return first + work(thread, peers[first:last])

    left = [(0, peers.size)]
    while left:
        if at_once:
            left = share_out(part, left, least)
        else:
            ((first, last),) = left
            reached = part(0, first, last)
            left = [(reached, last)] if reached < last else []
        if left and make_space is not None:
            make_space()
