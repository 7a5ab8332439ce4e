"""Charts of the statistics of many runs, with intervals of means, and of a workload."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from workloads.charts.chart import Chart, Series, Sheet
from workloads.charts.drawing import save

_LENGTH = "ring length (matching subscribers)"
_LONGER = "events with such a ring or a longer one (%)"
_PANELS = 4  # charts beside each other
_BARS = 24  # values that have a bar each
_LETTERS = 16  # of a tick's text
_TICKS = 3  # on an axis whose values are no numbers, such as dates
_PATHS = 12  # topics that are shown with their path


def draw_runs(tables: Mapping[str, pa.Table], out: Path) -> None:
    """Draw the tables of `describe_runs` that have rows, into a folder."""
    _draw(tables, out, _RUNS)


def draw_workload(tables: Mapping[str, pa.Table], out: Path) -> None:
    """Draw a workload's tables that have rows, into a folder."""
    _draw(tables, out, _WORKLOAD)


def _draw(
    tables: Mapping[str, pa.Table], out: Path, charts: Mapping[str, Callable[[Any], list[Chart]]]
) -> None:
    frames = {name: table.to_pandas() for name, table in tables.items() if table.num_rows}
    for name, charts_of in charts.items():
        if name in frames:
            found = charts_of(frames)
            file = "overlaps-and-links" if name == "peers" else name
            save(Sheet(found, min(_PANELS, len(found))), out / f"{file}.png")


def _means(frame: pd.DataFrame, x: str, metric: str, times: float = 1.0) -> Iterator[Series]:
    """The mean over runs for each group, and its interval; no quantity here is below 0."""
    for group, rows in frame[frame["metric"] == metric].groupby("group", sort=False):
        low, high = (times * rows[end].astype(float) for end in ("low", "high"))
        label = f"{group} ({int(rows['runs'].max())} runs)"
        yield Series(label, rows[x], times * rows["mean"], low=low.clip(lower=0), high=high)


def _per_cycle(name: str, titles: Mapping[str, str]) -> Callable[[Mapping[str, pd.DataFrame]], list[Chart]]:
    """Shares in per cent by cycle, a chart for each metric."""

    def charts(tables: Mapping[str, pd.DataFrame]) -> list[Chart]:
        return [
            Chart(
                "",
                "cycle",
                f"{title} (%)",
                list(_means(tables[name], "cycle", metric, 100)),
                bottom=-2,
                top=101,
            )
            for metric, title in titles.items()
        ]

    return charts


def _at_least(rows: pd.DataFrame, label: str = "") -> Series:
    """The share of events whose ring is at least so long."""
    rows = rows[rows["length"] > 0]
    before = rows["events"].cumsum() - rows["events"]
    return Series(label, rows["length"], 100 * (1 - before / rows["events"].sum()), style="plain")


def _lengths(tables: Mapping[str, pd.DataFrame]) -> list[Chart]:
    groups = tables["lengths"].groupby("group", sort=False)
    series = [_at_least(rows, str(group)) for group, rows in groups]
    return [Chart("", _LENGTH, _LONGER, series, log_x=True, log_y=True)]


def _hops(tables: Mapping[str, pd.DataFrame]) -> list[Chart]:
    series = list(_means(tables["hops"], "length", "hops"))
    laws = tables.get("hops-law")  # none if lengths do not vary
    for group, rows in tables["hops"].groupby("group", sort=False):
        own = None if laws is None else laws[laws["group"] == group].set_index("metric")["mean"]
        if own is not None and len(rows) > 1 and {"slope", "intercept"} <= set(own.index):
            x = np.array([rows["length"].min(), rows["length"].max()])
            label = f"{own['intercept']:.2f} + {own['slope']:.2f} log2(length)"
            series.append(Series(label, x, own["intercept"] + own["slope"] * np.log2(x), style="black"))
    return [Chart("", _LENGTH, "hops to reach all of them", series, log_x=True)]


def _load(tables: Mapping[str, pd.DataFrame]) -> list[Chart]:
    frame = tables["load"].assign(percent=100 * tables["load"]["quantile"])
    x = "peers with this load or less (%)"
    return [
        Chart("", x, f"messages {metric}", list(_means(frame, "percent", metric)))
        for metric in ("received", "sent")
    ]


def _at_most(values: Any, weights: Any, label: str = "") -> Series:
    """The share of the rows with a value of at most x, in per cent."""
    values, weights = np.asarray(values, float), np.asarray(weights, float)
    order = np.argsort(values)
    share = 100 * np.cumsum(weights[order]) / weights.sum()
    return Series(label, np.append(values[order][:1], values[order]), np.append(0.0, share), "steps")


