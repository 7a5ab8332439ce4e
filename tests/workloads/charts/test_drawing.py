"""Charts by matplotlib: what is drawn where, how wide intervals are, and where the legend goes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from workloads.charts.chart import Chart, Reference, Series, Sheet, columns, curves
from workloads.charts.drawing import COLOURS, drawn, save
from workloads.statistics.intervals import interval_of_mean


def test_a_mean_has_students_interval_that_ends_at_the_most_a_share_can_be() -> None:
    values = [0.8, 0.9, 1.0, 0.99, 1.0, 1.0]
    frame = pd.DataFrame({"x": [1, 1, 1, 2, 2, 2], "y": values})
    (series,) = curves(frame, "x", "y", label="delivery", across=100)
    assert np.asarray(series.x).tolist() == [100, 200]
    assert np.asarray(series.y) == pytest.approx([0.9, np.mean(values[3:])])
    ends = interval_of_mean(values[:3]), interval_of_mean(values[3:])
    assert list(zip(np.asarray(series.low), np.asarray(series.high), strict=True)) == list(ends)
    assert ends[0][1] == 1.0
    with drawn(Sheet([Chart("", "x", "y", [series])])) as figure:
        band = figure.axes[0].collections[0].get_paths()[0].get_extents()
    assert (band.ymin, band.ymax) == pytest.approx((ends[0][0], 1.0))


def test_seeds_span_from_the_least_to_the_greatest() -> None:
    frame = pd.DataFrame({"cycle": [0, 1, 0, 1], "rings": [0.1, 0.5, 0.3, 0.9], "links": 1.0})
    rings, links = columns(frame, "cycle", {"rings": "rings", "links": "links"}, over="seeds", times=100)
    assert np.asarray(rings.low).tolist() == [10, 50]
    assert np.asarray(rings.high).tolist() == [30, 90]
    assert (rings.look, links.look) == (0, 1)


def test_every_look_of_the_first_fourteen_is_its_own() -> None:
    series = [Series(str(k), [0, 1], [k, k]) for k in range(14)]
    with drawn(Sheet([Chart("", "", "", series)])) as figure:
        lines = figure.axes[0].lines
        looks = {(to_hex(line.get_color()), line.get_marker(), line.get_linestyle()) for line in lines}
    assert len(looks) == 14
    assert {look[0].upper() for look in looks} == set(COLOURS)


def test_bars_stand_side_by_side_and_say_their_values() -> None:
    bars = [Series("one", [0, 1], [1.0, 2.0], "bars"), Series("two", [0, 1], [3.0, float("nan")], "bars")]
    with drawn(Sheet([Chart("", "", "", bars, ticks={0: "a", 1: "b"}, values=True)])) as figure:
        axes = figure.axes[0]
        left = sorted(patch.get_x() for patch in axes.patches)
        assert np.diff(left) == pytest.approx([0.42, 0.58, 0.42])
        assert [text.get_text() for text in axes.texts] == ["1", "2", "3", "not run"]
        assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]


def test_one_legend_stands_above_charts_with_the_same_curves_and_one_below_each_of_others() -> None:
    one, two = ([Series(name, [0, 1], [0, 1])] for name in ("one", "two"))
    with drawn(Sheet([Chart("", "", "y", one), Chart("", "", "y", one)], note="both")) as figure:
        assert len(figure.legends) == 1
        assert all(axes.get_legend() is None for axes in figure.axes)
        assert figure.axes[1].get_ylabel() == ""
    with drawn(Sheet([Chart("", "", "y", one), Chart("", "", "z", two)])) as figure:
        assert not figure.legends
        assert [axes.get_legend().get_texts()[0].get_text() for axes in figure.axes] == ["one", "two"]


def test_a_reference_is_a_line_with_its_words_and_a_figure_is_a_picture(tmp_path: Path) -> None:
    stated = [Reference("paper: 40", x=40), Reference("all", y=100), Reference("most", x=1, to=2)]
    sheet = Sheet([Chart("", "x", "y", [Series("", [0, 50], [0, 100])], references=stated, linear=1.0)])
    with drawn(sheet, "3 seeds") as figure:
        assert {text.get_text().strip() for text in figure.axes[0].texts} == {"paper: 40", "all", "most"}
        assert figure.axes[0].get_yscale() == "symlog"
        assert not figure.legends
    save(sheet, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes()[:4] == b"\x89PNG"


def test_shares_in_nines_are_equally_far_apart() -> None:
    series = [Series("hits", [1, 2, 3], [0.9, 0.99, 0.999])]
    with drawn(Sheet([Chart("", "", "", series, nines=True)])) as figure:
        axes = figure.axes[0]
        places = axes.transData.transform([[1, 0.9], [1, 0.99], [1, 0.999]])[:, 1]
    assert np.diff(places)[0] == pytest.approx(np.diff(places)[1])
