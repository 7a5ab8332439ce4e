"""Changed subscriptions: spam and misses until the change has spread.

The one source of spam that the paper admits (Sub-2-Sub, Section 4.2): a node that "has recently modified its
subscription, and its updated subscription has not yet spread enough", receives events of the old one. Here a
share of the peers exchange subscriptions, at once or a few in every cycle. *Spam* is messages to hosts that
no longer subscribe to the event; *misses* are deliveries to present subscriptions that do not take place. A
changed subscription is a new peer on the same host (`sub2sub.overlay.population`), and nothing in the paper
makes the old one be forgotten; as extended, its links age out like those of the dead.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sims.engine import Schedule
from sims.engine.faults import Resubscribe
from sims.figures.style import figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment
from sims.reproduce.sub2sub.following import EXTENDED, PUBLISHED, Faults, Following, Story, follow, shown

__all__ = ["change"]

TRICKLE, STOP = "1 % in every cycle", 20
SOON = 10
AT_ONCE = {"1 % at once": 0.01, "10 % at once": 0.1}


def _faults(level: str) -> Faults:
    if level == TRICKLE:
        return [(Schedule(start=0, until=STOP), Resubscribe(0.01))]
    return [(Schedule(at=0), Resubscribe(AT_ONCE[level]))]


@experiment("sub2sub-change", title="Spam and misses while changed subscriptions spread")
def change(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Change subscriptions of a settled overlay."""
    levels = ["10 % at once", TRICKLE] if quick else [*AT_ONCE, TRICKLE]
    story = Story("sub2sub-change", levels, _faults, after=60, spare=0.3, every=1)
    seen = follow(story, quick, seed, progress)
    save_table(out, "change", seen.table)
    _draw(out, seen)
    claims = []
    for level in levels:
        since = STOP if level == TRICKLE else 0
        spam = seen.recovery(EXTENDED, level, "spam", since, full=0.0)
        hits = seen.recovery(EXTENDED, level, "complete", since)
        claims.append(
            seen.claim(
                f"{level}: cycles after the last change until nobody receives spam, until every event "
                "reaches everybody, extended", "at most 30", [shown(spam), shown(hits)],
                max(spam, hits) <= 30,
            )
        )  # fmt: skip
        cycles, hits_then = seen.curve(EXTENDED, level, "hit_ratio")
        missed = 1 - float(hits_then[cycles == since + SOON][0])
        most = float(seen.curve(EXTENDED, level, "spam")[1].max())
        text = f"{level}: most spam per event; share missed {SOON} cycles after the last change, extended"
        claims.append(seen.claim(text, "few missed (below 0.01)", [most, missed], missed < 0.01))
    left = [float(seen.curve(PUBLISHED, level, "spam")[1][-1]) for level in levels]
    text = "as published: spam messages per event that are left at the end, of each change"
    claims.append(seen.claim(text, "old subscriptions are never forgotten", left, min(left) > 0))
    return claims


def _draw(out: Path, seen: Following) -> None:
    with styled():
        fig, axes = figure(2, 2, figsize=(9.6, 6.0), sharex=True, sharey="row")
        for side, form in enumerate((PUBLISHED, EXTENDED)):
            for number, level in enumerate(seen.story.levels):
                cycles, spam = seen.curve(form, level, "spam")
                line(axes[0, side], number, cycles, spam, str(level), markevery=6)
                _, hits = seen.curve(form, level, "hit_ratio")
                line(axes[1, side], number, cycles, 100 * (1 - np.asarray(hits)), str(level), markevery=6)
            axes[0, side].set_title(f"spam, {form}", fontsize=10)
            axes[1, side].set_title(f"misses, {form}", fontsize=10)
            axes[1, side].set_xlabel("cycles after the (first) change")
        axes[0, 0].set_ylabel("messages per event")
        axes[1, 0].set_ylabel("% of an event's subscribers")
        for panel in axes[:, 0]:
            panel.set_ylim(0, None)
        axes[0, 1].legend(fontsize=8)
        size = int(seen.table["peers"][0])
        fig.suptitle(f"Changed subscriptions: 3 attributes, power law, {size:,} peers", fontsize=12)
        save_figure(out, seen.story.id, fig)
