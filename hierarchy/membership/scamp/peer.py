"""One peer of SCAMP: whom it gossips to, who gossips to it, and what it does with each message.

Paper and rules: `hierarchy.membership.scamp.rules`. Live members run this class; the tests drive it as the
oracle that the kernels agree with, draw for draw. A driver has to say which cycle it is, to hand over
messages, and to report those that could not be delivered; the peer then sends what was in them by another
way.

The messages of a subscription are `Subscribe`, which walks to the member that serves it, and `Copy`, which
walks until somebody keeps it. `Served` and `Kept` tell the newcomer who did. `Replace` takes a leaver out
of a view, `Dropped` takes it out of an InView. `Weigh` and `Weighed` balance the weights of links.

Until somebody has served its own subscription, a member serves nobody: it hands requests on to its contact,
and asks again. Otherwise all who came to it in the meantime would be a community of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from hierarchy.contacts import Contact, Send, Sends
from hierarchy.membership.scamp.scamp_messages import (
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
from hierarchy.membership.scamp.settings import ScampSettings
from sub2sub.kernels.dice import Dice

TRIES = 3  # members of the view, and of the InView, that a subscription is tried through
HEAVIEST = 1e9  # so that no sum another peer reports makes a weight infinite


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
    own : Contact
        Who it is.
    settings : ScampSettings
    most : int, optional
        Entries of either view at most; (c + 1) ln n are far fewer.
    grace : int, optional
        Cycles that an entry is kept after its lease. Where nobody shares a clock and messages take time, a
        lease would end here before its owner has renewed it, and events would not find the owner. With a
        grace, a later lease takes the place of an earlier one, and those who hold a member by the earlier one
        are told to make room only once somebody has the later one.

    Attributes
    ----------
    view : list of Link
        PartialView, the topic table.
    inward : list of Contact
        InView: who has this member in its view, as far as it was told.
    contact : Contact, optional
        Whom to turn to when the views are of no help.
    lease_end, heard : int
        The cycle in which its own subscription ends, and that of the last heartbeat.
    served : bool
        Whether it is in the community: it founded it, or a member has served its subscription.
    asked : int
        The cycle of its last request, as long as that is not answered; -1 afterwards.
    wanted : int
        How many members its view should have; while there are fewer, the subscriptions it serves spread
        with c extra copies. 0 if it has no idea.
    returned : bool
        Whether the walk of its request ended at itself, so that it asked the first who answered to serve.

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
        self._outdated: list[Contact] = []  # who has this member by an earlier lease only
        self._untried: list[Source] = []
        self._holders: list[Contact] = []  # the InView when it subscribed last
        self._start: Contact | None = None
        self.returned = False
        self._weights: dict[Contact, tuple[float, int]] = {}  # of links to this member, and when told
        self._unanswered: set[Contact] = set()
        self._told: dict[int, float] = {}  # weights of the own links, to be answered

    def has(self, id: int) -> bool:
        """Whether a member is in the view."""
        return any(link.peer.id == id for link in self.view)

    def join(self, contact: Contact | None, cycle: int, dice: Dice) -> Sends:
        """Subscribe through a member of the community; with none, found it."""
        self.contact, self.served, self.asked, self.lease_end = contact, contact is None, -1, 0
        return self.subscribe(self.settings.c, cycle, dice)

    def merge(self, contact: Contact, lease: int, cycle: int, dice: Dice) -> Sends:
        """Link to a member of another part of the community, and subscribe there."""
        yield from self.keep(contact, lease, cycle)
        self._untried, self._start, self.returned = [], contact, False
        yield Send(contact, Subscribe(self.own, self.lease_left(cycle), 0, self.settings.indirection))

    def leave(self, cycle: int) -> Sends:
        """Have those that know this member replace it, all but c + 1, and forget everything."""
        heirs, holders = self.view, self.inward
        for i, holder in enumerate(holders):
            message = Replace((), 0)
            if heirs and i < len(holders) - self.settings.c - 1:
                heir = heirs[i % len(heirs)]
                if heir.peer.id != holder.id:
                    message = Replace((heir.peer,), max(heir.expires - self.grace - cycle, 0))
            yield Send(holder, message)
        for heir in heirs:
            yield Send(heir.peer, Dropped())
        yield from self._end_earlier_lease()
        self.view, self.inward, self.lease_end = [], [], 0
        self.contact, self.served, self.asked = None, False, -1

    def is_lost(self, cycle: int) -> bool:
        """Whether it needs another contact: its view is empty, or its request is not answered."""
        unanswered = 0 <= self.asked <= cycle - self.settings.patience
        return self.lease_end > 0 and (not self.view or unanswered)

    def is_due(self, cycle: int) -> bool:
        """Whether to subscribe again: the lease is over, its view empty, nobody answers, beats, holds it."""
        over = self.lease_end <= cycle or self.heard < cycle - self.settings.isolation
        over |= bool(self._outdated) and not self.inward and self._asked_in <= cycle - self.settings.patience
        return self.lease_end > 0 and (over or self.is_lost(cycle))

    def renew(self, cycle: int, dice: Dice) -> Sends:
        """Subscribe again; who has this member by a lease that is over makes room for the new one."""
        holders = self.inward
        if self.lease_end <= cycle:
            self._outdated, self.inward = [*self._outdated, *self.inward][-self.most :], []
            if not self.grace:
                yield from self._end_earlier_lease()
        yield from self.subscribe(0 if self.served else self.settings.c, cycle, dice, holders)

    def _end_earlier_lease(self) -> Sends:
        """Have those make room who hold this member by its earlier lease."""
        holders, self._outdated = self._outdated, []
        for holder in holders:
            yield Send(holder, Replace((), 0))

    def stand_still(self, missed: int) -> None:
        """Take note of cycles in which this member did nothing: where others hold it, its lease went on."""
        if self.lease_end > 0:
            self.lease_end = max(self.lease_end - missed, 1)
            self.heard -= missed

    def expire(self, cycle: int) -> None:
        """Drop entries whose lease is over."""
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
        """Tell who told the weight of a link what all links weigh in sum that were told of since a cycle."""
        self._weights = {who: told for who, told in self._weights.items() if told[1] >= since}
        total = sum(weight for weight, _ in self._weights.values())
        holders, self._unanswered = self._unanswered, set()
        for holder, (weight, _) in self._weights.items():
            if holder in holders:
                yield Send(holder, Weighed(weight, total))

    def normalise_weights(self) -> None:
        """Scale the weights of the view to a sum of 1, now that those who answer have answered."""
        total = sum(link.weight for link in self.view)
        for link in self.view:
            link.weight = link.weight / total if total > 0 else 1.0

    def subscribe(self, extra: int, cycle: int, dice: Dice, holders: list[Contact] | None = None) -> Sends:
        """Have a lease spread, with so many extra copies, by whoever answers first: a new one if it is over.

        Who asks again within its lease asks for that one: were it longer, those who have the member in their
        views would not know, and drop it too early. Who had this member in its view may answer, too; by
        default, who has.
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
                if len(self.view) < max(1, self.wanted // 2):  # too few for this one's events to get far
                    yield from self.keep(message.server, message.lease, cycle)
            case Copy():
                yield from self._take_copy(message, cycle, dice)
            case Kept():
                if len(self.inward) < self.most:
                    self.inward.append(message.holder)
                self._outdated = [each for each in self._outdated if each.id != sender]
                yield from self._end_earlier_lease()
            case Replace():
                if self.drop(sender):
                    for heir in message.heir:
                        yield from self.keep(heir, message.lease, cycle)
            case Dropped():
                self._forget_holder(sender)
            case Beat():
                self.heard = cycle
            case Weigh():
                if len(self._weights) < self.most:
                    self._weights[message.holder] = message.weight, cycle
                    self._unanswered.add(message.holder)
            case Weighed():
                self._take_total(sender, message)

    def undelivered(self, message: ScampMessage, cycle: int, dice: Dice) -> Sends:
        """Send what was in a message by another way."""
        match message:
            case Copy():
                yield from self._pass_on(message, dice)
            case Subscribe() if message.newcomer.id == self.own.id and (
                self.returned or message.steps == self.settings.indirection
            ):
                yield from self._reach(message.extra, cycle, dice)
            case Subscribe():  # it was walking, and stays here for this step
                yield from self._serve(message, cycle, dice)

    def _reach(self, extra: int, cycle: int, dice: Dice) -> Sends:
        """Turn to the next who may answer: some of the view, some of the InView, the contact."""
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
        """Walk on with a newcomer's request, or spread its subscription."""
        newcomer, own = request.newcomer, request.newcomer.id == self.own.id
        if not self.served and not own:  # it knows nobody but its contact; the newcomer will ask again
            if self.contact is not None and request.steps > 0:
                yield Send(self.contact, replace(request, steps=request.steps - 1))
        elif self.view and request.steps > 0:
            yield Send(self._walk(dice), replace(request, steps=request.steps - 1))
        elif own and not self.served:  # nobody on the way is served, so this one founds the community
            self.served, self.asked = True, -1
        elif own:  # the walk ended where it began; the first who answered serves
            if self._start is not None:
                self.returned = True
                yield Send(self._start, replace(request, steps=0))
        else:
            yield Send(newcomer, Served(self.own, self.lease_left(cycle)))
            known = self._within_lease(cycle)
            if not known:  # the founder of a community has nobody to pass it on to
                yield from self.keep(newcomer, request.lease, cycle)
            copy = Copy(newcomer, request.lease, self.settings.hop_limit)
            for target in known:
                yield Send(target, copy)
            for _ in range(self._extra(request.extra, len(known))):
                yield Send(known[dice.next_below(len(known))], copy)

    def _within_lease(self, cycle: int) -> list[Contact]:
        """Whom to send copies to: not those in their grace, or the view would grow with each lease."""
        inside = [link.peer for link in self.view if not self.grace or link.expires > cycle + self.grace]
        return inside or [link.peer for link in self.view]

    def _extra(self, asked: int, known: int) -> int:
        """How many extra copies to send: as many as asked for, or c while the own view is too small."""
        if not known:
            return 0
        return max(asked, self.settings.c) if known < self.wanted else asked

    def _walk(self, dice: Dice) -> Contact:
        """The next step of a request: along a link, with the chance of its weight."""
        left = dice.next_unit() * sum(link.weight for link in self.view)
        for link in self.view[:-1]:
            if left < link.weight:
                return link.peer
            left -= link.weight
        return self.view[-1].peer

    def _take_copy(self, copy: Copy, cycle: int, dice: Dice) -> Sends:
        """Keep a copy with probability 1/(1 + size of the view), or pass it on.

        An entry by an earlier lease counts as none, and makes room for the later one.
        """
        if copy.steps == 0:
            return
        earlier = self._earlier(copy, cycle)
        known = copy.newcomer.id == self.own.id or (self.has(copy.newcomer.id) and not earlier)
        if not known and dice.next_unit() * (1 + len(self.view) - bool(earlier)) < 1.0:
            if earlier:
                self.drop(copy.newcomer.id)
            yield from self.keep(copy.newcomer, copy.lease, cycle)
        else:
            yield from self._pass_on(copy, dice)

    def _earlier(self, copy: Copy, cycle: int) -> bool:
        """Whether the newcomer is in the view by a lease of which less than half is left of what a copy has.

        A copy does not say which lease it is of; one that was slow tells more than is left.
        """
        ends = cycle + copy.lease // 2 + self.grace
        return self.grace > 0 and any(
            link.peer.id == copy.newcomer.id and link.expires <= ends for link in self.view
        )

    def _pass_on(self, copy: Copy, dice: Dice) -> Sends:
        """Pass a copy on to a random member of the view."""
        if self.view and copy.steps > 0:
            target = self.view[dice.next_below(len(self.view))].peer
            yield Send(target, replace(copy, steps=copy.steps - 1))

    def keep(self, peer: Contact, lease: int, cycle: int) -> Sends:
        """Take a member into the view, and tell it. A new link weighs as much as the others."""
        if peer.id == self.own.id or self.has(peer.id) or len(self.view) >= self.most:
            return
        weight = sum(link.weight for link in self.view) / len(self.view) if self.view else 1.0
        self.view.append(Link(peer, cycle + lease + self.grace, weight))
        yield Send(peer, Kept(self.own))

    def drop(self, id: int) -> bool:
        """Take a member out of the view, where the last one takes its place; whether it was there."""
        for place, link in enumerate(self.view):
            if link.peer.id == id:
                self.view[place] = self.view[-1]
                self.view.pop()
                return True
        return False

    def _forget_holder(self, id: int) -> None:
        for place, holder in enumerate(self.inward):
            if holder.id == id:
                self.inward[place] = self.inward[-1]
                self.inward.pop()
                return

    def _take_total(self, sender: int, message: Weighed) -> None:
        """Divide the weight of a link by what all links to that member weigh.

        An answer to an earlier weight comes too late: weights that follow old ones never settle.
        """
        for link in self.view:
            if link.peer.id == sender and self._told.get(sender) == message.weight and message.total > 0:
                del self._told[sender]
                link.weight = min(link.weight / message.total, HEAVIEST)

    def lease_left(self, cycle: int) -> int:
        """How long its own subscription lasts."""
        return max(self.lease_end - cycle, 0)
