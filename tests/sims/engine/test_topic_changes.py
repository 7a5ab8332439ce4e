"""Topics that come, go, move and get further parents while communities run."""

from __future__ import annotations

import numpy as np
import pytest

from hierarchy.camcast import TopicSettings
from hierarchy.membership import CommunityOverlay, SemiStructured, Structured, Unstructured
from hierarchy.shared import CamcastRoute, SharedOverlay
from hierarchy.topics import NestedRanges, TopicTree
from sims.config.experiment import load_experiment
from sims.engine import Schedule, Simulation
from sims.engine.topic_changes import AddParent, AddTopic, RemoveTopic
from sims.runs.folder import RunFolder
from sims.runs.runner import run_experiment
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import DisseminationSettings
from tests.sims.engine.joining import joining

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
        (Schedule(at=23), joining(np.full((8, 1), low), np.full((8, 1), high))),
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
    assert overlay.communities().sizes.sum() == len(overlay.topic)
    assert [row["members"] for row in later.tables["remove topic"]] == [5]


@pytest.mark.parametrize("membership", [Unstructured, SemiStructured, Structured])
def test_a_run_with_topic_changes_can_be_resumed(membership, tmp_path) -> None:
    low, high = _overlay(membership).ranges.closed_ranges(".b")[0]
    controls = [
        (Schedule(at=4), AddTopic(".a.y", (".a", ".b"))),
        (Schedule(at=8), RemoveTopic(".c")),
        (Schedule(at=10), AddParent(".a.x", ".b")),
        (Schedule(at=16), joining(np.full((8, 1), low), np.full((8, 1), high))),
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


TOPICS = [".a.x"] * 12 + [".a"] * 10 + ["."] * 6 + [".b"] * 9 + [".c"] * 5
CHANGES = [
    (Schedule(at=14), AddParent(".a.x", ".b")),
    (Schedule(at=15), RemoveTopic(".c")),
    *((Schedule(at=16 + number), AddTopic(f".b.n{number}", newcomers=4)) for number in range(5)),
]


def _shared() -> tuple[SharedOverlay, NestedRanges]:
    ranges = NestedRanges(TopicTree.from_paths([".a.x", ".b", ".c"]), span=30)
    closed = np.array([ranges.closed_ranges(topic)[0] for topic in TOPICS])
    population = Population.of(closed[:, :1], closed[:, 1:], spare=120, seed=1)
    overlay = SharedOverlay(population, seed=1, topics=ranges)
    overlay.bootstrap()
    return overlay, ranges


def test_topics_change_on_the_overlay_shared_with_ranges(tmp_path) -> None:
    """Its subscribers follow: who is of a further parent too, who has to go, and whose range has moved."""
    overlay, ranges = _shared()
    before, host = ranges.bounds(), overlay.population.host
    simulation = Simulation(overlay, CHANGES)
    simulation.run(20)
    simulation.save(tmp_path / "checkpoint")
    simulation.run(40)
    assert [row["members"] for row in simulation.tables["remove topic"]] == [5]
    assert sum(row["moved"] for row in simulation.tables["add topic"]) > 0
    assert np.any(before[1:] != ranges.bounds()[1 : len(before)])
    of_host = dict(enumerate(TOPICS)) | {42 + k: f".b.n{k // 4}" for k in range(20)}
    of_host = {number: topic for number, topic in of_host.items() if topic != ".c"}
    lows, highs = (side[:, 0] for side in overlay.population.ranges())
    alive, host = overlay.network.alive == 1, overlay.population.host
    assert set(host[alive].tolist()) == set(of_host)
    for topic in (".a.x", ".a", ".b", ".b.n0", ".b.n4", "."):
        point, (low, high) = float(ranges.point(topic)), ranges.range(topic)
        members = np.flatnonzero(alive & (lows == low) & (highs == high - 1))
        wanted = {number for number, own in of_host.items() if ranges.tree.includes(own, topic)}
        for route in (CamcastRoute(c=5, g=1000), DisseminationSettings()):
            outcome = overlay.spread([[point]], members[:1], route, simulation.cycle, record=True)
            assert outcome.complete.all(), (topic, route)
            assert outcome.spam.sum() == 0
            assert set(host[outcome.receptions.table()["peer"]].tolist()) == wanted, (topic, route)
    resumed = Simulation(_shared()[0], CHANGES)
    resumed.load(tmp_path / "checkpoint")
    resumed.run(40)
    assert resumed.tables == simulation.tables
    for name, array in overlay.tables.arrays().items():
        assert np.array_equal(resumed.overlay.tables.arrays()[name], array), name


@pytest.mark.parametrize(
    ("system", "reliably"),
    [
        ("camcast", "layers.topics = {g = 1000.0, a = 3.0}"),
        ("camcast on rings", "dissemination = {c = 5.0, g = 1000.0}"),
    ],
)
def test_an_experiment_file_changes_topics_and_the_subscribers_of_events(system, reliably, tmp_path) -> None:
    changes = """
[[faults]]
kind = "add parent"
at = 20
topic = ".0.0"
parent = ".1"
[[faults]]
kind = "add topic"
at = 21
topic = ".1.new"
parents = [".1", ".0"]
newcomers = 6
[[faults]]
kind = "remove topic"
at = 22
topic = ".0.1"
"""
    (tmp_path / "changes.toml").write_text(f"""
system = "{system}"
cycles = 60
{reliably}
[population]
size = 120
spare = 120
[workload]
tree = [2, 2]
exponent = 0.0
events = 30
{changes}
[[observers]]
kind = "delivery"
every = 19
""")
    experiment = load_experiment(tmp_path / "changes.toml")
    run_experiment(experiment, 1, tmp_path / "run")
    run = RunFolder.open(tmp_path / "run")
    _, before, *_, after = run.table("delivery").to_pylist()
    assert after["events"] < before["events"]  # nobody publishes events of the topic that is gone
    assert after["hit_ratio"] > 0.99
    assert after["spam"] == 0
    events = run.table("events").to_pandas().pivot(index="event", columns="cycle", values="matches")
    more = (events[57] - events[19]).dropna()
    assert set(more) == {0, 22}, "the 22 subscribers of .1 want the events of .0.0 too"


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
    with pytest.raises(InputError, match="add topic: expected an overlay of topics, got Overlay"):
        AddTopic(".z").execute(Simulation(ring, []))
