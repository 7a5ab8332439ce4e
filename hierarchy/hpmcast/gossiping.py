"""One round of one participant that has an event (hpmcast, Figure 6); read `hierarchy.peers.hpmcast` first.

It moves down the levels whose rounds are over, chooses F random entries of its view and sends the event to
those that it is for. `hierarchy.hpmcast.dissemination` runs all participants, in rounds or in time, and lists
the differences from the paper.

The number of rounds is Pittel's asymptote with loss and crashes (equations 4, 5 and 9). Pittel: *On spreading
a rumor*, SIAM J. Applied Mathematics 47(1), 1987: log n (1/F + 1/log(F + 1)) + c + O(1) rounds infect all of
n participants, each of which gossips to F others per round. Only F (1 - loss)(1 - crash) of these arrive. If
a fraction p is interested and senders filter, the size of the system is n p and the fanout F p. The constant
c, which the asymptote leaves open, is a setting, 0 by default.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.views import Views
from hierarchy.peers.settings import Gossip
from sub2sub.compiled.common.network import Faults, repeated
from sub2sub.compiled.common.randomness import below, draw
from sub2sub.compiled.machinery.compilation import kernel, rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.timing.agenda import departure, offer
from sub2sub.compiled.timing.latency import HOPS, Clock, travel


@kernel
def pittel_rounds(size, fanout, loss, crash, constant):
    """Expected rounds to infect `size` participants with a fanout (equation 5; 9 with n p, F p).

    Negative for a size below 1, and minus infinity if no participant can be infected: no round is needed.

    Examples
    --------
    >>> round(pittel_rounds(100.0, 2.0, 0.0, 0.0, 0.0), 3)
    6.494
    >>> round(pittel_rounds(100.0, 2.0, 0.1, 0.05, 0.0), 3)
    7.312
    """
    reached = fanout * (1.0 - loss) * (1.0 - crash)
    if size <= 0.0 or reached <= 0.0:
        return -np.inf
    return np.log(size) * (1.0 / reached + 1.0 / np.log(reached + 1.0)) + constant


class GossipRules(NamedTuple):
    """Settings of dissemination (`Gossip`) as numbers."""

    fanout: int
    constant: float
    loss: float
    crash: float
    retries: int
    reliable: int  # the lowest level at which messages are repeated
    adaptive: bool
    lowest: float  # factor on the size of a view of level 1

    @classmethod
    def of(cls, settings: Gossip) -> GossipRules:
        """The settings, with floats: other types would be other kernels to compile."""
        s, (lowest, _) = settings, settings.lowest
        chances = float(s.constant), float(s.loss), float(s.crash)
        return cls(s.fanout, *chances, s.retries, s.reliable, s.adaptive, float(lowest))


class Interested(NamedTuple):
    """The participants that an event is for, according to views."""

    wanted: NDArray[np.uint8]  # per entry: whether the event is sent to it
    share: NDArray[np.float64]  # per row: the share of such entries (getprob)


@by_reference
class GossipWorld(NamedTuple):
    """Data that all participants share."""

    views: Views
    rules: GossipRules
    audience: Interested
    faults: Faults
    clock: Clock


@by_reference
class GossipCounts(NamedTuple):
    """Counts by participant and by level, and the messages that arrived."""

    first: NDArray[np.int32]
    sent: NDArray[np.int32]
    received: NDArray[np.int32]
    filtered: NDArray[np.int32]
    messages: NDArray[np.int64]
    matched: NDArray[np.int64]
    arrivals: NDArray[np.int32]
    ends: NDArray[np.int64]  # arrivals so far

    @classmethod
    def zero(cls, n: int, levels: int, arrivals: int) -> GossipCounts:
        """Counts of n participants before an event, with space for so many arrivals."""
        sent, received, filtered = np.zeros((3, n), np.int32)
        messages, matched = np.zeros((2, levels), np.int64)
        pairs, ends = np.empty((arrivals, 2), np.int32), np.zeros(1, np.int64)
        return cls(np.full(n, -1, np.int32), sent, received, filtered, messages, matched, pairs, ends)


@by_reference
class Buffers(NamedTuple):
    """The state of every participant for an event: one entry each."""

    level: NDArray[np.int8]  # the level at which it gossips; 0: it does not gossip
    age: NDArray[np.int32]  # rounds gossiped at that level
    limit: NDArray[np.float64]  # maximum number of rounds at that level
    prob: NDArray[np.float64]  # the share of interested entries, as it knows it
    prior: NDArray[np.float64]  # the share that came with the event
    hits: NDArray[np.int32]  # matches among the entries that it chose at this level
    tried: NDArray[np.int32]  # entries that it chose at this level
    carried_level: NDArray[np.int8]  # level, age and share in the earliest message on its way
    carried_age: NDArray[np.int32]
    carried_prob: NDArray[np.float64]
    chosen: NDArray[np.int64]  # scratch space for the choices of one round

    @classmethod
    def empty(cls, n: int, fanout: int) -> Buffers:
        """The state of n participants without the event."""
        age, hits, tried, carried_age = np.zeros((4, n), np.int32)
        limit, prob, prior, carried_prob = np.zeros((4, n), np.float64)
        level, carried_level = np.zeros((2, n), np.int8)
        chosen = np.empty(fanout, np.int64)
        return cls(
            level, age, limit, prob, prior, hits, tried, carried_level, carried_age, carried_prob, chosen
        )


@rule
def _choose(key, k, size, skip, chosen):
    """The k-th of distinct random positions below `size`, none of them `skip`; `chosen` is kept sorted."""
    free = size - k - (1 if skip >= 0 else 0)
    place = below(draw(key, k), free)
    # Skip positions that are not allowed, smallest first, to find the place-th of the others.
    at, skipped = 0, skip < 0
    while at < k or not skipped:
        if not skipped and (at == k or skip < chosen[at]):
            taken, skipped = skip, True
        else:
            taken = chosen[at]
            at += 1
        if place < taken:
            break
        place += 1
    at = k
    while at > 0 and chosen[at - 1] > place:
        chosen[at] = chosen[at - 1]
        at -= 1
    chosen[at] = place
    return place


@rule
def _rounds(world, level, x, prob):
    views, rules = world.views, world.rules
    row = views.row[level - 1, x]
    size = np.float64(views.start[row + 1] - views.start[row])
    if level == 1:
        size *= rules.lowest
    return pittel_rounds(size * prob, rules.fanout * prob, rules.loss, rules.crash, rules.constant)


@rule
def enter(world, buffers, x, level, age, prob):
    """Start to gossip at a level, at the age that the sender had."""
    buffers.level[x], buffers.age[x] = level, age
    buffers.prob[x], buffers.prior[x] = prob, prob
    buffers.hits[x], buffers.tried[x] = 0, 0
    buffers.limit[x] = _rounds(world, level, x, prob)


@rule
def publish(world, x, buffers, trace):
    """The publisher matches its whole view of the highest level; returns its level, age and share."""
    levels = world.views.row.shape[0]
    row = world.views.row[levels - 1, x]
    trace.filtered[x] += world.views.lines[row]
    trace.matched[levels - 1] += world.views.lines[row]
    return levels, 0, world.audience.share[row]


@rule
def _move_down(world, buffers, x, trace):
    """Enter the level below, with the share of interested entries there: matched, or estimated."""
    views = world.views
    level = buffers.level[x] - 1
    row = views.row[level - 1, x]
    if world.rules.adaptive:
        prob = 1.0 - (1.0 - buffers.prob[x]) ** (1.0 / max(views.lines[row], 1))
    else:
        prob = world.audience.share[row]
        trace.filtered[x] += views.lines[row]
        trace.matched[level - 1] += views.lines[row]
    enter(world, buffers, x, level, 0, prob)


@rule
def _adjust(world, buffers, x):
    """Adjust the share by the matches so far; the share that came with the event counts as one round."""
    fanout = world.rules.fanout
    buffers.prob[x] = (fanout * buffers.prior[x] + buffers.hits[x]) / (fanout + buffers.tried[x])
    buffers.limit[x] = _rounds(world, buffers.level[x], x, buffers.prob[x])


@rule
def gossip(world, x, now, draws, buffers, agenda, trace):
    """One round of a participant, unless its rounds are over; returns how many are active after it."""
    views, rules, level, age = world.views, world.rules, buffers.level, buffers.age
    while age[x] >= buffers.limit[x] and level[x] > 1:
        _move_down(world, buffers, x, trace)
    if age[x] >= buffers.limit[x]:
        level[x] = 0
        return 0
    active = 1
    age[x] += 1
    row = views.row[level[x] - 1, x]
    first, size = views.start[row], views.start[row + 1] - views.start[row]
    skip = views.position[level[x] - 1, x]
    choices = min(rules.fanout, size - (1 if skip >= 0 else 0))
    retries = rules.retries if level[x] >= rules.reliable else 0
    hits = sent = 0
    for k in range(choices):
        e = first + _choose(draws, k, size, skip, buffers.chosen)
        if not world.audience.wanted[e]:
            continue
        hits += 1
        y = views.entry[e]
        leaves = departure(world.clock, agenda.free, x, y, now, 0)
        copies, came, attempt = repeated(world.faults, x, y, draws, rules.fanout + k, retries)
        sent += copies
        for _ in range(came):
            _note(x, y, trace)
        if came > 0:
            active += _reach(world, x, y, leaves, attempt, draws, buffers, agenda, trace)
    trace.filtered[x] += choices
    trace.matched[level[x] - 1] += choices
    trace.sent[x] += sent
    trace.messages[level[x] - 1] += sent
    buffers.hits[x] += hits
    buffers.tried[x] += choices
    if rules.adaptive:
        _adjust(world, buffers, x)
    return active


@rule
def _note(x, y, trace):
    """Record a message that arrived."""
    trace.received[y] += 1
    if trace.ends[0] < trace.arrivals.shape[0]:
        trace.arrivals[trace.ends[0], 0], trace.arrivals[trace.ends[0], 1] = x, y
        trace.ends[0] += 1


@rule
def _reach(world, x, y, leaves, attempt, draws, buffers, agenda, trace):
    """Deliver a message to y at once in rounds, or schedule it in time; returns 1 if y becomes active."""
    if trace.first[y] >= 0:
        return 0
    level, age, prob = buffers.level[x], buffers.age[x], buffers.prob[x]
    if world.clock.kind != HOPS:
        # Ignore a message that leaves after another copy has arrived.
        if agenda.when[y] > leaves and offer(
            agenda, y, x, leaves + travel(world.clock, x, y, attempt, draws)
        ):
            buffers.carried_level[y], buffers.carried_age[y], buffers.carried_prob[y] = level, age, prob
        return 0
    trace.first[y] = np.int32(leaves)
    enter(world, buffers, y, level, age, prob)
    return 1
