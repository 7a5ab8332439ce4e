"""Pictures by matplotlib: each takes axes, or makes some, and returns them.

What an event did is drawn as its ring; an overlay as the boxes of its subscriptions; rows of a simulation as
curves. matplotlib is imported when something is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sub2sub.errors import InputError
from sub2sub.tables import Rows, optional_library

if TYPE_CHECKING:
    from sub2sub.overlay.overlay import Overlay
    from sub2sub.overlay.published import Published

REACHED, MISSED, BOX = "viridis", "#c2185b", "#0072b2"
MOST_NUMBERED = 40  # subscriptions on a ring that are written beside their places


def plot_boxes(overlay: Overlay, axes: Any = None, x: int = 0, y: int = 1) -> Any:
    """Draw the live subscriptions along two attributes; of one attribute, in the order of the ring.

    Examples
    --------
    >>> from sub2sub import Overlay
    >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], seed=1)
    >>> axes = plot_boxes(overlay)
    >>> axes.get_xlabel(), axes.get_ylabel(), len(axes.collections[0].get_paths())
    ('x0', 'place on the ring', 3)
    """
    population, names = overlay.population, overlay.attributes
    for axis, number in (("x", x), ("y", y)):
        if not 0 <= number < max(population.d, 2):
            raise InputError(f"{axis}: expected an attribute from 0 to {population.d - 1}, got {number}")
    peers = np.flatnonzero(overlay.network.alive)
    lows, highs = (side[peers] for side in population.ranges())
    left, right = lows[:, x], highs[:, x]
    bottom, top = (lows[:, y], highs[:, y]) if population.d > 1 else (peers, peers + 1)
    corners = np.array([[left, bottom], [right, bottom], [right, top], [left, top]]).transpose(2, 0, 1)
    axes = _axes(axes)
    boxes = optional_library("matplotlib.collections").PolyCollection(
        corners, facecolors=BOX, alpha=float(np.clip(12 / max(len(peers), 1), 0.02, 0.5))
    )
    axes.add_collection(boxes)
    axes.autoscale_view()
    axes.set(xlabel=names[x], ylabel=names[y] if population.d > 1 else "place on the ring")
    axes.set_title(f"{len(peers)} subscriptions after {overlay.cycle} cycles")
    return axes


def plot_ring(published: Published, event: int = 0, axes: Any = None) -> Any:
    """Draw the ring of an event: who received it at which hop, and who missed it.

    Examples
    --------
    >>> from sub2sub import Overlay
    >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], seed=1).run(5)
    >>> plot_ring(overlay.publish([[0.55], [0.25]]), event=1).get_title()
    'event 1: 2 of 2 subscriptions, 1 hop'
    """
    if not 0 <= event < published.events.rows:
        raise InputError(f"event: expected 0 to {published.events.rows - 1}, got {event}")
    received, missed = published.received, published.missed
    here, lost = received["event"] == event, missed["event"] == event
    rows = np.concatenate([received["subscription"][here], missed["subscription"][lost]])
    hops = np.concatenate([received["hop"][here], np.full(lost.sum(), -1)])
    place_of_row = np.argsort(published.rows_in_ring_order, kind="stable")
    sorted_rows = published.rows_in_ring_order[place_of_row]
    order = np.argsort(place_of_row[np.searchsorted(sorted_rows, rows)])
    rows, hops = rows[order], hops[order]
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(rows)) / max(len(rows), 1)  # clockwise from the top
    at = np.stack([np.cos(angle), np.sin(angle)])
    axes, has = _axes(axes), hops >= 0
    circle = optional_library("matplotlib.patches").Circle((0, 0), 1, fill=False, edgecolor="0.8", zorder=1)
    axes.add_patch(circle)
    dots = axes.scatter(*at[:, has], c=hops[has], cmap=REACHED, s=60, zorder=2)
    axes.scatter(*at[:, ~has], facecolors="none", edgecolors=MISSED, s=60, zorder=2, label="missed it")
    if len(rows) <= MOST_NUMBERED:
        for x, y, row in zip(*(1.13 * at), rows.tolist(), strict=True):
            axes.text(x, y, row, ha="center", va="center", fontsize=8)
    if has.any():
        axes.figure.colorbar(dots, ax=axes, label="hop", shrink=0.7)
    if not has.all():
        axes.legend(loc="center")
    last = int(hops.max(initial=0))
    counts = f"{int(has.sum())} of {len(rows)} subscriptions, {last} hop{'' if last == 1 else 's'}"
    axes.set_title(f"event {event}: {counts}")
    axes.set_aspect("equal")
    axes.set_axis_off()
    return axes


def plot_rows(rows: Rows, name: str, column: str | None = None, axes: Any = None) -> Any:
    """Draw a column of a simulation's table over the cycles, one curve for each layer if it has layers.

    Examples
    --------
    >>> rows = Rows([{"cycle": 0, "complete": 0.25}, {"cycle": 1, "complete": 1.0}])
    >>> axes = plot_rows(rows, "rings")
    >>> axes.get_xlabel(), axes.get_ylabel(), axes.lines[0].get_ydata().tolist()
    ('cycle', 'complete', [0.25, 1.0])
    """
    table = rows.table
    drawn = [each for each, values in table.items() if each != "cycle" and values.dtype.kind in "fiub"]
    if (column or "") not in drawn and (column is not None or not drawn):
        raise InputError(f"column: expected one of {', '.join(drawn) or 'none'} in {name}, got {column!r}")
    chosen = column or drawn[0]
    axes = _axes(axes)
    layers = table["layer"] if "layer" in table else np.full(table.rows, "")
    for layer in dict.fromkeys(layers.tolist()):
        mine = layers == layer
        axes.plot(table["cycle"][mine], table[chosen][mine], label=layer)
    if "layer" in table:
        axes.legend()
    axes.set(xlabel="cycle", ylabel=chosen, title=name)
    return axes


def _axes(given: Any) -> Any:
    if given is None:
        return optional_library("matplotlib.pyplot").subplots()[1]
    if not hasattr(given, "add_collection"):
        raise InputError(f"axes: expected those of matplotlib, got {given!r}")
    return given
