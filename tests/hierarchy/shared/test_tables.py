"""The tables of the shared overlay: kernels make the same decisions as `TablePeer`, with correct entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.peers.settings import SharedSettings, TableSettings
from hierarchy.peers.tables import TablePeer
from hierarchy.shared.shared_overlay import SharedOverlay
from hierarchy.topics import NestedRanges, TopicTree
from sub2sub.compiled.common.views import FREE
from sub2sub.errors import InputError
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import Descriptor, Link
from sub2sub.peers.draws import Dice
from tests.hierarchy.shared.driver import TableDriver, entries_of, links_of, whole

CYCLES = 14
PATHS = [".a", ".b", ".a.x", ".a.y", ".a.x.p", ".a.x.q", ".b.z"]


def population(n: int, seed: int, ranges: bool = False) -> tuple[Population, NestedRanges]:
    """Subscribers of a small tree and, on request, some with ranges that are no topics."""
    nested, rng = NestedRanges(TopicTree.from_paths(PATHS), span=4096), np.random.default_rng(seed)
    bounds = nested.bounds()[rng.integers(0, len(PATHS) + 1, n)].astype(float)
    if ranges:
        other = rng.random(n) < 0.3
        low = rng.integers(0, 3000, n)
        bounds[other] = np.stack([low, low + rng.integers(1, 2000, n)], axis=1)[other]
    return Population.of(bounds[:, :1], bounds[:, 1:] - 1, seed=seed), nested


@st.composite
def table_settings(draw: st.DrawFn) -> TableSettings:
    neighbours = draw(st.integers(1, 2))
    return TableSettings(
        equals=draw(st.integers(2 * neighbours + 1, 8)),
        z=draw(st.integers(1, 4)),
        below=draw(st.integers(1, 4)),
        neighbours=neighbours,
        max_age=draw(st.sampled_from([0, 4, 20])),
        suspect_age=draw(st.sampled_from([0, 1, 6])),
        patience=draw(st.integers(1, 10)),
        tries=draw(st.integers(1, 3)),
    )


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 60), st.integers(0, 2**32), st.sampled_from([0.0, 0.3]), st.booleans(), table_settings(),
    st.integers(2, 12), st.integers(2, 12),
)  # fmt: skip
def test_the_kernel_decides_as_its_peer_does(n, seed, loss, ranges, given_, crash_at, cut_at) -> None:
    people, nested = population(n, seed, ranges)
    overlay = SharedOverlay(people, SharedSettings(tables=given_), seed, whole(n, loss), topics=nested)
    overlay.bootstrap()
    driver, some = TableDriver(overlay), np.arange(1, n, 4)
    for cycle in range(1, CYCLES):
        if cycle == crash_at:
            overlay.network.alive[some] = 0
        overlay.network.group[:] = np.arange(n) % 2 if cycle in (cut_at, cut_at + 1) else 0
        if cycle == crash_at + 3:
            overlay.admit(some, (some - 1) % n, cycle)
            for number in some.tolist():
                driver.peers[number] = driver.peer(number, cycle)
        counts = overlay.step(cycle)["tables"]
        assert counts == driver.step(cycle)
        for number, peer in enumerate(driver.peers):
            for name in ("equals", "above", "below"):
                row = getattr(overlay.tables, name)[number]
                assert entries_of(row) == links_of(getattr(peer, name)), (cycle, number, name)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 80), st.integers(0, 2**32), st.sampled_from([0.0, 0.2]))
def test_tables_hold_equal_enclosing_and_enclosed_topics_and_no_others(n, seed, loss) -> None:
    people, nested = population(n, seed, ranges=True)
    overlay = SharedOverlay(people, None, seed, whole(n, loss), topics=nested)
    overlay.run(11)
    lows, highs = (side[:, 0] for side in people.ranges())
    bounds = {tuple(row) for row in nested.bounds().tolist()}
    for i in range(n):
        rows = {name: entries_of(getattr(overlay.tables, name)[i]) for name in ("equals", "above", "below")}
        assert overlay.topical[i] == ((lows[i], highs[i] + 1) in bounds)
        assert overlay.topical[i] or not any(rows.values())
        for name, row in rows.items():
            peers = [peer for peer, _ in row]
            assert len(set(peers)) == len(peers)
            assert i not in peers
            for j in peers:
                over = lows[j] <= lows[i] and highs[i] <= highs[j]
                under = lows[i] <= lows[j] and highs[j] <= highs[i]
                assert overlay.topical[j]
                assert (over, under) == {
                    "equals": (True, True), "above": (True, False), "below": (False, True)
                }[name]  # fmt: skip


def settled(n: int = 300, seed: int = 3, cycles: int = 30, loss: float = 0.0) -> SharedOverlay:
    people, nested = population(n, seed)
    overlay = SharedOverlay(people, None, seed, whole(n, loss), topics=nested)
    overlay.run(cycles)
    return overlay


def whole_share(overlay: SharedOverlay) -> float:
    """Share of live peers that know their whole community, or its nearest members, and the one above."""
    alive = overlay.network.alive == 1
    lows, highs = (side[:, 0] for side in overlay.population.ranges())
    n, room = overlay.tables.equals.shape
    missing = np.zeros(n, bool)
    for i in np.flatnonzero(alive):
        known = {j for j, _ in entries_of(overlay.tables.equals[i]) if alive[j]}
        equal = np.flatnonzero(alive & (lows == lows[i]) & (highs == highs[i]))
        way = np.sort((equal[equal != i] - i) % n)
        if len(way) <= room - 4:  # some room for the dead
            missing[i] |= not {(int(w) + i) % n for w in way} <= known
        else:
            missing[i] |= not {(int(w) + i) % n for w in (*way[:2], *way[-2:])} <= known
        width = np.where(alive & (lows <= lows[i]) & (highs[i] <= highs), highs - lows, np.inf)
        width[equal] = np.inf
        if np.isfinite(width.min()):
            above = [j for j, _ in entries_of(overlay.tables.above[i]) if alive[j]]
            missing[i] |= not any(width[j] == width.min() for j in above)
    return 1.0 - float(missing[alive].mean())


# A message that is lost three times makes its sender forget a peer until it hears of it again.
@pytest.mark.parametrize(("loss", "least"), [(0.0, 1.0), (0.05, 0.99), (0.15, 0.97)])
def test_peers_that_join_at_once_find_their_community_and_the_one_above(loss, least) -> None:
    for seed in range(3):
        assert whole_share(settled(seed=seed, loss=loss)) >= least


def test_crashed_peers_are_dropped_and_communities_stay_complete() -> None:
    overlay = settled()
    overlay.network.alive[::5] = 0
    for cycle in range(31, 31 + 22):
        overlay.step(cycle)
    alive = overlay.network.alive == 1
    holders, peers, _ = overlay.tables.links()
    assert alive[peers[alive[holders]]].all()
    assert whole_share(overlay) == 1.0


def test_a_newcomer_finds_its_community_in_the_cycle_it_joins() -> None:
    overlay = settled(n=600)
    some = np.arange(0, 600, 60)
    overlay.network.alive[some] = 0
    for cycle in range(31, 60):
        overlay.step(cycle)
    overlay.admit(some, (some + 1) % 600, 60)
    overlay.step(60)
    assert all(overlay.tables.equals[i, 0] != FREE for i in some)
    assert np.isin(some, overlay.tables.links()[1]).all()


def test_an_answer_does_not_name_the_peer_that_asks() -> None:
    over, member, newcomer = (
        Descriptor.half_open(number, (low,), (end,))
        for number, (low, end) in enumerate([(0.0, 9.0), (2.0, 3.0), (2.0, 3.0)])
    )
    asked = TablePeer(over, TableSettings())
    asked.hear([Link(member, 1)], 5, greet=lambda other: True)
    asked.below[0] = Link(member, 1)  # heard of some time ago
    assert [link.peer.id for link in asked.ways(newcomer, 0, 5, Dice(1))] == [member.id]
    assert [link.peer.id for link in asked.below] == [newcomer.id]


def test_tables_cost_messages_and_bytes() -> None:
    overlay = settled()
    cost = overlay.step(31)["tables"]
    assert cost["messages"] >= 2 * 300
    assert cost["bytes"] > 12 * cost["messages"]


def test_a_checkpoint_restores_the_tables() -> None:
    one, other = settled(cycles=10), settled(cycles=9)
    for layer, to in zip(one.layers, other.layers, strict=True):
        to.load({name: array.copy() for name, array in layer.arrays().items()})
    assert one.step(11) == other.step(11)
    assert np.array_equal(one.tables.equals, other.tables.equals)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"neighbours": 0}, "tables.neighbours: expected 1 or more, got 0"),
        ({"equals": 4}, "tables.equals: expected 5 to 63, got 4"),
        ({"z": 64}, "tables.z: expected 1 to 63, got 64"),
        ({"below": 0}, "tables.below: expected 1 to 63, got 0"),
        ({"max_age": -1}, "tables.max_age: expected 0 or more, got -1"),
        ({"patience": 0}, "tables.patience: expected 1 or more, got 0"),
    ],
)
def test_settings_outside_their_domain_are_refused(wrong, message) -> None:
    with pytest.raises(InputError, match=message):
        TableSettings(**wrong)
