"""VICINITY over the points (low, high) of ranges, where peers with equal ranges are nearest to one another.

To VICINITY over ranges all that overlap are equally near, so that the many subscribers of popular
supertopics displace the few of one's own topic. Seen as a point with two coordinates for each attribute, the
low end and the high end of its range, a subscription is at distance 0 from equal ones alone; tight enclosing
ranges come next, and of two nested ones the tighter is never the farther. Everything else is
`sub2sub.vicinity` as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sub2sub.cyclon.layer import Cyclon
from sub2sub.kernels.randomness import stream_number
from sub2sub.overlay.growth import Renumbering
from sub2sub.overlay.population import Population
from sub2sub.vicinity.layer import Vicinity
from sub2sub.vicinity.proximity import packed_boxes
from sub2sub.vicinity.settings import VicinitySettings

APART = stream_number("points")  # keeps the draws apart from those of the VICINITY over ranges


def point_boxes(boxes: NDArray[np.float64], d: int) -> NDArray[np.float64]:
    """Half-open boxes of d attributes as boxes that hold the point (lows, highs) alone.

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
        The layer that supplies random links; stepped before this one.

    Examples
    --------
    >>> population = Population.of([[0.0]] * 30 + [[1.0]] * 5, [[9.0]] * 30 + [[2.0]] * 5)
    >>> Points(population, Cyclon(35, seed=1), seed=1).boxes.shape
    (35, 2, 4)
    """

    name = "points"
    saved = (*Vicinity.saved, "boxes")  # points of newcomers included

    def __init__(
        self, population: Population, cyclon: Cyclon, settings: VicinitySettings | None = None, seed: int = 0
    ) -> None:
        self.population = population
        # A message carries ranges, not points: `d` is what its size is counted with.
        super().__init__(
            point_boxes(population.boxes, population.d), population.d, cyclon, settings, seed ^ APART
        )

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Empty the views of `peers`, whose ranges may be others than before."""
        self.boxes[peers] = point_boxes(self.population.boxes[peers], self.population.d)
        super().join(peers, contacts, cycle)

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers."""
        super().grow(moved)
        self.boxes = point_boxes(self.population.boxes, self.population.d)
