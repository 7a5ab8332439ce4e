"""How a peer forwards an event (Sub-2-Sub, Section 4.2), as kernels; `sub2sub.peers.forwarding` is readable.

A peer that receives an event for the first time delivers it and forwards it once: to its two adjacent
neighbours on the event's ring, so that all subscribers receive it, and to a few random matching links, so
that they receive it soon. It does not send the event back to its sender, and ignores further copies. It uses
only its own views. Hops are synchronous: an event received at one hop is forwarded at the next. In a network
with latencies every message takes its own time, and peers forward in the order of time
(`sub2sub.compiled.timing`).

Read differently from the paper, or added to it (`DisseminationSettings.paper()` turns the additions off):

- The adjacent neighbours are the nearest *ring* links in each direction that match. Links of the other views
  have been offered to the ring view before (Figure 3), so a nearer peer among them is at most a cycle old.
- Shortcuts are drawn from the other links that match; a peer with two of these links is twice as likely.
  *ring_shortcuts*: the paper names proximity and random links; here ring links are shortcuts, too. *max_age*:
  only young proximity and random links are used, because old ones lead to peers that have left.
- *tries*: if an adjacent neighbour does not acknowledge a message, the message is sent again, so that a lost
  message does not look like a dead peer. *retries*: after that, the next nearest neighbour that matches is
  tried. A neighbour that was skipped still receives the event from its other side. Acknowledgements are
  messages (`Outcome.acks`) and may be lost; then the event is sent once more. All of this happens within one
  hop. With latencies, each direction has its own timer, and a neighbour that answers that it does not match
  is replaced only when that timer ends. Ring links that failed are reported, so that they can be dropped.
  Shortcuts are neither acknowledged nor repeated.
- Section 4.2 does not consider failures. A message to a dead or unreachable peer is counted like any other.
- Several peers on one host: see `sub2sub.compiled.events.hosts`.

A peer compares an event with the boxes of all its links. Which boxes contain the event is therefore computed
once per event for all peers (`sub2sub.geometry.matching`), and kept as one bit per peer (`Scratch.wanted`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.links import Links, target
from sub2sub.compiled.common.memory import LANES32, aligned
from sub2sub.compiled.common.randomness import below, draw, peer_key, unit
from sub2sub.compiled.common.views import prefetch_row
from sub2sub.compiled.events.hosts import Hosts, is_up, resident, share_host, wants
from sub2sub.compiled.machinery.compilation import hot, rule
from sub2sub.compiled.machinery.simd import prefetch
from sub2sub.compiled.timing.agenda import Agenda, departure, new_agenda, offer, take
from sub2sub.compiled.timing.agenda import forget_member as forget_copies
from sub2sub.compiled.timing.latency import HOPS as COUNTS_HOPS
from sub2sub.compiled.timing.latency import Clock, travel
from sub2sub.peers.forwarding import LOSS, SHORTCUT

# Rows of `counts`, which has a column for each event.
REACHED, DELIVERED, HOPS, MESSAGES, LOCAL, DUPLICATES, SPAM, FAILED, ACKS = range(9)
TAIL, TARGETS = 0, 1
# Columns of `Scratch.notes`. Of the last event that a peer took: its number, copies received, messages sent.
# Over all events: events taken, copies received, messages sent, copies of events that it does not match.
SEEN, COPIES, SENT, TAKEN, RECEIVED, FORWARDED, SPAMMED, NOTES = 0, 1, 2, 3, 4, 5, 6, 8
AHEAD = 3  # how many peers ahead of its turn a peer's views are prefetched
MOST = 1024  # bins of the histograms; the last one also counts everything beyond it


class World(NamedTuple):
    """The overlay, the network and the settings: the same for all events."""

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
    barred: NDArray[np.uint8]  # (n,) 1 for peers that end a way along the ring; empty if none do


class EventScratch(NamedTuple):
    """The scratch space of one thread, used again for each event."""

    wanted: NDArray[np.int64]  # (n / 64,) a bit for each peer, set if its box contains the event
    notes: NDArray[np.int64]  # (n, NOTES), a cache line each
    seen_host: NDArray[np.int64]  # (hosts,) last event that the host's application took
    queue: NDArray[np.int32]  # (n,) peers in the order in which they took the event,
    came_from: NDArray[np.int32]  # (n,) the peer that sent the event to each of them
    levels: NDArray[np.int64]  # (n + 1,) how many peers took it at each hop
    places: NDArray[np.int32]  # 0, 1, 2, ...: the numbers of one peer's links, shuffled to draw shortcuts
    swapped: NDArray[np.int32]  # which of them to put back afterwards
    targets: NDArray[np.int64]  # the peers to which one peer has sent the event

    ends: NDArray[np.int64]  # (2,) the lengths of the queue and of the targets
    histograms: NDArray[np.int64]  # (2, MOST) deliveries by copies received and by messages sent
    broken: NDArray[np.uint8]  # (ring links,) 1 for those along which a message failed
    agenda: Agenda  # copies on their way, in a network with latencies


def new_event_scratch(world: World, room: int = 0) -> EventScratch:
    """Clean scratch space; `room` for targets of one peer besides those along the ring and shortcuts."""
    links, clock = world.links, world.clock
    n = len(links.boxes)
    widest = links.near.shape[1] + links.random.shape[1] + int(links.ring_size.max(initial=0))
    targets = 2 * (world.retries + 1) + world.shortcuts + room
    notes = aligned((n, NOTES), 0, np.int64)
    notes[:, SEEN] = -1
    return EventScratch(
        np.zeros((n + 63) // 64, np.int64), notes, np.full(max(world.hosts.start.size - 1, 0), -1),
        np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n + 1, np.int64),
        np.arange(widest, dtype=np.int32), np.empty(widest, np.int32), np.empty(targets, np.int64),
        np.zeros(2, np.int64), np.zeros((2, MOST), np.int64),
        np.zeros(int(links.ring_size.sum(dtype=np.int64)), np.uint8),
        new_agenda(n if clock.timed else 0, clock),
    )  # fmt: skip


@rule
def mark(wanted, members, first, last):
    """Flip the bits of members[first .. last - 1]: sets them before an event, clears them after it."""
    for k in range(first, last):
        wanted[members[k] >> 6] ^= np.int64(1) << (members[k] & 63)


@rule
def receive(world, e, peer, sender, when, scratch, counts):
    """A message arrives at the host of `peer`; whether a peer of that host has the event now."""
    taker = peer
    if world.alive[peer] == 0:
        taker = resident(world.hosts, scratch.wanted, peer)
    elif not wants(scratch.wanted, peer):
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
            offer(scratch.agenda, taker, sender, when)  # this copy may arrive before the others
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
    """When a message leaves its sender; 0 where hops are counted, because nothing uses it there."""
    if world.clock.kind == COUNTS_HOPS:
        return 0.0
    return departure(world.clock, scratch.agenda.free, sender, peer, scratch.agenda.when[sender], waited)


@rule
def _send_afar(world, e, sender, peer, tries, waited, draws, scratch, counts):
    """Send the event to another host until it answers, at most `tries` times; whether it answers "taken".

    With `tries` 0 the event is sent once, without acknowledgement, and counts as taken. `waited` is the
    number of messages in this direction that were not answered before.
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
        took = receive(world, e, peer, sender, when, scratch, counts)
        if tries > 0:
            counts[ACKS, e] += 1
            if not _is_lost(world, draws, 2 * number + 1):
                return took
    return tries == 0


