"""Many histories of live nodes under virtual time, one per seed, and their totals."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context

from hierarchy.live.histories import CommunityHistory, SeveralHistory
from hierarchy.shared.live.shared_histories import SharedHistory
from sub2sub.live.virtual.history import History, HistoryReport, Plan
from sub2sub.live.virtual.rings import RingHistory

PROTOCOLS: dict[str, Callable[[int, Plan], History]] = {
    "sub2sub": RingHistory,
    "camcast": CommunityHistory,
    "semi-structured": partial(CommunityHistory, membership="semi-structured"),
    "structured": partial(CommunityHistory, membership="structured"),
    "several": SeveralHistory,
    "shared": SharedHistory,
}
PLANS = {
    "short": Plan(),
    "long": Plan(nodes=(8, 20), calm=8, faulty=40, faults=(4, 14), events=12),
}


@dataclass
class FuzzTotals:
    """Totals of some histories.

    Attributes
    ----------
    histories : int
    seconds : float
        Virtual.
    processor : float
        Seconds of a processor they took.
    faults : Counter
        Injected, by kind.
    failed : list of HistoryReport
        Histories that broke a rule.
    healed : int
        The most cycles it took, after the last fault, until the overlay was whole.

    Examples
    --------
    >>> totals = FuzzTotals()
    >>> totals.add(HistoryReport(1, seconds=7200.0, healed=3), processor=0.5)
    >>> totals.lines()[0]
    '1 histories, 2.0 virtual hours, 0 faults, 0.5 s of processor'
    """

    histories: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    failed: list[HistoryReport] = field(default_factory=list)
    healed: int = 0

    def add(self, outcome: HistoryReport, processor: float) -> None:
        """Count a history."""
        self.histories += 1
        self.seconds += outcome.seconds
        self.processor += processor
        self.faults.update(outcome.faults)
        self.healed = max(self.healed, outcome.healed)
        if outcome.violations:
            self.failed.append(outcome)

    def lines(self) -> list[str]:
        """The totals as text."""
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(self.faults.items()))
        return [
            f"{self.histories} histories, {self.seconds / 3600:.1f} virtual hours, "
            f"{sum(self.faults.values())} faults, {self.processor:.1f} s of processor",
            f"faults: {kinds or 'none'}",
            f"whole again at most {self.healed} cycles after the last fault; "
            f"{len(self.failed)} histories broke a rule",
        ]


def live_through(protocol: str, seed: int, plan: str = "short") -> tuple[HistoryReport, float]:
    """One history, and the processor time it took."""
    began = time.process_time()
    outcome = PROTOCOLS[protocol](seed, PLANS[plan]).run()
    return outcome, time.process_time() - began


def histories(
    protocol: str, seeds: Iterable[int], plan: str = "short", jobs: int = 1
) -> Iterator[tuple[HistoryReport, float]]:
    """Histories of some seeds, in that order, run by `jobs` processes."""
    if jobs == 1:
        for seed in seeds:
            yield live_through(protocol, seed, plan)
        return
    seeds = list(seeds)
    with ProcessPoolExecutor(jobs, mp_context=get_context("forkserver")) as pool:
        yield from pool.map(live_through, [protocol] * len(seeds), seeds, [plan] * len(seeds), chunksize=8)
