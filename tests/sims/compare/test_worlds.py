"""Worlds: the same for everybody, another for every seed, and what they claim to be."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sims.compare.unit import Measured
from sims.compare.worlds import FAULTS, Fault, World, build_world
from sims.compare.worlds.between import STEPS, nearest_cells
from sims.compare.worlds.topics import read_tree
from sims.rivals.base.catalogue import entrant
from sims.rivals.base.entrants import Unable
from sub2sub.errors import InputError

NAMES = ("topics", "ranges power-law-1", "ranges uniform-3", "between 0.3")


@pytest.mark.parametrize("name", NAMES)
def test_a_world_is_a_function_of_its_name_size_and_seed(name: str) -> None:
    first, again, other = (build_world(name, 150, 10, 5, seed) for seed in (1, 1, 2))
    assert first.digest() == again.digest() != other.digest()


@pytest.mark.parametrize("name", NAMES)
def test_the_fingerprint_tells_apart_what_a_system_could_see_differently(name: str) -> None:
    world = build_world(name, 150, 10, 5, seed=1)
    before = world.digest()
    world.publishers(Fault(crashed=0.3))[0] = 149 - world.publishers(Fault(crashed=0.3))[0]
    assert world.digest() != before
    changed = build_world(name, 150, 10, 5, seed=1)
    changed.points[[0, 1]] = changed.points[[1, 0]] + 1
    assert changed.digest() != before


@pytest.mark.parametrize("name", NAMES)
def test_publishers_are_live_subscribers_that_want_their_event(name: str) -> None:
    world = build_world(name, 150, 10, 5, seed=1)
    for fault in FAULTS:
        alive, publishers = world.alive(fault), world.publishers(fault)
        for event, publisher in enumerate(publishers.tolist()):
            wanting = world.matches.of(event)
            live = wanting[alive[wanting] == 1]
            if publisher >= 0:
                assert publisher in live
                assert live.size > 1
                if world.topics is not None:
                    assert world.topics.of[publisher] == world.topics.of_event[event]
            elif world.topics is None:
                assert live.size < 2


def test_who_is_down_stays_down_when_more_crash() -> None:
    world = build_world("topics", 200, 5, 5, seed=1)
    masks = [world.alive(Fault(crashed=share)) for share in (0.0, 0.1, 0.3, 0.5, 0.7)]
    assert [int((mask == 0).sum()) for mask in masks] == [0, 20, 60, 100, 140]
    assert all((later <= earlier).all() for earlier, later in itertools.pairwise(masks))


def test_topics_and_ranges_agree_on_who_wants_what() -> None:
    world = build_world("topics", 300, 30, 5, seed=3)
    assert world.topics is not None
    tree = world.topics.ranges.tree
    for event in range(len(world.points)):
        wants = [
            s
            for s in range(world.n)
            if tree.includes(int(world.topics.of[s]), int(world.topics.of_event[event]))
        ]
        assert world.matches.of(event).tolist() == wants


def test_the_family_goes_from_all_cells_to_no_change_at_all() -> None:
    worlds = {t: build_world(f"between {t}", 400, 10, 5, seed=2) for t in STEPS}
    free = build_world("ranges power-law-1", 400, 10, 5, seed=2)
    assert np.array_equal(worlds[1.0].lows, free.lows)
    assert np.array_equal(worlds[1.0].highs, free.highs)
    low, high = nearest_cells(free.lows, free.highs, worlds[0.0].bits)
    assert np.array_equal(worlds[0.0].lows, low)
    assert np.array_equal(worlds[0.0].highs, high)
    shares = [float(((w.lows == free.lows) & (w.highs == free.highs)).mean()) for w in worlds.values()]
    assert shares == sorted(shares)


def test_ranges_are_read_from_a_table_as_they_are_but_for_the_grid(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    low = dice.uniform(100, 180, 60)
    high = low + dice.uniform(0, 20, 60)
    low[0], high[1] = 100.0, 200.0
    pq.write_table(pa.table({"price_low": low, "price_high": high}), tmp_path / "prices.parquet")
    world = build_world(f"ranges {tmp_path / 'prices.parquet'}", 1000, 5, 5, seed=1)
    assert world.n == 60
    assert np.abs(world.lows[:, 0] / 1024 * 100 + 100 - low).max() < 0.2
    sample = build_world(f"ranges {tmp_path / 'prices.parquet'}", 20, 5, 5, seed=1)
    assert sample.n == 20


def test_trees_are_read_and_names_with_dots_are_not_nested(tmp_path: Path) -> None:
    (tmp_path / "tree.txt").write_text(".sport\n.sport.soccer\n.news\n\n")
    assert set(read_tree(tmp_path / "tree.txt")) == {".", ".sport", ".sport.soccer", ".news"}
    world = build_world(f"topics {tmp_path / 'tree.txt'}", 50, 5, 5, seed=1)
    assert world.topics is not None
    assert len(world.topics.ranges.tree) == 4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("between 1.5", "t = 1.5"),
        ("between x", "world = 'between x'"),
        ("ranges", "world = 'ranges'"),
        ("planets", "world = 'planets'"),
    ],
)
def test_an_unknown_world_is_refused_in_one_line(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        build_world(name, 50, 5, 5, seed=1)
    assert "\n" not in str(refusal.value)


def test_a_broken_tree_is_refused_with_its_line_named(tmp_path: Path) -> None:
    (tmp_path / "tree.txt").write_text(".a\nb..c\n")
    with pytest.raises(InputError, match=r"tree\.txt: topics, row 1"):
        read_tree(tmp_path / "tree.txt")


def hosts_that_match(world: World, event: int) -> set[int]:
    assert world.parts is not None
    (lows, highs, host), point = world.parts, world.points[event]
    return set(host[((lows <= point) & (point <= highs)).all(axis=1)].tolist())


def test_a_host_with_several_ranges_counts_once_whichever_of_them_match() -> None:
    world = build_world("ranges power-law-1 hosts=4", n=50, events=30, probes=2, seed=1)
    assert world.parts is not None
    assert (world.n, len(world.parts[2]), np.bincount(world.parts[2]).tolist()) == (50, 200, [4] * 50)
    for event in world.events.tolist():
        assert world.matches.of(event).tolist() == sorted(hosts_that_match(world, event))
        assert world.publishers(Fault())[event] in hosts_that_match(world, event)
    assert min(len(hosts_that_match(world, event)) for event in world.events.tolist()) >= 2
    others = build_world("ranges power-law-1 hosts=4 publishers=others", n=50, events=30, probes=2, seed=1)
    published = others.publishers(Fault())
    assert all(published[event] not in hosts_that_match(others, event) for event in others.events.tolist())


@pytest.mark.parametrize("name", ["sub2sub", "broker", "gossipsub"])
def test_systems_deliver_an_event_once_to_each_host(name: str) -> None:
    world = build_world("ranges power-law-1 hosts=3", n=80, events=15, probes=2, seed=1)
    chosen = entrant(name)
    made = chosen.make(world.wanted, 1)
    made.overlay.bootstrap()
    for cycle in range(1, 31):
        made.step(cycle)
    measured = Measured(world, made, chosen)
    made.fail(world.alive(Fault()), 0.0)
    found = measured.publish(world.events, Fault(), chosen.probe, salt=1)
    owed = [len(hosts_that_match(world, event)) - 1 for event in world.events.tolist()]
    assert found.owed.tolist() == owed
    assert found.deliveries.tolist() == owed
    # A host is one node: broadcast has no copies for each of its ranges, and rings pass them on at home.
    copies = found.messages.sum() + found.local.sum() + len(world.events)
    assert found.received[measured.peer].sum() <= copies
    assert np.array_equal(made.links()[next(iter(made.links()))].shape, (80,))
    with pytest.raises(Unable, match="several subscriptions"):
        entrant("enclosing topic").make(world.wanted, 1)


@pytest.mark.parametrize("name", ["topics hosts=3", "topics publishers=others", "between 0.3 hosts=2"])
def test_hosts_and_other_publishers_are_refused_where_there_are_none(name: str) -> None:
    with pytest.raises(InputError, match="ranges"):
        build_world(name, n=50, events=5, probes=2, seed=1)


def test_a_host_that_crashes_takes_all_its_ranges_with_it() -> None:
    world = build_world("ranges power-law-1 hosts=3", n=80, events=15, probes=2, seed=1)
    made = entrant("sub2sub").make(world.wanted, 1)
    alive = world.alive(Fault(crashed=0.3))
    made.fail(alive, 0.0)
    host = made.overlay.population.host
    assert np.array_equal(made.network.alive == 1, alive[host] == 1)
    assert np.array_equal(made.by_subscriber(np.ones(240, np.int64)), np.full(80, 3))


def test_a_tree_is_read_as_workloads_are_imported(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("path\nsport :: soccer\nnews :: art :: jazz\n")
    name = f"topics {tmp_path / 'tree.csv'} separator=:: implied=topics"
    world = build_world(name, n=60, events=5, probes=2, seed=1)
    assert world.topics is not None
    tree = world.topics.ranges.tree
    assert {tree.name(topic) for topic in range(tree.capacity)} == {
        ".", ".sport", ".sport.soccer", ".news", ".news.art", ".news.art.jazz",
    }  # fmt: skip
    with pytest.raises(InputError, match="supertopic of"):
        build_world(name.removesuffix(" implied=topics"), n=60, events=5, probes=2, seed=1)
