"""How a newcomer enters a community that it has to search for: who subscribes through whom, and who founds
it.

CAMCAST Section 5.2.2 says that a newcomer subscribes through whom it found. With everybody coming at once,
or with messages lost, many find nobody though others are there. So one who finds nobody only announces
itself, and searches again in the next cycles. Of several such, those with larger numbers subscribe through
the one with the smallest; only who has found nobody for `CONFIRM` searches more founds the community.
Should all of them wait for one another, the one whose request comes back to it founds it (`ScampPeer`).
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CONFIRM", "FOUND", "WAIT", "decide"]

CONFIRM = 6


FOUND, WAIT = -1, -2  # in place of the number of a member


def decide(own: int, members: Sequence[int], in_vain: int) -> int:
    """Whom to subscribe through, given what a search found and how many before it found nobody to turn to.

    `FOUND` to found the community, `WAIT` to search again.

    Examples
    --------
    >>> decide(5, [7, 9], in_vain=0), decide(5, [], in_vain=0), decide(5, [], in_vain=CONFIRM)
    (7, -2, -1)
    >>> decide(5, [9, 3], in_vain=1), decide(5, [9], in_vain=1), decide(5, [9], in_vain=CONFIRM)
    (3, -2, 9)
    """
    if members and in_vain == 0:
        return members[0]
    if members and (min(members) < own or in_vain >= CONFIRM):
        return min(members)
    return FOUND if in_vain >= CONFIRM else WAIT
