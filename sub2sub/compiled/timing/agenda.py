"""The agenda of one event: which copy arrives next.

A member forwards an event when its first copy arrives, so only the first copy at each member matters. An
agenda keeps, for each member, the earliest copy on its way. An earlier copy replaces it; a later copy is a
duplicate in any case. Members are taken in the order of time from a heap (Dijkstra: *A note on two problems
in connexion with graphs*, 1959). Copies that arrive at the same time are taken in the order in which they
were sent.

Where the clock counts hops, copies arrive in the order in which they are sent, so a queue replaces the heap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.machinery.compilation import apart, rule
from sub2sub.compiled.timing.latency import HOPS, Clock

HEAD, TAIL, COUNT = range(3)


class Agenda(NamedTuple):
    """Copies of one event on their way to n members."""

    when: NDArray[np.float64]  # (n,) when the earliest copy arrives, or arrived; infinity if there is none
    number: NDArray[np.int64]  # (n,) its number, in the order in which copies were added
    hop: NDArray[np.int32]  # (n,) hops on its way
    sender: NDArray[np.int32]  # (n,) the member that sent it
    slot: NDArray[np.int32]  # (n,) the position of the member in the heap, -1 if it is not there
    heap: NDArray[np.int32]  # (n,) members that copies are on their way to
    free: NDArray[np.float64]  # (places,) when each uplink is free
    ends: NDArray[np.int64]  # (3,) where the heap begins and ends, and the number of copies added so far
    queue: bool  # whether copies arrive in the order in which they are added: then the heap is a queue


def new_agenda(n: int, clock: Clock) -> Agenda:
    """An empty agenda for n members.

    Examples
    --------
    >>> from sub2sub.compiled.timing.settings import Timing
    >>> clock = Clock.of(Timing(), np.arange(3))
    >>> agenda = new_agenda(3, clock)
    >>> [offer(agenda, to, -1, when) for to, when in ((0, 7.0), (1, 5.0), (0, 3.0), (1, 6.0))]
    [True, True, True, False]
    >>> [take(agenda) for _ in range(3)]
    [0, 1, -1]
    """
    return Agenda(
        np.full(n, np.inf), np.zeros(n, np.int64), np.zeros(n, np.int32), np.full(n, -1, np.int32),
        np.full(n, -1, np.int32), np.empty(n, np.int32), np.zeros(clock.places), np.zeros(3, np.int64),
        not clock.timed,
    )  # fmt: skip


@rule
def clear(agenda):
    """Remove everything."""
    agenda.when[:] = np.inf
    agenda.slot[:] = -1
    agenda.free[:] = 0.0
    agenda.ends[:] = 0


@rule
def forget_member(clock, agenda, member):
    """Remove what one member received and sent; it must not be on the heap."""
    agenda.when[member] = np.inf
    if clock.kind != HOPS:
        agenda.free[clock.place[member]] = 0.0


@rule
def departure(clock, free, sender, target, now, waited):
    """When a message has left its sender, if it is ready now; `free` says when each uplink is free.

    A first message waits until the uplink is free. A message after `waited` messages without an answer does
    not; `sub2sub.compiled.timing.latency.travel` adds the time of their timers.
    """
    if clock.kind == HOPS or clock.place[sender] == clock.place[target]:
        return now
    if waited > 0:
        return now + clock.occupied
    place = clock.place[sender]
    free[place] = max(now, free[place]) + clock.occupied
    return free[place]


@rule
def _sooner(agenda, a, b):
    if agenda.when[a] != agenda.when[b]:
        return agenda.when[a] < agenda.when[b]
    return agenda.number[a] < agenda.number[b]


@rule
def _rise(agenda, member, place):
    while place > 0:
        above = agenda.heap[(place - 1) >> 1]
        if not _sooner(agenda, member, above):
            break
        agenda.heap[place], agenda.slot[above] = above, place
        place = (place - 1) >> 1
    agenda.heap[place], agenda.slot[member] = member, place


@rule
def _sink(agenda, member, size):
    place = np.int64(0)
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and _sooner(agenda, agenda.heap[below + 1], agenda.heap[below]):
            below += 1
        lower = agenda.heap[below]
        if not _sooner(agenda, lower, member):
            break
        agenda.heap[place], agenda.slot[lower] = lower, place
        place = below
    agenda.heap[place], agenda.slot[member] = member, place


@rule
def schedule(agenda, item, when, number):
    """Add an item to the agenda, or move it to an earlier time; equal times are ordered by number."""
    agenda.when[item], agenda.number[item] = when, number
    tail = agenda.ends[TAIL]
    if agenda.slot[item] >= 0:
        _rise(agenda, item, np.int64(agenda.slot[item]))
    else:
        agenda.ends[TAIL] = tail + 1
        if agenda.queue:
            agenda.heap[tail] = item
        else:
            _rise(agenda, item, tail)


@apart
def offer(agenda, member, sender, when):
    """Add a copy on its way to a member; whether it is the earliest so far."""
    if not when < agenda.when[member]:
        return False
    agenda.sender[member] = sender
    agenda.hop[member] = agenda.hop[sender] + 1 if sender >= 0 else 0
    schedule(agenda, member, when, agenda.ends[COUNT])
    agenda.ends[COUNT] += 1
    return True


@rule
def again(agenda, item, when):
    """Add an item that was taken before once more: a timer."""
    schedule(agenda, item, when, agenda.ends[COUNT])
    agenda.ends[COUNT] += 1


@rule
def later(agenda, item, when):
    """Give an item a time and a number without adding it to the agenda: the caller keeps it."""
    agenda.when[item], agenda.number[item] = when, agenda.ends[COUNT]
    agenda.ends[COUNT] += 1


@rule
def sooner_than_first(agenda, item):
    """Whether an item that the caller keeps comes before all items on the agenda."""
    return agenda.ends[TAIL] == 0 or _sooner(agenda, item, agenda.heap[0])


@apart
def take(agenda):
    """Take the member whose copy arrives next; -1 if no copy is on its way."""
    head, tail = agenda.ends[HEAD], agenda.ends[TAIL]
    if head == tail:
        return np.int64(-1)
    if agenda.queue:
        agenda.ends[HEAD] = head + 1
        return np.int64(agenda.heap[head])
    member = np.int64(agenda.heap[0])
    agenda.slot[member] = -1
    agenda.ends[TAIL] = tail - 1
    if tail > 1:
        _sink(agenda, agenda.heap[tail - 1], tail - 1)
    return member