@rule
def send(world, e, sender, peer, tries, waited, draws, scratch, counts):
    """Send the event to a peer; whether that peer's host has it now, as far as the sender knows."""
    if not share_host(world.hosts, sender, peer):
        took = _send_afar(world, e, sender, peer, tries, waited, draws, scratch, counts)
    elif world.alive[peer] == 1:  # a host knows which of its peers are gone
        counts[LOCAL, e] += 1
        when = _leaves(world, sender, peer, 0, scratch)
        took = receive(world, e, peer, sender, when, scratch, counts)
    else:
        took = False
    scratch.targets[scratch.ends[TARGETS]] = peer
    scratch.ends[TARGETS] += 1
    return took


@rule
def is_target(scratch, peer):
    """Whether the event was sent to a peer in this turn."""
    found = False
    for k in range(scratch.ends[TARGETS]):
        found |= scratch.targets[k] == peer
    return found


@rule
def follow_ring(world, e, peer, came_from, draws, scratch, counts):
    """Forward to the nearest matching neighbour up the ring, and to the nearest down the ring.

    A target is where both ways meet: behind it are only targets of the other way. Returns the nearest
    neighbour up the ring that has the event now, as far as the peer knows; -1 if there is none.
    """
    links = world.links
    first, size = links.ring_start[peer], np.int64(links.ring_size[peer])
    successor = np.int64(-1)
    for direction in (1, -1):
        failed = 0
        place = first if direction == 1 else first + size - 1
        for _ in range(size):
            neighbour = np.int64(links.ring_peer[place])
            if wants(scratch.wanted, neighbour):
                if world.barred.shape[0] > 0 and world.barred[neighbour] == 1:
                    break
                waited = failed * world.tries
                if (
                    neighbour == came_from
                    or is_target(scratch, neighbour)
                    or send(world, e, peer, neighbour, world.tries, waited, draws, scratch, counts)
                ):
                    if direction == 1:
                        successor = neighbour
                    break
                scratch.broken[world.ring_number[peer] + place - first] = 1
                failed += 1
                if failed > world.retries:
                    break
            place += direction
    return successor


