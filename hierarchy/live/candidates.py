"""Members that others told of, until they have answered at their own address.

Anybody can tell of members that do not exist, at any number of hosts. So whoever is to get a place is asked
first (`Check`), once a cycle: the answer has a number that only the one at that address was told. Of one host
that tells, few wait at a time, so that inventions of a few hosts leave room for what others tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hierarchy.contacts import Contact, Send
from hierarchy.super_tables.peer import Check
from sub2sub.kernels.dice import Dice

MOST = 64  # candidates that wait
OF_A_TELLER = 4  # of them told by one host
CYCLES = 4  # in which one is asked: in a bad network every seventh message is lost


@dataclass
class Candidate:
    """One that has not answered yet: who told of it, since when it waits, and the end of its lease."""

    member: Contact
    teller: str
    since: int
    expires: int
    exchange: int = -1
    asked: int = -1


class Candidates:
    """Those that are asked at present.

    Examples
    --------
    >>> candidates, other = Candidates(), Contact(7, "192.0.2.7", 7000, ".a")
    >>> candidates.propose(other, "192.0.2.1", cycle=1, expires=99)
    >>> (send,) = candidates.ask(cycle=1, dice=Dice(1))
    >>> candidates.answer(send.message.exchange + 1)
    >>> candidates.answer(send.message.exchange).member.id
    7
    """

    def __init__(self) -> None:
        self._waiting: dict[int, Candidate] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def propose(self, member: Contact, teller: str, cycle: int, expires: int) -> None:
        """Have a member asked, unless too many wait; "" tells as much as it likes: the caller itself."""
        told = sum(each.teller == teller for each in self._waiting.values())
        if (
            member.id not in self._waiting
            and len(self._waiting) < MOST
            and (not teller or told < OF_A_TELLER)
        ):
            self._waiting[member.id] = Candidate(member, teller, cycle, expires)

    def ask(self, cycle: int, dice: Dice) -> Iterator[Send]:
        """Ask those that have not been asked in this cycle; give up those asked in vain for long."""
        for id, each in list(self._waiting.items()):
            if cycle - each.since > CYCLES:
                del self._waiting[id]
            elif each.asked < cycle:
                each.exchange = each.exchange if each.exchange >= 0 else dice.next_bits()
                each.asked = cycle
                yield Send(each.member, Check(each.exchange))

    def ids(self) -> list[int]:
        """Those that wait."""
        return list(self._waiting)

    def answer(self, exchange: int) -> Candidate | None:
        """The one that was asked under this number, which waits no longer."""
        for id, each in self._waiting.items():
            if each.exchange == exchange >= 0:
                return self._waiting.pop(id)
        return None
