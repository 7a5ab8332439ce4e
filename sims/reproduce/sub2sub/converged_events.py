"""Test events on a converged overlay, with 0 to 4 shortcuts, for Figure 7b, spam and load.

The overlay is as published, 3 attributes, power law. Each event is published by a random subscriber of it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from sims.observers.delivery import deliver
from sims.reproduce.reproduction import Plan, grid
from sims.reproduce.sub2sub.setting import converged
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.peers.settings import DisseminationSettings

SHORTCUTS = range(5)


def converged_events(quick: bool, seed: int) -> Plan:
    """Publish on converged overlays of several seeds, with every number of shortcuts."""
    size, seeds = (1_000, 3) if quick else (10_000, 3)
    scale = f"{size:,} peers, {size:,} events, {seeds} seeds"
    return Plan(scale, unit, grid(seed=range(seed, seed + seeds)), {"size": size})


def unit(seed: int, size: int) -> dict[str, pd.DataFrame]:
    """One overlay: outcomes by event, by peer, and deliveries by copies received and by messages sent."""
    found: dict[str, list[pd.DataFrame]] = {name: [] for name in ("events", "peers", "copies", "sent")}
    simulation, events = converged("sub2sub-fig7", seed, size, {})
    for shortcuts in SHORTCUTS:
        outcome = deliver(simulation, events, DisseminationSettings.paper(shortcuts=shortcuts))
        for name, frame in _frames(outcome).items():
            found[name].append(frame.assign(shortcuts=shortcuts))
    return {name: pd.concat(frames, ignore_index=True) for name, frames in found.items()}


def _frames(outcome: Outcome) -> dict[str, pd.DataFrame]:
    """Outcome by event, by peer, and deliveries by copies received and by messages sent."""
    events = pd.DataFrame(outcome.as_table()).drop(columns=["applications", "delivered", "local"])
    return {
        "events": events.assign(billed=outcome.billed, deliveries=outcome.deliveries),
        "peers": pd.DataFrame(outcome.load_table()),
        "copies": pd.DataFrame({"copies": np.arange(outcome.copies.size), "deliveries": outcome.copies}),
        "sent": pd.DataFrame({"messages": np.arange(outcome.sent.size), "deliveries": outcome.sent}),
    }
