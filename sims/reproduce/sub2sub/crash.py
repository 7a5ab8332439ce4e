"""Crashes, beyond the paper: a share of the peers goes down at once, for good or for a while.

`sub2sub-crash`: what is left has to close its rings anew. An oracle that removes every dead link at once
needs about 20 cycles after a crash of 20 % of 10,000 peers. `sub2sub-return`: peers come back after everybody
has given them up, with the links they had, like peers that were suspected wrongly; others have to accept them
again. As published nobody is given up, so a peer that comes back finds all links in place: the one fault that
forgetting makes worse.
"""

from __future__ import annotations

from sims.engine import Schedule
from sims.engine.faults import Crash, Recover
from sims.reproduce.claims import Claim
from sims.reproduce.sub2sub.following import FaultScenario, Seen, register_scenario

WITHIN = {0.1: 30, 0.2: 30, 0.5: 60, 0.8: 60}  # cycles until all rings are complete again, at most
AWAY = 25  # cycles, longer than any link is kept that nobody answers
BACK = 30  # cycles until returned peers have their rings, at most


def judge_crash(seen: Seen) -> list[Claim]:
    """Rings and deliveries are whole again within a bound."""
    claims = []
    for share in seen.levels:
        most = WITHIN[share]
        claims += [
            seen.within(
                f"{share:.0%} crashed: cycles until all rings are complete again", share, "rings", most
            ),
            seen.within(
                f"{share:.0%} crashed: cycles until every event reaches everybody again",
                share,
                "complete",
                most,
            ),
        ]
    return [*claims, seen.published("cycles until all rings are complete again", "rings"), seen.spam()]


def judge_return(seen: Seen) -> list[Claim]:
    """Rings are whole again after the return within a bound."""
    text = "away: cycles after their return until all rings are complete"
    claims = [seen.within(f"{share:.0%} {text}", share, "rings", BACK, since=AWAY) for share in seen.levels]
    return [*claims, seen.published("cycles after the return until all rings are complete", "rings", AWAY)]


register_scenario(
    FaultScenario(
        "sub2sub-crash", "Rings and deliveries after a share of the peers crashes at once",
        levels=[0.1, 0.2, 0.5, 0.8], quick_levels=[0.2, 0.5],
        faults=lambda share, peers, seed: [(Schedule(at=0), Crash(share))],
        label=lambda share: f"{share:.0%} crash", after=60,
    ),
    judge_crash,
)  # fmt: skip
register_scenario(
    FaultScenario(
        "sub2sub-return", "Rings and deliveries when peers given up for dead come back",
        levels=[0.05, 0.2, 0.5], quick_levels=[0.2],
        faults=lambda share, peers, seed: [(Schedule(at=0), Crash(share)), (Schedule(at=AWAY), Recover())],
        label=lambda share: f"{share:.0%} away for {AWAY} cycles", after=AWAY + 35,
    ),
    judge_return,
)  # fmt: skip
