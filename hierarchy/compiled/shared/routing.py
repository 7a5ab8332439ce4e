"""CAMCAST's routing on the shared overlay, for a population; read `hierarchy.peers.router` first.

It is Sub-2-Sub's forwarding (`sub2sub.compiled.events.forwarding`) three times: on topic tables in the order
of the ring, for members; on ring views as far as the next member, for the range subscribers beside them; and
as it is, for range subscribers. What is new here is how a member sends an event upward. Hosts with several
peers, acknowledgements, latencies and what is counted are the same as along the rings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.compiled.shared.rules import encloses, entries, looseness
from hierarchy.peers.router import OFFSET, STREAM, UPWARD
from hierarchy.peers.settings import CamcastRoute
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.randomness import below, draw, peer_key, unit
from sub2sub.compiled.common.views import peer_of
from sub2sub.compiled.events.dissemination import Batch, Part, disseminate, note
from sub2sub.compiled.events.forwarding import (
    HOPS,
    TAIL,
    TARGETS,
    EventScratch,
    World,
    count_loads,
    follow_ring,
    follow_shortcuts,
    is_target,
    mark,
    new_event_scratch,
    receive,
    send,
)
from sub2sub.compiled.events.hosts import is_up
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.compiled.machinery.compilation import apart, hot, kernel, rule
from sub2sub.compiled.timing.agenda import take
from sub2sub.compiled.timing.latency import HOPS as COUNTS_HOPS

if TYPE_CHECKING:
    from hierarchy.shared.shared_overlay import SharedOverlay


class Tables(NamedTuple):
    """What members use besides their topic tables, and the settings of the route."""

    ids: NDArray[np.uint64]  # (n,) sequence IDs
    topical: NDArray[np.uint8]  # (n,) 1 for members of topics
    above: NDArray[np.int32]  # (n, z) super-topic tables, the tightest entries first, -1 for none
    tight: NDArray[np.int64]  # (n,) how many of them have the tightest range
    others: NDArray[np.int64]  # (n,) how many random members of its community a member sends to
    size: NDArray[np.float64]  # (n,) estimates of the sizes of communities
    g: float
    a: float
    coins: bool


def route_events(
    overlay: SharedOverlay,
    events: NDArray[np.float64],
    publishers: NDArray[np.int64],
    route: CamcastRoute,
    cycle: int = 0,
    record: bool = False,
) -> Outcome:
    """Disseminate events by CAMCAST's routing; see `SharedOverlay.spread`."""
    return disseminate(
        Links.of(overlay), overlay.network, events, entry=publishers, settings=route.rings, stream=STREAM,
        seed=overlay.seed, cycle=cycle, record=record, spreader=lambda world: ByTables(overlay, world, route),
    )  # fmt: skip


class ByTables:
    """CAMCAST's routing, as a rule of forwarding for `disseminate`."""

    def __init__(self, overlay: SharedOverlay, world: World, route: CamcastRoute) -> None:
        self.tables, community = routing_tables(overlay, route)
        size = community.ring_size.astype(np.int64)
        first = np.cumsum(size) - size
        self.rings = world
        self.community = world._replace(links=community, ring_number=first, ring_shortcuts=True)
        self.aside = world._replace(barred=overlay.topical)

    def new_scratch(self) -> EventScratch:
        """Scratch space for one thread."""
        room = (
            self.community.links.ring_peer.size // max(len(self.tables.ids), 1) + self.tables.above.shape[1]
        )
        scratch = new_event_scratch(self.rings, 2 * (self.rings.retries + 1) + room)
        widest = max(scratch.places.size, room)
        return scratch._replace(places=np.arange(widest, dtype=np.int32), swapped=np.empty(widest, np.int32))

    def spread(
        self, batch: Batch, key: np.uint64, scratch: EventScratch, counts: NDArray[np.int64], record: bool
    ) -> Part:
        """Spread the events of a batch from their publishers."""
        broken = np.zeros(int(self.community.links.ring_size.sum(dtype=np.int64)), np.uint8)
        worlds = self.rings, self.community, self.aside
        spaces = scratch, scratch._replace(broken=broken), np.empty(self.tables.above.shape[1], np.int64)
        return _route_batch(worlds, self.tables, batch, key, spaces, counts, record)  # type: ignore[no-any-return]


