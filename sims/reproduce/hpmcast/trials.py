"""The simulations of hpmcast, Section 5.3: one event at a time through a regular hierarchy.

Each participant is interested with probability p, independently, and a random participant publishes. If the
paper does not state the constant c of Pittel's formula it is 0, unless an experiment says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy import hpmcast
from sub2sub.compiled.common.network import Network

System = tuple[hpmcast.Population, hpmcast.Views]


@lru_cache(maxsize=8)
def hierarchy(a: int, levels: int, redundancy: int) -> System:
    """A regular hierarchy and its exact views."""
    population = hpmcast.Population.regular(a, levels)
    condensation = hpmcast.Condensation(redundancy=redundancy)
    return population, hpmcast.exact_knowledge(population, condensation).views()


def run_trials(
    system: System, p: float, events: int, seed: int, gossip: hpmcast.Gossip, *,
    shares: Sequence[float] | None = None, crashed: float = 0.0, **keys: object,
) -> pd.DataFrame:  # fmt: skip
    """Multicast `events` events, each with interests, publisher and crashes of its own: a row per event.

    Columns are those of `_measure`, then `keys` and p.
    """
    population, views = system
    rows = []
    for event in range(events):
        generator = np.random.Generator(np.random.Philox(key=[seed, event]))
        interested = (generator.random(population.n) < p).astype(np.uint8)
        network = Network.whole(population.n)
        network.alive[generator.random(population.n) < crashed] = 0
        publisher = int(generator.choice(np.flatnonzero(network.alive)))
        outcome = hpmcast.disseminate(
            views, hpmcast.spread_interest(population, interested), publisher, gossip,
            network=network, seed=seed, event=event, shares=shares,
        )  # fmt: skip
        rows.append(_measure(outcome, interested, views.top, len(views.row)))
    return pd.DataFrame(rows).assign(**keys, p=p)


def _measure(
    event: hpmcast.Multicast, interested: NDArray[np.uint8], top: NDArray[np.int32], levels: int
) -> dict[str, float]:
    """The outcome of an event.

    Delivery is the share of the live interested that got it, parasites the uninterested delegates touched as
    a share of all participants, messages and filterings are per participant; rounds until the last gossip,
    and until the last first reception; and loads by the highest level that a participant is a delegate at.
    """
    n, trace = len(top), event.trace
    members = np.bincount(top, minlength=levels + 1)[1:]
    found = {
        "delivery": trace.delivery(interested), "parasites": trace.parasites(interested) / n,
        "messages": trace.sent.sum() / n, "filtered": event.filtered.sum() / n,
        "rounds": float(event.rounds), "last": float(trace.first.max()),
    }  # fmt: skip
    for name, load in (("sent", trace.sent), ("filtered", event.filtered)):
        loads = np.bincount(top, weights=load, minlength=levels + 1)[1:] / members
        found |= {f"{name}_by_level_{level}": each for level, each in enumerate(loads, 1)}
    return found


READINGS = {
    "prose: level 1 has a participants": hpmcast.Reading.PROSE,
    "line 27 as printed: R a at level 1": hpmcast.Reading.LINE_27,
    "lines 27 and 35 as printed": hpmcast.Reading.LINES_27_AND_35,
}
"""The readings of Figure 6, as claims and figures name them."""
