"""What two communities without an attacker cost: messages per event and per cycle, and a gateway's part.

`python -m tests.hierarchy.live.community_cost 20 3` prints means of three seeds for 20 processes, half of
them in a community and half in the one above, at hosts of their own and on one machine.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

from hierarchy.live import Process
from hierarchy.live import messages as m
from hierarchy.live.wire import PROTOCOL
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine
from sub2sub.live.wire.framing import Frame
from tests.hierarchy.live.community_eclipse import SUPER, TOPIC, Attack, CommunityEclipse
from tests.sub2sub.live.virtual.attacked import EVENTS, PORT

CYCLES = 40


class CommunityCost(CommunityEclipse):
    """Two communities that nobody attacks, and the messages that they send."""

    def __init__(self, nodes: int, seed: int, together: bool) -> None:
        super().__init__(nodes, Attack(), seed)
        self.seed, self.together, self.sent = seed, together, Counter[str]()
        self.by_process: Counter[int] = Counter()

    async def enter(self, machine: Machine, number: int) -> Process:
        where = [
            ("127.0.0.1", PORT + k) if self.together else (f"10.0.0.{k}", PORT) for k in range(self.size)
        ]
        gateways = {TOPIC: [where[0]], SUPER: [where[1]]}
        process = Process(gateways, where[number], seed=number + 1 + 1000 * self.seed)
        self._count(process, number)
        await process.__aenter__()
        await process.community(SUPER if number % 2 else TOPIC).subscribe(self._note)
        return process

    def _count(self, process: Process, number: int) -> None:
        encode = PROTOCOL.encode

        class Counting:
            def __getattr__(_, name: str) -> Any:
                return getattr(PROTOCOL, name)

            def encode(_, frame: Frame) -> bytes:
                self.sent[type(frame.message).__name__] += 1
                self.by_process[number] += isinstance(frame.message, m.Event)
                return encode(frame)

        process.protocol = Counting()  # type: ignore[assignment]

    async def join(self) -> None:
        machine = self.network.machine("127.0.0.1") if self.together else None
        for number in range(self.size):
            at = machine or self.network.machine(f"10.0.0.{number}")
            self.nodes.append((at, await at.start(self.enter(at, number))))
            await asyncio.sleep(0.5)

    def measure(self) -> list[float]:
        return VirtualLoop(self.network).run(self._measure())

    async def _measure(self) -> list[float]:
        await self.join()
        await asyncio.sleep(self.settles)
        first, _ = await self._events()
        self.sent.clear()
        await asyncio.sleep(CYCLES)
        at_rest = self.sent.total() / CYCLES / self.size
        later, most = await self._events()
        return [at_rest, first, later, most]

    async def _events(self) -> tuple[float, float]:
        """Messages per event, and those that a gateway sends."""
        self.sent.clear()
        self.by_process.clear()
        assert await self._hits() == 1.0
        return self.sent["Event"] / EVENTS, max(self.by_process[0], self.by_process[1]) / EVENTS


def main(arguments: Iterable[str]) -> None:
    nodes, seeds = map(int, arguments)
    for together in (False, True):
        runs = [CommunityCost(nodes, seed, together).measure() for seed in range(1, seeds + 1)]
        at_rest, first, later, most = (sum(column) / seeds for column in zip(*runs, strict=True))
        print(
            f"{'on one machine' if together else 'at hosts of their own'}: {at_rest:.2f} messages a cycle "
            f"and process; per event {first:.1f} at first, {later:.1f} later, {most:.1f} of them a gateway's",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
