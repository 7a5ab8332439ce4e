"""Dissemination of one event by rfpbcast, pmcast or hpmcast (hpmcast, Figures 1, 2 and 6).

Every round, each participant that has the event chooses F random participants of its view and sends the event
to those that it is for. hpmcast does so level by level: first among the delegates of the highest level; after
the expected number of rounds among those of the level below, each in its own subsystem; and last among
neighbours. pmcast is the same with one level that contains all participants; rfpbcast filters only on
arrival, so its senders treat all as interested. One kernel runs all three.

Differences from the paper:

- Participants do not choose themselves: the probability of being chosen is F/(n - 1) as in equation 1.
- A participant may move from level l down to 1 within one round (Figure 6, line 5), so an event whose rounds
  at one level are over is gossiped at the next in the same round.
- |view| R (lines 27 and 35) is the number of entries of the view. This is also correct at level 1, where a
  line is one participant, and for subsystems with fewer than R participants, which Section 5.1.2 allows. Both
  lines as printed are settings (`hierarchy.peers.settings.Reading`); Figure 8 needs line 27 as printed.
- Loss and crash terms, which Figure 6 omits for simplicity, are in the number of rounds (equation 9).
- The audience threshold D (Section 5.4.2) is not applied if no participant is interested.
- Crashed participants are crashed from the start.
- Messages may be acknowledged and repeated within their round (`Gossip.retries`); acknowledgements, which
  the paper does not have, are not lost.
- The adjusted estimate (`Gossip.adaptive`, Section 6.1.1): a participant that moves down a level inverts
  equation 19 for the share there, p(i) = 1 - (1 - p(i + 1))^(1/a), and adjusts it each round by the number of
  matches among the F participants that it chose. The paper leaves the weights open: here the estimate that
  came with the event counts as one round, F participants. Only the publisher matches a whole view, that of
  the highest level.
- In a network with latencies (`sub2sub.compiled.timing`) every participant has its own timer, and gossips
  when it fires. Hops are those of the first copy, not rounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.compiled.common.trace import Trace
from hierarchy.hpmcast.gossiping import (
    Buffers,
    GossipCounts,
    GossipRules,
    GossipWorld,
    Interested,
    enter,
    gossip,
    publish,
)
from hierarchy.hpmcast.views import Views
from hierarchy.peers.settings import Gossip
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.compiled.timing.agenda import again, later, new_agenda, offer, sooner_than_first, take
from sub2sub.compiled.timing.latency import Clock, next_beat
from sub2sub.errors import InputError
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("hpmcast")
DEFAULT = Gossip()


@dataclass(frozen=True)
class Multicast:
    """The trace of one event, and its costs.

    Attributes
    ----------
    trace : Trace
        The round in which each participant received it; messages per participant.
    filtered : (n,) int32
        How many times each participant matched the event with an interest.
    messages : (l,) int64
        Messages sent at each level, level 1 first.
    matched : (l,) int64
        How many times the event was matched with an interest of each level, level 1 first.
    arrivals : (m, 2) int32
        Senders and receivers of the messages that arrived, in order, if they were recorded.
    rounds : int
        The last round in which a participant gossiped.
    """

    trace: Trace
    filtered: NDArray[np.int32]
    messages: NDArray[np.int64]
    matched: NDArray[np.int64]
    arrivals: NDArray[np.int32]
    rounds: int


@kernel
def _audience(start, line, hit, least, wanted, share):
    """Mark the entries of each view whose lines match; if too few do, also the first `least` entries."""
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
    """Gossip in rounds, participant after participant; returns the last round in which one gossiped."""
    n = world.views.row.shape[1]
    level, age, prob = publish(world, publisher, buffers, trace)
    enter(world, buffers, publisher, level, age, prob)
    trace.first[publisher] = 0
    now, active = 0, 1
    while active > 0:
        now += 1
        active = 0
        round_key = peer_key(key, now)
        # In the order of addresses: views and states of neighbours share cache lines.
        for x in range(n):
            if buffers.level[x] > 0 and trace.first[x] != now:
                active += gossip(world, x, np.float64(now), peer_key(round_key, x), buffers, agenda, trace)
    return now - 1


@kernel
def _spread_in_time(world, publisher, key, buffers, agenda, trace):
    """The same with a timer for each participant; returns the maximum number of rounds of a participant.

    On the agenda n + x is the timer of participant x, which fires every tick, and x is the first message on
    its way to it. A publisher does not wait for its timer. All timers have the same period, so they fire
    again in the same order: they wait in a queue, not in the agenda's heap.
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
        The participant that publishes; it takes part at every level.
    settings : Gossip
    network : Network, optional
        Crashed participants, partitions, message loss; none by default.
    seed, event : int
        The same seed and event number give the same result.
    shares : (l,) array_like, optional
        Interested share of the entries at each level, level 1 first, such as an estimate by equation 19
        (Section 6.1.1). By default participants measure it in their own views, as in Figure 6.
    record : bool
        Record sender and receiver of each message that arrives (`Multicast.arrivals`); needs a second run.
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
    audience = Interested(np.empty(len(views.entry), np.uint8), np.empty(len(views.lines), np.float64))
    _audience(views.start, views.line, hit, settings.audience, audience.wanted, audience.share)
    if shares is not None:
        audience.share[views.row] = np.asarray(shares, np.float64)[:, None]
    if settings.lowest[1] > 1:
        audience.share[np.unique(views.row[0])] /= settings.lowest[1]
    clock = Clock.of(network.timing, np.arange(n) if places is None else places)
    world = GossipWorld(views, GossipRules.of(settings), audience, network.faults(), clock)
    key = cycle_key(seed, STREAM, event)

    def run(arrivals: int) -> Multicast:
        counts = GossipCounts.zero(n, len(views.row), arrivals)
        agenda = new_agenda(2 * n if clock.timed else 0, clock)
        follow = _spread_in_time if clock.timed else _spread
        rounds = follow(world, publisher, key, Buffers.empty(n, settings.fanout), agenda, counts)
        when = agenda.when[:n] if clock.timed else counts.first.astype(np.float64)
        trace = Trace(counts.first, counts.sent, counts.received, publisher, network.alive, when)
        return Multicast(trace, counts.filtered, counts.messages, counts.matched, counts.arrivals, rounds)

    found = run(arrivals=0)
    return run(arrivals=int(found.trace.received.sum())) if record else found
