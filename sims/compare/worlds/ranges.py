"""Worlds of ranges: a named workload, a spec in TOML, a workload folder, or a table from elsewhere.

Values are whole numbers from 0 to 2^bits - 1: the resolution at which an application tells values apart. On
that grid a cover by dyadic topics can be exact. Ranges are rounded outward, for every system alike.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sims.compare.worlds.world import Floats, Integers, World
from sub2sub.errors import InputError
from sub2sub.geometry.matching import match
from workloads.folder.foreign import read_subscriptions
from workloads.folder.layout import open_workload
from workloads.generate.rows import uniforms
from workloads.spec.files import resolve
from workloads.spec.spec import Spec

__all__ = ["BITS", "on_grid", "range_world"]

BITS = 10
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
    n: int, events: int, probes: int, seed: int, workload: str, bits: int = BITS, choosing: int = 0
) -> World:
    """A world of n subscribers of ranges.

    Parameters
    ----------
    workload : str
        `uniform-D`, `power-law-D`, a .toml spec, a workload folder, or a table of subscriptions with columns
        X_low and X_high (.csv, .parquet, .arrow). Of a folder or table as many rows are drawn as there are
        subscribers, another sample for each seed; all, where it has no more.

    Examples
    --------
    >>> world = range_world(300, events=20, probes=5, seed=1, workload="power-law-2")
    >>> world.d, float(world.highs.max()) < 1024, int(world.matches.sizes().min()) >= 2
    (2, True, True)
    """
    path = Path(workload)
    if path.is_dir() or path.suffix in (".csv", ".parquet", ".arrow", ".feather"):
        lows, highs, points = _stored(path, n, events + probes + choosing, seed, bits)
    else:
        lows, highs, points = _generated(resolve(workload), n, events + probes + choosing, seed, bits)
    return World(f"ranges {path.stem}", seed, lows, highs, points, probes, bits, choosing=choosing)


def _generated(spec: Spec, n: int, wanted: int, seed: int, bits: int) -> tuple[Floats, Floats, Floats]:
    low, high = (np.array([getattr(a, end) for a in spec.attributes]) for end in ("low", "high"))
    lows, highs = (on_grid(side, low, high, bits) for side in spec.subscriptions(n, seed))
    candidates = on_grid(spec.candidates(seed, 0, TRIED * wanted), low, high, bits)
    return lows, highs, wanted_points(lows, highs, candidates, wanted)


def _stored(path: Path, n: int, wanted: int, seed: int, bits: int) -> tuple[Floats, Floats, Floats]:
    """Subscriptions of a folder or a table; events of the folder, and when these end anywhere on the axes."""
    if path.is_dir():
        folder = open_workload(path)
        parts = list(folder.subscriptions())
        lows, highs = (np.concatenate([part[side] for part in parts]) for side in (2, 3))
        points = folder.event_range(0, folder.events)
    else:
        _, lows, highs, _ = read_subscriptions(path)
        points = np.empty((0, lows.shape[1]))
    if len(lows) < 2:
        raise InputError(f"{path}: expected at least 2 subscriptions, got {len(lows)}")
    ends = np.where(np.isfinite(lows), lows, np.nan), np.where(np.isfinite(highs), highs, np.nan)
    if any(np.isnan(side).all(axis=0).any() for side in ends):
        raise InputError(f"{path}: expected some ranges of every attribute to have ends")
    low, high = np.nanmin(ends[0], axis=0), np.nanmax(ends[1], axis=0)
    chosen = _sample(len(lows), n, seed)
    lows, highs = (on_grid(np.clip(side[chosen], low, high), low, high, bits) for side in (lows, highs))
    shares = [uniforms(seed, f"event/{axis}", 0, TRIED * wanted) for axis in range(lows.shape[1])]
    anywhere = np.floor(np.stack(shares, axis=1) * 2**bits)
    candidates = np.concatenate([on_grid(points, low, high, bits), anywhere])
    return lows, highs, wanted_points(lows, highs, candidates, wanted)


def _sample(rows: int, n: int, seed: int) -> Integers:
    if rows <= n:
        return np.arange(rows)
    return np.sort(np.argsort(uniforms(seed, "compare/sample", 0, rows), kind="stable")[:n])


def wanted_points(lows: Floats, highs: Floats, candidates: Floats, wanted: int) -> Floats:
    """The first `wanted` candidates with two matching subscribers or more.

    Raises
    ------
    InputError
        If there are not that many.
    """
    found = candidates[match(lows, highs, candidates).sizes() > 1][:wanted]
    if len(found) < wanted:
        raise InputError(
            f"events: {len(found)} of {len(candidates)} match two subscribers or more: expected {wanted}"
        )
    return found
