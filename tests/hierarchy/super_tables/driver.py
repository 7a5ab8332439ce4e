"""Super-topic tables of peers driven in the simulator's order with the simulator's draws.

Phase by phase, member by member; a check is over as soon as those that answer have answered.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hierarchy.camcast import SuperTables
from hierarchy.compiled.super_tables.flood import STREAM as FLOOD_STREAM
from hierarchy.compiled.super_tables.layer import STREAM
from hierarchy.compiled.super_tables.steps import KEEP_UPDATED, PASS_ON, SEARCH
from hierarchy.peers.contacts import Contact, Send, Sends
from hierarchy.peers.super_table import Check, Checked, Find, Found, Supers, SuperTable, answer
from sub2sub.compiled.common.network import Network
from sub2sub.peers.draws import Dice, cycle_key


@dataclass
class Process:
    own: Contact
    slots: list[int]
    tables: list[SuperTable]
    view: list[Contact] = field(default_factory=list)
    neighbours: list[int] = field(default_factory=list)


class Driver:
    def __init__(self, processes: list[Process], seed: int, z: int, timeout: int, ttl: int) -> None:
        self.processes = processes
        self.seed, self.z, self.timeout, self.ttl = seed, z, timeout, ttl

    def step(self, cycle: int, network: Network, p_sel: dict[str, float]) -> int:
        self.network, self.messages = network, 0
        key = Dice(cycle_key(self.seed, STREAM, cycle))
        flood_key = Dice(cycle_key(self.seed, FLOOD_STREAM, cycle))
        live = [i for i in range(len(self.processes)) if network.alive[i]]
        for process in self.processes:
            for table in process.tables:
                table.begin_cycle()
        for i in live:
            dice = key.of_peer(PASS_ON).of_peer(i)
            for place, table in enumerate(self.processes[i].tables):
                self.carry(i, place, table.pass_on(self.processes[i].view), dice)
        for i in live:
            dice = key.of_peer(KEEP_UPDATED).of_peer(i)
            for place, table in enumerate(self.processes[i].tables):
                self.carry(i, place, table.keep_updated(p_sel[self.processes[i].own.topic], dice), dice)
                self.conclude(i, place, dice)
        requests = []
        for i in live:
            dice = key.of_peer(SEARCH).of_peer(i)
            for place, table in enumerate(self.processes[i].tables):
                topics = table.wanted(cycle, p_sel[self.processes[i].own.topic], self.timeout, dice)
                if topics:
                    requests.append((i, place, topics))
        found = [
            self.flood(i, topics, flood_key.of_peer(self.processes[i].slots[place]).of_peer(i))
            for i, place, topics in requests
        ]
        for (i, place, _), contacts in zip(requests, found, strict=True):
            self.processes[i].tables[place].take_found(contacts)
        return self.messages

    def conclude(self, i: int, place: int, dice: Dice) -> None:
        """End a check, after silent entries were asked again."""
        table = self.processes[i].tables[place]
        self.carry(i, place, table.conclude(dice), dice)
        while table.is_checking:
            self.carry(i, place, table.conclude(dice), dice)

    def carry(self, i: int, place: int, sends: Sends, dice: Dice) -> None:
        for send in sends:
            assert send.to is not None
            self.deliver(i, send.to.id - 1, place, send, dice)

    def deliver(self, i: int, j: int, place: int, send: Send, dice: Dice) -> None:
        """Deliver a message to the same table of another member, and its answer; either may be lost."""
        sender, receiver, message = self.processes[i], self.processes[j], send.message
        self.messages += 1
        through = not self.lost(dice) and self.reaches(i, j)
        if isinstance(message, Supers):
            if through:
                table = receiver.tables[place]
                self.carry(j, place, table.receive(message, dice), dice)
                self.conclude(j, place, dice)
            return
        self.messages += 1
        back = not self.lost(dice) and self.reaches(j, i)
        if not through or not back:
            return
        reply: Any = Checked(message.exchange) if isinstance(message, Check) else None
        if isinstance(message, Find):
            told = answer(receiver.own, receiver.view, receiver.tables, message.topics, self.z, dice)
            reply = Found(message.exchange, tuple(told))
        assert not list(sender.tables[place].receive(reply, dice))

    def reaches(self, i: int, j: int) -> bool:
        return bool(self.network.alive[j] and self.network.group[i] == self.network.group[j])

    def lost(self, dice: Dice) -> bool:
        return dice.next_unit() < self.network.loss

    def flood(self, i: int, topics: tuple[str, ...], dice: Dice) -> list[Contact]:
        """FIND_SUPER_CONTACT: from neighbour to neighbour, until somebody knows."""
        gathered = SuperTable(topics, self.z)
        seen, queue = {i}, deque([(i, 0)])
        while queue:
            at, steps = queue.popleft()
            for j in self.processes[at].neighbours:
                self.messages += 1
                if self.lost(dice) or not self.reaches(at, j) or j in seen:
                    continue
                seen.add(j)
                other = self.processes[j]
                told = answer(other.own, other.view, other.tables, topics, self.z, dice)
                if told:
                    self.messages += 1
                    if not self.lost(dice) and self.reaches(j, i):
                        gathered.merge(each for each in told if each.id != i + 1)
                elif steps + 1 < self.ttl:
                    queue.append((j, steps + 1))
        return gathered.entries


def driver_of(layer: SuperTables, topic_table: Any, neighbourhood: Any, ttl: int) -> Driver:
    """Peers in the place of the members of a layer that has just been joined."""
    s, tree, topics = layer.slots, layer.tree, layer.state.topic
    contacts = [Contact(i + 1, "h", i + 1, tree.name(int(t))) for i, t in enumerate(topics)]
    processes = []
    for i, t in enumerate(topics):
        slots = list(range(s.first[t], s.first[t + 1]))
        tables: list[SuperTable] = []
        for slot in slots:
            chain = [tree.name(int(u)) for u in s.chain[s.start[slot] : s.start[slot + 1]]]
            below = tables[s.after[slot] - s.first[t]] if s.after[slot] >= 0 else None
            tables.append(SuperTable(chain, layer.settings.z, layer.settings.tau, below, layer.tries))
        view = [contacts[x] for x in topic_table[i] if x >= 0]
        processes.append(
            Process(
                contacts[i], slots, tables, view, np.extract(neighbourhood[i] >= 0, neighbourhood[i]).tolist()
            )
        )
    return Driver(processes, layer.seed, layer.settings.z, layer.timeout, ttl)
