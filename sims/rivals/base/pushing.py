"""Spreading events by push, announcement and request, for many events at once.

Plumtree and GossipSub are one scheme (Leitão, Pereira, Rodrigues: *Epidemic Broadcast Trees*, SRDS 2007;
libp2p's GossipSub specification, v1.0 to v1.2): a member pushes a new event to some links, announces it to
others, and asks an announcer for what has not come. They differ in which links these are, in when events are
announced (at once, or at heartbeats), and in how long a member waits before it asks. Without announcements
the same kernel floods rings (PolderCast) and goes down trees (Scribe).

Readings:

- A message takes one hop, or its latency in a network with latencies (`sub2sub.compiled.timing`), where
  members do not have their heartbeats at the same time and the hops of an event are the pushes on its route.
  Timers are whole numbers of hops, or of ticks.
- A pending request for an event does not delay a push of it.
- A member remembers at most `ANNOUNCERS` announcers of an event.
- A member whose copies wait for its uplink decides on each when the uplink is free, if members refuse events.
- Dissemination changes no links: they become eager or lazy when the overlay is stepped.

`tests/sims/rivals/push_peer.py` is the readable form.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sims.rivals.base.push_tables import PushRules, PushTables
from sub2sub.compiled.common.network import Faults, repeated
from sub2sub.compiled.common.randomness import below, draw, peer_key
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.timing.agenda import Agenda, departure, new_agenda, schedule, take
from sub2sub.compiled.timing.latency import HOPS, Clock, next_beat, travel

PUSH, ANNOUNCE, REQUEST, REFUSE, NEXT = range(5)  # NEXT + k: the sender itself, whose k-th link is next
# Queues; of two messages at one time that of the first goes first.
STARTS, SOON, TIMERS, AGAIN, BEATS = range(5)
ANNOUNCERS = 8
ROUND_TRIP = 3  # hops after which the next announcer is asked


@by_reference
class PushContext(NamedTuple):
    """Links, rules, faults and latencies, which are the same for all events."""

    tables: PushTables
    rules: PushRules
    faults: Faults
    clock: Clock


@by_reference
class Scratch(NamedTuple):
    """What members know of the current event, and the messages in transit.

    Attributes
    ----------
    first : (members,) int32
        Hop at which the event came, -1 for never.
    when : (members,) float64
        And the time.
    sent, arrived, used : (members,) int64
        Pushes sent, pushes that arrived, draws used.
    announcers : (members, ANNOUNCERS) int32
    state : (members, 4) int64
        Announcements received, announcers asked, whether a timer runs, heartbeats left.
    queue : (room, 3) int32
        Messages of all queues: kind, sender and target.
    agenda : Agenda
        When each message is due.
    ends : (5, 3) int64
        Where each queue begins, and the places of its first message and after its last.
    chosen : int32 array
    control : (1,) int64
        Announcements, requests and refusals sent.
    refused : (eager links,) bool
        Links whose other end has said that it has the event.
    """

    first: NDArray[np.int32]
    when: NDArray[np.float64]
    sent: NDArray[np.int64]
    arrived: NDArray[np.int64]
    used: NDArray[np.int64]
    announcers: NDArray[np.int32]
    state: NDArray[np.int64]
    queue: NDArray[np.int32]
    agenda: Agenda
    ends: NDArray[np.int64]
    chosen: NDArray[np.int32]
    control: NDArray[np.int64]
    refused: NDArray[np.bool_]


HEARD, ASKED, WAITING, LEFT = range(4)


def scratch_for(context: PushContext, most_starts: int) -> Scratch:
    """Scratch space for events that start at no more than `most_starts` members."""
    tables, rules = context.tables, context.rules
    members = len(tables.eager.start) - 1
    links = sum(len(kind.item) for kind in tables)
    widest = max(int(np.diff(kind.start).max(initial=0)) for kind in tables)
    windows = max(1, rules.windows)
    asked = ANNOUNCERS * members
    told = 2 * len(tables.eager.item) + len(tables.lazy.item) + members if rules.refuses else 0
    rooms = [most_starts, links * windows + 2 * asked + told, members, asked, windows * members]
    ends = np.zeros((5, 3), np.int64)
    ends[:, 0] = np.append(0, np.cumsum(rooms)[:-1])
    return Scratch(
        np.empty(members, np.int32), np.empty(members), np.empty(members, np.int64),
        np.empty(members, np.int64), np.empty(members, np.int64), np.empty((members, ANNOUNCERS), np.int32),
        np.empty((members, 4), np.int64), np.empty((sum(rooms), 3), np.int32),
        new_agenda(sum(rooms), context.clock), ends, np.empty(widest + 1, np.int32), np.zeros(1, np.int64),
        np.empty(len(tables.eager.item), np.bool_),
    )  # fmt: skip


@kernel
def push_event(context, starts, k, key, scratch):
    """Disseminate event k; `scratch` then has its outcome."""
    _clear(scratch)
    for place in range(starts.first.start[k], starts.first.start[k + 1]):
        _put(scratch, STARTS, starts.when[place], starts.hop[place], -1, starts.first.item[place])
        if starts.hop[place] > 0:  # its publisher received no message
            scratch.arrived[starts.first.item[place]] += 1
    for place in range(starts.payer.start[k], starts.payer.start[k + 1]):
        scratch.sent[starts.payer.item[place]] += 1
    while True:
        kind, item = _next(scratch)
        if kind < 0:
            break
        now = scratch.agenda.when[item]
        what, sender, member = scratch.queue[item]
        if kind == STARTS:
            _take(context, key, scratch, member, sender, now, what)
        elif kind == BEATS:
            _announce(context, key, scratch, member, -1, now)
            scratch.state[member, LEFT] -= 1
            if scratch.state[member, LEFT] > 0:
                _put(scratch, BEATS, now + context.rules.period * context.clock.tick, 0, -1, member)
        elif kind in (TIMERS, AGAIN):
            _wake(context, key, scratch, member, now)
        elif what == PUSH:
            _take(context, key, scratch, member, sender, now, scratch.first[sender] + 1)
        elif what == ANNOUNCE:
            _hear(context, scratch, member, sender, now)
        elif what == REFUSE:
            _refuse(context.tables.eager, scratch, member, sender)
        elif what >= NEXT:
            _push_eager(context, key, scratch, member, sender, now, np.int64(what - NEXT))
        else:
            _send(context, key, scratch, PUSH, member, sender, now)


@kernel
def _clear(scratch):
    scratch.first[:] = -1
    scratch.when[:] = np.inf
    scratch.sent[:] = 0
    scratch.arrived[:] = 0
    scratch.used[:] = 0
    scratch.state[:] = 0
    scratch.control[0] = 0
    scratch.refused[:] = False
    scratch.ends[:, 1] = scratch.ends[:, 0]
    scratch.ends[:, 2] = scratch.ends[:, 0]
    scratch.agenda.free[:] = 0.0
    scratch.agenda.ends[:] = 0


@kernel
def _put(scratch, kind, time, what, sender, member):
    """Append to a queue. Counted in hops the times put into one queue never fall, so it needs no sorting."""
    item = scratch.ends[kind, 2]
    message = scratch.queue[item]
    message[0], message[1], message[2] = what, sender, member
    scratch.ends[kind, 2] = item + 1
    if scratch.agenda.queue:
        scratch.agenda.when[item] = time
    else:
        schedule(scratch.agenda, item, time, item)  # the queues lie one after the other


@kernel
def _next(scratch):
    """The queue whose first message is next, and the place of that message; -1 when all are empty."""
    best, when = -1, np.inf
    if not scratch.agenda.queue:
        item = take(scratch.agenda)
        for kind in range(5):
            if scratch.ends[kind, 0] <= item < scratch.ends[kind, 2]:
                best = kind
        return best, item
    for kind in range(5):
        head = scratch.ends[kind, 1]
        if head < scratch.ends[kind, 2] and scratch.agenda.when[head] < when:
            best, when = kind, scratch.agenda.when[head]
    item = scratch.ends[best, 1] if best >= 0 else np.int64(-1)
    if best >= 0:
        scratch.ends[best, 1] += 1
    return best, item


@kernel
def _draw(key, scratch, member):
    bits = draw(peer_key(key, member), scratch.used[member])
    scratch.used[member] += 1
    return bits


@kernel
def _send(context, key, scratch, what, sender, target, now):
    """Send a message; a push is repeated while it is not acknowledged, up to `retries` times."""
    faults, clock = context.faults, context.clock
    own, leaves, retries = peer_key(key, sender), now, np.int64(0)
    if what == PUSH:
        leaves = departure(clock, scratch.agenda.free, sender, target, now, 0)
        retries = np.int64(context.rules.retries)
    elif context.rules.control > 0.0:
        leaves = _occupy(clock, scratch.agenda.free, sender, now, context.rules.control)
    copies, came, first = repeated(faults, sender, target, own, scratch.used[sender], retries)
    scratch.used[sender] += 1
    if context.rules.control > 0.0 and retries > 0:
        _occupy(clock, scratch.agenda.free, sender, now, float(copies - 1))
        _occupy(clock, scratch.agenda.free, target, now, came * context.rules.control)  # acknowledgements
    if what == PUSH:
        scratch.sent[sender] += copies
        scratch.arrived[target] += came
    else:
        scratch.control[0] += copies
    # The time of a duplicate does not matter.
    if came > 0 and (what in (REQUEST, REFUSE) or scratch.first[target] < 0):
        _put(scratch, SOON, leaves + travel(clock, sender, target, first, own), what, sender, target)


@kernel
def _occupy(clock, free, member, now, messages):
    """Let an uplink carry some more, after what waits for it; when it is free again."""
    place = clock.place[member]
    free[place] = max(now, free[place]) + messages * clock.occupied
    return free[place]


@kernel
def _some(links, member, count, sender, key, scratch):
    """Copy `count` random links of a member without the sender to `chosen`, or all in their order."""
    chosen, size = scratch.chosen, 0
    for place in range(links.start[member], links.start[member + 1]):
        if links.item[place] != sender:
            chosen[size] = links.item[place]
            size += 1
    if count < 0 or size <= count:
        return size
    for place in range(count):
        other = place + below(_draw(key, scratch, member), size - place)
        chosen[place], chosen[other] = chosen[other], chosen[place]
    return count


@kernel
def _take(context, key, scratch, member, sender, now, hop):
    """Handle a copy of the event; push and announce it if it is the first."""
    if scratch.first[member] >= 0:
        return
    tables, rules = context.tables, context.rules
    scratch.first[member], scratch.when[member] = hop if context.clock.kind != HOPS else np.int64(now), now
    if rules.refuses and hop > 0:
        for k in range(_some(tables.eager, member, np.int64(-1), sender, key, scratch)):
            _send(context, key, scratch, REFUSE, member, scratch.chosen[k], now)
    sent = _push_eager(context, key, scratch, member, sender, now, np.int64(0))
    for k in range(_some(tables.pool, member, max(rules.fanout - sent, 0), sender, key, scratch)):
        _send(context, key, scratch, PUSH, member, scratch.chosen[k], now)
    if rules.period == 0:
        _announce(context, key, scratch, member, sender, now)
    elif tables.lazy.start[member + 1] > tables.lazy.start[member] and rules.windows > 0:
        scratch.state[member, LEFT] = rules.windows
        _put(scratch, BEATS, next_beat(context.clock, member, now, rules.period), 0, -1, member)


@kernel
def _push_eager(context, key, scratch, member, sender, now, place):
    """Push along the eager links from this place on, a publisher that floods then along its lazy ones.

    Returns how many copies were sent. Where members refuse events, one at a time, when the uplink is free.
    """
    eager, lazy, clock, sent = context.tables.eager, context.tables.lazy, context.clock, 0
    first, size = eager.start[member], eager.start[member + 1] - eager.start[member]
    end = size
    if context.rules.floods and scratch.first[member] == 0:
        end += lazy.start[member + 1] - lazy.start[member]
    while place < end:
        target = eager.item[first + place] if place < size else lazy.item[lazy.start[member] + place - size]
        is_refused = place < size and scratch.refused[first + place]
        place += 1
        if target == sender or is_refused:
            continue
        _send(context, key, scratch, PUSH, member, target, now)
        sent += 1
        if context.rules.refuses and clock.kind != HOPS and place < end:
            _put(
                scratch,
                SOON,
                max(now, scratch.agenda.free[clock.place[member]]),
                NEXT + place,
                sender,
                member,
            )
            break
    return sent


@kernel
def _refuse(eager, scratch, member, sender):
    """Note that the other end of a link has the event."""
    for place in range(eager.start[member], eager.start[member + 1]):
        if eager.item[place] == sender:
            scratch.refused[place] = True


@kernel
def _announce(context, key, scratch, member, sender, now):
    count = _some(context.tables.lazy, member, context.rules.announce, sender, key, scratch)
    for k in range(count):
        _send(context, key, scratch, ANNOUNCE, member, scratch.chosen[k], now)


@kernel
def _hear(context, scratch, member, sender, now):
    """Remember the announcer, and wait for the event."""
    state = scratch.state[member]
    if scratch.first[member] >= 0 or state[HEARD] == ANNOUNCERS:
        return
    scratch.announcers[member, state[HEARD]] = sender
    state[HEARD] += 1
    if not state[WAITING]:
        state[WAITING] = 1
        _put(scratch, TIMERS, now + context.rules.wait * context.clock.tick, 0, -1, member)


@kernel
def _wake(context, key, scratch, member, now):
    """Ask the next announcer, if the event has not come."""
    state = scratch.state[member]
    state[WAITING] = 0
    if scratch.first[member] >= 0 or state[ASKED] == state[HEARD]:
        return
    target = scratch.announcers[member, state[ASKED]]
    state[ASKED] += 1
    state[WAITING] = 1
    _send(context, key, scratch, REQUEST, member, target, now)
    _put(scratch, AGAIN, now + ROUND_TRIP * context.clock.tick, 0, -1, member)
