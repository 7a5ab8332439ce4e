"""VICINITY with a custom distance: peers that are near on a map and have similar interests.

The distance is a function of two profiles, arrays of any numbers: here the ends of a range and a position on
the map. Python calls it for every pair that is compared, so `numba.njit` is worth its while.

`Overlay.of(lows, highs, proximity=distance)` does the same for the subscriptions of Sub-2-Sub's overlay.
"""

from __future__ import annotations

import numba
import numpy as np

from sub2sub import Stack, VicinitySettings
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.overlay.nearest import Nearest

PEERS, INTEREST_MATTERS = 1_000, 5.0


@numba.njit
def distance(a, b):
    """How far b is from a: on the map, and much farther if their ranges do not overlap."""
    gap = max(a[0] - b[1], b[0] - a[1], 0.0)
    x, y = a[2] - b[2], a[3] - b[3]
    return np.sqrt(x * x + y * y) + INTEREST_MATTERS * gap


def distances(layer: Layer, place: np.ndarray) -> float:
    """Mean distance on the map between the two peers of a link."""
    holders, peers, _ = layer.links()
    return float(np.linalg.norm(place[holders] - place[peers], axis=1).mean())


def main() -> None:
    """Let a thousand peers find near ones."""
    rng = np.random.default_rng(1)
    low, place = rng.random((PEERS, 1)) * 0.7, rng.random((PEERS, 2))
    profiles = np.hstack([low, low + 0.3, place])

    cyclon = Cyclon(PEERS, seed=1)
    near = Nearest(profiles, distance, cyclon, VicinitySettings(view=16), seed=1)
    Stack(PEERS, [cyclon, near], seed=1).run(40)

    holders, peers, _ = near.links()
    overlapping = np.abs(low[holders] - low[peers]) <= 0.3
    random, chosen = distances(cyclon, place), distances(near, place)
    print(f"distance of random links {random:.2f}, of VICINITY's {chosen:.2f}")
    print(f"VICINITY's links to peers with overlapping interests: {overlapping.mean():.0%}")


if __name__ == "__main__":
    main()
