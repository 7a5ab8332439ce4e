"""The results of published events, by the rows of the subscriptions that a program gave.

Internally, peers are numbered in the order of their sequence IDs, not in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.events.audience import half_open
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.geometry.boxes import points
from sub2sub.geometry.matching import match_boxes
from sub2sub.overlay.population import Population
from sub2sub.tables import Table, shown


@dataclass(frozen=True)
class Published:
    """Events that were published.

    Attributes
    ----------
    events : Table
        One row per event: its number and its values, `matches` (live subscriptions that match it), `hosts`
        (those that have such subscriptions), `delivered` (how many of these hosts have it: once, however
        many subscriptions they have), `hit_ratio` (`delivered` of `hosts`), `hops` to the last delivery,
        `messages`, `duplicates`, `spam`, `failed`, `acks`, and the subscription at which it `entered`, -1
        for none.
    received : Table
        One row per reception: `event`, `subscription` (its row in the input), `hop`. The subscription at
        which an event entered is included, at hop 0.
    missed : Table
        One row per live match that did not receive the event: `event`, `subscription`.
    outcome : Outcome
        The same results and more, by peer number.
    rows_in_ring_order : (n,) int64
        The row of each peer's subscription: peers are numbered in the order of their sequence IDs.

    Examples
    --------
    >>> from sub2sub import Overlay
    >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], seed=1).run(5)
    >>> published = overlay.publish([[0.55], [0.25]])
    >>> sorted(zip(published.received["event"].tolist(), published.received["subscription"].tolist()))
    [(0, 0), (0, 1), (1, 0), (1, 2)]
    >>> published.missed.rows, published.hit_ratio
    (0, 1.0)
    """

    events: Table
    received: Table
    missed: Table
    outcome: Outcome
    rows_in_ring_order: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        population: Population,
        network: Network,
        events: Any,
        outcome: Outcome,
        values: Mapping[str, NDArray[Any]] | None = None,
    ) -> Published:
        """Tables from an outcome with receptions; `values` are the events' values by attribute name."""
        at = points(events, population.d)
        row = population.row
        named = dict(values or {f"x{k}": at[:, k] for k in range(population.d)})
        counts = ("matches", "delivered", "hops", "messages", "duplicates", "spam", "failed", "acks")
        per_event = {
            "event": np.arange(len(at)),
            **named,
            "hosts": outcome.applications,
            **{name: getattr(outcome, name) for name in counts},
            "hit_ratio": outcome.hit_ratios,
            "entered": np.where(outcome.entry >= 0, row[outcome.entry], -1),
        }
        assert outcome.receptions is not None
        found = outcome.receptions.table()
        received = {"event": found["event"], "subscription": row[found["peer"]], "hop": found["hop"]}
        wanted = match_boxes(*half_open(population), at)
        event = np.repeat(np.arange(len(at)), np.diff(wanted.offsets))
        there = (network.alive == 1) & population.present
        has = np.isin(event * row.size + wanted.members, found["event"] * row.size + found["peer"])
        lost = there[wanted.members] & ~has
        missed = {"event": event[lost], "subscription": row[wanted.members[lost]]}
        return cls(Table(per_event), Table(received), Table(missed), outcome, row.copy())

    @property
    def hit_ratio(self) -> float:
        """Share of the matches that received an event, mean over the events that have matches."""
        return self.outcome.hit_ratio

    def summary(self) -> dict[str, float]:
        """All events in one row: delivery, speed, cost, load balance."""
        return self.outcome.summary()

    def plot(self, event: int = 0, axes: Any = None) -> Any:
        """Draw the ring of an event into matplotlib's axes: who received it at which hop, who missed it."""
        from sub2sub.overlay.plots import plot_ring

        return plot_ring(self, event, axes)

    def __repr__(self) -> str:
        """One line."""
        spam = int(self.outcome.spam.sum())
        alone = int((self.outcome.matches == 0).sum())
        told = f" ({alone} without a match)" if alone else ""
        return (
            f"<Published {self.events.rows} events{told}: {self.received.rows} received, {self.missed.rows} "
            f"missed, {spam} spam, {self.outcome.messages_per_delivery:.2f} messages per delivery>"
        )

    def _repr_html_(self) -> str:
        """For a notebook: the same line, and who received what."""
        return shown(repr(self), self.received)
