"""CAMCAST's routing on the shared overlay: how each peer forwards an event of its topic.

CAMCAST, Section 3.5, on the tables of `hierarchy.shared.layer`. A member that receives an event for the first
time sends it to ln N + c entries of its topic table and, with probability p_sel = g/N, to entries of its
super-topic table, each with probability p_a.

Differences from the paper:

- Members do not know N. A member whose topic table is not full knows its whole community and counts it. One
  with a full table measures the distance, in ID space, from its k-th predecessor to its k-th successor: that
  is 2k of the N steps around the ring.
- p_a is a/k if k of the z entries have the tightest range, that is, the range of the nearest supertopic with
  members, so that a supertopic with one member gets as many messages as a large one. If it has fewer than z
  members, the other entries have looser ranges. Events go to these as well, as the nearest may have crashed.
- In a community of fewer than g members, where all are links, each sends to more entries, so that g a copies
  of an event go upward on average, as in a large community.
- The nearest successor and predecessor among the equals are the first of the ln N + c targets, the others are
  random, so that no member is missed by chance (Voulgaris, van Steen: *Hybrid dissemination*, Middleware
  2007).

Range subscribers have no tables. They are on the event's ring, between members, and get the event along it:
every peer that receives the event sends it to its adjacent neighbours that are range subscribers. Without
range subscribers this costs nothing, and the routing is CAMCAST's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.dissemination import (
    ARRIVED,
    SENT,
    UPWARD,
    Carrier,
    begin,
    choose_targets,
    choose_upward,
    receive,
    send,
    send_upward,
    send_within,
)
from hierarchy.camcast.settings import Parameters
from hierarchy.camcast.tables import Tables
from hierarchy.shared.rules import entries, looseness
from hierarchy.shared.settings import CamcastRoute
from sub2sub.events.accounting import ACKS, FAILED, MESSAGES, account, new_totals, outcome_of
from sub2sub.events.audience import half_open
from sub2sub.events.outcome import Outcome
from sub2sub.events.receptions import Receptions
from sub2sub.geometry.matching import match_boxes
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import cycle_key, peer_key, stream_number
from sub2sub.overlay.links import Links
from sub2sub.overlay.views import peer_of

if TYPE_CHECKING:
    from hierarchy.shared.overlay import SharedOverlay

STREAM = stream_number("shared routing")


class Ring(NamedTuple):
    """Ring views, and which peers subscribe to topics, to reach range subscribers."""

    start: NDArray[np.int64]
    size: NDArray[np.int32]
    peer: NDArray[np.int32]
    topical: NDArray[np.uint8]


def routing_tables(overlay: SharedOverlay, route: CamcastRoute) -> tuple[Tables, Parameters]:
    """The tables and parameters for dissemination, in which every peer is a community of its own."""
    population, n = overlay.population, len(overlay.population)
    equals, above = overlay.tables.equals, overlay.tables.above
    topic_table = np.full(equals.shape, -1, np.int32)
    super_table = np.full((n, 1, above.shape[1]), -1, np.int32)
    tightest = _fill_tables(population.boxes, equals, above, topic_table, super_table[:, 0])
    size = community_sizes(equals, population.ids, overlay.settings.tables.neighbours)
    ln_n = np.log(size)
    parameters = Parameters(
        np.maximum(1, np.floor(ln_n + route.c)).astype(np.int32),
        np.minimum(1.0, route.g / size),
        np.minimum(1.0, np.maximum(route.a, route.g * route.a / size) / np.maximum(tightest, 1)),
    )
    return Tables(np.arange(n, dtype=np.int32), topic_table, super_table), parameters


@kernel
def _fill_tables(boxes, equals, above, topic_table, super_table):
    """Copy both tables; return how many super-topic entries of each peer have the tightest range."""
    used = np.zeros(len(equals), np.int64)
    for i in range(len(equals)):
        for place in range(entries(equals[i])):
            topic_table[i, place] = peer_of(equals[i, place])
        size = entries(above[i])
        tightest = np.inf
        for place in range(size):
            tightest = min(tightest, looseness(boxes, i, peer_of(above[i, place])))
        for place in range(size):
            super_table[i, place] = peer_of(above[i, place])
            used[i] += looseness(boxes, i, peer_of(above[i, place])) == tightest
    return used


@kernel
def community_sizes(equals, ids, neighbours):
    """Each peer's estimate of the size of its community."""
    n, room = equals.shape
    found = np.empty(n, np.float64)
    ways = np.empty(room, np.uint64)
    for i in range(n):
        size = entries(equals[i])
        if size < room:
            found[i] = size + 1.0
            continue
        for place in range(size):
            ways[place] = ids[peer_of(equals[i, place])] - ids[i]  # modulo 2**64
        ways.sort()
        span = np.float64(ways[neighbours - 1]) - np.float64(ways[room - neighbours]) + 2.0**64
        found[i] = max(size + 1.0, 2.0 * neighbours * 2.0**64 / max(span, 1.0))  # floats round
    return found


