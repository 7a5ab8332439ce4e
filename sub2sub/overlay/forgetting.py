"""Removes links from views for other reasons than gossip.

- `drop_ring_links`: a message along a ring link failed (`Outcome.failures`), and its holder drops the link.
- `forget`: all peers forget some peers at once, which no protocol could do. The paper removes a subscriber in
  this way before it joins again (Sub-2-Sub, Section 5, single joins).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.views import FREE, peer_of
from sub2sub.compiled.machinery.compilation import hot, kernel
from sub2sub.compiled.ring.layer import Ring
from sub2sub.compiled.ring.settings import RingStep
from sub2sub.compiled.ring_views.pool import place_of
from sub2sub.compiled.ring_views.scratch import new_scratch
from sub2sub.compiled.ring_views.view import remove
from sub2sub.compiled.vicinity.layer import Vicinity
from sub2sub.compiled.vicinity.rules import FAR, NONE
from sub2sub.errors import InputError

if TYPE_CHECKING:
    from sub2sub.overlay.overlay import Overlay


def drop_ring_links(ring: Ring, pairs: ArrayLike, cycle: int) -> int:
    """Drop those of the ring links (holder, neighbour) that exist; their number.

    Examples
    --------
    >>> from sub2sub.overlay.overlay import Overlay
    >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]]).run(8)
    >>> links = np.stack(overlay.ring.links()[:2], axis=1)
    >>> len(links), drop_ring_links(overlay.ring, links, cycle=9), overlay.ring.links()[0].size
    (4, 4, 0)
    """
    table = np.asarray(pairs)
    if table.size == 0:
        return 0
    n = len(ring.boxes)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
        raise InputError(
            f"pairs: expected shape (f, 2) of integers, got {table.dtype} of shape {table.shape}"
        )
    bad = np.flatnonzero(((table < 0) | (table >= n)).any(axis=1))
    if bad.size:
        raise InputError(
            f"pairs row {bad[0]}: expected peers from 0 to {n - 1}, got {table[bad[0]].tolist()}"
        )
    scratch = new_scratch(ring.d, int(ring.pool.size.max()) + 2)
    settings = RingStep.of(ring.settings, cycle)
    return int(_drop_all(ring.pool, ring.labels.boxes, table.astype(np.int64), settings, scratch))


@hot
def _drop_all(pool, boxes, pairs, settings, scratch):
    dropped = 0
    for k in range(pairs.shape[0]):
        holder, peer = pairs[k, 0], pairs[k, 1]
        place = place_of(pool, holder, peer)
        if place >= 0:
            remove(pool, boxes, holder, place, settings, scratch)
            dropped += 1
    return dropped


def forget(overlay: Overlay, peers: NDArray[np.int64], cycle: int) -> None:
    """Remove every link to `peers` from every view.

    Examples
    --------
    >>> from sub2sub.overlay.overlay import Overlay
    >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]]).run(8)
    >>> forget(overlay, np.array([1]), cycle=9)
    >>> overlay.referenced()
    array([ True, False,  True])
    """
    if not isinstance(overlay.vicinity, Vicinity):
        raise InputError(f"forget: expected an overlay with VICINITY, got one with {overlay.vicinity.name}")
    gone = np.zeros(len(overlay.population), np.uint8)
    gone[peers] = 1
    cyclon, near = overlay.cyclon, overlay.vicinity
    no_gaps = np.empty((0, 0), np.float32)
    _forget_rows(cyclon.view, no_gaps, cyclon.size, gone)
    cyclon.lost[np.isin(cyclon.lost, peers)] = -1
    near.worst[_forget_rows(near.view, near.gaps, near.size, gone)] = FAR
    holders, others, _ = overlay.ring.links()
    lost = gone[others] == 1
    drop_ring_links(overlay.ring, np.stack([holders[lost], others[lost]], axis=1), cycle)


@kernel
def _forget_rows(view, gaps, size, gone):
    """Remove links to peers that are gone from rows, and close the gaps; which rows have changed."""
    changed = np.zeros(view.shape[0], np.bool_)
    for i in range(view.shape[0]):
        kept = 0
        for k in range(size[i]):
            if gone[peer_of(view[i, k])] == 1:
                continue
            view[i, kept] = view[i, k]
            if gaps.shape[0] > 0:
                gaps[i, kept] = gaps[i, k]
            kept += 1
        changed[i] = kept < size[i]
        for k in range(kept, size[i]):
            view[i, k] = FREE
            if gaps.shape[0] > 0:
                gaps[i, k] = NONE
        size[i] = kept
    return changed
