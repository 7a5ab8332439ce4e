"""Populations of boxes for property tests: few distinct coordinates, so that boxes touch, nest and repeat."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.sub2sub.geometry import naive

LARGEST = sys.float_info.max
GRID = [0.0, 1.0, 2.0, 3.0, 4.0]
# Everything that trips float arithmetic: signed zeros, subnormals, neighbours of 1, the ends of the doubles.
NASTY = [-LARGEST, -1e300, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 1e300, LARGEST]


@dataclass(frozen=True)
class Population:
    """Closed ranges and sequence IDs; `boxes` are the same as half-open boxes for the oracles."""

    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    ids: NDArray[np.uint64]

    @property
    def boxes(self) -> list[naive.Box]:
        return [naive.half_open(*ends) for ends in zip(self.lows.tolist(), self.highs.tolist(), strict=True)]

    @property
    def numbers(self) -> list[int]:
        return [int(number) for number in self.ids]


@st.composite
def ranges(draw: st.DrawFn, coordinates: list[float]) -> tuple[float, float]:
    """An exact value, a range or a wildcard over some coordinates."""
    if draw(st.integers(0, 5)) == 0:
        return -LARGEST, LARGEST
    first, second = draw(st.sampled_from(coordinates)), draw(st.sampled_from(coordinates))
    return min(first, second), max(first, second)


@st.composite
def populations(
    draw: st.DrawFn, dimensions: st.SearchStrategy[int], most: int, least: int = 0, nasty: bool = True
) -> Population:
    d = draw(dimensions)
    coordinates = NASTY if nasty and draw(st.booleans()) else GRID
    box = st.lists(ranges(coordinates), min_size=d, max_size=d)
    boxes = np.array(draw(st.lists(box, min_size=least, max_size=most)), float).reshape(-1, d, 2)
    near_the_ends = st.sampled_from([0, 1, 2, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1])
    ids = draw(
        st.lists(
            st.one_of(near_the_ends, st.integers(0, 2**64 - 1)),
            min_size=len(boxes),
            max_size=len(boxes),
            unique=True,
        )
    )
    return Population(boxes[:, :, 0].copy(), boxes[:, :, 1].copy(), np.array(ids, np.uint64))
