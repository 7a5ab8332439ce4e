"""The super-topic tables of a live member, and what it does for them once a cycle (CAMCAST, Figures 5 and 6).

One table, or one for each branch where topics have several parents (`hierarchy.live.topic_graph`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter

from hierarchy.live import messages as m
from hierarchy.live.member_settings import Gateways, MemberSettings
from hierarchy.live.topic_graph import Chain, TopicGraph
from hierarchy.super_tables.peer import SuperTable
from sub2sub.kernels.dice import Dice


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

    @abstractmethod
    def topic_table(self) -> list[m.Contact]:
        """Whom an event goes to within the community."""

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

    def conclude(self, dice: Dice) -> m.Sends:
        """End checks whose time is over."""
        for number, table in enumerate(self.super_tables()):
            self._check_ages[number] = self._check_ages[number] + 1 if table.is_checking else 0
            if self._check_ages[number] > self.settings.patience:
                self._check_ages[number] = 0
                yield from table.conclude(dice)

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

    def _new_tables(self) -> list[SuperTable]:
        topic, tables = self.settings.topic, list[SuperTable]()
        for chain in self.graph.chains(self.own.topic) or [Chain((), -1)]:
            below = tables[chain.below] if chain.below >= 0 else None
            tables.append(SuperTable(chain.topics, topic.z, topic.tau, below, slot=len(tables)))
        return tables

    def receive_super(self, message: m.Supers | m.Checked | m.Found, dice: Dice) -> m.Sends:
        """Hand a message to the super-topic tables it may be for."""
        for number, table in enumerate(self.super_tables()):
            offered = message.contacts if isinstance(message, m.Supers) else ()
            if self.branches and offered and not any(each.topic in table.chain for each in offered):
                continue
            yield from table.receive(message, dice)
            if table.is_checking and table.is_answered:
                self._check_ages[number] = 0
                yield from table.conclude(dice)
