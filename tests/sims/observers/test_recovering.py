"""Recovery of missed events as a setting of a run: who has what, what it costs, and resuming."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sims.engine import Schedule, Simulation
from sims.engine.faults import Churn, Loss
from sims.observers.recovering import Recovering
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import DisseminationSettings, OverlaySettings, RecoverySettings

ONCE = DisseminationSettings(tries=1, retries=0)  # loses much, so that there is something to recover


def simulation(history: int) -> Simulation[Overlay]:
    rng = np.random.default_rng(2)
    low = rng.random((60, 2)) * 0.5
    settings = OverlaySettings(recovery=RecoverySettings(history=history))
    # With this seed no event is lost with the only peer that has it, as one of those with seed 3 is.
    overlay = Overlay.of(low, low + 0.5, settings=settings, spare=60, seed=4)
    controls = [
        (Schedule(at=10), Loss(0.2)),
        (Schedule(start=12), Churn(0.03)),
        (Schedule(start=12), Recovering(rng.random((30, 2)), ONCE, count=10)),
    ]
    return Simulation(overlay, controls)


def test_remaining_peers_have_every_event_after_a_few_cycles_and_are_billed() -> None:
    made = simulation(history=6)
    made.run(24)
    rows = pd.DataFrame(made.tables["recovery"])
    assert set(rows.waited) == set(range(7))
    shares = rows.groupby("waited")[["wanted", "has"]].sum().pipe(lambda sums: sums.has / sums.wanted)
    assert shares[0] < 0.99
    assert (shares[3:] == 1.0).all()
    traffic = pd.DataFrame(made.tables["traffic"])
    assert traffic[(traffic.layer == "recovery") & (traffic.cycle > 13)].messages.min() > 0


def test_a_resumed_run_is_the_one_that_was_not_interrupted(tmp_path: Path) -> None:
    whole, part, rest = (simulation(history=4) for _ in range(3))
    whole.run(18)
    part.run(15)
    part.save(tmp_path / "checkpoint")
    rest.load(tmp_path / "checkpoint")
    rest.run(18)
    assert rest.tables == whole.tables


def test_nothing_is_recovered_unless_asked_for() -> None:
    made = simulation(history=0)
    with pytest.raises(InputError, match=r"layers.recovery.history"):
        made.run(12)
    assert "recovery" not in {row["layer"] for row in made.tables["traffic"]}
