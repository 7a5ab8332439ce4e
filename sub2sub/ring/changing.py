"""Changed subscriptions: the host of a peer tells that peer's ring neighbours what it has changed to.

Sub-2-Sub has no word for it: a changed subscription is another peer on the same host, and the old one is
forgotten like the dead, while it receives events that its host does not want any more (Section 4.2 admits
this spam). Here the host, which still has the old peer's view, tells everybody in it ("changed to ...") and
waits for an answer. A neighbour that is told drops the old peer at once, refuses links to it that are no
younger, and considers the new one; the new peer considers the neighbours that answered, and then joins as
any newcomer does (`sub2sub.ring.joining`).

`RingPeer.hear_of_change` is the readable form of what a neighbour does. Live hosts also answer those that
address the old peer later (`sub2sub.live.net.node`); in the simulator these find nobody there.
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
    """Tell the neighbours of `old` that it has changed to `new`; how many answered."""
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
