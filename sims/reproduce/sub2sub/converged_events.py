"""Test events on a converged overlay, spread with 0 to 4 shortcuts: what Figure 7b, spam and load are about.

The overlay is as published, 3 attributes, power law. Each event enters at a random one of its subscribers.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from sims.observers.delivery import deliver
from sims.reproduce.reproduction import Measured, Progress
from sims.reproduce.sub2sub.converged import converged
from sims.reproduce.sub2sub.setting import Setting
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.events.outcome import Outcome
from sub2sub.overlay.overlay import OverlaySettings

SHORTCUTS = range(5)


def converged_events(quick: bool, seed: int, progress: Progress) -> Measured:
    """Publish on converged overlays of several seeds, with every number of shortcuts."""
    size, seeds = (1_000, 3) if quick else (10_000, 3)
    found: dict[str, list[pd.DataFrame]] = {name: [] for name in ("events", "peers", "copies", "sent")}
    for number in range(seeds):
        setting = Setting("power-law-3", size, size, seed + number)
        simulation, events = converged(setting, OverlaySettings.paper())
        for shortcuts in SHORTCUTS:
            outcome = deliver(simulation, events, DisseminationSettings.paper(shortcuts=shortcuts))
            for name, frame in _frames(outcome).items():
                found[name].append(frame.assign(seed=seed + number, shortcuts=shortcuts))
            progress(number * len(SHORTCUTS) + shortcuts + 1, seeds * len(SHORTCUTS))
    tables = {name: pd.concat(frames, ignore_index=True) for name, frames in found.items()}
    return Measured(tables, f"{size:,} peers, {size:,} events, {seeds} seeds")


def _frames(outcome: Outcome) -> dict[str, pd.DataFrame]:
    """What became of the events: by event, by peer, and deliveries by copies received and messages sent."""
    events = pd.DataFrame(outcome.as_table()).drop(columns=["applications", "delivered", "local"])
    return {
        "events": events.assign(billed=outcome.billed, deliveries=outcome.deliveries),
        "peers": pd.DataFrame(outcome.load_table()),
        "copies": pd.DataFrame({"copies": np.arange(outcome.copies.size), "deliveries": outcome.copies}),
        "sent": pd.DataFrame({"messages": np.arange(outcome.sent.size), "deliveries": outcome.sent}),
    }
