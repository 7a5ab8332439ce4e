"""SCAMP for one live member: who it gossips to, and who gossips to it.

Rules and paper: `hierarchy.membership.scamp.rules`. Read differently from there:

- Links are not weighted: a request walks its steps of indirection along links chosen evenly, and nothing is
  spent on balancing weights.
- An entry that cannot be reached is dropped at once, without waiting for the end of its lease; TCP tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hierarchy.live.dice import Dice
from hierarchy.live.messages import Beat, Contact, Copy, Kept, Replace, Send, Served, Subscribe
from hierarchy.membership.scamp.layer import ScampSettings
from hierarchy.membership.scamp.rules import keeps

__all__ = ["Entry", "ScampLinks"]


@dataclass
class Entry:
    """One of the view, and the cycle in which its lease ends."""

    contact: Contact
    expires: int


class ScampLinks:
    """The partial view and the InView of one member.

    Attributes
    ----------
    view : list of Entry
        PartialView, the topic table.
    inward : list of Contact
        InView: who has this member in its view, as far as it was told.
    """

    MOST = 256  # entries of either; (c + 1) ln n are far fewer

    def __init__(self, own: Contact, settings: ScampSettings) -> None:
        self.own, self.settings = own, settings
        self.view: list[Entry] = []
        self.inward: list[Contact] = []
        self.contact: Contact | None = None
        self.lease_end = self.heard = 0
        self._reaching: Iterator[Contact] = iter(())

    def has(self, id: int) -> bool:
        """Whether a member is in the view."""
        return any(entry.contact.id == id for entry in self.view)

    def subscribe(self, contact: Contact | None, extra: int, cycle: int, dice: Dice) -> list[Send]:
        """Begin a lease, and have it spread by whoever answers first."""
        s = self.settings
        if contact is not None:
            self.contact = contact
        self.lease_end = cycle + s.lease + dice.below(s.lease // 2 + 1)
        self.heard = cycle
        self._reaching = self._candidates(dice)
        return self._reach(extra, cycle)

    def tick(self, cycle: int, dice: Dice) -> list[Send]:
        """Renew what is due, drop what is over, send heartbeats."""
        sends: list[Send] = []
        isolated = self.heard < cycle - self.settings.isolation or not self.view
        if self.lease_end and (self.lease_end <= cycle or isolated):
            if self.lease_end <= cycle:
                self.inward.clear()
            sends += self.subscribe(None, 0, cycle, dice)
        self.view = [entry for entry in self.view if entry.expires > cycle]
        return sends + [Send(entry.contact, Beat()) for entry in self.view]

    def serve(self, request: Subscribe, cycle: int, dice: Dice) -> list[Send]:
        """Walk on with a newcomer's request, or spread its subscription."""
        newcomer, known = request.newcomer, [entry.contact for entry in self.view]
        if known and (request.steps > 0 or newcomer.id == self.own.id):
            target = known[dice.below(len(known))]
            steps = max(request.steps - 1, 0)
            return [Send(target, Subscribe(newcomer, request.lease, request.extra, steps))]
        if newcomer.id == self.own.id:
            return []
        sends = [Send(newcomer, Served(self.own, self._left(cycle)))]
        if not known:
            return sends + self.keep(newcomer, request.lease, cycle)
        known += [known[dice.below(len(known))] for _ in range(request.extra)]
        copy = Copy(newcomer, request.lease, self.settings.hop_limit)
        return sends + [Send(target, copy) for target in known]

    def served(self, message: Served, cycle: int) -> list[Send]:
        """Take the server into an empty view."""
        return self.keep(message.server, message.lease, cycle) if not self.view else []

    def copy(self, message: Copy, cycle: int, dice: Dice) -> list[Send]:
        """Keep a copy of a subscription, or pass it on."""
        newcomer = message.newcomer
        if newcomer.id != self.own.id and not self.has(newcomer.id) and keeps(dice.bits(), len(self.view)):
            return self.keep(newcomer, message.lease, cycle)
        return self.pass_on(message, dice)

    def pass_on(self, message: Copy, dice: Dice) -> list[Send]:
        """Pass a copy on to a random member of the view."""
        if not self.view or message.steps <= 1:
            return []
        target = self.view[dice.below(len(self.view))].contact
        return [Send(target, Copy(message.newcomer, message.lease, message.steps - 1))]

    def keep(self, contact: Contact, lease: int, cycle: int) -> list[Send]:
        """Take a member into the view, and tell it."""
        if self.has(contact.id) or contact.id == self.own.id or len(self.view) >= self.MOST:
            return []
        self.view.append(Entry(contact, cycle + lease))
        return [Send(contact, Kept(self.own))]

    def kept(self, message: Kept) -> None:
        """Note who has this member in its view."""
        known = any(holder.id == message.holder.id for holder in self.inward)
        if not known and len(self.inward) < self.MOST:
            self.inward.append(message.holder)

    def drop(self, id: int) -> None:
        """Take a member out of the view; the last one takes its place."""
        for place, entry in enumerate(self.view):
            if entry.contact.id == id:
                self.view[place] = self.view[-1]
                self.view.pop()
                return

    def replace(self, leaver: int, message: Replace, cycle: int) -> list[Send]:
        """Put another in the place of one who leaves."""
        if not self.has(leaver):
            return []
        self.drop(leaver)
        return [send for heir in message.heir for send in self.keep(heir, message.lease, cycle)]

    def leave(self, cycle: int) -> list[Send]:
        """Have those that know this member replace it, all but c + 1."""
        heirs, sends = self.view, []
        for i, holder in enumerate(self.inward):
            heir: tuple[Contact, ...] = ()
            lease = 0
            if heirs and i < len(self.inward) - self.settings.c - 1:
                entry = heirs[i % len(heirs)]
                if entry.contact.id != holder.id:
                    heir, lease = (entry.contact,), max(entry.expires - cycle, 0)
            sends.append(Send(holder, Replace(heir, lease)))
        return sends

    def unreachable(self, to: Contact, message: object, cycle: int, dice: Dice) -> list[Send]:
        """Drop a member that cannot be reached, and send what was for it by another way."""
        self.drop(to.id)
        self.inward = [holder for holder in self.inward if holder.id != to.id]
        if isinstance(message, Copy):
            return self.pass_on(message, dice)
        if isinstance(message, Subscribe):
            if message.newcomer.id == self.own.id:
                return self._reach(message.extra, cycle)
            return self.serve(message, cycle, dice)
        return []

    def _left(self, cycle: int) -> int:
        return max(self.lease_end - cycle, 0)

    def _reach(self, extra: int, cycle: int) -> list[Send]:
        """Turn to the next who may answer."""
        for target in self._reaching:
            if target.id != self.own.id:
                request = Subscribe(self.own, self._left(cycle), extra, self.settings.indirection)
                return [Send(target, request)]
        return []

    def _candidates(self, dice: Dice) -> Iterator[Contact]:
        """Some of the view, some of those that have this member in theirs, and the contact, last or first."""
        last = [self.contact] if self.contact else []
        if self.settings.contact_first:
            yield from last
        for known in ([entry.contact for entry in self.view], list(self.inward)):
            for _ in range(min(3, len(known))):
                yield known[dice.below(len(known))]
        if not self.settings.contact_first:
            yield from last
