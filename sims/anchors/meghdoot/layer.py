"""The layer of Meghdoot's content-addressable network."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sims.anchors.meghdoot.peer import MeghdootPeer
from sims.anchors.meghdoot.settings import MeghdootSettings
from sims.anchors.objects import ObjectLayer
from sub2sub.compiled.common.randomness import draws
from sub2sub.peers.draws import cycle_key, stream_number

JITTER = stream_number("anchors/meghdoot points")
Floats = NDArray[np.float64]


class Scale:
    """From ranges to points of the unit cube, and from events to the corner of what they concern.

    `step` is the resolution of values; within one step points are random, so that equal subscriptions are
    different points with different zones.

    Parameters
    ----------
    low, high : (d,) float64
        The domain of each attribute, which all peers know.
    step : (d,) float64
        Resolution of each; 1 where values are whole numbers.

    Examples
    --------
    >>> scale = Scale(np.array([0.0]), np.array([9.0]), step=np.array([1.0]))
    >>> points = scale.points(np.array([[2.0]]), np.array([[4.0]]), seed=1)
    >>> bool(0.2 <= points[0, 0] < 0.3), bool(0.4 <= points[0, 1] < 0.5)
    (True, True)
    >>> scale.corner(np.array([4.0])).round(3).tolist()  # low ends below 0.5, high ends from 0.4 on
    [0.5, 0.4]
    """

    def __init__(self, low: Floats, high: Floats, step: Floats) -> None:
        self.low, self.step = low, step
        self.width = high - low + step

    def points(self, lows: Floats, highs: Floats, seed: int) -> Floats:
        """Points of subscriptions, (n, 2 d)."""
        n, d = lows.shape
        found = np.empty((n, 2 * d))
        for k in range(2 * d):
            inside = draws(cycle_key(seed, JITTER, 0), np.arange(n), k) / 2.0**64
            ends = (lows, highs)[k % 2][:, k // 2]
            found[:, k] = (ends - self.low[k // 2] + self.step[k // 2] * inside) / self.width[k // 2]
        return np.clip(found, 0.0, np.nextafter(1.0, 0.0))

    def corner(self, event: Floats) -> Floats:
        """The point (2 d,) up to which low ends, and from which on high ends, may match an event."""
        found = np.repeat((event - self.low) / self.width, 2)
        found[::2] += self.step / self.width
        return np.clip(found, 0.0, 1.0)


class Meghdoot(ObjectLayer[MeghdootPeer]):
    """A content-addressable network of subscribers.

    `points` gives the points (n, 2 d) of all peers, as they subscribe now.
    """

    name = "meghdoot"

    def __init__(self, n: int, points: Callable[[], Floats], settings: MeghdootSettings, seed: int) -> None:
        self.points, self._at = points, points()
        super().__init__(n, settings, seed)

    def fresh(self, peer: int) -> MeghdootPeer:
        """A peer without a zone."""
        return MeghdootPeer(peer, tuple(self._at[peer].tolist()), self.settings)

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start peers; if no peer has a zone, the one without a contact starts with the whole space."""
        self._at = self.points()
        super().join(peers, contacts, cycle)
        if not any(peer.zones for peer in self.peers):
            self.peers[int(peers[np.argmin(contacts)])].take_whole_space()
