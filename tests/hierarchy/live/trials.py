"""Histories of CAMCAST processes in which one thing goes wrong at a time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from sub2sub.live.virtual.conditions import Conditions
from tests.histories.communities import LEASE, CommunityHistory
from tests.histories.history import PERIOD, SPREAD

STORM = 1.0  # cycles in which all connections are refused; after longer ones, back-off takes longer, too
LEASES = 3  # that pass in a trial
LOOKS = 3  # at a community that is not whole, in as many cycles, before that counts


class TrialHistory(CommunityHistory):
    """A history of CAMCAST processes with two trials, in any order.

    In other histories whatever is lost is soon found again: leases are short, and gateways are asked often.
    So a defect of one mechanism may go unnoticed. Here each has a trial of its own, after which nothing else
    has the time to help: an event that could not be sent is sent again; leases are renewed before they end.
    """

    def draw_conditions(self) -> Conditions:
        """A fast network: what is lost is lost by a trial."""
        return Conditions(latency=(0.001, 0.003), jitter=0.0005)

    async def _inject_faults(self) -> None:
        trials = [self.refused_connections, self.ended_leases]
        for trial in self.dice.sample(trials, len(trials)):
            await self._heal()
            self.outcome.faults[trial.__name__.replace("_", " ")] += 1
            await trial()

    async def refused_connections(self) -> None:
        """All connections end and none can be opened, while an event is published."""
        self.forget_events()
        self.network.conditions = replace(self.calm, refused=1.0)
        for _ in range(2):  # also those that are just being opened
            for end in [end for machine in self.network.machines for end in machine.ends]:
                end.reset()
            await asyncio.sleep(0.01 * PERIOD)
        publishing = asyncio.create_task(self.publish())  # which may have to wait
        await asyncio.sleep(STORM * PERIOD)
        self.network.conditions = self.calm
        await publishing
        await asyncio.sleep(SPREAD * PERIOD)
        for line in self.missing():
            self.violate(f"{line} that could not be sent at first")

    async def ended_leases(self) -> None:
        """Nothing happens while leases end."""
        await self._stay_whole(LEASES * LEASE, "while leases end")

    async def _stay_whole(self, cycles: int, when: str) -> None:
        """Look once a cycle."""
        broken = 0
        for _ in range(cycles):
            broken = 0 if self.is_whole() else broken + 1
            if broken == LOOKS:
                self.violate(f"the overlay is not whole {when}")
                return
            await asyncio.sleep(PERIOD)
