"""The views of all peers of an overlay, as one bundle of arrays for kernels.

Dissemination and publishers read the views of the three layers, and never change them. The holder of a link
also knows the box of its peer. Boxes do not change while there are links to them (see
`sub2sub.overlay.population`), so that box is the peer's row of `boxes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.views import FREE, empty_views, peer_of, stamp_of
from sub2sub.compiled.machinery.compilation import kernel, rule
from sub2sub.geometry.boxes import points

if TYPE_CHECKING:
    from sub2sub.overlay.stack import Stack


class Links(NamedTuple):
    """The views of a population.

    Attributes
    ----------
    d : int
        Number of attributes.
    boxes : (n, 2, >= d) float64
        Half-open boxes, see `sub2sub.compiled.vicinity.proximity.packed_boxes`.
    host : (n,) int64
        The host of each peer, see `sub2sub.compiled.events.hosts`; -1 for none.
    near, near_size : (n, >= view) int64, (n,) int8
        The proximity links of each peer, see `sub2sub.compiled.common.views`, and their number.
    random, random_size
        The same for random links.
    ring_start, ring_size : (n,) int64, (n,) int32
        Where in `ring_peer` the ring neighbours of a peer begin, and their number.
    ring_peer : (places,) int32
        Ring neighbours; those of one peer in the order of the ring, beginning with its successor.
    """

    d: int
    boxes: NDArray[np.float64]
    host: NDArray[np.int64]
    near: NDArray[np.int64]
    near_size: NDArray[np.int8]
    random: NDArray[np.int64]
    random_size: NDArray[np.int8]
    ring_start: NDArray[np.int64]
    ring_size: NDArray[np.int32]
    ring_peer: NDArray[np.int32]

    @classmethod
    def of(cls, overlay: Stack) -> Links:
        """The current views of an overlay, without copies.

        Of any other stack, the layers named cyclon, vicinity and ring; a missing layer has no links.

        Examples
        --------
        >>> from sub2sub.overlay.overlay import Overlay
        >>> overlay = Overlay.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]])
        >>> Links.of(overlay).random_size
        array([1, 1, 1], dtype=int8)
        """
        kinds: Mapping[str, Any] = getattr(overlay, "kinds", {layer.name: layer for layer in overlay.layers})
        population, n = overlay.population, len(overlay.population)
        near, random = (_rows(kinds.get(name), n) for name in ("vicinity", "cyclon"))
        nobody = np.zeros(n, np.int64), np.zeros(n, np.int32), np.empty(0, np.int32)
        pool = kinds["ring"].pool if "ring" in kinds else None
        ring = nobody if pool is None else (pool.start, pool.size, np.ascontiguousarray(pool.peer))
        return cls(population.d, population.boxes, population.host, *near, *random, *ring)

    def younger(self, age: int) -> Links:
        """The same without proximity and random links older than `age` cycles.

        Ages are relative to the youngest link of the layer, because every cycle makes new links. In a layer
        without stamps all links have the same age.
        """
        near, near_size = _without_older(self.near, _newest(self.near) - age)
        random, random_size = _without_older(self.random, _newest(self.random) - age)
        return self._replace(near=near, near_size=near_size, random=random, random_size=random_size)

    def packed(self, events: ArrayLike) -> NDArray[np.float64]:
        """Validated events (m, d) as boxes that contain only this point, packed like `boxes`."""
        at = points(events, self.d)
        packed = np.zeros((len(at), 2, self.boxes.shape[2]))
        packed[:, 0, : self.d] = at
        packed[:, 1] = np.nextafter(packed[:, 0], np.inf)
        return packed


def _rows(layer: Any, n: int) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """The rows of links of a layer, and the number of links in each."""
    if layer is None:
        return empty_views(n, 1), np.zeros(n, np.int8)
    return layer.view, layer.size


@kernel
def _newest(view):
    """The latest stamp in all rows, 0 if there is no link."""
    newest = np.int64(0)
    for i in range(view.shape[0]):
        for word in view[i]:
            if word != FREE:
                newest = max(newest, stamp_of(word))
    return newest


@kernel
def _without_older(view, oldest):
    """Copies of all rows with only the links made since `oldest`, and the number of links in each."""
    young, size = np.full_like(view, FREE), np.zeros(view.shape[0], np.int8)
    for i in range(view.shape[0]):
        count = 0
        for word in view[i]:
            if word != FREE and stamp_of(word) >= oldest:
                young[i, count] = word
                count += 1
        size[i] = count
    return young, size


@rule
def target(links, holder, place):
    """The peer of a link of `holder`: places count its proximity links, then random, then ring links."""
    near = np.int64(links.near_size[holder])
    if place < near:
        return peer_of(links.near[holder, place])
    place -= near
    random = np.int64(links.random_size[holder])
    if place < random:
        return peer_of(links.random[holder, place])
    return np.int64(links.ring_peer[links.ring_start[holder] + place - random])
