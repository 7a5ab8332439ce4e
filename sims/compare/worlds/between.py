"""The family between: from pure topics to free ranges, by the share t of subscribers whose range is free.

Every subscriber draws a range of `power-law-1`. A share t of them subscribes to that range. The others
subscribe to a topic: the cell of the dyadic grid around the range's centre whose width is nearest to the
range's. So at t = 0 all interests are nested, and interests are equally wide for all t. A subscriber whose
range is free at one t has a free range at every greater t.
"""

from __future__ import annotations

import numpy as np

from sims.compare.worlds.ranges import BITS, TRIED, on_grid, wanted_points
from sims.compare.worlds.world import Floats, World
from sub2sub.errors import InputError
from workloads import named
from workloads.generate.rows import uniforms

STEPS = (0.0, 0.1, 0.3, 1.0)
WORKLOAD = "power-law-1"


def nearest_cells(lows: Floats, highs: Floats, bits: int) -> tuple[Floats, Floats]:
    """The dyadic cells around the centres of closed ranges whose widths are nearest to theirs.

    Examples
    --------
    >>> low, high = nearest_cells(np.array([[5.0]]), np.array([[11.0]]), bits=4)  # 7 wide around 8
    >>> low.item(), high.item()
    (8.0, 15.0)
    """
    width = highs - lows + 1
    size = 2.0 ** np.clip(np.rint(np.log2(width)), 0, bits)
    low = np.floor((lows + highs) / 2 / size) * size
    return low, low + size - 1


def between_world(
    n: int, events: int, probes: int, seed: int, t: float, bits: int = BITS, choosing: int = 0
) -> World:
    """A world in which a share t of the subscribers has free ranges, and the others topics.

    Examples
    --------
    >>> topics, ranges = (between_world(500, 20, 5, seed=1, t=t) for t in (0.0, 1.0))
    >>> width = topics.highs - topics.lows + 1
    >>> bool((np.log2(width) % 1 == 0).all() and (topics.lows % width == 0).all())
    True
    >>> bool((ranges.lows % (ranges.highs - ranges.lows + 1) == 0).all())
    False
    """
    if not 0 <= t <= 1:
        raise InputError(f"t = {t}: expected a share from 0 (all topics) to 1 (all ranges)")
    spec, wanted = named(WORKLOAD), events + probes + choosing
    zero, one = np.zeros(1), np.ones(1)
    lows, highs = (on_grid(side, zero, one, bits) for side in spec.subscriptions(n, seed))
    cell_lows, cell_highs = nearest_cells(lows, highs, bits)
    free = (uniforms(seed, "compare/free", 0, n) < t)[:, None]
    lows, highs = np.where(free, lows, cell_lows), np.where(free, highs, cell_highs)
    candidates = on_grid(spec.candidates(seed, 0, TRIED * wanted), zero, one, bits)
    points = wanted_points(lows, highs, candidates, wanted)
    return World(f"between {t:g}", seed, lows, highs, points, probes, bits, choosing=choosing)
