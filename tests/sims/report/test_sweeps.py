"""Settings against results: means over seeds with Student's interval, over the setting that varies most."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sims.report.html import Page
from sims.report.report import report
from sims.report.sweeps import Trial, add_trials
from sims.runs.folder import RunWriter
from tests.sims.report.tables import save_table

TRIALS = [
    Trial({"k": k, "mode": mode}, {"hits": 0.5 + 0.1 * k + 0.01 * seed, "hops": 3.0})
    for k in (0, 1, 2)
    for mode in ("a", "b")
    for seed in (0, 1, 2)
]


def _charts(html: str) -> list[dict[str, object]]:
    texts = re.findall(r'<figure class="chart">.*?<script type="application/json">(.*?)</script>', html, re.S)
    return [json.loads(text) for text in texts]


def test_each_result_is_a_mean_over_seeds_with_its_interval() -> None:
    page = Page("x")
    add_trials(page, TRIALS, "sweep")
    html = page.html()
    hits, hops = _charts(html)
    first = hits["series"][0]  # type: ignore[index]
    assert hits["x"] == "k"  # a number with three values, the mode has two and is none
    assert (first["label"], first["x"], first["y"]) == ("mode = a", [0, 1, 2], [0.51, 0.61, 0.71])
    assert first["high"][0] - first["low"][0] == pytest.approx(2 * 4.302653 * 0.01 / 3**0.5, rel=1e-4)
    assert hops["series"][0]["y"] == [3, 3, 3]  # type: ignore[index]
    assert re.search(r'data-value="0.51[0-9]*">0.51 <span class="pm">± 0.025</span>', html)


def test_of_two_seeds_both_values_are_shown() -> None:
    page = Page("x")
    add_trials(page, [trial for trial in TRIALS if trial.results["hits"] * 100 % 10 < 1.5], "sweep")
    first = _charts(page.html())[0]["series"][0]  # type: ignore[index]
    assert (first["low"][0], first["high"][0]) == (0.5, 0.51)
    assert "Means over 2 runs ± half of their distance." in page.html()


def test_the_folder_of_a_sweep_shows_its_grid_without_failed_runs(tmp_path: Path) -> None:
    manifest = {"format": 1, "kind": "sweep", "name": "s", "state": "done", "grid": {"k": [0, 1]},
                "settings": {"size": 9}}  # fmt: skip
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    rows = {"run": ["a", "b", "c"], "size": [9] * 3, "k": [0, 1, 1], "seed": [0, 0, 1],
            "hits": [0.5, 0.7, None], "seconds": [1.0] * 3, "error": [None, None, "broke"]}  # fmt: skip
    save_table(tmp_path, "results", rows)
    (chart,) = _charts(report([tmp_path]).html())
    assert chart["series"][0]["x"] == [0, 1]  # type: ignore[index]
    assert chart["series"][0]["y"] == [0.5, 0.7]  # type: ignore[index]


def test_a_sweep_begins_with_what_reaches_most_at_least_cost() -> None:
    trials = [
        Trial(
            {"events.k": k, "ring.cap": cap},
            {"hit_ratio": min(1.0, 0.9 + k / 10), "messages_per_delivery": 1.0 + k + cap},
        )
        for k in (0, 1, 2)
        for cap in (0, 4)
    ]
    page = Page("x")
    add_trials(page, trials, "sweep")
    html = page.html()
    assert "with k = 1, cap = 0, at 2 messages per delivery, the least of those that reach as many" in html
    assert "90 % in the worst case" in html


def test_many_runs_become_one_table_of_settings_and_results(tmp_path: Path) -> None:
    for k in (0, 2):
        for seed in (1, 2, 3):
            with RunWriter.create(tmp_path / f"{k}-{seed}", kind="run", name="r", seed=seed) as writer:
                writer.write_settings(f"seeds = [{seed}]\n[dissemination]\nshortcuts = {k}\n")
                writer.manifest["final"] = {"hit_ratio": 0.5 + k / 10 + seed / 100}
    html = report([tmp_path]).html()
    (chart,) = _charts(html)
    assert chart["x"] == "dissemination.shortcuts"
    assert chart["series"][0]["y"] == [0.52, 0.72]  # type: ignore[index]
    assert "Means over 3 runs" in html
