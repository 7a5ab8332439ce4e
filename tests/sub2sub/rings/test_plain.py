"""Figure 3 in plain Python: it covers and selects as the kernels do, and needs no compiler."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sub2sub.compiled.ring.message_length import new_space
from sub2sub.compiled.ring_views.cover import ask, clip
from sub2sub.compiled.ring_views.labels import Labels
from sub2sub.rings.plain import Box, ranked, select, uncovered
from tests.sub2sub.geometry import naive
from tests.sub2sub.geometry.populations import Population, populations
from tests.sub2sub.rings.test_selection import arguments, random_population


def asked_of_the_kernel(population: Population) -> bool:
    """Whether the kernel finds the first box covered by the others."""
    boxes = np.array(population.boxes).swapaxes(1, 2)
    labels = Labels(boxes, d := boxes.shape[2]).boxes
    space = new_space(len(labels), d)
    space.columns[:, : len(labels) - 1] = labels[1:, :, :d].transpose(2, 1, 0).reshape(2 * d, -1)
    clip(labels[0], labels[0], d, space.cover.stack[0])
    return bool(ask(space.columns, 0, len(labels) - 1, d, 0, space.cover) > 0)


def is_covered(box: Box, boxes: list[Box], max_steps: int = 0) -> bool:
    """Whether others cover a box; a point that they do not cover is in the box and in none of them."""
    point = uncovered(box, boxes, max_steps)
    if point and not max_steps:
        holders = [
            all(low <= x < end for x, (low, end) in zip(point, each, strict=True)) for each in [box, *boxes]
        ]
        assert holders == [True, *([False] * len(boxes))]
    return point is None


def plain_boxes(population: Population) -> list[tuple[tuple[float, float], ...]]:
    return [tuple(box) for box in population.boxes]


@settings(max_examples=300)
@given(populations(st.integers(1, 6), 14, least=1))
def test_the_plain_test_for_cover_agrees_with_the_kernel(population: Population) -> None:
    own, *others = plain_boxes(population)
    ranked_own, *ranked_others = ranked([own, *others])
    expected = asked_of_the_kernel(population)
    assert is_covered(own, others) == expected
    assert is_covered(ranked_own, ranked_others) == expected


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_random_boxes_cover_as_the_kernel_says(d: int) -> None:
    answers = set()
    for seed in range(40):
        population = random_population(seed, 3 * d**2, d, 1.0)
        population.lows[0], population.highs[0] = 0.49 - 0.012 * seed, 0.51 + 0.012 * seed
        own, *others = plain_boxes(population)
        answers.add(is_covered(own, others))
        assert is_covered(own, others) == asked_of_the_kernel(population)
    assert answers == {True, False}


def test_a_test_for_cover_is_given_up_after_as_many_cuts_as_it_was_allowed() -> None:
    halves = [((0, 5),), ((5, 9),)]
    assert [is_covered(((0, 9),), halves, steps) for steps in (1, 2, 3, 0)] == [False, True, True, True]


@settings(max_examples=150)
@given(populations(st.integers(1, 6), 14, least=1))
def test_plain_selection_is_figure_3_to_the_letter(population: Population) -> None:
    own, *others = plain_boxes(population)
    found = select(own, population.numbers[0], others, population.numbers[1:])
    assert found == naive.figure_3(*arguments(population))


def test_it_loads_no_compiler() -> None:
    script = "import sys, sub2sub.rings.plain; print('numba' in sys.modules, 'llvmlite' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]
