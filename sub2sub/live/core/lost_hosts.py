"""Nodes that have answered a node for a while and then fell silent: they may be beyond a partition.

Not in Sub-2-Sub. During a long partition both sides drop all links between them. When it is over, somebody
has to ask a node of the other side again, and the contacts that the user has given may be gone. So a node
remembers addresses that fell silent, and asks one of them every few cycles, as Serf reconnects to failed
members.

- An address is remembered if its answers span `STEADY` cycles or more, without a gap of `GAP`. So passers-by
  get no place.
- Of too many, those stay that had answered for longest.
- An address that does not answer for `FORGOTTEN` cycles is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Address = tuple[str, int]

STEADY = 3  # cycles
GAP = 32  # cycles; a peer asks each of its ring neighbours more often
EVERY = 5  # cycles between two questions of a node
FORGOTTEN = 86_400  # cycles: a day, if a cycle takes a second
ANSWERING, LOST = 64, 16  # addresses


@dataclass(slots=True)
class Acquaintance:
    """An address: from when until when it answered, and when it was last asked as a lost one."""

    address: Address
    first: float
    last: float
    asked: float = -1.0

    @property
    def span(self) -> float:
        """For how many cycles it answered."""
        return self.last - self.first


class LostHosts:
    """The other nodes that one knows by their answers. All times are in cycles.

    Attributes
    ----------
    answering, lost : dict of Acquaintance
        By address: those whose last question was answered, and those that fell silent.

    Examples
    --------
    >>> hosts = LostHosts()
    >>> hosts.answered(("192.0.2.1", 7000), now=1), hosts.answered(("192.0.2.1", 7000), now=8)
    (None, None)
    >>> hosts.silent(("192.0.2.1", 7000), now=10)
    >>> hosts.due(now=11), hosts.due(now=12), hosts.due(now=16)
    (('192.0.2.1', 7000), None, ('192.0.2.1', 7000))
    """

    def __init__(self) -> None:
        self.answering: dict[Address, Acquaintance] = {}
        self.lost: dict[Address, Acquaintance] = {}
        self._asked = -float(EVERY)

    def answered(self, address: Address, now: float) -> None:
        """Note an answer."""
        before = self.answering.get(address)
        first = before.first if before and now - before.last <= GAP else now
        if returned := self.lost.pop(address, None):
            first = now - returned.span
        self.answering[address] = Acquaintance(address, first, now)
        if len(self.answering) > ANSWERING:  # several at once: to find the last of all takes time
            ranked = sorted(self.answering.items(), key=lambda item: self._rank(item[1], now))
            self.answering = dict(ranked[len(ranked) - ANSWERING * 3 // 4 :])

    def silent(self, address: Address, now: float) -> None:
        """Note that a question was not answered."""
        each = self.answering.pop(address, None)
        if each is not None and each.span >= STEADY and now - each.last <= GAP:
            self.lost[address] = each
            if len(self.lost) > LOST:
                del self.lost[min(self.lost, key=lambda lost: self.lost[lost].span)]

    def due(self, now: float, may_ask: Callable[[Address], bool] = lambda address: True) -> Address | None:
        """The lost address to ask now, if any: of those that may be asked, the one not asked for longest."""
        if now - self._asked < EVERY:
            return None
        self.lost = {at: each for at, each in self.lost.items() if now - each.last < FORGOTTEN}
        ready = [each for each in self.lost.values() if may_ask(each.address)]
        if not ready:
            return None
        chosen = min(ready, key=lambda each: each.asked)
        self._asked = chosen.asked = now
        return chosen.address

    @staticmethod
    def _rank(each: Acquaintance, now: float) -> tuple[bool, float, float]:
        """Those that are not asked any more rank lowest, then passers-by, those met last above others."""
        return now - each.last <= GAP, each.span, each.last
