"""Figures 19 to 28 of CAMCAST: what the three memberships make of p_sel, in d and in a.

Two of the paper's statements do not come out: that the structured membership is the most reliable, and the
most efficient; it is the fastest. Its tables are uniform and of ln N + c entries with c = 0. By the paper's
own analysis such gossip reaches everybody with probability exp(-exp(-c)) = 0.37 (0.6 with ln N rounded up),
because somebody is likely to be in nobody's table. SCAMP does not draw tables, it hands every newcomer's
name to somebody who keeps it, so without crashes its graph is connected however small its views are.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sims.figures.style import figure, line, styled
from sims.reproduce.camcast.measured import KINDS, P_SEL, Measured, measure
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment

__all__ = ["register"]

A, D = 0, 1
FIGURES = {
    19: ("reception", D),
    20: ("reception", A),
    21: ("reliability", D),
    22: ("reliability", A),
    23: ("efficiency", D),
    24: ("efficiency", A),
    25: ("latency", D),
    26: ("latency", A),
    27: ("upward", D),
    28: ("upward", A),
}
LABELS = {
    "reception": "probability of reception",
    "reliability": "probability that all receive",
    "efficiency": "useful share of messages received",
    "latency": "rounds to the last reception",
    "upward": "upward messages into the community",
}


def register(number: int) -> None:
    """Register one of the ten figures as an experiment of its own."""
    metric, level = FIGURES[number]
    id, where = f"camcast-fig{number}", "ad"[level]

    def run(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
        measured = measure(quick, seed, progress)
        save_table(out, "memberships", measured.columns())
        _draw(out, id, measured, metric, level)
        about_tables = {
            19: [_sizes(id, measured)],
            21: [_orphans(id, measured)],
            22: [_orphans(id, measured)],
        }
        return [*_claims(id, measured, metric, level), *about_tables.get(number, [])]

    run.__doc__ = f"{LABELS[metric]} in {where} against p_sel."
    run.__qualname__ = run.__name__ = f"fig{number}"
    experiment(id, title=f"{metric.capitalize()} in {where} against the chance of sending upward")(run)


for _number in FIGURES:
    register(_number)


def _draw(out: Path, id: str, measured: Measured, metric: str, level: int) -> None:
    with styled():
        fig, axes = figure()
        for i, kind in enumerate(KINDS):
            line(axes, i, 100 * P_SEL, measured.of(kind, level, metric), kind)
        axes.set(xscale="log", xlabel="chance of sending upward, p_sel (%)", ylabel=LABELS[metric])
        axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
        axes.minorticks_off()
        axes.set_ylim(bottom=0, top=1.03 if metric in ("reception", "reliability") else None)
        axes.set_title(f"Community {'ad'[level]}, event of g")
        axes.legend()
        save_figure(out, id, fig)


def _claims(id: str, measured: Measured, metric: str, level: int) -> list[Claim]:
    curves = {kind: measured.of(kind, level, metric) for kind in KINDS}
    ends = {kind: [round(float(curve[0]), 3), round(float(curve[-1]), 3)] for kind, curve in curves.items()}
    low = P_SEL <= 0.1
    mean_low = {kind: round(float(np.nanmean(curve[low])), 3) for kind, curve in curves.items()}
    ranked = mean_low["structured"] >= mean_low["semi-structured"] >= mean_low["unstructured"]
    if metric == "reception":
        return [
            Claim(
                id,
                "all memberships converge to a reception probability of 100 %: at p_sel 0.01 and 1",
                1.0,
                ends,
                all(curve[-1] > 0.99 for curve in curves.values()),
            ),
            Claim(
                id,
                "the structured membership converges fastest: mean for p_sel up to 0.1",
                "structured highest",
                mean_low,
                mean_low["structured"] == max(mean_low.values()),
            ),
        ]
    if metric == "reliability":
        at = int(np.flatnonzero(P_SEL == 0.07)[0])
        seven = {kind: round(float(curve[at]), 3) for kind, curve in curves.items()}
        return [
            Claim(
                id,
                "100 % reliability with 7 % of the processes forwarding upward (above 0.99 in a membership)",
                1.0,
                seven,
                max(seven.values()) > 0.99,
            ),
            Claim(
                id,
                "the structured membership is the most reliable: mean for p_sel up to 0.1",
                "structured highest",
                mean_low,
                mean_low["structured"] == max(mean_low.values()),
            ),
        ]
    if metric == "efficiency":
        best = {kind: round(float(curve.max()), 3) for kind, curve in curves.items()}
        return [
            Claim(
                id,
                "a higher p_sel brings more duplicates: efficiency falls from its best value to p_sel = 1",
                "falls",
                {kind: [best[kind], ends[kind][1]] for kind in KINDS},
                all(ends[kind][1] < best[kind] for kind in KINDS),
            ),
            Claim(
                id, "structured above semi-structured above unstructured", "in this order", mean_low, ranked
            ),
        ]
    if metric == "latency":
        at = int(np.flatnonzero(P_SEL == 0.1)[0])
        tenth = {kind: [round(float(c[at]), 2), round(float(c[-1]), 2)] for kind, c in curves.items()}
        return [
            Claim(
                id,
                "latency decreases as p_sel increases: at p_sel 0.1 and 1",
                "decreases",
                tenth,
                all(after < before for before, after in tenth.values()),
            ),
            Claim(
                id,
                "the nearer tables are to a random graph, the fewer rounds: structured first, at p_sel 1",
                "in this order",
                {kind: tenth[kind][1] for kind in KINDS},
                tenth["structured"][1] <= tenth["semi-structured"][1] <= tenth["unstructured"][1],
            ),
        ]
    growth = {kind: round(float(curve[-1] / curve[P_SEL == 0.1][0]), 1) for kind, curve in curves.items()}
    return [
        Claim(
            id,
            "upward messages grow in proportion to p_sel: ten times as many at 1 as at 0.1, within 20 %",
            10.0,
            growth,
            all(abs(value / 10 - 1) < 0.2 for value in growth.values()),
        )
    ]


def _sizes(id: str, measured: Measured) -> Claim:
    """The paper's remark on its tables, which all of these figures rest on."""
    wanted = {kind: np.log(sizes).round(2).tolist() for kind, (_, sizes) in KINDS.items()}
    near = all(
        abs(found - ln) < 1.0
        for kind in KINDS
        for found, ln in zip(measured.table_sizes[kind], wanted[kind], strict=True)
    )
    return Claim(
        id, "topic tables average ln N entries (in a, d, g; within one)", wanted, measured.table_sizes, near
    )


def _orphans(id: str, measured: Measured) -> Claim:
    """What the paper's ranking hangs on: uniform tables have to leave nobody out."""
    found = measured.orphans
    return Claim(
        id,
        "thanks to uniform tables the structured membership leaves nobody out: processes in nobody's table",
        "fewest in the structured one",
        found,
        found["structured"] == min(found.values()),
    )
