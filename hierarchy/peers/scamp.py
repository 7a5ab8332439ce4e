"""One peer of SCAMP: the members it gossips to, the members that gossip to it, and its messages.

Paper and rules: `hierarchy.compiled.scamp.rules`. Live members run this class; the tests use it as the
oracle of the kernels, draw for draw. A driver passes in the cycle and the messages, and reports messages that
could not be delivered; the peer then sends their contents to other members.

The messages of a subscription are `Subscribe`, which walks to the member that serves it, and `Copy`, which
walks until a member keeps it. `Served` and `Kept` tell the newcomer which members did. `Replace` removes a
leaver from a view, `Dropped` removes it from an InView. `Weigh` and `Weighed` balance the weights of links.

Until its own subscription has been served, a member serves no other: it forwards requests to its contact, and
repeats its own. Otherwise it and the members that it served would form a separate community.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from hierarchy.peers.contacts import Contact, Send, Sends
from hierarchy.peers.scamp_messages import (
    Beat,
    Copy,
    Dropped,
    Kept,
    Replace,
    ScampMessage,
    Served,
    Subscribe,
    Weigh,
    Weighed,
)
from hierarchy.peers.settings import ScampSettings
from sub2sub.peers.draws import Dice, stream_number

STREAM = stream_number("scamp")
REFILL, MERGE, LEAVE, JOIN, RENEW, BEAT, BALANCE = range(-7, 0)  # keys of the phases' random numbers
TRIES = 3  # members of the view, and of the InView, that are asked to serve a subscription
HEAVIEST = 1e9  # limit of a weight, so that sums can be sent and no weight becomes infinite
Source = Literal["contact", "view", "inward"]


@dataclass
class Link:
    """An entry of a view: a member, the cycle in which its lease ends, the weight of the link in walks."""

    peer: Contact
    expires: int
    weight: float = 1.0


class ScampPeer:
    """The PartialView and the InView of one member.

    Parameters
    ----------
    most : int, optional
        Maximum number of entries of each view, far above (c + 1) ln n.
    grace : int, optional
        Cycles that an entry is kept after its lease. Without a common clock, and with messages that take
        time, a lease would end here before its owner has renewed it, and events would not reach the owner.
        With a grace, a new lease replaces the old one, and a member that has the old one is told to drop it
        only when a further member has the new one.

    Attributes
    ----------
    view : list of Link
        PartialView, the topic table.
    inward : list of Contact
        InView: the members that have this one in their view.
    contact : Contact, optional
        The member to ask if no member of the views answers.
    lease_end, heard : int
        The cycle in which its own subscription ends, and that of the last heartbeat.
    served : bool
        Whether it is in the community: it is the founder, or a member has served its subscription.
    asked : int
        The cycle of its last request, until it is answered; -1 afterwards.
    wanted : int
        How many members its view should have; while there are fewer, the subscriptions that it serves spread
        with c extra copies. 0 if unknown.
    parted : set of int
        IDs of the members that were told to drop this one, because they had it by an old lease.
    returned : bool
        Whether its request came back to it, so that it asked the first member that answered to serve it.

    Examples
    --------
    >>> one, two = (ScampPeer(Contact(i, "h", i, "."), ScampSettings(indirection=0)) for i in (1, 2))
    >>> list(one.join(None, cycle=0, dice=Dice(1)))  # founds the community
    []
    >>> (request,) = two.join(one.own, cycle=0, dice=Dice(2))
    >>> [type(send.message).__name__ for send in one.receive(request.message, 2, cycle=0, dice=Dice(3))]
    ['Served', 'Kept']
    >>> [link.peer.id for link in one.view]
    [2]
    """

    def __init__(self, own: Contact, settings: ScampSettings, most: int = 1 << 30, grace: int = 0) -> None:
        self.own, self.settings, self.most, self.grace = own, settings, most, grace
        self.view: list[Link] = []
        self.inward: list[Contact] = []
        self.contact: Contact | None = None
        self.lease_end = self.heard = self.wanted = 0
        self.served, self.asked, self._asked_in = False, -1, 0  # the last: the cycle of its last request
        self._outdated: list[Contact] = []  # members that have this one only by an old lease
        self.parted: set[int] = set()
        self._untried: list[Source] = []
        self._holders: list[Contact] = []  # the InView when it subscribed last
        self._start: Contact | None = None
        self.returned = False
        self._weights: dict[Contact, tuple[float, int]] = {}  # of links to this member, and when received
        self._unanswered: set[Contact] = set()
        self._told: dict[int, float] = {}  # sent weights of the own links, until they are answered

    def has(self, id: int) -> bool:
        """Whether a member is in the view."""
        return any(link.peer.id == id for link in self.view)

    def join(self, contact: Contact | None, cycle: int, dice: Dice) -> Sends:
        """Subscribe through a member of the community; without one, found the community."""
        self.contact, self.served, self.asked, self.lease_end = contact, contact is None, -1, 0
        return self.subscribe(self.settings.c, cycle, dice)

    def merge(self, contact: Contact, lease: int, cycle: int, dice: Dice) -> Sends:
        """Link to a member of another part of the community, and subscribe there."""
        yield from self.keep(contact, lease, cycle)
        self._untried, self._start, self.returned = [], contact, False
        yield Send(contact, Subscribe(self.own, self.lease_left(cycle), 0, self.settings.indirection))

    def leave(self, cycle: int) -> Sends:
        """Let all but c + 1 of the members that know this one replace it, and delete all state."""
        entries, holders = self.view, self.inward
        for i, holder in enumerate(holders):
            message = Replace((), 0)
            if entries and i < len(holders) - self.settings.c - 1:
                entry = entries[i % len(entries)]
                if entry.peer.id != holder.id:
                    message = Replace((entry.peer,), max(entry.expires - self.grace - cycle, 0))
            yield Send(holder, message)
        for entry in entries:
            yield Send(entry.peer, Dropped())
        yield from self._end_earlier_lease(len(self._outdated))
        self.view, self.inward, self.lease_end = [], [], 0
        self.contact, self.served, self.asked = None, False, -1

    def is_lost(self, cycle: int) -> bool:
        """Whether it needs another contact: its view is empty, or its request is not answered."""
        unanswered = 0 <= self.asked <= cycle - self.settings.patience
        return self.lease_end > 0 and (not self.view or unanswered)

    def is_due(self, cycle: int) -> bool:
        """Whether to subscribe again: the lease has expired, the view is empty, or no member responds."""
        over = self.lease_end <= cycle or self.heard < cycle - self.settings.isolation
        over |= bool(self._outdated) and not self.inward and self._asked_in <= cycle - self.settings.patience
        return self.lease_end > 0 and (over or self.is_lost(cycle))

    def renew(self, cycle: int, dice: Dice) -> Sends:
        """Subscribe again; members that have this one by an expired lease drop it."""
        holders = self.inward
        if self.lease_end <= cycle:
            self._outdated, self.inward = [*self.inward, *self._outdated][: self.most], []
            if not self.grace:
                yield from self._end_earlier_lease(len(self._outdated))
        yield from self.subscribe(0 if self.served else self.settings.c, cycle, dice, holders)

    def _end_earlier_lease(self, count: int) -> Sends:
        """Tell some of the members that have this one by an old lease to drop it."""
        holders, self._outdated = self._outdated[:count], self._outdated[count:]
        self.parted = self.parted | {holder.id for holder in holders}
        for holder in holders:
            yield Send(holder, Replace((), 0))

    def miss_cycles(self, missed: int) -> None:
        """Account for cycles in which this member did nothing: its lease went on at other members."""
        if self.lease_end > 0:
            self.lease_end = max(self.lease_end - missed, 1)
            self.heard -= missed

    def expire(self, cycle: int) -> None:
        """Drop entries with an expired lease."""
        for link in reversed(list(self.view)):
            if link.expires <= cycle:
                self.drop(link.peer.id)

    def beat(self) -> Sends:
        """Send a heartbeat along every link."""
        for link in self.view:
            yield Send(link.peer, Beat())

    def weigh(self) -> Sends:
        """Tell every member of the view the weight of the link to it."""
        self._told = {link.peer.id: link.weight for link in self.view}
        for link in self.view:
            yield Send(link.peer, Weigh(self.own, link.weight))

    def answer_weights(self, since: int) -> Sends:
        """Send the sum of all weights received since a cycle to the members that wait for it."""
        self._weights = {peer: told for peer, told in self._weights.items() if told[1] >= since}
        total = sum(weight for weight, _ in self._weights.values())
        holders, self._unanswered = self._unanswered, set()
        for holder, (weight, _) in self._weights.items():
            if holder in holders:
                yield Send(holder, Weighed(weight, total))

    def normalise_weights(self) -> None:
        """Scale the weights of the view to a sum of 1, after the answers have come."""
        total = sum(link.weight for link in self.view)
        for link in self.view:
            link.weight = link.weight / total if total > 0 else 1.0

    def subscribe(self, extra: int, cycle: int, dice: Dice, holders: list[Contact] | None = None) -> Sends:
        """Ask the first member that answers to spread the lease; a new one if the old one has expired.

        A request within a lease is for that lease: members that have this one in their views would not know
        a longer one. `holders`, members that had this one in their views, may answer, too.
        """
        s, self._holders = self.settings, self.inward if holders is None else holders
        end = cycle + s.lease + dice.next_below(s.lease // 2 + 1)
        self.lease_end = end if self.lease_end <= cycle else self.lease_end
        self.heard = self._asked_in = cycle
        known: list[Source] = ["view"] * min(TRIES, len(self.view))
        known += ["inward"] * min(TRIES, len(self._holders))
        self._untried = ["contact", *known] if s.contact_first else [*known, "contact"]
        yield from self._reach(extra, cycle, dice)

    def receive(self, message: ScampMessage, sender: int, cycle: int, dice: Dice) -> Sends:
        """Take a message from the member with the number `sender`."""
        match message:
            case Subscribe():
                yield from self._serve(message, cycle, dice)
            case Served():
                self.served, self.asked = True, -1
                if len(self.view) < max(1, self.wanted // 2):  # its events would reach few members
                    yield from self.keep(message.server, message.lease, cycle)
            case Copy():
                yield from self._take_copy(message, cycle, dice)
            case Kept():
                self.parted.discard(sender)
                further = sender not in {each.id for each in [*self._outdated, *self.inward]}
                self._outdated = list({one.id: one for one in self._outdated if one.id != sender}.values())
                self.inward = [*self.inward, message.holder][: self.most]
                if further:  # one for one: if this holder is in few views, events reach both by the others
                    yield from self._end_earlier_lease(1)
            case Replace():
                if self.drop(sender):
                    for other in message.by:
                        yield from self.keep(other, message.lease, cycle)
            case Dropped():
                _remove(self.inward, [holder.id for holder in self.inward], sender)
            case Beat():
                self.heard = cycle
            case Weigh():
                if len(self._weights) < self.most:
                    self._weights[message.holder] = min(message.weight, HEAVIEST), cycle
                    self._unanswered.add(message.holder)
            case Weighed():
                self._take_total(sender, message)

    def undelivered(self, message: ScampMessage, cycle: int, dice: Dice) -> Sends:
        """Send the contents of an undelivered message to another member."""
        match message:
            case Copy():
                yield from self._pass_on(message, dice)
            case Subscribe() if message.newcomer.id == self.own.id and (
                self.returned or message.steps == self.settings.indirection
            ):
                yield from self._reach(message.extra, cycle, dice)
            case Subscribe():  # the walk stays here for this step
                yield from self._serve(message, cycle, dice)

    def _reach(self, extra: int, cycle: int, dice: Dice) -> Sends:
        """Ask the next that may answer: some of the view, some of the InView, the contact."""
        while self._untried:
            source = self._untried.pop(0)
            if source == "contact":
                target = self.contact
            else:
                known = [link.peer for link in self.view] if source == "view" else self._holders
                target = known[dice.next_below(len(known))] if known else None
            if target is not None and target.id != self.own.id:
                self._start, self.returned, self.asked = target, False, cycle
                steps = self.settings.indirection
                yield Send(target, Subscribe(self.own, self.lease_left(cycle), extra, steps))
                return

    def _serve(self, request: Subscribe, cycle: int, dice: Dice) -> Sends:
        """Forward a newcomer's request, or spread its subscription."""
        newcomer, own = request.newcomer, request.newcomer.id == self.own.id
        if not self.served and not own:  # without a contact the request is lost, and will be repeated
            if self.contact is not None and request.steps > 0:
                yield Send(self.contact, replace(request, steps=request.steps - 1))
        elif self.view and request.steps > 0:
            yield Send(self._walk(dice), replace(request, steps=request.steps - 1))
        elif own and not self.served:  # no member on the way is served, so this one is the founder
            self.served, self.asked = True, -1
        elif own:  # the walk ended where it began; the first member that answered serves
            if self._start is not None:
                self.returned = True
                yield Send(self._start, replace(request, steps=0))
        else:
            yield Send(newcomer, Served(self.own, self.lease_left(cycle)))
            known = self.spreads_to(newcomer, cycle, dice)
            if not known:  # a founder has no member to forward it to
                yield from self.keep(newcomer, request.lease, cycle)
            copy = Copy(newcomer, request.lease, self.settings.hop_limit)
            for target in known:
                yield Send(target, copy)
            for _ in range(self._extra(request.extra, len(known))):
                yield Send(known[dice.next_below(len(known))], copy)

    def ways(self) -> list[Link]:
        """The links that requests and copies go along: all of the view."""
        return self.view

    def spreads_to(self, newcomer: Contact, cycle: int, dice: Dice) -> list[Contact]:
        """The members to send copies to. With those in their grace, views would grow with each lease."""
        ways = self.ways()
        inside = [link.peer for link in ways if not self.grace or link.expires > cycle + self.grace]
        return inside or [link.peer for link in ways]

    def _extra(self, asked: int, known: int) -> int:
        """Number of extra copies: as requested, but at least c while the own view is too small."""
        if not known:
            return 0
        return max(asked, self.settings.c) if known < self.wanted else asked

    def _walk(self, dice: Dice) -> Contact:
        """The next step of a request: a member of the view, with probability proportional to its weight."""
        ways = self.ways()
        left = dice.next_unit() * sum(link.weight for link in ways)
        for link in ways[:-1]:
            if left < link.weight:
                return link.peer
            left -= link.weight
        return ways[-1].peer

    def _take_copy(self, copy: Copy, cycle: int, dice: Dice) -> Sends:
        """Keep a copy with probability 1/(1 + size of the view, without an entry by an old lease)."""
        if copy.steps == 0:
            return
        earlier = self._earlier(copy, cycle)
        known = copy.newcomer.id == self.own.id or (self.has(copy.newcomer.id) and not earlier)
        if not known and dice.next_unit() * (1 + len(self.ways()) - bool(earlier)) < 1.0:
            if earlier:
                self.drop(copy.newcomer.id)
            yield from self.keep(copy.newcomer, copy.lease, cycle)
        else:
            yield from self._pass_on(copy, dice)

    def _earlier(self, copy: Copy, cycle: int) -> bool:
        """Whether the newcomer is in the view by a lease with less than half the time of the copy left.

        A copy does not name its lease, and its remaining time is too large if it was delayed.
        """
        ends = cycle + copy.lease // 2 + self.grace
        return self.grace > 0 and any(
            link.peer.id == copy.newcomer.id and link.expires <= ends for link in self.view
        )

    def _pass_on(self, copy: Copy, dice: Dice) -> Sends:
        """Forward a copy to a random member of the view."""
        ways = self.ways()
        if ways and copy.steps > 0:
            target = ways[dice.next_below(len(ways))].peer
            yield Send(target, replace(copy, steps=copy.steps - 1))

    def keep(self, peer: Contact, lease: int, cycle: int) -> Sends:
        """Take a member into the view, and tell it. A new link has the mean weight of the others."""
        if peer.id == self.own.id or self.has(peer.id) or len(self.view) >= self.most:
            return
        weight = sum(link.weight for link in self.view) / len(self.view) if self.view else 1.0
        self.view.append(Link(peer, cycle + lease + self.grace, weight))
        yield Send(peer, Kept(self.own))

    def drop(self, id: int) -> bool:
        """Remove a member from the view, the last one takes its place; return whether it was there."""
        return _remove(self.view, [link.peer.id for link in self.view], id)

    def _take_total(self, sender: int, message: Weighed) -> None:
        """Divide the weight of a link by the total weight of all links to that member.

        An answer to an earlier weight is ignored: weights that follow it would never converge.
        """
        for link in self.view:
            if link.peer.id == sender and self._told.get(sender) == message.weight and message.total > 0:
                del self._told[sender]
                link.weight = min(link.weight / message.total, HEAVIEST)

    def lease_left(self, cycle: int) -> int:
        """Cycles until its own subscription ends."""
        return max(self.lease_end - cycle, 0)


def _remove(entries: list[Any], ids: list[int], id: int) -> bool:
    """Remove the first entry with an ID, the last one takes its place; return whether it was there."""
    if id in ids:
        entries[ids.index(id)] = entries[-1]
        entries.pop()
    return id in ids
