"""Asking a peer whether it is there, and what all messages of a cycle are counted in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import rule
from sub2sub.kernels.randomness import peer_key
from sub2sub.kernels.references import by_reference
from sub2sub.overlay.network import Faults, answers

FEW = 8  # neighbours
MESSAGES, FAILED = range(2)
# What a peer sends: columns of `Probes.sent`.
EXCHANGED, SAID_HELLO, ASKED, JOINED, SENT = 0, 1, 2, 3, 4


@by_reference
class Probes(NamedTuple):
    """What asking takes: the network, the key of the draws, and where messages are counted."""

    faults: Faults
    key: np.uint64
    counts: NDArray[np.int64]  # messages, and questions without an answer
    sent: NDArray[np.int32]  # (n, SENT) messages of each peer, as one thread counts them
    tries: NDArray[np.uint8]  # (n,) times each peer sends a message while it is lost
    copies: NDArray[np.int32]  # (n, 2) copies of messages that arrived, and those that repeated others


@rule
def probing_age(suspect_age, neighbours):
    """Age from which on a link is probed, in a view of that size: half the age in a small view."""
    return (suspect_age + 1) // 2 if neighbours <= FEW else suspect_age


@rule
def note_copies(probes, t, copies):
    """Note how many copies a message of t took to arrive (`sub2sub.ring.persistence`)."""
    probes.copies[t, 0] += copies
    probes.copies[t, 1] += copies - 1


@rule
def asks(probes, t, x, kind):
    """Whether x answers t, and the messages of both. Each pair has draws of its own: any order will do."""
    key = peer_key(peer_key(probes.key, t), x)
    answered, asked, told = answers(probes.faults, t, x, key, 0, probes.tries[t], probes.tries[x])
    probes.sent[t, kind] += asked
    probes.sent[x, kind] += told
    if answered:
        note_copies(probes, t, asked)
        note_copies(probes, x, told)
    return answered, asked + told


@rule
def is_there(probes, t, x):
    """Whether x answers t."""
    answered, messages = asks(probes, t, x, ASKED)
    probes.counts[MESSAGES] += messages
    probes.counts[FAILED] += not answered
    return answered
