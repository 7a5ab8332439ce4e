"""Letting all cores work on one array: kernels release the interpreter's lock, so plain threads will do.

Work is cut into chunks that threads take as they become free. A kernel that has its own part of every array
(or, of what is shared, reads only) gives the same result whichever thread takes a chunk. `SUB2SUB_THREADS` or
`use_threads` sets how many threads there are; by default as many as the process may use cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import local

from sub2sub.errors import InputError

Chunk = tuple[int, int]
"""A stretch of the work, its first and its last item but one."""

_chosen: int | None = None
_pool: ThreadPoolExecutor | None = None
_busy = local()


def threads() -> int:
    """How many threads work together."""
    global _chosen
    if _chosen is None:
        given = os.environ.get("SUB2SUB_THREADS", "")
        if given and not (given.isdecimal() and int(given) > 0):
            raise InputError(f"SUB2SUB_THREADS: expected a whole number from 1 on, got {given!r}")
        _chosen = int(given) if given else _cores()
    return _chosen


def use_threads(number: int) -> None:
    """Set the number of threads that work together; results do not depend on it.

    Examples
    --------
    >>> before = threads()
    >>> use_threads(1)
    >>> threads()
    1
    >>> use_threads(before)
    """
    global _chosen, _pool
    if number < 1:
        raise InputError(f"threads: expected 1 or more, got {number}")
    if _pool is not None:
        _pool.shutdown()
    _chosen, _pool = number, None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _forget_pool() -> None:
    """A forked process has none of its parent's threads."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def share_out(
    work: Callable[[int, int, int], int], stretches: Sequence[Chunk], least: int = 256
) -> list[Chunk]:
    """Call `work(thread, first, last)` for chunks of all stretches, each chunk once; what was left undone.

    `work` returns how far it got: `last`, or less if it cannot go on. A thread number is in use once at a
    time. Fewer than `least` items are not worth a thread and are not divided.

    Examples
    --------
    >>> done = []
    >>> share_out(lambda thread, first, last: done.extend(range(first, last)) or last, [(0, 3), (5, 8)])
    []
    >>> sorted(done)
    [0, 1, 2, 5, 6, 7]
    >>> share_out(lambda thread, first, last: first + 1, [(0, 3)])
    [(1, 3)]
    """
    together = 1 if getattr(_busy, "now", False) else threads()  # one of several does not call upon others
    chunks = list(_chunks(stretches, together, least))
    waiting, left = count(), []

    def take(thread: int) -> None:
        before, _busy.now = getattr(_busy, "now", False), True
        try:
            while (number := next(waiting)) < len(chunks):
                first, last = chunks[number]
                reached = work(thread, first, last)
                if reached < last:
                    left.append((reached, last))
        finally:
            _busy.now = before

    others = min(together, len(chunks)) - 1
    tasks = [_executor().submit(take, thread) for thread in range(1, others + 1)]
    take(0)
    for task in tasks:
        task.result()
    return sorted(left)


def _chunks(stretches: Sequence[Chunk], together: int, least: int) -> Iterator[Chunk]:
    """Large chunks first, then smaller ones, so that all threads end at about the same time."""
    left = sum(last - first for first, last in stretches)
    for first, last in stretches:
        while first < last:
            size = max(1, least, left // (4 * together)) if together > 1 else left
            until = min(first + size, last)
            yield first, until
            left, first = left - (until - first), until


def _executor() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max(threads() - 1, 1), thread_name_prefix="sub2sub")
    return _pool
