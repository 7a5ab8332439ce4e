"""Changed subscriptions: a host informs the ring neighbours of a peer of the peer that replaces it.

Not in Sub-2-Sub: there, a changed subscription is another peer on the same host. The old peer is forgotten
like a dead one, and receives events until then that its host no longer wants (Section 4.2 mentions this
spam). Here the host, which still has the old peer's view, sends a message to each neighbour in it and waits
for an answer. The neighbour drops the old peer at once, refuses links to it that are no younger, and
considers the new peer. The new peer considers the neighbours that answered, and then joins as any newcomer
(`sub2sub.ring.joining`).

`RingPeer.hear_of_change` is the readable form of the neighbour's part. Live hosts also answer later messages
to the old peer (`sub2sub.live.net.node`); in the simulator these messages fail.
"""

from __future__ import annotations

from sub2sub.kernels.compilation import hot
from sub2sub.ring.joining import box_distance, introduce
from sub2sub.ring.pool import PEER, get, place_of
from sub2sub.ring.probes import is_there
from sub2sub.ring.scratch import prepare
from sub2sub.ring.tombstones import set_tombstone
from sub2sub.ring.view import remove


@hot
def tell_change(pool, labels, boxes, settings, probes, step, old, new):
    """Inform the neighbours of `old` that it has changed to `new`; return how many answered."""
    answered = 0
    for place in range(pool.size[old]):
        t = get(pool, old, PEER, place)
        if t == new or not is_there(probes, old, t):
            continue
        answered += 1
        prepare(pool, labels, t, step.partner)
        held = place_of(pool, t, old)
        if held >= 0:
            remove(pool, labels, t, held, settings, step.partner)
        if settings.verify:
            set_tombstone(pool, t, old, settings.cycle)
        if box_distance(boxes, t, new, step.own.witness.shape[0]) < 0.0:
            introduce(pool, labels, new, t, settings, step.partner, probes, step.news)
            prepare(pool, labels, new, step.own)
            introduce(pool, labels, t, new, settings, step.own, probes, step.news)
    return answered
