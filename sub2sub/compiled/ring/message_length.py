"""The length of messages of the ring layer, which contain what Figure 3 of Sub-2-Sub selects for the partner.

A peer selects, from its random, proximity and ring links together, the ring neighbours of its partner, and
sends them with its own descriptor. The simulation leaves out that first selection, because the partner
selects again (see `sub2sub.compiled.ring.layer`). So this module computes the length of messages: exactly,
but only for a sample of the exchanges of a cycle, as it takes longer than an exchange. The others count with
the mean length. Averaged over cycles, the error is a few percent for any population.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.links import Links, target
from sub2sub.compiled.common.memory import LANES32, padded
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.machinery.compilation import apart, hot, rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.ring_views.cover import CoverSpace, ask, clip, new_gathered, new_stack
from sub2sub.compiled.ring_views.pool import way_up
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("ring messages")
SAMPLE = 24  # exchanges in the sample of a cycle, with two messages each


def links_per_message(
    links: Links, boxes: NDArray[np.int32], alive: NDArray[np.uint8], seed: int, cycle: int
) -> float:
    """Mean number of links in a message of an exchange, without its sender's own descriptor.

    The boxes are labels (`sub2sub.compiled.ring_views.labels`); the sample depends on seed and cycle.

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


@by_reference
class Space(NamedTuple):
    """Scratch space for `select_side`; see `sub2sub.compiled.ring_views.cover`."""

    columns: NDArray[np.int32]
    cover: CoverSpace


def new_space(candidates: int, d: int) -> Space:
    """Scratch space to select from that many candidates."""
    places = padded(max(candidates, 1), LANES32)
    cover = CoverSpace(
        new_gathered(places, d), new_stack(candidates, d), np.empty(d, np.int32),
        np.zeros(3, np.int64),
    )  # fmt: skip
    return Space(np.zeros((2 * d, places), np.int32), cover)


@apart
def select_side(boxes, d, node, order, kept, space):
    """Visit candidates in `order`, and keep those whose part of the node's box is not covered by kept ones.

    Writes them to `kept`; returns their number.
    """
    columns, stack, count = space.columns, space.cover.stack, np.int64(0)
    for at in range(order.shape[0]):
        candidate = order[at]
        if not clip(boxes[node], boxes[candidate], d, stack[0]):
            continue
        if ask(columns, 0, count, d, 0, space.cover) > 0:
            continue
        for k in range(d):
            columns[2 * k, count], columns[2 * k + 1, count] = boxes[candidate, 0, k], boxes[candidate, 1, k]
        kept[count] = candidate
        count += 1
    return count


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
        successors = select_side(boxes, links.d, partner, after[:known], up, space)
        predecessors = select_side(boxes, links.d, partner, before[:known], down, space)
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
