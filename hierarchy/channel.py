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

WORD = NAME

Sent = tuple[tuple[NDArray[np.int64], int], ...]  # messages by sender and bytes of one, for some kinds


class Channel(NamedTuple):
    """A network as the kernels see it, for one step.

    Attributes
    ----------
    alive, group, loss
        As of `Network`.
    failed : (1,) int64
        Counts the messages that do not arrive.
    sent : (n,) int64
        Counts the messages of each sender.
    """

    alive: NDArray[np.uint8]
    group: NDArray[np.uint8]
    loss: float
    failed: NDArray[np.int64]
    sent: NDArray[np.int64]

    def afresh(self) -> Channel:
        """The same network for another kind of message: what is sent is counted apart."""
        return self._replace(sent=np.zeros_like(self.sent))


def channel_of(network: Network) -> Channel:
    """A channel through a network, with nothing sent yet.

    Examples
    --------
    >>> channel = channel_of(Network.whole(2))
    >>> channel.alive[1] = 0
    >>> bool(arrives(channel, 0, 1, np.uint64(0))), channel.failed.tolist(), channel.sent.tolist()
    (False, [1], [1, 0])
    """
    failed, sent = np.zeros(1, np.int64), np.zeros(len(network.alive), np.int64)
    return Channel(network.alive, network.group, float(network.loss), failed, sent)


def by_sender(kinds: Sent) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Messages and bytes of several kinds of messages, by sender.

    Examples
    --------
    >>> by_sender(((np.array([1, 2]), 8), (np.array([0, 1]), 16)))
    (array([1, 3]), array([ 8, 32]))
    """
    messages = np.sum([sent for sent, _ in kinds], axis=0)
    return messages, np.sum([size * sent for sent, size in kinds], axis=0)


@kernel
def arrives(channel, sender, receiver, bits):
    """Whether one message gets through, given its draw."""
    channel.sent[sender] += 1
    if unit(bits) >= channel.loss and reaches(channel.alive, channel.group, sender, receiver):
        return True
    channel.failed[0] += 1
    return False
