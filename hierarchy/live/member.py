"""One live member of a community without clock or socket: CAMCAST (Sections 3 and 5).

`tick`, `receive` and `unreachable` say what to send, as in `sub2sub.live.core.live_peer`. The topic table is
SCAMP's view (`ScampPeer`), the super-topic table a `SuperTable`, the very classes that the simulator's
kernels are tested against; `hierarchy.peers.camcast` chooses the receivers of an event. What is added here is
when things are done: a cycle is the turns below, one after the other, and an answer that comes later than
`patience` cycles is ignored.

Nobody tells a process how large its community is: members count it (`CensusPeer`). Some of them ask a
gateway now and then whether both are in one part of the community, and subscribe through it if they are
not. A member that nobody answers asks the gateways for another contact.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from math import ceil, floor, log

from hierarchy.live.failures import Copies, Liveness, Seeking, Unsent
from hierarchy.live.member_settings import Gateways, MemberSettings, Trace
from hierarchy.live.messages import MAX_ROUND, Beaten, Event, Message
from hierarchy.live.topic_graph import TopicGraph
from hierarchy.live.topics_above import TopicsAbove
from hierarchy.peers.camcast import choose_targets
from hierarchy.peers.census import CensusPeer, Compare, Compared, Tally
from hierarchy.peers.contacts import Contact, Send, Sends
from hierarchy.peers.scamp import ScampPeer
from hierarchy.peers.scamp_messages import (
    Beat,
    Copy,
    Dropped,
    Kept,
    Replace,
    Served,
    Subscribe,
    Weigh,
    Weighed,
)
from hierarchy.peers.super_table import Check, Checked, Find, Found, Supers, SuperTable, answer
from sub2sub.peers.draws import Dice

MOST = 256  # entries of a view; (c + 1) ln n are far fewer
FEW_LINKS = 4  # up to so many, a member that renews through a gateway also links to its server


class Member:
    """The state of one member.

    Parameters
    ----------
    own : Contact
        The member itself.
    deliver : callable
        Called with each event, once.
    settings : MemberSettings
    gateways : Gateways
        Members to ask for super-contacts.
    graph : TopicGraph
        Which topics are above which.

    Attributes
    ----------
    scamp : ScampPeer
        Its links within the community.
    above : TopicsAbove
        Its super-topic tables.
    census : CensusPeer
        Counts the community.
    liveness : Liveness
        Which members of the view answer.
    seeking : Seeking
        Asks gateways for another contact.
    seen : dict of bytes to Trace
        The last events.
    counts : Counter
        Messages sent `upward` and `within` the community, events `arrived`, `delivered` and `parasites`, ...
    """

    def __init__(
        self,
        own: Contact,
        deliver: Callable[[Event], None],
        settings: MemberSettings | None = None,
        gateways: Gateways | None = None,
        graph: TopicGraph | None = None,
    ) -> None:
        settings, gateways = settings or MemberSettings(), gateways or {}
        scamp = replace(settings.scamp, contact_first=settings.scamp.contact_first or own.topic in gateways)
        self.own, self.deliver, self.settings, self.gateways = own, deliver, settings, gateways
        self.graph, self.cycle = graph or TopicGraph(), 0
        self.scamp = ScampPeer(own, scamp, MOST, ceil(settings.grace * scamp.lease))
        self.above = TopicsAbove(own.topic, settings, gateways, self.graph)
        self.census = CensusPeer(own.id, settings.census)
        self.liveness = Liveness(scamp.isolation, settings.patience)
        self.seeking = Seeking(self.scamp, gateways.get(own.topic, ()), settings.timeout)
        self.seen: OrderedDict[bytes, Trace] = OrderedDict()
        self.counts: Counter[str] = Counter()
        self.unsent, self.copies, self._due = Unsent(), Copies(), False
        self._parting, self._parted_in = self.scamp.parted, 0  # when others were told last to make room

    def join(self, contact: Contact | None, dice: Dice) -> Sends:
        """Subscribe through a member of the community; with none, found it."""
        return self.scamp.join(contact, self.cycle, dice)

    def leave(self) -> Sends:
        """Unsubscribe."""
        return self.scamp.leave(self.cycle)

    def miss_cycles(self, missed: int) -> None:
        """Take note of cycles that passed without a tick, as the process was stopped."""
        self.above.miss_cycles(missed)
        self.scamp.miss_cycles(missed)

    def follow(self, graph: TopicGraph) -> None:
        """Take note that topics have other parents now."""
        self.graph = graph
        self.above.follow(graph)

    def tick(self, dice: Dice) -> Sends:
        """Let a cycle pass."""
        self.cycle += 1
        yield from self.unsent.again(self.cycle)
        yield from self.count(dice)
        yield from self.ask_part(dice)
        yield from self.keep_view(dice)
        yield from self.keep_tables(dice)
        yield from self.above.search(self.topic_table(), self.p_sel(), dice)

    def keep_tables(self, dice: Dice) -> Sends:
        """Do what is done for the super-topic tables once a cycle, searches apart."""
        self.above.begin_cycle(self.cycle)
        yield from self.above.pass_on(self.topic_table())
        yield from self.above.keep_updated(self.p_sel(), dice)
        yield from self.above.conclude(dice)

    def keep_view(self, dice: Dice) -> Sends:
        """See who is gone, which the simulator need not, and do what SCAMP does once a cycle.

        The answers that came since the last cycle are taken for all that there are. Members do not tick in
        step, so the weights of links count that were told in the two cycles before.
        """
        yield from self.believe_goodbyes(dice)
        yield from self.drop_silent(dice)
        yield from self.seeking.ask(self.is_lost(), self.cycle, dice)
        yield from chain.from_iterable(turn(dice) for turn in self.scamp_turns())
        if self.settings.scamp.indirection:  # otherwise no request walks along links
            self.scamp.normalise_weights()
            yield from self.scamp.weigh()
            yield from self.scamp.answer_weights(since=self.cycle - 2)

    def scamp_turns(self) -> Sequence[Callable[[Dice], Sends]]:
        """What SCAMP does once a cycle, in this order."""
        return self.see_whether_due, self.renew, self.drop_expired, self.renew, self.beat

    def count(self, dice: Dice) -> Sends:
        """Take part in the census, and have SCAMP keep views of the right size."""
        self.census.advance(self.cycle)
        self.scamp.wanted = floor((self.settings.scamp.c + 1) * log(self.census.estimate()))
        return self.census.tell(self.topic_table(), dice)

    def ask_part(self, dice: Dice) -> Sends:
        """Now and then, ask a gateway whether both are in one part of the community."""
        known = self.gateways.get(self.own.topic, ())
        if known and self.scamp.served and self.census.wants_to_ask(dice):
            yield self.census.ask(known[dice.next_below(len(known))], dice)

    def believe_goodbyes(self, dice: Dice) -> Sends:
        """Drop members that said goodbye and do not answer any more; until then, ask them every cycle."""
        if self.scamp.parted is not self._parting:
            self._parting, self._parted_in = self.scamp.parted, self.cycle
        elif self.cycle - self._parted_in > 2 * self.settings.patience:
            self.scamp.parted.clear()  # those told to make room have done so
        held = {link.peer.id: link.expires - self.scamp.grace for link in self.scamp.view}
        for id, message in self.liveness.gone(self.cycle):
            is_over = held.get(id, 0) <= self.cycle  # then it makes room for its next lease, and names none
            if len(self.scamp.view) == 1 and id in held and (is_over or not message.by):
                yield from self._drop(id, dice)
            elif is_over:
                self.scamp.drop(id)
            else:
                capped = replace(message, lease=min(message.lease, self._longest_lease()))
                yield from self.scamp.receive(capped, id, self.cycle, dice)
        entries = {link.peer.id: link.peer for link in self.scamp.view}
        for id, exchange in self.liveness.doubts():
            if id in entries:
                yield Send(entries[id], Check(exchange))

    def drop_silent(self, dice: Dice) -> Sends:
        """Drop entries of the view that have not answered for long, and tell them: answers may get lost."""
        entries = {peer.id: peer for peer in self.topic_table()}
        for id in self.liveness.silent(list(entries.values()), self.cycle):
            self.counts["silent"] += 1
            yield from self._drop(id, dice)
            if not self.scamp.has(id):
                yield Send(entries[id], Dropped())

    def _drop(self, id: int, dice: Dice) -> Sends:
        """Drop an entry of the view that does not answer.

        The last one stays until there is another, since it may be there after all; others are asked to serve
        a new subscription.
        """
        last = self.scamp.view[:] if len(self.scamp.view) == 1 else []
        self.scamp.drop(id)
        if last:
            yield from list(self.scamp.renew(self.cycle, dice))
            self.scamp.view = self.scamp.view or last

    def see_whether_due(self, dice: Dice) -> Sends:
        """See whether to subscribe again."""
        self._due = self.scamp.is_due(self.cycle)
        yield from ()

    def renew(self, dice: Dice) -> Sends:
        """Subscribe again if that is due."""
        if self._due:
            yield from self.scamp.renew(self.cycle, dice)

    def drop_expired(self, dice: Dice) -> Sends:
        """Drop entries of the view whose lease is over; one whose view is empty now subscribes again."""
        self.scamp.expire(self.cycle)
        self._due = self.scamp.lease_end > 0 and not self.scamp.view and not self._due
        yield from ()

    def beat(self, dice: Dice) -> Sends:
        """Send heartbeats."""
        return self.scamp.beat()

    def is_lost(self) -> bool:
        """Whether it needs another contact: SCAMP says so, or nobody of the view answers."""
        return self.scamp.is_lost(self.cycle) or self.liveness.is_alone(self.topic_table(), self.cycle)

    def topic_table(self) -> list[Contact]:
        """Return the members that an event goes to within the community."""
        return [link.peer for link in self.scamp.view]

    @property
    def supers(self) -> SuperTable:
        """The first super-topic table."""
        return self.above.tables[0]

    def known(self) -> list[Contact]:
        """Return everybody in any table."""
        return [*self.topic_table(), *self.above.contacts()]

    @property
    def is_ready(self) -> bool:
        """Whether it may publish (CAMCAST, Section 5.1): it is in, and knows members above, if any."""
        since = self.cycle + self.settings.timeout
        return self.scamp.served and all(table.is_ready(since) for table in self.above.tables)

    def publish(self, event: Event, dice: Dice) -> Sends:
        """Begin to spread an event of this community."""
        return self._take(event, dice)

    def receive(self, message: Message, sender: int, dice: Dice) -> Sends:
        """Take a message from the member with the number `sender`."""
        match message:
            case Event():
                yield from self._receive_event(message, dice)
            case Check():
                if sender not in self.scamp.parted:
                    yield Send(None, Checked(message.exchange))
            case Find():
                z, table = self.settings.topic.z, self.topic_table()
                told = answer(self.own, table, self.above.tables, message.topics, z, dice)
                yield Send(None, Found(message.exchange, tuple(told)))
            case Tally():
                self.census.take(message, self.cycle)
            case Compare():
                if message.topic == self.own.topic:
                    lease = self.scamp.lease_left(self.cycle)
                    yield Send(None, self.census.answer(message, self.own, lease))
            case Compared():
                other = message.member
                if other.topic == self.own.topic and self.census.is_apart(message):
                    lease = min(message.lease, self._longest_lease())
                    yield from self.scamp.merge(other, lease, self.cycle, dice)
            case Found() if message.exchange == self.seeking.sought:
                yield from self.seeking.take(message.contacts, self.cycle, dice)
            case Checked() if self.liveness.objects(message.exchange):
                self.counts["late goodbyes"] += 1
            case Supers() | Checked() | Found():
                yield from self.above.receive(message, sender, dice)
            case (
                Subscribe(newcomer=other)
                | Copy(newcomer=other)
                | Served(server=other)
                | Kept(holder=other)
                | Weigh(holder=other)
            ) if other.topic != self.own.topic:
                self.counts["ignored"] += 1
            case Replace() if any(other.topic != self.own.topic for other in message.by):
                self.counts["ignored"] += 1
            case Replace():
                yield from self._doubt(message, sender, dice)
            case Beat():
                self.scamp.heard = self.cycle
                yield Send(None, Beaten())
            case Beaten():
                self.liveness.heard_from(sender, self.cycle)
            case Copy() if not self.copies.take(message.newcomer.id, self.cycle):
                self.counts["copies too many"] += 1
            case Subscribe() | Copy() | Served():
                capped = replace(message, lease=min(message.lease, self._longest_lease()))
                yield from self.scamp.receive(capped, sender, self.cycle, dice)
                room = len(self.scamp.view) < max(FEW_LINKS, self.scamp.wanted)
                if isinstance(capped, Served) and self.scamp.settings.contact_first and room:
                    yield from self.scamp.keep(capped.server, capped.lease, self.cycle)
            case Kept() | Dropped() | Weigh() | Weighed():
                yield from self.scamp.receive(message, sender, self.cycle, dice)
            case _:
                self.counts["ignored"] += 1

    def unreachable(self, to: Contact, message: Message, dice: Dice) -> Sends:
        """Note that a message could not be sent: SCAMP sends what was in it by another way, events go again.

        A super-contact that cannot be reached is checked. An entry of the view is dropped after a few
        heartbeats that failed: of all messages, a few always fail where every seventh does.
        """
        self.counts["failed"] += 1
        yield from self._doubt_above(to, dice)
        match message:
            case Beat() if self.scamp.has(to.id) and self.liveness.failed(to.id):
                yield from self._drop(to.id, dice)
            case Subscribe() | Copy():
                yield from self.send_elsewhere(message, dice)
            case Event():
                self.unsent.note(to, message, self.cycle)

    def _doubt_above(self, to: Contact, dice: Dice) -> Sends:
        """Check a super-contact that could not be reached."""
        return self.above.doubt(to, dice)

    def send_elsewhere(self, message: Subscribe | Copy, dice: Dice) -> Sends:
        """Send a subscription by another way, in half the steps; keep a copy if nobody can be reached.

        With all steps, as in the simulator, the dead would be tried a thousand times.
        """
        if message.newcomer.id != self.own.id:
            message = replace(message, steps=message.steps // 2)
        yield from self.scamp.undelivered(message, self.cycle, dice)
        if isinstance(message, Copy) and message.steps == 0:
            yield from self.scamp.keep(message.newcomer, message.lease, self.cycle)

    def _doubt(self, message: Replace, sender: int, dice: Dice) -> Sends:
        """Ask the member that is said to leave, at its known address, whether it is there.

        A member that has made room for its next lease does not answer.
        """
        leaver = next((link for link in self.scamp.view if link.peer.id == sender), None)
        exchange = dice.next_bits()
        if leaver and self.liveness.doubt(sender, exchange, self.cycle, message):
            yield Send(leaver.peer, Check(exchange))

    def _longest_lease(self) -> int:
        lease = self.settings.scamp.lease
        return lease + lease // 2

    def _receive_event(self, event: Event, dice: Dice) -> Sends:
        if not self.graph.includes(self.own.topic, event.topic):
            self.counts["parasites"] += 1
        else:
            yield from self._take(event, dice)

    def _take(self, event: Event, dice: Dice) -> Sends:
        self.counts["arrived"] += 1
        if event.name in self.seen:
            self.seen[event.name].arrived += 1
            return
        trace = self.seen[event.name] = Trace(event.round)
        if len(self.seen) > self.settings.memory:
            self.seen.popitem(last=False)
        self.counts["delivered"] += 1
        self.deliver(event)
        if event.round >= MAX_ROUND:
            self.counts["too far"] += 1
            return
        chance = event.upward if event.upward >= 0.0 else self.p_sel()
        tables = [table.entries for table in self.above.tables]
        view = self.topic_table()  # all of it: SCAMP sizes it for that
        chosen = choose_targets(tables, view, len(view), chance, self.settings.topic.forward, dice)
        upward, within = ([target.member for target in targets] for targets in chosen)
        trace.upward, trace.within = len(upward), len(within)
        self.counts["upward"] += len(upward)
        self.counts["within"] += len(within)
        onward = replace(event, round=event.round + 1)
        for to in (*upward, *within):
            yield Send(to, onward)

    def p_sel(self) -> float:
        """The chance to act as a link, or to check the super-topic table."""
        return self.settings.topic.select(round(self.census.safe_estimate()))
