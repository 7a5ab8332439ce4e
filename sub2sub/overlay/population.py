"""A population: peers and their subscriptions, in the order of the ring.

Peers are numbered in the order of their sequence IDs (Sub-2-Sub, Section 4.1), so that comparing numbers
compares IDs. A peer is one subscription; a host with several subscriptions runs several (virtual) peers.

A peer's box does not change while others may have links to it, because the holder of a link knows the box. To
change its subscription, a host lets one peer leave and another join. Newcomers take the places of dormant
peers, which have random IDs like all others and are created in advance (`spare`) or when necessary (`grow`).
A peer that has left for good (`retire`) keeps its place until no link leads to it (`free`).

The distance of two subscriptions (`sub2sub.compiled.vicinity.proximity`) depends on the units of the
attributes: an axis of strings is longer than 2^48, and beside it a price hardly counts. `measure` therefore
sets a unit for each attribute. Units are rounded to powers of two: multiplication by these only changes
exponents, so the same boxes overlap as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.growth import Renumbering
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.vicinity.proximity import packed_boxes
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import closed, normalise
from sub2sub.peers.draws import cycle_key, stream_number
from sub2sub.rings.identifiers import sequence_ids

STREAM = stream_number("sequence-ids")
DORMANT, GONE = -1, -2


@dataclass(repr=False)
class Population:
    """Peers in the order of their sequence IDs.

    Attributes
    ----------
    ids : (n,) uint64
        Sequence IDs, ascending.
    boxes : (n, 2, >= d) float64
        Half-open boxes, packed for the kernels.
    d : int
        Number of attributes.
    row : (n,) int64
        The row of each peer's subscription in the input; a new number for a peer that joined later; `DORMANT`
        for a free place, `GONE` for a peer that has left for good.
    host : (n,) int64
        The host of each peer.
    seed : int
        Seed of the sequence IDs.
    scale : (>= d,) float64
        Factors of the coordinates in distances: powers of two.
    scaled : (n, 2, >= d) float64
        The boxes multiplied by `scale`; `boxes` itself if all factors are 1.

    Examples
    --------
    >>> population = Population.of([[0.0], [0.5], [0.2]], [[0.6], [1.0], [0.3]], ids=[30, 10, 20])
    >>> population.row, population.ids
    (array([1, 2, 0]), array([10, 20, 30], dtype=uint64))
    """

    ids: NDArray[np.uint64]
    boxes: NDArray[np.float64]
    d: int
    row: NDArray[np.int64]
    host: NDArray[np.int64]
    seed: int = 0
    scale: NDArray[np.float64] = field(init=False)
    scaled: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        """Use coordinates without factors."""
        self.scale, self.scaled = np.ones(self.boxes.shape[2]), self.boxes

    def measure(self, lengths: Sequence[float]) -> None:
        """Measure distances along each attribute in units of these lengths.

        Raises
        ------
        InputError
            For a length that is not finite and above 0, or another number of lengths.

        Examples
        --------
        >>> population = Population.of([[0.0, 0.0]], [[1.0, 500.0]])
        >>> population.measure([1.0, 1000.0])
        >>> population.scale[:2].tolist(), population.scaled[0, 1, :2].round(3).tolist()
        ([1.0, 0.0009765625], [1.0, 0.488])
        """
        if len(lengths) != self.d:
            raise InputError(f"axes: expected {self.d} lengths, one for each attribute, got {len(lengths)}")
        for length in lengths:
            if not (np.isfinite(length) and length > 0):
                raise InputError(f"axes: expected finite lengths above 0, got {length}")
        self.scale = np.ones(self.boxes.shape[2])
        self.scale[: self.d] = np.ldexp(1.0, -np.round(np.log2(lengths)).astype(int))
        self.scaled = self.boxes
        if (self.scale != 1.0).any():
            self.scaled = packed_boxes(self.boxes[:, 0, : self.d], self.boxes[:, 1, : self.d])
            self.rescale()

    def rescale(self, peers: NDArray[np.int64] | slice = slice(None)) -> None:
        """Compute the scaled boxes of peers, after their boxes have changed."""
        if self.scaled is not self.boxes:
            with np.errstate(over="ignore"):  # an open end may become infinite
                self.scaled[peers, :, : self.d] = self.boxes[peers, :, : self.d] * self.scale[: self.d]

    @classmethod
    def of(
        cls,
        lows: ArrayLike,
        highs: ArrayLike,
        ids: ArrayLike | None = None,
        hosts: ArrayLike | None = None,
        spare: int = 0,
        seed: int = 0,
    ) -> Population:
        """Peers for subscriptions: closed ranges [lows, highs], (n, d).

        By default `ids` are random numbers drawn from the seed, and every peer has a host of its own. `spare`
        is the number of dormant peers.
        """
        low, high = normalise(lows, highs)
        n, d = low.shape
        if not isinstance(spare, int | np.integer) or spare < 0:
            raise InputError(f"spare: expected a whole number of dormant peers from 0 on, got {spare!r}")
        numbers = _random_ids(n + spare, seed)
        if ids is not None:
            given = sequence_ids(ids, n)
            others = numbers[~np.isin(numbers, given)][:spare]
            numbers = np.concatenate([given, others])
        where = np.asarray(hosts if hosts is not None else np.arange(n))
        if where.shape != (n,) or where.dtype.kind not in "iu":
            raise InputError(f"hosts: expected {n} integers, got {where.dtype} of shape {where.shape}")
        order = np.argsort(numbers)
        row = np.where(order < n, order, DORMANT)
        taken = np.maximum(row, 0)
        host = np.where(row >= 0, where[taken], -1)
        boxes = packed_boxes(low[taken], high[taken])
        return cls(numbers[order], boxes, d, row, host.astype(np.int64), seed)

    @classmethod
    def of_size(cls, n: int, spare: int = 0, seed: int = 0) -> Population:
        """Peers without subscriptions, each on its own host.

        Examples
        --------
        >>> population = Population.of_size(3)
        >>> len(population), population.d
        (3, 0)
        """
        if n < 1 or spare < 0:
            raise InputError(f"population: expected 1 or more peers and 0 or more spare, got {n} and {spare}")
        numbers = _random_ids(n + spare, seed)
        order = np.argsort(numbers)
        row = np.where(order < n, order, DORMANT)
        return cls(numbers[order], np.empty((n + spare, 2, 0)), 0, row, np.where(row >= 0, row, -1), seed)

    def __len__(self) -> int:
        """The number of peers, including dormant ones."""
        return self.ids.size

    def __repr__(self) -> str:
        """One line."""
        present, attributes = int(self.present.sum()), f"{self.d} attribute{'' if self.d == 1 else 's'}"
        return f"<Population of {present} subscriptions, {attributes}, room for {len(self)}>"

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which peers have a subscription: neither dormant nor gone."""
        return self.row >= 0

    @property
    def dormant(self) -> NDArray[np.bool_]:
        """Which peers are dormant: places for newcomers."""
        dormant: NDArray[np.bool_] = self.row == DORMANT
        return dormant

    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The closed ranges (lows, highs) of all peers."""
        return closed(self.boxes[:, 0, : self.d].copy(), self.boxes[:, 1, : self.d].copy())

    def activate(self, peers: NDArray[np.int64], lows: ArrayLike, highs: ArrayLike, hosts: ArrayLike) -> None:
        """Give dormant peers subscriptions and hosts."""
        if self.d:
            low, high = normalise(lows, highs)
            self.boxes[peers, 0, : self.d], self.boxes[peers, 1, : self.d] = low, high
            self.rescale(peers)
        self.host[peers] = hosts
        self.row[peers] = int(self.row.max()) + 1 + np.arange(peers.size)

    def grow(self, more: int) -> Renumbering:
        """Add `more` dormant peers; the new numbers of all peers, which all layers need.

        Their IDs are the same as if they had been created at the start (`spare`).
        """
        found = _random_ids(len(self) + more, self.seed)
        ids = np.sort(np.concatenate([self.ids, found[~np.isin(found, self.ids)][:more]]))
        moved = Renumbering(self, np.searchsorted(ids, self.ids))
        self.ids, first = ids, np.argmax(self.row == 0)  # dormant peers get the box of row 0
        as_they_are = self.scaled is self.boxes
        self.boxes = moved.rows(self.boxes, self.boxes[first])
        self.scaled = self.boxes if as_they_are else moved.rows(self.scaled, self.scaled[first])
        self.row, self.host = moved.rows(self.row, DORMANT), moved.rows(self.host, -1)
        return moved

    def retire(self, peers: NDArray[np.int64]) -> None:
        """Record that peers have left for good, while others may still have links to them."""
        self.row[peers] = GONE

    def free(self, forgotten: NDArray[np.bool_]) -> None:
        """Make peers dormant that have left for good and to which no link leads (`forgotten`)."""
        self.row[forgotten & (self.row == GONE)] = DORMANT


def _random_ids(n: int, seed: int) -> NDArray[np.uint64]:
    """Distinct random sequence IDs."""
    key = cycle_key(seed, STREAM, 0)
    ids = np.empty(0, np.uint64)
    while ids.size < n:
        more = draws(key, np.arange(ids.size, n))
        _, first = np.unique(np.concatenate([ids, more]), return_index=True)
        ids = np.concatenate([ids, more])[np.sort(first)]
    return ids
