"""How many rounds gossip needs: Pittel's asymptote with loss and crashes (hpmcast, equations 4, 5 and 9).

Pittel: *On spreading a rumor*, SIAM J. Applied Mathematics 47(1), 1987: log n (1/F + 1/log(F + 1)) + c + O(1)
rounds infect all of n participants, each of them gossiping to F others a round. Only F (1 - loss)(1 - crash)
of these arrive; and with a fraction p interested and filtered for, the system is n p large and the
fanout F p. The asymptote leaves the constant c open; here it is a setting, 0 unless said.
"""

from __future__ import annotations

import numpy as np

from sub2sub.kernels.compilation import kernel


@kernel
def pittel_rounds(size, fanout, loss, crash, constant):
    """Expected rounds to infect `size` participants with an effective fanout (equation 5; 9 with n p, F p).

    Negative where the size is below 1, and minus infinity where nobody can be infected: no round is needed.

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
