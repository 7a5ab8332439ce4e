"""Settings and results of many runs; each result is a mean over seeds with its 95 % interval.

Used for the folder of a sweep, and for run folders that differ in their settings or seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from sims.report.cells import Cell, plain_number, share_text
from sims.report.charts import figure_html
from sims.report.html import Page
from sims.report.sources import Source
from workloads.charts.chart import Chart, Series
from workloads.statistics.intervals import half_interval

MOST_RESULTS = 6  # most result columns of the table; the chart offers all


Means = dict[tuple[Any, ...], dict[str, tuple[float, float, float]]]
"""Mean, low and high of each result, by the values of the settings."""


@dataclass(frozen=True)
class Trial:
    """One run: the settings that vary, and its results."""

    settings: Mapping[str, Any]
    results: Mapping[str, float]


def swept(source: Source) -> list[Trial]:
    """Return the runs of a sweep that did not fail; none if the manifest has no grid."""
    grid = source.manifest.get("grid")
    table = source.table("results")
    if table is None or not isinstance(grid, Mapping):
        return []
    fixed = {"run", "seed", "seconds", "error", *grid, *source.manifest.get("settings", {})}
    return [
        Trial(
            {key: row.get(key) for key in grid},
            {key: value for key, value in row.items() if key not in fixed and _is_number(value)},
        )
        for row in table.to_pylist()
        if row.get("error") is None
    ]


def add_trials(page: Page, trials: Sequence[Trial], name: str) -> None:
    """Add a chart of each result over the setting with most values, and a table of all runs."""
    groups, keys = _grouped(trials), list(trials[0].settings)
    known = dict.fromkeys(result for trial in trials for result in trial.results)
    # Results that depend on the settings come first.
    results = sorted(known, key=lambda result: len({trial.results.get(result) for trial in trials}) < 2)
    means: Means = {
        settings: {
            name: _mean([own.results[name] for own in members if name in own.results]) for name in results
        }
        for settings, members in groups.items()
    }
    if found := _finding(means, keys, results):
        page.text(found)
    if charts := _charts(page, means, keys, results, name):
        titles = [result.replace("_", " ") for result in results]
        page.choices({"Result": titles}, charts)
    rows = [
        dict(zip(_short(keys), settings, strict=True))
        | {"runs": len(members)}
        | {name.replace("_", " "): mean_cell(*means[settings][name]) for name in results[:MOST_RESULTS]}
        for settings, members in groups.items()
    ]
    many = max(len(members) for members in groups.values())
    half = "half of the 95 % interval" if many > 2 else "half of their distance"
    over = f"Means over {many} runs ± {half}." if many > 1 else "One run each."
    page.table(rows, f"Settings and results. {over}", fit=True, name=f"{name}-results")


def _short(keys: Sequence[str]) -> list[str]:
    """Shorten dotted keys to their last word if that is unique, so that columns are narrower."""
    last = [key.rpartition(".")[2] for key in keys]
    return [key if last.count(word) > 1 else word for key, word in zip(keys, last, strict=True)]


def _finding(means: Means, keys: Sequence[str], results: Sequence[str]) -> str:
    """Name the settings that deliver most and, among these, those with the lowest cost."""
    if len(means) < 2 or "hit_ratio" not in results:
        return ""
    cost = next((name for name in ("messages_per_delivery", "messages_per_event") if name in results), None)
    hits = {settings: found["hit_ratio"][0] for settings, found in means.items()}
    most, least = max(hits.values()), min(hits.values())
    best = [settings for settings, hit in hits.items() if hit >= most - 1e-12]
    chosen = min(best, key=lambda settings: means[settings][cost][0] if cost else 0.0)
    words = ", ".join(
        f"{key} = {plain_number(value)}" for key, value in zip(_short(keys), chosen, strict=True)
    )
    text = f"An event reaches **{share_text(most)}** of its subscribers with {words}"
    if cost:
        text += f", at {plain_number(means[chosen][cost][0])} {cost.replace('_', ' ')}"
        text += ", the least of those that reach as many" if len(best) > 1 else ""
    return text + (f"; {share_text(least)} in the worst case." if least < most else ".")


def mean_cell(mean: float, low: float, high: float) -> Cell | None:
    """Return a mean with half of its interval as a table cell."""
    if not np.isfinite(mean):
        return None
    half = (high - low) / 2
    digits = f"{half:,.0f}" if half >= 100 else f"{half:.2g}"
    beside = Markup(' <span class="pm">± {}</span>').format(digits) if half > 0 else ""
    return Cell(Markup("{}{}").format(plain_number(mean), beside), float(mean))


def _grouped(trials: Sequence[Trial]) -> dict[tuple[Any, ...], list[Trial]]:
    """Group runs by their settings, in the order of the settings."""
    groups: dict[tuple[Any, ...], list[Trial]] = {}
    for trial in trials:
        key = tuple(tuple(v) if isinstance(v, list) else v for v in trial.settings.values())
        groups.setdefault(key, []).append(trial)
    return dict(sorted(groups.items(), key=lambda group: [_order(value) for value in group[0]]))


def _order(value: Any) -> tuple[bool, float, str]:
    """Sort key: numbers by size, then other values by their text."""
    return (not _is_number(value), float(value) if _is_number(value) else 0.0, str(value))


def _mean(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and the ends of Student's interval; of one or two values their least and greatest."""
    n = len(values)
    if not n:
        return (np.nan,) * 3
    mean = float(np.mean(values))
    if n <= 2:  # Student's interval of two values is 13 times as wide as their distance
        return mean, min(values), max(values)
    half = float(half_interval(np.array(np.std(values, ddof=1)), np.array(n)))
    return mean, mean - half, mean + half


def _charts(page: Page, means: Means, keys: list[str], results: list[str], name: str) -> list[Markup]:
    """Return one chart for each result; none if no setting is a number with several values."""
    axes = [
        (len({settings[k] for settings in means}), -k)
        for k in range(len(keys))
        if all(_is_number(settings[k]) for settings in means)
    ]
    if not axes or max(axes)[0] < 2:
        return []
    axis = -max(axes)[1]
    lines: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for settings in sorted(means, key=lambda settings: settings[axis]):
        lines.setdefault(settings[:axis] + settings[axis + 1 :], []).append(settings)
    others = keys[:axis] + keys[axis + 1 :]
    found = []
    for result in results:
        series = []
        for line, members in lines.items():
            cells = np.array([means[settings][result] for settings in members])
            named = [
                f"{key.rpartition('.')[2]} = {plain_number(v)}" for key, v in zip(others, line, strict=True)
            ]
            x = [settings[axis] for settings in members]
            series.append(Series(", ".join(named) or name, x, cells[:, 0], low=cells[:, 1], high=cells[:, 2]))
        title = result.replace("_", " ").capitalize()
        found.append(
            figure_html(page, Chart(title, keys[axis], result.replace("_", " "), series, height=320))
        )
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
