"""The simulations of hpmcast, Section 5.3: one event at a time through a regular hierarchy.

Each participant is interested with probability p, independently, and a random participant publishes. Where
the paper leaves the constant c of Pittel's formula open it is 0, unless an experiment says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy.hpmcast import (
    Condensation,
    Gossip,
    Multicast,
    Population,
    Reading,
    Views,
    disseminate,
    exact_knowledge,
    spread_interest,
)
from sub2sub.overlay.network import Network


@dataclass(frozen=True)
class Trials:
    """Measurements of a number of events, one row each.

    Attributes
    ----------
    delivery : (events,) float64
        Share of the live interested that got the event.
    parasites : (events,) float64
        Uninterested delegates touched, as a share of all participants.
    messages, filtered : (events,) float64
        Per participant.
    rounds : (events,) float64
        The last round in which anybody gossiped.
    last : (events,) float64
        The round of the last first reception.
    sent_by_level, filtered_by_level : (events, l) float64
        Load of a participant, by the highest level it is a delegate at, level 1 first.
    """

    delivery: NDArray[np.float64]
    parasites: NDArray[np.float64]
    messages: NDArray[np.float64]
    filtered: NDArray[np.float64]
    rounds: NDArray[np.float64]
    last: NDArray[np.float64]
    sent_by_level: NDArray[np.float64]
    filtered_by_level: NDArray[np.float64]


@lru_cache(maxsize=8)
def hierarchy(a: int, levels: int, redundancy: int) -> tuple[Population, Views]:
    """A regular hierarchy and its exact views."""
    population = Population.regular(a, levels)
    return population, exact_knowledge(population, Condensation(redundancy=redundancy)).views()


def run_trials(
    system: tuple[Population, Views],
    p: float,
    events: int,
    seed: int,
    gossip: Gossip,
    *,
    shares: Sequence[float] | None = None,
    crashed: float = 0.0,
) -> Trials:
    """Multicast `events` events, each with interests, publisher and crashes of its own."""
    population, views = system
    rows = []
    for event in range(events):
        generator = np.random.Generator(np.random.Philox(key=[seed, event]))
        interested = (generator.random(population.n) < p).astype(np.uint8)
        network = Network.whole(population.n)
        network.alive[generator.random(population.n) < crashed] = 0
        publisher = int(generator.choice(np.flatnonzero(network.alive)))
        outcome = disseminate(
            views, spread_interest(population, interested), publisher, gossip,
            network=network, seed=seed, event=event, shares=shares,
        )  # fmt: skip
        rows.append(_measure(outcome, interested, views.top, len(views.row)))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Trials(*columns)


def _measure(
    event: Multicast, interested: NDArray[np.uint8], top: NDArray[np.int32], levels: int
) -> tuple[float | NDArray[np.float64], ...]:
    n = len(top)
    members = np.bincount(top, minlength=levels + 1)[1:]
    sent, filtered = (
        np.bincount(top, weights=load, minlength=levels + 1)[1:] / members
        for load in (event.trace.sent, event.filtered)
    )
    return (
        event.trace.delivery(interested),
        event.trace.parasites(interested) / n,
        event.trace.sent.sum() / n,
        event.filtered.sum() / n,
        float(event.rounds),
        float(event.trace.first.max()),
        sent,
        filtered,
    )


def table_of(trials: Trials, **keys: object) -> pd.DataFrame:
    """One row per event, beside what was varied."""
    columns: dict[str, NDArray[np.float64]] = {
        name: getattr(trials, name)
        for name in ("delivery", "parasites", "messages", "filtered", "rounds", "last")
    }
    for name in ("sent_by_level", "filtered_by_level"):
        loads = getattr(trials, name)
        columns |= {f"{name}_{i + 1}": loads[:, i] for i in range(loads.shape[1])}
    return pd.DataFrame(columns).assign(**keys)


READINGS = {
    "prose: level 1 has a participants": Reading.PROSE,
    "line 27 as printed: R a at level 1": Reading.LINE_27,
    "lines 27 and 35 as printed": Reading.LINES_27_AND_35,
}
"""The readings of Figure 6, as claims and figures name them."""


def means(table: pd.DataFrame, *keys: str) -> pd.Series[float]:
    """Mean delivery by what was varied."""
    return table.groupby(list(keys), sort=False).delivery.mean()
