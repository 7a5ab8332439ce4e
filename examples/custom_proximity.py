"""VICINITY with a distance of one's own: peers that are near on the map and want similar things.

VICINITY compares boxes, and their distance is that of their gaps. So a proximity is a way to place boxes:
here the subscription, scaled by how much it matters, and two more attributes on which a peer is a point, its
place on the map. Two peers with overlapping interests are then as far apart as they are on the map.
"""

from __future__ import annotations

import numpy as np

from sims.engine import Simulation, Stack
from sub2sub.cyclon.layer import Cyclon
from sub2sub.geometry.boxes import normalise
from sub2sub.overlay.population import Population
from sub2sub.vicinity.layer import Vicinity
from sub2sub.vicinity.proximity import packed_boxes
from sub2sub.vicinity.settings import VicinitySettings

PEERS, INTEREST_MATTERS = 1_000, 5.0


def distances(layer: Cyclon | Vicinity, place: np.ndarray) -> float:
    """Mean distance on the map of the two ends of a link."""
    holders, peers, _ = layer.links()
    return float(np.linalg.norm(place[holders] - place[peers], axis=1).mean())


def main() -> None:
    """Let a thousand peers look for near ones."""
    rng = np.random.default_rng(1)
    low = rng.random((PEERS, 1)) * 0.7
    people = Population.of(low, low + 0.3, seed=1)
    place = rng.random((PEERS, 2))  # of peer k of the population

    wanted_low, wanted_high = (side * INTEREST_MATTERS for side in people.ranges())
    where = np.hstack([wanted_low, place]), np.hstack([wanted_high, place])
    boxes = packed_boxes(*normalise(*where))

    cyclon = Cyclon(PEERS, seed=1)
    vicinity = Vicinity(boxes, 3, cyclon, VicinitySettings(view=16), seed=1)
    stack = Stack(people, [cyclon, vicinity], seed=1)
    stack.bootstrap()
    Simulation(stack).run(40)

    holders, peers, _ = vicinity.links()
    lows, highs = people.ranges()
    overlapping = (lows[holders] <= highs[peers]) & (lows[peers] <= highs[holders])
    random, near = distances(cyclon, place), distances(vicinity, place)
    print(f"distance of random links {random:.2f}, of VICINITY's {near:.2f}")
    print(f"VICINITY's links to peers with overlapping interests: {overlapping.mean():.0%}")


if __name__ == "__main__":
    main()
