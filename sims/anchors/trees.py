"""An event sent down a tree that is known beforehand: a broker's star, or a tree of matching subscribers."""

from __future__ import annotations

from sub2sub.compiled.common.network import reaches
from sub2sub.compiled.common.randomness import draw, peer_key, unit
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.compiled.timing.agenda import clear, departure
from sub2sub.compiled.timing.latency import travel


@kernel
def descend(nodes, parents, retries, faults, key, clock, agenda, traced):
    """Send an event from each node to its children, each message again while it is not acknowledged.

    Parameters
    ----------
    nodes : int64 array
        Members, parents before their children, the root first.
    parents : int64 array
        The place of each node's parent among them; not used for the root.
    retries : int
    faults : Faults
    key : uint64
        Draw k of a child decides whether the k-th copy sent to it is lost.
    clock, agenda : Clock, Agenda
        Routes do not depend on time, so the agenda only records when copies arrive.
    traced : (first, sent, arrived)
        Arrays of all members that are filled: hop of the first copy or -1, messages sent, copies that came.
    """
    first, sent, arrived = traced
    first[:], sent[:], arrived[:] = -1, 0, 0
    clear(agenda)
    first[nodes[0]], agenda.when[nodes[0]] = 0, 0.0
    for place in range(1, len(nodes)):
        parent, child = nodes[parents[place]], nodes[place]
        if first[parent] < 0:
            continue
        leaves = departure(clock, agenda.free, parent, child, agenda.when[parent], 0)
        own = peer_key(key, child)
        for copy in range(retries + 1):
            sent[parent] += 1
            lost = faults.loss > 0.0 and unit(draw(own, copy)) < faults.loss
            if not lost and reaches(faults.alive, faults.group, parent, child):
                arrived[child] += 1
                first[child] = first[parent] + 1
                agenda.when[child] = leaves + travel(clock, parent, child, copy, own)
                break
