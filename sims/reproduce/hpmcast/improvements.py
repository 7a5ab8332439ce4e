"""Improvements that hpmcast names and does not build, beside the algorithm (Sections 5.4.1, 6.1).

n = 22^3, l = 3, R = 3, F = 2, c = 0, Figure 6 by the prose, where small audiences suffer; a tenth
interested, with and without a fifth of the messages lost.

- *Digests* (Section 5.4.1): after dissemination, identifiers of events are gossiped, and missing events are
  requested (`hierarchy.hpmcast.extensions`).
- *Estimated share* (Section 6.1.1): a level's share of interested entries by equation 19 from the true p,
  which no participant knows; and *adjusted share*: estimated from the level above by equation 19 and adjusted
  by the entries that match, which every participant can compute (`Gossip.adaptive`).
- *Broadcast below* (Section 6.1.2): another medium at level 1, a broadcast in each group
  (`hierarchy.hpmcast.extensions`). The paper says that it could be used, without a result: the bound is ours.
- *Acknowledged above* (Section 6.1.2): a more reliable protocol at the highest level, at which messages are
  acknowledged and repeated up to twice; also, for comparison, at every level.
- *Audience* (Section 5.4.2): the paper's own choice, D = 10, for comparison.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from hierarchy.hpmcast import Gossip, disseminate, spread_interest
from hierarchy.hpmcast.analysis import Regular
from hierarchy.hpmcast.extensions import DigestSettings, broadcast_below, exchange_digests
from sims.reproduce.claims import Claims, claim, intervals, means, rounded
from sims.reproduce.hpmcast.trials import hierarchy
from sims.reproduce.reproduction import Tables
from sub2sub.compiled.common.network import Network
from workloads.statistics.intervals import below

A, LEVELS, REDUNDANCY, P = 22, 3, 3, 0.1
LOSSES = (0.0, 0.2)
PLAIN, ESTIMATED, ADJUSTED = "as it is", "true p, equation 19", "adjusted share"
AUDIENCE, BROADCAST = "audience, D = 10", "broadcast at level 1"
ABOVE, EVERYWHERE = "acknowledged at level 3", "acknowledged at all levels"
AGAIN = 2  # times a message is sent again
DIGESTS = {f"digests, {rounds} rounds": DigestSettings(rounds) for rounds in (2, 5, 10)}
LAST = list(DIGESTS)[-1]
BLOCK = 10  # events of a unit
COSTS = ["delivery", "messages", "filtered", "parasites"]


def unit(first: int, seed: int) -> pd.DataFrame:
    """Some events: a row for each loss and variant."""
    events = product(range(first, first + BLOCK), LOSSES)
    rows = [row for event, loss in events for row in _event(seed, event, loss)]
    return pd.DataFrame(rows, columns=["loss", "variant", *COSTS])


def _event(seed: int, event: int, loss: float) -> list[tuple[float, str, float, float, float, float]]:
    population, views = hierarchy(A, LEVELS, REDUNDANCY)
    generator = np.random.Generator(np.random.Philox(key=[seed, event]))
    interested = (generator.random(population.n) < P).astype(np.uint8)
    publisher = int(generator.integers(population.n))
    hit = spread_interest(population, interested)
    network = Network.whole(population.n)
    network.loss = loss
    regular = Regular(A, LEVELS, REDUNDANCY, 2, P)
    shares = [regular.share(level) for level in range(1, LEVELS + 1)]
    given: dict[str, Any] = {"network": network, "seed": seed, "event": event}
    forms: dict[str, tuple[Gossip, dict[str, Any]]] = {
        PLAIN: (Gossip(loss=loss), {}),
        ESTIMATED: (Gossip(loss=loss), {"shares": shares}),
        ADJUSTED: (Gossip(loss=loss, adaptive=True), {}),
        ABOVE: (Gossip(loss=loss, retries=AGAIN, reliable=LEVELS), {}),
        EVERYWHERE: (Gossip(loss=loss, retries=AGAIN), {}),
        AUDIENCE: (Gossip(loss=loss, audience=10), {}),
    }
    outcomes = {
        name: disseminate(views, hit, publisher, gossip, **own, **given)
        for name, (gossip, own) in forms.items()
    }
    outcomes[BROADCAST] = broadcast_below(views, hit, publisher, Gossip(loss=loss), **given)
    for name, how in DIGESTS.items():
        outcomes[name] = exchange_digests(views, hit, outcomes[PLAIN], how, **given)[0]
    return [
        (
            loss, name, found.trace.delivery(interested), float(found.trace.sent.mean()),
            float(found.filtered.mean()), found.trace.parasites(interested) / population.n,
        )
        for name, found in outcomes.items()
    ]  # fmt: skip


def judge(tables: Tables) -> Claims:
    """What each improvement gains, and what it costs."""
    for loss, table in tables["improvements"].groupby("loss"):
        at, by = f"{100 * loss:.0f} % lost", dict(iter(table.groupby("variant", sort=False)))
        mean = table.groupby("variant", sort=False)[COSTS].mean()

        def beside(column: str, *others: str, own: Any = by) -> dict[str, pd.Series[float]]:
            return {name: own[name][column] for name in (PLAIN, *others)}

        delivery, messages, filtered = mean.delivery, mean.messages, beside("filtered", ADJUSTED)
        yield means("digests", beside("delivery", LAST), delivery[LAST] - delivery[PLAIN], at=at)
        yield means("filtered", filtered, below(filtered[ADJUSTED], filtered[PLAIN]), at=at)
        yield means("adjusted", beside("delivery", ADJUSTED), delivery[PLAIN] - delivery[ADJUSTED], at=at)
        heard, sent = (beside(column, BROADCAST) for column in ("delivery", "messages"))
        better = below(heard[PLAIN], heard[BROADCAST]) and below(sent[BROADCAST], sent[PLAIN])
        found = {"delivery": mean.delivery, "messages": mean.messages}
        both = {name: rounded(own[[PLAIN, BROADCAST]]) for name, own in found.items()}
        yield claim("broadcast", both, better, interval=intervals(heard), at=at)
        if loss:  # without loss nothing is sent again
            more = (delivery - delivery[PLAIN]) / (messages - messages[PLAIN])
            ends = intervals(beside("delivery", ABOVE, EVERYWHERE))
            gains = rounded(more[[ABOVE, EVERYWHERE]], 3)
            yield claim("acknowledged", gains, more[ABOVE] > more[EVERYWHERE], interval=ends, at=at)
        yield claim("costs", {str(name): row.round(3).tolist() for name, row in mean.iterrows()}, at=at)
