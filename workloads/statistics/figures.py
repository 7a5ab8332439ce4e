"""Figures of the results of many runs, with intervals of means, and functions that all figures use.

Colours are those of Okabe and Ito, which colour-blind readers can distinguish; dashes differ as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from workloads.files.atomic import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
DASHES = ["-", "--", ":", "-.", "-", "--", ":"]
STYLE: dict[str, Any] = {
    "font.size": 11, "axes.titlesize": 12, "axes.grid": True, "grid.color": "#dddddd", "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "lines.linewidth": 1.7,
}  # fmt: skip


@contextmanager
def figure(path: Path, panels: int = 1) -> Iterator[Sequence[Axes]]:
    """Panels side by side to draw on, written to `path` at the end of the block."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    with plt.rc_context(STYLE):  # type: ignore[arg-type]
        size = (2.6 + 3.8 * panels, 3.6)
        figure, axes = plt.subplots(1, panels, figsize=size, layout="constrained", squeeze=False)
        try:
            yield axes[0]
            with atomic_write(path) as draft:
                figure.savefig(draft, dpi=150, format="png")
        finally:
            plt.close(figure)


def draw_lengths(axes: Axes, length: Any, events: Any, number: int, label: str = "") -> None:
    """Draw the share of events whose ring is at least so long, on logarithmic axes."""
    at_least = 1.0 - (np.cumsum(events) - events) / events.sum()
    shown = length > 0
    look: dict[str, Any] = {"color": COLOURS[number], "linestyle": DASHES[number], "label": label}
    axes.step(length[shown], 100 * at_least[shown], where="pre", **look)
    axes.set(yscale="log", ylabel="events with such a ring\nor a longer one (%)")
    axes.yaxis.set_major_formatter("{x:g}")
    _by_length(axes)


def _by_length(axes: Axes) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xlabel("ring length (matching subscribers)")
    axes.xaxis.set_major_formatter("{x:g}")


def draw_runs(tables: Mapping[str, pa.Table], out: Path) -> None:
    """Draw figures of the tables of `describe_runs` that have rows, into a folder."""
    for name, (draw, panels) in _FIGURES.items():
        if name in tables and tables[name].num_rows:
            with figure(out / f"{name}.png", panels) as axes:
                draw(axes, tables)


def _groups(table: pa.Table, axes: Axes) -> list[tuple[int, str, Any]]:
    """Number, name and rows (a pandas frame) of the groups, at most as many as there are colours."""
    frame = table.to_pandas()
    names = list(dict.fromkeys(frame["group"]))
    if len(names) > len(COLOURS):
        axes.set_title(f"the first {len(COLOURS)} of {len(names)} groups")
    return [
        (number, name, frame[frame["group"] == name]) for number, name in enumerate(names[: len(COLOURS)])
    ]


def _band(axes: Axes, x: str, rows: Any, number: int, label: str, scale: float = 1.0) -> None:
    """Draw the mean over runs, and its interval if there are several; no quantity here is below 0."""
    colour = COLOURS[number]
    runs = f" ({int(rows['runs'].max())} runs)" if len(rows) else ""
    look: dict[str, Any] = {"color": colour, "linestyle": DASHES[number], "label": label + runs}
    if len(rows) == 1:
        look["marker"] = "o"
    axes.plot(rows[x], scale * rows["mean"], **look)
    low, high = (scale * rows[end].astype(float) for end in ("low", "high"))
    axes.fill_between(rows[x], low.clip(lower=0), high, color=colour, alpha=0.2, linewidth=0)


def _per_cycle(name: str, metrics: Mapping[str, str]) -> Callable[[Sequence[Axes], Mapping[str, Any]], None]:
    """Shares in per cent by cycle, one panel per metric."""

    def draw(panels: Sequence[Axes], tables: Mapping[str, pa.Table]) -> None:
        for axes, (metric, title) in zip(panels, metrics.items(), strict=True):
            axes.set(xlabel="cycle", ylabel=f"{title} (%)", ylim=(-2, 101))
            axes.locator_params(axis="x", integer=True)
            for number, group, rows in _groups(tables[name], axes):
                _band(axes, "cycle", rows[rows["metric"] == metric], number, group, 100)
        panels[-1].legend(fontsize=9)

    return draw


def _draw_lengths(panels: Sequence[Axes], tables: Mapping[str, pa.Table]) -> None:
    for number, group, rows in _groups(tables["lengths"], panels[0]):
        draw_lengths(panels[0], rows["length"].to_numpy(), rows["events"].to_numpy(), number, group)
    panels[0].legend(fontsize=9)


def _draw_hops(panels: Sequence[Axes], tables: Mapping[str, pa.Table]) -> None:
    axes = panels[0]
    laws = tables["hops-law"].to_pylist() if "hops-law" in tables else []  # none if lengths do not vary
    for number, group, rows in _groups(tables["hops"], axes):
        _band(axes, "length", rows, number, group)
        law = {row["metric"]: row["mean"] for row in laws if row["group"] == group}
        if len(rows) > 1 and law.keys() >= {"slope", "intercept"}:
            x = np.array([rows["length"].min(), rows["length"].max()])
            label = f"{law['intercept']:.2f} + {law['slope']:.2f} log2(length)"
            axes.plot(x, law["intercept"] + law["slope"] * np.log2(x), color="#555555", lw=1, label=label)
    axes.set_ylabel("hops to reach all of them")
    _by_length(axes)
    axes.legend(fontsize=9)


def _draw_load(panels: Sequence[Axes], tables: Mapping[str, pa.Table]) -> None:
    for axes, metric in zip(panels, ("received", "sent"), strict=True):
        for number, group, rows in _groups(tables["load"], axes):
            shown = rows[rows["metric"] == metric].assign(percent=100 * rows["quantile"])
            _band(axes, "percent", shown, number, group)
        axes.set(xlabel="peers with this load or less (%)", ylabel=f"messages {metric}")
    panels[-1].legend(fontsize=9)


_FIGURES: dict[str, tuple[Callable[[Sequence[Axes], Mapping[str, Any]], None], int]] = {
    "completeness": (
        _per_cycle("completeness", {"links": "ring links in place", "complete": "complete rings"}), 2,
    ),
    "deliveries": (
        _per_cycle("deliveries", {"hit_ratio": "hit ratio", "complete": "complete deliveries"}), 2,
    ),
    "lengths": (_draw_lengths, 1),
    "hops": (_draw_hops, 1),
    "load": (_draw_load, 2),
}  # fmt: skip
