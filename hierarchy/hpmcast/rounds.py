"""Number of rounds of gossip: Pittel's asymptote with loss and crashes (hpmcast, equations 4, 5 and 9).

Pittel: *On spreading a rumor*, SIAM J. Applied Mathematics 47(1), 1987: log n (1/F + 1/log(F + 1)) + c + O(1)
rounds infect all of n participants, each of which gossips to F others per round. Only
F (1 - loss)(1 - crash) of these arrive. If a fraction p is interested and senders filter, the size of the
system is n p and the fanout F p. The constant c, which the asymptote leaves open, is a setting, 0 by default.
"""

from __future__ import annotations

import numpy as np

from sub2sub.kernels.compilation import kernel


@kernel
def pittel_rounds(size, fanout, loss, crash, constant):
    """Expected rounds to infect `size` participants with a fanout (equation 5; 9 with n p, F p).

    Negative for a size below 1, and minus infinity if no participant can be infected: no round is needed.

    Examples
    --------
    >>> round(pittel_rounds(100.0, 2.0, 0.0, 0.0, 0.0), 3)
    6.494
    >>> round(pittel_rounds(100.0, 2.0, 0.1, 0.05, 0.0), 3)
    7.312
    """
    reached = fanout * (1.0 - loss) * (1.0 - crash)
    if size <= 0.0 or reached <= 0.0:
        return -np.inf
    return np.log(size) * (1.0 / reached + 1.0 / np.log(reached + 1.0)) + constant
