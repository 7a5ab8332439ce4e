"""What a comparison measures, against simulations of a few lines that share no code with it.

They know interests, links and rings, count every copy, and draw with numpy's generator.
"""

from __future__ import annotations

import csv
from collections import deque
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sims.compare.metrics import of_cell, ratio_error
from sims.compare.unit import Measured, measure
from sims.compare.worlds import Fault, Rule, World, build_world
from sims.compare.worlds.ranges import fitting_bits
from sims.rivals.base.catalogue import entrant
from sims.rivals.base.entrants import Knob

LOST, CRASHED = Fault(loss=0.05), Fault(crashed=0.1)


@cache
def grown(world: str, system: str, n: int, events: int, cycles: int) -> Measured:
    there = build_world(world, n, events, probes=1, seed=1)
    found = entrant(system)
    made = found.make(there.wanted, 1)
    made.overlay.bootstrap()
    for cycle in range(1, cycles + 1):
        made.step(cycle)
    return Measured(there, made, found)


def cell(measured: Measured, fault: Fault, knob: Knob) -> dict[str, float]:
    world = measured.world
    measured.system.fail(world.alive(fault), fault.loss)
    outcome = measured.publish(world.events, fault, knob, salt=7)
    return of_cell(outcome, measured.event_size)


def matching(world: World, event: int) -> np.ndarray:
    point = world.points[event]
    return np.flatnonzero(((world.lows <= point) & (point <= world.highs)).all(axis=1))


def ring_simulation(
    measured: Measured, fault: Fault, shortcuts: int, tries: int, way_on: int
) -> dict[str, float]:
    """Events along the links that peers have; `way_on` silent neighbours are passed over."""
    rng, world = np.random.default_rng(5), measured.world
    alive = world.alive(fault).astype(bool)
    peer_of, overlay = measured.system.peer_of, measured.system.overlay
    own_of = dict(zip(peer_of.tolist(), range(world.n), strict=True))
    near, far_off = ({own: [] for own in range(world.n)} for _ in range(2))
    for layer in (overlay.ring, overlay.cyclon, overlay.vicinity):
        holders, held, _ = layer.links()
        for holder, other in zip(holders.tolist(), held.tolist(), strict=True):
            far_off[own_of[holder]].append(own_of[other])
            if layer is overlay.ring:
                near[own_of[holder]].append(own_of[other])
    share, copies, acks, deliveries = [], 0, 0, 0
    for event in world.events.tolist():
        ring = sorted(matching(world, event).tolist(), key=lambda own: peer_of[own])
        place = {own: k for k, own in enumerate(ring)}
        start = int(world.publishers(fault)[event])
        has, turns = {start}, deque([(start, -1)])
        while turns:
            own, sender = turns.popleft()
            sent = set()
            for step in (1, -1):
                around = [ring[(place[own] + step * far) % len(ring)] for far in range(1, len(ring))]
                linked = [other for other in around if other in near[own]]
                for other in linked[: way_on + 1]:
                    if other == sender or other in sent:
                        break
                    sent.add(other)
                    answered = tries == 0
                    for _ in range(max(tries, 1)):
                        copies += 1
                        if alive[other] and rng.random() >= fault.loss:
                            if other not in has:
                                has.add(other)
                                turns.append((other, own))
                            acks += tries > 0
                            if tries == 0 or rng.random() >= fault.loss:
                                answered = True
                                break
                    if answered:
                        break
            others = [other for other in far_off[own] if other in place and other not in (*sent, sender)]
            for other in list(dict.fromkeys(rng.permutation(others).tolist()))[:shortcuts]:
                copies += 1
                if alive[other] and rng.random() >= fault.loss and other not in has:
                    has.add(other)
                    turns.append((other, own))
        owed = sum(alive[other] for other in ring) - 1
        share.append((len(has) - 1) / owed)
        deliveries += len(has) - 1
    return {
        "hit_ratio": float(np.mean(share)),
        "copies_per_delivery": copies / deliveries,
        "control_per_delivery": acks / deliveries,
    }


