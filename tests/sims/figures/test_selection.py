"""The drawing of a ring selection shows every selected candidate where shapely finds it nearest."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from sims.figures.selection import draw_selection, visible_parts
from sims.figures.style import styled
from sub2sub import InputError, select_ring

RNG = np.random.default_rng(4)
CENTRE, HALF = RNG.random((30, 2)), RNG.random((30, 2)) * 0.2
LOWS, HIGHS = CENTRE - HALF, CENTRE + HALF
IDS = RNG.permutation(30) * 10
NODE = [0.2, 0.2], [0.8, 0.8], 155


def test_the_parts_of_the_selected_are_all_visible_and_fill_what_is_covered() -> None:
    found = select_ring(*NODE, LOWS, HIGHS, IDS)
    box, shapes = shapely.box(0.2, 0.2, 0.8, 0.8), shapely.box(*LOWS.T, *HIGHS.T)
    covered = shapely.union_all(shapes).intersection(box).area
    for side in (found.successors, found.predecessors):
        areas = [part.area for part in visible_parts(*NODE[:2], LOWS, HIGHS, side)]
        assert min(areas) > 0.0
        assert sum(areas) == pytest.approx(covered)


def test_a_drawing_numbers_the_selected_by_rank_on_either_side() -> None:
    found = select_ring(*NODE, LOWS, HIGHS, IDS)
    with styled():
        drawn = draw_selection(*NODE, LOWS, HIGHS, IDS, names=("price", "size"))
    for axes, side in zip(drawn.axes, (found.successors, found.predecessors), strict=True):
        assert [text.get_text() for text in axes.texts] == [str(rank + 1) for rank in range(len(side))]
        assert axes.get_xlabel() == "price"


def test_exact_values_and_wildcards_can_be_drawn() -> None:
    lows = [[0.5, -np.inf], [0.3, 0.4], [-np.inf, 0.8]]
    highs = [[0.5, np.inf], [0.3, 0.4], [np.inf, 0.9]]
    with styled():
        drawn = draw_selection(*NODE, lows, highs, [160, 170, 180])
    assert [len(axes.texts) for axes in drawn.axes] == [3, 3]


def test_only_the_plane_can_be_drawn() -> None:
    with pytest.raises(InputError, match=r"^low, high: expected two attributes with finite ranges"):
        draw_selection([0.0], [1.0], 1, [[0.0]], [[1.0]], [2])
