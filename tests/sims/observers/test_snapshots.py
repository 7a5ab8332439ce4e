"""Recorded overlays: exactly the views, also when a run is taken up again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from sims.engine import Schedule, Simulation
from sims.observers.snapshots import KINDS, Snapshots
from sub2sub.compiled.common.links import Links, target
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population


def _overlay(n: int = 60) -> Overlay:
    low = np.random.default_rng(3).random((n, 2)) * 0.7
    overlay = Overlay(Population.of(low, low + 0.3, seed=3), seed=3)
    overlay.bootstrap()
    return overlay


def test_a_snapshot_holds_every_view_in_its_order(tmp_path: Path) -> None:
    simulation = Simulation(_overlay(), [(Schedule(at=6), Snapshots(tmp_path))])
    simulation.run(6)
    links, table = Links.of(simulation.overlay), parquet.read_table(tmp_path / "links.parquet").to_pydict()
    held: dict[tuple[str, int], list[int]] = {}
    for kind, source, to in zip(table["kind"], table["source"], table["target"], strict=True):
        held.setdefault((kind, source), []).append(to)
    for peer in range(len(links.boxes)):
        views = [held.get((kind, peer), []) for kind in ("vicinity", "cyclon", "ring")]
        assert [len(view) for view in views] == [
            links.near_size[peer], links.random_size[peer], links.ring_size[peer],
        ]  # fmt: skip
        listed = [to for view in views for to in view]
        assert listed == [target(links, peer, place) for place in range(len(listed))]


def test_peers_are_recorded_as_they_were_in_each_cycle(tmp_path: Path) -> None:
    simulation = Simulation(_overlay(), [(Schedule(start=2, every=2), Snapshots(tmp_path))])
    simulation.run(2)
    simulation.overlay.network.alive[7] = 0
    simulation.run(4)
    table = parquet.read_table(tmp_path / "peers.parquet").to_pandas()
    assert table[table.peer == 7][["cycle", "alive"]].to_numpy().tolist() == [[2, True], [4, False]]
    assert (np.diff(table[table.cycle == 4].id.to_numpy()) > 0).all()
    links = parquet.read_table(tmp_path / "links.parquet").to_pandas()
    assert set(links.kind) == set(KINDS)
    assert 7 not in set(links[links.cycle == 4].source)


@pytest.mark.parametrize("name", ["peers", "links"])
def test_a_resumed_run_replaces_what_was_recorded_after_its_checkpoint(tmp_path: Path, name: str) -> None:
    def simulation() -> Simulation:
        return Simulation(_overlay(), [(Schedule(every=2), Snapshots(tmp_path))])

    first = simulation()
    first.run(3)
    first.save(tmp_path / "checkpoint.npz")
    first.run(6)
    expected = parquet.read_table(tmp_path / f"{name}.parquet")
    resumed = simulation()
    resumed.load(tmp_path / "checkpoint.npz")
    resumed.run(6)
    assert parquet.read_table(tmp_path / f"{name}.parquet").equals(expected)
