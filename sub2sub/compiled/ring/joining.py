"""Joining at once: a newcomer asks for its ring neighbours instead of waiting for gossip to find them.

Not in Sub-2-Sub, whose newcomers know one random peer and gossip like all others. They then need 16 cycles to
find their neighbours, and miss most events until then. Here a newcomer asks its contact for its links, then
the peers that Figure 3 selects for it among all those that it has heard of. While there are none, it asks the
nearest one, as a publisher walks to a match (`sub2sub.compiled.events.publishing`); and if it has asked all
its neighbours, and fewer than `LEAST` peers, or `MOST` as long as it has no neighbour, it goes on with the
nearest others: where few subscriptions overlap, none of its neighbours need know the other ones. A peer that
is asked answers with all its links. If it overlaps the newcomer and needs it, it accepts the newcomer. The
two also become proximity links of one another, if they are near enough. Gossip would take ten cycles to give
a newcomer its place there, and newcomers and publishers find their way by these links.

A question also verifies a peer: one that does not answer is removed, and the peers that it hid are considered
again. All this happens in the newcomer's first cycle, and its messages are counted. A contact that has joined
in the same cycle has no links yet, so peers that all start at once find one another by gossip alone.

`sub2sub.peers.newcomer` is the readable form, which makes the same decisions.

*Changed subscriptions* (not in Sub-2-Sub either: there, a changed subscription is another peer on the same
host). The old peer would be forgotten like a dead one, and receive events until then that its host no longer
wants (Section 4.2 mentions this spam). Here the host, which still has the old peer's view, sends a message to
each neighbour in it and waits for an answer. The neighbour drops the old peer at once, refuses links to it
that are no younger, and considers the new peer (`RingPeer.hear_of_change`). The new peer considers the
neighbours that answered, and then joins as any newcomer. Live hosts also answer later messages to the old
peer (`sub2sub.live.net.node`); in the simulator these messages fail.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.views import peer_of
from sub2sub.compiled.machinery.compilation import hot, rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.ring.offers import consider, note
from sub2sub.compiled.ring.probes import JOINED, asks, is_there
from sub2sub.compiled.ring_views.pool import MET, PEER, STAMP, get, place_of, put, size_of
from sub2sub.compiled.ring_views.scratch import prepare
from sub2sub.compiled.ring_views.tombstones import set_tombstone
from sub2sub.compiled.ring_views.view import remove
from sub2sub.peers.newcomer import ASKS, KNOWN, LEAST, MOST
from sub2sub.peers.publisher import ALIKE

STRANGER, HEARD_OF, ANSWERED, SILENT = range(4)  # what a newcomer knows of a peer
MESSAGES, FAILED, LINKS = range(3)


@by_reference
class Asked(NamedTuple):
    """The peers that one newcomer has heard of, and the cost of all newcomers."""

    known: NDArray[np.int64]  # (KNOWN,) peers in the order in which it heard of them
    size: NDArray[np.int64]  # (1,) their number
    state: NDArray[np.int8]  # (n,) of each peer; all are `STRANGER` before and after each newcomer
    met: NDArray[np.int64]  # (ASKS,) those that answered, in the order of their answers
    ways: NDArray[np.float64]  # (ASKS,) the squared distances to those asked, in this order
    counts: NDArray[np.int64]  # messages, questions without an answer, links in answers


def new_asked(n: int) -> Asked:
    """Working memory for the newcomers of a population."""
    return Asked(
        np.empty(KNOWN, np.int64), np.zeros(1, np.int64), np.zeros(n, np.int8), np.empty(ASKS, np.int64),
        np.empty(ASKS), np.zeros(3, np.int64),
    )  # fmt: skip


@rule
def box_distance(boxes, a, b, d):
    """Squared distance of two boxes; -1 if they overlap."""
    overlap, total = True, 0.0
    for k in range(d):
        gap = max(boxes[a, 0, k] - boxes[b, 1, k], boxes[b, 0, k] - boxes[a, 1, k])
        overlap &= gap < 0.0
        if gap > 0.0:
            total += gap * gap
    return -1.0 if overlap else total


@rule
def _hear_of(asked, newcomer, peer):
    if peer != newcomer and asked.state[peer] == STRANGER and asked.size[0] < KNOWN:
        asked.state[peer] = HEARD_OF
        asked.known[asked.size[0]] = peer
        asked.size[0] += 1


@rule
def _ask(pool, feeds, probes, newcomer, peer, asked):
    """Ask a peer for its links; return whether it answered."""
    answered, messages = asks(probes, newcomer, peer, JOINED)
    asked.counts[MESSAGES] += messages
    if not answered:
        asked.counts[FAILED] += 1
        asked.state[peer] = SILENT
        return False
    asked.state[peer] = ANSWERED
    for k in range(feeds.near_size[peer]):
        _hear_of(asked, newcomer, peer_of(feeds.near[peer, k]))
    for k in range(feeds.random_size[peer]):
        _hear_of(asked, newcomer, peer_of(feeds.random[peer, k]))
    for k in range(pool.size[peer]):
        _hear_of(asked, newcomer, get(pool, peer, PEER, k))
    links = np.int64(feeds.near_size[peer]) + np.int64(feeds.random_size[peer]) + size_of(pool, peer)
    asked.counts[LINKS] += links
    return True


@rule
def _nearest(boxes, newcomer, d, asked, asks):
    """The nearest known peer that was not asked yet, the first of equally near ones; -1 for none.

    Of those equally far, `ALIKE` are asked, for the reason that a publisher keeps no more.
    """
    best, least = np.int64(-1), np.inf
    for k in range(asked.size[0]):
        peer = asked.known[k]
        if asked.state[peer] == HEARD_OF:
            distance = box_distance(boxes, newcomer, peer, d)
            if distance < least and (distance < 0.0 or _times(asked, asks, distance) < ALIKE):
                best, least = peer, distance
    return best


@rule
def _times(asked, asks, distance):
    """How many of those asked are at this distance."""
    times = 0
    for k in range(asks):
        times += asked.ways[k] == distance
    return times


@rule
def _consider_known(pool, labels, boxes, newcomer, first, settings, step, probes, asked):
    """Let the newcomer consider the known peers from number `first` on, except silent ones."""
    d, count = step.own.witness.shape[0], np.int64(0)
    for k in range(first, asked.size[0]):
        peer = asked.known[k]
        if asked.state[peer] != SILENT and box_distance(boxes, newcomer, peer, d) < 0.0:
            count = note(pool, labels, newcomer, peer, settings.cycle, step.own, count)
    if count > 0:
        consider(pool, labels, newcomer, count, settings, step.own, probes, step.news, np.int64(0))


@rule
def introduce(pool, labels, x, t, settings, scratch, probes, news):
    """Let t, whose scratch space is prepared, accept x, which overlaps it, if it needs it.

    If x is a neighbour already, its stamp is renewed.
    """
    place = place_of(pool, t, x)
    if place >= 0:
        if settings.aged:
            put(pool, t, STAMP, place, settings.cycle)
    elif note(pool, labels, t, x, settings.cycle, scratch, np.int64(0)) > 0:
        consider(pool, labels, t, np.int64(1), settings, scratch, probes, news, np.int64(0))


@rule
def _introduce_newcomer(pool, labels, newcomer, peer, settings, step, probes):
    """Let a peer that was asked accept the newcomer, if it needs it."""
    prepare(pool, labels, peer, step.partner)
    introduce(pool, labels, newcomer, peer, settings, step.partner, probes, step.news)


@rule
def _next_to_ask(pool, boxes, newcomer, d, asked, asks):
    """The ring neighbour to ask next, or the nearest other peer; -1 for none."""
    if asks < ASKS:
        for place in range(pool.size[newcomer]):
            if asked.state[get(pool, newcomer, PEER, place)] == HEARD_OF:
                return np.int64(get(pool, newcomer, PEER, place))
    most = LEAST if pool.size[newcomer] > 0 else MOST
    return _nearest(boxes, newcomer, d, asked, asks) if asks < most else np.int64(-1)


@hot
def join_ring(pool, labels, boxes, feeds, settings, probes, step, asked, newcomer, contact):
    """Let a newcomer join through `contact`; return how many peers answered, written to `asked.met`.

    Others may have accepted it already.
    """
    d, asks, answers, considered = step.own.witness.shape[0], 0, 0, np.int64(0)
    prepare(pool, labels, newcomer, step.own)
    asked.size[0] = 0
    _hear_of(asked, newcomer, contact)
    for place in range(pool.size[newcomer]):
        _hear_of(asked, newcomer, get(pool, newcomer, PEER, place))
    peer = np.int64(contact)
    while peer >= 0:
        asked.ways[asks] = box_distance(boxes, newcomer, peer, d)
        asks += 1
        answered = _ask(pool, feeds, probes, newcomer, peer, asked)
        place = place_of(pool, newcomer, peer)
        if answered:
            asked.met[answers] = peer
            answers += 1
            if place >= 0:
                put(pool, newcomer, MET, place, settings.cycle)
            if box_distance(boxes, newcomer, peer, d) < 0.0:
                _introduce_newcomer(pool, labels, newcomer, peer, settings, step, probes)
        else:
            set_tombstone(pool, newcomer, peer, settings.cycle)
            if place >= 0:
                remove(pool, labels, newcomer, place, settings, step.own)
                considered = np.int64(0)  # peers that it hid may be needed now
        _consider_known(pool, labels, boxes, newcomer, considered, settings, step, probes, asked)
        considered = asked.size[0]
        peer = _next_to_ask(pool, boxes, newcomer, d, asked, asks)
    for k in range(asked.size[0]):
        asked.state[asked.known[k]] = STRANGER
    return answers


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
