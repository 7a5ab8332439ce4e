"""Layers whose links feed those above them: what the ring layer and dissemination read.

CYCLON and VICINITY keep their links in rows (`sub2sub.overlay.views`), which kernels read as they are. Any
other layer says its links in `links()`; `Fed` puts them into such rows after each of its steps, so that it
can take VICINITY's place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.kernels.memory import LANES64
from sub2sub.overlay.growth import Growing, Renumbering
from sub2sub.overlay.layer import Layer
from sub2sub.overlay.network import Network
from sub2sub.overlay.views import FREE, empty_views

WIDTH = 32  # links of a peer that are passed on


@runtime_checkable
class Feed(Layer, Protocol):
    """A layer with its links in rows: `view`, and `size`, how many of each row are in use."""

    view: NDArray[np.int64]
    size: NDArray[np.int8]


class Fed:
    """A layer whose links are put into rows after each step.

    Of a peer's links the first 32 count. A layer that keeps no stamps (all are 0) is taken at its word: its
    links are as fresh as the cycle.

    Parameters
    ----------
    layer : Layer
    n : int
        Peers.

    Attributes
    ----------
    view : (n, 32) int64
        See `sub2sub.overlay.views`.
    size : (n,) int8
    """

    def __init__(self, layer: Layer, n: int) -> None:
        self.layer, self.name = layer, layer.name
        self.view, self.size = empty_views(n, WIDTH), np.zeros(n, np.int8)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Step the layer, and take over its links."""
        cost = self.layer.step(cycle, network)
        self._take_over(cycle)
        return cost

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start peers afresh."""
        self.layer.join(peers, contacts, cycle)
        self._take_over(cycle)

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The layer's own."""
        return self.layer.links()

    def grow(self, moved: Renumbering) -> None:
        """Go on with more peers, if the layer can."""
        if not isinstance(self.layer, Growing):
            raise InputError(
                f"population: the layer {self.name!r} cannot grow: give the population more to spare"
            )
        self.layer.grow(moved)
        self.view, self.size = moved.links(self.view), moved.rows(self.size, 0)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The layer's state, and the rows, which a layer without stamps could not give back."""
        return {**self.layer.arrays(), "fed/view": self.view, "fed/size": self.size}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """State from a checkpoint."""
        self.layer.load(arrays)
        self.view[...], self.size[...] = arrays["fed/view"], arrays["fed/size"]

    def _take_over(self, cycle: int) -> None:
        holders, peers, stamps = self.layer.links()
        n = len(self.size)
        if holders.size and not (0 <= min(holders.min(), peers.min()) <= max(holders.max(), peers.max()) < n):
            raise InputError(
                f"{self.name}: expected links between peers 0 to {n - 1}"
            )  # kernels do not check
        other = holders != peers
        holders, peers, stamps = holders[other], peers[other], stamps[other]
        order = np.argsort(holders, kind="stable")
        holders, peers, stamps = holders[order], peers[order], stamps[order]
        count = np.bincount(holders, minlength=len(self.size))
        place = np.arange(holders.size) - np.repeat(np.cumsum(count) - count, count)
        fits = place < WIDTH
        made = np.where(stamps > 0, stamps, cycle)
        self.view[...] = FREE
        self.view[holders[fits], place[fits]] = (made[fits] << 32) | peers[fits]
        self.size[...] = np.minimum(count, WIDTH)


def feed_of(layer: Layer, n: int) -> Feed:
    """The layer itself where its links stand in rows that kernels can read, else with such rows.

    Examples
    --------
    >>> from sub2sub.cyclon.layer import Cyclon
    >>> cyclon = Cyclon(4)
    >>> feed_of(cyclon, 4) is cyclon
    True
    """
    if isinstance(layer, Feed):
        view, size = layer.view, layer.size
        if view.dtype == np.int64 and size.dtype == np.int8 and view.shape[1] % LANES64 == 0:
            return layer
    return cast(Feed, Fed(layer, n))