def rings() -> Measured:
    return grown("ranges power-law-1", "sub2sub", n=300, events=400, cycles=30)


@pytest.mark.parametrize(("shortcuts", "tries"), [(0, 1), (2, 1), (1, 3)])
def test_what_a_crash_leaves_of_the_rings(shortcuts: int, tries: int) -> None:
    retries = 3 if tries > 1 else 0
    knob = Knob(shortcuts=shortcuts, tries=tries, retries=retries, max_age=0)
    found = cell(rings(), CRASHED, knob)["hit_ratio"]
    expected = ring_simulation(rings(), CRASHED, shortcuts, tries if tries > 1 else 0, retries)["hit_ratio"]
    assert found == pytest.approx(expected, abs=0.05 if shortcuts == 0 else 0.01)


def test_copies_and_acknowledgements_of_the_default_measured_once_more() -> None:
    found = cell(rings(), LOST, Knob())
    settings = rings().entrant.at(Knob())
    expected = ring_simulation(rings(), LOST, settings.shortcuts, settings.tries, settings.retries)
    assert found["hit_ratio"] == pytest.approx(expected["hit_ratio"], abs=0.003)
    for metric in ("copies_per_delivery", "control_per_delivery"):
        assert found[metric] == pytest.approx(expected[metric], rel=0.03)


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_a_star_needs_the_copies_of_the_closed_form_and_nobody_fewer_than_the_bound(retries: int) -> None:
    measured = grown("ranges power-law-1", "broker", n=300, events=150, cycles=2)
    found = cell(measured, LOST, Knob(retries=retries))
    arrives, heard = 0.95, 0.95**2 if retries else 1.0
    copies = sum((1 - heard) ** k for k in range(retries + 1))
    got = 1 - 0.05 ** (retries + 1)
    # The event reaches the broker first, by a message of the same kind.
    wanting = np.mean([len(matching(measured.world, event)) - 1 for event in measured.world.events.tolist()])
    expected = copies / got * (1 + 1 / (got * wanting))
    assert found["copies_per_delivery"] >= Rule().least_copies
    assert found["hit_ratio"] == pytest.approx(got**2, abs=0.04 / (1 + 4 * retries))
    assert found["copies_per_delivery"] == pytest.approx(expected, rel=0.015)
    assert found["control_per_delivery"] == pytest.approx(expected * arrives if retries else 0.0, rel=0.015)


def test_poldercast_with_a_fan_out_of_two_is_no_bare_ring() -> None:
    """A copy from a ring neighbour goes to the other one and a random peer, any other to both neighbours."""
    measured = grown("topics", "poldercast", n=300, events=150, cycles=40)
    world, rng = measured.world, np.random.default_rng(3)
    assert world.topics is not None
    peer_of, tree = measured.system.peer_of, world.topics.ranges.tree
    publishers, share = world.publishers(LOST), []
    for event in world.events.tolist():
        topic, has = int(world.topics.of_event[event]), set[int]()
        for group in (topic, *tree.supertopics(topic)):
            ring = sorted(np.flatnonzero(world.topics.of == group).tolist(), key=lambda own: peer_of[own])
            place = {own: k for k, own in enumerate(ring)}
            starts = [int(publishers[event])] if group == topic else rng.permutation(ring)[:3].tolist()
            turns = deque((own, -1) for own in starts if group == topic or rng.random() >= LOST.loss)
            has |= {own for own, _ in turns}
            while turns:
                own, sender = turns.popleft()
                beside = [ring[(place[own] + step) % len(ring)] for step in (1, -1)]
                targets = [other for other in dict.fromkeys(beside) if other not in (own, sender)]
                others = [other for other in ring if other not in (*beside, own, sender)]
                targets += rng.permutation(others)[: 2 - len(targets)].tolist()
                for other in targets:
                    if rng.random() >= LOST.loss and other not in has:
                        has.add(other)
                        turns.append((other, own))
        share.append((len(has) - 1) / (len(matching(world, event)) - 1))
    assert cell(measured, LOST, Knob(fanout=2))["hit_ratio"] == pytest.approx(np.mean(share), abs=0.02)


