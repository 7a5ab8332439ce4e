"""Worlds of ranges: a named workload, a spec in TOML, a workload folder, or tables from elsewhere.

Values are whole numbers from 0 to 2^bits - 1: the resolution of an application's values. On
that grid a cover by dyadic topics can be exact. Ranges are rounded outward, for every system alike;
`rounding_effect` says by how much they and their matches grow.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from sims.compare.worlds.world import Floats, Integers, World
from sub2sub.errors import InputError
from sub2sub.geometry.matching import match
from workloads.spec.catalogue import resolve
from workloads.spec.table_files import is_stored, open_stored

BITS = 10
ADDED = 0.01  # share of matches that rounding may add where the grid is chosen
TRIED = 64  # candidate events looked at for each wanted one, before giving up


def on_grid(values: Floats, low: Floats, high: Floats, bits: int) -> Floats:
    """Values on axes from low to high as whole numbers from 0 to 2^bits - 1, rounded down.

    Examples
    --------
    >>> on_grid(np.array([[0.0], [0.5], [1.0]]), np.array([0.0]), np.array([1.0]), bits=3).ravel()
    array([0., 4., 7.])
    """
    cells = 2**bits
    share = (values - low) / np.where(high > low, high - low, 1.0)
    floored: Floats = np.clip(np.floor(share * cells), 0, cells - 1)
    return floored


def range_world(
    n: int,
    events: int,
    probes: int,
    seed: int,
    workload: str,
    bits: int = BITS,
    choosing: int = 0,
    each: int = 1,
) -> World:
    """A world of n subscribers of ranges, with so many `each`; of all rows of a table if n is 0.

    Parameters
    ----------
    workload : str
        `uniform-D`, `power-law-D`, a .toml spec; or a workload folder, a table of subscriptions with columns
        X_low and X_high (.csv, .parquet, .arrow), a .toml file that describes tables (docs/workloads.md). Of
        these, n rows are drawn, other ones for each seed; all, where there are no more.

    Examples
    --------
    >>> world = range_world(300, events=20, probes=5, seed=1, workload="power-law-2")
    >>> world.d, float(world.highs.max()) < 1024, int(world.matches.sizes().min()) >= 2
    (2, True, True)
    """
    if not 1 <= bits <= 20:
        raise InputError(f"bits = {bits}: expected 1 to 20")
    exact = _exact(workload, n * each, events + probes + choosing, seed)
    low, high = exact.axis
    lows, highs, candidates = (
        on_grid(side, low, high, bits) for side in (exact.lows, exact.highs, exact.candidates)
    )
    host = np.arange(len(lows)) // each
    points = wanted_points(lows, highs, candidates, events + probes + choosing, host)
    name, parts = f"ranges {Path(workload).stem}", None
    if each > 1:
        first = np.arange(0, len(lows), each)
        parts = lows, highs, host
        lows, highs = np.minimum.reduceat(lows, first), np.maximum.reduceat(highs, first)
    return World(name, seed, lows, highs, points, probes, bits, choosing=choosing, parts=parts)


class Exact(NamedTuple):
    """Interests before they are rounded: ranges cut off at the axes, candidate events, ends of the axes."""

    lows: Floats
    highs: Floats
    candidates: Floats
    axis: tuple[Floats, Floats]


def _exact(workload: str, n: int, wanted: int, seed: int) -> Exact:
    path = Path(workload)
    if is_stored(path):
        stored = open_stored(path)
        low, high = stored.ends
        chosen = stored.order(seed, min(n or len(stored), len(stored)))[: n or None]
        lows, highs = (np.clip(side[chosen], low, high) for side in (stored.lows, stored.highs))
        own = stored.points[: TRIED * wanted]
        more = stored.candidates(TRIED * wanted, seed, "interest")
        return Exact(lows, highs, np.concatenate([own, more]), (low, high))
    spec = resolve(workload)
    low, high = (np.array([getattr(a, end) for a in spec.attributes]) for end in ("low", "high"))
    lows, highs = spec.subscriptions(n, seed)
    return Exact(lows, highs, spec.candidates(seed, 0, TRIED * wanted), (low, high))


def fitting_bits(workload: str, n: int, seed: int, events: int = 200) -> int:
    """The coarsest grid that adds next to no matches, among those on which dyadic topics have numbers.

    Examples
    --------
    >>> fitting_bits("uniform-1", 300, seed=1)
    10
    """
    exact = _exact(workload, n, events, seed)
    finest = min(20, 60 // exact.lows.shape[1])
    coarser = (bits for bits in range(6, finest) if _added(exact, bits, events)[1] <= ADDED)
    return next(coarser, finest)


def _added(exact: Exact, bits: int, events: int) -> tuple[float, float]:
    """The share of the axis by which rounding widens ranges, and the share of matches that it adds."""
    low, high = exact.axis
    sides = exact.lows, exact.highs, exact.candidates[:events]
    rounded = [on_grid(side, low, high, bits) for side in sides]
    before, after = (match(*each).sizes().sum() for each in (sides, rounded))
    cell = np.where(high > low, high - low, 1.0) / 2**bits
    widened = (rounded[1] - rounded[0] + 1) * cell - (exact.highs - exact.lows)
    wider = np.mean(widened, axis=0) / (high - low + cell)
    return float(wider.max()), float(after / max(1, before) - 1)


def rounding_effect(workload: str, n: int, seed: int, bits: int = BITS, events: int = 200) -> str:
    """What rounding to the grid does to a workload, in a sentence.

    Examples
    --------
    >>> rounding_effect("uniform-1", 500, seed=1, bits=6)[:40]
    'Rounding uniform-1 to 2^6 values per att'
    """
    wider, added = _added(_exact(workload, n, events, seed), bits, events)
    return (
        f"Rounding {Path(workload).stem} to 2^{bits} values per attribute widens ranges by "
        f"{100 * wider:.2g} % of the axis and adds {100 * added:.2g} % matches."
    )


def wanted_points(
    lows: Floats, highs: Floats, candidates: Floats, wanted: int, host: Integers | None = None
) -> Floats:
    """The first `wanted` candidates with two matching subscribers or more; `host` is whose each range is.

    Raises
    ------
    InputError
        If there are not that many.
    """
    found = candidates[:0]
    for first in range(0, len(candidates), max(wanted, 1)):  # all at once would need too much memory
        some = candidates[first : first + wanted]
        matched = match(lows, highs, some)
        sizes = matched.sizes()
        if host is not None:
            sizes = np.array([len(np.unique(host[matched.of(event)])) for event in range(len(some))])
        found = np.concatenate([found, some[sizes > 1]])[:wanted]
        if len(found) == wanted:
            break
    if len(found) < wanted:
        raise InputError(
            f"events: {len(found)} of {len(candidates)} match two subscribers or more: expected {wanted}"
        )
    return found
