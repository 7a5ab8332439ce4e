"""A SCAMP view that strangers cannot fill: shared out among hosts, and only for members that have answered.

SCAMP's members are honest (`hierarchy.membership.scamp.peer`). An attacker subscribes many members of its
own. They fill views, keep others from being kept there (a copy is kept with probability 1/(1 + size)),
swallow the copies and requests that are passed on to them, and tell weights that draw all requests. So
here

- a member gets a place when it has answered at its own address (`hierarchy.live.candidates`);
- each host has its share of the places, and counts once when a copy is kept or passed on and a request goes
  on, however many places it has; of the members that say they hold this one, a host has its share too;
- nobody is believed that says the weights of all links to it are less than that of one of them;
- who has no proof that it gets events without help (`in_need`) subscribes through a gateway, which serves it
  itself instead of sending the request along links. It sends copies to others that have turned to it
  (`further`), as many as a view has members, and names one of them as the server. A copy that comes from a
  gateway is kept at once, unless many are. Requests and copies then go along these links.

While all members are at one's own host there is nothing to share out, and nobody is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from hierarchy.contacts import Contact, Send, Sends
from hierarchy.live.candidates import Candidates
from hierarchy.membership.scamp.peer import Link, ScampPeer
from hierarchy.membership.scamp.scamp_messages import Copy, Kept, ScampMessage, Served, Subscribe, Weighed
from hierarchy.membership.scamp.settings import ScampSettings
from sub2sub.kernels.dice import Dice
from sub2sub.live.core.host_addresses import host_of, on_one_machine
from sub2sub.live.core.reliance import few_of_a_host

LEAST = 4  # members that a gateway sends copies to, at least
ROOM = 8  # places that are shared out among hosts, at least
REMEMBERED = 256  # members that have answered
DIRECT = 16  # requests that a gateway serves itself in a cycle, one of each host


class SharedOutView(ScampPeer):
    """The views of one live member; parameters as of `ScampPeer`.

    Parameters
    ----------
    gateways : sequence of Contact
        Well-known members of the community, which the user has given.

    Attributes
    ----------
    teller : str
        The host whose message is being handled, "" during the member's own turns.
    in_need : bool
        Whether to subscribe through a gateway.
    further : callable
        Members that copies may be sent to, besides those of the view.

    Examples
    --------
    >>> own, other = (Contact(i, f"192.0.2.{i}", 7000, ".") for i in (1, 2))
    >>> view = SharedOutView(own, ScampSettings())
    >>> list(view.keep(other, lease=9, cycle=0))  # not before it has answered
    []
    >>> (question,) = view.ask_candidates(cycle=0, dice=Dice(1))
    >>> [type(send.message).__name__ for send in view.answered(question.message.exchange, cycle=0)]
    ['Kept']
    """

    def __init__(
        self, own: Contact, settings: ScampSettings, most: int = 1 << 30, grace: int = 0,
        gateways: Sequence[Contact] = (),
    ) -> None:  # fmt: skip
        super().__init__(own, settings, most, grace)
        self.teller, self.gateways, self.in_need = "", gateways, bool(gateways)
        self.further: Callable[[], list[Contact]] = list
        self.candidates = Candidates()
        self._gateway_hosts = {host_of(each.host) for each in gateways}
        self._known: dict[int, Contact] = {}  # members that have answered
        self._vouched: set[int] = set()  # members of the view, or to be, that a gateway told of
        self._gateway_first = self._asked_gateway = False  # of the next request, and of the last one
        self._served_in, self._served_hosts = 0, Counter[str]()

    def ask_candidates(self, cycle: int, dice: Dice) -> Sends:
        """Ask those that are to be kept whether they are there."""
        return self.candidates.ask(cycle, dice)

    def answered(self, exchange: int, cycle: int) -> Sends:
        """Take the answer of one that was asked, and keep it."""
        found = self.candidates.answer(exchange)
        if found:
            self._known[found.member.id] = found.member
            if len(self._known) > REMEMBERED:
                del self._known[next(iter(self._known))]
            self.drop(found.member.id)  # which it had by an earlier lease
            yield from self.keep(found.member, max(found.expires - cycle, 0), cycle)

    def forget(self, id: int) -> None:
        """Ask a member that was silent, if it is to be kept again."""
        self._known.pop(id, None)

    def keep(self, peer: Contact, lease: int, cycle: int) -> Sends:
        """Take a member into the view if its host has not got its share, and it has answered."""
        if peer.id == self.own.id or self.has(peer.id) or not self._has_room(peer):
            return
        if not self._is_here(peer) and self._known.get(peer.id) != peer:
            teller = "" if self.teller in self._gateway_hosts else self.teller
            self.candidates.propose(peer, teller, cycle, cycle + lease)
            return
        yield from super().keep(peer, lease, cycle)
        places = [link.peer for link in self.view]
        few = {each.id for each in self._share_out(places)}
        for each in places:
            if each.id not in few:
                self.drop(each.id)

    def link_to(self, members: Sequence[Contact], lease: int, cycle: int) -> Sends:
        """Link to some members that were found in a P-Grid, which those that subscribe here have no part in.

        They count as those that a gateway tells of. On one machine nobody needs them.
        """
        for member in members:
            if not self._is_here(member) and self._vouches_for(member, LEAST):
                yield from self.keep(member, lease, cycle)

    def ways(self) -> list[Link]:
        """The links that requests and copies go along: to each other host one, that a gateway told of.

        An attacker that sends everybody copies is in all views, but gateways tell of every host as often.
        """
        hosts: dict[object, Link] = {}
        for link in sorted(self.view, key=lambda link: link.peer.id not in self._vouched):
            hosts.setdefault(link.peer.id if self._is_here(link.peer) else host_of(link.peer.host), link)
        vouched = [link for link in hosts.values() if link.peer.id in self._vouched]
        return vouched if len(vouched) >= LEAST else list(hosts.values())

    def spreads_to(self, newcomer: Contact, cycle: int, dice: Dice) -> list[Contact]:
        """The members to send copies to: those of the view, or `further` ones, as many as a view has."""
        known = super().spreads_to(newcomer, cycle, dice)
        further = {host_of(each.host): each for each in self.further() if each.id != newcomer.id}
        if not further:
            return known
        others = [each for each in known if host_of(each.host) not in further]
        chosen, count = list[Contact](), max(LEAST, self.wanted)
        for everybody in (list(further.values()), others):
            while everybody and len(chosen) < count:
                chosen.append(everybody.pop(dice.next_below(len(everybody))))
        return chosen

    def receive(self, message: ScampMessage, sender: int, cycle: int, dice: Dice) -> Sends:
        """Take a message; of the members that say they hold this one, each host has its share.

        Only one that says so from its own host takes the place of one that holds it by the lease before. A
        member that has asked nobody yet has not been served.
        """
        if isinstance(message, Served) and not self.served and self.asked < 0:
            return
        if isinstance(message, Kept):
            holders = [*self.inward, message.holder]
            if message.holder not in self._share_out(holders):
                return
            if self.teller and host_of(message.holder.host) != self.teller:
                self.inward = holders[: self.most]
                return
        yield from super().receive(message, sender, cycle, dice)

    def subscribe(self, extra: int, cycle: int, dice: Dice, holders: list[Contact] | None = None) -> Sends:
        """Ask the first that answers; in need a gateway, unless none has answered, or not the last time."""
        in_vain = self.contact is None or (self.asked >= 0 and self._asked_gateway)
        self._gateway_first = self.in_need and bool(self.gateways) and not in_vain
        self._asked_gateway = self._gateway_first
        return super().subscribe(extra, cycle, dice, holders)

    def _reach(self, extra: int, cycle: int, dice: Dice) -> Sends:
        if self._gateway_first:  # the next to be asked, if that cannot be reached, is as of SCAMP
            self._gateway_first = False
            gateway = self.gateways[dice.next_below(len(self.gateways))]
            self._start, self.returned, self.asked = gateway, True, cycle
            yield Send(gateway, Subscribe(self.own, self.lease_left(cycle), extra, 0))
        else:
            yield from super()._reach(extra, cycle, dice)

    def _serve(self, request: Subscribe, cycle: int, dice: Dice) -> Sends:
        newcomer, is_here = request.newcomer, self._is_here(request.newcomer)
        is_direct = request.steps == 0 and host_of(newcomer.host) == self.teller and not is_here
        if is_direct and not self._may_serve(cycle):
            request = replace(request, steps=self.settings.indirection)
        others = [each for each in self.further() if each.id != newcomer.id] if request.steps == 0 else []
        for send in super()._serve(request, cycle, dice):
            if others and isinstance(send.message, Served):  # so that not everybody links to a gateway
                other = others[dice.next_below(len(others))]
                send = replace(send, message=Served(other, self.settings.lease))
            yield send
        if others and self._vouches_for(newcomer, max(LEAST, self.wanted)):
            yield from self.keep(newcomer, request.lease, cycle)

    def _may_serve(self, cycle: int) -> bool:
        """Whether to serve a newcomer at the host that a message came from; others walk, as of SCAMP."""
        if cycle != self._served_in:
            self._served_in, self._served_hosts = cycle, Counter()
        self._served_hosts[self.teller] += 1
        return self._served_hosts[self.teller] == 1 and len(self._served_hosts) <= DIRECT

    def _take_copy(self, copy: Copy, cycle: int, dice: Dice) -> Sends:
        """Keep a copy, or pass it on; an entry by an earlier lease stays until the member has answered."""
        earlier = next((link for link in self.view if link.peer == copy.newcomer), None)
        yield from self._keep_or_pass_on(copy, cycle, dice)
        if earlier and not self.has(copy.newcomer.id):
            self.view.append(earlier)

    def _keep_or_pass_on(self, copy: Copy, cycle: int, dice: Dice) -> Sends:
        newcomer = copy.newcomer
        is_new = newcomer.id != self.own.id and (not self.has(newcomer.id) or self._earlier(copy, cycle))
        if not is_new or copy.steps == 0:
            yield from super()._take_copy(copy, cycle, dice)
        elif self.teller in self._gateway_hosts and self._vouches_for(newcomer, 2 * max(LEAST, self.wanted)):
            self.drop(newcomer.id)
            yield from self.keep(newcomer, copy.lease, cycle)
        elif not self._has_room(newcomer):
            yield from self._pass_on(copy, dice)
        else:
            yield from super()._take_copy(copy, cycle, dice)

    def _vouches_for(self, newcomer: Contact, most: int) -> bool:
        """Whether to keep a member that a gateway has told of, or itself has served."""
        self._vouched &= {link.peer.id for link in self.view} | set(self.candidates.ids())
        if len(self._vouched) >= most or not self._has_room(newcomer):
            return False
        self._vouched.add(newcomer.id)
        return True

    def _is_here(self, peer: Contact) -> bool:
        """Whether a member is on this machine, as far as its address says."""
        return on_one_machine(peer.host, self.own.host)

    def _has_room(self, peer: Contact) -> bool:
        others = [link.peer for link in self.view if link.peer.id != peer.id]
        return peer in self._share_out([*others, peer])

    def _share_out(self, members: Sequence[Contact]) -> list[Contact]:
        """Those of some members that are within their hosts' shares, the first of each host."""
        if all(map(self._is_here, members)):
            return list(members)
        return few_of_a_host(members, (), self.most, max(ROOM, 2 * self.wanted), local=False)

    def _take_total(self, sender: int, message: Weighed) -> None:
        if message.total >= message.weight:  # which is one of those that it is the sum of
            super()._take_total(sender, message)
