"""PolderCast: every topic's ring closes, and closes again after crashes."""

from __future__ import annotations

import numpy as np
import pytest

from sims.compare.worlds import build_world
from sims.rivals.others.poldercast import PolderCast, RingFanout
from sub2sub.peers.draws import Dice
from tests.sims.compare.worlds import small
from tests.sims.rivals.push_peer import PushPeer


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


def test_a_copy_from_a_ring_neighbour_goes_to_the_other_one_and_to_f_less_one_random_peers() -> None:
    """So a fan-out of 2 is no bare ring, which a single lost message cuts."""
    rules = PolderCast.rules(None, RingFanout(fanout=2))  # type: ignore[arg-type]
    peer = PushPeer([0, 2], [3, 4, 5], [], rules, Dice(1))
    sent = [target for _, target in peer.receive(0)]
    assert sent[0] == 2
    assert len(sent) == 2
    assert sent[1] in (3, 4, 5)
    other = PushPeer([0, 2], [3, 4, 5], [], rules, Dice(1))
    assert [target for _, target in other.receive(9)] == [0, 2]


def test_a_fan_out_of_two_survives_loss() -> None:
    """A bare ring delivers next to nothing with 5 % loss."""
    world = build_world("topics", 300, events=40, probes=2, seed=2)
    system = PolderCast(world.wanted, 2)
    system.overlay.bootstrap()
    for cycle in range(1, 26):
        system.step(cycle)
    publishers = np.array([system.may_publish(event)[0] for event in world.events])
    system.network.loss = 0.05
    found = system.publish(world.events, publishers, RingFanout(fanout=2), 1)
    assert found.hit_ratio > 0.9


def test_every_peer_of_a_topic_sends_an_event_on_to_f_others_and_all_get_it() -> None:
    system = PolderCast(small("topics").wanted, 1)
    system.overlay.bootstrap()
    for cycle in range(1, 21):
        system.step(cycle)
    events = np.arange(5)
    publishers = np.array([system.may_publish(event)[0] for event in events])
    found = system.publish(events, publishers, RingFanout(fanout=2), 1)
    assert np.array_equal(found.deliveries, found.owed)
    levels = (
        system.entries.contact.shape[1] * system.entries.contact.shape[2]
    )  # entries into the groups above
    assert (found.messages <= 2 * (found.owed + 1) + levels).all()
    assert found.messages.sum() > found.owed.sum() * 1.5
