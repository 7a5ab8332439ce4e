"""Of many boxes, the one with the largest share of a piece is found, at any position."""

from __future__ import annotations

import numpy as np
import pytest

from sub2sub.compiled.ring_views.pieces import FEW, largest_share

PIECE = np.array([0, 100, *[0] * (FEW - 2)], np.int32)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ({}, -1),
        ({3: (5, 9)}, 3),
        ({3: (5, 9), 40: (20, 60), 41: (20, 59)}, 40),
        ({40: (20, 60), 7: (60, 100)}, 7),  # of equals the nearest
        ({70_000: (5, 9)}, 70_000),  # more than are told apart at once
        ({2: (200, 300), 65_535: (1, 2), 65_536: (5, 90)}, 65_535),
    ],
)
def test_the_largest_share_is_found(ends: dict[int, tuple[int, int]], expected: int) -> None:
    boxes = np.zeros((2, 70_016), np.int32)
    for place, (low, high) in ends.items():
        boxes[:, place] = low, high
    assert largest_share(boxes, 0, 70_001, PIECE, 1) == expected  # type: ignore[no-untyped-call]
