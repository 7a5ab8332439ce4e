"""Load, beyond the paper's text: what each peer receives and forwards against what it subscribes to.

On a settled overlay, with 0 to 4 shortcuts. The paper (Sub-2-Sub, Section 4.2) calls load "evenly balanced
across matching subscribers". Two readings are measured, both as Gini coefficients over peers: load *per event
taken*, which should be even; and load *in all*, which follows what peers subscribe to, since one with a wide
subscription takes more events, and should be no less even than that.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sims.figures.style import COLOURS, figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment
from sims.reproduce.sub2sub.converged import settled_outcomes
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.events.outcome import Outcome, gini

__all__ = ["load"]

ID = "sub2sub-load"
SHORTCUTS = range(5)
SHOWN = (0, 1, 4)


@experiment("sub2sub-load", title="Messages received and forwarded per peer, with 0 to 4 shortcuts")
def load(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Publish on a settled overlay, and look at every peer."""
    how = [DisseminationSettings.paper(shortcuts=k) for k in SHORTCUTS]
    outcomes = settled_outcomes(quick, seed, progress, how)
    tables = [outcome.load_table() for outcome in outcomes]
    peers = len(outcomes[0].taken)
    columns = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    save_table(
        out, "load",
        {"shortcuts": np.repeat(SHORTCUTS, peers), "peer": np.tile(np.arange(peers), len(tables)), **columns},
    )  # fmt: skip
    balance = {
        "per event, forwarded": [gini(_per_event(o, o.forwarded)) for o in outcomes],
        "per event, received": [gini(_per_event(o, o.received)) for o in outcomes],
        "in all, forwarded": [gini(o.forwarded) for o in outcomes],
        "events taken": [gini(o.taken) for o in outcomes],
    }
    save_table(out, "balance", {"shortcuts": list(SHORTCUTS), **balance})
    _draw(out, outcomes, balance)
    return _claims(outcomes, balance)


def _per_event(outcome: Outcome, messages: NDArray[np.int64]) -> NDArray[np.float64]:
    busy = outcome.taken > 0
    return messages[busy] / outcome.taken[busy]


def _claims(outcomes: list[Outcome], balance: dict[str, list[float]]) -> list[Claim]:
    idle = sum(int((o.received + o.forwarded)[o.taken == 0].sum()) for o in outcomes)
    most = [o.sent.size - 1 for o in outcomes]
    follows = [float(np.corrcoef(o.taken, o.forwarded)[0, 1]) for o in outcomes]
    uneven = [b - a for a, b in zip(balance["events taken"], balance["in all, forwarded"], strict=True)]
    each = f"with 0 to {SHORTCUTS[-1]} shortcuts"
    per_event = balance["per event, forwarded"]
    return [
        Claim(ID, "messages received or forwarded by peers that match no event", 0, idle, idle == 0),
        Claim(
            ID, f"most messages that a peer forwards for one event, {each}", "two and the shortcuts", most,
            all(m <= 2 + k for k, m in zip(SHORTCUTS, most, strict=True)),
        ),
        Claim(
            ID, f"Gini coefficient of messages forwarded per event taken, {each}", "even (below 0.2)",
            per_event, max(per_event) < 0.2,
        ),
        Claim(
            ID, f"correlation of messages forwarded with events taken, {each}",
            "load follows interest (above 0.95)", follows, min(follows) > 0.95,
        ),
        Claim(
            ID, f"Gini coefficient of messages forwarded in all beyond that of events taken, {each}",
            "no less even than interest (at most 0.05 more)", uneven, max(uneven) <= 0.05,
        ),
    ]  # fmt: skip


def _draw(out: Path, outcomes: list[Outcome], balance: dict[str, list[float]]) -> None:
    with styled():
        fig, (left, middle, right) = figure(1, 3, figsize=(12.6, 4.0))
        for number, k in enumerate(reversed(SHOWN)):
            outcome = outcomes[k]
            busy = outcome.taken > 0
            left.scatter(
                outcome.taken[busy], outcome.forwarded[busy], s=4, alpha=0.5, linewidths=0,
                color=COLOURS[number], label=f"{k} shortcut{'s' if k != 1 else ''}",
            )  # fmt: skip
        left.set(
            xscale="log", yscale="log", xlabel="events a peer matches", ylabel="messages it forwards",
            title="In all",
        )  # fmt: skip
        left.legend(fontsize=9, markerscale=3)
        for k, outcome in zip(SHORTCUTS, outcomes, strict=True):
            share = np.sort(_per_event(outcome, outcome.forwarded))
            line(
                middle, k, share, np.linspace(0, 100, share.size), str(k), marker=None,
            )  # fmt: skip
        middle.set(
            xlabel="messages forwarded per event", ylabel="peers with at most that (%)", title="Per event"
        )
        middle.legend(title="shortcuts", fontsize=9)
        for number, (name, values) in enumerate(balance.items()):
            line(right, number, list(SHORTCUTS), values, name)
        right.set(
            xlabel="shortcuts",
            ylabel="Gini coefficient",
            xticks=list(SHORTCUTS),
            ylim=(0, 1),
            title="Balance",
        )
        right.legend(fontsize=9)
        save_figure(out, ID, fig)
