"""What gateways are to a live member besides a way in: somebody that it can be sure of.

A member knows nobody that an attacker could not have made up, except for the gateways that its user has
given. So it stays in touch with them: it says, twice a lease, that it is there, and whether it has no proof
that others bring it events (`Depend`); it hands them what it publishes. A gateway passes each event on to
those that are in need, to a few others and to other gateways (`hierarchy.live.dependants`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hierarchy.contacts import Contact, Send, Sends
from hierarchy.live.dependants import Dependants
from hierarchy.live.supply import Supply
from sub2sub.kernels.dice import Dice
from sub2sub.live.core.host_addresses import host_of

HANDED = 2  # gateways that an event is handed to
AGAIN = 8  # cycles until a gateway is asked again: another if it did not answer, or if events are missing


@dataclass(frozen=True)
class Depend:
    """The sender is a member, and is in need or not: others have not, or have, brought it events."""

    asker: Contact
    needy: bool


class Backing:
    """One member's gateways, and those that it is a gateway to.

    Parameters
    ----------
    own : Contact
    gateways : sequence of Contact
        Of its own community.
    lease : int
        Cycles of a subscription.
    is_gateway : bool
        Whether others may depend on it: it is a gateway itself, or knows of none.
    """

    def __init__(
        self, own: Contact, gateways: Sequence[Contact], lease: int, is_gateway: bool = True
    ) -> None:
        self.own, self.gateways, self.lease, self.is_gateway = own, gateways, lease, is_gateway
        self.hosts = {host_of(each.host) for each in gateways}
        self.supply, self.dependants = Supply(lease), Dependants(lease)
        self._asked = self._turns = 0
        self._is_answered = False

    def in_need(self, cycle: int) -> bool:
        """Whether there is no proof that others bring this member events."""
        return bool(self.gateways) and not self.supply.is_proven(cycle)

    def is_due(self, cycle: int) -> bool:
        """Whether to turn to a gateway now."""
        soon = not self._is_answered or self.supply.is_short(cycle)
        every = min(AGAIN, self.lease // 2) if soon else self.lease // 2
        return bool(self.gateways) and (not self._turns or cycle - self._asked >= max(every, 1))

    def turn_to_gateway(self, cycle: int) -> Sends:
        """Turn to the next gateway, or to the same again if that answered."""
        self._turns += not self._is_answered or not self._turns
        self._asked, self._is_answered = cycle, False
        to = self.gateways[(self.own.id + self._turns) % len(self.gateways)]
        yield Send(to, Depend(self.own, self.in_need(cycle)))

    def asked_by(self, teller: str) -> None:
        """Take note of a question, which is a gateway's answer."""
        self._is_answered |= teller in self.hosts

    def turned_to_by(self, message: Depend, teller: str, cycle: int) -> None:
        """Take note that a member turns to this one."""
        if self.is_gateway and message.asker.topic == self.own.topic:
            self.dependants.turn_to(message.asker, message.needy, teller, cycle)

    def named(self, table: Sequence[Contact]) -> list[Contact]:
        """Members to tell others of: those that have turned to this one, or its table."""
        return self.dependants.members() or list(table)

    def receivers(self, is_own: bool, others: Collection[Contact], dice: Dice) -> list[Contact]:
        """Whom an event goes to besides others: dependants and, of an own event or a gateway, gateways."""
        to = self.dependants.receivers({each.id for each in others}, dice)
        if self.gateways and (is_own or len(self.dependants)):
            start, reached = dice.next_below(len(self.gateways)), {each.address for each in (*others, *to)}
            handed = [*self.gateways[start:], *self.gateways[:start]][:HANDED]
            to += [each for each in handed if each.address not in reached]
        return to
