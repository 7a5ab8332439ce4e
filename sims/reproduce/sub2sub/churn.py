"""Churn, beyond the paper: in every cycle a share of the peers leaves and as many newcomers join.

At 5 % a peer lives for 20 cycles, about as long as it takes to find all of its ring neighbours.
"""

from __future__ import annotations

from sims.engine import Schedule
from sims.engine.faults import Churn
from sims.reproduce.claims import OURS, Claim, observed, span, stated
from sims.reproduce.sub2sub.following import EXTENDED, PUBLISHED, Seen, Story, register_story

__all__ = ["judge"]

STOP = 40
HITS, AFTER = 0.95, 40  # bounds: hit ratio meanwhile, cycles until all is well once nobody comes or goes


def judge(seen: Seen) -> list[Claim]:
    """Most events arrive meanwhile, and all of them soon after."""
    claims = []
    for share in seen.levels:
        hits = {form: seen.means(form, share, "hit_ratio", STOP // 2, STOP) for form in (PUBLISHED, EXTENDED)}
        name = f"{share:.1%} per cycle"
        claims += [
            stated(
                f"{name}: hit ratio from cycle {STOP // 2} to {STOP}, extended, worst seed", OURS,
                f"at least {HITS}", round(min(hits[EXTENDED]), 4), min(hits[EXTENDED]) >= HITS,
                interval=span(hits[EXTENDED]),
            ),
            observed(
                f"{name}: hit ratio from cycle {STOP // 2} to {STOP}, as published, worst seed",
                "not in the paper", round(min(hits[PUBLISHED]), 4), interval=span(hits[PUBLISHED]),
            ),
            seen.within(
                f"{name}: cycles afterwards until every event reaches everybody", share, "complete", AFTER,
                since=STOP,
            ),
            seen.within(
                f"{name}: cycles afterwards until all rings are complete", share, "rings", AFTER, since=STOP
            ),
        ]  # fmt: skip
    return claims


register_story(
    Story(
        "sub2sub-churn", "Rings and deliveries under continuous churn",
        levels=[0.002, 0.01, 0.02, 0.05], quick_levels=[0.01, 0.05],
        faults=lambda share, peers, seed: [(Schedule(start=0, until=STOP), Churn(share))],
        label=lambda share: f"{share:.1%} per cycle for {STOP}", after=STOP + 50, spare=2.0,
    ),
    judge,
)  # fmt: skip