@rule
def follow_shortcuts(world, e, peer, came_from, left, draws, scratch, counts):
    """Forward along `left` random links that match, to peers to which it was not sent yet."""
    links = world.links
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
        if wants(scratch.wanted, to) and to != came_from and not is_target(scratch, to):
            send(world, e, peer, to, 0, 0, draws, scratch, counts)
            left -= 1
    for k in range(tried):
        scratch.places[scratch.swapped[k]] = scratch.swapped[k]


@rule
def forward(world, e, peer, came_from, draws, scratch, counts):
    """Let a peer forward the event; `mark` has set the bits of the peers that match."""
    scratch.ends[TARGETS] = 0
    follow_ring(world, e, peer, came_from, draws, scratch, counts)
    follow_shortcuts(world, e, peer, came_from, world.shortcuts, draws, scratch, counts)


@rule
def _look_ahead(links, scratch, head):
    """Prefetch the views of peers whose turn comes soon; this does not change the outcome."""
    tail = scratch.ends[TAIL]
    if head + 2 * AHEAD < tail:
        later = np.int64(scratch.queue[head + 2 * AHEAD])
        prefetch(links.ring_start, later)
        prefetch(links.ring_size, later)
    if head + AHEAD < tail:
        soon = np.int64(scratch.queue[head + AHEAD])
        prefetch_row(links.near, soon)
        prefetch_row(links.random, soon)
        first, size = links.ring_start[soon], np.int64(links.ring_size[soon])
        for k in range(0, size, LANES32):
            prefetch(links.ring_peer, first + k)


@hot
def spread(world, e, entry, key, scratch, counts):
    """Spread event e hop by hop, beginning at the peer `entry`; the hop of the last delivery, -1 for none.

    `mark` has set the bits of the peers that match. The draws of a peer depend on `key` and its number, not
    on the order of turns.
    """
    counts[HOPS, e] = -1
    if entry < 0 or not is_up(world.hosts, world.alive, entry):
        return np.int64(-1)
    scratch.ends[TAIL] = 0
    receive(world, e, entry, np.int64(-1), 0.0, scratch, counts)
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
    count_loads(scratch)
    counts[HOPS, e] = hop
    return hop


@rule
def count_loads(scratch):
    """Add to the histograms the copies and the messages of each peer that received the event."""
    for k in range(scratch.ends[TAIL]):
        notes = scratch.notes[scratch.queue[k]]
        scratch.histograms[0, min(notes[COPIES], MOST - 1)] += 1
        scratch.histograms[1, min(notes[SENT], MOST - 1)] += 1


@hot
def spread_in_time(world, e, entry, key, scratch, counts):
    """Spread event e as `spread` does, but in the order of time; the largest number of hops of a delivery.

    The agenda keeps the time and the sender of each reception until `forget_event` clears it.
    """
    counts[HOPS, e] = -1
    if entry < 0 or not is_up(world.hosts, world.alive, entry):
        return np.int64(-1)
    agenda, top = scratch.agenda, np.int64(-1)
    scratch.ends[TAIL], agenda.ends[:] = 0, 0
    receive(world, e, entry, np.int64(-1), 0.0, scratch, counts)
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
    count_loads(scratch)
    counts[HOPS, e] = top
    return top


@rule
def forget_event(world, scratch):
    """Clear the agenda of an event that was spread in time."""
    for k in range(scratch.ends[TAIL]):
        forget_copies(world.clock, scratch.agenda, scratch.queue[k])
