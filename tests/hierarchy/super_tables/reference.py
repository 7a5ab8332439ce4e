"""Super-topic tables with one object a process: FIND_SUPER_CONTACT, KEEP_TABLE_UPDATED, MERGE.

After Figures 5 and 6 of CAMCAST; same order of decisions as the kernels.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from hierarchy.super_tables.flood import STREAM as FLOOD_STREAM
from hierarchy.super_tables.layer import STREAM
from hierarchy.super_tables.steps import KEEP_UPDATED, PASS_ON, SEARCH
from sub2sub.kernels.randomness import below, cycle_key, draw, peer_key, unit


def keyed(key, *numbers: int):
    for number in numbers:
        key = np.uint64(peer_key(key, number))
    return key


class Dice:
    def __init__(self, key) -> None:
        self.key, self.k = key, 0

    def bits(self):
        self.k += 1
        return np.uint64(draw(self.key, self.k - 1))

    def chance(self, probability: float) -> bool:
        return bool(unit(self.bits()) < probability)

    def below(self, n: int) -> int:
        return int(below(self.bits(), n))


@dataclass(eq=False)
class SuperTable:
    """One super-topic table: the chain of topics it may hold members of, and the members."""

    number: int
    chain: list[int]
    below: SuperTable | None
    members: list[Process] = field(default_factory=list)
    scope: int = 0
    due: int = 0
    fresh: bool = False

    def place(self) -> int | None:
        return self.chain.index(self.members[0].topic) if self.members else None

    def merge(self, candidate: Process, limit: int) -> bool:
        if candidate.topic not in self.chain:
            return False
        place, now = self.chain.index(candidate.topic), self.place()
        if now is None or place < now:
            self.members = [candidate]
            return True
        if place > now or candidate in self.members or len(self.members) >= limit:
            return False
        self.members.append(candidate)
        return True

    def is_active(self) -> bool:
        below = self.below
        return below is None or (not below.members and below.scope >= len(below.chain))


@dataclass(eq=False)
class Process:
    number: int
    topic: int
    tables: list[SuperTable]
    topic_table: list[Process] = field(default_factory=list)
    neighbours: list[Process] = field(default_factory=list)

    def answer(self, chain: list[int], scope: int, wanted: int, dice: Dice) -> list[Process]:
        """ANSCONTACT: itself and its community, or the nearest it has in its tables."""
        if self.topic in chain[:scope]:
            told = [self]
            for _ in range(1, min(wanted, len(self.topic_table) + 1)):
                told.append(self.topic_table[dice.below(len(self.topic_table))])
            return told
        known = [
            (chain.index(table.members[0].topic), i)
            for i, table in enumerate(self.tables)
            if table.members and table.members[0].topic in chain[:scope]
        ]
        return self.tables[min(known)[1]].members[:wanted] if known else []


class Reference:
    def __init__(self, processes: list[Process], seed: int, z: int, tau: int, timeout: int, ttl: int) -> None:
        self.processes = processes
        self.seed, self.z, self.tau, self.timeout, self.ttl = seed, z, tau, timeout, ttl

    def step(self, cycle: int, network, p_sel) -> int:
        self.network, self.messages = network, 0
        key = cycle_key(self.seed, STREAM, cycle)
        for process in self.processes:
            for table in process.tables:
                if not table.is_active():
                    table.members, table.scope = [], 0
        self.pass_on(key)
        live = [p for p in self.processes if self.is_alive(p)]
        for process in live:
            self.keep_updated(process, p_sel[process.topic], Dice(keyed(key, KEEP_UPDATED, process.number)))
        requests = []
        for process in live:
            for i, table in enumerate(process.tables):
                if self.asks(table, i, p_sel[process.topic], cycle, keyed(key, SEARCH, process.number)):
                    requests.append((process, table, table.scope))
        flood_key = cycle_key(self.seed, FLOOD_STREAM, cycle)
        found = [self.flood(*request, flood_key) for request in requests]
        for (_, table, _), answer in zip(requests, found, strict=True):
            for candidate in answer:
                table.fresh |= table.merge(candidate, self.z)
            table.due = cycle + self.timeout
            if table.place() == 0:
                table.scope = 0
        return self.messages

    def is_alive(self, process: Process) -> bool:
        return bool(self.network.alive[process.number])

    def reaches(self, a: Process, b: Process) -> bool:
        return self.is_alive(b) and self.network.group[a.number] == self.network.group[b.number]

    def lost(self, dice: Dice) -> bool:
        return bool(unit(dice.bits()) < self.network.loss)

    def check(self, process: Process, table: SuperTable, dice: Dice) -> None:
        answered = []
        for member in table.members:
            self.messages += 2
            question, reply = self.lost(dice), self.lost(dice)
            if not question and not reply and self.reaches(process, member):
                answered.append(member)
        table.members = answered

    def pass_on(self, key) -> None:
        fresh = [(process, [t for t in process.tables if t.fresh]) for process in self.processes]
        for process in self.processes:
            for table in process.tables:
                table.fresh = False
        for process, tables in fresh:
            if not self.is_alive(process):
                continue
            dice = Dice(keyed(key, PASS_ON, process.number))
            for table in tables:
                for other in process.topic_table:
                    self.messages += 1
                    if self.lost(dice) or not self.reaches(process, other):
                        continue
                    theirs = other.tables[process.tables.index(table)]
                    self.check(other, theirs, dice)
                    for candidate in table.members:
                        theirs.fresh |= theirs.merge(candidate, self.z)

    def keep_updated(self, process: Process, p_sel: float, dice: Dice) -> None:
        for table in process.tables:
            if not table.members or not dice.chance(p_sel):
                continue
            self.check(process, table, dice)
            if len(table.members) > self.tau:
                continue
            for member in list(table.members):
                self.messages += 2
                question, reply = self.lost(dice), self.lost(dice)
                if question or reply:
                    continue
                for candidate in member.answer(table.chain, len(table.chain), self.z, dice):
                    table.fresh |= table.merge(candidate, self.z)

    def asks(self, table: SuperTable, i: int, p_sel: float, cycle: int, key) -> bool:
        if table.due > cycle or not table.is_active():
            return False
        place = table.place()
        if place == 0:
            table.scope = 0
            return False
        if place is None:
            table.scope = min(len(table.chain), table.scope + 1)
            return True
        if unit(np.uint64(draw(key, i))) >= p_sel:
            return False
        table.scope = place
        return True

    def flood(self, process: Process, table: SuperTable, scope: int, key) -> list[Process]:
        dice = Dice(keyed(key, table.number, process.number))
        gathered = SuperTable(-1, table.chain, None)
        seen = {process}
        queue = deque([(process, 0)])
        while queue:
            at, steps = queue.popleft()
            for other in at.neighbours:
                self.messages += 1
                if self.lost(dice) or not self.reaches(at, other) or other in seen:
                    continue
                seen.add(other)
                told = other.answer(table.chain, scope, self.z, dice)
                if told:
                    self.messages += 1
                    if not self.lost(dice) and self.reaches(other, process):
                        for candidate in told:
                            if candidate is not process:
                                gathered.merge(candidate, self.z)
                elif steps + 1 < self.ttl:
                    queue.append((other, steps + 1))
        return gathered.members
