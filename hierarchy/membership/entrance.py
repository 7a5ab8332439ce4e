"""How a newcomer enters a community that it has to search for, and which newcomer founds a community.

CAMCAST, Section 5.2.2: a newcomer subscribes through a member that its search found. When many newcomers
arrive at once, a search finds others that are not in yet. If each subscribed through any of these, they would
wait for one another in several circles, and each circle would become a community of its own. So a newcomer
announces itself, and subscribes only through one with a smaller number. Every answer names the smallest
number that the answering peer knows, so all newcomers but one find such a one. The one that does not searches
again; it founds the community after `CONFIRM` searches that named nobody. If they named others, these wait
for it: it then subscribes through the smallest of them, and founds the community when its own request comes
back to it (`ScampPeer`).

Until somebody has served its subscription, a newcomer decides anew with every search: the member that it has
subscribed through may have crashed before anybody served that one.
"""

from __future__ import annotations

from collections.abc import Sequence

CONFIRM = 6


FOUND, WAIT = -1, -2  # in place of the number of a member


def decide(own: int, members: Sequence[int], failed_searches: int) -> int:
    """Choose the member to subscribe through, given the members that a search found.

    `failed_searches` is the number of earlier searches, none of which has brought the newcomer in. Returns
    `FOUND` if the newcomer should found the community, and `WAIT` if it should search again.

    Examples
    --------
    >>> [decide(5, members, failed_searches=0) for members in ([9, 3, 2], [7, 9], [])]
    [3, -2, -2]
    >>> decide(5, [9, 7], failed_searches=CONFIRM), decide(5, [], failed_searches=CONFIRM)
    (7, -1)
    """
    smaller = [member for member in members if member < own]
    if smaller:
        return smaller[0]
    if failed_searches < CONFIRM:
        return WAIT
    return min(members) if members else FOUND
