"""CAMCAST's dissemination: processes that choose their targets as `hierarchy.peers.camcast`, and a queue."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from hierarchy.peers.camcast import Target, choose_targets
from sub2sub.peers.draws import Dice


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
        dice = Dice(self.key).of_peer(process.number)
        upward, within = choose_targets(
            process.super_tables, process.topic_table, process.fanout, process.p_sel, process.p_a, dice
        )
        for target in upward:
            self.send(process, target, True, dice)
        for target in within:
            self.send(process, target, False, dice)

    def send(self, process: Process, to: Target[int], upward: bool, dice: Dice) -> None:
        target = to.member
        message = Message(process, self.processes[target], process.received_in + 1, upward)
        self.sent.append(message)
        reachable = self.alive[target] and self.group[process.number] == self.group[target]
        if dice.chance(to.draw, self.p_success) and reachable:
            self.arrived.append(message)
            self.receive(message.target, message.sent_in)
