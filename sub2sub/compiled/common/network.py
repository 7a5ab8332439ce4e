"""The network under all layers: live peers, partitions, loss, and how long messages take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.randomness import draw, mix, unit
from sub2sub.compiled.machinery.compilation import rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.compiled.timing.settings import Timing


@by_reference
class Faults(NamedTuple):
    """The fields of a `Network` that kernels use."""

    alive: NDArray[np.uint8]
    group: NDArray[np.uint8]
    loss: float


AGAIN = 1 << 32  # the draw of a repeated message, counted from that of the one before


@dataclass
class Network:
    """The state of the network: the engine's faults change it, kernels read its arrays.

    Attributes
    ----------
    alive : (n,) uint8
        1 for a live peer; 0 for a peer that has crashed, has left or has not joined yet.
    group : (n,) uint8
        The partition of each peer. Messages only arrive within a partition; all are 0 if there is none.
    loss : float
        Probability that a message is lost, independently of others.
    timing : Timing, optional
        How long messages with events take; without it, each takes one hop.

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
        """For kernels: the arrays, and the loss as a float."""
        return Faults(self.alive, self.group, float(self.loss))


@rule
def reaches(alive, group, a, b):
    """Whether a message from a can arrive at b if it is not lost."""
    return alive[b] == 1 and group[a] == group[b]


@rule
def arrives(faults, a, b, key, k):
    """Whether a message from a arrives at b; draw k of the key decides whether it is lost."""
    if not reaches(faults.alive, faults.group, a, b):
        return False
    return not (faults.loss > 0.0 and unit(draw(key, k)) < faults.loss)


@rule
def is_confirmed(loss, bits):
    """Whether the acknowledgement of a message arrives; the bits that spared the message decide, hashed."""
    return loss == 0.0 or unit(mix(bits)) >= loss


@rule
def repeated(faults, a, b, key, k, retries):
    """Send a message from a to b, again while no acknowledgement comes, up to `retries` times.

    Returns how many copies are sent, how many arrive, and which is the first that does, -1 for none. Draw
    k + AGAIN c of the key decides whether copy c is lost. A lost acknowledgement costs another copy.
    """
    there, sent, came, first = (
        reaches(faults.alive, faults.group, a, b),
        np.int64(0),
        np.int64(0),
        np.int64(-1),
    )
    while sent <= retries:
        bits = draw(key, k + AGAIN * sent)
        sent += 1
        if there and not (faults.loss > 0.0 and unit(bits) < faults.loss):
            came += 1
            if first < 0:
                first = sent - 1
            if is_confirmed(faults.loss, bits):
                break
    return sent, came, first


@rule
def answers(faults, a, b, key, k, tries, tries_back):
    """Whether a request of a reaches b and the answer reaches a; messages sent by a, and by b.

    Lost requests are sent up to `tries` times, lost answers up to `tries_back` times. Draws 2k and 2k + 1 of
    the key decide.
    """
    there, lost = sends(faults, a, b, draw(key, 2 * k), tries)
    if lost:
        return False, there, np.int64(0)
    back, lost = attempts(draw(key, 2 * k + 1), faults.loss, tries_back)
    return not lost, there, np.int64(back)


@rule
def sends(faults, a, b, bits, tries):
    """The number of copies of a message from a to b that is repeated until it arrives; whether all are lost.

    If b is gone, a does not know it, and sends all copies.
    """
    if not reaches(faults.alive, faults.group, a, b):
        return np.int64(tries), True
    copies, lost = attempts(bits, faults.loss, tries)
    return np.int64(copies), lost


@rule
def attempts(bits, loss, tries):
    """The number of copies of a message that is repeated while it is lost; whether all `tries` are lost.

    One draw decides: the first k copies are lost if it is below loss^k.
    """
    chance = loss
    count = 1
    while count < tries and unit(bits) < chance:
        chance *= loss
        count += 1
    return count, unit(bits) < chance
