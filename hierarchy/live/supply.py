"""Whether a member gets events without the help of gateways.

SCAMP's links are one-way: a member does not know whether those it sends to pass events on, but it sees who
sends it events. Each honest member that holds it sends it every event, so a member that got the last events
from others than gateways as well is held by somebody that passes events on. A heartbeat, or the word of a
stranger that it holds this member, proves nothing.
"""

from __future__ import annotations

from collections import OrderedDict

EVENTS = 8  # the last ones
MISSED = 1  # of them that may have come from gateways only: gossip may miss some as well
ON_THE_WAY = 2  # cycles in which further copies of an event may come


class Supply:
    """Who brought the last events.

    Parameters
    ----------
    lasts : int
        Cycles after which an event proves nothing any more.

    Examples
    --------
    >>> supply = Supply(lasts=100)
    >>> for name in range(EVENTS):
    ...     supply.came(bytes([name]), by_gateway=True, cycle=1)
    >>> supply.is_proven(cycle=9), supply.is_short(cycle=9)
    (False, True)
    >>> for name in range(EVENTS):
    ...     supply.came(bytes([name]), by_gateway=False, cycle=2)
    >>> supply.is_proven(cycle=9), supply.is_short(cycle=9), supply.is_proven(cycle=200)
    (True, False, False)
    """

    def __init__(self, lasts: int) -> None:
        self.lasts = lasts
        self._events: OrderedDict[bytes, tuple[int, bool]] = OrderedDict()  # when it came, whether by others

    def came(self, name: bytes, by_gateway: bool, cycle: int) -> None:
        """Take note of a copy of an event."""
        when, by_others = self._events.get(name, (cycle, False))
        self._events[name] = when, by_others or not by_gateway
        if len(self._events) > 2 * EVENTS:
            self._events.popitem(last=False)

    def is_proven(self, cycle: int) -> bool:
        """Whether enough events came lately, and nearly all by others than gateways."""
        return len(self._last(cycle)) >= EVENTS and not self.is_short(cycle)

    def is_short(self, cycle: int) -> bool:
        """Whether some events came lately by gateways only."""
        return self._last(cycle).count(False) > MISSED

    def _last(self, cycle: int) -> list[bool]:
        """Of the last events, whether each came by others."""
        events = [by for when, by in self._events.values() if ON_THE_WAY <= cycle - when <= self.lasts]
        return events[-EVENTS:]
