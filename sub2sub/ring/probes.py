"""Asking a candidate whether it is there, before it is taken up (`RingSettings.verify`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sub2sub.kernels.compilation import rule
from sub2sub.kernels.randomness import peer_key
from sub2sub.kernels.references import by_reference
from sub2sub.overlay.network import Faults, answers

__all__ = ["ASKED", "EXCHANGED", "JOINED", "SAID_HELLO", "SENT", "Probes", "is_there"]

MESSAGES, FAILED = range(2)
# What a peer sends: columns of `Probes.sent`.
EXCHANGED, SAID_HELLO, ASKED, JOINED, SENT = 0, 1, 2, 3, 4


@by_reference
class Probes(NamedTuple):
    """What asking takes: the network, the key of the draws, and where messages are counted."""

    faults: Faults
    key: np.uint64
    counts: NDArray[np.int64]  # messages and those that asked in vain, then what the layer counts
    sent: NDArray[np.int32]  # (n, SENT) messages of each peer, as one thread counts them


@rule
def is_there(probes, t, x, tries):
    """Whether x answers t. Each pair has draws of its own, so it does not matter who asks first."""
    answered, asked, told = answers(probes.faults, t, x, peer_key(peer_key(probes.key, t), x), 0, tries)
    probes.counts[MESSAGES] += asked + told
    probes.sent[t, ASKED] += asked
    probes.sent[x, ASKED] += told
    probes.counts[FAILED] += not answered
    return answered
