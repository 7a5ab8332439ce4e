"""A comparison's page: who is cheapest, a chart for each world and fault, a summary that fits the window."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from sims.compare.worlds import Rule
from sims.report.report import report
from tests.sims.report import browser
from tests.sims.report.tables import save_table

HITS = {
    "dear": {"k 1": 0.98, "k 2": 1.0}, "cheap": {"k 1": 0.995, "k 2": 1.0}, "poor": {"k 1": 0.5},
    "matching tree": {"k 1": 1.0}, "cheap, slow": {"k 1": 0.995}, "other": {"k 1": 0.995},
    "sub2sub": {"k 1": 0.995},
}  # fmt: skip
COSTS = {
    "dear": 9.0, "cheap": 3.0, "poor": 1.0, "matching tree": 0.5, "cheap, slow": 4.0, "other": 10.0,
    "sub2sub": 20.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few systems in two worlds, with and without loss."""
    rows = []
    for world in ("topics", "ranges uniform-2"):
        for system, knobs in HITS.items():
            cells = [("", "links.mean", 20.0), ("", "links.total", 2000.0), ("", "upkeep_messages.mean", 6.0)]
            for n, (knob, hit) in enumerate(knobs.items()):
                cells += [(knob, "choosing_hit_ratio", hit), (knob, "hit_ratio", hit),
                          (knob, "bytes_per_delivery", COSTS[system] * (n + 1)),
                          (knob, "messages_per_event", 10 * COSTS[system] * (n + 1))]  # fmt: skip
            for loss, crashed in ((0.0, 0.0), (0.05, 0.0), (0.0, 0.1)):
                rows += [(world, system, knob, loss, crashed, metric, mean, mean - 0.001, mean + 0.001, 3, "")
                         for knob, metric, mean in cells]  # fmt: skip
    names = ["world", "system", "knob", "loss", "crashed", "metric", "mean", "low", "high", "seeds", "note"]
    path = tmp_path_factory.mktemp("compare")
    save_table(path, "compare", dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    (path / "finding.txt").write_text("Where interests are topics, rings cost more.\n<b>Ranges</b>: less.\n")
    rule = Rule(good=0.9).text()
    (path / "experiment.toml").write_text(tomlkit.dumps({"title": "Costs", "compare": {"rule": rule}}))
    (path / "manifest.json").write_text('{"format": 1, "kind": "compare", "name": "c", "state": "done"}')
    return path


def test_the_page_shows_the_chart_and_then_what_the_command_found(folder: Path) -> None:
    page = report([folder])
    html = page.html()
    assert page.title == "Costs"
    found = html[html.index('<div class="finding">') :]
    assert "Where interests are topics, rings cost more." in found
    assert "&lt;b&gt;Ranges&lt;/b&gt;: less." in found
    assert html.index("figure class") < html.index('class="finding"') < html.index("<table")


def test_settings_are_chosen_by_the_rule_of_the_comparison(folder: Path) -> None:
    html = report([folder]).html()
    assert "the cheapest setting that delivers 90 % with 5 % loss" in html
    dear, *_ = re.findall(r"<tr>\s*<t[hd][^>]*>dear</t[hd]>.*?</tr>", html, re.DOTALL)
    assert "k 1" in dear  # by the usual rule it is k 2


def _charts(folder: Path) -> list[dict[str, Any]]:
    html = report([folder]).html()
    texts = re.findall(r'<script type="application/json">(\{"title":"Cost against.*?)</script>', html)
    return [json.loads(text) for text in texts]


def test_there_is_a_chart_for_each_world_and_fault(folder: Path) -> None:
    charts = _charts(folder)
    assert len(charts) == 6
    assert charts[1]["title"] == "Cost against reliability: Topics, 5 % of the messages lost"
    (dear,) = (series for series in charts[0]["series"] if series["label"] == "dear")
    assert (dear["label"], dear["x"], dear["y"], dear["names"]) == (
        "dear",
        [9, 18],
        [0.98, 1],
        ["k 1", "k 2"],
    )
    assert charts[0]["yScale"] == "nines"


def test_rings_and_the_three_cheapest_that_deliver_are_in_colour_and_a_bound_is_none_of_them(
    folder: Path,
) -> None:
    for chart in _charts(folder):
        tones = {series["label"]: series.get("tone") or series["look"] for series in chart["series"]}
        assert tones == {
            "sub2sub": 0, "cheap": 1, "dear": 2, "other": 3, "cheap, slow": "grey", "poor": "grey",
            "matching tree (a bound, no protocol)": "bound",
        }  # fmt: skip
        assert list(tones)[:4] == ["sub2sub", "cheap", "dear", "other"]


@pytest.mark.skipif(browser.missing(), reason=browser.REASON)
@pytest.mark.xdist_group("browser")
def test_one_choice_of_the_world_changes_chart_and_table(folder: Path, tmp_path: Path) -> None:
    file = report([folder]).write(tmp_path / "c.html")
    with browser.chromium() as started:
        tab = browser.Tab(started, file)
        chart, table = (tab.page.locator(f".choices {part}:visible").first for part in ("h4", "caption"))
        assert "Topics, 5 %" in chart.inner_text()
        figure = tab.page.locator(".choices > div:not([hidden]) figure").first
        poor = figure.locator(".entry", has_text="poor")
        stroke = "e => getComputedStyle(e.querySelector('.point')).fill"
        curve = figure.locator(f"[data-series='{poor.get_attribute('data-entry')}']")
        grey = curve.evaluate(stroke)
        poor.click()
        assert curve.evaluate(stroke) != grey
        assert curve.evaluate("e => e.matches(':last-child')")
        assert figure.locator("[data-series].faint").count() == len(HITS) - 1
        (bound,) = figure.locator("[data-series]:has(.bound)").all()
        assert bound.locator(".point").count() == 0
        assert tab.page.locator(".choices > div:not([hidden]) svg .series").count() >= 3
        tab.page.locator("select[name=World]").first.select_option(label="Ranges (uniform-2)")
        assert "Ranges (uniform-2), 5 %" in chart.inner_text()
        assert "Ranges (uniform-2)" in table.inner_text()
        for width in (1200, 390):
            tab.page.set_viewport_size({"width": width, "height": 800})
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
        tab.page.set_viewport_size({"width": 1200, "height": 800})
        frame = tab.page.locator(".table.fit:visible").first
        assert frame.evaluate("e => e.scrollWidth <= e.clientWidth")
        assert tab.complaints == []
