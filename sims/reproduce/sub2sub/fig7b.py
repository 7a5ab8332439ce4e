"""Figure 7b of Sub-2-Sub: hops to complete dissemination against ring length; and what shortcuts cost.

Hops count from the subscriber an event enters at, a random one. "Logarithmic" is tested as follows: a
log2(length) + b fits the mean hops of each length better than a straight line in the length does, and
explains at least 0.9 of their variance. `sub2sub-shortcuts` goes beyond the paper: 0 to 4 shortcuts, with the
same fit, and the messages they cost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sims.figures.style import COLOURS, figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment
from sims.reproduce.sub2sub.converged import settled_outcomes
from sub2sub.events.dissemination import DisseminationSettings
from sub2sub.events.outcome import Outcome

__all__ = ["Fit", "fig7b", "fit", "shortcuts"]

MOST_SHORTCUTS = 4


class Fit(NamedTuple):
    """y = slope x + offset by least squares, and the share of the variance it explains (R squared)."""

    slope: float
    offset: float
    explained: float


def fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> Fit:
    """A straight line through points.

    Examples
    --------
    >>> [round(value, 6) for value in fit(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))]
    [2.0, 1.0, 1.0]
    """
    slope, offset = np.polyfit(x, y, 1)
    left = ((y - slope * x - offset) ** 2).sum()
    return Fit(float(slope), float(offset), float(1 - left / ((y - y.mean()) ** 2).sum()))


def _by_length(outcome: Outcome) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ring lengths, and the mean hops of the events with each."""
    lengths, place = np.unique(outcome.matches, return_inverse=True)
    return lengths.astype(float), np.bincount(place, outcome.hops) / np.bincount(place)


@experiment("sub2sub-fig7b", title="Hops to complete dissemination against ring length")
def fig7b(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Publish on a settled overlay with one shortcut."""
    (outcome,) = settled_outcomes(quick, seed, progress, [DisseminationSettings.paper()])
    save_table(out, "events", outcome.as_table())
    lengths, hops = _by_length(outcome)
    log, linear = fit(np.log2(lengths), hops), fit(lengths, hops)
    with styled():
        fig, axes = figure()
        jitter = np.random.default_rng(0).uniform(-0.3, 0.3, outcome.hops.size)
        axes.scatter(outcome.matches, outcome.hops + jitter, s=4, color="#bbbbbb", label="an event")
        axes.scatter(lengths, hops, s=14, color=COLOURS[0], label="mean per ring length", zorder=3)
        curve = f"{log.slope:.2f} log2(length) {log.offset:+.2f},  R² = {log.explained:.3f}"
        axes.plot(lengths, log.slope * np.log2(lengths) + log.offset, color=COLOURS[1], label=curve, zorder=4)
        axes.set(
            xlabel="matching subscribers (ring length)", ylabel="hops to the last of them", ylim=(0, None),
            title=f"Hops with one random shortcut, {outcome.taken.size:,} peers",
        )  # fmt: skip
        axes.legend(loc="lower right")
        save_figure(out, "sub2sub-fig7b", fig)
    id, complete = "sub2sub-fig7b", outcome.complete_share
    measured = f"{curve}; straight line: R² = {linear.explained:.3f}; at most {outcome.hops.max()} hops"
    return [
        Claim(id, "share of disseminations that are complete", 1.0, complete, complete == 1.0),
        Claim(
            id, "hops to complete dissemination grow logarithmically with ring length", "logarithmic",
            measured, log.explained > linear.explained and log.explained >= 0.9,
        ),
    ]  # fmt: skip


@experiment("sub2sub-shortcuts", title="Hops and messages against the number of shortcuts")
def shortcuts(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Publish on a settled overlay with 0 to 4 shortcuts."""
    numbers = range(MOST_SHORTCUTS + 1)
    outcomes = settled_outcomes(
        quick, seed, progress, [DisseminationSettings.paper(shortcuts=k) for k in numbers]
    )
    fits = [fit(np.log2(lengths), hops) for lengths, hops in map(_by_length, outcomes)]
    rows = [outcome.summary() for outcome in outcomes]
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in rows[0]}
    columns["shortcuts"] = list(numbers)
    columns |= {name: [getattr(one, name) for one in fits] for name in Fit._fields}
    save_table(out, "shortcuts", columns)
    with styled():
        fig, (left, right) = figure(1, 2)
        for k, outcome in zip(numbers, outcomes, strict=True):
            lengths, hops = _by_length(outcome)
            line(left, k, lengths, hops, f"{k} (R² {fits[k].explained:.2f})", markevery=0.1)
        left.set(
            xscale="log", yscale="log", xlabel="matching subscribers (ring length)",
            ylabel="hops to the last of them (mean)", title="Hops",
        )  # fmt: skip
        left.legend(title="shortcuts (fit of the logarithm)", fontsize=9)
        line(right, 0, numbers, columns["messages_per_delivery"], "messages per delivery")
        line(right, 1, numbers, columns["duplicates_per_delivery"], "of which duplicates")
        right.set(xlabel="shortcuts", xticks=list(numbers), ylim=(0, None), title="Messages")
        right.legend(fontsize=9)
        save_figure(out, "sub2sub-shortcuts", fig)
    id, explained = "sub2sub-shortcuts", [one.explained for one in fits]
    half = outcomes[0].hops == outcomes[0].matches // 2
    messages = np.array(columns["messages_per_delivery"])
    return [
        Claim(
            id, "the ring alone takes linear time: share of events that take half the ring length", 1.0,
            float(half.mean()), bool(half.all()),
        ),
        Claim(
            id, "one random shortcut or more make it close to logarithmic: "
            f"R squared of a log2(length) + b with 0 to {MOST_SHORTCUTS} shortcuts",
            "logarithmic", explained, min(explained[1:]) >= 0.9,
        ),
        Claim(
            id, f"messages per delivery with 0 to {MOST_SHORTCUTS} shortcuts: none adds more than 1.25",
            "not stated", messages, bool(np.diff(messages).max() <= 1.25),
        ),
    ]  # fmt: skip
