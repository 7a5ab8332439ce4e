"""Curves of means, and frontiers: where they are drawn, and how wide their intervals are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sims.figures.style import figure, frontier, mean_line, styled


def test_a_mean_has_an_interval_of_two_standard_errors_that_ends_at_the_most_there_can_be() -> None:
    values = [0.8, 0.9, 1.0, 0.99, 1.0, 1.0]
    by = pd.DataFrame({"x": [1, 1, 1, 2, 2, 2], "y": values}).groupby("x").y
    with styled():
        _, axes = figure()
        mean_line(axes, 0, by, "delivery", times=100, most=1.0)
    assert axes.lines[0].get_xdata().tolist() == [100, 200]
    assert axes.lines[0].get_ydata() == pytest.approx([0.9, np.mean(values[3:])])
    band = axes.collections[0].get_paths()[0].get_extents()
    half = 1.96 * np.std(values[:3], ddof=1) / np.sqrt(3)
    assert (band.ymin, band.ymax) == pytest.approx((0.9 - half, 1.0))


def test_a_frontier_joins_the_settings_that_no_cheaper_one_beats() -> None:
    with styled():
        _, axes = figure()
        frontier(axes, pd.Series([3.0, 1.0, 2.0, 4.0]), pd.Series([0.2, 0.5, 0.6, 0.1]), linestyle="-")
    best, others = axes.lines
    assert best.get_xydata().tolist() == [[1.0, 0.5], [3.0, 0.2], [4.0, 0.1]]
    assert others.get_xydata().tolist() == [[2.0, 0.6]]
