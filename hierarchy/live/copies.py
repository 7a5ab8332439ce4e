"""How many copies of one subscription a live member takes in a cycle.

Where all members know a newcomer, a copy walks until its steps are used up (`hop_limit`). Simulated copies
are never doubled. Live ones may be doubled at each step, by the network or by somebody hostile: their number
then grows exponentially, and all other messages wait behind them. So visits to each member count as well, as
in the paper (`hierarchy.membership.scamp.rules`).
"""

from __future__ import annotations

from collections import Counter

MOST = 32  # copies of the subscription of one member, in a cycle


class Copies:
    """The copies that came in this cycle.

    Examples
    --------
    >>> copies = Copies()
    >>> [copies.take(7, cycle=1) for _ in range(MOST + 1)].count(True) == MOST
    True
    >>> copies.take(8, cycle=1), copies.take(7, cycle=2)
    (True, True)
    """

    def __init__(self) -> None:
        self._cycle, self._came = 0, Counter[int]()

    def take(self, newcomer: int, cycle: int) -> bool:
        """Note a copy; whether it is to be taken."""
        if cycle != self._cycle:
            self._cycle, self._came = cycle, Counter()
        self._came[newcomer] += 1
        return self._came[newcomer] <= MOST
