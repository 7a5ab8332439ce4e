"""CAMCAST on the Sub-2-Sub overlay: its tables are drawn from the links between nested ranges.

A topic subscription is a range subscription (`hierarchy.topics.NestedRanges`), so the links that Sub-2-Sub
keeps anyway say who is in which community: a link to the same range is one within the community, a link to
the tightest enclosing range one to the super-community, or to the next populated supertopic where that is
empty. No peer is ever told the tree. A peer with several ranges, such as a subscriber of a topic that is a
further parent of another, is one virtual peer for each.

The tightest range is taken among a peer's links: a peer that happens to know only a farther supertopic
sends there, and leaves the nearer one to the others of its community.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.camcast.tables import Tables
from sub2sub.errors import InputError
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, cycle_key, draw, peer_key, stream_number

if TYPE_CHECKING:  # the tables need its links, not its code
    from sub2sub.overlay.overlay import Overlay

__all__ = ["OverlayTables", "tables_from_links", "tables_from_overlay"]

STREAM = stream_number("camcast overlay")


class OverlayTables(NamedTuple):
    """Tables over the communities that the ranges make, numbered in the order of their ranges.

    Attributes
    ----------
    tables : Tables
        To disseminate on.
    ranges : (communities, 2) int64
        The range of each community.
    sizes : (communities,) int64
        Its members.
    """

    tables: Tables
    ranges: NDArray[np.int64]
    sizes: NDArray[np.int64]


def tables_from_links(
    ranges: ArrayLike, sources: ArrayLike, targets: ArrayLike, z: int = 3, seed: int = 0, cycle: int = 0
) -> OverlayTables:
    """Draw topic tables and super-topic tables from the links of an overlay.

    Parameters
    ----------
    ranges : (n, 2) array
        Half-open range of each peer.
    sources, targets : (links,) arrays
        Links, from any layers; repeated ones count once.
    z : int
        Size of the super-topic tables; of more links than these, random ones are taken.
    seed, cycle : int
        Of these draws.

    Examples
    --------
    >>> ranges = [(0, 100), (10, 20), (10, 20)]  # a supertopic, and two subscribers of a subtopic
    >>> drawn = tables_from_links(ranges, sources=[1, 1, 0], targets=[2, 0, 1])
    >>> drawn.tables.topic_table.tolist(), drawn.tables.super_table.tolist()
    ([[-1], [2], [-1]], [[[-1, -1, -1]], [[0, -1, -1]], [[-1, -1, -1]]])
    """
    bounds = np.ascontiguousarray(ranges, np.int64)
    links = np.column_stack([sources, targets]).astype(np.int64)
    if bounds.ndim != 2 or bounds.shape[1] != 2 or np.any(bounds[:, 0] >= bounds[:, 1]):
        raise InputError("ranges: expected rows of (low, high) with low below high")
    if len(links) and not 0 <= links.min() <= links.max() < len(bounds):
        raise InputError(f"sources, targets: expected numbers of peers below {len(bounds)}")
    if z < 1:
        raise InputError(f"z: expected a whole number not below 1, got {z!r}")
    # As one number each, links sort many times faster than as rows.
    pairs = np.sort((links[:, 0] * len(bounds) + links[:, 1])[links[:, 0] != links[:, 1]])
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    links = np.stack(np.divmod(pairs, len(bounds)), axis=1)
    start = np.searchsorted(links[:, 0], np.arange(len(bounds) + 1))
    communities, inverse = np.unique(bounds, axis=0, return_inverse=True)
    topic = inverse.reshape(-1).astype(np.int32)
    equal = topic[links[:, 0]] == topic[links[:, 1]]
    widest = int(np.bincount(links[equal, 0], minlength=1).max(initial=1))
    tables = Tables(
        topic,
        np.full((len(bounds), max(1, widest)), -1, np.int32),
        np.full((len(bounds), 1, z), -1, np.int32),
    )
    key = cycle_key(seed, STREAM, cycle)
    classify(bounds, start, np.ascontiguousarray(links[:, 1]), key, tables)
    return OverlayTables(tables, communities, np.bincount(topic, minlength=len(communities)))


def tables_from_overlay(overlay: Overlay, z: int = 3, cycle: int = 0) -> OverlayTables:
    """Draw the tables from all links of a Sub-2-Sub overlay whose subscriptions are ranges of topics.

    Parameters
    ----------
    overlay : Overlay
        Of a population with one attribute, the whole numbers of `NestedRanges`.
    z, cycle : int
        As of `tables_from_links`.

    Examples
    --------
    >>> from sub2sub.overlay.overlay import Overlay
    >>> from sub2sub.overlay.population import Population
    >>> lows, highs = [[0.0]] * 5 + [[10.0]] * 20, [[99.0]] * 5 + [[19.0]] * 20
    >>> overlay = Overlay(Population.of(lows, highs), seed=1)
    >>> overlay.bootstrap()
    >>> for cycle in range(1, 11):
    ...     cost = overlay.step(cycle)
    >>> drawn = tables_from_overlay(overlay)
    >>> drawn.ranges.tolist(), drawn.sizes.tolist()
    ([[0, 100], [10, 20]], [5, 20])
    """
    lows, highs = overlay.population.ranges()
    if lows.shape[1] != 1:
        raise InputError(f"overlay: expected subscriptions with one attribute, got {lows.shape[1]}")
    bounds = np.column_stack([lows[:, 0], highs[:, 0] + 1]).astype(np.int64)
    links = [layer.links()[:2] for layer in overlay.layers]
    sources, targets = (np.concatenate(side) for side in zip(*links, strict=True))
    return tables_from_links(bounds, sources, targets, z, overlay.seed, cycle)


@kernel
def classify(bounds, start, targets, key, tables):
    """Sort each peer's links into its tables."""
    topic, topic_table, super_table = tables
    for peer in range(len(bounds)):
        low, high = bounds[peer]
        tightest = np.int64(0)
        same = 0
        for target in targets[start[peer] : start[peer + 1]]:
            if topic[target] == topic[peer]:
                topic_table[peer, same] = target
                same += 1
            elif bounds[target, 0] <= low and high <= bounds[target, 1]:
                width = bounds[target, 1] - bounds[target, 0]
                if tightest == 0 or width < tightest:
                    tightest = width
        # Of all links to the tightest range, each is kept with the same chance (reservoir sampling).
        own = peer_key(key, peer)
        row = super_table[peer, 0]
        seen = 0
        for target in targets[start[peer] : start[peer + 1]]:
            width = bounds[target, 1] - bounds[target, 0]
            if (
                width == tightest
                and topic[target] != topic[peer]
                and bounds[target, 0] <= low
                and high <= bounds[target, 1]
            ):
                place = seen if seen < len(row) else below(draw(own, seen), seen + 1)
                if place < len(row):
                    row[place] = target
                seen += 1
