"""The figures of a comparison: frontiers, costs, faults, the family between, and what a budget buys.

Every system has one colour, marker and dash in all figures; related systems share a colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sims.compare.summary import cost, ends, family_in, is_between, systems_in, value, working_point
from sims.compare.worlds import FAULTS, FRONTIER
from sims.figures.style import COLOURS, figure, frontier, styled
from sims.rivals.base.catalogue import entrant, is_known
from sims.rivals.base.entrants import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED = dict(zip(("blue", "red", "green", "pink", "orange", "sky", "black"), COLOURS, strict=True))
FLOOR = 1e-4  # smaller shares of missed deliveries are drawn here
COSTS = {
    "bytes per delivery": "bytes_per_delivery",
    "copies per delivery": "copies_per_delivery",
    "spam per delivery": "spam_per_delivery",
    "hops to the last match": "hops_to_last_match",
    "milliseconds\nto the last match": "last_ms_median",
    "links per peer": "links.mean",
    "upkeep messages\nper peer and cycle": "upkeep_messages.mean",
    "upkeep bytes\nper peer and cycle": "upkeep_bytes.mean",
}
RATES = np.logspace(-2, 3, 26)


def figures(table: pd.DataFrame) -> Iterator[tuple[str, str, Figure]]:
    """All figures with their names and captions; drawn one after the other."""
    worlds = [str(w) for w in dict.fromkeys(table.world)]
    with styled():
        for world in (world for world in worlds if not is_between(world)):
            slug = world.replace(" ", "-").replace("/", "-")
            for kind, (draw, caption) in KINDS.items():
                yield f"{kind}-{slug}", f"{world}: {caption}", draw(table, world)
        if len(family_in(table)) > 1:
            caption = "From pure topics (t = 0) to free ranges (t = 1): costs at the working points."
            yield "family", caption, _family(table)


def _look(system: str) -> dict[str, Any]:
    colour, marker, dash = entrant(system).look if is_known(system) else Look()
    return {"color": NAMED[colour], "marker": marker, "linestyle": dash, "label": system}


def _legend(fig: Figure, axes: Axes, columns: int = 5) -> None:
    handles, labels = axes.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=9)


def _frontier(table: pd.DataFrame, world: str) -> Figure:
    fig, axes = figure(1, len(FRONTIER), sharey=True, figsize=(11, 4.6))
    here = table[table.world == world]
    for ax, fault in zip(axes, FRONTIER, strict=True):
        now = here[(here.loss == fault.loss) & (here.crashed == fault.crashed)]
        for system in systems_in(table, world):
            own = now[now.system == system]
            hit = own[own.metric == "hit_ratio"].set_index("knob")["mean"]
            cost = own[own.metric == "bytes_per_delivery"].set_index("knob")["mean"]
            if hit.empty:
                continue
            frontier(ax, cost[hit.index], (1 - hit).clip(lower=FLOOR), **_look(system))
        ax.set(xscale="log", yscale="log", xlabel="bytes per delivery", title=str(fault))
    axes[0].set_ylabel("missed deliveries (share)")
    axes[0].set_ylim(FLOOR / 1.5, 1.3)
    _legend(fig, axes[0])
    return fig


def _cost_panels(table: pd.DataFrame, **options: Any) -> tuple[Figure, Any, dict[str, str]]:
    """A panel for each cost that was measured (milliseconds only with a network); the costs by label."""
    measured = set(table.metric[table["mean"].notna()])
    costs = {label: metric for label, metric in COSTS.items() if metric in measured}
    fig, axes = figure(2, -(-len(costs) // 2), **options)
    for ax in axes.flat[len(costs) :]:
        ax.set_axis_off()
    return fig, axes, costs


def _costs(table: pd.DataFrame, world: str) -> Figure:
    systems = systems_in(table, world)[::-1]
    found = [(system, working_point(table, world, system)) for system in systems]
    labels = [system if point is None or point.reached else f"({system})" for system, point in found]
    fig, axes, costs = _cost_panels(table, sharey=True, figsize=(11, 1.6 + 0.5 * len(systems)))
    for ax, (label, metric) in zip(axes.flat, costs.items(), strict=False):
        points = np.array([ends(cost(table, world, system, metric)) for system in systems])
        mean = points[:, 0]
        known = np.isfinite(mean)
        least = mean[known & (mean > 0)].min() / 3 if (known & (mean > 0)).any() else 0.1
        for place, system in enumerate(systems):
            if not known[place]:
                _beside(ax, least, place, "not run")
            elif mean[place] <= 0:
                _beside(ax, least, place, "0")
            else:
                text = f"{mean[place]:,.0f}" if mean[place] >= 100 else f"{mean[place]:.3g}"
                reach = np.nan_to_num(np.abs(points[place, 1:] - mean[place]))[:, None]
                ax.barh(place, mean[place] - least, left=least, color=_look(system)["color"], height=0.62)
                ax.errorbar(mean[place], place, xerr=reach, color="#333333", capsize=2, lw=1)
                _beside(ax, max(mean[place], np.nan_to_num(points[place, 2])), place, text)
        ax.set(xscale="log", xlabel=label)
        ax.set_xlim(left=least, right=np.nanmax(np.append(mean, 1.0)) * 12)
        ax.set_yticks(range(len(systems)), labels)
        ax.grid(axis="y", visible=False)
    return fig


def _beside(ax: Axes, x: float, y: float, text: str) -> None:
    ax.annotate(text, (x, y), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8)


def _faults(table: pd.DataFrame, world: str) -> Figure:
    fig, axes = figure(1, 2, figsize=(9.5, 4.4))
    kinds = {"messages lost (%)": "loss", "peers crashed (%)": "crashed"}
    for ax, (label, field) in zip(axes, kinds.items(), strict=True):
        other = "crashed" if field == "loss" else "loss"
        faults = [fault for fault in FAULTS if getattr(fault, other) == 0]
        for system in systems_in(table, world):
            point = working_point(table, world, system)
            knob = point.knob if point else "none"
            y = np.array([ends(value(table, world, system, "hit_ratio", knob, *fault)) for fault in faults])
            x = [100 * getattr(fault, field) for fault in faults]
            ax.plot(x, y[:, 0], **_look(system))
            look = {"color": _look(system)["color"], "alpha": 0.12, "lw": 0}
            ax.fill_between(x, y[:, 1], np.minimum(y[:, 2], 1), **look)
        ax.set(xlabel=label)
    axes[0].set(ylabel="hit ratio", ylim=(None, 1.005))
    axes[1].set(ylim=(0, 1.03))
    _legend(fig, axes[0])
    return fig


def _budget(table: pd.DataFrame, world: str) -> Figure:
    fig, ax = figure(figsize=(8, 4.8))
    here = table[(table.world == world) & (table.knob == "")].groupby("metric", observed=True)["mean"].first()
    size = float(here["links.total"] / here["links.mean"])  # subscribers
    for system in systems_in(table, world):
        upkeep, event = (
            ends(cost(table, world, system, metric))[0]
            for metric in ("upkeep_messages.mean", "messages_per_event")
        )
        if np.isfinite(upkeep) and np.isfinite(event):
            ax.plot(RATES, upkeep + RATES * event / size, markevery=5, **_look(system))
    ax.set(
        xscale="log", yscale="log", xlabel="events per cycle, in the whole system",
        ylabel="messages per peer and cycle",
    )  # fmt: skip
    _legend(fig, ax, 4)
    return fig


def _family(table: pd.DataFrame) -> Figure:
    family = family_in(table)
    fig, axes, costs = _cost_panels(table, sharex=True, figsize=(11, 6))
    for ax, (label, metric) in zip(axes.flat, costs.items(), strict=False):
        for system in systems_in(table, family[0][1]):
            y = np.array([ends(cost(table, world, system, metric)) for _, world in family])
            x = [t for t, _ in family]
            ax.plot(x, y[:, 0], **_look(system))
            ax.fill_between(x, y[:, 1], y[:, 2], color=_look(system)["color"], alpha=0.15, lw=0)
        ax.set(ylabel=label, ylim=(0, None))
    for ax in axes[1]:
        ax.set_xlabel("share of free ranges, t")
    _legend(fig, axes[0, 0])
    return fig


KINDS: dict[str, tuple[Callable[[pd.DataFrame, str], Figure], str]] = {
    "frontier": (
        _frontier,
        "reliability against cost. Each point is one setting (fan-out, shortcuts); lines join those that no "
        "cheaper one beats. Lower left is better; what misses fewer than 1 in 10,000 stands at the bottom. "
        "Without faults, with 5 % of the messages lost, with 30 % crashed and nothing repaired. Settings "
        "dearer than two that deliver 99 % are left out.",
    ),
    "costs": (
        _costs,
        "costs under the first fault of the rule, at the working points. A system in brackets does not "
        "deliver what the rule asks: its costs are those of the setting that delivers most.",
    ),
    "faults": (_faults, "hit ratio at the working points, under loss and right after crashes."),
    "budget": (
        _budget,
        "all messages, upkeep and events, per peer and cycle, against how often events are published.",
    ),
}
"""The figures of a world, how they are drawn, and what their captions say."""
