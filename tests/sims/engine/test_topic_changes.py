"""Topics that come, go, move and get further parents while communities run."""

from __future__ import annotations

import numpy as np
import pytest

from hierarchy.camcast import TopicSettings
from hierarchy.membership import CommunityOverlay, SemiStructured, Structured, Unstructured
from hierarchy.topics import NestedRanges, TopicTree
from sims.engine import Schedule, Simulation
from sims.engine.faults import Join
from sims.engine.topic_changes import AddParent, AddTopic, RemoveTopic
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population

ALL = TopicSettings(c=5.0, g=1000.0, a=3.0, z=3)


def _overlay(membership, span: int = 2**53) -> CommunityOverlay:
    ranges = NestedRanges(TopicTree.from_paths([".a.x", ".b", ".c"]), span)
    topics = [".a.x"] * 12 + [".a"] * 10 + ["."] * 6 + [".b"] * 9 + [".c"] * 5
    overlay = CommunityOverlay(ranges, topics, 1, ALL, membership, spare=30)
    overlay.bootstrap()
    return overlay


def _reached(overlay: CommunityOverlay, topic: str, event: int) -> dict[str, float]:
    """The share of each live community that an event of a topic gets to."""
    tree, alive = overlay.ranges.tree, overlay.network.alive == 1
    members = np.flatnonzero(alive & (overlay.topic == tree.number(topic)))
    first = overlay.publish(int(members[0]), event).trace.first
    return {
        tree.name(t): float((first[alive & (overlay.topic == t)] >= 0).mean())
        for t in tree
        if np.any(alive & (overlay.topic == t))
    }


@pytest.mark.parametrize("membership", [Unstructured, SemiStructured, Structured])
def test_topics_come_get_a_second_parent_and_go(membership) -> None:
    overlay = _overlay(membership)
    simulation = Simulation(overlay, [(Schedule(at=20), AddTopic(".a.y", (".a", ".b")))])
    simulation.run(22)
    low, high = overlay.ranges.closed_ranges(".a.y")[0]
    controls = [
        (Schedule(at=23), Join(np.full((8, 1), low), np.full((8, 1), high))),
        (Schedule(at=24), AddParent(".a.x", ".b")),
        (Schedule(at=60), RemoveTopic(".c")),
    ]
    later = Simulation(overlay, controls)
    later.cycle = simulation.cycle
    later.run(100)
    whole = {".": 1.0, ".a": 1.0, ".b": 1.0}
    assert _reached(overlay, ".a.y", 1) == {**whole, ".a.y": 1.0, ".a.x": 0.0}
    assert _reached(overlay, ".a.x", 2) == {**whole, ".a.y": 0.0, ".a.x": 1.0}
    assert ".c" not in overlay.ranges.tree
    assert [row["members"] for row in later.tables["remove topic"]] == [5]


@pytest.mark.parametrize("membership", [Unstructured, SemiStructured, Structured])
def test_a_run_with_topic_changes_can_be_resumed(membership, tmp_path) -> None:
    low, high = _overlay(membership).ranges.closed_ranges(".b")[0]
    controls = [
        (Schedule(at=4), AddTopic(".a.y", (".a", ".b"))),
        (Schedule(at=8), RemoveTopic(".c")),
        (Schedule(at=10), AddParent(".a.x", ".b")),
        (Schedule(at=16), Join(np.full((8, 1), low), np.full((8, 1), high))),
        (Schedule(at=18), AddTopic(".a.z")),
    ]
    whole = Simulation(_overlay(membership), controls)
    whole.run(24)
    first = Simulation(_overlay(membership), controls)
    first.run(12)
    first.save(tmp_path / "checkpoint")
    second = Simulation(_overlay(membership), controls)
    second.load(tmp_path / "checkpoint")
    second.run(24)
    assert second.tables == whole.tables
    assert np.array_equal(second.overlay.topic, whole.overlay.topic)
    for one, other in zip(second.overlay.membership.tables(), whole.overlay.membership.tables(), strict=True):
        assert np.array_equal(one, other)


def test_members_move_with_the_ranges_of_their_topics() -> None:
    overlay = _overlay(Unstructured, span=40)
    topics, moved = overlay.topic.copy(), 0
    for number in range(12):  # so few numbers that the tree has to be laid out anew
        moved += len(overlay.add_topic(f".b.n{number}").moved)
    assert moved > 0
    present = np.flatnonzero(overlay.population.present)
    overlay._follow(present)
    assert np.array_equal(overlay.topic[present], topics[present])


def test_what_cannot_be_done_is_refused_in_one_line() -> None:
    overlay = _overlay(Unstructured)
    simulation = Simulation(overlay, [])
    with pytest.raises(InputError, match="expected a topic without subtopics"):
        RemoveTopic(".a").execute(simulation)
    with pytest.raises(InputError, match="is there already"):
        AddTopic(".a").execute(simulation)
    with pytest.raises(InputError, match="would close a cycle"):
        AddParent(".a", ".a.x").execute(simulation)
    ring = Overlay(Population.of(np.zeros((4, 1)), np.ones((4, 1)), seed=1), seed=1)
    with pytest.raises(InputError, match="add topic: expected communities of topics, got Overlay"):
        AddTopic(".z").execute(Simulation(ring, []))