def routing_tables(overlay: SharedOverlay, route: CamcastRoute) -> tuple[Tables, Links]:
    """The tables of all members, and their topic tables as rings on which they forward."""
    population, n = overlay.population, len(overlay.population)
    equals, above = overlay.tables.equals, overlay.tables.above
    ring, known = np.zeros(equals.shape, np.int32), np.zeros(n, np.int32)
    upward, tight = np.full(above.shape, -1, np.int32), np.zeros(n, np.int64)
    _fill_tables(population.boxes, equals, above, ring, known, upward, tight)
    size = community_sizes(equals, population.ids, overlay.settings.tables.neighbours)
    others = np.floor(np.log(size) + route.c).astype(np.int64) - 2
    tables = Tables(
        population.ids, overlay.topical, upward, tight, others, size, float(route.g), float(route.a),
        route.coins,
    )  # fmt: skip
    nobody = np.zeros(n, np.int8)
    start = np.arange(n, dtype=np.int64) * equals.shape[1]
    return tables, Links.of(overlay)._replace(
        near_size=nobody, random_size=nobody, ring_start=start, ring_size=known, ring_peer=ring.ravel()
    )


@kernel
def _fill_tables(boxes, equals, above, ring, known, upward, tight):
    """Copy topic tables in the order of the ring, and super-topic tables with the tightest entries first."""
    n = len(equals)
    for i in range(n):
        known[i] = entries(equals[i])
        for place in range(known[i]):
            peer = peer_of(equals[i, place])
            before = place
            while before > 0 and (ring[i, before - 1] - i) % n > (peer - i) % n:
                ring[i, before] = ring[i, before - 1]
                before -= 1
            ring[i, before] = peer
        size, tightest, kept = entries(above[i]), np.inf, 0
        for place in range(size):
            tightest = min(tightest, looseness(boxes, i, peer_of(above[i, place])))
        for loose in range(2):
            for place in range(size):
                peer = peer_of(above[i, place])
                if (looseness(boxes, i, peer) > tightest) == (loose == 1):
                    upward[i, kept] = peer
                    kept += 1
            if loose == 0:
                tight[i] = kept


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


@rule
def points_between(start, end, offset, total):
    """How many of `total` evenly spaced points lie in [start, end) of the ring, all if both are the same."""
    if start == end:
        return total
    spacing = 2.0**64 / total
    first = np.int64(np.ceil(np.float64(start - offset) / spacing))
    last = np.int64(np.ceil(np.float64(end - offset) / spacing))
    return last - first if end - offset > start - offset else total - first + last


@apart
def _follow(world, e, peer, came_from, shortcuts, draws, scratch, counts):
    """Forward up and down a ring, then along shortcuts; the successor that has the event, -1 for none."""
    successor = follow_ring(world, e, peer, came_from, draws, scratch, counts)
    follow_shortcuts(world, e, peer, came_from, shortcuts, draws, scratch, counts)
    return successor


@apart
def _send(world, e, sender, peer, tries, waited, draws, scratch, counts):
    return send(world, e, sender, peer, tries, waited, draws, scratch, counts)


@rule
def _copies(world, tables, peer, came_from, successor, offset):
    """For how many points a member sends upward, and once more for an event of its own or of a subtopic."""
    end = tables.ids[peer] if successor < 0 else tables.ids[successor]
    copies = points_between(tables.ids[peer], end, offset, np.int64(np.rint(tables.g)))
    boxes = world.links.boxes
    if came_from < 0:
        return copies + 1
    from_below = tables.topical[came_from] == 1 and encloses(boxes, peer, came_from)
    return copies + (from_below and not encloses(boxes, came_from, peer))


@rule
def _climb(world, e, tables, peer, came_from, copies, draws, row, scratch, counts):
    """Send an event upward, `copies` times a, to different peers that take it, the tightest first."""
    size, tight = np.int64(0), tables.tight[peer]
    while size < row.shape[0] and tables.above[peer, size] >= 0:
        row[size] = tables.above[peer, size]
        size += 1
    whole = np.int64(np.floor(copies * tables.a))
    wanted, failed = whole + (unit(draw(draws, UPWARD)) < copies * tables.a - whole), 0
    for place in range(size):
        end = tight if place < tight else size
        other = place + below(draw(draws, UPWARD + 1 + place), end - place)
        row[place], row[other] = row[other], row[place]
        if wanted <= 0 or failed > world.retries:
            return
        if row[place] == came_from or is_target(scratch, row[place]):
            continue
        waited = failed * world.tries
        if _send(world, e, peer, row[place], world.tries, waited, draws, scratch, counts):
            wanted -= 1
        else:
            failed += 1


