"""A swarm of live CAMCAST processes on loopback, and the outcome of their events (CAMCAST, Section 6.2)."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import NamedTuple

from hierarchy.live import MemberSettings, Process
from hierarchy.live.wire import NAME
from sims.live.processes import Closed, Processes

KNOWN = 7  # cycles after which a P-Grid knows the first of each community
REST = 25  # cycles that tables from a P-Grid get once all have an entry: two announcements and a search
QUIET = 4  # consecutive polls without news after which dissemination counts as finished
Address = tuple[str, int]


class EventCounts(NamedTuple):
    """The outcome of an event in one community.

    `reached` counts members, `arrived` messages received, duplicates included, `upward` messages sent to the
    community above; `last` is the round of the last first reception, -1 for none.
    """

    reached: int
    arrived: int
    upward: int
    last: int


class Participant:
    """A program of one or several processes of the paper, each a member of one community.

    Parameters
    ----------
    topics : sequence of str
        Of the members.
    seeds : sequence of int
    period : float
        Seconds of a cycle.
    settings : MemberSettings
    membership : str
        As of `Process`.
    """

    def __init__(
        self,
        topics: Sequence[str],
        seeds: Sequence[int],
        period: float,
        settings: MemberSettings,
        membership: str = "unstructured",
    ) -> None:
        self.topics, self.seeds, self.membership = list(topics), list(seeds), membership
        self.period, self.settings = period, settings
        self.processes: list[Process] = []

    async def start(self) -> None:
        """Listen."""
        for seed in self.seeds:
            process = Process(
                period=self.period, settings=self.settings, seed=seed, membership=self.membership
            )
            await process.__aenter__()
            self.processes.append(process)

    async def stop(self) -> None:
        """Leave."""
        for process in self.processes:
            await process.leave()

    async def addresses(self) -> list[Address]:
        """Where the processes listen."""
        return [process.address for process in self.processes]

    async def enter(self, which: int, gateways: dict[str, list[Address]]) -> None:
        """Become a member."""
        process = self.processes[which]
        process.gateways.update(gateways)
        await process.community(self.topics[which]).subscribe(lambda event: None)

    async def learn(self, gateways: dict[str, list[Address]]) -> None:
        """Add gateways that were started since."""
        for process in self.processes:
            process.gateways.update(gateways)
            for core in process.cores.values():
                core.gateways = process.contacts_of_gateways()

    async def publish(self, which: int, upward: float) -> bytes:
        """Publish an event with a p_sel of its own; its name."""
        event = await self.processes[which].community(self.topics[which]).publish(upward=upward)
        return event.to_bytes(NAME, "big")

    async def traces(self, names: Sequence[bytes]) -> list[tuple[str, list[tuple[int, int, int] | None]]]:
        """The topic of each member and, for each event that it has, (round, arrived, upward)."""
        found = []
        for process in self.processes:
            for core in process.cores.values():
                seen = [core.seen.get(name) for name in names]
                rows = [(t.round, t.arrived, t.upward) if t else None for t in seen]
                found.append((core.own.topic, rows))
        return found

    async def tables_are_filled(self) -> bool:
        """Whether all members have an entry in each of their tables."""
        cores = [core for process in self.processes for core in process.cores.values()]
        return all(core.topic_table() and (core.supers.entries or core.own.topic == ".") for core in cores)


class Communities(Closed):
    """Live processes in communities, one below the other.

    Parameters
    ----------
    sizes : sequence of int
        Members of the root's community, of the one below it, and so on.
    settings : MemberSettings
    period : float
        Seconds of a cycle.
    per_process : int
        Members that share an operating system process.
    seed : int
    membership : str
        As of `Process`.

    Attributes
    ----------
    topics : list of str
        The root first.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        settings: MemberSettings,
        period: float = 0.5,
        per_process: int = 1,
        seed: int = 1,
        membership: str = "unstructured",
    ) -> None:
        self.sizes, self.period, self.membership = list(sizes), period, membership
        self.topics = ["." + ".".join("t" * level) for level in range(len(sizes))]
        self._dice = random.Random(seed)
        order = [topic for topic, size in zip(self.topics, sizes, strict=True) for _ in range(size)]
        self._dice.shuffle(order)
        groups = [order[k : k + per_process] for k in range(0, len(order), per_process)]
        self._where = [(number, which) for number, group in enumerate(groups) for which in range(len(group))]
        self._topic = order
        self._addresses: dict[int, list[Address]] = {}
        self._gateways: dict[str, list[Address]] = {topic: [] for topic in (*self.topics, "*")}
        self.processes = Processes(
            [
                Participant(group, [self._dice.getrandbits(62) for _ in group], period, settings, membership)
                for group in groups
            ],
            timeout=60.0 + len(order),
        )

    def enter(self) -> None:
        """Let all enter, one after the other in random order; the first two of a community are gateways.

        A community must have a member before others can join it (Section 5.1): the first members come before
        all others, and in a P-Grid the others wait until these are known there.
        """
        self._addresses = self.processes.call_all("addresses")
        first = [self._topic.index(topic) for topic in self.topics]
        for place in first:
            self._let_in(place)
        self._wait_for_grid(KNOWN)
        for place in sorted(set(range(len(self._topic))) - set(first)):
            self._let_in(place)
        # Members that came before the gateways above learn of them now, as from a configuration file.
        self.processes.call_all("learn", self._gateways)

    def _let_in(self, place: int) -> None:
        (number, which), topic, gateways = self._where[place], self._topic[place], self._gateways
        self.processes.call(number, "enter", which, gateways)
        address = self._addresses[number][which]
        if len(gateways[topic]) < 2:
            gateways[topic].append(address)
        gateways["*"] = [*gateways["*"], address][-16:]  # those of the P-Grid name the last that came

    def wait_for_tables(self, most: float) -> bool:
        """Wait until all tables have an entry, for `most` seconds at most; whether they have.

        Tables from a P-Grid then have time for another search, after all members are announced.
        """
        deadline, filled = time.monotonic() + most, False
        while not filled and time.monotonic() < deadline:
            time.sleep(self.period)
            filled = all(self.processes.call_all("tables_are_filled").values())
        self._wait_for_grid(REST)
        return filled

    def _wait_for_grid(self, cycles: int) -> None:
        if self.membership != "unstructured":
            time.sleep(cycles * self.period)

    def publish(self, chances: Sequence[float], most: float = 30.0) -> list[dict[str, EventCounts]]:
        """Publish an event of the lowest community for each p_sel, from random members, and follow them."""
        lowest = [place for place, topic in enumerate(self._topic) if topic == self.topics[-1]]
        names = []
        for chance in chances:
            number, which = self._where[self._dice.choice(lowest)]
            names.append(self.processes.call(number, "publish", which, float(chance)))
        deadline, quiet, before = time.monotonic() + most, 0, -1
        while quiet < QUIET and time.monotonic() < deadline:
            traces = [each for own in self.processes.call_all("traces", names).values() for each in own]
            arrived = sum(row[1] for _, rows in traces for row in rows if row)
            quiet = quiet + 1 if arrived == before else 0
            before = arrived
            time.sleep(0.05)
        return [self._event_counts(traces, k) for k in range(len(names))]

    def close(self) -> None:
        """End all processes."""
        self.processes.close()

    def _event_counts(
        self, traces: Sequence[tuple[str, list[tuple[int, int, int] | None]]], event: int
    ) -> dict[str, EventCounts]:
        counts = {}
        for topic in self.topics:
            rows = [rows[event] for own, rows in traces if own == topic]
            seen = [row for row in rows if row]
            published = sum(row[0] == 0 for row in seen)  # a publisher's own copy is not a message
            counts[topic] = EventCounts(
                len(seen),
                sum(row[1] for row in seen) - published,
                sum(row[2] for row in seen),
                max((row[0] for row in seen), default=-1),
            )
        return counts
