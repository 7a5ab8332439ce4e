"""Messages of the ring layer contain what Figure 3 selects."""

from __future__ import annotations

import numpy as np
import pytest

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.ring.message_length import links_held, links_per_message
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import DESCRIPTOR, HEADER, RANGE
from sub2sub.peers.settings import OverlaySettings
from sub2sub.rings.selection import select_ring
from workloads import named


@pytest.fixture(scope="module")
def overlay() -> Overlay:
    lows, highs = named("power-law-2").subscriptions(150, 2)
    overlay = Overlay(Population.of(lows, highs, seed=2), seed=2)
    overlay.run(8)
    return overlay


def held_spelled_out(overlay: Overlay, sender: int, partner: int) -> int:
    people = overlay.population
    lows, highs = people.ranges()
    known: set[int] = set()
    for layer in (overlay.cyclon, overlay.vicinity, overlay.ring):
        holders, peers, _ = layer.links()
        known |= set(peers[holders == sender].tolist())
    others = np.array(sorted(known - {sender, partner}))
    ring = select_ring(
        lows[partner],
        highs[partner],
        int(people.ids[partner]),
        lows[others],
        highs[others],
        people.ids[others],
    )
    return len(set(ring.successors.tolist()) | set(ring.predecessors.tolist()))


def held(overlay: Overlay, pairs: np.ndarray) -> np.ndarray:
    boxes, both = overlay.ring.labels.boxes, np.ascontiguousarray(pairs)
    found: np.ndarray = links_held(Links.of(overlay), boxes, both)  # type: ignore[no-untyped-call]
    return found


def per_message(overlay: Overlay, cycle: int) -> float:
    labels, alive = overlay.ring.labels.boxes, overlay.network.alive
    return links_per_message(Links.of(overlay), labels, alive, overlay.seed, cycle)


def all_exchanges(overlay: Overlay) -> np.ndarray:
    return np.stack(overlay.ring.links()[:2])


def test_a_message_holds_what_figure_3_selects(overlay: Overlay) -> None:
    pairs = all_exchanges(overlay)[:, ::7]
    expected = [held_spelled_out(overlay, int(sender), int(partner)) for sender, partner in pairs.T]
    assert held(overlay, pairs).tolist() == expected


def test_a_sample_is_right_on_average(overlay: Overlay) -> None:
    pairs = all_exchanges(overlay)
    # A peer starts one exchange a cycle, however many neighbours it has.
    weights = 1 / overlay.ring.pool.size[pairs[0]]
    exact = np.average((held(overlay, pairs) + held(overlay, pairs[::-1])) / 2, weights=weights)
    sampled = np.mean([per_message(overlay, cycle) for cycle in range(60)])
    assert sampled == pytest.approx(exact, rel=0.06)


def test_bytes_are_those_of_headers_own_descriptors_and_links(
    overlay: Overlay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sub2sub.compiled.ring.layer.links_per_message", lambda *_: 2.5)
    ring = overlay.step(9)["ring"]
    exchanged = ring["messages"] - ring["hellos"] - ring["verifying"]
    links = exchanged + ring["hellos"] + round(2.5 * exchanged)
    assert ring["bytes"] == HEADER * ring["messages"] + (DESCRIPTOR + 2 * RANGE) * links


def test_an_overlay_without_neighbours_sends_nothing() -> None:
    apart = Overlay(Population.of([[0.0], [2.0]], [[1.0], [3.0]]), OverlaySettings.paper())
    apart.bootstrap()
    assert apart.step(1)["ring"]["bytes"] == 0
    assert per_message(apart, 1) == 0.0
