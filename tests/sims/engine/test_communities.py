"""CAMCAST on the engine: its memberships under the engine's faults."""

from __future__ import annotations

import numpy as np
import pytest

from hierarchy.camcast import TopicSettings
from hierarchy.membership import CommunityOverlay, SemiStructured, Structured, Unstructured
from hierarchy.topics import NestedRanges, TopicTree
from sims.engine import Schedule, Simulation
from sims.engine.faults import Churn, Crash, Loss, Partition, Recover, Resubscribe

GENEROUS = TopicSettings(c=4.0, g=1000.0, a=3.0, z=3)
TOPICS = [".a.b"] * 60 + [".a"] * 25 + ["."] * 10 + [".c"] * 20
KINDS = [Unstructured, SemiStructured, Structured]


def _overlay(membership, spare: int = 0) -> CommunityOverlay:
    ranges = NestedRanges(TopicTree.from_paths([".a.b", ".c"]))
    overlay = CommunityOverlay(ranges, TOPICS, 1, GENEROUS, membership, spare)
    overlay.bootstrap()
    return overlay


class _Watch:
    """Publishes an event of every community each time, and looks for parasites and for who is missing."""

    name = "watch"
    observes = True

    def execute(self, simulation: Simulation) -> dict[str, float]:
        overlay = simulation.overlay
        group, alive = overlay.communities(), overlay.network.alive == 1
        owed = reached = 0
        for topic in overlay.ranges.tree:
            members = np.flatnonzero(alive & (group.topic == topic))
            if len(members):
                spread = overlay.publish(int(members[0]), event=simulation.cycle)
                assert spread.parasites(group, topic) == 0
                interested = group.interested(topic) & alive
                assert not np.any((spread.trace.first >= 0) & ~interested)
                owed += int(interested.sum())
                reached += int((spread.trace.first >= 0).sum())
        return {"delivered": reached / owed}


@pytest.mark.parametrize("membership", KINDS)
def test_no_parasite_under_any_fault_and_deliveries_recover(membership) -> None:
    overlay = _overlay(membership, spare=1000)
    simulation = Simulation(
        overlay,
        [
            (Schedule(every=5), _Watch()),
            (Schedule(at=30), Crash(share=0.2)),
            (Schedule(at=45), Recover()),
            (Schedule(at=50), Churn(share=0.2)),
            (Schedule(at=70), Loss(0.1)),
            (Schedule(at=90), Partition(2)),
            (Schedule(at=95), Partition(1)),
            (Schedule(at=100), Loss(0.0)),
            (Schedule(at=110), Resubscribe(share=0.2)),
        ],
    )
    simulation.run(290)
    delivered = {row["cycle"]: row["delivered"] for row in simulation.tables["watch"]}
    assert delivered[25] > 0.97
    assert delivered[290] > 0.95


@pytest.mark.parametrize("membership", KINDS)
def test_a_resumed_run_equals_the_uninterrupted_one(membership, tmp_path) -> None:
    controls = [(Schedule(every=10), _Watch()), (Schedule(at=12), Crash(share=0.2))]
    whole = Simulation(_overlay(membership), controls)
    whole.run(30)
    first = Simulation(_overlay(membership), controls)
    first.run(15)
    first.save(tmp_path / "checkpoint")
    second = Simulation(_overlay(membership), controls)
    second.load(tmp_path / "checkpoint")
    second.run(30)
    assert second.tables == whole.tables
