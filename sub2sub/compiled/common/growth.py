"""Growth: more room for newcomers in a running population. All peers get new numbers; nothing else changes.

Peers are numbered in the order of their sequence IDs. The IDs of new dormant peers lie between others, so
the peers after them get higher numbers. Only the simulator uses these numbers; peers do not notice.
`make_room` lets a population grow when necessary; every layer moves its own state (`grow`), with the help of
`Renumbering`. The order of peers stays the same, so arrays that are sorted by peer stay sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.memory import aligned
from sub2sub.compiled.common.views import FREE
from sub2sub.errors import InputError

if TYPE_CHECKING:
    from sub2sub.overlay.population import Population


@dataclass(frozen=True)
class Renumbering:
    """The new numbers of a population that has grown.

    Attributes
    ----------
    population : Population
        The population after it has grown.
    number : (before,) int64
        The new number of each old peer.

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
        """An array with one row per peer: old rows in their new places, new rows filled."""
        moved = aligned((len(self.population), *array.shape[1:]), fill, array.dtype)
        moved[self.number] = array
        return moved

    def peers(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The new numbers of peers; numbers below 0 stay."""
        moved = np.where(numbers >= 0, self.number[np.maximum(numbers, 0)], numbers)
        return moved.astype(numbers.dtype)

    def links(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of links (`sub2sub.compiled.common.views`) with the new numbers, in their new places."""
        used = words != FREE
        moved = np.where(used, words >> 32 << 32 | self.peers(np.where(used, words & 0xFFFFFFFF, -1)), FREE)
        return self.rows(moved, FREE)


@runtime_checkable
class Growing(Protocol):
    """A layer whose population can grow."""

    def grow(self, moved: Renumbering) -> None:
        """Move the state of all peers to their new numbers; new peers have not joined yet."""


def make_room(overlay: Any, count: int) -> Renumbering | None:
    """Make sure that an overlay has room for `count` newcomers.

    First, peers that have left and that no links lead to become dormant. If that is not enough, the
    population grows to at least twice its size, and the new numbers of all peers are returned.

    Raises
    ------
    InputError
        If the population has to grow and a layer cannot.

    Examples
    --------
    >>> from sub2sub.compiled.cyclon.layer import Cyclon
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
    """Make room for `more` additional newcomers; the new numbers of all peers."""
    network, stuck = overlay.network, [each for each in overlay.layers if not isinstance(each, Growing)]
    if stuck:
        raise InputError(f"the layer {stuck[0].name!r} cannot grow")
    moved: Renumbering = overlay.population.grow(more)
    network.alive, network.group = moved.rows(network.alive, 0), moved.rows(network.group, 0)
    overlay.grow(moved)
    return moved
