"""What became of events that a program published, in the numbering of its own subscriptions.

Inside, peers are numbered in the order of the ring. A program that gave subscriptions as rows of a table
wants results by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sub2sub.events.outcome import Outcome
from sub2sub.events.tables import Table
from sub2sub.geometry.boxes import points
from sub2sub.geometry.matching import match_boxes
from sub2sub.overlay.network import Network
from sub2sub.overlay.population import Population


@dataclass(frozen=True)
class Published:
    """Events that were published.

    Attributes
    ----------
    events : Table
        One row per event: its number and its values, `matches` (live subscriptions it is meant for),
        `delivered`, `hit_ratio`, `hops` to the last of them, `messages`, `duplicates`, `spam`, `failed`,
        `acks`, and the subscription it `entered` at, -1 for none.
    received : Table
        Who received what: `event`, `subscription` (the row it was given as), `hop`. The one an event entered
        at is among them, at hop 0.
    missed : Table
        Who should have, and did not: `event`, `subscription`.
    outcome : Outcome
        The same and more, by peers, which are numbered in the order of the ring.

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

    @classmethod
    def of(
        cls,
        population: Population,
        network: Network,
        events: Any,
        outcome: Outcome,
        values: Mapping[str, NDArray[Any]] | None = None,
    ) -> Published:
        """The outcome of events, recorded, in the population's own numbering; `values` by their names."""
        at = points(events, population.d)
        row = population.row
        named = dict(values or {f"x{k}": at[:, k] for k in range(population.d)})
        counts = ("matches", "delivered", "hops", "messages", "duplicates", "spam", "failed", "acks")
        per_event = {
            "event": np.arange(len(at)),
            **named,
            **{name: getattr(outcome, name) for name in counts},
            "hit_ratio": outcome.hit_ratios,
            "entered": np.where(outcome.entry >= 0, row[outcome.entry], -1),
        }
        assert outcome.receptions is not None
        found = outcome.receptions.table()
        received = {"event": found["event"], "subscription": row[found["peer"]], "hop": found["hop"]}
        lows, highs = (population.boxes[:, side, : population.d].copy() for side in (0, 1))
        wanted = match_boxes(lows, highs, at)
        event = np.repeat(np.arange(len(at)), np.diff(wanted.offsets))
        there = (network.alive == 1) & population.present
        has = np.isin(event * row.size + wanted.members, found["event"] * row.size + found["peer"])
        lost = there[wanted.members] & ~has
        missed = {"event": event[lost], "subscription": row[wanted.members[lost]]}
        return cls(Table(per_event), Table(received), Table(missed), outcome)

    @property
    def hit_ratio(self) -> float:
        """Mean share of those an event is meant for that have it, of events meant for somebody."""
        return self.outcome.hit_ratio

    def summary(self) -> dict[str, float]:
        """All events in one row: delivery, speed, cost, load balance."""
        return self.outcome.summary()

    def __repr__(self) -> str:
        """In a line."""
        spam = int(self.outcome.spam.sum())
        return (
            f"<Published {self.events.rows} events: {self.received.rows} received, {self.missed.rows} "
            f"missed, {spam} spam, {self.outcome.messages_per_delivery:.2f} messages per delivery>"
        )
