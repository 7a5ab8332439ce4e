"""Condensation: joint interests cover all interests, exactly if there are few, and elections agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hierarchy.hpmcast import AddressSpace, Condensation, Population, exact_knowledge
from hierarchy.hpmcast.membership.condensation import elect, include
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import normalise

GRID = st.integers(0, 6).map(float)


@st.composite
def box_lists(draw: st.DrawFn, attributes: int = 2) -> np.ndarray:
    n = draw(st.integers(1, 12))
    ends = draw(arrays(np.float64, (n, 2, attributes), elements=GRID))
    low, high = normalise(ends.min(axis=1), ends.max(axis=1))
    return np.stack([low, high], axis=1)


def joint(boxes: np.ndarray, most: int) -> np.ndarray:
    out, used = np.zeros((most + 1, 2, boxes.shape[2])), 0
    for box in boxes:
        used = include(out, used, most, box.copy())
    assert used <= most
    return out[:used]


def covered(boxes: np.ndarray, points: np.ndarray) -> np.ndarray:
    inside = (boxes[:, None, 0] <= points) & (points < boxes[:, None, 1])
    return inside.all(axis=2).any(axis=0)


POINTS = np.stack(np.meshgrid(np.arange(0, 6.5, 0.5), np.arange(0, 6.5, 0.5)), axis=-1).reshape(-1, 2)


@settings(max_examples=150, deadline=None)
@given(boxes=box_lists(), most=st.integers(1, 6))
def test_a_joint_interest_is_never_stronger_than_the_union(boxes, most):
    assert (covered(joint(boxes, most), POINTS) >= covered(boxes, POINTS)).all()


@settings(max_examples=100, deadline=None)
@given(boxes=box_lists())
def test_with_room_enough_it_is_exactly_the_union_and_holds_nothing_redundant(boxes):
    regrouped = joint(boxes, len(boxes))
    assert (covered(regrouped, POINTS) == covered(boxes, POINTS)).all()
    for b, box in enumerate(regrouped):
        others = np.delete(regrouped, b, axis=0)
        inside = (others[:, 0] <= box[0]).all(axis=1) & (box[1] <= others[:, 1]).all(axis=1)
        assert not inside.any()


def test_ranges_that_touch_become_one():
    low, high = normalise([[0.0], [5.0], [2.0]], [[2.0], [6.0], [4.0]])
    ranges = joint(np.stack([low, high], axis=1), most=3)
    assert ranges[:, 0].ravel().tolist() == [5.0, 0.0]


def test_what_is_nearest_is_joined_first():
    low, high = normalise([[0.0], [10.0], [11.0]], [[1.0], [10.5], [12.0]])
    ranges = joint(np.stack([low, high], axis=1), most=2)
    assert sorted(ranges[:, 0].ravel().tolist()) == [0.0, 10.0]


def test_unbounded_interests_are_joined_without_overflow():
    low, high = normalise(
        [[-np.inf, 0.0], [0.0, -np.inf], [5.0, 5.0]], [[np.inf, 1.0], [1.0, np.inf], [6.0, 6.0]]
    )
    boxes = np.stack([low, high], axis=1)
    assert (covered(joint(boxes, 2), POINTS) >= covered(boxes, POINTS)).all()


@settings(max_examples=100, deadline=None)
@given(ranks=st.lists(st.integers(0, 4), min_size=1, max_size=20), most=st.integers(1, 5))
def test_elections_take_the_least_ranks_and_break_ties_by_address(ranks, most):
    candidates = np.random.default_rng(len(ranks)).permutation(len(ranks)).astype(np.int32)
    delegates = np.empty(most, np.int32)
    elect(candidates, len(ranks), np.array(ranks, float), delegates)
    expected = [c for _, c in sorted(zip(ranks, candidates.tolist(), strict=True))][:most]
    assert delegates.tolist() == expected + [-1] * (most - len(expected))


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 50), redundancy=st.integers(1, 4), seed=st.integers(0, 99))
def test_delegates_are_the_smallest_addresses_of_their_subsystem(n, redundancy, seed):
    population = Population.scattered(AddressSpace((4, 4, 4)), n, seed)
    known = exact_knowledge(population, Condensation(redundancy=redundancy))
    for level in (1, 2):
        for branch in range(population.branches(level)):
            members = np.arange(*population.first[level][branch : branch + 2])
            delegates = known.tables[level].delegates[0, branch]
            assert delegates[delegates >= 0].tolist() == members[:redundancy].tolist()
            assert known.tables[level].members[0, branch] == len(members)


def test_capacity_elects_the_strongest_of_each_subsystem():
    population = Population.regular(a=4, levels=3)
    capacity = np.random.default_rng(2).permutation(64)
    known = exact_knowledge(population, Condensation(redundancy=2), capacity=capacity)
    for branch in range(4):
        members = np.arange(*population.first[2][branch : branch + 2])
        strongest = members[np.argsort(-capacity[members])][:2]
        assert known.tables[2].delegates[0, branch].tolist() == strongest.tolist()


def test_coverage_elects_delegates_that_are_interested_more_often():
    rng = np.random.default_rng(3)
    population = Population.regular(a=8, levels=3)
    centre, width = rng.random((512, 1)), rng.random((512, 1)) ** 4
    interests = normalise(centre - width / 2, centre + width / 2)
    widths = []
    for by_coverage in (False, True):
        known = exact_knowledge(population, Condensation(redundancy=2, by_coverage=by_coverage), interests)
        widths.append(width[known.tables[1].delegates[0].ravel()].mean())
    assert widths[1] > 2 * widths[0]


def test_an_event_passes_every_line_above_somebody_who_wants_it():
    rng = np.random.default_rng(4)
    population = Population.scattered(AddressSpace((6, 6, 6)), 150, seed=1)
    low = rng.random((150, 3))
    interests = normalise(low, low + 0.3 * rng.random((150, 3)))
    for condensation in (
        Condensation(boxes=(3, 2)),
        Condensation(boxes=(64,)),
        Condensation(boxes=(4,), compared=((0, 1), ())),
    ):
        known = exact_knowledge(population, condensation, interests)
        for event in rng.random((40, 3)):
            hit = known.match(event)
            wants = ((interests[0] <= event) & (event < interests[1])).all(axis=1)
            assert (hit[:150] == wants).all()
            for level in (1, 2):
                above = hit[known.first_lines[level] :][population.branch_of[level, wants]]
                assert above.all()


def test_more_boxes_and_attributes_let_fewer_events_pass_in_vain():
    rng = np.random.default_rng(5)
    population = Population.regular(a=10, levels=3)
    low = rng.random((1000, 2))
    interests = normalise(low, low + 0.02)
    events = rng.random((60, 2))
    passed = [
        sum(known.match(event)[1000:].sum() for event in events)
        for known in (
            exact_knowledge(population, condensation, interests)
            for condensation in (
                Condensation(boxes=(10,)),
                Condensation(boxes=(2,)),
                Condensation(boxes=(2,), compared=((0,),)),
                Condensation(boxes=(2,), compared=((),)),
            )
        )
    ]
    assert passed[0] < passed[1] < passed[2] < passed[3] == 60 * 110


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"redundancy": 0}, "redundancy: expected 1 or more"),
        ({"boxes": (0,)}, "boxes: expected at least 1 box"),
        ({"compared": ((0,), (0, 1))}, r"compared\[1\]: expected attributes among \(0,\)"),
    ],
)
def test_settings_outside_their_domain_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Condensation(**settings)


def test_wrong_interests_and_capacities_are_refused():
    population = Population.regular(a=3, levels=1)
    with pytest.raises(InputError, match="interests: expected 3 boxes, got 1"):
        exact_knowledge(population, interests=normalise([[0.0]], [[1.0]]))
    with pytest.raises(InputError, match="capacity: expected 3 finite numbers"):
        exact_knowledge(population, capacity=[1.0, np.inf, 2.0])
    with pytest.raises(InputError, match=r"compared\[0\]: expected attributes 0 to -1"):
        exact_knowledge(Population.regular(a=3, levels=2), Condensation(compared=((0,),)))
