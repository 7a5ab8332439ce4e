"""Probes of single peers, and the counts of all messages of a cycle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import rule
from sub2sub.kernels.randomness import peer_key
from sub2sub.kernels.references import by_reference
from sub2sub.overlay.network import Faults, answers

FEW = 8  # neighbours of a small view, at most
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
    """Note how many copies a message of t took to arrive (`sub2sub.ring.persistence`)."""
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
