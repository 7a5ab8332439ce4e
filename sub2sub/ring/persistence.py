"""How often a peer sends a message before it takes silence for death.

Not in Sub-2-Sub. A neighbour that does not answer is dropped (`RingSettings.drop_failed`), so a message is
repeated while it is lost. With five copies, one live neighbour in 13,000 seems dead where 15 % of messages
are lost, one in 400 where 30 % are: among thousands of peers, some ring is always torn. With more copies for
everybody, each dead neighbour costs more. So a peer learns from its own messages how many get lost: of those
that arrived in the end it knows how many copies they took. It sends at least `RingSettings.tries` copies, and
as many, up to `RingSettings.most_tries`, as make it less likely than `MISTAKE` that all of them are lost. As
it has seen few messages, it reckons with a loss two standard deviations above the share it has seen.

What a peer has learnt counts `MEMORY` of what it did a cycle later. Between live peers TCP does the same.
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
    enough = MISTAKE ** (1.0 / np.arange(least, max(most, least)))  # the greatest share lost for each number
    share = np.asarray(repeated) / np.maximum(copies, 1.0)
    at_most = share + 2 * np.sqrt(share / np.maximum(copies, 1.0))
    return np.asarray(least + np.searchsorted(enough, at_most))
