"""What a peer does with an event (Sub-2-Sub, Section 4.2).

A peer that receives an event for the first time delivers it and forwards it once: to its two adjacent
neighbours on the event's ring, so that everybody gets it, and to a few random matching links, so that they
get it fast. Nothing goes back to where the event came from, and an event already seen is ignored. All a peer
goes by is its own views. Hops are synchronous: what is received at one hop is forwarded at the next; in a
network with latencies every message takes its own time, and peers forward in the order of time
(`sub2sub.timing`).

Read differently from the paper, or added to it (`DisseminationSettings.paper()` turns the additions off):

- The adjacent neighbours are the nearest either way among the *ring* links that match. What a peer's other
  views hold has been offered to its ring view before (Figure 3), so a nearer one can only be a cycle old.
- Random shortcuts are drawn from the other links that match; a peer that two of them lead to is twice as
  likely. *ring_shortcuts*: the paper names proximity and random links, here ring links serve as well.
  *max_age*: of proximity and random links only young ones, as old ones lead to peers that have left.
- *tries*: a message to an adjacent neighbour that is not acknowledged is sent again, so that a lost one does
  not look like a dead peer; *retries*: after that, the next nearest one that matches is tried. One that was
  skipped still gets the event, from its other side. Either takes an acknowledgement of every message to an
  adjacent neighbour: a message of its own (`Outcome.acks`), which may be lost like any other, and then brings
  a copy more. All of that happens within a hop. In milliseconds either side of the ring has a timer of its
  own, and one that says it does not want the event is replaced as late as one that is silent. Which ring
  links failed is reported, so that they can be dropped. A shortcut that fails has no consequences, so it is
  neither acknowledged nor sent again.
- Section 4.2 knows no failures. A message to a peer that is dead or out of reach costs as much as any other.
- Several peers on one host: see `sub2sub.events.hosts`.

A peer compares an event with the box of each of its links, dozens of times per delivery. The answer is the
same whoever asks, so it is worked out once per event for all peers (`sub2sub.geometry.matching`) and kept as
one bit a peer (`Scratch.wanted`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.events.hosts import Hosts, is_up, resident, share_host
from sub2sub.kernels.compilation import hot, rule
from sub2sub.kernels.memory import aligned
from sub2sub.kernels.randomness import below, draw, peer_key, unit
from sub2sub.kernels.simd import prefetch
from sub2sub.overlay.links import Links, target
from sub2sub.timing.agenda import Agenda, departure, new_agenda, offer, take
from sub2sub.timing.agenda import forget as forget_copies
from sub2sub.timing.latency import HOPS as COUNTS_HOPS
from sub2sub.timing.latency import Clock, travel

# Where a peer's draws for each purpose begin; two a message: whether it and its acknowledgement are lost.
SHORTCUT, LOSS = 0, 1 << 32
# Rows of the counts of an event.
REACHED, DELIVERED, HOPS, MESSAGES, LOCAL, DUPLICATES, SPAM, FAILED, ACKS = range(9)
TAIL, TARGETS = 0, 1
# What is noted of a peer: the last event it took, copies of it that it got and messages it sent on; and
# events taken, copies received, messages sent and copies that failed in all.
SEEN, COPIES, SENT, TAKEN, RECEIVED, FORWARDED, SPAMMED, NOTES = 0, 1, 2, 3, 4, 5, 6, 8
AHEAD = 3  # peers to look ahead
LINE = 8  # links that a cache line holds
MOST = 1024  # copies or messages told apart in histograms


class World(NamedTuple):
    """What all events have in common."""

    links: Links
    ring_number: NDArray[np.int64]  # (n,) number of a peer's first ring link, among all ring links
    hosts: Hosts
    alive: NDArray[np.uint8]
    group: NDArray[np.uint8]
    loss: float
    shortcuts: int
    ring_shortcuts: bool
    tries: int
    retries: int
    clock: Clock


class Scratch(NamedTuple):
    """Where one thread works; arrays as large as the population, used again for each event."""

    wanted: NDArray[np.int64]  # (n / 64,) a bit for each peer, set if its box contains the event
    notes: NDArray[np.int64]  # (n, NOTES), a cache line each
    seen_host: NDArray[np.int64]  # (hosts,) last event that the application took
    queue: NDArray[np.int32]  # (n,) peers in the order in which they took the event,
    came_from: NDArray[np.int32]  # whom each got it from,
    levels: NDArray[np.int64]  # and how many of them at each hop
    places: NDArray[np.int32]  # numbers of one peer's links, in order but while shortcuts are drawn
    swapped: NDArray[np.int32]  # which of them are not in their place
    targets: NDArray[np.int64]  # whom one peer has sent the event to,
    took: NDArray[np.uint8]  # and whether it has it, as far as that peer knows
    ends: NDArray[np.int64]  # (2,) how far the queue and the targets go
    histograms: NDArray[np.int64]  # (2, MOST) deliveries by copies and by messages sent on
    broken: NDArray[np.uint8]  # (ring links,) those along which a message failed
    agenda: Agenda  # copies on their way, in a network with latencies


def new_scratch(links: Links, hosts: Hosts, shortcuts: int, retries: int, clock: Clock) -> Scratch:
    """Clean scratch space."""
    n = len(links.boxes)
    widest = links.near.shape[1] + links.random.shape[1] + int(links.ring_size.max(initial=0))
    targets = 2 * (retries + 1) + shortcuts
    notes = aligned((n, NOTES), 0, np.int64)
    notes[:, SEEN] = -1
    return Scratch(
        np.zeros((n + 63) // 64, np.int64), notes, np.full(max(hosts.start.size - 1, 0), -1),
        np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n + 1, np.int64),
        np.arange(widest, dtype=np.int32), np.empty(widest, np.int32), np.empty(targets, np.int64),
        np.empty(targets, np.uint8), np.zeros(2, np.int64), np.zeros((2, MOST), np.int64),
        np.zeros(int(links.ring_size.sum(dtype=np.int64)), np.uint8),
        new_agenda(n if clock.timed else 0, clock),
    )  # fmt: skip


@rule
def _wants(wanted, peer):
    """Whether the event at hand matches a peer."""
    return (wanted[peer >> 6] >> (peer & 63)) & 1 == 1


@rule
def mark(wanted, members, first, last):
    """Turn the bits of members[first .. last - 1]: set them before an event, clear them after it."""
    for k in range(first, last):
        wanted[members[k] >> 6] ^= np.int64(1) << (members[k] & 63)


@rule
def _receive(world, e, peer, sender, when, scratch, counts):
    """A message arrives at the host of `peer`; whether somebody there has the event from then on."""
    taker = peer
    if world.alive[peer] == 0:
        taker = resident(world.hosts, scratch.wanted, peer)
    elif not _wants(scratch.wanted, peer):
        taker = np.int64(-1)
    notes = scratch.notes
    if taker < 0:
        counts[SPAM, e] += 1
        notes[peer, SPAMMED] += 1
        return False
    notes[taker, RECEIVED] += 1
    if notes[taker, SEEN] == e:
        counts[DUPLICATES, e] += 1
        notes[taker, COPIES] += 1
        if world.clock.kind != COUNTS_HOPS:
            offer(scratch.agenda, taker, sender, when)  # this may be the first one after all
        return True
    notes[taker, SEEN], notes[taker, COPIES], notes[taker, SENT] = e, 1, 0
    notes[taker, TAKEN] += 1
    if world.clock.kind == COUNTS_HOPS:
        tail = scratch.ends[TAIL]
        scratch.queue[tail], scratch.came_from[tail] = taker, sender
        scratch.ends[TAIL] = tail + 1
    else:
        offer(scratch.agenda, taker, sender, when)
    counts[REACHED, e] += 1
    hosts = world.hosts.of
    if hosts.shape[0] == 0 or hosts[taker] < 0:
        counts[DELIVERED, e] += 1
    elif scratch.seen_host[hosts[taker]] != e:
        scratch.seen_host[hosts[taker]] = e
        counts[DELIVERED, e] += 1
    return True


@rule
def _is_lost(world, draws, k):
    return world.loss > 0.0 and unit(draw(draws, LOSS + k)) < world.loss


@rule
def _leaves(world, sender, peer, waited, scratch):
    """When a message leaves its sender; of no meaning where hops are counted."""
    if world.clock.kind == COUNTS_HOPS:
        return 0.0
    return departure(world.clock, scratch.agenda.free, sender, peer, scratch.agenda.when[sender], waited)


@rule
def _send_afar(world, e, sender, peer, tries, waited, draws, scratch, counts):
    """Send the event to another host until it answers, `tries` times at most; whether it said it has it.

    No tries: sent once, unacknowledged, and taken to have arrived. `waited`: unanswered copies before it.
    """
    reachable = world.group[sender] == world.group[peer] and is_up(world.hosts, world.alive, peer)
    leaves = _leaves(world, sender, peer, waited, scratch)
    for attempt in range(max(tries, 1)):
        number = scratch.notes[sender, SENT]
        scratch.notes[sender, SENT] = number + 1
        scratch.notes[sender, FORWARDED] += 1
        counts[MESSAGES, e] += 1
        if not reachable or _is_lost(world, draws, 2 * number):
            counts[FAILED, e] += 1
            continue
        when = leaves + travel(world.clock, sender, peer, waited + attempt, draws)
        took = _receive(world, e, peer, sender, when, scratch, counts)
        if tries > 0:
            counts[ACKS, e] += 1
            if not _is_lost(world, draws, 2 * number + 1):
                return took
    return tries == 0


@rule
def _send(world, e, sender, peer, tries, waited, draws, scratch, counts):
    """Send the event to a peer; whether somebody there has it now, as far as the sender knows."""
    if not share_host(world.hosts, sender, peer):
        took = _send_afar(world, e, sender, peer, tries, waited, draws, scratch, counts)
    elif world.alive[peer] == 1:  # a host knows which of its peers are gone
        counts[LOCAL, e] += 1
        when = _leaves(world, sender, peer, 0, scratch)
        took = _receive(world, e, peer, sender, when, scratch, counts)
    else:
        took = False
    place = scratch.ends[TARGETS]
    scratch.targets[place], scratch.took[place] = peer, took
    scratch.ends[TARGETS] = place + 1
    return took


@rule
def _sent_to(scratch, peer):
    """What came of sending the event to a peer in this turn: 1 it has it, 0 it has not, -1 not sent."""
    for k in range(scratch.ends[TARGETS]):
        if scratch.targets[k] == peer:
            return np.int64(scratch.took[k])
    return np.int64(-1)


@rule
def _follow_ring(world, e, peer, came_from, draws, scratch, counts):
    """Forward to the nearest neighbour up the ring that matches, then down the ring."""
    links = world.links
    first, size = links.ring_start[peer], np.int64(links.ring_size[peer])
    for direction in (1, -1):
        failed = 0
        place = first if direction == 1 else first + size - 1
        for _ in range(size):
            neighbour = np.int64(links.ring_peer[place])
            if _wants(scratch.wanted, neighbour):
                before = _sent_to(scratch, neighbour)
                if neighbour == came_from or before == 1:
                    break
                if before < 0:
                    waited = failed * world.tries
                    if _send(world, e, peer, neighbour, world.tries, waited, draws, scratch, counts):
                        break
                    scratch.broken[world.ring_number[peer] + place - first] = 1
                    failed += 1
                    if failed > world.retries:
                        break
            place += direction


@rule
def _follow_shortcuts(world, e, peer, came_from, draws, scratch, counts):
    """Forward along random links that match, to peers not yet sent to."""
    links = world.links
    left = world.shortcuts
    total = np.int64(links.near_size[peer]) + np.int64(links.random_size[peer])
    if world.ring_shortcuts:
        total += np.int64(links.ring_size[peer])
    tried = np.int64(0)
    while tried < total and left > 0:
        other = tried + below(draw(draws, SHORTCUT + tried), total - tried)
        place = np.int64(scratch.places[other])
        scratch.places[other] = scratch.places[tried]
        scratch.swapped[tried] = other
        tried += 1
        to = target(links, peer, place)
        if _wants(scratch.wanted, to) and to != came_from and _sent_to(scratch, to) < 0:
            _send(world, e, peer, to, 0, 0, draws, scratch, counts)
            left -= 1
    for k in range(tried):
        scratch.places[scratch.swapped[k]] = scratch.swapped[k]


@rule
def forward(world, e, peer, came_from, draws, scratch, counts):
    """Let a peer forward the event; the scratch's targets tell to whom, and whether it knows that it arrived.

    `mark` has set who wants it.
    """
    scratch.ends[TARGETS] = 0
    _follow_ring(world, e, peer, came_from, draws, scratch, counts)
    _follow_shortcuts(world, e, peer, came_from, draws, scratch, counts)


@rule
def _look_ahead(links, scratch, head):
    """Have the views of peers whose turn comes soon fetched meanwhile; the outcome is the same without."""
    tail = scratch.ends[TAIL]
    if head + 2 * AHEAD < tail:
        later = np.int64(scratch.queue[head + 2 * AHEAD])
        prefetch(links.ring_start, later)
        prefetch(links.ring_size, later)
    if head + AHEAD < tail:
        soon = np.int64(scratch.queue[head + AHEAD])
        for k in range(0, links.near.shape[1], LINE):
            prefetch(links.near, soon * links.near.shape[1] + k)
        for k in range(0, links.random.shape[1], LINE):
            prefetch(links.random, soon * links.random.shape[1] + k)
        first, size = links.ring_start[soon], np.int64(links.ring_size[soon])
        for k in range(0, size, 2 * LINE):
            prefetch(links.ring_peer, first + k)


@hot
def spread(world, e, entry, key, scratch, counts):
    """Spread event e from a peer on, hop by hop; returns the hop of the last delivery, -1 for none.

    `mark` has set who wants it. A peer's draws are those of its number under `key`, whenever its turn comes.
    """
    counts[HOPS, e] = -1
    if entry < 0 or not is_up(world.hosts, world.alive, entry):
        return np.int64(-1)
    scratch.ends[TAIL] = 0
    _receive(world, e, entry, np.int64(-1), 0.0, scratch, counts)
    head, hop = np.int64(0), np.int64(-1)
    while head < scratch.ends[TAIL]:
        hop += 1
        end = scratch.ends[TAIL]
        scratch.levels[hop] = end - head
        while head < end:
            _look_ahead(world.links, scratch, head)
            peer, came_from = np.int64(scratch.queue[head]), np.int64(scratch.came_from[head])
            forward(world, e, peer, came_from, peer_key(key, peer), scratch, counts)
            head += 1
    _count_loads(scratch)
    counts[HOPS, e] = hop
    return hop


@rule
def _count_loads(scratch):
    for k in range(scratch.ends[TAIL]):
        notes = scratch.notes[scratch.queue[k]]
        scratch.histograms[0, min(notes[COPIES], MOST - 1)] += 1
        scratch.histograms[1, min(notes[SENT], MOST - 1)] += 1


@hot
def spread_in_time(world, e, entry, key, scratch, counts):
    """Spread event e as `spread` does, copy by copy in the order of time; the most hops of a delivery.

    Whoever got it stays on the agenda, with when and whom from, until it is told to `forget`.
    """
    counts[HOPS, e] = -1
    if entry < 0 or not is_up(world.hosts, world.alive, entry):
        return np.int64(-1)
    agenda, top = scratch.agenda, np.int64(-1)
    scratch.ends[TAIL], agenda.ends[:] = 0, 0
    _receive(world, e, entry, np.int64(-1), 0.0, scratch, counts)
    peer = take(agenda)
    while peer >= 0:
        scratch.queue[scratch.ends[TAIL]] = peer
        scratch.ends[TAIL] += 1
        while top < agenda.hop[peer]:
            top += 1
            scratch.levels[top] = 0
        scratch.levels[agenda.hop[peer]] += 1
        forward(world, e, peer, np.int64(agenda.sender[peer]), peer_key(key, peer), scratch, counts)
        peer = take(agenda)
    _count_loads(scratch)
    counts[HOPS, e] = top
    return top


@rule
def forget(world, scratch):
    """Clear the agenda of an event that was spread in time."""
    for k in range(scratch.ends[TAIL]):
        forget_copies(world.clock, scratch.agenda, scratch.queue[k])
