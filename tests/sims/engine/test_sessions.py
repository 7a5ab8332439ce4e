"""Churn by sessions: lengths of a law or of a file, the same when a run is resumed, and room for all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sims.config.experiment import experiment_from
from sims.config.interests import Subscriptions
from sims.config.newcomers import room
from sims.engine import Simulation
from sims.engine.sessions import Sessions, SessionSettings
from sims.runs.runner import run_experiment
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay


def presence(settings: SessionSettings, n: int, cycles: int, seed: int = 1) -> np.ndarray:
    """Who is there, cycle by cycle: (cycles, n)."""
    return np.array([settings.present(n, cycle, seed) for cycle in range(cycles)])


def visits(there: np.ndarray) -> np.ndarray:
    """Lengths of the visits that began and ended within the cycles."""
    lengths = []
    for own in there.T:
        edges = np.flatnonzero(np.diff(own.astype(int)))
        begins = [edge for edge in edges if not own[edge]]
        lengths += [int(end - begin) for begin in begins if (end := min(edges[edges > begin], default=0))]
    return np.array(lengths)


def test_sessions_have_the_lengths_of_the_distribution() -> None:
    there = presence(SessionSettings(session=6.0, absence=3.0, lengths="exponential"), 400, 120)
    assert there[0].mean() > 0.8
    assert there[60:].mean() == pytest.approx(6 / 9, abs=0.03)
    assert visits(there).mean() == pytest.approx(6.0, abs=0.4)
    heavy = visits(presence(SessionSettings(session=6.0, absence=3.0, alpha=1.3), 400, 120))
    assert np.median(heavy) < np.median(visits(there)), "Pareto: most visits are short, a few very long"


def test_measured_lengths_are_those_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "lengths.csv"
    file.write_text("session,absence\n4,2\n9,2\n")
    there = presence(SessionSettings(file=file), 300, 60)
    assert set(visits(there)) == {4, 9}
    assert set(visits(~there)) == {2}


def test_a_trace_of_joins_and_leaves_is_followed(tmp_path: Path) -> None:
    file = tmp_path / "moves.parquet"
    moves = pd.DataFrame(
        {"cycle": [0, 0, 2, 5, 7], "subscriber": [0, 2, 0, 1, 0],
         "kind": ["start", "start", "leave", "join", "join"]}
    )  # fmt: skip
    moves.to_parquet(file)
    there = presence(SessionSettings(file=file), 3, 9)
    assert there.T.astype(int).tolist() == [
        [1, 1, 0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 1, 1, 1, 1], [1] * 9,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("length\n3\n", "expected rows with a column session"),
        ("session\n", "expected rows with a column session"),
        ("session\n3\n0\n", "row 1: session: expected a number from 1 on, got 0"),
        ("session\nlong\n", "row 0: session: expected a number"),
        (
            "cycle,subscriber,kind\n1,0,goes\n",
            "row 0: kind: expected one of join, leave, change",
        ),
    ],
)
def test_tables_that_cannot_be_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        SessionSettings(file=file).present(3, 3, seed=1)


def test_lengths_below_a_cycle_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sessions.session = 0.5: expected a mean of at least 1 cycle"):
        SessionSettings(session=0.5)
    with pytest.raises(InputError, match="does not exist"):
        SessionSettings(file=tmp_path / "nothing.csv")


def experiment(cycles: int) -> dict[str, object]:
    return {
        "cycles": cycles,
        "checkpoint_every": 7,
        "population": {"size": 80},
        "workload": {"spec": "uniform-2", "events": 30},
        "faults": [{"kind": "sessions", "from": 5, "session": 10.0, "absence": 4.0}],
        "observers": [{"kind": "delivery", "every": 4, "details": False}],
    }


def test_a_run_follows_sessions_has_room_for_all_and_can_be_extended(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    run_experiment(experiment_from(experiment(24)), 1, whole)
    run_experiment(experiment_from(experiment(12)), 1, part)
    run_experiment(experiment_from(experiment(24)), 1, part, resume=True)  # needs more room than there is
    for name in ("sessions", "delivery", "traffic"):
        pd.testing.assert_frame_equal(*(pd.read_parquet(at / f"{name}.parquet") for at in (whole, part)))
    moves = pd.read_parquet(whole / "sessions.parquet")
    settings = SessionSettings(session=10.0, absence=4.0)
    assert moves.there.tolist() == [int(settings.present(80, k, 1).sum()) for k in range(len(moves))]
    made = experiment_from(experiment(24))
    assert room(made.faults, 80, 24, seed=1) == settings.joins(80, 25, 1, 60) >= moves.joined.sum() > 20
    hits = pd.read_parquet(whole / "delivery.parquet")
    assert hits[hits.cycle > 12].hit_ratio.mean() > 0.9


def test_a_resumed_simulation_is_the_one_that_was_not_interrupted(tmp_path: Path) -> None:
    low = np.random.default_rng(1).random((50, 2)) * 0.5
    wanted = Subscriptions(low, low + 0.5, low[:5])

    def made() -> Simulation[Overlay]:
        overlay = Overlay.of(low, low + 0.5, seed=4, spare=150)
        return Simulation(overlay).add(Sessions(interests=wanted, session=6.0, absence=3.0, first=3), start=3)

    whole, part, rest = made(), made(), made()
    whole.run(14)
    part.run(9)
    part.save(tmp_path / "checkpoint")
    rest.load(tmp_path / "checkpoint")
    rest.run(14)
    assert rest.tables == whole.tables
    assert sum(row["joined"] for row in whole.tables["sessions"]) > 10
