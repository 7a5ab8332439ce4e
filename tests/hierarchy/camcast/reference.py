"""CAMCAST's dissemination as in the paper: one object per process, messages in a queue.

Section 3.5, Figures 7 and 8. Draws are taken in the order in which a process decides, as in the kernel.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from sub2sub.kernels.randomness import below, draw, peer_key, unit


class Dice:
    """The draws of one process for one event, one after the other."""

    def __init__(self, key, process: int) -> None:
        self.key = np.uint64(peer_key(key, np.int32(process)))  # numba hands back plain ints
        self.k = 0

    def bits(self):
        self.k += 1
        return np.uint64(draw(self.key, self.k - 1))

    def chance(self, probability: float) -> bool:
        return bool(unit(self.bits()) < probability)

    def sample(self, entries: list[int], count: int) -> list[int]:
        """`count` different entries, or all of them where there are no more."""
        left = list(entries)
        if len(left) <= count:
            return left
        for i in range(count):
            j = i + int(below(self.bits(), len(left) - i))
            left[i], left[j] = left[j], left[i]
        return left[:count]


@dataclass
class Process:
    number: int
    topic: int
    topic_table: list[int]
    super_tables: list[list[int]]
    fanout: int
    p_sel: float
    p_a: float
    received_in: int = -1


@dataclass
class Message:
    sender: Process
    target: Process
    sent_in: int
    upward: bool


class Simulation:
    """Processes that gossip one event, and channels that lose messages."""

    def __init__(self, processes: list[Process], alive, group, p_success: float, key) -> None:
        self.processes = processes
        self.alive, self.group, self.p_success, self.key = alive, group, p_success, key
        self.queue: deque[Process] = deque()
        self.sent: list[Message] = []
        self.arrived: list[Message] = []

    def publish(self, publisher: int) -> None:
        self.receive(self.processes[publisher], 0)
        while self.queue:
            self.disseminate(self.queue.popleft())

    def receive(self, process: Process, now: int) -> None:
        if process.received_in < 0:
            process.received_in = now
            self.queue.append(process)

    def disseminate(self, process: Process) -> None:
        dice = Dice(self.key, process.number)
        if dice.chance(process.p_sel):
            for table in process.super_tables:
                for entry in table:
                    if dice.chance(process.p_a):
                        self.send(process, entry, True, dice)
        for entry in dice.sample(process.topic_table, process.fanout):
            self.send(process, entry, False, dice)

    def send(self, process: Process, target: int, upward: bool, dice: Dice) -> None:
        message = Message(process, self.processes[target], process.received_in + 1, upward)
        self.sent.append(message)
        reachable = self.alive[target] and self.group[process.number] == self.group[target]
        if dice.chance(self.p_success) and reachable:
            self.arrived.append(message)
            self.receive(message.target, message.sent_in)
