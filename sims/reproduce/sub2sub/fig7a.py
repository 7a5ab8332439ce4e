"""Figure 7a of Sub-2-Sub: how long rings are.

A ring is as long as its event has subscribers, so this is about the workload alone. The paper gives no
formulas for its distributions; those of `workloads.spec.catalogue` were chosen because they come close to the
lengths with three attributes, so that claim tests the choice rather than the paper. With five attributes
most rings do have 2 or 3 subscribers, but not all: widths that give long rings with three attributes cannot
make all of them trivial with five (`benchmarks/ring_sizes.py` tries other readings). Lengths depend on the
number of subscribers: the quick form is the full one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sims.figures.style import COLOURS, figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment
from sims.reproduce.sub2sub.setting import Setting
from sub2sub.geometry.matching import match
from workloads import named

__all__ = ["fig7a"]

WORKLOADS = ("uniform-3", "power-law-3", "uniform-5", "power-law-5")
LONGEST = 246  # the paper's, with 3 attributes and power law


@experiment("sub2sub-fig7a", title="Distribution of ring lengths")
def fig7a(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Match test events with subscribers."""
    lengths = {}
    for number, workload in enumerate(WORKLOADS):
        spec, setting = named(workload), Setting(workload, seed=seed)
        lows, highs = spec.subscriptions(setting.subscribers, seed)
        lengths[workload] = match(lows, highs, spec.events(setting.events, seed, lows, highs)).sizes()
        progress(number + 1, len(WORKLOADS))
    save_table(
        out,
        "lengths",
        {
            "workload": np.repeat(WORKLOADS, [values.size for values in lengths.values()]),
            "length": np.concatenate(list(lengths.values())),
        },
    )
    _draw(out, lengths)
    return _claims(lengths)


def _claims(lengths: dict[str, NDArray[np.int64]]) -> list[Claim]:
    id, three = "sub2sub-fig7a", lengths["power-law-3"]
    ends = [int(three.min()), int(three.max())]
    close = abs(ends[1] / LONGEST - 1) < 0.1
    claims = [
        Claim(
            id, "shortest and longest ring with 3 attributes, power law (longest within 10 %)", [2, LONGEST],
            ends, ends[0] == 2 and close,
        )
    ]  # fmt: skip
    for workload in ("uniform-5", "power-law-5"):
        title, five = Setting(workload).title, lengths[workload]
        measured = f"{five.min()} to {five.max()}, {(five <= 3).mean():.0%} of them 2 or 3"
        claims.append(
            Claim(id, f"{title}: ring lengths", "2 to 3", measured, five.min() >= 2 and five.max() <= 3)
        )
    return claims


def _draw(out: Path, lengths: dict[str, NDArray[np.int64]]) -> None:
    with styled():
        fig, axes = figure()
        for number, (workload, values) in enumerate(lengths.items()):
            at, count = np.unique(values, return_counts=True)
            longer = 100 * (1 - (np.cumsum(count) - count) / values.size)
            line(axes, number, at, longer, Setting(workload).title, markevery=0.12)
        axes.axvline(LONGEST, color=COLOURS[-1], linewidth=0.8)
        axes.annotate(
            "longest in the paper\n(3, power law)", (LONGEST, 20), (-6, 0), textcoords="offset points",
            ha="right", fontsize=9,
        )  # fmt: skip
        axes.set(
            xscale="log", yscale="log", xlabel="ring length (subscribers)",
            ylabel="rings at least that long (%)", ylim=(1e-3, 200),
            title="Ring lengths of 10,000 events, 10,000 subscribers",
        )  # fmt: skip
        axes.legend(loc="lower center", ncols=2, fontsize=9)
        save_figure(out, "sub2sub-fig7a", fig)
