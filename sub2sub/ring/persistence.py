"""How often a peer sends a message before it takes its receiver for dead.

Not in Sub-2-Sub. A neighbour that does not answer is dropped (`RingSettings.drop_failed`), so a lost message
is repeated. With five copies, one live neighbour in 13,000 seems dead if 15 % of the messages are lost, and
one in 400 if 30 % are: among thousands of peers, some ring is always broken. More copies for all messages
would make each dead neighbour cost more. So a peer estimates the loss from its own messages: for each one
that arrived it knows how many copies that took. It sends at least `RingSettings.tries` copies, and up to
`RingSettings.most_tries`, as many as make the probability that all are lost less than `MISTAKE`. Because it
has seen few messages, it assumes a loss two standard deviations above the share that it has seen.

The counts are multiplied by `MEMORY` in each cycle. For live peers, TCP repeats lost messages.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