@rule
def _toss(world, e, tables, peer, draws, scratch, counts):
    """Send an event upward by independent coins (CAMCAST, Figures 7 and 8)."""
    if unit(draw(draws, UPWARD)) >= min(1.0, tables.g / tables.size[peer]):
        return
    row, tight = tables.above[peer], max(tables.tight[peer], 1)
    p_a = min(1.0, max(tables.a, tables.g * tables.a / tables.size[peer]) / tight)
    for place in range(row.shape[0]):
        if row[place] < 0:
            return
        if unit(draw(draws, UPWARD + 1 + place)) < p_a and not is_target(scratch, row[place]):
            _send(world, e, peer, np.int64(row[place]), 0, 0, draws, scratch, counts)


@apart
def route(worlds, tables, e, peer, came_from, offset, draws, spaces, counts):
    """Let a peer forward the event."""
    rings, community, aside = worlds
    scratch, of_community, row = spaces
    scratch.ends[TARGETS] = 0
    if tables.topical[peer] == 0:
        _follow(rings, e, peer, came_from, np.int64(rings.shortcuts), draws, scratch, counts)
        return
    others = tables.others[peer]
    successor = _follow(community, e, peer, came_from, others, draws, of_community, counts)
    if tables.coins:
        _toss(rings, e, tables, peer, draws, scratch, counts)
    else:
        copies = _copies(rings, tables, peer, came_from, successor, offset)
        if copies > 0:
            _climb(rings, e, tables, peer, came_from, copies, draws, row, scratch, counts)
    _follow(aside, e, peer, came_from, np.int64(0), draws, scratch, counts)


@hot
def _spread(worlds, tables, e, entry, key, spaces, counts):
    """Spread event e from its publisher; the largest number of hops of a delivery, -1 for none."""
    world, scratch = worlds[0], spaces[0]
    counts[HOPS, e] = -1
    if entry < 0 or not is_up(world.hosts, world.alive, entry):
        return np.int64(-1)
    agenda, hop, offset = scratch.agenda, np.int64(-1), draw(key, OFFSET)
    timed = world.clock.kind != COUNTS_HOPS
    scratch.ends[TAIL], agenda.ends[:] = 0, 0
    receive(world, e, entry, np.int64(-1), 0.0, scratch, counts)
    head, end = np.int64(0), np.int64(0)
    while True:
        if timed:
            peer = np.int64(take(agenda))
            if peer < 0:
                break
            scratch.queue[scratch.ends[TAIL]], came_from = peer, np.int64(agenda.sender[peer])
            scratch.ends[TAIL] += 1
            while hop < agenda.hop[peer]:
                hop += 1
                scratch.levels[hop] = 0
            scratch.levels[agenda.hop[peer]] += 1
        else:
            if head == scratch.ends[TAIL]:
                break
            if head == end:
                hop, end = hop + 1, scratch.ends[TAIL]
                scratch.levels[hop] = end - head
            peer, came_from = np.int64(scratch.queue[head]), np.int64(scratch.came_from[head])
            head += 1
        route(worlds, tables, e, peer, came_from, offset, peer_key(key, peer), spaces, counts)
    count_loads(scratch)
    counts[HOPS, e] = hop
    return hop


@kernel
def _route_batch(worlds, tables, batch, key, spaces, counts, record):
    """Spread events, given the peers that match each; returns a `Part`."""
    world, scratch = worlds[0], spaces[0]
    takers, ms = np.empty((64, 2), np.int32), np.empty(64, np.float32)
    taken, told = 0, 0
    for k in range(batch.numbers.shape[0]):
        e = batch.numbers[k]
        mark(scratch.wanted, batch.members, batch.offsets[k], batch.offsets[k + 1])
        hops = _spread(worlds, tables, e, batch.entry[e], peer_key(key, e), spaces, counts)
        mark(scratch.wanted, batch.members, batch.offsets[k], batch.offsets[k + 1])
        if hops < 0:
            continue
        takers, taken, ms, told = note(world, scratch, hops, record, takers, taken, ms, told)
    return takers[:taken].copy(), ms[:told].copy()
