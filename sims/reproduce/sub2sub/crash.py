"""Crashes, beyond the paper: a share of the peers goes down at once, for good or for a while.

`sub2sub-crash`: what is left has to close its rings anew. An oracle that removes every dead link at once
needs about 20 cycles after a crash of 20 % of 10,000 peers. `sub2sub-return`: peers come back after everybody
has given them up, with the links they had: wrongly suspected peers, as it were, and they have to be believed
again. As published nobody is given up, so whoever comes back finds all links in place: the one fault that
forgetting makes worse.
"""

from __future__ import annotations

from pathlib import Path

from sims.engine import Schedule
from sims.engine.faults import Crash, Recover
from sims.reproduce.claims import Claim
from sims.reproduce.registry import Progress, experiment
from sims.reproduce.sub2sub.following import EXTENDED, PUBLISHED, Story, follow, shown

__all__ = ["absence", "crash"]

WITHIN = {0.2: 30, 0.5: 60}  # cycles until all rings are complete again, at most
AWAY = 25  # cycles, longer than any link is kept that nobody answers


@experiment("sub2sub-crash", title="Rings and deliveries after a share of the peers crashes at once")
def crash(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Crash 10 to 80 %."""
    levels = [0.2, 0.5] if quick else [0.1, 0.2, 0.5, 0.8]
    story = Story("sub2sub-crash", levels, lambda share: [(Schedule(at=0), Crash(share))], after=60)
    seen = follow(story, quick, seed, progress)
    seen.save(out, "Crash of a share of the peers", lambda share: f"{share:.0%}")
    claims = []
    for share in levels:
        healed, hits = (seen.recovery(EXTENDED, share, column) for column in ("rings", "complete"))
        within = WITHIN.get(share, 60)
        claims += [
            seen.claim(
                f"{share:.0%} crashed: cycles until all rings are complete again, extended",
                f"at most {within}", shown(healed), healed <= within,
            ),
            seen.claim(
                f"{share:.0%} crashed: cycles until every event reaches everybody again, extended",
                "no later than the rings", shown(hits), hits <= healed,
            ),
        ]  # fmt: skip
    never = [seen.recovery(PUBLISHED, share, "rings") for share in levels]
    text = "as published: cycles until all rings are complete again, at each share"
    claims.append(
        seen.claim(text, "they never are", [shown(n) for n in never], all(n == float("inf") for n in never))
    )
    return [*claims, seen.no_spam()]


@experiment("sub2sub-return", title="Rings and deliveries when peers given up for dead come back")
def absence(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Take a share down for longer than anybody remembers them, and let them come back."""
    levels = [0.2] if quick else [0.05, 0.2, 0.5]
    story = Story(
        "sub2sub-return", levels,
        lambda share: [(Schedule(at=0), Crash(share)), (Schedule(at=AWAY), Recover())], after=AWAY + 35,
    )  # fmt: skip
    seen = follow(story, quick, seed, progress)
    seen.save(out, f"A share of the peers away for {AWAY} cycles", lambda share: f"{share:.0%}")
    claims = []
    for share in levels:
        back = seen.recovery(EXTENDED, share, "rings", AWAY)
        text = f"{share:.0%} away: cycles after their return until all rings are complete, extended"
        claims.append(seen.claim(text, "at most 30", shown(back), back <= 30))
    return [*claims, seen.no_spam()]
