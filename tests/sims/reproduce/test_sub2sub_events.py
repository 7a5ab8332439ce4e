"""The experiments on events in their quick form: they leave their files, and what must hold does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sims.engine import Simulation
from sims.observers.delivery import Delivery
from sims.reproduce import registry
from sims.reproduce.registry import no_progress
from sims.reproduce.sub2sub.converged import converged
from sims.reproduce.sub2sub.fig7b import fit
from sims.reproduce.sub2sub.rejoin import batches, rejoin, ring_of
from sims.reproduce.sub2sub.setting import Setting
from sub2sub.geometry.boxes import overlaps
from sub2sub.overlay.overlay import OverlaySettings

# Claims that the project promises to reproduce, by words of theirs.
MUST_HOLD = {
    "sub2sub-fig6": ["before all rings are complete"],
    "sub2sub-fig7a": ["3 attributes, power law"],
    "sub2sub-fig7b": ["complete", "logarithmically"],
    "sub2sub-shortcuts": ["the ring alone takes linear time"],
    "sub2sub-fig8": ["offers all links)", "after 20 cycles", "as published", "default"],
    "sub2sub-text": ["do not match", "once or a few more times", "same small number"],
    "sub2sub-load": ["match no event", "a peer forwards for one event"],
    "sub2sub-crash": [
        "all rings are complete again",
        "reaches everybody again",
        "as published",
        "do not match",
    ],
    "sub2sub-return": ["after their return", "do not match"],
    "sub2sub-loss": ["30% lost: cycles until all rings are complete", "30% lost: hit ratio", "as published"],
    "sub2sub-churn": ["hit ratio meanwhile", "cycles afterwards", "do not match"],
    "sub2sub-traffic": ["hit ratio", "failed messages", "extended", "as published"],
    "sub2sub-partition": ["cycles after the merge", "do not match"],
    "sub2sub-change": ["until nobody receives spam", "most spam", "never forgotten"],
}


@pytest.mark.parametrize("id", MUST_HOLD)
def test_quick_form_leaves_claims_figure_and_tables(id: str, tmp_path: Path) -> None:
    steps = []
    claims = registry.find(id).reproduce(tmp_path, quick=True, seed=1, progress=lambda *s: steps.append(s))
    folder = tmp_path / id
    assert json.loads((folder / "claims.json").read_text())[0]["id"] == id
    assert (folder / f"{id}.png").exists()
    assert list(folder.glob("*.parquet"))
    assert steps[-1][0] == steps[-1][1]
    for words in MUST_HOLD[id]:
        mine = [claim for claim in claims if words in f"{claim.claim} {claim.paper}"]
        assert mine
        assert all(claim.holds for claim in mine), mine


@pytest.fixture(scope="module")
def settled() -> Simulation:
    simulation, _ = converged(Setting("power-law-2", 400, 4_000), OverlaySettings.paper())
    return simulation


def test_settled_peers_have_the_ring_links_that_figure_3_gives_them(settled: Simulation) -> None:
    pool = settled.overlay.ring.pool
    for peer in range(0, 400, 20):
        view = pool.peer[pool.start[peer] : pool.start[peer] + pool.size[peer]]
        assert set(ring_of(settled.overlay, peer).tolist()) == set(view.tolist())


def test_peers_of_a_batch_have_no_ring_in_common(settled: Simulation) -> None:
    sample = np.arange(0, 400, 9)
    found = batches(settled.overlay, sample)
    assert sorted(np.concatenate(found).tolist()) == sample.tolist()
    boxes = settled.overlay.population.boxes
    for batch in found:
        assert batch.size <= 4
        shared = overlaps(boxes[batch, None, 0], boxes[batch, None, 1], boxes[batch, 0], boxes[batch, 1])
        assert (shared == np.eye(batch.size, dtype=bool)).all()


def test_rejoining_takes_some_cycles_and_leaves_the_overlay_as_it_was(settled: Simulation) -> None:
    before = [layer.links() for layer in settled.overlay.layers]
    took = rejoin(settled, np.array([7, 300, 123]), no_progress)
    assert (took > 1).all()
    for layer, links in zip(settled.overlay.layers, before, strict=True):
        assert all(np.array_equal(*pair) for pair in zip(layer.links(), links, strict=True))


def test_delivery_is_observed_without_changing_the_overlay(settled: Simulation) -> None:
    events = np.random.default_rng(3).random((50, 2))
    first, again = (Delivery(events).execute(settled) for _ in range(2))
    assert {k: v for k, v in first.items() if v == v} == {k: v for k, v in again.items() if v == v}
    assert first["hit_ratio"] == 1.0


def test_a_fit_tells_a_logarithm_from_a_line() -> None:
    x = np.arange(2.0, 200.0)
    assert fit(np.log2(x), 3 * np.log2(x) + 1).explained == pytest.approx(1.0)
    assert fit(np.log2(x), x).explained < fit(x, x).explained
