"""Settled overlays, rejoining subscribers and publishers: what the experiments on events rest on."""

from __future__ import annotations

import numpy as np
import pytest

from sims.engine import Simulation
from sims.observers.delivery import Delivery
from sims.reproduce.sub2sub.dissemination import fit
from sims.reproduce.sub2sub.gossiping_publishers import PublisherViews, gossip_to_match
from sims.reproduce.sub2sub.rejoin import batches, rejoin, ring_of
from sims.reproduce.sub2sub.setting import PAPER, converged
from sub2sub.compiled.common.links import Links
from sub2sub.geometry.boxes import overlaps


@pytest.fixture(scope="module")
def settled() -> Simulation:
    changes = {"workload.spec": "power-law-2", "workload.events": 4_000, **PAPER}
    simulation, _ = converged("sub2sub-fig7", 1, 400, changes)
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
    took = rejoin(settled, np.array([7, 300, 123]))
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


def test_a_publisher_that_gossips_finds_a_match_if_there_is_one(settled: Simulation) -> None:
    links = Links.of(settled.overlay)
    inside = links.boxes[::50, 0, :2]
    took = gossip_to_match(links, inside, most=60, seed=1)
    assert (took > 0).all()
    assert took.min() < 5
    assert (gossip_to_match(links, [[9.0, 9.0]], most=30, seed=1) == -1).all()


def test_ring_links_that_are_offered_bring_publishers_to_a_match_sooner(settled: Simulation) -> None:
    links = Links.of(settled.overlay)
    events = np.random.default_rng(4).random((300, 2))
    lows, highs = links.boxes[:, 0, :2], links.boxes[:, 1, :2]
    inside = (lows[None] <= events[:, None]) & (events[:, None] < highs[None])
    wanted = events[inside.all(axis=2).any(axis=1)]
    without, offered = (
        gossip_to_match(links, wanted, most=60, seed=1, views=PublisherViews(ring_offers=rings))
        for rings in (False, True)
    )
    assert (offered > 0).all()
    assert offered.mean() < without[without > 0].mean()
