"""More room for newcomers while a population runs: everybody gets a new number, and keeps all else.

Peers are numbered in the order of their sequence IDs, so the IDs of new dormant peers lie between those of
others, and every peer after one of them gets a higher number than before. This is the simulator's matter: no
peer notices. `make_room` does it when it is needed; a layer moves its own state (`grow`), with what is here.
Numbers keep their order, so whatever was sorted by them still is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sub2sub.errors import InputError
from sub2sub.kernels.memory import aligned
from sub2sub.overlay.views import FREE

if TYPE_CHECKING:
    from sub2sub.overlay.population import Population


@dataclass(frozen=True)
class Renumbering:
    """The new numbers of a population that has grown.

    Attributes
    ----------
    population : Population
        As it is now.
    number : (before,) int64
        The new number of each peer that was there before.

    Examples
    --------
    >>> from sub2sub.overlay.population import Population
    >>> population = Population.of([[0.0], [0.5]], [[0.6], [1.0]], seed=3)
    >>> moved = population.grow(2)
    >>> moved.number, len(population), population.row
    (array([1, 3]), 4, array([-1,  0, -1,  1]))
    >>> moved.peers(np.array([1, -1, 0])), moved.rows(np.array([5, 6]), fill=0)
    (array([ 3, -1,  1]), array([0, 5, 0, 6]))
    """

    population: Population
    number: NDArray[np.int64]

    def rows(self, array: NDArray[Any], fill: Any) -> NDArray[Any]:
        """An array with a row for each peer: the old rows in their new places, the others filled."""
        moved = aligned((len(self.population), *array.shape[1:]), fill, array.dtype)
        moved[self.number] = array
        return moved

    def peers(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Peers by their new numbers; what is below 0 stays."""
        moved = np.where(numbers >= 0, self.number[np.maximum(numbers, 0)], numbers)
        return moved.astype(numbers.dtype)

    def links(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Links in a row for each peer (`sub2sub.overlay.views`), to the same peers, in their new rows."""
        used = words != FREE
        moved = np.where(used, words >> 32 << 32 | self.peers(np.where(used, words & 0xFFFFFFFF, -1)), FREE)
        return self.rows(moved, FREE)


@runtime_checkable
class Growing(Protocol):
    """A layer that can go on with more peers."""

    def grow(self, moved: Renumbering) -> None:
        """Give the state of every peer its new place; that of new ones is as if nobody had joined yet."""


def make_room(overlay: Any, count: int) -> Renumbering | None:
    """See to it that so many newcomers find room in an overlay.

    Peers that left and to which no links remain are forgotten first. If that is not enough, the population
    grows to twice its size or more, and all peers have new numbers from then on, which are returned.

    Parameters
    ----------
    overlay : Stack, or another with the same population, network, layers and `grow`
    count : int

    Raises
    ------
    InputError
        If there is not enough room and a layer cannot grow.

    Examples
    --------
    >>> from sub2sub.cyclon.layer import Cyclon
    >>> from sub2sub.overlay.stack import Stack
    >>> stack = Stack(50, [Cyclon(50, seed=1)], seed=1).run(10)
    >>> moved = make_room(stack, 3)
    >>> len(stack.population), int(stack.population.dormant.sum()), int(stack.run(5).referenced().sum())
    (100, 50, 50)
    """
    population = overlay.population
    if population.dormant.sum() < count:
        population.free(~overlay.referenced())
    lacking = count - int(population.dormant.sum())
    if lacking <= 0:
        return None
    try:
        return grow(overlay, max(lacking, len(population)))
    except InputError as error:
        raise InputError(
            f"population: expected {count} spare peers, {count - lacking} are left, and {error}: give the "
            "population more to spare"
        ) from None


def grow(overlay: Any, more: int) -> Renumbering:
    """Make room for so many more newcomers than there is; everybody's new number."""
    network, stuck = overlay.network, [each for each in overlay.layers if not isinstance(each, Growing)]
    if stuck:
        raise InputError(f"the layer {stuck[0].name!r} cannot grow")
    moved: Renumbering = overlay.population.grow(more)
    network.alive, network.group = moved.rows(network.alive, 0), moved.rows(network.group, 0)
    overlay.grow(moved)
    return moved
