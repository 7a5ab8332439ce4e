"""What one participant does with an event in one round (hpmcast, Figure 6).

It moves down the levels whose rounds are over, chooses F random entries of its view and sends the event to
those that it is for. `hierarchy.hpmcast.dissemination` lets all participants gossip, in rounds or in time,
and says what is read differently from the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.rounds import pittel_rounds
from hierarchy.hpmcast.views import Views
from sub2sub.kernels.compilation import rule
from sub2sub.kernels.randomness import below, draw
from sub2sub.kernels.references import by_reference
from sub2sub.overlay.network import Faults, arrives
from sub2sub.timing.agenda import departure, offer
from sub2sub.timing.latency import HOPS, Clock, travel

AGAIN = 1 << 32  # where the draws for messages that are sent again begin


class Rules(NamedTuple):
    """Settings of dissemination (`Gossip`) as numbers."""

    fanout: int
    constant: float
    loss: float
    crash: float
    retries: int
    reliable: int  # the lowest level at which messages are sent again
    adaptive: bool
    lowest: float  # what the size of a view of level 1 is multiplied by


class Audience(NamedTuple):
    """Who an event is for, as the views of participants tell it."""

    wanted: NDArray[np.uint8]  # per entry: whether gossip is sent to it
    share: NDArray[np.float64]  # per row: the fraction of entries that is (getprob)


@by_reference
class World(NamedTuple):
    """What all participants have in common."""

    views: Views
    rules: Rules
    audience: Audience
    faults: Faults
    clock: Clock


@by_reference
class Counts(NamedTuple):
    """What became of the event: by participant, by level, and the arrivals that arrived."""

    first: NDArray[np.int32]
    sent: NDArray[np.int32]
    received: NDArray[np.int32]
    filtered: NDArray[np.int32]
    messages: NDArray[np.int64]
    matched: NDArray[np.int64]
    arrivals: NDArray[np.int32]
    ends: NDArray[np.int64]  # arrivals so far


@by_reference
class Buffers(NamedTuple):
    """What every participant has of the event: one entry each."""

    level: NDArray[np.int8]  # the level it gossips at; 0: nothing to gossip
    age: NDArray[np.int32]  # rounds gossiped at that level
    limit: NDArray[np.float64]  # rounds that level gets
    prob: NDArray[np.float64]  # the share of interested entries that it goes by
    prior: NDArray[np.float64]  # what it came with
    hits: NDArray[np.int32]  # of those it chose at this level, who matched
    tried: NDArray[np.int32]
    carried_level: NDArray[np.int8]  # what the earliest message on its way says of these
    carried_age: NDArray[np.int32]
    carried_prob: NDArray[np.float64]
    chosen: NDArray[np.int64]  # room for the choices of one round

    @classmethod
    def empty(cls, n: int, fanout: int) -> Buffers:
        """Of n participants, none of whom has the event."""
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
    # Step over what may not be chosen, smallest first, to find the place-th of what is left.
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
    """Start to gossip at a level, or go on where the sender was."""
    buffers.level[x], buffers.age[x] = level, age
    buffers.prob[x], buffers.prior[x] = prob, prob
    buffers.hits[x], buffers.tried[x] = 0, 0
    buffers.limit[x] = _rounds(world, level, x, prob)


@rule
def publish(world, x, buffers, trace):
    """The publisher matches a whole view, that of the highest level; what it enters with."""
    levels = world.views.row.shape[0]
    row = world.views.row[levels - 1, x]
    trace.filtered[x] += world.views.lines[row]
    trace.matched[levels - 1] += world.views.lines[row]
    return levels, 0, world.audience.share[row]


@rule
def _move_down(world, buffers, x, trace):
    """The level below, and the share of those interested there: matched in the view, or estimated."""
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
    """Adjust the share by who matched so far; what the event came with counts as one round."""
    fanout = world.rules.fanout
    buffers.prob[x] = (fanout * buffers.prior[x] + buffers.hits[x]) / (fanout + buffers.tried[x])
    buffers.limit[x] = _rounds(world, buffers.level[x], x, buffers.prob[x])


@rule
def gossip(world, x, now, draws, buffers, agenda, trace):
    """One round of a participant, unless it has had all; how many are active through it, itself included."""
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
        for attempt in range(retries + 1):
            sent += 1
            if arrives(world.faults, x, y, draws, rules.fanout + k + AGAIN * attempt):
                _note(x, y, trace)
                active += _reach(world, x, y, leaves, attempt, draws, buffers, agenda, trace)
                break
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
    """Note a message that arrived."""
    trace.received[y] += 1
    if trace.ends[0] < trace.arrivals.shape[0]:
        trace.arrivals[trace.ends[0], 0], trace.arrivals[trace.ends[0], 1] = x, y
        trace.ends[0] += 1


@rule
def _reach(world, x, y, leaves, attempt, draws, buffers, agenda, trace):
    """A message is on its way to y; counted in rounds it is there at once. Whether y is active for that."""
    if trace.first[y] >= 0:
        return 0
    level, age, prob = buffers.level[x], buffers.age[x], buffers.prob[x]
    if world.clock.kind != HOPS:
        # A copy on its way that arrives before this one leaves is the earlier one in any case.
        if agenda.when[y] > leaves and offer(
            agenda, y, x, leaves + travel(world.clock, x, y, attempt, draws)
        ):
            buffers.carried_level[y], buffers.carried_age[y], buffers.carried_prob[y] = level, age, prob
        return 0
    trace.first[y] = np.int32(leaves)
    enter(world, buffers, y, level, age, prob)
    return 1
