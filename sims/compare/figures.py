"""The figures of a comparison: frontiers, costs, faults, the family between, and what a budget buys.

Every system has one colour, marker and dash in all figures; related systems share a colour.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sims.compare.summary import value, working_point
from sims.compare.worlds import FAULTS, FRONTIER
from sims.figures.style import COLOURS, figure, frontier, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, RED, GREEN, PINK, ORANGE, SKY, BLACK = COLOURS
LOOKS: dict[str, tuple[str, str, str]] = {
    "sub2sub": (BLUE, "o", "-"),
    "sub2sub as published": (BLUE, "v", "--"),
    "camcast on rings": (RED, "v", "--"),
    "camcast": (RED, "s", "-"),
    "multicast": (GREEN, "D", "-"),
    "enclosing topic": (ORANGE, "s", "-"),
    "exact cover": (PINK, "^", "-"),
    "broadcast": (BLACK, "o", "-"),
    "hierarchical": (BLACK, "P", "--"),
    "rfpbcast": (BLACK, "x", ":"),
    "pmcast": (SKY, "D", "--"),
    "hpmcast": (SKY, "P", "-"),
    "hpmcast as printed": (SKY, "X", ":"),
    "hpmcast, piggybacked": (SKY, "v", "-"),
    "plumtree": (GREEN, "o", "-"),
    "plumtree, view 4": (GREEN, "v", ":"),
    "plumtree, view 3": (GREEN, "^", ":"),
    "gossipsub": (GREEN, "s", "--"),
    "gossipsub, D 8": (GREEN, "D", "--"),
    "gossipsub, D 4": (GREEN, "x", "--"),
    "gossipsub, D 3": (GREEN, "+", "--"),
    "poldercast": (PINK, "o", "-"),
    "poldercast, views 10": (PINK, "v", ":"),
    "scribe": (PINK, "s", "--"),
    "meghdoot": (ORANGE, "D", "--"),
    "broker": (BLACK, "*", "-"),
    "matching tree": (BLACK, "+", ":"),
}
FLOOR = 1e-4  # a smaller share of missed deliveries is not told apart from none
COSTS = {
    "messages per delivery": ("messages_per_delivery", False),
    "spam per delivery": ("spam_per_delivery", False),
    "hops to the last match": ("hops_to_last_match", False),
    "milliseconds\nto the last match": ("last_ms_median", False),
    "links per peer": ("links.mean", True),
    "upkeep messages\nper peer and cycle": ("upkeep_messages.mean", True),
    "upkeep bytes\nper peer and cycle": ("upkeep_bytes.mean", True),
}
RATES = np.logspace(-2, 3, 26)


def figures(table: pd.DataFrame) -> Iterator[tuple[str, str, Figure]]:
    """All figures with their names and captions; drawn one after the other."""
    worlds = [str(w) for w in dict.fromkeys(table.world)]
    with styled():
        for world in worlds:
            if world.startswith("between"):
                continue
            slug = world.replace(" ", "-").replace("/", "-")
            yield (
                f"frontier-{slug}",
                f"{world}: reliability against cost. Each point is one setting (fan-out, shortcuts); lines "
                "join those that no cheaper one beats. Lower left is better; what misses fewer than 1 in "
                "10,000 stands at the bottom. Without faults, with 5 % of the messages lost, with 30 % "
                "crashed and nothing repaired. Settings dearer than two that deliver 99 % are left out.",
                _frontier(table, world),
            )
            yield (
                f"costs-{slug}",
                f"{world}: costs without faults at the working points. A system in brackets does not deliver "
                "99 % with 5 % of the messages lost: its costs are those of the setting that delivers most.",
                _costs(table, world),
            )
            yield (
                f"faults-{slug}",
                f"{world}: hit ratio at the working points, under loss and right after crashes.",
                _faults(table, world),
            )
            yield (
                f"budget-{slug}",
                f"{world}: all messages, upkeep and events, per peer and cycle, against how often events are "
                "published.",
                _budget(table, world),
            )
        family = sorted((float(w.split(" ")[1]), w) for w in worlds if w.startswith("between"))
        if len(family) > 1:
            yield (
                "family",
                "From pure topics (t = 0) to free ranges (t = 1): costs at the working points, no faults.",
                _family(table, family),
            )


def _systems(table: pd.DataFrame, world: str) -> list[str]:
    return [str(s) for s in table[table.world == world].system.unique()]


def _look(system: str) -> dict[str, Any]:
    colour, marker, dash = LOOKS.get(system, (BLACK, ".", "-"))
    return {"color": colour, "marker": marker, "linestyle": dash, "label": system}


def _legend(fig: Figure, axes: Axes, columns: int = 5) -> None:
    handles, labels = axes.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=9)


def _frontier(table: pd.DataFrame, world: str) -> Figure:
    fig, axes = figure(1, len(FRONTIER), sharey=True, figsize=(11, 4.6))
    here = table[table.world == world]
    for ax, fault in zip(axes, FRONTIER, strict=True):
        now = here[(here.loss == fault.loss) & (here.crashed == fault.crashed)]
        for system in _systems(table, world):
            own = now[now.system == system]
            hit = own[own.metric == "hit_ratio"].set_index("knob")["mean"]
            cost = own[own.metric == "messages_per_delivery"].set_index("knob")["mean"]
            if hit.empty:
                continue
            frontier(ax, cost[hit.index], (1 - hit).clip(lower=FLOOR), **_look(system))
        ax.set(xscale="log", yscale="log", xlabel="messages per delivery", title=str(fault))
    axes[0].set_ylabel("missed deliveries (share)")
    axes[0].set_ylim(FLOOR / 1.5, 1.3)
    _legend(fig, axes[0])
    return fig


def _point(
    table: pd.DataFrame, world: str, system: str, metric: str, built: bool
) -> tuple[float, float, float]:
    point = working_point(table, world, system)
    cell = value(table, world, system, metric, point.knob if point and not built else "")
    return (np.nan,) * 3 if cell is None else (cell["mean"], cell.low, cell.high)


def _known_costs(table: pd.DataFrame) -> dict[str, tuple[str, bool]]:
    """The costs that a comparison has measured; milliseconds only with a network."""
    measured = set(table.metric[table["mean"].notna()])
    return {label: cost for label, cost in COSTS.items() if cost[0] in measured}


def _hide_others(axes: Any, shown: int) -> None:
    """Hide the axes beyond the first ones."""
    for ax in axes.flat[shown:]:
        ax.set_axis_off()


def _costs(table: pd.DataFrame, world: str) -> Figure:
    systems = _systems(table, world)[::-1]
    costs = _known_costs(table)
    fig, axes = figure(2, -(-len(costs) // 2), sharey=True, figsize=(11, 1.6 + 0.5 * len(systems)))
    _hide_others(axes, len(costs))
    for ax, (label, (metric, built)) in zip(axes.flat, costs.items(), strict=False):
        points = np.array([_point(table, world, system, metric, built) for system in systems])
        mean = points[:, 0]
        known = np.isfinite(mean)
        least = mean[known & (mean > 0)].min() / 3 if (known & (mean > 0)).any() else 0.1
        for place, system in enumerate(systems):
            if not known[place]:
                _beside(ax, least, place, "not run")
            elif mean[place] <= 0:
                _beside(ax, least, place, "0")
            else:
                reach = np.nan_to_num(np.abs(points[place, 1:] - mean[place]))[:, None]
                ax.barh(place, mean[place] - least, left=least, color=_look(system)["color"], height=0.62)
                ax.errorbar(mean[place], place, xerr=reach, color="#333333", capsize=2, lw=1)
                _beside(ax, max(mean[place], np.nan_to_num(points[place, 2])), place, _brief(mean[place]))
        ax.set(xscale="log", xlabel=label)
        ax.set_xlim(left=least, right=np.nanmax(np.append(mean, 1.0)) * 12)
        ax.set_yticks(range(len(systems)), [_marked(table, world, system) for system in systems])
        ax.grid(axis="y", visible=False)
    return fig


def _marked(table: pd.DataFrame, world: str, system: str) -> str:
    point = working_point(table, world, system)
    return system if point is None or point.reached else f"({system})"


def _beside(ax: Axes, x: float, y: float, text: str) -> None:
    ax.annotate(text, (x, y), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8)


def _brief(x: float) -> str:
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def _faults(table: pd.DataFrame, world: str) -> Figure:
    fig, axes = figure(1, 2, figsize=(9.5, 4.4))
    kinds = {"messages lost (%)": "loss", "peers crashed (%)": "crashed"}
    for ax, (label, field) in zip(axes, kinds.items(), strict=True):
        other = "crashed" if field == "loss" else "loss"
        faults = [fault for fault in FAULTS if getattr(fault, other) == 0]
        for system in _systems(table, world):
            point = working_point(table, world, system)
            cells = [
                value(table, world, system, "hit_ratio", point.knob, fault.loss, fault.crashed)
                if point
                else None
                for fault in faults
            ]
            y = np.array([[np.nan] * 3 if c is None else [c["mean"], c.low, c.high] for c in cells])
            x = [100 * getattr(fault, field) for fault in faults]
            ax.plot(x, y[:, 0], **_look(system))
            ax.fill_between(
                x, y[:, 1], np.minimum(y[:, 2], 1), color=_look(system)["color"], alpha=0.12, lw=0
            )
        ax.set(xlabel=label)
    axes[0].set(ylabel="hit ratio", ylim=(None, 1.005))
    axes[1].set(ylim=(0, 1.03))
    _legend(fig, axes[0])
    return fig


def _budget(table: pd.DataFrame, world: str) -> Figure:
    fig, ax = figure(figsize=(8, 4.8))
    size = _population(table, world)
    for system in _systems(table, world):
        upkeep = _point(table, world, system, "upkeep_messages.mean", True)[0]
        event = _point(table, world, system, "messages_per_event", False)[0]
        if np.isfinite(upkeep) and np.isfinite(event):
            ax.plot(RATES, upkeep + RATES * event / size, markevery=5, **_look(system))
    ax.set(
        xscale="log", yscale="log", xlabel="events per cycle, in the whole system",
        ylabel="messages per peer and cycle",
    )  # fmt: skip
    _legend(fig, ax, 4)
    return fig


def _population(table: pd.DataFrame, world: str) -> float:
    """Subscribers, from two metrics of any system."""
    here = table[(table.world == world) & (table.knob == "")].groupby("metric", observed=True)["mean"].first()
    return float(here["links.total"] / here["links.mean"])


def _family(table: pd.DataFrame, family: list[tuple[float, str]]) -> Figure:
    costs = _known_costs(table)
    fig, axes = figure(2, -(-len(costs) // 2), sharex=True, figsize=(11, 6))
    _hide_others(axes, len(costs))
    for ax, (label, (metric, built)) in zip(axes.flat, costs.items(), strict=False):
        for system in _systems(table, family[0][1]):
            y = np.array([_point(table, world, system, metric, built) for _, world in family])
            x = [t for t, _ in family]
            ax.plot(x, y[:, 0], **_look(system))
            ax.fill_between(x, y[:, 1], y[:, 2], color=_look(system)["color"], alpha=0.15, lw=0)
        ax.set(ylabel=label, ylim=(0, None))
    for ax in axes[1]:
        ax.set_xlabel("share of free ranges, t")
    _legend(fig, axes[0, 0])
    return fig
