"""Crashes, beyond the paper: a share of the peers goes down at once, for ever or for some cycles.

`sub2sub-crash`: the live peers have to close their rings. An oracle that removes every dead link at once
needs about 20 cycles after a crash of 20 % of 10,000 peers. `sub2sub-return`: peers recover with their old
links after all others have dropped them, like peers that were suspected wrongly; the others have to accept
them again. As published no peer is dropped, so a peer that recovers finds all links in place: the only fault
that dropping peers makes worse.
"""

from __future__ import annotations

from sims.reproduce.claims import Claims
from sims.reproduce.sub2sub.following import Scenario, Seen

WITHIN = {0.1: 30, 0.2: 30, 0.5: 60, 0.8: 60}  # cycles until all rings are complete again, at most
AWAY = 25  # cycles, longer than links to dead peers are kept
BACK = 30  # cycles until returned peers have their rings, at most


def judge_crash(seen: Seen) -> Claims:
    """Rings and deliveries are whole again within a bound."""
    for share in seen.levels:
        text = f"{share:.0%} crashed: cycles until"
        yield seen.within(f"{text} all rings are complete again", share, "rings", WITHIN[share])
        yield seen.within(f"{text} every event reaches everybody again", share, "complete", WITHIN[share])
    yield seen.published("cycles until all rings are complete again", "rings")
    yield seen.spam()


def judge_return(seen: Seen) -> Claims:
    """Rings are whole again after the return within a bound."""
    text = "away: cycles after their return until all rings are complete"
    for share in seen.levels:
        yield seen.within(f"{share:.0%} {text}", share, "rings", BACK, since=AWAY)
    yield seen.published("cycles after the return until all rings are complete", "rings", AWAY)


SCENARIOS = {
    "sub2sub-crash": Scenario(
        judge_crash, {share: {"faults.0.share": share} for share in (0.1, 0.2, 0.5, 0.8)}, quick=[0.2, 0.5],
        label="{:.0%} crash",
    ),
    "sub2sub-return": Scenario(
        judge_return, {share: {"faults.0.share": share} for share in (0.05, 0.2, 0.5)}, quick=[0.2],
        label=f"{{:.0%}} away for {AWAY} cycles",
    ),
}  # fmt: skip
REPRODUCTIONS = {id: own.parts(id) for id, own in SCENARIOS.items()}
