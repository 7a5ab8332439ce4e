"""Histories of simulated networks with every fault, one per seed (docs/live-histories.md).

    python -m tests.histories --protocol sub2sub --seeds 60 [--first 1] [--plan long] [--jobs 2]

Whole live nodes run under virtual time. No node may deliver an event twice, or one it did not subscribe to;
nothing may grow beyond its limit; no task may die; and within 40 cycles after the faults each node gets every
event it wants. A seed that breaks a rule is printed, and the exit code is then 1.
"""

from __future__ import annotations

import logging
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from tests.histories.communities import CommunityHistory, SeveralHistory
from tests.histories.history import History, HistoryReport, Plan
from tests.histories.rings import RingHistory
from tests.histories.shared import SharedHistory

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


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"expected a whole number from 1 on, got {text!r}")
    return int(text)


def main(arguments: list[str] | None = None) -> int:
    """Run histories, print their totals, and return how many broke a rule."""
    parser = ArgumentParser(prog="python -m tests.histories")
    parser.add_argument("--protocol", choices=[*PROTOCOLS, "all"], default="all")
    parser.add_argument("--seeds", type=_positive, default=100)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--plan", choices=PLANS, default="short")
    parser.add_argument("--jobs", type=_positive, default=1)
    given = parser.parse_args(arguments)
    logging.getLogger("sub2sub.live").setLevel(logging.CRITICAL)
    broken = 0
    for protocol in PROTOCOLS if given.protocol == "all" else [given.protocol]:
        faults: Counter[str] = Counter()
        spent = failed = healed = 0.0
        for outcome, processor in histories(
            protocol, range(given.first, given.first + given.seeds), given.plan, given.jobs
        ):
            faults.update(outcome.faults)
            spent, healed = spent + processor, max(healed, outcome.healed)
            if outcome.violations:
                failed += 1
                again = f"--protocol {protocol} --plan {given.plan} --first {outcome.seed} --seeds 1"
                print(f"broke a rule: {again}")
                print("".join(f"  {line}\n" for line in dict.fromkeys(outcome.violations)), end="")
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(faults.items()))
        print(f"{protocol}: {given.seeds} histories, {faults.total()} faults, {spent:.1f} s of processor")
        print(f"  {failed:.0f} broke a rule; whole again at most {healed:.0f} cycles after the last fault")
        print(f"  faults: {kinds or 'none'}")
        broken += int(failed)
    return broken


if __name__ == "__main__":
    sys.exit(bool(main()))
