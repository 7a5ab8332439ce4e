"""The super-topic tables of a live member, and what it does for them once a cycle (CAMCAST, Figures 5 and 6).

One table, or one for each branch where topics have several parents (`hierarchy.live.topic_graph`). A check is
over when all entries have answered, or `patience` cycles later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hierarchy.live.member_settings import Gateways, MemberSettings
from hierarchy.live.topic_graph import Chain, TopicGraph
from hierarchy.peers.contacts import Contact, Sends
from hierarchy.peers.super_table import Checked, Found, Supers, SuperTable
from sub2sub.peers.draws import Dice

FORGOTTEN = 32  # cycles after which a super-contact that was silent may be told of again; 0 in the simulator
CHECKS = 2  # times that a super-contact is asked whether it is there: a connection may be refused once


class TopicsAbove:
    """What a member knows of the topics above its own.

    Attributes
    ----------
    tables : list of SuperTable
        The super-topic table and, where topics have several parents, further ones.
    """

    def __init__(self, topic: str, settings: MemberSettings, gateways: Gateways, graph: TopicGraph) -> None:
        self.topic, self.settings, self.gateways = topic, settings, gateways
        self.tables = self._new_tables(graph)
        self._cycle = 0
        self._check_ages: Counter[int] = Counter()
        self._silent: dict[int, int] = {}  # super-contacts that answered no check, and when

    def contacts(self) -> list[Contact]:
        """Return the entries of all tables."""
        return [entry for table in self.tables for entry in table.entries]

    def begin_cycle(self, cycle: int) -> None:
        """See whether the tables changed in the last cycle."""
        self._cycle = cycle
        for table in self.tables:
            table.begin_cycle()

    def pass_on(self, view: Sequence[Contact]) -> Sends:
        """Pass tables that changed on to the community."""
        for table in self.tables:
            yield from table.pass_on(view)

    def keep_updated(self, p_sel: float, dice: Dice) -> Sends:
        """KEEP_TABLE_UPDATED (CAMCAST, Figure 6)."""
        for table in self.tables:
            yield from table.keep_updated(p_sel, dice)

    def miss_cycles(self, missed: int) -> None:
        """Let entries that are being checked have the whole time again: their answers may wait unread."""
        if missed:
            self._check_ages.clear()

    def conclude(self, dice: Dice) -> Sends:
        """End checks whose time is over."""
        for number, table in enumerate(self.tables):
            self._check_ages[number] = self._check_ages[number] + 1 if table.is_checking else 0
            if self._check_ages[number] > self.settings.patience:
                yield from self._conclude(number, table, dice)

    def search(self, view: Sequence[Contact], p_sel: float, dice: Dice) -> Sends:
        """FIND_SUPER_CONTACT: ask the gateways of the topics above, and one of the community."""
        for table in self.tables:
            topics = table.wanted(self._cycle, p_sel, self.settings.timeout, dice)
            asked = [gateway for topic in topics for gateway in self.gateways.get(topic, ())]
            if topics and view:
                asked.append(view[dice.next_below(len(view))])
            for to in asked:
                yield table.ask(to, topics, dice)

    def doubt(self, to: Contact, dice: Dice) -> Sends:
        """Check a super-contact that could not be reached; it leaves the table if it does not answer."""
        for table in self.tables:
            yield from table.doubt(to.id, dice)

    def follow(self, graph: TopicGraph) -> None:
        """Take note that topics have other parents now; what is known of them is kept."""
        known = self.contacts()
        self.tables = self._new_tables(graph)
        for table in self.tables:
            table.merge(known)

    def receive(self, message: Supers | Checked | Found, sender: int, dice: Dice) -> Sends:
        """Hand a message to the tables it may be for.

        Members that have not answered here are not taken from others again and again, only from themselves.
        """
        if not isinstance(message, Checked) and self._silent:
            self._silent.pop(sender, None)
            told = tuple(each for each in message.contacts if each.id not in self._silent)
            message = replace(message, contacts=told)
        for number, table in enumerate(self.tables):
            offered = message.contacts if isinstance(message, Supers) else ()
            if len(self.tables) > 1 and offered and not any(each.topic in table.chain for each in offered):
                continue
            yield from table.receive(message, dice)
            if table.is_checking and table.is_answered:
                yield from self._conclude(number, table, dice)

    def _conclude(self, number: int, table: SuperTable, dice: Dice) -> Sends:
        """End a check, and remember which entries have not answered."""
        self._check_ages[number] = 0
        silent = table.unanswered if FORGOTTEN else []
        yield from table.conclude(dice)
        for id in silent:  # others may have told of them in the meantime
            table.drop(id)
            self._silent[id] = self._cycle
        self._silent = {id: when for id, when in self._silent.items() if self._cycle - when < FORGOTTEN}

    def _new_tables(self, graph: TopicGraph) -> list[SuperTable]:
        topic, tables = self.settings.topic, list[SuperTable]()
        for chain in graph.chains(self.topic) or [Chain((), -1)]:
            below = tables[chain.below] if chain.below >= 0 else None
            tables.append(SuperTable(chain.topics, topic.z, topic.tau, below, CHECKS, slot=len(tables)))
        return tables
