"""The few peers one live peer knows, numbered as the simulator numbers a population.

The rules of the three layers take peers by number, in the order of their sequence IDs, and a view as a row of
64-bit words (`sub2sub.overlay.views`). They never ask for more than that order and the peers' boxes. So a
live peer can hand them the little population it knows of, and they decide what they would decide in the large
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.simd.links import padded
from sub2sub.live.core.descriptors import Descriptor, Link
from sub2sub.overlay.views import FREE

__all__ = ["Crowd"]

_LOW = 0xFFFFFFFF


class Crowd:
    """Some peers in the order of their sequence IDs; of two with the same ID the one named first counts.

    Examples
    --------
    >>> a, b = Descriptor.of(9, "h", 1, [0.0], [1.0]), Descriptor.of(4, "h", 2, [0.0], [1.0])
    >>> crowd = Crowd([a, b])
    >>> crowd.number[9], crowd.peers[0].id
    (1, 4)
    """

    def __init__(self, peers: Iterable[Descriptor]) -> None:
        known: dict[int, Descriptor] = {}
        for peer in peers:
            known.setdefault(peer.id, peer)
        self.peers = [known[id] for id in sorted(known)]
        self.number = {peer.id: number for number, peer in enumerate(self.peers)}

    @cached_property
    def boxes(self) -> NDArray[np.float64]:
        """Their half-open boxes, packed for the rules."""
        return np.array([peer.box for peer in self.peers])

    def row(self, links: Sequence[Link], room: int) -> NDArray[np.int64]:
        """Links as a row of words with room for at least `room`."""
        row = np.full(padded(max(room, len(links), 1)), FREE)
        row[: len(links)] = [(stamp << 32) | self.number[peer.id] for peer, stamp in links]
        return row

    def links(self, row: NDArray[np.int64], size: int) -> list[Link]:
        """The first `size` words of a row as links."""
        return [Link(self.peers[word & _LOW], word >> 32) for word in row[:size].tolist()]
