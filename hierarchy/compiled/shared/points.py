"""VICINITY over the points (low, high) of ranges, where peers with equal ranges are nearest to one another.

For VICINITY over ranges, all overlapping peers are equally near, so the many subscribers of popular
supertopics replace the few of a peer's own topic. Here a subscription is a point with two coordinates for
each attribute, the low and the high end of its range. Its distance is 0 only from equal ranges; tight
enclosing ranges come next, and of two nested ranges the tighter is never farther. All else is
`sub2sub.compiled.vicinity`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierarchy.peers.tables import POINTS
from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.vicinity.layer import Vicinity
from sub2sub.compiled.vicinity.proximity import packed_boxes
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import VicinitySettings


def point_boxes(boxes: NDArray[np.float64], d: int) -> NDArray[np.float64]:
    """For half-open boxes of d attributes, boxes that contain only the point (lows, highs).

    Examples
    --------
    >>> point_boxes(packed_boxes(np.array([[2.0]]), np.array([[5.0]])), 1)[0, 0, :2]
    array([2., 5.])
    """
    corners = np.concatenate([boxes[:, 0, :d], boxes[:, 1, :d]], axis=1)
    with np.errstate(over="ignore"):  # an end at the largest double
        return packed_boxes(corners, np.nextafter(corners, np.inf))


class Points(Vicinity):
    """The VICINITY layer over the points of a population's ranges.

    Parameters
    ----------
    cyclon : Cyclon
        The layer that supplies random links; the engine steps it before this one.

    Examples
    --------
    >>> population = Population.of([[0.0]] * 30 + [[1.0]] * 5, [[9.0]] * 30 + [[2.0]] * 5)
    >>> Points(population, Cyclon(35, seed=1), seed=1).boxes.shape
    (35, 2, 4)
    """

    name = "points"
    saved = (*Vicinity.saved, "boxes")  # the points of newcomers, too

    def __init__(
        self, population: Population, cyclon: Cyclon, settings: VicinitySettings | None = None, seed: int = 0
    ) -> None:
        self.population = population
        # Messages contain ranges, not points, so `d` determines their size.
        super().__init__(
            point_boxes(population.boxes, population.d), population.d, cyclon, settings, seed ^ POINTS
        )

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the views of `peers`, whose ranges may have changed."""
        self.boxes[peers] = point_boxes(self.population.boxes[peers], self.population.d)
        super().join(peers, contacts, cycle)

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers."""
        super().grow(moved)
        self.boxes = point_boxes(self.population.boxes, self.population.d)
