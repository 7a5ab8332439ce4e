"""What messages consist of: descriptors of peers, links with their age, and the bytes that each takes.

The readable peers (`sub2sub.peers.cyclon` and its siblings) use descriptors where the kernels use peer
numbers and rows of boxes. In tests the ID of a peer is its number in the population. The ID of a live peer is
its sequence ID, and its address is a host and a port. Protocols do not use the address.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sub2sub.errors import InputError
from sub2sub.geometry.boxes import LARGEST, TOP, closed, normalise
from sub2sub.rings.identifiers import sequence_id

AROUND = 2**64  # sequence IDs around the ring

Coordinates = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A peer: one subscription at one address, with one sequence ID that never changes.

    Attributes
    ----------
    id : int
        Sequence ID, unsigned 64 bits.
    low, high : tuple of float
        Its subscription, closed ranges.
    address
        Where to send messages to it.
    end : tuple of float
        The ends of the half-open ranges [low, end), which equal [low, high].
    packed : bytes
        Its bytes in messages, kept after they were first computed (`sub2sub.live.wire.format`).

    Examples
    --------
    >>> peer = Descriptor.of(7, [0.25], [0.5], ("127.0.0.1", 9000))
    >>> peer.matches((0.5,)), peer.matches((0.6,))
    (True, False)
    """

    id: int
    low: Coordinates
    high: Coordinates
    address: Any = None
    end: Coordinates = field(init=False, compare=False, repr=False)
    packed: bytes = field(default=b"", init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Compute the half-open box, as `sub2sub.geometry.boxes.normalise` does."""
        end = tuple([math.nextafter(min(high, TOP), math.inf) + 0.0 for high in self.high])
        object.__setattr__(self, "end", end)
        if any(low > TOP for low in self.low):
            object.__setattr__(self, "low", tuple([min(low, TOP) for low in self.low]))

    def __hash__(self) -> int:
        return hash(self.id)

    @classmethod
    def of(cls, id: int, low: ArrayLike, high: ArrayLike, address: Any = None) -> Descriptor:
        """A peer with validated ranges; infinite ends become the largest doubles.

        Raises
        ------
        InputError
            For NaN, low > high, wrong shapes or an invalid ID.
        """
        if np.ndim(low) != 1 or np.ndim(high) != 1:
            raise InputError(f"low, high: expected shape (d,), got {np.shape(low)}, {np.shape(high)}")
        lows, highs = closed(*normalise(np.atleast_2d(low), np.atleast_2d(high), ("low", "high")))
        return cls(sequence_id(id), tuple(lows[0].tolist()), tuple(highs[0].tolist()), address)

    @classmethod
    def half_open(cls, id: int, low: Coordinates, end: Coordinates, address: Any = None) -> Descriptor:
        """A peer with the half-open ranges [low, end).

        Examples
        --------
        >>> Descriptor.half_open(3, (0.0,), (1.0,)).matches((1.0,))
        False
        """
        high = tuple([LARGEST if x == LARGEST else math.nextafter(x, -math.inf) for x in end])
        return cls(id, tuple(low), high, address)

    @property
    def d(self) -> int:
        """Number of attributes."""
        return len(self.low)

    def matches(self, point: Coordinates) -> bool:
        """Whether its subscription contains a point."""
        for low, x, high in zip(self.low, point, self.high, strict=True):  # noqa: SIM110 (3 times as fast)
            if not low <= x <= high:
                return False
        return True

    def overlaps(self, other: Descriptor) -> bool:
        """Whether two subscriptions share a point."""
        for low, high, its_low, its_high in zip(self.low, self.high, other.low, other.high):  # noqa: B905
            if low > its_high or its_low > high:
                return False
        return True

    def squared_distance(self, other: Descriptor) -> float:
        """Squared distance of two subscriptions; -1 if they share a point.

        Examples
        --------
        >>> one, other = Descriptor.half_open(1, (0.0,), (1.0,)), Descriptor.half_open(2, (3.0,), (4.0,))
        >>> one.squared_distance(other), one.squared_distance(one)
        (4.0, -1.0)
        """
        total, overlap = 0.0, True
        for low, end, its_low, its_end in zip(self.low, self.end, other.low, other.end):  # noqa: B905 (hot)
            if low >= its_end:
                gap = low - its_end
            elif its_low >= end:
                gap = its_low - end
            else:
                continue
            overlap = False
            total += gap * gap
        return -1.0 if overlap else total


class Link(NamedTuple):
    """An entry of a view: a peer, and its stamp, the cycle in which it was last heard from."""

    peer: Descriptor
    stamp: int


make_link = partial(tuple.__new__, Link)
"""make_link((peer, stamp)): twice as fast as Link(...); a cycle makes hundreds of links."""


def ring_distance(a: int, b: int, around: int = AROUND) -> int:
    """The distance between two IDs on a ring of `around` IDs, in the shorter direction.

    Examples
    --------
    >>> ring_distance(2**64 - 1, 2), ring_distance(9, 1, around=10)
    (3, 2)
    """
    return min((a - b) % around, (b - a) % around)


def oldest_place(view: Sequence[Link]) -> int:
    """Place of the oldest link of a view; of equally old ones, the link to the lowest ID."""
    stamps = [link[1] for link in view]
    oldest = min(stamps)
    place = stamps.index(oldest)
    if stamps.count(oldest) == 1:
        return place
    return min(range(place, len(view)), key=lambda k: (stamps[k], view[k][0].id))


def remove_place(view: list[Link], place: int) -> Link:
    """Remove a link from a view; the last link takes its place."""
    removed = view[place]
    view[place] = view[-1]
    view.pop()
    return removed


# Sizes in bytes. A message has a header and a body. Addresses are IPv4, numbers have eight bytes. The headers
# of the transport (TCP, UDP, IP) are not included.
HEADER = 12  # a message without its body
LINK = 10  # address, port and age of a peer
DESCRIPTOR = 18  # the same with a sequence ID; the peer's box is added
RANGE = 16  # both ends of one attribute's range
VALUE = 8  # one attribute of an event
CONTENT = 256  # the content of an event, besides its point
NAME = 8  # a process, a topic, a key or a number
ACK = HEADER  # an acknowledgement
MAX_DATA = 1 << 16  # the largest content of an event of a live peer


def event_bytes(d: int) -> int:
    """Bytes of a message that carries an event with d attributes.

    Examples
    --------
    >>> event_bytes(3)
    292
    """
    return HEADER + VALUE * d + CONTENT
