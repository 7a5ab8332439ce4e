"""How a newcomer enters a community that it has to search for, and which newcomer founds a community.

CAMCAST, Section 5.2.2: a newcomer subscribes through a member that its search found. When many newcomers
arrive at once, or messages are lost, a search may find no member although others exist. A newcomer whose
search finds no member therefore announces itself and searches again in the next cycles. If several newcomers
find each other in this way, they subscribe through the one with the smallest number. A newcomer founds the
community only after `CONFIRM` further searches without a result. If all of them wait for one another, the one
whose own request comes back to it founds the community (`ScampPeer`).
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CONFIRM", "FOUND", "WAIT", "decide"]

CONFIRM = 6


FOUND, WAIT = -1, -2  # in place of the number of a member


def decide(own: int, members: Sequence[int], in_vain: int) -> int:
    """Choose the member to subscribe through, given the members that a search found.

    `in_vain` is the number of earlier searches that found no member to subscribe through. Returns `FOUND` if
    the newcomer should found the community, and `WAIT` if it should search again.

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
