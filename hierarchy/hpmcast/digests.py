"""Digests of received events: gossiper-push repair after dissemination (hpmcast, Section 5.4.1).

The paper names "a gossip-based exchange phase for digests of received events, periodically sending
identifiers of buffered events to interested participants" as a way to improve delivery for small audiences,
and does not build it. Here: after the last round of dissemination, in each of a few rounds, every participant
that has the event sends its identifier to `fanout` random participants of one of its views, those that the
event is for. A participant that gets the identifier and lacks the event asks for it, and is sent it. Digest,
request and event are messages of their own: each is billed, and each may be lost.

Decided here: the view is that of a random level from 1 to the highest at which the sender stands in its own
view, so that delegates repair subsystems that were missed, and neighbours repair neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.load import Multicast
from hierarchy.hpmcast.views import Views
from sub2sub.errors import require
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, cycle_key, draw, peer_key, stream_number, unit
from sub2sub.overlay.network import Network, reaches

STREAM = stream_number("hpmcast digests")
LEVEL, PER_TARGET = 0, 4  # draws: the level; then target, digest, request and event of each target
DIGESTS, REQUESTS, EVENTS = range(3)


@dataclass(frozen=True)
class DigestSettings:
    """Settings of the exchange of digests.

    Attributes
    ----------
    rounds : int
        Rounds of digests after the last round of dissemination. Messages grow with it, and delivery.
    fanout : int
        Participants a digest goes to in one round, before filtering.
    """

    rounds: int = 3
    fanout: int = 2

    def __post_init__(self) -> None:
        require(self, "digests", rounds=1, fanout=1)


class _Phase(NamedTuple):
    rounds: int
    fanout: int
    first: int  # the last round of dissemination
    loss: float


class _Trace(NamedTuple):
    round: NDArray[np.int32]
    sent: NDArray[np.int32]
    received: NDArray[np.int32]
    counts: NDArray[np.int64]


@kernel
def _exchange(views, top, wanted, phase, key, alive, group, trace):
    first, loss = phase.first, phase.loss
    round_of, sent, received, counts = trace.round, trace.sent, trace.received, trace.counts
    n = views.row.shape[1]
    for now in range(1, phase.rounds + 1):
        round_key = peer_key(key, now)
        for x in range(n):
            # A participant that gets the event in this round sends digests from the next one on.
            if round_of[x] < 0 or round_of[x] >= first + now or alive[x] == 0 or top[x] == 0:
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
                sent[x] += 1
                counts[DIGESTS] += 1
                if not reaches(alive, group, x, y) or (loss > 0 and unit(draw(draws, at + 1)) < loss):
                    continue
                received[y] += 1
                if round_of[y] >= 0:
                    continue
                sent[y] += 1
                counts[REQUESTS] += 1
                if loss > 0 and unit(draw(draws, at + 2)) < loss:
                    continue
                received[x] += 1
                sent[x] += 1
                counts[EVENTS] += 1
                if loss > 0 and unit(draw(draws, at + 3)) < loss:
                    continue
                received[y] += 1
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
    """Repair a dissemination by digests; the outcome after it, and digests, requests and events sent for it.

    Parameters
    ----------
    views, hit, network, seed, event
        As for `hierarchy.hpmcast.disseminate`.
    outcome : Multicast
        Of that dissemination; it is not changed.
    settings : DigestSettings

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
    phase = _Phase(how.rounds, how.fanout, outcome.rounds, float(network.loss))
    key = cycle_key(seed, STREAM, event)
    _exchange(views, views.top, hit, phase, key, network.alive, network.group, trace)
    after = replace(before, first=trace.round, sent=trace.sent, received=trace.received)
    return replace(outcome, trace=after, rounds=outcome.rounds + how.rounds), trace.counts
