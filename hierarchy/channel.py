"""What the network does to the messages of a membership protocol, and how many it failed to deliver.

Costs are counted as in the engine's other layers: `messages` sent, those of them that `failed` to arrive, and
`bytes` of payload, where the name of a process or a topic, a key and a number take eight each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import unit
from sub2sub.overlay.network import Network, reaches
from sub2sub.overlay.sizes import NAME

__all__ = ["WORD", "Channel", "arrives", "channel_of"]

WORD = NAME


class Channel(NamedTuple):
    """A network as the kernels see it, for one step.

    Attributes
    ----------
    alive, group, loss
        As of `Network`.
    failed : (1,) int64
        Counts the messages that do not arrive.
    """

    alive: NDArray[np.uint8]
    group: NDArray[np.uint8]
    loss: float
    failed: NDArray[np.int64]


def channel_of(network: Network) -> Channel:
    """A channel through a network, with nothing failed yet.

    Examples
    --------
    >>> channel = channel_of(Network.whole(2))
    >>> channel.alive[1] = 0
    >>> bool(arrives(channel, 0, 1, np.uint64(0))), channel.failed.tolist()
    (False, [1])
    """
    return Channel(network.alive, network.group, float(network.loss), np.zeros(1, np.int64))


@kernel
def arrives(channel, sender, receiver, bits):
    """Whether one message gets through, given its draw."""
    if unit(bits) >= channel.loss and reaches(channel.alive, channel.group, sender, receiver):
        return True
    channel.failed[0] += 1
    return False
