"""Memory for the threads that step the ring layer: scratch space, hellos, and a part of the pool for each.

Views that grow move to the end of the pool. Each thread has its own part of the free words there, so that no
two threads use the same words. The position of a view does not affect its contents.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.ring.exchange import NEWS, ThreadSpace
from sub2sub.compiled.ring.hellos import Hellos, hellos_of
from sub2sub.compiled.ring_views.pool import RingPool, compact, fits
from sub2sub.compiled.ring_views.scratch import new_scratch

SPARE = (
    2**20
)  # places that a small pool may leave unused, so that it is seldom compacted: one thread does that


def divide(pool: RingPool, parts: int) -> list[RingPool]:
    """The pool for each of some threads: the same words, with a part of the free ones.

    Examples
    --------
    >>> from sub2sub.compiled.ring_views.pool import empty_pool
    >>> one, other = divide(empty_pool(n=10, d=1), 2)
    >>> one.words is other.words, bool(one.end[0] == other.top[0])
    (True, True)
    """
    edges = np.linspace(pool.top[0], pool.end[0], parts + 1).astype(np.int64)
    return [pool._replace(top=edges[k : k + 1].copy(), end=edges[k + 1 : k + 2].copy()) for k in range(parts)]


class StepSpace:
    """The memory of the threads that step the ring views of a population.

    Parameters
    ----------
    d : int
        Number of attributes.
    neighbours : int
        Neighbours of a view that there is initial space for.

    Attributes
    ----------
    pools : list of RingPool
        The pool for each thread.
    """

    def __init__(self, pool: RingPool, d: int, neighbours: int = 256) -> None:
        self.d, self.pools, self._neighbours = d, [pool], neighbours
        self.threads: list[ThreadSpace] = []
        self._asked = np.zeros(5, np.int64)

    def begin(self, threads: int) -> None:
        """Prepare for a cycle on that many threads."""
        if len(self.pools) != threads:
            self.compact(0, threads)
        while len(self.threads) < threads:
            own, partner = (new_scratch(self.d, self._neighbours) for _ in range(2))
            news = np.empty((16 * self._neighbours, 2), np.int32)
            self.threads.append(ThreadSpace(own, partner, news, np.zeros(NEWS + 1, np.int64)))
        for thread in self.threads:
            thread.counts[:] = 0

    def compact(self, spare: int, threads: int | None = None) -> None:
        """Compact all views, so that each thread has `spare` places left."""
        threads = threads or len(self.pools)
        top = max(int(pool.top[0]) for pool in self.pools)
        whole = self.pools[0]._replace(top=np.array([top]), end=self.pools[-1].end)
        self.pools = divide(compact(whole, self.d, spare * threads), threads)

    def make_space(self, places: int) -> None:
        """Make sure that two views can grow to that many places each, with some reserve."""
        if any(places > thread.own.offers.shape[1] for thread in self.threads):
            self._asked += self._counted()
            self.threads = [
                thread._replace(own=new_scratch(self.d, 2 * places), partner=new_scratch(self.d, 2 * places))
                for thread in self.threads
            ]
        for k, thread in enumerate(self.threads):
            used = int(thread.counts[NEWS])
            if used + 2 * places > thread.news.shape[0]:
                news = np.empty((2 * used + 4 * places, 2), np.int32)
                news[:used] = thread.news[:used]
                self.threads[k] = thread._replace(news=news)
        if not all(fits(pool, 2 * places, self.d) for pool in self.pools):
            used = int(self.pools[0].room.sum(dtype=np.int64))
            spare = max(used // 24, min(used // 6, SPARE))
            self.compact(spare // len(self.pools) + 24 * places)

    def make_space_to_join(self, asked: int, known: int) -> None:
        """Make space for a newcomer's view, and for the newcomer in `asked` other views."""
        widest, first = int(self.pools[0].size.max()) + 16, self.threads[0]
        if max(known, widest) > first.own.offers.shape[1]:
            self.make_space(max(known, widest))
        spare = asked * widest + 4 * known
        if not fits(self.pools[0], spare // 4, self.d):
            self.compact(2 * spare)

    def hellos(self, n: int) -> Hellos:
        """The hellos to send, in an order that does not depend on threads."""
        return hellos_of([thread.news[: thread.counts[NEWS]] for thread in self.threads], n)

    def counts(self) -> NDArray[np.int64]:
        """The counts of all threads in this cycle."""
        return np.asarray(sum(thread.counts for thread in self.threads))

    def asked(self) -> NDArray[np.int64]:
        """The counts of the tests for cover since the last call."""
        total = self._asked + self._counted()
        self._asked = np.zeros(5, np.int64)
        for thread in self.threads:
            thread.own.counts[:], thread.partner.counts[:] = 0, 0
        return total

    def _counted(self) -> NDArray[np.int64]:
        return np.asarray(sum(thread.own.counts + thread.partner.counts for thread in self.threads))