def test_a_flat_grid_has_a_membership_for_each_cell_that_a_box_touches_and_an_event_is_in_one() -> None:
    world = build_world("ranges power-law-2", 300, events=50, probes=1, seed=1)
    grid = entrant("flat grid").make(world.wanted, 1)
    owner, cells = grid.memberships()
    side = 2**world.bits // 8  # eight cells an attribute
    touched = np.prod(world.highs // side - world.lows // side + 1, axis=1)
    assert np.bincount(owner, minlength=world.n).tolist() == touched.tolist()
    members = {int(each): set(owner[cells == each].tolist()) for each in np.unique(cells)}
    topics = grid.topic_cells(world.points) >> 2 * world.bits - 6  # 64 cells
    for event, point in enumerate(world.points):
        inside = ((world.lows // side <= point // side) & (point // side <= world.highs // side)).all(axis=1)
        assert members[int(topics[event])] == set(np.flatnonzero(inside).tolist())
        assert set(matching(world, event).tolist()) <= members[int(topics[event])]


def test_a_table_of_ones_own_is_the_world_and_its_interval_is_over_events(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    low = rng.integers(0, 900, 200)
    high = low + rng.integers(1, 300, 200)
    prices = rng.integers(100, 1000, 400)
    for name, head, rows in (
        ("data.csv", ["price_low", "price_high"], zip(low.tolist(), high.tolist(), strict=True)),
        ("events.csv", ["price"], ((price,) for price in prices.tolist())),
    ):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([head, *rows])
    table = tmp_path / "data.toml"
    table.write_text(
        '[table]\nfile = "data.csv"\nevents = "events.csv"\n'
        '[table.columns]\nprice = ["price_low", "price_high"]\n'
    )
    bits = fitting_bits(str(table), 200, seed=1)
    world = build_world(f"ranges {table} bits={bits}", 200, events=100, probes=1, seed=1)
    wanted = np.array([((low <= price) & (price <= high)).sum() for price in prices])
    sizes = np.diff(world.matches.offsets)[:100]
    assert abs(sizes.sum() / wanted[wanted > 1][:100].sum() - 1) <= 0.02  # the grid adds one percent at most
    copies, taken = rng.poisson(30, 500) + 20, rng.poisson(10, 500) + 5
    ratio = copies.sum() / taken.sum()
    spread = np.std(copies - ratio * taken) / (taken.mean() * np.sqrt(500))  # the delta method
    assert ratio_error(copies.astype(float), taken) == pytest.approx(spread, rel=0.15)


@pytest.mark.parametrize("name", ["broker", "plumtree", "gossipsub", "meghdoot", "sub2sub"])
def test_publishers_that_do_not_match_reach_everybody_and_what_they_need_more_is_billed(name: str) -> None:
    others = grown("ranges power-law-1 publishers=others", name, n=150, events=30, cycles=25)
    own = grown("ranges power-law-1", name, n=150, events=30, cycles=25)
    world = others.world
    for event, publisher in enumerate(world.publishers(Fault())[world.events].tolist()):
        assert publisher not in matching(world, event)
    found, usual = (cell(each, Fault(), Knob()) for each in (others, own))
    assert found["hit_ratio"] == 1.0
    owed = [len(matching(world, event)) for event in world.events.tolist()]
    if name == "broker":
        assert found["copies_per_delivery"] == pytest.approx((sum(owed) + len(owed)) / sum(owed))
    if name == "sub2sub":
        # Two messages a step at least: the request and the reply.
        assert found["control_per_event"] >= 2
        assert usual["control_per_event"] == 0


def test_a_system_whose_publishers_are_members_of_the_topic_says_so() -> None:
    _, rows = measure("ranges power-law-1 publishers=others", "enclosing topic", 1, 60, 4, 4)
    assert [row.note for row in rows] == ["not run: its publishers match their events"]
