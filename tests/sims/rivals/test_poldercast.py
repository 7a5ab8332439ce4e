"""PolderCast: every topic's ring closes, and closes again after crashes."""

from __future__ import annotations

import numpy as np
import pytest

from sims.rivals.others.poldercast import PolderCast, RingFanout
from tests.sims.compare.worlds import small


def true_neighbours(members: np.ndarray, own: int) -> set[int]:
    place = int(np.flatnonzero(members == own)[0])
    return {int(members[(place + step) % len(members)]) for step in (1, -1)} - {own}


def right(system: PolderCast) -> float:
    """Share of live peers whose ring neighbours are the ones next to them among the living of their topic."""
    alive, group = system.network.alive, system.groups.of
    live = np.flatnonzero(alive)
    rings = {topic: live[group[live] == topic] for topic in np.unique(group[live])}
    found = [
        set(system.rings.peers[peer].adjacent()) == true_neighbours(rings[group[peer]], peer)
        for peer in live.tolist()
    ]
    return float(np.mean(found))


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_rings_of_all_topics_close_and_close_again_after_a_third_has_crashed(loss: float) -> None:
    system = PolderCast(small("topics").wanted, 1)
    system.network.loss = loss
    system.overlay.bootstrap()
    for cycle in range(1, 21):
        system.step(cycle)
    assert right(system) == 1.0 if loss == 0 else right(system) > 0.97
    system.network.alive[::3] = 0
    for cycle in range(21, 50):
        system.step(cycle)
    assert right(system) == 1.0 if loss == 0 else right(system) > 0.97


def test_two_ring_neighbours_suffice_without_faults_at_one_message_for_each_delivery() -> None:
    system = PolderCast(small("topics").wanted, 1)
    system.overlay.bootstrap()
    for cycle in range(1, 21):
        system.step(cycle)
    events = np.arange(5)
    publishers = np.array([system.may_publish(event)[0] for event in events])
    found = system.publish(events, publishers, RingFanout(fanout=2), 1)
    assert np.array_equal(found.deliveries, found.owed)
    # Rings end where two branches meet; several entries into a ring above begin several of them.
    assert found.messages.sum() <= found.owed.sum() + 8 * len(events)
