"""Probes of single peers, the counts of all messages of a cycle, and how often a message is repeated.

*Repeating.* Not in Sub-2-Sub. A neighbour that does not answer is dropped (`RingSettings.drop_failed`), so a
lost message is repeated. With five copies, one live neighbour in 13,000 seems dead if 15 % of the messages
are lost, and one in 400 if 30 % are: among thousands of peers, some ring is always broken. More copies for
all messages would make each dead neighbour cost more. So a peer estimates the loss from its own messages: for
each one that arrived it knows how many copies that took. It sends at least `RingSettings.tries` copies, and
up to `RingSettings.most_tries`, as many as make the probability that all are lost less than `MISTAKE`.
Because it has seen few messages, it assumes a loss two standard deviations above the share that it has seen.

The counts are multiplied by `MEMORY` in each cycle. For live peers, TCP repeats lost messages.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sub2sub.compiled.common.network import Faults, answers
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.machinery.compilation import rule
from sub2sub.compiled.machinery.references import by_reference
from sub2sub.peers.ring import FEW

MESSAGES, FAILED = range(2)
# Kinds of messages: columns of `Probes.sent`.
EXCHANGED, SAID_HELLO, ASKED, JOINED, SENT = 0, 1, 2, 3, 4


@by_reference
class Probes(NamedTuple):
    """What probes need: the network, the key of random numbers, and counts of messages."""

    faults: Faults
    key: np.uint64
    counts: NDArray[np.int64]  # messages, and questions without an answer
    sent: NDArray[np.int32]  # (n, SENT) messages of each peer, counted by one thread
    tries: NDArray[np.uint8]  # (n,) copies of a message that each peer sends, at most
    copies: NDArray[np.int32]  # (n, 2) copies of messages that arrived, and how many were repetitions


@rule
def probing_age(suspect_age, neighbours):
    """Age from which on a link is probed, in a view of that size: half of it in a small view."""
    return (suspect_age + 1) // 2 if neighbours <= FEW else suspect_age


@rule
def note_copies(probes, t, copies):
    """Note how many copies a message of t took to arrive (`sub2sub.compiled.ring.probes`)."""
    probes.copies[t, 0] += copies
    probes.copies[t, 1] += copies - 1


@rule
def asks(probes, t, x, kind):
    """Whether x answers t, and the messages of both. Each pair has its own random numbers, in any order."""
    key = peer_key(peer_key(probes.key, t), x)
    answered, asked, replies = answers(probes.faults, t, x, key, 0, probes.tries[t], probes.tries[x])
    probes.sent[t, kind] += asked
    probes.sent[x, kind] += replies
    if answered:
        note_copies(probes, t, asked)
        note_copies(probes, x, replies)
    return answered, asked + replies


@rule
def is_there(probes, t, x):
    """Whether x answers t."""
    answered, messages = asks(probes, t, x, ASKED)
    probes.counts[MESSAGES] += messages
    probes.counts[FAILED] += not answered
    return answered


MISTAKE = 1e-6
MEMORY = 15 / 16


def tries_for(copies: ArrayLike, repeated: ArrayLike, least: int, most: int) -> NDArray[Any]:
    """Times to send a message, given the copies a peer has sent and how many of them were repetitions.

    Examples
    --------
    >>> tries_for([0, 100, 100, 100], [0, 5, 15, 30], least=5, most=24)
    array([ 5,  6, 10, 16])
    """
    enough = MISTAKE ** (1.0 / np.arange(least, max(most, least)))  # greatest loss for each number of tries
    share = np.asarray(repeated) / np.maximum(copies, 1.0)
    at_most = share + 2 * np.sqrt(share / np.maximum(copies, 1.0))
    return np.asarray(least + np.searchsorted(enough, at_most))
