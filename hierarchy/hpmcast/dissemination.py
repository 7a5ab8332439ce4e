"""rfpbcast, pmcast and hpmcast: one event through a system (hpmcast, Figures 1, 2 and 6).

Every round, each participant that has the event gossips it to F random participants of its view, those
that the event is for. hpmcast does so level by level: first among the delegates of the highest level, after
the expected number of rounds among those of the level below, each in its own subsystem, and last among
neighbours. pmcast is the same with one level that everybody is in; rfpbcast filters only on arrival, so to
its senders all are interested. One kernel runs all three.

Read differently from the paper:

- Participants do not choose themselves: the probability of being chosen is F/(n - 1) as in equation 1.
- The levels are walked from l down to 1 within one round (Figure 6, line 5), so an event that has had
  its rounds at one level is gossiped at the next in the same round.
- |view| R (lines 27 and 35) is the number of entries of the view: also right at level 1, where
  a line is one participant, and for subsystems with fewer than R participants (Section 5.1.2 allows it). Both
  lines as printed are settings (`hierarchy.hpmcast.settings.Reading`); Figure 8 needs line 27 as printed.
- Loss and crash terms, left out of Figure 6 for simplicity, are in the number of rounds (equation 9).
- The audience threshold D (Section 5.4.2) is not applied where nobody at all is interested.
- Crashed participants are crashed from the start.
- Messages may be acknowledged and sent again within their round (`Gossip.retries`); acknowledgements, which
  the paper does not have, are not lost.
- The estimate that is adjusted (`Gossip.adaptive`, Section 6.1.1): who moves down a level inverts equation 19
  for the share there, p(i) = 1 - (1 - p(i + 1))^(1/a), and each round adjusts it by how many of the F
  participants it chose matched. How fast is left open: here the estimate that came with the event weighs
  as much as one round, F participants. The publisher alone matches a whole view, that of the highest level.
- In a network with latencies (`sub2sub.timing`) every participant has a timer of its own, which fires every
  tick: it gossips what it has when its timer fires, and hops are those of the first copy's way, not rounds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.hpmcast.load import Multicast
from hierarchy.hpmcast.rounds import pittel_rounds
from hierarchy.hpmcast.settings import Gossip
from hierarchy.hpmcast.views import Views
from hierarchy.trace import Trace
from sub2sub.errors import InputError
from sub2sub.kernels.compilation import apart, kernel, rule
from sub2sub.kernels.randomness import below, cycle_key, draw, peer_key, stream_number
from sub2sub.kernels.references import by_reference
from sub2sub.overlay.network import Faults, Network, arrives
from sub2sub.timing.agenda import again, departure, new_agenda, offer, take
from sub2sub.timing.latency import HOPS, Clock, next_beat, travel

__all__ = ["disseminate"]

STREAM = stream_number("hpmcast")
AGAIN = 1 << 32  # where the draws for messages that are sent again begin
DEFAULT = Gossip()


class _Rules(NamedTuple):
    fanout: int
    constant: float
    loss: float
    crash: float
    retries: int
    reliable: int  # the lowest level at which messages are sent again
    adaptive: bool
    lowest: float  # what the size of a view of level 1 is multiplied by


class _Audience(NamedTuple):
    wanted: NDArray[np.uint8]  # per entry: whether gossip is sent to it
    share: NDArray[np.float64]  # per row: the fraction of entries that is (getprob)


@by_reference
class _World(NamedTuple):
    """What all participants have in common."""

    views: Views
    rules: _Rules
    audience: _Audience
    faults: Faults
    clock: Clock


@by_reference
class _Counts(NamedTuple):
    first: NDArray[np.int32]
    sent: NDArray[np.int32]
    received: NDArray[np.int32]
    filtered: NDArray[np.int32]
    messages: NDArray[np.int64]
    matched: NDArray[np.int64]
    letters: NDArray[np.int32]
    ends: NDArray[np.int64]  # letters so far


@by_reference
class _Buffers(NamedTuple):
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


def _buffers(n: int, fanout: int) -> _Buffers:
    ages, hits, tried, carried_age = np.zeros((4, n), np.int32)
    limit, prob, prior, carried_prob = np.zeros((4, n), np.float64)
    level, carried_level = np.zeros((2, n), np.int8)
    chosen = np.empty(fanout, np.int64)
    return _Buffers(
        level, ages, limit, prob, prior, hits, tried, carried_level, carried_age, carried_prob, chosen
    )


@kernel
def _audience(start, line, hit, least, wanted, share):
    """Carry matched lines over to the entries of each view; widen to the first `least` if too few match."""
    for r in range(start.shape[0] - 1):
        size, hits = start[r + 1] - start[r], 0
        for e in range(start[r], start[r + 1]):
            wanted[e] = hit[line[e]]
            hits += wanted[e]
        if 0 < hits < least:
            for e in range(start[r], min(start[r] + least, start[r + 1])):
                hits += 1 - wanted[e]
                wanted[e] = 1
        share[r] = hits / size if size > 0 else 0.0


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
def _enter(world, buffers, x, level, age, prob):
    """Start to gossip at a level, or go on where the sender was."""
    buffers.level[x], buffers.age[x] = level, age
    buffers.prob[x], buffers.prior[x] = prob, prob
    buffers.hits[x], buffers.tried[x] = 0, 0
    buffers.limit[x] = _rounds(world, level, x, prob)


@rule
def _publish(world, x, buffers, trace):
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
    _enter(world, buffers, x, level, 0, prob)


@rule
def _adjust(world, buffers, x):
    """Adjust the share by who matched so far; what the event came with counts as one round."""
    fanout = world.rules.fanout
    buffers.prob[x] = (fanout * buffers.prior[x] + buffers.hits[x]) / (fanout + buffers.tried[x])
    buffers.limit[x] = _rounds(world, buffers.level[x], x, buffers.prob[x])


@apart
def _gossip(world, x, now, draws, buffers, agenda, trace):
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
    for k in range(choices):
        e = first + _choose(draws, k, size, skip, buffers.chosen)
        trace.filtered[x] += 1
        trace.matched[level[x] - 1] += 1
        buffers.tried[x] += 1
        if not world.audience.wanted[e]:
            continue
        buffers.hits[x] += 1
        y = views.entry[e]
        leaves = departure(world.clock, agenda.free, x, y, now, 0)
        for attempt in range(retries + 1):
            trace.sent[x] += 1
            trace.messages[level[x] - 1] += 1
            if arrives(world.faults, x, y, draws, rules.fanout + k + AGAIN * attempt):
                _note(x, y, trace)
                active += _reach(world, x, y, leaves, attempt, draws, buffers, agenda, trace)
                break
    if rules.adaptive:
        _adjust(world, buffers, x)
    return active


@rule
def _note(x, y, trace):
    """Note a message that arrived."""
    trace.received[y] += 1
    if trace.ends[0] < trace.letters.shape[0]:
        trace.letters[trace.ends[0], 0], trace.letters[trace.ends[0], 1] = x, y
        trace.ends[0] += 1


@rule
def _reach(world, x, y, leaves, attempt, draws, buffers, agenda, trace):
    """A message is on its way to y; counted in rounds it is there at once. Whether y is active for that."""
    level, age, prob = buffers.level[x], buffers.age[x], buffers.prob[x]
    if world.clock.kind != HOPS:
        if offer(agenda, y, x, leaves + travel(world.clock, x, y, attempt, draws)):
            buffers.carried_level[y], buffers.carried_age[y], buffers.carried_prob[y] = level, age, prob
        return 0
    if trace.first[y] >= 0:
        return 0
    trace.first[y] = np.int32(leaves)
    _enter(world, buffers, y, level, age, prob)
    return 1


@kernel
def _spread(world, publisher, key, buffers, agenda, trace):
    """Round after round, participant after participant; returns the last round in which anybody gossiped."""
    n = world.views.row.shape[1]
    level, age, prob = _publish(world, publisher, buffers, trace)
    _enter(world, buffers, publisher, level, age, prob)
    trace.first[publisher] = 0
    now, active = 0, 1
    while active > 0:
        now += 1
        active = 0
        round_key = peer_key(key, now)
        # In the order of addresses, neighbours after each other: their views and states share the caches.
        for x in range(n):
            if buffers.level[x] > 0 and trace.first[x] != now:
                active += _gossip(world, x, np.float64(now), peer_key(round_key, x), buffers, agenda, trace)
    return now - 1


@kernel
def _spread_in_time(world, publisher, key, buffers, agenda, trace):
    """The same with a timer of its own for each participant; returns the most rounds that one gossiped.

    On the agenda n + x stands for the timer of participant x, which fires every tick, and x for what is on
    its way to it. A publisher does not wait for its timer.
    """
    n = world.views.row.shape[1]
    turns, busiest = np.zeros(n, np.int64), 0
    level, age, prob = _publish(world, publisher, buffers, trace)
    buffers.carried_level[publisher], buffers.carried_age[publisher] = level, age
    buffers.carried_prob[publisher] = prob
    offer(agenda, publisher, -1, 0.0)
    while True:
        item = take(agenda)
        if item < 0:
            return busiest
        x, now = item % n, agenda.when[item]
        if item < n:
            trace.first[x] = agenda.hop[x]
            carried = buffers.carried_level[x], buffers.carried_age[x], buffers.carried_prob[x]
            _enter(world, buffers, x, carried[0], carried[1], carried[2])
            beat = now if x == publisher else next_beat(world.clock, x, now, 1.0)
        else:
            draws = peer_key(peer_key(key, turns[x] + 1), x)
            if _gossip(world, x, now, draws, buffers, agenda, trace) == 0:
                continue
            turns[x] += 1
            busiest = max(busiest, turns[x])
            beat = now + world.clock.tick
        again(agenda, n + x, beat)


def disseminate(
    views: Views,
    hit: NDArray[np.uint8],
    publisher: int,
    settings: Gossip = DEFAULT,
    *,
    network: Network | None = None,
    seed: int = 0,
    event: int = 0,
    shares: ArrayLike | None = None,
    record: bool = False,
    places: NDArray[np.int64] | None = None,
) -> Multicast:
    """Multicast one event with hpmcast; with views of one level, with pmcast.

    For rfpbcast, pass a `hit` of ones: its senders do not filter.

    Parameters
    ----------
    views : Views
        Of exact tables or of the membership protocol.
    hit : (lines,) uint8
        Which lines the event passes: `Knowledge.match`, or `spread_interest` of flags.
    publisher : int
        The participant that publishes; it has the event and takes part at every level.
    settings : Gossip
    network : Network, optional
        Who has crashed, partitions, message loss; all well by default.
    seed, event : int
        Draws are a function of the two.
    shares : (l,) array_like, optional
        Interested share of the entries at each level, level 1 first, instead of the one that Figure 6
        has participants measure in their own views: an estimate by equation 19, say (Section 6.1.1).
    record : bool
        Keep who sent the event to whom (`Multicast.letters`), at the price of a second run.
    places : (n,) int64, optional
        The host of each participant, in a network with latencies; one each by default.

    Examples
    --------
    >>> from hierarchy.hpmcast import Population, exact_knowledge, spread_interest
    >>> system = Population.regular(a=10, levels=3)
    >>> interested = np.arange(1000) % 2
    >>> views = exact_knowledge(system).views()
    >>> event = disseminate(views, spread_interest(system, interested), publisher=1, seed=1)
    >>> event.trace.delivery(interested), event.trace.parasites(interested), event.rounds
    (0.992, 200, 14)
    """
    n = views.row.shape[1]
    network = Network.whole(n) if network is None else network
    if not 0 <= publisher < n or not network.alive[publisher]:
        raise InputError(f"publisher: expected a live participant from 0 to {n - 1}, got {publisher}")
    audience = _Audience(np.empty(len(views.entry), np.uint8), np.empty(len(views.lines), np.float64))
    _audience(views.start, views.line, hit, settings.audience, audience.wanted, audience.share)
    if shares is not None:
        audience.share[views.row] = np.asarray(shares, np.float64)[:, None]
    times, divided = settings.lowest
    if divided > 1:
        audience.share[np.unique(views.row[0])] /= divided
    # Plain floats, whatever a caller wrote: another type would be another kernel to compile.
    rules = _Rules(
        settings.fanout,
        float(settings.constant),
        float(settings.loss),
        float(settings.crash),
        settings.retries,
        settings.reliable,
        settings.adaptive,
        float(times),
    )

    clock = Clock.of(network.timing, np.arange(n) if places is None else places)
    world = _World(views, rules, audience, network.faults(), clock)
    key = cycle_key(seed, STREAM, event)

    def run(letters: int) -> Multicast:
        counts = _Counts(
            first=np.full(n, -1, np.int32),
            sent=np.zeros(n, np.int32),
            received=np.zeros(n, np.int32),
            filtered=np.zeros(n, np.int32),
            messages=np.zeros(len(views.row), np.int64),
            matched=np.zeros(len(views.row), np.int64),
            letters=np.empty((letters, 2), np.int32),
            ends=np.zeros(1, np.int64),
        )
        agenda = new_agenda(2 * n if clock.timed else 0, clock)
        follow = _spread_in_time if clock.timed else _spread
        rounds = follow(world, publisher, key, _buffers(n, settings.fanout), agenda, counts)
        when = agenda.when[:n] if clock.timed else counts.first.astype(np.float64)
        trace = Trace(counts.first, counts.sent, counts.received, publisher, network.alive, when)
        return Multicast(trace, counts.filtered, counts.messages, counts.matched, counts.letters, rounds)

    found = run(letters=0)
    return run(letters=int(found.trace.received.sum())) if record else found
