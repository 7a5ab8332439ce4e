"""What hpmcast's paper proposes beside Figure 6: digests of received events, broadcast at the lowest level.

*Digests* (Section 5.4.1). The paper proposes "a gossip-based exchange phase for digests of received events,
periodically sending identifiers of buffered events to interested participants" to improve delivery for small
audiences, without details. Here, after the last round of dissemination, there are a few rounds in which every
participant that has the event sends its identifier to `fanout` random participants of one of its views, if
the event is for them. A participant that gets the identifier and lacks the event requests it, and the event
is sent to it. Digest, request and event are separate messages: each is billed, and each may be lost.

The view is that of a random level from 1 to the highest at which the sender is in its own view. So delegates
repair subsystems that were missed, and neighbours repair neighbours.

*Another medium* (Section 6.1.2). The paper suggests UDP broadcast if the lowest level is a populated LAN. The
event is gossiped through the levels above; then each delegate that has it broadcasts it once in its group of
level 1. A broadcast is one message for all neighbours, and each may lose it independently. Neighbours filter
on arrival, so participants that are not interested receive the event, too.

The adaptive estimate of Section 6.1.1 is `hierarchy.peers.hpmcast.AdaptiveParticipant`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.dissemination import Multicast, disseminate
from hierarchy.hpmcast.views import Views
from hierarchy.peers.settings import Gossip
from sub2sub.compiled.common.network import Network, arrives
from sub2sub.compiled.common.randomness import below, draw, peer_key
from sub2sub.compiled.machinery.compilation import kernel, rule
from sub2sub.errors import InputError, require
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("hpmcast digests")
LEVEL, PER_TARGET = 0, 4  # draws: the level; then target, digest, request and event of each target
DIGESTS, REQUESTS, EVENTS = range(3)


@dataclass(frozen=True)
class DigestSettings:
    """Settings of the exchange of digests.

    Attributes
    ----------
    rounds : int
        Rounds of digests after the last round of dissemination. More rounds mean more messages and delivery.
    fanout : int
        Participants to which a digest is sent in one round, before filtering.
    """

    rounds: int = 3
    fanout: int = 2

    def __post_init__(self) -> None:
        require(self, "digests", rounds=1, fanout=1)


class _Phase(NamedTuple):
    rounds: int
    fanout: int
    first: int  # the last round of dissemination


class _Trace(NamedTuple):
    round: NDArray[np.int32]
    sent: NDArray[np.int32]
    received: NDArray[np.int32]
    counts: NDArray[np.int64]


@rule
def _sends(trace, kind, faults, x, y, key, k):
    """Whether a message from x arrives at y; counts it."""
    trace.sent[x] += 1
    trace.counts[kind] += 1
    arrived = arrives(faults, x, y, key, k)
    trace.received[y] += arrived
    return arrived


@kernel
def _exchange(views, top, wanted, phase, key, faults, trace):
    first, round_of = phase.first, trace.round
    n = views.row.shape[1]
    for now in range(1, phase.rounds + 1):
        round_key = peer_key(key, now)
        for x in range(n):
            # A participant that gets the event in this round sends digests from the next one on.
            if round_of[x] < 0 or round_of[x] >= first + now or faults.alive[x] == 0 or top[x] == 0:
                continue
            draws = peer_key(round_key, x)
            level = below(draw(draws, LEVEL), top[x])
            row = views.row[level, x]
            begin, size = views.start[row], views.start[row + 1] - views.start[row]
            for k in range(phase.fanout):
                at = 1 + PER_TARGET * k
                e = begin + below(draw(draws, at), size)
                y = views.entry[e]
                if y == x or wanted[views.line[e]] == 0:
                    continue
                told = _sends(trace, DIGESTS, faults, x, y, draws, at + 1)
                asked = told and round_of[y] < 0 and _sends(trace, REQUESTS, faults, y, x, draws, at + 2)
                if asked and _sends(trace, EVENTS, faults, x, y, draws, at + 3):
                    round_of[y] = first + now


def exchange_digests(
    views: Views,
    hit: NDArray[np.uint8],
    outcome: Multicast,
    settings: DigestSettings | None = None,
    *,
    network: Network | None = None,
    seed: int = 0,
    event: int = 0,
) -> tuple[Multicast, NDArray[np.int64]]:
    """Repair a dissemination; returns the new outcome, and the numbers of digests, requests and events sent.

    Parameters
    ----------
    views, hit, network, seed, event
        As for `hierarchy.hpmcast.disseminate`.
    outcome : Multicast
        Outcome of the dissemination; it is not changed.

    Examples
    --------
    >>> from hierarchy.hpmcast import Population, disseminate, exact_knowledge, spread_interest
    >>> system = Population.regular(a=10, levels=3)
    >>> interested = (np.arange(1000) % 9 == 0).astype(np.uint8)
    >>> views, hit = exact_knowledge(system).views(), spread_interest(system, interested)
    >>> before = disseminate(views, hit, publisher=1, seed=1)
    >>> after, counts = exchange_digests(views, hit, before, DigestSettings(rounds=5), seed=1)
    >>> before.trace.delivery(interested) < after.trace.delivery(interested)
    True
    >>> bool(counts[0] > counts[1] >= counts[2])  # digests, requests, events
    True
    """
    how = settings or DigestSettings()
    network = Network.whole(views.row.shape[1]) if network is None else network
    before = outcome.trace
    trace = _Trace(before.first.copy(), before.sent.copy(), before.received.copy(), np.zeros(3, np.int64))
    phase = _Phase(how.rounds, how.fanout, outcome.rounds)
    key = cycle_key(seed, STREAM, event)
    _exchange(views, views.top, hit, phase, key, network.faults(), trace)
    after = replace(before, first=trace.round, sent=trace.sent, received=trace.received)
    return replace(outcome, trace=after, rounds=outcome.rounds + how.rounds), trace.counts


def broadcast_below(
    views: Views,
    hit: NDArray[np.uint8],
    publisher: int,
    settings: Gossip | None = None,
    *,
    network: Network | None = None,
    seed: int = 0,
    event: int = 0,
) -> Multicast:
    """Gossip one event through levels l to 2, and broadcast it in the groups of level 1.

    Parameters are those of `hierarchy.hpmcast.disseminate`.

    Examples
    --------
    >>> from hierarchy.hpmcast import Population, exact_knowledge, spread_interest
    >>> system = Population.regular(a=10, levels=3)
    >>> interested = (np.arange(1000) % 9 == 0).astype(np.uint8)
    >>> views, hit = exact_knowledge(system).views(), spread_interest(system, interested)
    >>> broadcast_below(views, hit, publisher=1, seed=1).trace.delivery(interested)
    1.0
    """
    if len(views.row) < 2:
        raise InputError("views: expected at least 2 levels, one of them for gossip")
    network = Network.whole(views.row.shape[1]) if network is None else network
    above = views._replace(row=views.row[1:], position=views.position[1:])
    gossip = disseminate(above, hit, publisher, settings or Gossip(), network=network, seed=seed, event=event)
    trace = gossip.trace
    reached, sent, received = trace.first.copy(), trace.sent.copy(), trace.received.copy()
    dice = np.random.Generator(np.random.Philox(key=[seed, event]))
    now = gossip.rounds + 1
    for x in np.flatnonzero(trace.reached).tolist():
        row = views.row[0, x]
        group = views.entry[views.start[row] : views.start[row + 1]]
        group = group[(group != x) & (network.alive[group] == 1) & (network.group[group] == network.group[x])]
        heard = group[dice.random(len(group)) >= network.loss]
        sent[x] += 1
        received[heard] += 1
        reached[heard[reached[heard] < 0]] = now
    messages = np.concatenate([[int(trace.reached.sum())], gossip.messages])
    below = replace(trace, first=reached, sent=sent, received=received)
    # A participant that hears a broadcast matches the event with its own interest.
    heard_in_all = int((received - trace.received).sum())
    matched = np.concatenate([[heard_in_all], gossip.matched])
    return replace(gossip, trace=below, messages=messages, matched=matched, rounds=now)
