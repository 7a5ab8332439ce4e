"""What Sub-2-Sub says of spam and load in its text (Section 4.2), on a settled overlay.

- Spam: no message reaches a node that does not match. Counted are all messages of all test events.
- Load: a match receives an event once or a few more times and, on first reception, forwards it to the same
  small number of nodes: up to two adjacent ones and a few random ones, here one. "A few" is taken as: nine in
  ten deliveries come with at most four copies in all. "Even" is taken as a Gini coefficient below 0.2.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sims.figures.style import COLOURS, figure, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment
from sims.reproduce.sub2sub.converged import settled_outcomes
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.events.outcome import Outcome

__all__ = ["text"]

ID = "sub2sub-text"
SHORTCUTS, FEW = 1, 4


@experiment("sub2sub-text", title="Spam and load of dissemination")
def text(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Count what every peer receives and sends."""
    (outcome,) = settled_outcomes(quick, seed, progress, [DisseminationSettings.paper(shortcuts=SHORTCUTS)])
    save_table(out, "events", outcome.as_table())
    save_table(out, "peers", outcome.load_table())
    save_table(out, "copies", {"copies": np.arange(outcome.copies.size), "deliveries": outcome.copies})
    save_table(out, "sent", {"messages": np.arange(outcome.sent.size), "deliveries": outcome.sent})
    _draw(out, outcome)
    return _claims(outcome)


def _claims(outcome: Outcome) -> list[Claim]:
    spam, messages = int(outcome.spam.sum()), int(outcome.messages.sum())
    strangers = int((outcome.received[outcome.taken == 0] > 0).sum())
    most = outcome.sent.size - 1
    few = float(outcome.copies[: FEW + 1].sum() / outcome.copies.sum())
    mean = float(outcome.copies @ np.arange(outcome.copies.size) / outcome.copies.sum())
    summary = outcome.summary()
    return [
        Claim(ID, f"messages to nodes that do not match, of {messages:,}", 0, spam, spam == 0),
        Claim(ID, "peers that match no event and yet receive or forward one", 0, strangers, strangers == 0),
        Claim(
            ID, "a match receives an event once or a few more times: "
            f"mean copies, most copies, share of deliveries with at most {FEW}",
            "once or a few", [mean, outcome.copies.size - 1, few], few >= 0.9,
        ),
        Claim(
            ID, "a match forwards an event to the same small number: two adjacent ones and one random one",
            "at most 3", most, most <= 2 + SHORTCUTS,
        ),
        Claim(
            ID, "load per event is evenly balanced across matching subscribers: "
            "Gini coefficient of messages forwarded, of copies received", "even (near 0)",
            [summary["forwarded_gini"], summary["received_gini"]],
            max(summary["forwarded_gini"], summary["received_gini"]) < 0.2,
        ),
    ]  # fmt: skip


def _draw(out: Path, outcome: Outcome) -> None:
    busy = outcome.taken > 0
    with styled():
        fig, (left, middle, right) = figure(1, 3, figsize=(12.0, 3.8))
        for axes, counts, label in (
            (left, outcome.copies, "copies of an event that a match receives"),
            (middle, outcome.sent, "messages it forwards"),
        ):
            axes.bar(np.arange(counts.size), 100 * counts / counts.sum(), color=COLOURS[0])
            axes.set(xlabel=label, ylabel="deliveries (%)")
        middle.set(xticks=np.arange(outcome.sent.size))
        per_event = outcome.received[busy] / outcome.taken[busy]
        right.scatter(outcome.taken[busy], per_event, s=3, color="#999999", label="copies received")
        per_event = outcome.forwarded[busy] / outcome.taken[busy]
        right.scatter(outcome.taken[busy], per_event, s=3, color=COLOURS[1], label="messages forwarded")
        right.set(xscale="log", xlabel="events a peer matches", ylabel="per event", ylim=(0, None))
        right.legend(fontsize=9, markerscale=4)
        save_figure(out, ID, fig)
