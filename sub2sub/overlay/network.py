"""The network under all layers: live peers, partitions, loss, and how long messages take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import rule
from sub2sub.kernels.randomness import draw, unit
from sub2sub.kernels.references import by_reference
from sub2sub.timing.settings import Timing


@by_reference
class Faults(NamedTuple):
    """A `Network` as kernels take it."""

    alive: NDArray[np.uint8]
    group: NDArray[np.uint8]
    loss: float


@dataclass
class Network:
    """The state of the network as the engine's faults have left it; kernels read its arrays directly.

    Attributes
    ----------
    alive : (n,) uint8
        1 for a peer that takes part; crashed, departed and not yet joined ones have 0.
    group : (n,) uint8
        Partition a peer is in; messages cross no border. All zero when the network is whole.
    loss : float
        Probability that a message is lost, each message for itself.
    timing : Timing, optional
        How long messages with events take; they take a hop each without it.

    Examples
    --------
    >>> net = Network.whole(3)
    >>> net.alive[1] = 0
    >>> bool(reaches(net.alive, net.group, 0, 1)), bool(reaches(net.alive, net.group, 0, 2))
    (False, True)
    """

    alive: NDArray[np.uint8]
    group: NDArray[np.uint8]
    loss: float = 0.0
    timing: Timing | None = None

    @classmethod
    def whole(cls, n: int) -> Network:
        """A network of n live peers without loss or partition."""
        return cls(np.ones(n, np.uint8), np.zeros(n, np.uint8))

    def faults(self) -> Faults:
        """The same for a kernel: the arrays, and the loss as a float."""
        return Faults(self.alive, self.group, float(self.loss))


@rule
def reaches(alive, group, a, b):
    """Whether a message from a can arrive at b at all (loss apart)."""
    return alive[b] == 1 and group[a] == group[b]


@rule
def arrives(faults, a, b, key, k):
    """Whether a message from a arrives at b; the k-th draw under a key decides whether it is lost."""
    if not reaches(faults.alive, faults.group, a, b):
        return False
    return not (faults.loss > 0.0 and unit(draw(key, k)) < faults.loss)


@rule
def answers(faults, a, b, key, k, tries, tries_back):
    """Whether a question of a reaches b, and the answer a, each sent again while lost; messages of a and b.

    Draws 2k and 2k + 1 under a key decide. Only silence tells that b is gone, so it costs all tries of a;
    b has tries of its own (`tries_back`).
    """
    if not reaches(faults.alive, faults.group, a, b):
        return False, np.int64(tries), np.int64(0)
    there, lost = attempts(draw(key, 2 * k), faults.loss, tries)
    if lost:
        return False, np.int64(there), np.int64(0)
    back, lost = attempts(draw(key, 2 * k + 1), faults.loss, tries_back)
    return not lost, np.int64(there), np.int64(back)


@rule
def attempts(bits, loss, tries):
    """How often a message is sent that is repeated while it is lost, `tries` times at most; and if in vain.

    One draw decides: the first k copies are lost if it falls below loss^k.
    """
    chance = loss
    count = 1
    while count < tries and unit(bits) < chance:
        chance *= loss
        count += 1
    return count, unit(bits) < chance
