"""The next reception of an event: the copies on their way, in the order in which they arrive.

A member that receives an event for the first time forwards it, so what an event does is decided by the first
copy at each member. An agenda keeps, for each member, the earliest copy on its way. A later copy will be a
duplicate whatever happens and need not be followed; an earlier one takes its place. Members are taken in the
order of time from a heap (Dijkstra: *A note on two problems in connexion with graphs*, 1959), of copies that
arrive at the same moment in the order in which they were sent.

Where the clock counts hops, copies are sent in the order in which they arrive, and the heap is a queue: the
hop-driven simulation is the case of this one in which there is nothing to sort.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import apart, rule
from sub2sub.timing.latency import HOPS, Clock

HEAD, TAIL, COUNT = range(3)


class Agenda(NamedTuple):
    """Copies of one event on their way.

    Attributes
    ----------
    when : (n,) float64
        When the earliest copy arrives, or arrived; infinity if there is none.
    number : (n,) int64
        How many copies were put down before it.
    hop, sender : (n,) int32
        Hops on its way, and whom it comes from.
    slot : (n,) int32
        Where in the heap a member stands, -1 for nowhere.
    heap : (n,) int32
        Members that copies are on their way to.
    free : (places,) float64
        When each uplink is free.
    ends : (3,) int64
        Where the heap begins and ends, and copies put down so far.
    queue : bool
        Whether copies are put down in the order in which they arrive, so that the heap is a queue.
    """

    when: NDArray[np.float64]
    number: NDArray[np.int64]
    hop: NDArray[np.int32]
    sender: NDArray[np.int32]
    slot: NDArray[np.int32]
    heap: NDArray[np.int32]
    free: NDArray[np.float64]
    ends: NDArray[np.int64]
    queue: bool


def new_agenda(n: int, clock: Clock) -> Agenda:
    """An agenda of n members with nothing on it.

    Examples
    --------
    >>> from sub2sub.timing.settings import Timing
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
    """Forget everything."""
    agenda.when[:] = np.inf
    agenda.slot[:] = -1
    agenda.free[:] = 0.0
    agenda.ends[:] = 0


@rule
def forget(clock, agenda, member):
    """Forget what one member, which is not on the heap, received and sent."""
    agenda.when[member] = np.inf
    if clock.kind != HOPS:
        agenda.free[clock.place[member]] = 0.0


@rule
def departure(clock, free, sender, target, now, waited):
    """When a message with the event leaves a member that has it ready now; `free` are the uplinks.

    One that is the first on its way waits until the uplink is free; one that follows `waited` silent copies
    leaves when their timers have ended, which `sub2sub.timing.latency.travel` adds.
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
    """Put an item on the agenda, or earlier on it; of items at one time the lowest number is first."""
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
    """Note a copy on its way to a member; whether it is the earliest so far."""
    if not when < agenda.when[member]:
        return False
    agenda.sender[member] = sender
    agenda.hop[member] = agenda.hop[sender] + 1 if sender >= 0 else 0
    schedule(agenda, member, when, agenda.ends[COUNT])
    agenda.ends[COUNT] += 1
    return True


@rule
def again(agenda, item, when):
    """Put an item that was taken on the agenda once more: a timer."""
    schedule(agenda, item, when, agenda.ends[COUNT])
    agenda.ends[COUNT] += 1


@rule
def later(agenda, item, when):
    """Give an item its time and its number without putting it on the agenda: somebody else keeps it."""
    agenda.when[item], agenda.number[item] = when, agenda.ends[COUNT]
    agenda.ends[COUNT] += 1


@rule
def sooner_than_first(agenda, item):
    """Whether an item that is kept elsewhere comes before all that is on the agenda."""
    return agenda.ends[TAIL] == 0 or _sooner(agenda, item, agenda.heap[0])


@apart
def take(agenda):
    """The member whose copy arrives next; -1 when none is on its way."""
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
