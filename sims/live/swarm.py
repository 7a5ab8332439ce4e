"""A swarm of live Sub-2-Sub peers on loopback, and the true rings to compare it with.

The swarm's owner knows all subscriptions, so it can compute the true rings and the subscribers of an event.
The peers do not know them.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sims.live.processes import Closed, Processes
from sims.live.subscriber import Cost, PlannedSubscription, Report, Subscriber
from sub2sub.live import Tls
from sub2sub.rings.true_rings import true_rings

if TYPE_CHECKING:
    from sub2sub.live.authority import Authority

WAVE = 64  # peers that join at once
QUIET = 8  # consecutive polls without news after which dissemination counts as finished


@dataclass(frozen=True)
class Delivery:
    """The outcome of some events.

    Attributes
    ----------
    events : int
    wanted, delivered : int
        Deliveries expected, and those of them that took place.
    twice, unwanted : int
        Further deliveries: to peers that already had the event, and to peers that do not match it.
    exact : int
        Events that each of their subscribers received once, and no other peer.
    missed : int
        Events that a subscriber did not receive.
    hops : dict of int to int
        Deliveries by hops.
    """

    events: int
    wanted: int
    delivered: int
    twice: int
    unwanted: int
    exact: int
    missed: int
    hops: dict[int, int]


class Watch(NamedTuple):
    """One observation of a swarm: time, median cycle, number of peers, state of their rings."""

    seconds: float
    cycle: float
    peers: int
    links: float
    complete: float
    reports: list[Report]


class Swarm(Closed):
    """Live peers in processes of their own.

    Parameters
    ----------
    lows, highs : (n, d) arrays
        Closed ranges, one peer each.
    period : float
        Seconds of a cycle. A peer takes 1 to 2 ms of a processor for one.
    per_process : int
        Peers that share a process.
    seed : int
        Of IDs, draws, contacts, and the processes to kill.
    authority : Authority, optional
        Issues a certificate for each peer; without it, no TLS.
    """

    def __init__(
        self,
        lows: NDArray[np.float64],
        highs: NDArray[np.float64],
        period: float = 1.0,
        per_process: int = 1,
        seed: int = 1,
        authority: Authority | None = None,
    ) -> None:
        self.period = period
        self._dice = random.Random(seed)
        planned = [
            PlannedSubscription(
                tuple(low.tolist()), tuple(high.tolist()), self._dice.getrandbits(62),
                Tls(authority.issue(f"peer-{number}")) if authority else None,
            )
            for number, (low, high) in enumerate(zip(lows, highs, strict=True))
        ]  # fmt: skip
        groups = [planned[k : k + per_process] for k in range(0, len(planned), per_process)]
        true_rings(lows, highs, np.arange(len(lows)), lows)  # compiled while there is a processor to spare
        self._began = time.monotonic()
        self.processes = Processes(
            [Subscriber(group, period) for group in groups],
            timeout=60.0 + len(planned),
        )

    def join(self) -> None:
        """Let all peers join in random order, each through a random earlier one (Sub-2-Sub, Section 5).

        At most as many join at once as have joined, up to `WAVE`.
        """
        addresses = self.processes.call_all("addresses")
        order = [(number, k) for number, own in addresses.items() for k in range(len(own))]
        self._dice.shuffle(order)
        inside: list[tuple[str, int]] = []
        while len(inside) < len(order):
            wave = order[len(inside) : len(inside) + min(max(len(inside), 1), WAVE)]
            calls: dict[int, list[tuple[int, tuple[str, int] | None]]] = {}
            for number, which in wave:
                contact = self._dice.choice(inside) if inside else None
                calls.setdefault(number, []).append((which, contact))
            self.processes.call_each("subscribe_all", {number: (own,) for number, own in calls.items()})
            inside += [addresses[number][which] for number, which in wave]

    def look(self, events: NDArray[np.float64]) -> Watch:
        """Ask all peers for their links, and compare them with the true rings of some events."""
        reports = [report for own in self.processes.call_all("report").values() for report in own]
        links, complete = completeness(reports, events)
        cycle = float(np.median([each.turn for each in reports]))
        return Watch(time.monotonic() - self._began, cycle, len(reports), links, complete, reports)

    def wait_for_rings(
        self, events: NDArray[np.float64], most: float, watch: Callable[[Watch], None] | None = None
    ) -> list[Watch]:
        """Look once a cycle until all rings of some events are complete, for `most` seconds at most."""
        seen = [self.look(events)]
        deadline = time.monotonic() + most
        while True:
            if watch:
                watch(seen[-1])
            if seen[-1].complete == 1.0 or time.monotonic() > deadline:
                return seen
            time.sleep(self.period)
            seen.append(self.look(events))

    def publish(self, events: NDArray[np.float64], most: float = 60.0) -> Delivery:
        """Publish events from random nodes, and wait until nothing more arrives."""
        reports = [report for own in self.processes.call_all("report").values() for report in own]
        self.processes.call_all("deliveries")
        alive = self.processes.alive
        names: dict[bytes, int] = {}
        for start in range(0, len(events), len(alive)):
            part = events[start : start + len(alive)]
            publishers = self._dice.sample(alive, len(part))
            calls = {number: (0, point.tolist()) for number, point in zip(publishers, part, strict=True)}
            for k, (name, _) in enumerate(self.processes.call_each("publish", calls).values()):
                names[name] = start + k
        heard: list[tuple[int, bytes, int]] = []
        deadline, quiet = time.monotonic() + most, 0
        while quiet < QUIET and time.monotonic() < deadline:
            news = [each for own in self.processes.call_all("deliveries").values() for each in own]
            heard += news
            quiet = 0 if news else quiet + 1
            time.sleep(self.period / 4)
        return judge(reports, events, names, heard)

    def rest(self, cycles: float, pause: float = 0.0) -> dict[str, float]:
        """Measure what a peer costs in each of some cycles: processor, messages, connections.

        Some others pass before: peers are at rest when their rings have not changed for a while.
        """
        time.sleep(pause * self.period)
        before = self._costs()
        time.sleep(cycles * self.period)
        after = self._costs()
        turns = max(after.cycles - before.cycles, 1)
        peers = sum(map(len, self.processes.call_all("addresses").values()))
        return {
            "processor ms per peer and cycle": 1000 * (after.processor - before.processor) / turns,
            "kB sent": (after.bytes - before.bytes) / turns / 1000,
            "frames sent": (after.frames - before.frames) / turns,
            "connections opened": (after.opened - before.opened) / turns,
            "connections held": after.connections / peers,
        }

    def _costs(self) -> Cost:
        """What all processes have cost together."""
        return Cost(*map(sum, zip(*self.processes.call_all("cost").values(), strict=True)))

    def kill(self, share: float) -> list[int]:
        """Kill a share of the processes by signal; returns their numbers."""
        alive = self.processes.alive
        victims = self._dice.sample(alive, round(share * len(alive)))
        self.processes.kill(victims)
        return victims

    def close(self) -> None:
        """End all processes."""
        self.processes.close()


def completeness(reports: Sequence[Report], events: NDArray[np.float64]) -> tuple[float, float]:
    """Share of ring links in place, and of rings complete, over events with two subscribers or more.

    Examples
    --------
    >>> both = [Report(k, 0, (0.0,), (1.0,), (3 - k,)) for k in (1, 2)]
    >>> completeness(both, np.array([[0.5]]))
    (1.0, 1.0)
    """
    rings = true_rings(
        [each.low for each in reports], [each.high for each in reports],
        np.array([each.id for each in reports], np.uint64), events,
    )  # fmt: skip
    known = [set(each.ring) for each in reports]
    in_place, needed, complete, total = 0, 0, 0, 0
    for event in range(len(events)):
        ring = rings.of(event).tolist()
        if len(ring) < 2:
            continue
        found = sum(
            reports[other].id in known[holder]
            for holder, above in zip(ring, ring[1:] + ring[:1], strict=True)
            for holder, other in ((holder, above), (above, holder))
        )
        in_place, needed = in_place + found, needed + 2 * len(ring)
        complete, total = complete + (found == 2 * len(ring)), total + 1
    return (in_place / needed, complete / total) if total else (1.0, 1.0)


def judge(
    reports: Sequence[Report],
    events: NDArray[np.float64],
    names: dict[bytes, int],
    heard: Sequence[tuple[int, bytes, int]],
) -> Delivery:
    """The outcome of events, by what each peer (its ID) heard of which name at which hop."""
    ids = [each.id for each in reports]
    rings = true_rings(
        [each.low for each in reports], [each.high for each in reports], np.array(ids, np.uint64), events
    )
    wanted = {(ids[k], event) for event in range(len(events)) for k in rings.of(event).tolist()}
    found = Counter((peer, names[name]) for peer, name, _ in heard if name in names)
    wrong = {event for pair, times in found.items() for event in [pair[1]] if times > 1 or pair not in wanted}
    missed = {event for peer, event in wanted if (peer, event) not in found}
    return Delivery(
        len(events),
        len(wanted),
        sum(pair in found for pair in wanted),
        sum(times - 1 for times in found.values()),
        sum(pair not in wanted for pair in found),
        len(events) - len(wrong | missed),
        len(missed),
        dict(sorted(Counter(hops for _, name, hops in heard if name in names).items())),
    )
