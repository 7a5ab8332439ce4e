"""The simulations of hpmcast, Section 5.3: one event at a time through a regular hierarchy.

Each participant is interested with probability p, independently, and a random participant publishes. Where
the paper leaves the constant c of Pittel's formula open it is 0, unless an experiment says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast import (
    Condensation,
    Gossip,
    Multicast,
    Population,
    Views,
    disseminate,
    exact_knowledge,
    spread_interest,
)
from sub2sub.overlay.network import Network

__all__ = ["Trials", "below_each_other", "hierarchy", "run_trials", "table_of"]


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
    sent_by_level, filtered_by_level : (events, l) float64
        Load of a participant, by the highest level it is a delegate at, level 1 first.
    """

    delivery: NDArray[np.float64]
    parasites: NDArray[np.float64]
    messages: NDArray[np.float64]
    filtered: NDArray[np.float64]
    rounds: NDArray[np.float64]
    sent_by_level: NDArray[np.float64]
    filtered_by_level: NDArray[np.float64]

    @property
    def mean_delivery(self) -> float:
        """Delivery over all events."""
        return float(self.delivery.mean())


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
        sent,
        filtered,
    )


def table_of(keys: dict[str, Sequence[float]], trials: Sequence[Trials]) -> dict[str, list[float]]:
    """Means as the columns of a table, beside what was varied."""
    columns = {name: list(values) for name, values in keys.items()}
    for name in ("delivery", "parasites", "messages", "filtered", "rounds"):
        columns[name] = [float(getattr(trial, name).mean()) for trial in trials]
    columns["delivery_min"] = [float(trial.delivery.min()) for trial in trials]
    for name in ("sent_by_level", "filtered_by_level"):
        for i in range(trials[0].sent_by_level.shape[1]):
            columns[f"{name}_{i + 1}"] = [float(getattr(trial, name)[:, i].mean()) for trial in trials]
    return columns


def below_each_other(tables: Sequence[dict[str, list[float]]]) -> dict[str, list[float]]:
    """Several tables with the same columns as one."""
    return {name: [value for table in tables for value in table[name]] for name in tables[0]}
