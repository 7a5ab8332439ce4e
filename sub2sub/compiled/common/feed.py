"""Layers whose links are the input of the ring layer and of dissemination.

CYCLON and VICINITY keep their links in rows (`sub2sub.compiled.common.views`), which kernels read directly.
Any other layer returns its links from `links()`; `Fed` copies them into such rows after each step, so that
any layer can replace VICINITY.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.growth import Growing, Renumbering
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.memory import LANES64
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import FREE, LinkTable, empty_views
from sub2sub.errors import InputError

WIDTH = 32  # links of a peer that are copied, at most


@runtime_checkable
class Feed(Layer, Protocol):
    """A layer with its links in rows: `view`, and `size`, the number of links in each row."""

    view: NDArray[np.int64]
    size: NDArray[np.int8]


class Fed:
    """A layer, and a copy of its links in rows, which is made after each step.

    Of each peer the first 32 links are copied. If a layer keeps no stamps (all are 0), its links get the
    current cycle as their stamp.

    Parameters
    ----------
    n : int
        Peers.

    Attributes
    ----------
    view : (n, 32) int64
        See `sub2sub.compiled.common.views`.
    size : (n,) int8
    """

    def __init__(self, layer: Layer, n: int) -> None:
        self.layer, self.name = layer, layer.name
        self.view, self.size = empty_views(n, WIDTH), np.zeros(n, np.int8)

    def step(self, cycle: int, network: Network) -> Mapping[str, int]:
        """Step the layer, and copy its links."""
        cost = self.layer.step(cycle, network)
        self._take_over(cycle)
        return cost

    def join(self, peers: NDArray[np.int64], contacts: NDArray[np.int64], cycle: int) -> None:
        """Start peers afresh."""
        self.layer.join(peers, contacts, cycle)
        self._take_over(cycle)

    def links(self) -> LinkTable:
        """The links of the layer."""
        return self.layer.links()

    def grow(self, moved: Renumbering) -> None:
        """Move the state of all peers to their new numbers, if the layer can."""
        if not isinstance(self.layer, Growing):
            raise InputError(
                f"population: the layer {self.name!r} cannot grow: give the population more to spare"
            )
        self.layer.grow(moved)
        self.view, self.size = moved.links(self.view), moved.rows(self.size, 0)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The layer's state, and the rows: a layer without stamps could not restore them."""
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
    """The layer itself if kernels can read its rows, else the layer with a copy of its links in rows.

    Examples
    --------
    >>> from sub2sub.compiled.cyclon.layer import Cyclon
    >>> cyclon = Cyclon(4)
    >>> feed_of(cyclon, 4) is cyclon
    True
    """
    if isinstance(layer, Feed):
        view, size = layer.view, layer.size
        if view.dtype == np.int64 and size.dtype == np.int8 and view.shape[1] % LANES64 == 0:
            return layer
    return cast(Feed, Fed(layer, n))
