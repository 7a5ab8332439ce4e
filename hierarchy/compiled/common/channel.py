"""Delivery of the messages of membership protocols, with loss, and their costs.

A member that takes its turn draws its random numbers one after the other (`next_bits`), and every message
that it sends (`send`, `ask`) takes the next one, is billed to its sender, and may be lost.

Costs are counted as in the other layers of the engine: `messages` sent, the messages that `failed` to arrive,
and `bytes` of payload; the name of a process or topic, a key and a number take eight bytes each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.compiled.common.network import Network, reaches
from sub2sub.compiled.common.randomness import draw, peer_key, unit
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.peers.descriptors import NAME

WORD = NAME

Sent = tuple[tuple[NDArray[np.int64], int], ...]  # for each kind of message: number by sender, bytes of one


class Channel(NamedTuple):
    """A `Network` as the kernels see it, for one step."""

    alive: NDArray[np.uint8]
    group: NDArray[np.uint8]
    loss: float
    failed: NDArray[np.int64]  # (1,) number of messages that did not arrive
    sent: NDArray[np.int64]  # (n,) number of messages of each sender
    turn: NDArray[np.uint64]  # (2,) the key of the member whose turn it is, and the number of its next draw

    @property
    def messages(self) -> int:
        """Number of messages that were sent."""
        return int(self.sent.sum())

    def afresh(self) -> Channel:
        """The same network for another kind of message, which is counted separately."""
        return self._replace(sent=np.zeros_like(self.sent))

    def cost(self, messages: int, size: int) -> dict[str, int]:
        """The cost of messages of `size` bytes each, with the failures of the channel."""
        return {"messages": messages, "failed": int(self.failed[0]), "bytes": size * messages}


def channel_of(network: Network) -> Channel:
    """A channel through a network, with all counts 0.

    Examples
    --------
    >>> channel = channel_of(Network.whole(2))
    >>> channel.alive[1] = 0
    >>> bool(arrives(channel, 0, 1, np.uint64(0))), channel.failed.tolist(), channel.sent.tolist()
    (False, [1], [1, 0])
    """
    failed, sent = np.zeros(1, np.int64), np.zeros(len(network.alive), np.int64)
    return Channel(network.alive, network.group, float(network.loss), failed, sent, np.zeros(2, np.uint64))


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
def begin_turn(channel, key, member):
    """Let a member draw its random numbers under a key, from the first one on."""
    channel.turn[0], channel.turn[1] = peer_key(key, member), 0


@kernel
def next_bits(channel):
    """The next random number of the member whose turn it is."""
    bits = draw(channel.turn[0], channel.turn[1])
    channel.turn[1] += np.uint64(1)
    return bits


@kernel
def arrives(channel, sender, receiver, bits):
    """Whether a message arrives, given its random bits; it is billed to its sender."""
    channel.sent[sender] += 1
    if unit(bits) >= channel.loss and reaches(channel.alive, channel.group, sender, receiver):
        return True
    channel.failed[0] += 1
    return False


@kernel
def send(channel, sender, receiver):
    """Whether a message arrives; the next draw decides."""
    return arrives(channel, sender, receiver, next_bits(channel))


@kernel
def ask(channel, member, other):
    """Whether a question and its answer arrive; uses two draws, also if there is no answer."""
    asked, bits = send(channel, member, other), next_bits(channel)
    return asked and arrives(channel, other, member, bits)
