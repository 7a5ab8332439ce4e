"""Event-driven experiments: whole live nodes under virtual time instead of the simulator's cycles.

The same experiment file runs in both ways. Here every peer is a `Node` on its own virtual machine with its
own clock. Messages are bytes that take time, and an exchange may still be in progress when the next begins. A
cycle is one virtual second. Finding a contact and acknowledging an event, which are free in the simulator's
engine, take messages here. All test events are published within the last cycle; deliveries are counted when
no peer has received a new event for longer than peers wait for replies.

Only Sub-2-Sub, and only crashes and loss, are supported. A thousand peers take about three seconds of
processor time per cycle.
"""

from __future__ import annotations

import asyncio
import gc
import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sims.config.experiment import Experiment
from sims.live.subscriber import report_of
from sims.live.swarm import completeness, judge
from sims.rivals import system
from sub2sub.errors import InputError
from sub2sub.live import CoreSettings, Limits, Node, Received
from sub2sub.live.virtual.conditions import Conditions, Network
from sub2sub.live.virtual.loop import VirtualLoop
from sub2sub.live.virtual.machine import Machine
from sub2sub.peers.settings import OverlaySettings

PORT = 7000
FAULTS = ("crash", "loss")
RARELY = (50_000, 20, 1000)  # thresholds of garbage collection, which took a third of the time
Tables = dict[str, list[dict[str, Any]]]


