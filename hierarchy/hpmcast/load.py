"""The cost of the dissemination of one event in rfpbcast, pmcast and hpmcast, besides its trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierarchy.trace import Trace


@dataclass(frozen=True)
class Multicast:
    """One event that was multicast.

    Attributes
    ----------
    trace : Trace
        Who got it in which round; messages per participant.
    filtered : (n,) int32
        Times a participant matched the event against somebody's interest.
    messages : (l,) int64
        Messages sent at each level, level 1 first.
    matched : (l,) int64
        Times the event was matched against an interest of each level, level 1 first.
    arrivals : (m, 2) int32
        Senders and receivers of the messages that arrived, in order, if they were recorded.
    rounds : int
        The last round in which anybody gossiped.
    """

    trace: Trace
    filtered: NDArray[np.int32]
    messages: NDArray[np.int64]
    matched: NDArray[np.int64]
    arrivals: NDArray[np.int32]
    rounds: int