def route_events(
    overlay: SharedOverlay,
    events: NDArray[np.float64],
    publishers: NDArray[np.int64],
    route: CamcastRoute,
    cycle: int = 0,
    record: bool = False,
) -> Outcome:
    """Disseminate events by CAMCAST's routing; see `SharedOverlay.spread`."""
    population, network, n = overlay.population, overlay.network, len(overlay.population)
    to = match_boxes(*half_open(population), events)
    tables, parameters = routing_tables(overlay, route)
    links = Links.of(overlay)
    ring = Ring(links.ring_start, links.ring_size, links.ring_peer, overlay.topical)
    carrier = Carrier.of(network, route.retries, population.host)
    timed = carrier.clock.timed
    totals = new_totals(len(events), n, (to, np.arange(len(events))) if timed else None)
    first = np.empty((len(events) if record else 1, n), np.int32)
    when = np.empty((len(events) if record and timed else 0, n))
    key = cycle_key(overlay.seed, STREAM, cycle)
    _spread_all(tables, parameters, carrier, ring, to, publishers, key, (first, when), totals)
    if route.retries:
        totals.events[:, ACKS] = totals.events[:, MESSAGES] - totals.events[:, FAILED]
    received = Receptions.of_members(first, np.arange(n), when) if record else None
    return outcome_of(totals, publishers, received)


@kernel
def _adjacent(ring, wants, member, direction):
    """The nearest ring neighbour that matches an event, up (1) or down (-1) the ring; -1 for none."""
    first, size = ring.start[member], np.int64(ring.size[member])
    for k in range(size):
        peer = np.int64(ring.peer[first + k if direction == 1 else first + size - 1 - k])
        if wants[peer]:
            return peer
    return np.int64(-1)


@kernel
def first_neighbours(row, fanout, member, n, out):
    """Move the nearest successor and predecessor to the front of a topic table, and copy them to `out`.

    Returns their number. The order of entries in a table has no meaning, so the table may be reordered.
    """
    count = 0
    for side in range(2):
        nearest, least = -1, n
        for place in range(count, len(row)):
            if row[place] < 0:
                break
            way = (row[place] - member) % n if side == 0 else (member - row[place]) % n
            if way < least:
                nearest, least = place, way
        if nearest < 0 or count >= fanout:
            break
        row[count], row[nearest] = row[nearest], row[count]
        out[count] = row[count]
        count += 1
    return count


@kernel
def _spread(tables, parameters, carrier, ring, wants, publisher, key, first, counts):
    """Disseminate one event: fill `first` and `counts`. Each peer uses its draws one after the other."""
    _, topic_table, super_table = tables
    fanout, p_sel, p_a = parameters
    begin(carrier, publisher, first, counts)
    targets = np.empty(topic_table.shape[1], np.int32)
    upward = np.empty((super_table.shape[1] * super_table.shape[2], 2), np.int64)
    member = receive(carrier, first)
    while member >= 0:
        own = peer_key(key, member)
        count, k = choose_upward(super_table[member], p_sel[member], p_a[member], own, upward)
        send_upward(carrier, member, upward[:count], own, counts)
        near = first_neighbours(topic_table[member], fanout[member], member, len(first), targets)
        count, k = choose_targets(topic_table[member, near:], fanout[member] - near, own, k, targets[near:])
        k = send_within(carrier, member, targets[: count + near], own, k, counts)
        up = _adjacent(ring, wants, member, 1)
        down = _adjacent(ring, wants, member, -1)
        for i in range(2):
            peer = up if i == 0 else down
            if peer < 0 or ring.topical[peer] == 1 or (i == 1 and down == up):
                continue
            send(carrier, member, peer, own, k, counts, SENT)
            k += 1
        member = receive(carrier, first)


@kernel
def _spread_all(tables, parameters, carrier, ring, to, publishers, key, traced, totals):
    n = len(ring.topical)
    counts, wants, host = np.empty((n, 4), np.int64), np.zeros(n, np.bool_), np.arange(n)
    first, when = traced
    for e in range(len(publishers)):
        members = to.members[to.offsets[e] : to.offsets[e + 1]]
        wants[members] = True
        own = first[min(e, len(first) - 1)]
        _spread(tables, parameters, carrier, ring, wants, publishers[e], peer_key(key, e), own, counts)
        sent, arrived = counts[:, SENT] + counts[:, UPWARD], counts[:, ARRIVED]
        reached = carrier.agenda.when
        account(e, members, publishers[e], carrier.alive, host, own, sent, arrived, reached, totals)
        if e < len(when):
            when[e] = reached
        wants[members] = False