def _ring_lengths(tables: Mapping[str, pd.DataFrame]) -> list[Chart]:
    table = tables["ring-lengths"]
    ends = f"{table.length.min():,} to {table.length.max():,}"
    title = f"{table.events.sum():,} events: rings of {ends} subscribers"
    return [Chart(title, _LENGTH, _LONGER, [_at_least(table)], log_x=True, log_y=True)]


def _widths(tables: Mapping[str, pd.DataFrame]) -> list[Chart]:
    series = []
    for name, rows in tables["widths"].groupby("attribute", sort=False):
        widest = rows.loc[rows["width"].idxmax()]
        share = 100 * rows["width"] / max(float(widest["width"]), 1e-300)
        series.append(_at_most(share, rows["share"], f"{name} (100 % is {widest['text']})"))
    y = "subscriptions with this width or a smaller one (%)"
    return [Chart("", "width of the range, of the widest (%)", y, series)]


def _density(tables: Mapping[str, pd.DataFrame]) -> list[Chart]:
    """A chart for each attribute, with its values."""
    title = "subscriptions whose range holds the value (%)"
    return [
        _values(str(name), title, rows) for name, rows in tables["density"].groupby("attribute", sort=False)
    ]


def _values(name: str, title: str, rows: pd.DataFrame) -> Chart:
    """The share of subscriptions by the values of an attribute."""
    x, share, text = rows["value"].to_numpy(), 100 * rows["share"].to_numpy(), rows["text"].tolist()
    if len(x) <= _BARS:
        bars = Series("", np.arange(len(x)), share, "bars")
        return Chart("", name, title, [bars], ticks=dict(enumerate(map(_short, text))))
    ticks = None
    if not all(map(_is_number, text)):  # numbers have ticks of their own
        some = [round(k * (len(x) - 1) / (_TICKS - 1)) for k in range(_TICKS)]
        ticks = {x[k]: _short(text[k]) for k in some}
    return Chart("", name, title, [Series("", x, share, style="plain")], ticks=ticks)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _short(text: str) -> str:
    """The text of a tick: midnight is left out of moments, long names are cut off."""
    text = text.removesuffix("T00:00:00")
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"


def _peers(tables: Mapping[str, pd.DataFrame]) -> list[Chart]:
    table = tables["peers"]
    titles = {"overlaps": "subscribers that a peer overlaps", "links": "ring links that a peer needs"}
    y = f"of {len(table)} sampled peers (%)"
    return [Chart("", x, y, [_at_most(table[name], np.ones(len(table)))]) for name, x in titles.items()]


def _ring_loads(tables: Mapping[str, pd.DataFrame]) -> list[Chart]:
    table = tables["ring-loads"]
    series = [_at_most(table["rings"], table["subscribers"])]
    return [Chart("", "rings that a subscriber is on", "subscribers on so many or fewer (%)", series)]


def _regions(tables: Mapping[str, pd.DataFrame]) -> list[Chart]:
    members, regions = np.unique(tables["regions"]["members"], return_counts=True)
    title = f"{len(tables['regions']):,} minimal regions"
    series = [_at_most(members, regions)]
    return [Chart(title, "members of a region", "regions with so many or fewer (%)", series)]


def _topics(tables: Mapping[str, pd.DataFrame]) -> list[Chart]:
    """Shares by depth, and by path for the topics with the most subscribers."""
    kinds = ["subscribers", "events"]
    frame = tables["topics"]
    shares = frame.assign(**{kind: 100 * frame[kind] / max(frame[kind].sum(), 1) for kind in kinds})
    depths = shares.groupby("depth")[kinds].sum()
    paths = shares.nlargest(_PATHS, "subscribers").iloc[::-1]
    places = np.arange(len(paths))
    return [
        Chart(
            "", "depth of the topic (0: the root)", "share (%)",
            [Series(kind, depths.index, depths[kind], "bars") for kind in kinds],
            ticks={depth: str(depth) for depth in depths.index},
        ),
        Chart(
            "", f"share of the {len(paths)} topics with most subscribers (%)", "",
            [Series(kind, places, paths[kind], "bars") for kind in kinds], across=True,
            ticks=dict(enumerate(map(_short, paths["path"]))),
        ),
    ]  # fmt: skip


_RUNS: dict[str, Callable[[Mapping[str, pd.DataFrame]], list[Chart]]] = {
    "completeness": _per_cycle(
        "completeness", {"links": "ring links in place", "complete": "complete rings"}
    ),
    "deliveries": _per_cycle("deliveries", {"hit_ratio": "hit ratio", "complete": "complete deliveries"}),
    "lengths": _lengths,
    "hops": _hops,
    "load": _load,
}
_WORKLOAD: dict[str, Callable[[Mapping[str, pd.DataFrame]], list[Chart]]] = {
    "ring-lengths": _ring_lengths,
    "widths": _widths,
    "density": _density,
    "peers": _peers,
    "ring-loads": _ring_loads,
    "regions": _regions,
    "topics": _topics,
}
