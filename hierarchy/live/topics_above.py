"""The super-topic tables of a live member, and what it does for them once a cycle (CAMCAST, Figures 5 and 6).

One table, or one for each branch where topics have several parents (`hierarchy.live.topic_graph`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import replace

from hierarchy.live import messages as m
from hierarchy.live.member_settings import Gateways, MemberSettings
from hierarchy.live.super_table_hosts import SharedOutTable
from hierarchy.live.topic_graph import Chain, TopicGraph
from hierarchy.super_tables.peer import SuperTable
from sub2sub.kernels.dice import Dice
from sub2sub.live.core.host_addresses import on_one_machine

FORGOTTEN = 32  # cycles after which a super-contact that was silent may be told of again; 0 in the simulator
CHECKS = 2  # times that a super-contact is asked whether it is there: a connection may be refused once


class TopicsAbove(ABC):
    """What a member knows of the topics above its own.

    Attributes
    ----------
    supers, branches : SuperTable, list of SuperTable
        The super-topic table and, where topics have several parents, further ones.
    """

    cycle: int

    def __init__(
        self, own: m.Contact, settings: MemberSettings, gateways: Gateways, graph: TopicGraph
    ) -> None:
        self.own, self.settings, self.gateways, self.graph = own, settings, gateways, graph
        self.supers, *self.branches = self._new_tables()
        self._check_ages: Counter[int] = Counter()
        self._silent: dict[int, int] = {}  # super-contacts that answered no check, and when

    @abstractmethod
    def topic_table(self) -> list[m.Contact]:
        """The members that an event goes to within the community."""

    @abstractmethod
    def p_sel(self) -> float:
        """The chance to act as a link, or to check the super-topic table."""

    def begin_cycle(self, dice: Dice) -> m.Sends:
        """See whether the super-topic tables changed in the last cycle."""
        for table in self.super_tables():
            table.begin_cycle()
        yield from ()

    def pass_on(self, dice: Dice) -> m.Sends:
        """Pass super-topic tables that changed on to the community."""
        for table in self.super_tables():
            yield from table.pass_on(self.topic_table())

    def keep_updated(self, dice: Dice) -> m.Sends:
        """KEEP_TABLE_UPDATED (CAMCAST, Figure 6)."""
        for table in self.super_tables():
            yield from table.keep_updated(self.p_sel(), dice)

    def stand_still(self, missed: int) -> None:
        """Let entries that are being checked have the whole time again: their answers may wait unread."""
        if missed:
            self._check_ages.clear()

    def conclude(self, dice: Dice) -> m.Sends:
        """End checks whose time is over."""
        for number, table in enumerate(self.super_tables()):
            self._check_ages[number] = self._check_ages[number] + 1 if table.is_checking else 0
            if self._check_ages[number] > self.settings.patience:
                yield from self._conclude(number, table, dice)

    def _conclude(self, number: int, table: SuperTable, dice: Dice) -> m.Sends:
        """End a check, and remember which entries have not answered."""
        self._check_ages[number] = 0
        silent = table.unanswered if FORGOTTEN else []
        yield from table.conclude(dice)
        for id in silent:  # others may have told of them in the meantime
            table.drop(id)
            self._silent[id] = self.cycle
        self._silent = {id: when for id, when in self._silent.items() if self.cycle - when < FORGOTTEN}

    def search(self, dice: Dice) -> m.Sends:
        """FIND_SUPER_CONTACT: ask the gateways of the topics above, and one of the community."""
        for supers in self.super_tables():
            topics = supers.wanted(self.cycle, self.p_sel(), self.settings.timeout, dice)
            asked = [gateway for topic in topics for gateway in self.gateways.get(topic, ())]
            table = self.topic_table()
            if topics and table:
                asked.append(table[dice.next_below(len(table))])
            for to in asked:
                yield supers.ask(to, topics, dice)

    def doubt_above(self, to: m.Contact, dice: Dice) -> m.Sends:
        """Check a super-contact that could not be reached; it leaves the table if it does not answer."""
        for table in self.super_tables():
            yield from table.doubt(to.id, dice)

    def super_tables(self) -> list[SuperTable]:
        """All super-topic tables."""
        return [self.supers, *self.branches]

    def super_contacts(self) -> list[m.Contact]:
        """All their entries."""
        return [entry for table in self.super_tables() for entry in table.entries]

    def follow(self, graph: TopicGraph) -> None:
        """Take note that topics have other parents now; what is known of them is kept."""
        known, self.graph = self.super_contacts(), graph
        self.supers, *self.branches = self._new_tables()
        for table in self.super_tables():
            table.merge(known)

    def gateways_elsewhere(self, topic: str) -> list[m.Contact]:
        """Gateways of a topic on other machines; those of the same are a way in and nothing else."""
        known = self.gateways.get(topic, ())
        return [each for each in known if not on_one_machine(each.host, self.own.host)]

    def _new_tables(self) -> list[SuperTable]:
        topic, tables = self.settings.topic, list[SuperTable]()
        for chain in self.graph.chains(self.own.topic) or [Chain((), -1)]:
            below = tables[chain.below] if chain.below >= 0 else None
            known = [each for above in chain.topics for each in self.gateways_elsewhere(above)]
            table = SharedOutTable(chain.topics, topic.z, topic.tau, below, CHECKS, slot=len(tables))
            table.gateways = frozenset(each.address for each in known)
            tables.append(table)
        return tables

    def receive_super(self, message: m.Supers | m.Checked | m.Found, sender: int, dice: Dice) -> m.Sends:
        """Hand a message to the super-topic tables it may be for.

        Members that have not answered here are not taken from others again and again, only from themselves.
        """
        if not isinstance(message, m.Checked) and self._silent:
            self._silent.pop(sender, None)
            told = tuple(each for each in message.contacts if each.id not in self._silent)
            message = replace(message, contacts=told)
        for number, table in enumerate(self.super_tables()):
            offered = message.contacts if isinstance(message, m.Supers) else ()
            if self.branches and offered and not any(each.topic in table.chain for each in offered):
                continue
            yield from table.receive(message, dice)
            if table.is_checking and table.is_answered:
                yield from self._conclude(number, table, dice)
