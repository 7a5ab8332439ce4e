"""The length of messages of the ring layer, which contain what Figure 3 of Sub-2-Sub selects for the partner.

A peer selects, from its random, proximity and ring links together, the ring neighbours of its partner, and
sends them with its own descriptor. The simulation leaves out that first selection, because the partner
selects again (see `sub2sub.ring.layer`). So this module computes the length of messages: exactly, but only
for a sample of the exchanges of a cycle, as it takes longer than an exchange. The others count with the mean
length. Averaged over cycles, the error is a few percent for any population.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import hot, rule
from sub2sub.kernels.randomness import cycle_key, draws, stream_number
from sub2sub.overlay.links import Links, target
from sub2sub.ring.pool import way_up
from sub2sub.rings.selection import new_space, select

STREAM = stream_number("ring messages")
SAMPLE = 24  # exchanges in the sample of a cycle, with two messages each


def links_per_message(
    links: Links, boxes: NDArray[np.int32], alive: NDArray[np.uint8], seed: int, cycle: int
) -> float:
    """Mean number of links in a message of an exchange, without its sender's own descriptor.

    The boxes are labels (`sub2sub.geometry.labels`); the sample depends on seed and cycle.

    Examples
    --------
    >>> from sub2sub.overlay.overlay import Overlay
    >>> low = np.random.default_rng(1).random((200, 2)) * 0.7
    >>> overlay = Overlay.of(low, low + 0.3, seed=1).run(20)
    >>> labels, alive = overlay.ring.labels.boxes, overlay.network.alive
    >>> bool(5 < links_per_message(Links.of(overlay), labels, alive, seed=1, cycle=20) < 30)
    True
    """
    talking = np.flatnonzero((alive == 1) & (links.ring_size > 0))
    if talking.size == 0:
        return 0.0
    key, numbers = cycle_key(seed, STREAM, cycle), np.arange(SAMPLE)
    sender = talking[(draws(key, numbers) % np.uint64(talking.size)).astype(np.int64)]
    place = draws(key, numbers, 1) % links.ring_size[sender].astype(np.uint64)
    partner = links.ring_peer[links.ring_start[sender] + place.astype(np.int64)].astype(np.int64)
    both = np.concatenate([np.stack([sender, partner]), np.stack([partner, sender])], axis=1)
    return float(links_held(links, boxes, both).mean())


def links_held(links: Links, boxes: NDArray[np.int32], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Links in a message from each of pairs[0] to each of pairs[1]."""
    sizes = (np.asarray(size)[pairs[0]] for size in (links.near_size, links.random_size, links.ring_size))
    most = int(sum(size.astype(np.int64) for size in sizes).max())
    held = np.zeros(pairs.shape[1], np.int64)
    _count_held(links, boxes, pairs, held, np.empty((4, most), np.int64), new_space(most, links.d))
    return held


@hot
def _count_held(links, boxes, pairs, held, lists, space):
    n, (after, before, up, down) = boxes.shape[0], (lists[0], lists[1], lists[2], lists[3])
    for m in range(pairs.shape[1]):
        sender, partner = pairs[0, m], pairs[1, m]
        total = (
            np.int64(links.near_size[sender]) + np.int64(links.random_size[sender])
            + np.int64(links.ring_size[sender])
        )  # fmt: skip
        known = np.int64(0)
        for k in range(total):
            peer = target(links, sender, k)
            if peer != sender and peer != partner:
                _insert(after, known, peer, partner, n)
                known += 1
        # A peer that is known twice is covered by itself the second time.
        for k in range(known):
            before[k] = after[known - 1 - k]
        successors = select(boxes, links.d, partner, after[:known], up, space)
        predecessors = select(boxes, links.d, partner, before[:known], down, space)
        held[m] = successors
        for k in range(predecessors):
            again = False
            for other in range(successors):
                again |= up[other] == down[k]
            held[m] += not again


@rule
def _insert(order, count, peer, start, n):
    """Insert a peer into a list of `count` peers in the order of the ring from `start` on.

    The list has a few dozen peers, and numba takes as long to compile a sort as all the rest of this.
    """
    at = count
    while at > 0 and way_up(start, order[at - 1], n) > way_up(start, peer, n):
        order[at] = order[at - 1]
        at -= 1
    order[at] = peer
