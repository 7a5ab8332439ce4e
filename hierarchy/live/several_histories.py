"""Histories of CAMCAST processes in several communities at once, which they leave and enter while they run.

The members of one process share its address, its connections and its clock, and in a P-Grid a further member
enters through the first. Each history has one of the three memberships.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any

from hierarchy.live.attackers import invented_announcements
from hierarchy.live.histories import TOPICS, CommunityHistory, Participating
from hierarchy.live.process import MEMBERSHIPS
from sub2sub.live.virtual.faults import FURTHER
from sub2sub.live.virtual.history import PERIOD, Fault, History, Plan

ENTERING = 30  # cycles that a subscription may take while there are faults
AWAY = (1.0, 30.0)  # cycles between leaving a community and entering it again


class SeveralHistory(CommunityHistory):
    """A history of CAMCAST processes, more than half of which are in two communities."""

    def __init__(self, seed: int, plan: Plan | None = None) -> None:
        self._apart = random.Random(f"several {seed}")
        super().__init__(seed, plan, self._apart.choice(MEMBERSHIPS))

    def further_topics(self, home: str) -> list[str]:
        """Often another of the topics."""
        others = [topic for topic in TOPICS[: self.depth] if topic != home]
        return [self._apart.choice(others)] if self._apart.random() < 0.6 else []

    def further_faults(self) -> list[Fault]:
        """Leaving, long absences, a community that is left and entered again, and false announcements."""
        known = [invented_announcements] if self.membership != "unstructured" else []
        return [*FURTHER, left_and_entered_again, left_and_entered_again, *known]


async def left_and_entered_again(history: History) -> None:
    """A process leaves one of its communities and, unless it has crashed, enters it again.

    Gateways have to be members of the community that others ask them for.
    """
    assert isinstance(history, SeveralHistory)
    is_gateway = history.membership == "unstructured"
    running = [each for each in history.participants if each.is_live and len(each.topics) > 1]
    if not running:
        return
    who = history.dice.choice(running)
    topic = history.dice.choice([each for each in who.topics if not is_gateway or each != who.home])
    machine = who.machine
    who.topics.remove(topic)
    await _within(who, who.process.community(topic).leave())
    await asyncio.sleep(history.dice.uniform(*AWAY) * PERIOD)
    if who.machine is machine and who.joined and await _within(who, who.subscribe(topic)):
        who.topics.append(topic)


async def _within(who: Participating, program: Coroutine[Any, Any, Any]) -> bool:
    """Run something on a process's machine, unless that crashes; whether it was done in time."""
    task = who.machine.start(program)
    await asyncio.wait([task], timeout=ENTERING * PERIOD)
    return task.done() and not task.cancelled() and who.joined
