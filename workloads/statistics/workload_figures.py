"""Figures of a workload: ring lengths, widths, interest, overlaps and links, loads, regions, topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from workloads.statistics.figures import COLOURS, DASHES, draw_lengths, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS = 4  # attributes that have a panel each
_BARS = 24  # values that have a bar each
_LETTERS = 16  # of a tick's text
_TICKS = 3  # on an axis whose values are no numbers, such as dates
_PATHS = 12  # topics that are shown with their path


def draw_workload(tables: Mapping[str, pa.Table], out: Path) -> None:
    """Draw figures of a workload's tables that have rows, into a folder."""
    for name, (draw, panels) in _FIGURES.items():
        if name in tables and tables[name].num_rows:
            path = out / f"{'overlaps-and-links' if name == 'peers' else name}.png"
            attributes = len(tables[name]["attribute"].unique()) if name == "density" else panels
            with figure(path, attributes if attributes <= _PANELS else 1) as axes:
                draw(axes, tables[name])


def _draw_ring_lengths(panels: Sequence[Axes], table: pa.Table) -> None:
    length, events = table["length"].to_numpy(), table["events"].to_numpy()
    draw_lengths(panels[0], length, events, 0)
    panels[0].set_title(f"{events.sum():,} events: rings of {length.min():,} to {length.max():,} subscribers")


def _look(number: int, label: str = "") -> dict[str, Any]:
    number %= len(COLOURS)
    return {"color": COLOURS[number], "linestyle": DASHES[number], "label": label}


def _at_most(axes: Axes, values: Any, weights: Any, number: int, label: str = "") -> None:
    """The share of the rows with a value of at most x, in per cent."""
    order = np.argsort(values)
    share = 100 * np.cumsum(weights[order]) / weights.sum()
    x, y = np.append(values[order][:1], values[order]), np.append(0.0, share)
    axes.step(x, y, where="post", **_look(number, label))
    axes.set_ylim(-2, 102)


def _draw_widths(panels: Sequence[Axes], table: pa.Table) -> None:
    frame = table.to_pandas()
    for number, (name, rows) in enumerate(frame.groupby("attribute", sort=False)):
        span = max(float(rows["width"].max()), 1e-300)
        widths, weights = (rows[column].to_numpy() for column in ("width", "subscriptions"))
        widest = rows["text"].iloc[int(np.argmax(widths))]
        _at_most(panels[0], widths / span, weights, number, f"{name} (100 % is {widest})")
    panels[0].set(
        xlabel="width of the range, of the widest (%)",
        ylabel="subscriptions with this width\nor a smaller one (%)",
    )
    panels[0].xaxis.set_major_formatter(lambda x, _: f"{100 * x:g}")
    panels[0].legend(fontsize=9, loc="lower right")


def _draw_density(panels: Sequence[Axes], table: pa.Table) -> None:
    """Draw a panel for each attribute, with its values; one panel for all if there are too many."""
    frame = table.to_pandas()
    for number, (name, rows) in enumerate(frame.groupby("attribute", sort=False)):
        x, share = rows["value"].to_numpy(), 100 * rows["share"].to_numpy()
        if len(panels) == 1 and frame["attribute"].nunique() > 1:
            span = max(float(np.ptp(x)), 1e-300)
            label = f"{name}: {rows['text'].iloc[0]} to {rows['text'].iloc[-1]}"
            panels[0].plot(100 * (x - x[0]) / span, share, **_look(number, label))
            panels[0].set_xlabel("place on the attribute's axis (%)")
            panels[0].legend(fontsize=8)
        elif len(x) <= _BARS:
            panels[number].bar(np.arange(len(x)), share, color=COLOURS[number % len(COLOURS)])
            panels[number].set_xticks(np.arange(len(x)), [_short(text) for text in rows["text"]])
            panels[number].tick_params("x", rotation=90 if len(x) > 6 else 0)
            panels[number].set_xlabel(str(name))
        else:
            panels[number].plot(x, share, color=COLOURS[number % len(COLOURS)])
            if not rows["text"].map(_is_number).all():  # numbers have ticks of their own
                some = [round(k * (len(x) - 1) / (_TICKS - 1)) for k in range(_TICKS)]
                panels[number].set_xticks(x[some], [_short(rows["text"].iloc[k]) for k in some])
            panels[number].set_xlabel(str(name))
    for axes in panels:
        axes.set_ylim(bottom=0)
    panels[0].set_ylabel("subscriptions whose range\nholds the value (%)")


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


def _draw_peers(panels: Sequence[Axes], table: pa.Table) -> None:
    titles = {"overlaps": "subscribers that a peer overlaps", "links": "ring links that a peer needs"}
    for axes, (name, title) in zip(panels, titles.items(), strict=True):
        values = table[name].to_numpy().astype(np.float64)
        _at_most(axes, values, np.ones(len(values)), 0)
        axes.set(xlabel=title, ylabel=f"of {len(values)} sampled peers (%)")


def _draw_loads(panels: Sequence[Axes], table: pa.Table) -> None:
    rings, subscribers = table["rings"].to_numpy().astype(np.float64), table["subscribers"].to_numpy()
    _at_most(panels[0], rings, subscribers, 0)
    panels[0].set(xlabel="rings that a subscriber is on", ylabel="subscribers on so many\nor fewer (%)")
    panels[0].set_xscale("symlog", base=2)
    panels[0].set_xlim(left=0)
    panels[0].xaxis.set_major_formatter("{x:g}")


def _draw_regions(panels: Sequence[Axes], table: pa.Table) -> None:
    members, regions = np.unique(table["members"].to_numpy(), return_counts=True)
    _at_most(panels[0], members.astype(np.float64), regions, 0)
    panels[0].set(xlabel="members of a region", ylabel="regions with so many\nor fewer (%)")
    panels[0].set_title(f"{table.num_rows:,} minimal regions")


def _draw_topics(panels: Sequence[Axes], table: pa.Table) -> None:
    """Draw shares by depth, and by path for the topics with the most subscribers."""
    frame = table.to_pandas()
    kinds = ("subscribers", "events")
    shares = 100 * frame[list(kinds)] / frame[list(kinds)].sum().clip(lower=1)
    shares[["depth", "path"]] = frame[["depth", "path"]]
    depths = shares.groupby("depth")[list(kinds)].sum()
    paths = shares.nlargest(_PATHS, "subscribers").iloc[::-1]
    for number, kind in enumerate(kinds):
        place, colour = 0.4 * number - 0.2, COLOURS[number]
        panels[0].bar(depths.index + place, depths[kind], 0.4, color=colour, label=kind)
        panels[1].barh(np.arange(len(paths)) - place, paths[kind], 0.4, color=colour, label=kind)
    panels[0].set(xlabel="depth of the topic (0: the root)", ylabel="share (%)")
    panels[0].locator_params(axis="x", integer=True)
    panels[0].legend(fontsize=9)
    panels[1].set_yticks(np.arange(len(paths)), [_short(path) for path in paths["path"]], fontsize=8)
    panels[1].set(xlabel=f"share of the {len(paths)} topics with most subscribers (%)")


_FIGURES: dict[str, tuple[Callable[[Sequence[Axes], Any], None], int]] = {
    "ring-lengths": (_draw_ring_lengths, 1),
    "widths": (_draw_widths, 1),
    "density": (_draw_density, 1),
    "peers": (_draw_peers, 2),
    "ring-loads": (_draw_loads, 1),
    "regions": (_draw_regions, 1),
    "topics": (_draw_topics, 2),
}
