"""One live member of a community without clock or socket: CAMCAST (Sections 3 and 5).

`tick`, `receive` and `unreachable` as in `sub2sub.live.core.live_peer`. Whom an event goes to is decided by
the rules of the simulator (`hierarchy.camcast.dissemination`), the topic table is SCAMP's view (`scamp`), the
super-topic table that of `supers`.

Nobody tells a process how large its community is. Where p_sel = g/N is wanted, N is taken from the size of
SCAMP's view, which is about (c + 1) ln N.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp

import numpy as np

from hierarchy.camcast.dissemination import choose_targets, choose_upward
from hierarchy.camcast.settings import TopicSettings
from hierarchy.live import messages as m
from hierarchy.live.dice import Dice
from hierarchy.live.scamp import ScampLinks
from hierarchy.live.supers import SuperTable
from hierarchy.membership.scamp.layer import ScampSettings

__all__ = ["Gateways", "Member", "MemberSettings", "Trace"]

Gateways = Mapping[str, Sequence[m.Contact]]
"""Well-known members of communities, by topic; who they are is found out by asking, so their id is 0."""


@dataclass(frozen=True)
class MemberSettings:
    """Settings of a live member.

    Attributes
    ----------
    topic, scamp
        As of the simulator.
    timeout : int
        Cycles between two requests of a search.
    memory : int
        Events remembered as seen.
    """

    topic: TopicSettings = field(default_factory=TopicSettings)
    scamp: ScampSettings = field(default_factory=ScampSettings)
    timeout: int = 3
    memory: int = 65536


@dataclass
class Trace:
    """What a member remembers of an event: the round it came in, and messages of it that came and went."""

    round: int
    arrived: int = 1
    upward: int = 0
    within: int = 0


class Member:
    """The state of one member.

    Parameters
    ----------
    own : Contact
        Who it is.
    deliver : callable
        Called with each event, once.
    settings : MemberSettings
    gateways : Gateways
        Whom to ask for super-contacts.

    Attributes
    ----------
    seen : dict of bytes to Trace
        The last events.
    counts : Counter
        Messages sent `upward` and `within` the community, events `arrived`, `delivered` and `parasites`, ...
    """

    def __init__(
        self,
        own: m.Contact,
        deliver: Callable[[m.Event], None],
        settings: MemberSettings | None = None,
        gateways: Gateways | None = None,
    ) -> None:
        self.own, self.deliver, self.cycle = own, deliver, 0
        self.settings = settings or MemberSettings()
        self.gateways = gateways or {}
        self.scamp = ScampLinks(own, self.settings.scamp)
        self.supers = SuperTable(own.topic, self.settings.topic.z)
        self.seen: OrderedDict[bytes, Trace] = OrderedDict()
        self.counts: Counter[str] = Counter()
        self._asked: OrderedDict[int, m.Contact] = OrderedDict()

    def join(self, contact: m.Contact | None, dice: Dice) -> list[m.Send]:
        """Subscribe through a member of the community; with none, found it."""
        return self.scamp.subscribe(contact, self.settings.scamp.c, self.cycle, dice)

    def leave(self) -> list[m.Send]:
        """Unsubscribe."""
        return self.scamp.leave(self.cycle)

    def tick(self, dice: Dice) -> list[m.Send]:
        """Let a cycle pass."""
        self.cycle += 1
        return self.scamp.tick(self.cycle, dice) + self._keep_updated(dice)

    def topic_table(self) -> list[m.Contact]:
        """Whom an event goes to within the community."""
        return [entry.contact for entry in self.scamp.view]

    def publish(self, event: m.Event, dice: Dice) -> list[m.Send]:
        """Begin to spread an event of this community."""
        return self._take(event, dice)

    def receive(self, message: m.Message, sender: int, dice: Dice) -> list[m.Send]:
        """Take a message from the member that says its number is `sender`."""
        cycle, scamp = self.cycle, self.scamp
        match message:
            case m.Event():
                return self._receive_event(message, dice)
            case m.Subscribe() if message.newcomer.topic == self.own.topic:
                return scamp.serve(message, cycle, dice)
            case m.Served() if message.server.topic == self.own.topic:
                return scamp.served(message, cycle)
            case m.Copy() if message.newcomer.topic == self.own.topic:
                return scamp.copy(message, cycle, dice)
            case m.Kept() if message.holder.topic == self.own.topic:
                scamp.kept(message)
            case m.Replace() if all(heir.topic == self.own.topic for heir in message.heir):
                return scamp.replace(sender, message, cycle)
            case m.Beat():
                scamp.heard = cycle
            case m.Check():
                return [m.Send(None, m.Checked(message.exchange, self._community(dice)))]
            case m.Find():
                return [m.Send(None, m.Found(message.exchange, self._answer(message, dice)))]
            case m.Supers():
                self.supers.merge(message.contacts)
            case m.Checked() | m.Found():
                if self._asked.pop(message.exchange, None) is not None:
                    self.supers.merge(message.contacts)
            case _:
                self.counts["ignored"] += 1
        return []

    def unreachable(self, to: m.Contact, message: m.Message, dice: Dice) -> list[m.Send]:
        """Note that a message could not be sent: who cannot be reached leaves the tables."""
        self.counts["failed"] += 1
        self.supers.drop(to.id)
        return self.scamp.unreachable(to, message, self.cycle, dice)

    def _keep_updated(self, dice: Dice) -> list[m.Send]:
        """KEEP_TABLE_UPDATED (CAMCAST, Figure 6)."""
        sends = []
        table, p_sel = self.supers, self._p_sel()
        if table.fresh and table.entries:
            told = m.Supers(tuple(table.entries))
            sends += [m.Send(entry.contact, told) for entry in self.scamp.view]
        table.fresh = False
        if table.entries and dice.unit() < p_sel:
            sends += [m.Send(entry, m.Check(self._ask(entry, dice))) for entry in table.entries]
        topics = table.next_search(self.cycle, dice.unit(), p_sel, self.settings.timeout)
        asked = [gateway for topic in topics for gateway in self.gateways.get(topic, ())]
        if topics and self.scamp.view:
            asked.append(self.scamp.view[dice.below(len(self.scamp.view))].contact)
        return sends + [m.Send(to, m.Find(self._ask(to, dice), topics)) for to in asked]

    def _ask(self, to: m.Contact, dice: Dice) -> int:
        number = int(dice.bits())
        self._asked[number] = to
        while len(self._asked) > 64:
            self._asked.popitem(last=False)
        return number

    def _community(self, dice: Dice) -> tuple[m.Contact, ...]:
        """Itself, and different ones of its topic table by chance; MERGE leaves out those named twice."""
        view, z = self.scamp.view, self.settings.topic.z
        return (self.own, *(view[dice.below(len(view))].contact for _ in range(min(z - 1, len(view)))))

    def _answer(self, message: m.Find, dice: Dice) -> tuple[m.Contact, ...]:
        """What is known of the topics somebody searches for."""
        if self.own.topic in message.topics:
            return self._community(dice)
        return tuple(contact for contact in self.supers.entries if contact.topic in message.topics)

    def _receive_event(self, event: m.Event, dice: Dice) -> list[m.Send]:
        if not (event.topic == self.own.topic or event.topic.startswith(self.own.topic.rstrip(".") + ".")):
            self.counts["parasites"] += 1
            return []
        return self._take(event, dice)

    def _take(self, event: m.Event, dice: Dice) -> list[m.Send]:
        self.counts["arrived"] += 1
        if event.name in self.seen:
            self.seen[event.name].arrived += 1
            return []
        trace = self.seen[event.name] = Trace(event.round)
        if len(self.seen) > self.settings.memory:
            self.seen.popitem(last=False)
        self.counts["delivered"] += 1
        self.deliver(event)
        upward, within = self._targets(event.upward, dice)
        trace.upward, trace.within = len(upward), len(within)
        self.counts["upward"] += len(upward)
        self.counts["within"] += len(within)
        onward = replace(event, round=event.round + 1)
        return [m.Send(to, onward) for to in (*upward, *within)]

    def _targets(self, p_sel: float, dice: Dice) -> tuple[list[m.Contact], list[m.Contact]]:
        """Whom an event goes to: super-processes, and the whole topic table, which SCAMP sizes for that."""
        supers, view = self.supers.entries, self.topic_table()
        table = np.full((1, max(len(supers), 1)), -1, np.int32)
        table[0, : len(supers)] = np.arange(len(supers))
        upward = np.empty((table.size, 2), np.int64)
        chance = p_sel if p_sel >= 0.0 else self._p_sel()
        count, k = choose_upward(table, chance, self.settings.topic.forward, dice.key, upward)
        row, out = np.arange(len(view), dtype=np.int32), np.empty(len(view), np.int32)
        within, _ = choose_targets(row, len(view), dice.key, k, out)
        return [supers[i] for i in upward[:count, 0].tolist()], [view[i] for i in out[:within].tolist()]

    def _p_sel(self) -> float:
        size = exp(len(self.topic_table()) / (self.settings.scamp.c + 1))
        return self.settings.topic.select(max(2, round(size)))