class EventDriven:
    """An experiment, to be run once.

    Parameters
    ----------
    experiment : Experiment
        With `engine = "events"`.
    seed : int

    Examples
    --------
    >>> from sims.config.experiment import experiment_from
    >>> population, workload = {"size": 12}, {"events": 5}
    >>> tables = {"engine": "events", "cycles": 12, "population": population, "workload": workload}
    >>> EventDriven(experiment_from(tables), seed=1).run()["rings"][-1]["complete"]
    1.0
    """

    def __init__(self, experiment: Experiment, seed: int) -> None:
        if experiment.system != "sub2sub":
            raise InputError(f"engine: expected 'cycles' for {experiment.system}; events drive sub2sub only")
        for place, entry in enumerate(experiment.faults):
            if entry.kind not in FAULTS:
                raise InputError(
                    f"faults[{place}].kind: expected one of {', '.join(FAULTS)} with events, got {entry.kind}"
                )
        self.experiment, self.seed = experiment, seed
        # Cycles to wait for a reply. A request may need a connection first: four messages until it is there.
        self.patience = max(2, 1 + math.ceil(4 * experiment.latency[1]))
        wanted = system(experiment.system).prepare(experiment, seed).wanted
        self.lows: NDArray[np.float64] = wanted.lows[: experiment.population.size]
        self.highs: NDArray[np.float64] = wanted.highs[: experiment.population.size]
        self.points: NDArray[np.float64] = wanted.points
        self.dice = random.Random(f"events {seed}")
        conditions = Conditions(latency=experiment.latency, jitter=experiment.latency[0] / 10)
        self.network = Network(seed, conditions)
        self.tables: Tables = {"rings": []}
        self.nodes: list[tuple[Machine, Node] | None] = []
        self.heard: list[tuple[int, bytes, int]] = []
        self.crashed = 0

    def run(self, progress: Callable[[int], None] | None = None) -> Tables:
        """Run all cycles; return the observations as the simulator's tables."""
        usual = gc.get_threshold()
        gc.set_threshold(*RARELY)
        try:
            VirtualLoop(self.network).run(self._live(progress))
        finally:
            gc.set_threshold(*usual)
        return self.tables

    async def _live(self, progress: Callable[[int], None] | None) -> None:
        joining = asyncio.create_task(self._join())
        for cycle in range(self.experiment.cycles + 1):
            if cycle:
                await asyncio.sleep(1.0)
            self._inject_faults(cycle)
            self._look(cycle)
            if progress and cycle:
                progress(cycle)
        await joining
        await self._publish()

    async def _join(self) -> None:
        """Let all nodes join, each through a random earlier one, as soon as that one has joined."""
        self.nodes = [None] * len(self.lows)
        inside = [asyncio.Event() for _ in self.lows]
        entering = []
        for number in range(len(self.lows)):
            machine = self.network.machine(f"127.{number // 62500}.{number // 250 % 250}.{number % 250}")
            contact = self.dice.randrange(number) if number else None
            entering.append(machine.start(self._enter(machine, number, contact, inside)))
        await asyncio.gather(*entering)

    async def _enter(
        self, machine: Machine, number: int, contact: int | None, inside: list[asyncio.Event]
    ) -> None:
        own = self.experiment.layers
        layers = OverlaySettings(
            own.cyclon, own.vicinity, own.ring, own.suspect_age, own.patience, own.recovery, calm=own.calm
        )
        seed = self.dice.getrandbits(62)
        address = None
        if contact is not None:
            await inside[contact].wait()
            known = self.nodes[contact]
            address = known[1].address if known else None
        node = Node(
            self.lows.shape[1],
            address,
            (machine.host, PORT),
            # As in the simulator, peers wait for replies as long as these may take.
            settings=CoreSettings(layers, self.experiment.dissemination, self.patience),
            limits=Limits(incoming=1000),
            seed=seed,
        )
        await node.__aenter__()

        def note(event: Received) -> None:
            self.heard.append((subscription.own.id, event.name, event.hops))

        subscription = await node.subscribe(self.lows[number], self.highs[number], note)
        self.nodes[number] = machine, node
        inside[number].set()

    def _live_nodes(self) -> list[tuple[Machine, Node]]:
        return [each for each in self.nodes if each and not each[0].crashed]

    def _inject_faults(self, cycle: int) -> None:
        for entry in self.experiment.faults:
            if not entry.schedule.due(cycle):
                continue
            if entry.kind == "loss":
                loss = entry.arguments["probability"]
                self.network.conditions = replace(self.network.conditions, loss=loss)
            else:
                live = self._live_nodes()
                count = round(entry.arguments.get("share", 0.0) * len(live))
                for machine, _ in self.dice.sample(live, count):
                    machine.crash()
                    self.crashed += 1

    def _look(self, cycle: int) -> None:
        reports = [report_of(node) for _, node in self._live_nodes()]
        links, complete = completeness(reports, self.points) if reports else (0.0, 0.0)
        if not all(self.nodes):  # nodes that have not joined have no links
            links = complete = 0.0
        self.tables["rings"].append({"cycle": cycle, "links": links, "complete": complete})

    def _counted(self) -> Counter[str]:
        """Events that have arrived at peers so far: new to them, known, unwanted."""
        counts = Counter[str]()
        for _, node in self._live_nodes():
            counts.update({name: node.counts[name] for name in ("delivered", "duplicates", "spam")})
        return counts

    async def _publish(self) -> None:
        """Publish the test events from random nodes within a cycle, and count the nodes that receive them."""
        self.heard.clear()
        live, publishing = self._live_nodes(), []
        before = self._counted()
        for point in self.points:
            machine, node = self.dice.choice(live)
            publishing.append(machine.start(node.publish(point.tolist())))
            await asyncio.sleep(1.0 / len(self.points))
        names = {each.name: number for number, each in enumerate(await asyncio.gather(*publishing))}
        quiet = 0
        while quiet <= self.patience:
            heard = len(self.heard)
            await asyncio.sleep(1.0)
            quiet = quiet + 1 if len(self.heard) == heard else 0
        reports = [report_of(node) for _, node in self._live_nodes()]
        found = judge(reports, self.points, names, self.heard)
        counted = self._counted() - before
        # Every event that arrives is acknowledged, and acknowledgements are messages.
        messages, deliveries = 2 * counted.total(), max(counted["delivered"], 1)
        self.tables["delivery"] = [
            {
                "cycle": self.experiment.cycles,
                "hit_ratio": found.delivered / found.wanted if found.wanted else 1.0,
                "complete": 1.0 - found.missed / found.events,
                "spam": float(found.unwanted),
                "twice": found.twice,
                "messages_per_event": messages / max(len(names), 1),
                "messages_per_delivery": messages / deliveries,
                "duplicates_per_delivery": counted["duplicates"] / deliveries,
                "hops_mean": sum(map(prod, found.hops.items())) / max(sum(found.hops.values()), 1),
                "hops_max": float(max(found.hops, default=0)),
            }
        ]
