"""Ring selection in the plane (Sub-2-Sub, Figure 3), drawn: who is next to a node, where in its box.

The node's box is coloured by the nearest candidate that contains each point, going up the sequence IDs on the
left and down on the right, and numbered by rank. A candidate is selected if any of its colour shows. The
parts are cut by shapely, not by the library: the picture is a check of `select_ring`, not a copy of it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sims.figures.style import COLOURS, figure
from sub2sub import InputError, select_ring

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_selection", "visible_parts"]

_PALETTE = COLOURS[:-1]  # black is the node's


def draw_selection(
    low: ArrayLike,
    high: ArrayLike,
    ring_id: int,
    lows: ArrayLike,
    highs: ArrayLike,
    ids: ArrayLike,
    names: tuple[str, str] = ("attribute 1", "attribute 2"),
) -> Figure:
    """Draw what `select_ring` selects with two attributes; call it within `sims.figures.style.styled`.

    Parameters
    ----------
    low, high, ring_id, lows, highs, ids
        As for `sub2sub.select_ring`; the node's own ranges finite.
    names : pair of str
        The attributes, for the axes.

    Examples
    --------
    >>> from sims.figures.style import styled
    >>> with styled():
    ...     drawn = draw_selection([0, 0], [4, 4], 50, [[1, 1], [2, 2]], [[3, 3], [9, 5]], [60, 70])
    >>> [axes.get_title() for axes in drawn.axes]
    ['2 successors of 2 candidates', '2 predecessors of 2 candidates']
    """
    box = np.asarray(low, float), np.asarray(high, float)
    if box[0].shape != (2,) or not np.isfinite(box).all():
        raise InputError(
            f"low, high: expected two attributes with finite ranges to draw, got {low!r}, {high!r}"
        )
    found = select_ring(low, high, ring_id, lows, highs, ids)
    first, last = 1.3 * box[0] - 0.3 * box[1], 1.3 * box[1] - 0.3 * box[0]  # some of the surroundings
    beyond = first - 1.0, last + 1.0  # where ranges without an end are cut off
    candidates = np.clip(lows, *beyond), np.clip(highs, *beyond)
    drawing, panels = figure(1, 2, sharex=True, sharey=True, figsize=(8.0, 4.8))
    titles = "successors", "predecessors"
    for axes, title, selected in zip(panels, titles, (found.successors, found.predecessors), strict=True):
        _draw_side(axes, box, candidates, selected)
        axes.set_title(f"{len(selected)} {title} of {len(candidates[0])} candidates")
        axes.set_xlabel(names[0])
        axes.set(xlim=(first[0], last[0]), ylim=(first[1], last[1]), aspect="equal")
    panels[0].set_ylabel(names[1])
    handles, labels = panels[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=4)
    return drawing


def visible_parts(
    low: ArrayLike, high: ArrayLike, lows: ArrayLike, highs: ArrayLike, order: NDArray[np.int64]
) -> list[Any]:
    """For each candidate in `order` the part of the node's box where it is the first, as a shapely geometry.

    An exact value has no area, and hides nothing here.

    Examples
    --------
    >>> [part.area for part in visible_parts([0, 0], [4, 4], [[1, 1], [2, 2]], [[3, 3], [9, 5]], [0, 1])]
    [4.0, 3.0]
    """
    import shapely

    rest = shapely.box(*np.asarray(low, float), *np.asarray(high, float))
    parts = []
    for i in order:
        candidate = shapely.box(*np.asarray(lows, float)[i], *np.asarray(highs, float)[i])
        parts.append(rest.intersection(candidate))
        rest = rest.difference(candidate)
    return parts


def _draw_side(axes: Axes, box: Any, candidates: Any, selected: NDArray[np.int64]) -> None:
    import shapely
    from shapely.plotting import plot_polygon

    fill = partial(plot_polygon, ax=axes, add_points=False)
    outline = partial(fill, facecolor="none")
    shapes = shapely.box(*candidates[0].T, *candidates[1].T)
    for i in np.setdiff1d(np.arange(len(shapes)), selected):
        outline(
            shapes[i], edgecolor="#888888", linewidth=0.8, linestyle=":", label=_once(axes, "not selected")
        )
    parts = visible_parts(box[0], box[1], candidates[0], candidates[1], selected)
    for rank, (i, part) in enumerate(zip(selected, parts, strict=True), start=1):
        colour = _PALETTE[i % len(_PALETTE)]
        outline(shapes[i], edgecolor=colour, linewidth=1.0, label=_once(axes, "selected"))
        pieces = [piece for piece in shapely.get_parts(part) if piece.area > 0.0]
        for piece in pieces:
            fill(
                piece,
                facecolor=colour,
                edgecolor=colour,
                alpha=0.45,
                label=_once(axes, "where it is nearest"),
            )
        # An exact value has no area to put its number in, only a place.
        at = np.maximum(box[0], candidates[0][i]) / 2 + np.minimum(box[1], candidates[1][i]) / 2
        if pieces:
            inside = max(pieces, key=lambda piece: piece.area).representative_point()
            at = np.array([inside.x, inside.y])
        axes.annotate(str(rank), tuple(at), ha="center", va="center", fontsize=9)
    outline(shapely.box(*box[0], *box[1]), edgecolor="black", linewidth=2.2, label=_once(axes, "the node"))


def _once(axes: Axes, label: str) -> str | None:
    """The label for the legend, unless it is there already."""
    return None if label in axes.get_legend_handles_labels()[1] else label
