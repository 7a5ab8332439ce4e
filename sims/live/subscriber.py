"""A live Sub-2-Sub peer as a program in a process of its own, or a few that share one."""

from __future__ import annotations

import asyncio
import gc
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sub2sub.live import Limits, Node, Received, Tls

TRIES = 3  # to join
YOUNG = 20_000  # threshold of garbage collection: messages are many, short-lived and in no cycles


@dataclass(frozen=True)
class PlannedSubscription:
    """What one peer subscribes to, as closed ranges, and its certificate, if it has one."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    seed: int
    tls: Tls | None = None


class Report(NamedTuple):
    """The report of one peer: its ID, its cycle, its range and its ring links."""

    id: int
    turn: int
    low: tuple[float, ...]
    high: tuple[float, ...]
    ring: tuple[int, ...]


class Cost(NamedTuple):
    """What a process has spent and sent so far, in how many cycles of its peers; and its connections now."""

    processor: float
    cycles: int
    bytes: int
    frames: int
    opened: int
    connections: int


class Subscriber:
    """A program of one or several nodes, each with one subscription.

    Parameters
    ----------
    planned : sequence of PlannedSubscription
        One for each node.
    period : float
        Seconds of a cycle.
    """

    def __init__(self, planned: Sequence[PlannedSubscription], period: float) -> None:
        self.planned, self.period = list(planned), period
        self.nodes: list[Node] = []
        self.heard: list[tuple[int, bytes, int]] = []

    async def start(self) -> None:
        """Listen."""
        gc.set_threshold(YOUNG, 20, 20)
        patience = max(5.0, 10 * self.period)  # where a period is long, many peers share a processor
        limits = Limits(
            connect=patience, answer=max(10.0, 3 * self.period), idle=max(60.0, 20 * self.period),
            most_back_off=2.0,
        )  # fmt: skip
        for plan in self.planned:
            node = Node(
                len(plan.low), period=self.period, limits=limits, tls=plan.tls,
                seed=plan.seed, reply=patience,
            )  # fmt: skip
            await node.__aenter__()
            self.nodes.append(node)

    async def stop(self) -> None:
        """Leave."""
        for node in self.nodes:
            await node.leave()

    async def addresses(self) -> list[tuple[str, int]]:
        """Where the nodes listen."""
        return [node.address for node in self.nodes]

    async def subscribe_all(self, joining: Sequence[tuple[int, tuple[str, int] | None]]) -> list[int]:
        """Let several nodes join at once, each with its contact; their sequence IDs."""
        return await asyncio.gather(*(self.subscribe(which, contact) for which, contact in joining))

    async def subscribe(self, which: int, contact: tuple[str, int] | None) -> int:
        """Let a node join through a contact (None for the first), and subscribe; return its sequence ID."""

        def note(event: Received) -> None:
            self.heard.append((subscription.own.id, event.name, event.hops))

        node, plan = self.nodes[which], self.planned[which]
        node.contact = contact
        for left in reversed(range(TRIES)):
            try:
                subscription = await node.subscribe(plan.low, plan.high, note)
                break
            except ConnectionError:  # a busy machine: try again
                if not left:
                    raise
                await asyncio.sleep(node.connections.limits.most_back_off)
        return subscription.own.id

    async def publish(self, node: int, point: Sequence[float], data: bytes = b"") -> tuple[bytes, int | None]:
        """Publish an event; returns its name, and the ID of the peer that took it first."""
        published = await self.nodes[node].publish(point, data)
        return published.name, published.entry

    async def deliveries(self) -> list[tuple[int, bytes, int]]:
        """What has been delivered since the last call: (peer, event, hops)."""
        heard, self.heard = self.heard, []
        return heard

    async def cost(self) -> Cost:
        """What it has cost so far."""
        counts = sum((node.connections.counts for node in self.nodes), Counter[str]())
        return Cost(
            time.process_time(),
            sum(core.turn for node in self.nodes for core in node.cores.values()),
            counts["bytes out"],
            counts["frames out"],
            counts["opened"],
            sum(node.connections.open for node in self.nodes),
        )

    async def report(self) -> list[Report]:
        """What each peer knows."""
        return [report_of(node) for node in self.nodes]


def report_of(node: Node) -> Report:
    """What the one peer of a node knows."""
    (subscription,) = node.subscriptions.values()
    core: Any = subscription.core
    own = core.own
    return Report(own.id, core.turn, own.low, own.high, tuple(core.ring.view))
