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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.hpmcast.gossiping import Audience, Buffers, Counts, Rules, World, enter, gossip, publish
from hierarchy.hpmcast.load import Multicast
from hierarchy.hpmcast.settings import Gossip
from hierarchy.hpmcast.views import Views
from hierarchy.trace import Trace
from sub2sub.errors import InputError
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import cycle_key, peer_key, stream_number
from sub2sub.overlay.network import Network
from sub2sub.timing.agenda import again, later, new_agenda, offer, sooner_than_first, take
from sub2sub.timing.latency import Clock, next_beat

STREAM = stream_number("hpmcast")
DEFAULT = Gossip()


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
def _spread(world, publisher, key, buffers, agenda, trace):
    """Round after round, participant after participant; returns the last round in which anybody gossiped."""
    n = world.views.row.shape[1]
    level, age, prob = publish(world, publisher, buffers, trace)
    enter(world, buffers, publisher, level, age, prob)
    trace.first[publisher] = 0
    now, active = 0, 1
    while active > 0:
        now += 1
        active = 0
        round_key = peer_key(key, now)
        # In the order of addresses, neighbours after each other: their views and states share the caches.
        for x in range(n):
            if buffers.level[x] > 0 and trace.first[x] != now:
                active += gossip(world, x, np.float64(now), peer_key(round_key, x), buffers, agenda, trace)
    return now - 1


@kernel
def _spread_in_time(world, publisher, key, buffers, agenda, trace):
    """The same with a timer of its own for each participant; returns the most rounds that one gossiped.

    On the agenda n + x stands for the timer of participant x, which fires every tick, and x for what is on
    its way to it. A publisher does not wait for its timer. All timers have the same period, so those that
    fire again do it in the order in which they fired: they wait in a queue, not on the agenda's heap.
    """
    n = world.views.row.shape[1]
    turns, busiest = np.zeros(n, np.int64), 0
    queue, head, tail = np.empty(n, np.int64), 0, 0
    level, age, prob = publish(world, publisher, buffers, trace)
    buffers.carried_level[publisher], buffers.carried_age[publisher] = level, age
    buffers.carried_prob[publisher] = prob
    offer(agenda, publisher, -1, 0.0)
    while True:
        if head < tail and sooner_than_first(agenda, queue[head % n]):
            item = queue[head % n]
            head += 1
        else:
            item = take(agenda)
        if item < 0:
            return busiest
        x, now = item % n, agenda.when[item]
        if item < n:
            trace.first[x] = agenda.hop[x]
            carried = buffers.carried_level[x], buffers.carried_age[x], buffers.carried_prob[x]
            enter(world, buffers, x, carried[0], carried[1], carried[2])
            again(agenda, n + x, now if x == publisher else next_beat(world.clock, x, now, 1.0))
            continue
        draws = peer_key(peer_key(key, turns[x] + 1), x)
        if gossip(world, x, now, draws, buffers, agenda, trace) > 0:
            turns[x] += 1
            busiest = max(busiest, turns[x])
            later(agenda, item, now + world.clock.tick)
            queue[tail % n] = item
            tail += 1


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
        Crashed participants, partitions, message loss; none by default.
    seed, event : int
        Draws are a function of the two.
    shares : (l,) array_like, optional
        Interested share of the entries at each level, level 1 first, instead of the one that Figure 6
        has participants measure in their own views: an estimate by equation 19, say (Section 6.1.1).
    record : bool
        Keep sender and receiver of each message that arrives (`Multicast.arrivals`), at the price of a second
        run.
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
    audience = Audience(np.empty(len(views.entry), np.uint8), np.empty(len(views.lines), np.float64))
    _audience(views.start, views.line, hit, settings.audience, audience.wanted, audience.share)
    if shares is not None:
        audience.share[views.row] = np.asarray(shares, np.float64)[:, None]
    times, divided = settings.lowest
    if divided > 1:
        audience.share[np.unique(views.row[0])] /= divided
    # Plain floats, whatever a caller wrote: another type would be another kernel to compile.
    rules = Rules(
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
    world = World(views, rules, audience, network.faults(), clock)
    key = cycle_key(seed, STREAM, event)

    def run(arrivals: int) -> Multicast:
        counts = Counts(
            first=np.full(n, -1, np.int32),
            sent=np.zeros(n, np.int32),
            received=np.zeros(n, np.int32),
            filtered=np.zeros(n, np.int32),
            messages=np.zeros(len(views.row), np.int64),
            matched=np.zeros(len(views.row), np.int64),
            arrivals=np.empty((arrivals, 2), np.int32),
            ends=np.zeros(1, np.int64),
        )
        agenda = new_agenda(2 * n if clock.timed else 0, clock)
        follow = _spread_in_time if clock.timed else _spread
        rounds = follow(world, publisher, key, Buffers.empty(n, settings.fanout), agenda, counts)
        when = agenda.when[:n] if clock.timed else counts.first.astype(np.float64)
        trace = Trace(counts.first, counts.sent, counts.received, publisher, network.alive, when)
        return Multicast(trace, counts.filtered, counts.messages, counts.matched, counts.arrivals, rounds)

    found = run(arrivals=0)
    return run(arrivals=int(found.trace.received.sum())) if record else found
