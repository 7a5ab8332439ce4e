"""Failed messages tell who is gone: half of the peers crash while events flow, or while none do.

One whose message along a ring link fails probes that neighbour and drops it if it is silent
(`sims.engine.publish`), instead of waiting until the link is too old. Dropping alone does not heal the
protocol as published, since others keep passing the dead on.
"""

from __future__ import annotations

from pathlib import Path

from sims.engine import Schedule
from sims.engine.faults import Crash
from sims.engine.publish import Publish
from sims.reproduce.claims import Claim
from sims.reproduce.registry import Progress, experiment
from sims.reproduce.sub2sub.following import EXTENDED, PUBLISHED, Faults, Story, follow, shown
from workloads import named

__all__ = ["traffic"]

SHARE, UNTIL = 0.5, 10  # share that crashes; cycles in which views are still full of the dead


@experiment("sub2sub-traffic", title="Crash of half the peers while events flow, or while none do")
def traffic(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Crash half of the peers under 0, 0.1 and 1 events per peer and cycle."""
    size = 1_000 if quick else 10_000
    events = named("power-law-3").candidates(seed + 1, 0, size)

    def faults(rate: float) -> Faults:
        crash: Faults = [(Schedule(at=0), Crash(SHARE))]
        flow: Faults = [(Schedule(start=0), Publish(events, count=round(rate * size)))]
        return crash + flow if rate else crash

    levels = [0.0, 1.0] if quick else [0.0, 0.1, 1.0]
    seen = follow(Story("sub2sub-traffic", levels, faults, after=40), quick, seed, progress)
    seen.save(out, f"Crash of {SHARE:.0%} under traffic", lambda rate: f"{rate:g} events per peer and cycle")
    mean = {}
    for name in ("hit_ratio", "failed"):
        curves = [seen.curve(EXTENDED, rate, name) for rate in levels]
        mean[name] = [float(values[cycles < UNTIL].mean()) for cycles, values in curves]
    healed = [seen.recovery(EXTENDED, rate, "rings") for rate in levels]
    never = [seen.recovery(PUBLISHED, rate, "rings") for rate in levels]
    at = f"at {', '.join(f'{rate:g}' for rate in levels)} events per peer and cycle"
    return [
        seen.claim(
            f"hit ratio in the first {UNTIL} cycles, {at}, extended", "rises with traffic",
            mean["hit_ratio"], mean["hit_ratio"] == sorted(mean["hit_ratio"]),
        ),
        seen.claim(
            f"failed messages per event in the first {UNTIL} cycles, {at}, extended", "fall with traffic",
            mean["failed"], mean["failed"] == sorted(mean["failed"], reverse=True),
        ),
        seen.claim(
            f"cycles until all rings are complete, {at}, extended", "at most 40 (traffic does no harm)",
            [shown(cycles) for cycles in healed], max(healed) <= 40,
        ),
        seen.claim(
            f"cycles until all rings are complete, {at}, as published", "never, dropping is not enough",
            [shown(cycles) for cycles in never], min(never) == float("inf"),
        ),
        seen.no_spam(),
    ]  # fmt: skip
