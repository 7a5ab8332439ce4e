"""One cycle of the ring layer in parts: what peers do by themselves, exchanges, hellos.

Read `sub2sub.peers.ring` first: it does the same for one peer; this module is for a population stored as
arrays. Each part handles the given peers one after the other, stops before a peer for which there may not be
enough space, and returns the number of peers handled. Concurrent calls with different peers and different
partners access different parts of the arrays. One kernel, `take_turns`, contains all parts, so that the code
that they share, which is most of it, is compiled once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.memory import LANES32
from sub2sub.compiled.common.network import arrives, attempts, sends
from sub2sub.compiled.common.randomness import draw, peer_key
from sub2sub.compiled.common.rows import least_value
from sub2sub.compiled.common.turns import NOBODY
from sub2sub.compiled.machinery.compilation import apart, hot, part, rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.ring.hellos import Hellos
from sub2sub.compiled.ring.offers import collect, consider, note, renew_stamps
from sub2sub.compiled.ring.partner import choose_partner, look_ahead, look_ahead_alone
from sub2sub.compiled.ring.probes import EXCHANGED, SAID_HELLO, note_copies
from sub2sub.compiled.ring_views.pool import MET, PEER, SINCE, STAMP, field, fits, get, place_of, put, size_of
from sub2sub.compiled.ring_views.scratch import Scratch, prepare
from sub2sub.compiled.ring_views.tombstones import set_tombstone
from sub2sub.compiled.ring_views.view import remove
from sub2sub.peers.ring import CHOICE, DRAWS, FEW, REPLY, REQUEST, SEARCHING

MESSAGES, FAILED, OFFERED, TAKEN, HELLOS, NEWS = range(6)
BEGIN, CHOOSE, EXCHANGE, HEAR = range(4)  # parts of a cycle


@by_reference
class ThreadSpace(NamedTuple):
    """The working memory of one thread."""

    own: Scratch  # of the peer whose turn it is,
    partner: Scratch  # and of its partner
    news: NDArray[np.int32]  # (links, 2) hellos to send: sender, receiver
    counts: NDArray[np.int64]  # see `MESSAGES` and so on


@by_reference
class Turn(NamedTuple):
    """Which part of the cycle to carry out."""

    part: int  # see `BEGIN` and so on
    number: int  # of the exchange in this cycle
    key: np.uint64  # of all draws
    partner: NDArray[np.int32]  # (n,) the partner that each peer has chosen
    hellos: Hellos


@rule
def _meet(pool, t, x, cycle):
    """Note that t heard from x, if x is a neighbour; return when they met before, -1 for never."""
    place = place_of(pool, t, x)
    if place < 0:
        return np.int64(-1)
    before = get(pool, t, MET, place)
    put(pool, t, MET, place, cycle)
    put(pool, t, STAMP, place, cycle)
    return before


@part
def _expire(pool, boxes, t, settings, scratch):
    """Remove the neighbours that nobody has heard from for too long."""
    place = np.int64(0)
    while place < pool.size[t]:
        if get(pool, t, STAMP, place) < settings.oldest:
            remove(pool, boxes, t, place, settings, scratch)
        else:
            place += 1


@rule
def _consider(pool, boxes, t, count, settings, scratch, space, probes):
    """Let t consider the candidates in its scratch space, and note hellos to those that it accepts."""
    if count > 0:
        used = space.counts[NEWS]
        now = consider(pool, boxes, t, count, settings, scratch, probes, space.news, used)
        space.counts[TAKEN] += now - used
        if settings.hello_at_once:
            space.counts[NEWS] = now


@part
def _note_hellos_due(pool, t, since, space):
    """Note hellos of t to the neighbours that it accepted in cycle `since` and has not met."""
    used, first = space.counts[NEWS], field(pool, t, SINCE)
    for place in range(size_of(pool, t)):
        if pool.words[first + place] == since and get(pool, t, MET, place) < 0:
            space.news[used, 0], space.news[used, 1] = t, get(pool, t, PEER, place)
            used += 1
    space.counts[NEWS] = used


@rule
def places_for(neighbours, feeds):
    """Places for a view and its candidates, at most, given the neighbours of the peers involved."""
    return neighbours + 2 * (feeds.near.shape[1] + feeds.random.shape[1]) + LANES32


@rule
def _has_space(pool, places, space):
    """Whether there is space for two views to grow to that many places each."""
    return (
        places <= space.own.offers.shape[1]
        and fits(pool, 2 * places, space.own.witness.shape[0])
        and space.counts[NEWS] + 2 * places <= space.news.shape[0]
    )


@rule
def _choose(pool, settings, i, turn):
    n, draws = pool.size.shape[0], peer_key(turn.key, i)
    place = choose_partner(pool, i, settings.partner, n, draw(draws, turn.number * DRAWS + CHOICE))
    turn.partner[i] = get(pool, i, PEER, place) if place >= 0 else NOBODY


@apart
def _begin_all(pool, boxes, feeds, settings, probes, space, turn, peers):
    """Let peers drop old links, consider the links of the layers below, and choose a partner."""
    for k in range(peers.shape[0]):
        look_ahead_alone(pool, peers, k)
        i = np.int64(peers[k])
        turn.partner[i] = NOBODY
        if probes.faults.alive[i] == 0:
            continue
        if not _has_space(pool, places_for(size_of(pool, i), feeds), space):
            return k
        prepare(pool, boxes, i, space.own)
        if settings.oldest > 0:
            _expire(pool, boxes, i, settings, space.own)
        count = collect(pool, boxes, feeds, i, i, np.int64(-1), settings, space.own)
        _consider(pool, boxes, i, count, settings, space.own, space, probes)
        if settings.hello_cycle >= 0:
            _note_hellos_due(pool, i, settings.hello_cycle, space)
        if settings.exchanges > 0:
            _choose(pool, settings, i, turn)
    return peers.shape[0]


@rule
def _is_searching(pool, t, settings):
    """Whether t exchanges once more at once: it lost a neighbour lately, and has not met all others."""
    if settings.cycle - pool.last_removal[t] >= SEARCHING or pool.size[t] > FEW:
        return False
    return pool.size[t] > 0 and least_value(pool.words, field(pool, t, MET), size_of(pool, t)) < 0


@apart
def _choose_all(pool, settings, faults, turn, peers):
    """Let peers choose a partner for one more exchange; after `exchanges` of them only those that search."""
    for k in range(peers.shape[0]):
        i = np.int64(peers[k])
        turn.partner[i] = NOBODY
        if faults.alive[i] and (turn.number < settings.exchanges or _is_searching(pool, i, settings)):
            _choose(pool, settings, i, turn)
    return peers.shape[0]


@part
def _fail(pool, boxes, i, j, settings, space):
    """Let i note that its partner did not answer."""
    space.counts[FAILED] += 1
    if settings.verify:
        set_tombstone(pool, i, j, settings.cycle)
    place = place_of(pool, i, j)
    if place >= 0:
        put(pool, i, MET, place, settings.cycle)
        if settings.drop_failed:
            prepare(pool, boxes, i, space.own)
            remove(pool, boxes, i, place, settings, space.own)


@part
def _exchange(pool, boxes, feeds, settings, probes, space, i, j, draws, first):
    """Let i exchange with j; the random numbers of the exchange begin with number `first`."""
    n, cycle, counts, own, partner = boxes.shape[0], settings.cycle, space.counts, space.own, space.partner
    faults = probes.faults
    copies, lost = sends(faults, i, j, draw(draws, first + REQUEST), probes.tries[i])
    counts[MESSAGES] += copies
    probes.sent[i, EXCHANGED] += copies
    if lost:
        _fail(pool, boxes, i, j, settings, space)
        return
    prepare(pool, boxes, i, own)
    prepare(pool, boxes, j, partner)
    met_by_j = _meet(pool, j, i, cycle)
    answered = settings.two_sided
    if answered:
        back, lost = attempts(draw(draws, first + REPLY), faults.loss, probes.tries[j])
        counts[MESSAGES] += back
        probes.sent[j, EXCHANGED] += back
        if lost:
            counts[FAILED] += 1
            answered = 0
        else:
            note_copies(probes, i, copies)
            note_copies(probes, j, back)
    if settings.aged:
        renew_stamps(pool, i, j, n, answered)
    count = np.int64(0)
    if answered:
        met = _meet(pool, i, j, cycle)
        count = collect(pool, boxes, feeds, i, j, met, settings, own)
    back = collect(pool, boxes, feeds, j, i, met_by_j, settings, partner)
    back = note(pool, boxes, j, i, cycle, partner, back)
    counts[OFFERED] += count + back + own.known[0] + partner.known[0]
    _consider(pool, boxes, j, back, settings, partner, space, probes)
    if met_by_j < 0:
        _meet(pool, j, i, cycle)
    _consider(pool, boxes, i, count, settings, own, space, probes)


@apart
def _exchange_all(pool, boxes, feeds, settings, probes, space, turn, peers):
    """Let peers exchange with their partners, one after the other."""
    for k in range(peers.shape[0]):
        look_ahead(pool, feeds, turn.partner, peers, k)
        i = np.int64(peers[k])
        j, draws = np.int64(turn.partner[i]), peer_key(turn.key, i)
        if not _has_space(pool, places_for(size_of(pool, i) + size_of(pool, j), feeds), space):
            return k
        _exchange(pool, boxes, feeds, settings, probes, space, i, j, draws, turn.number * DRAWS)
    return peers.shape[0]


@apart
def _hear_all(pool, boxes, feeds, settings, probes, space, turn, peers):
    """Let peers receive their hellos, in the order of the senders."""
    scratch, hellos, key = space.own, turn.hellos, turn.key
    for k in range(peers.shape[0]):
        x = np.int64(peers[k])
        first, last = hellos.first[x], hellos.first[x + 1]
        if first == last:
            continue
        if not _has_space(pool, places_for(size_of(pool, x) + last - first, feeds), space):
            return k
        prepare(pool, boxes, x, scratch)
        for each in range(first, last):
            t = np.int64(hellos.sender[each])
            if each > first and hellos.sender[each - 1] == t:
                continue
            space.counts[HELLOS] += 1
            probes.sent[t, SAID_HELLO] += 1
            if not arrives(probes.faults, t, x, peer_key(peer_key(key, t), x), 0):
                continue
            if note(pool, boxes, x, t, settings.cycle, scratch, np.int64(0)) > 0:
                used = space.counts[NEWS]  # a peer accepted now gets no hello in return
                consider(pool, boxes, x, np.int64(1), settings, scratch, probes, space.news, used)
    return peers.shape[0]


@hot
def take_turns(pool, boxes, feeds, settings, probes, space, turn, peers):
    """Carry out one part of the cycle for these peers."""
    if turn.part == BEGIN:
        return _begin_all(pool, boxes, feeds, settings, probes, space, turn, peers)
    if turn.part == CHOOSE:
        return _choose_all(pool, settings, probes.faults, turn, peers)
    if turn.part == EXCHANGE:
        return _exchange_all(pool, boxes, feeds, settings, probes, space, turn, peers)
    return _hear_all(pool, boxes, feeds, settings, probes, space, turn, peers)
