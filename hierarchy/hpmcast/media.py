"""A broadcast in each group of the lowest level instead of gossip (hpmcast, Section 6.1.2).

The paper suggests UDP broadcast if the lowest level is a populated LAN. The event is gossiped through the
levels above; then each delegate that has it broadcasts it once in its group of level 1. A broadcast is one
message for all neighbours, and each may lose it independently. Neighbours filter on arrival, so participants
that are not interested receive the event, too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast.dissemination import Multicast, disseminate
from hierarchy.hpmcast.views import Views
from hierarchy.peers.settings import Gossip
from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError


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
