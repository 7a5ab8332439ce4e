"""Test events published one at a time, and what became of them: for systems that gossip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from sims.engine.control import Row
from sims.observers.recording import record_cycle

__all__ = ["Trial", "record_trials"]


@dataclass(frozen=True)
class Trial:
    """What became of one event.

    Attributes
    ----------
    matches, reached : int
        Live subscribers it is meant for, and those of them that got it.
    hops : int
        Rounds until the last of them did.
    messages : int
        Messages sent.
    duplicates, spam : int
        Messages to those who had it already, and to those it is not meant for.
    """

    matches: int
    reached: int
    hops: int
    messages: int
    duplicates: int
    spam: int


def record_trials(trials: Sequence[Trial], folder: Path, cycle: int, details: bool) -> Row:
    """All events of a cycle in one row; with `details` each in a row of the table `events`.

    Examples
    --------
    >>> trials = [Trial(4, 4, 2, 9, 3, 0), Trial(2, 1, 1, 4, 1, 2)]
    >>> row = record_trials(trials, Path("unused"), cycle=3, details=False)
    >>> row["hit_ratio"], row["complete"], row["spam"]
    (0.75, 0.5, 2)
    """
    columns = {name: np.array([asdict(trial)[name] for trial in trials]) for name in asdict(trials[0])}
    if details:
        event = {"cycle": np.full(len(trials), cycle), "event": np.arange(len(trials))}
        record_cycle(folder, "events", pa.table({**event, **columns}))
    wanted = columns["matches"] > 0
    shares = columns["reached"][wanted] / columns["matches"][wanted]
    deliveries = max(int(columns["reached"].sum()), 1)
    return {
        "events": len(trials),
        "wanted": int(wanted.sum()),
        "hit_ratio": float(shares.mean()) if shares.size else 1.0,
        "complete": float((shares == 1.0).mean()) if shares.size else 1.0,
        "hops_mean": float(columns["hops"].mean()),
        "hops_max": int(columns["hops"].max()),
        "messages_per_event": float(columns["messages"].mean()),
        "messages_per_delivery": float(columns["messages"].sum() / deliveries),
        "duplicates_per_delivery": float(columns["duplicates"].sum() / deliveries),
        "spam": int(columns["spam"].sum()),
    }
