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
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, cycle_key, draw, peer_key, stream_number
from sub2sub.overlay.network import Network, arrives

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


class _Counts(NamedTuple):
    first: NDArray[np.int32]
    sent: NDArray[np.int32]
    received: NDArray[np.int32]
    filtered: NDArray[np.int32]
    messages: NDArray[np.int64]
    matched: NDArray[np.int64]
    letters: NDArray[np.int32]


class _Buffers(NamedTuple):
    """What every participant has of the event: one entry each."""

    level: NDArray[np.int8]  # the level it gossips at; 0: nothing to gossip
    age: NDArray[np.int32]  # rounds gossiped at that level
    limit: NDArray[np.float64]  # rounds that level gets
    prob: NDArray[np.float64]  # the share of interested entries that it goes by
    prior: NDArray[np.float64]  # what it came with
    hits: NDArray[np.int32]  # of those it chose at this level, who matched
    tried: NDArray[np.int32]


def _buffers(n: int) -> _Buffers:
    ages, hits, tried = np.zeros((3, n), np.int32)
    limit, prob, prior = np.zeros((3, n), np.float64)
    return _Buffers(np.zeros(n, np.int8), ages, limit, prob, prior, hits, tried)


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


@kernel
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


@kernel
def _rounds(views, rules, level, x, prob):
    row = views.row[level - 1, x]
    size = np.float64(views.start[row + 1] - views.start[row])
    if level == 1:
        size *= rules.lowest
    return pittel_rounds(size * prob, rules.fanout * prob, rules.loss, rules.crash, rules.constant)


@kernel
def _enter(views, rules, buffers, x, level, age, prob):
    """Start to gossip at a level, or go on where the sender was."""
    buffers.level[x], buffers.age[x] = level, age
    buffers.prob[x], buffers.prior[x] = prob, prob
    buffers.hits[x], buffers.tried[x] = 0, 0
    buffers.limit[x] = _rounds(views, rules, level, x, prob)


@kernel
def _move_down(views, rules, audience, buffers, x, trace):
    """The level below, and the share of those interested there: matched in the view, or estimated."""
    level = buffers.level[x] - 1
    row = views.row[level - 1, x]
    if rules.adaptive:
        prob = 1.0 - (1.0 - buffers.prob[x]) ** (1.0 / max(views.lines[row], 1))
    else:
        prob = audience.share[row]
        trace.filtered[x] += views.lines[row]
        trace.matched[level - 1] += views.lines[row]
    _enter(views, rules, buffers, x, level, 0, prob)


@kernel
def _adjust(views, rules, buffers, x):
    """Adjust the share by who matched so far; what the event came with counts as one round."""
    weight = rules.fanout + buffers.tried[x]
    buffers.prob[x] = (rules.fanout * buffers.prior[x] + buffers.hits[x]) / weight
    buffers.limit[x] = _rounds(views, rules, buffers.level[x], x, buffers.prob[x])


@kernel
def _spread(views, rules, audience, publisher, key, faults, buffers, trace):
    """Round after round, participant after participant; returns the last round in which anybody gossiped."""
    levels, n = views.row.shape
    level, age, limit, prob = buffers.level, buffers.age, buffers.limit, buffers.prob
    chosen = np.empty(rules.fanout, np.int64)

    row = views.row[levels - 1, publisher]
    _enter(views, rules, buffers, publisher, levels, 0, audience.share[row])
    trace.first[publisher] = 0
    trace.filtered[publisher] += views.lines[row]
    trace.matched[levels - 1] += views.lines[row]

    now, active, letters = 0, 1, 0
    while active > 0:
        now += 1
        active = 0
        round_key = peer_key(key, now)
        # In the order of addresses, neighbours after each other: their views and states share the caches.
        for x in range(n):
            if level[x] == 0 or trace.first[x] == now:
                continue
            while age[x] >= limit[x] and level[x] > 1:
                _move_down(views, rules, audience, buffers, x, trace)
            if age[x] >= limit[x]:
                level[x] = 0
                continue
            active += 1
            age[x] += 1
            draws = peer_key(round_key, x)
            row = views.row[level[x] - 1, x]
            first, size = views.start[row], views.start[row + 1] - views.start[row]
            skip = views.position[level[x] - 1, x]
            choices = min(rules.fanout, size - (1 if skip >= 0 else 0))
            retries = rules.retries if level[x] >= rules.reliable else 0
            for k in range(choices):
                e = first + _choose(draws, k, size, skip, chosen)
                trace.filtered[x] += 1
                trace.matched[level[x] - 1] += 1
                buffers.tried[x] += 1
                if not audience.wanted[e]:
                    continue
                buffers.hits[x] += 1
                y = views.entry[e]
                there = False
                for attempt in range(retries + 1):
                    trace.sent[x] += 1
                    trace.messages[level[x] - 1] += 1
                    there = arrives(faults, x, y, draws, rules.fanout + k + AGAIN * attempt)
                    if there:
                        break
                if not there:
                    continue
                trace.received[y] += 1
                if letters < trace.letters.shape[0]:
                    trace.letters[letters, 0], trace.letters[letters, 1] = x, y
                    letters += 1
                if trace.first[y] >= 0:
                    continue
                active += 1
                trace.first[y] = now
                _enter(views, rules, buffers, y, level[x], age[x], prob[x])
            if rules.adaptive:
                _adjust(views, rules, buffers, x)
    return now - 1


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

    def run(letters: int) -> Multicast:
        counts = _Counts(
            first=np.full(n, -1, np.int32),
            sent=np.zeros(n, np.int32),
            received=np.zeros(n, np.int32),
            filtered=np.zeros(n, np.int32),
            messages=np.zeros(len(views.row), np.int64),
            matched=np.zeros(len(views.row), np.int64),
            letters=np.empty((letters, 2), np.int32),
        )
        rounds = _spread(
            views, rules, audience, publisher, cycle_key(seed, STREAM, event), network.faults(),
            _buffers(n), counts,
        )  # fmt: skip
        trace = Trace(counts.first, counts.sent, counts.received, publisher, network.alive)
        return Multicast(trace, counts.filtered, counts.messages, counts.matched, counts.letters, rounds)

    found = run(letters=0)
    return run(letters=int(found.trace.received.sum())) if record else found
