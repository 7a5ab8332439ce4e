"""Members that turn to this one, as a gateway of their community, to be handed events by it.

A member that has no proof that others bring it events (`hierarchy.live.supply`) is in need, and is handed
every event. Of those that are not, some are, at random: a gateway whose view is full of an attacker's members
must not be a dead end. There are `MOST` dependants, each host has its share of them, and nobody is one that
has not answered at its own address. So a gateway sends an event to `MOST` members beyond its view, at most,
however large the community is. Where more are in need they take turns: the first to come makes room.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hierarchy.contacts import Contact, Sends
from hierarchy.live.candidates import Candidates
from sub2sub.kernels.dice import Dice
from sub2sub.live.core.reliance import few_of_a_host

MOST = 64
FEW = 4  # dependants that are handed an event in any case, in need or not
OF_A_HOST = 8  # at most; a host's share is less if there are many hosts
FAILURES = 3  # events that could not be sent, since it turned to this member last


@dataclass
class _Dependant:
    member: Contact
    until: int
    needy: bool
    failures: int = 0


class Dependants:
    """The dependants of one member.

    Examples
    --------
    >>> dependants, other = Dependants(lasts=50), Contact(7, "192.0.2.7", 7000, ".a")
    >>> dependants.turn_to(other, True, "192.0.2.7", cycle=1)
    >>> (question,) = dependants.ask(cycle=1, dice=Dice(1))
    >>> dependants.answered(question.message.exchange, cycle=1)
    >>> [each.id for each in dependants.receivers((), dice=Dice(1))]
    [7]
    """

    def __init__(self, lasts: int) -> None:
        self.lasts = lasts
        self._all: dict[int, _Dependant] = {}
        self._candidates, self._needy = Candidates(), dict[int, bool]()

    def __len__(self) -> int:
        return len(self._all)

    def members(self) -> list[Contact]:
        """All of them."""
        return [each.member for each in self._all.values()]

    def turn_to(self, member: Contact, needy: bool, teller: str, cycle: int) -> None:
        """Take note that a member turns to this one."""
        self._needy = {id: needy for id, needy in self._needy.items() if id in self._candidates.ids()}
        self._candidates.propose(member, teller, cycle, cycle)
        self._needy[member.id] = needy

    def ask(self, cycle: int, dice: Dice) -> Sends:
        """Ask those that have turned to this one whether they are there."""
        return self._candidates.ask(cycle, dice)

    def answered(self, exchange: int, cycle: int) -> None:
        """Take the answer of one that was asked."""
        found = self._candidates.answer(exchange)
        if found is None:
            return
        id = found.member.id
        self._all[id] = _Dependant(found.member, cycle + self.lasts, self._needy.get(id, True))
        few = {each.id for each in few_of_a_host(self.members(), (), OF_A_HOST, MOST, local=False)}
        self._all = {id: each for id, each in self._all.items() if id in few}
        if len(self._all) > MOST:
            content = (id for id, each in self._all.items() if not each.needy)
            del self._all[next(content, next(iter(self._all)))]

    def expire(self, cycle: int) -> None:
        """Drop those that have not turned to this one again."""
        self._all = {id: each for id, each in self._all.items() if each.until > cycle}

    def failed(self, id: int) -> None:
        """Take note that an event could not be sent."""
        if id in self._all:
            self._all[id].failures += 1
            if self._all[id].failures >= FAILURES:
                del self._all[id]

    def receivers(self, others: Collection[int], dice: Dice) -> list[Contact]:
        """Those to hand an event to, besides others that get it: all in need, and some at random."""
        needy = [each.member for each in self._all.values() if each.needy]
        content = [each.member for each in self._all.values() if not each.needy]
        while content and len(needy) < FEW:
            needy.append(content.pop(dice.next_below(len(content))))
        return [each for each in needy if each.id not in others]
