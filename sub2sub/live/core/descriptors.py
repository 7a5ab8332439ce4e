"""What peers tell one another about peers: who, where, what it subscribes to, and how old the news is.

Inside a core a link has a *stamp*, when its peer was last heard from, as in the simulator. Peers do not
share a clock, so a message says an *age* instead (CYCLON's own way), and each core has a clock of its own:
stamp = clock - age. The time on the wire is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.errors import InputError
from sub2sub.geometry.boxes import closed, normalise
from sub2sub.rings.identifiers import sequence_id
from sub2sub.vicinity.proximity import packed_boxes

__all__ = ["Descriptor", "Link", "Mention"]


@dataclass(frozen=True)
class Descriptor:
    """A peer: one subscription at one address, under one sequence ID for as long as it lasts.

    Attributes
    ----------
    id : int
        Sequence ID, unsigned 64 bits.
    host, port
        Where it listens.
    low, high : tuple of float
        Its subscription, closed ranges.

    Examples
    --------
    >>> peer = Descriptor.of(7, "127.0.0.1", 9000, [0.25], [0.5])
    >>> peer.matches((0.5,)), peer.matches((0.6,))
    (True, False)
    """

    id: int
    host: str
    port: int
    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def of(cls, id: int, host: str, port: int, low: ArrayLike, high: ArrayLike) -> Descriptor:
        """A peer with validated ranges; infinite ends become those of the doubles.

        Raises
        ------
        InputError
            For NaN, low > high, wrong shapes or an ID that is none.
        """
        if np.ndim(low) != 1 or np.ndim(high) != 1:
            raise InputError(f"low, high: expected shape (d,), got {np.shape(low)}, {np.shape(high)}")
        lows, highs = closed(*normalise(np.atleast_2d(low), np.atleast_2d(high), ("low", "high")))
        return cls(sequence_id(id), host, port, tuple(lows[0].tolist()), tuple(highs[0].tolist()))

    @property
    def d(self) -> int:
        """Number of attributes."""
        return len(self.low)

    @cached_property
    def box(self) -> NDArray[np.float64]:
        """The half-open box, packed for the rules: (2, >= d)."""
        box: NDArray[np.float64] = packed_boxes(*normalise([self.low], [self.high]))[0]
        return box

    def matches(self, point: tuple[float, ...]) -> bool:
        """Whether it wants an event at that point."""
        return all(low <= x <= high for low, x, high in zip(self.low, point, self.high, strict=True))


class Link(NamedTuple):
    """A peer as a view holds it."""

    peer: Descriptor
    stamp: int


class Mention(NamedTuple):
    """A peer as a message mentions it.

    `age` is the time since it was last heard from by anybody, `held` (ring links only) since the sender took
    it up: what was offered before need not be considered again.
    """

    peer: Descriptor
    age: int
    held: int = 0
