"""Publishers: how a publisher finds a peer that matches its event (Sub-2-Sub, end of Section 4.1).

A publisher keeps no ring links. It knows one random peer. It asks that peer for its links, keeps the links
nearest to the event's point, asks the nearest of them, and so on, until it knows a subscriber that matches.
It hands the event over to that subscriber, which forwards it (`sub2sub.compiled.events.dissemination`). A
publisher that has found no match after `max_steps` steps assumes that there is none.

The paper does not specify the following. Here:

- A contacted peer offers the links that are nearest to the event: as many as a publisher keeps, from its
  proximity, random and, unless `ring_offers` is off, ring links. Figure 8 needs the ring links.
- A step is one exchange. A publisher knows only the address of its first contact, and learns that peer's
  subscription by asking. An attempt to hand the event over to a peer that does not answer is a step, too. The
  peer that accepts the event acknowledges it; this acknowledgement is counted, and never lost.
- A publisher that has asked every peer it keeps asks a random link of the last peer that answered.
- Of peers that do not match and are equally far it keeps `ALIKE`. On an axis of exact values all subscribers
  of one value are equally far; they know one another, and would leave no place for a way past them.
- Views do not change during a walk: a publisher asks faster than gossip changes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.links import Links, target
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import below, draw, peer_key, unit
from sub2sub.compiled.common.views import peer_of
from sub2sub.compiled.machinery.compilation import hot, rule
from sub2sub.peers.draws import cycle_key
from sub2sub.peers.publisher import ALIKE, CONTACT, HAND_OVER, MATCH, PER_STEP, REPLY, REQUEST, STREAM
from sub2sub.peers.settings import PublisherSettings

ENTRY, STEPS, MESSAGES, FAILED = range(4)


@dataclass(frozen=True)
class Walks:
    """The walks of m publishers.

    Attributes
    ----------
    entry : (m,) int64
        The matching peer that accepted the event, -1 if none was found.
    steps : (m,) int64
        Number of steps.
    messages, failed : (m,) int64
        Messages from and to the publisher, and how many of them did not arrive.
    """

    entry: NDArray[np.int64]
    steps: NDArray[np.int64]
    messages: NDArray[np.int64]
    failed: NDArray[np.int64]

    @property
    def found(self) -> NDArray[np.bool_]:
        """Which publishers found a match."""
        return self.entry >= 0

    def found_within(self, steps: int) -> NDArray[np.bool_]:
        """Which publishers found a match within that many steps."""
        return self.found & (self.steps <= steps)


class KeptPeers(NamedTuple):
    """The peers one publisher knows."""

    peer: NDArray[np.int64]
    distance: NDArray[np.float64]
    asked: NDArray[np.uint8]  # how often; `tries` for those that answered, or do not match
    size: NDArray[np.int64]  # (1,)
    tries: int


def find_entry(
    links: Links,
    network: Network,
    events: ArrayLike,
    *,
    settings: PublisherSettings | None = None,
    seed: int = 0,
    cycle: int = 0,
    scale: NDArray[np.float64] | None = None,
) -> Walks:
    """For each event, let a publisher walk from a random live peer to a peer that matches the event.

    Parameters
    ----------
    links : Links
        The views of all peers, `Links.of(overlay)`.
    network : Network
        Live peers, partitions and loss. A publisher is in the same partition as its first contact.
    events : (m, d) array_like
    settings : PublisherSettings
    seed, cycle : int
        Random draws depend on these and on the number of the event.
    scale : (>= d,) float64, optional
        Factors of the coordinates in distances, `Population.scale`: powers of two.

    Examples
    --------
    >>> from sub2sub.overlay.overlay import Overlay
    >>> low = np.random.default_rng(1).random((200, 2)) * 0.9
    >>> overlay = Overlay.of(low, low + 0.1, seed=1).run(20)
    >>> walks = find_entry(Links.of(overlay), overlay.network, [[0.5, 0.5], [2.0, 2.0]])
    >>> walks.found, int(walks.steps[1])
    (array([ True, False]), 40)
    """
    s = settings or PublisherSettings()
    at = links.packed(events)
    if scale is not None and (scale != 1.0).any():
        with np.errstate(over="ignore"):  # an open end may become infinite
            links, at = links._replace(boxes=links.boxes * scale), at * scale
    live = np.flatnonzero(network.alive)
    counts = np.zeros((4, len(at)), np.int64)
    counts[ENTRY] = -1
    peers, distances, asked = np.empty(s.view, np.int64), np.empty(s.view), np.empty(s.view, np.uint8)
    kept = KeptPeers(peers, distances, asked, np.zeros(1, np.int64), s.tries)
    if live.size:
        key = np.uint64(cycle_key(seed, STREAM, cycle))
        _walk_all(links, network.faults(), live, at, s.ring_offers, s.max_steps, key, kept, counts)
    return Walks(*counts)


@rule
def distance_to(boxes, peer, events, e):
    """Squared distance from an event to the box of a peer; `MATCH` if the box contains it."""
    inside, total = True, 0.0
    for k in range(boxes.shape[2]):
        low, high, x = boxes[peer, 0, k], boxes[peer, 1, k], events[e, 0, k]
        inside &= (low <= x) & (x < high)
        gap = max(low - x, x - high, 0.0)
        total += gap * gap
    return MATCH if inside else total


@rule
def nearest(kept):
    """Place of the nearest peer that may be asked, -1 for none."""
    best = np.int64(-1)
    for k in range(kept.size[0]):
        if kept.asked[k] < kept.tries and (best < 0 or kept.distance[k] < kept.distance[best]):
            best = k
    return best


@rule
def keep(kept, peer, distance, asked):
    """Keep a peer that is not known yet: in a free place, or instead of the farthest if it is nearer."""
    size, place, alike = kept.size[0], np.int64(0), 0
    for k in range(size):
        if kept.peer[k] == peer:
            return
        alike += kept.distance[k] == distance
        if kept.distance[k] > kept.distance[place]:
            place = k
    if alike >= ALIKE and distance != MATCH:
        return
    if size < kept.peer.shape[0]:
        place = size
        kept.size[0] = size + 1
    elif distance >= kept.distance[place]:
        return
    kept.peer[place], kept.distance[place], kept.asked[place] = peer, distance, asked


@rule
def _reached(faults, home, peer, bits):
    if faults.alive[peer] == 0 or faults.group[peer] != home:
        return False
    return not (faults.loss > 0.0 and unit(bits) < faults.loss)


@rule
def _hand_over(faults, home, e, bits, kept, counts):
    """Hand the event to the nearest peer if it matches: 1 accepted, 0 no answer, -1 it does not match."""
    place = nearest(kept)
    if place < 0 or kept.distance[place] != MATCH:
        return -1
    kept.asked[place] += 1
    counts[MESSAGES, e] += 1
    if not _reached(faults, home, kept.peer[place], bits):
        counts[FAILED, e] += 1
        return 0
    counts[MESSAGES, e] += 1  # the acknowledgement
    counts[ENTRY, e] = kept.peer[place]
    return 1


@rule
def _learn(links, peer, events, e, ring_offers, kept):
    """Keep a peer that answered, which need not be asked again, and the links that it offers."""
    distance = distance_to(links.boxes, peer, events, e)
    keep(kept, peer, distance, 0 if distance == MATCH else kept.tries)
    offers = np.int64(links.near_size[peer]) + np.int64(links.random_size[peer])
    if ring_offers:
        offers += np.int64(links.ring_size[peer])
    for k in range(offers):
        other = target(links, peer, k)
        keep(kept, other, distance_to(links.boxes, other, events, e), 0)


@hot
def _walk(links, faults, live, events, e, ring_offers, max_steps, key, kept, counts):
    """The walk of one publisher to a peer that matches event e."""
    kept.size[0] = 0
    home, last = np.uint8(0), np.int64(-1)
    for step in range(max_steps):
        counts[STEPS, e] = step + 1
        first = PER_STEP * step
        taken = _hand_over(faults, home, e, draw(key, first + HAND_OVER), kept, counts)
        if taken == 1:
            return
        if taken == 0:
            continue
        place = nearest(kept)
        if place >= 0:
            peer = kept.peer[place]
            kept.asked[place] = kept.tries
        elif last >= 0 and links.random_size[last] > 0:
            peer = peer_of(links.random[last, below(draw(key, first + CONTACT), links.random_size[last])])
        else:
            peer = live[below(draw(key, first + CONTACT), live.shape[0])]
            if step == 0:
                home = faults.group[peer]
        counts[MESSAGES, e] += 1
        if not _reached(faults, home, peer, draw(key, first + REQUEST)):
            counts[FAILED, e] += 1
            continue
        counts[MESSAGES, e] += 1
        if faults.loss > 0.0 and unit(draw(key, first + REPLY)) < faults.loss:
            counts[FAILED, e] += 1
            continue
        last = peer
        _learn(links, peer, events, e, ring_offers, kept)
        if _hand_over(faults, home, e, draw(key, first + HAND_OVER), kept, counts) == 1:
            return


@hot
def _walk_all(links, faults, live, events, ring_offers, max_steps, key, kept, counts):
    for e in range(events.shape[0]):
        _walk(links, faults, live, events, e, ring_offers, max_steps, peer_key(key, e), kept, counts)
