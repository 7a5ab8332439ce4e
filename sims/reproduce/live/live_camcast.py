"""Figures 19 to 28 of CAMCAST from live processes, beside the simulated ones (CAMCAST, Section 6.2)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sims.figures.style import COLOURS, figure, styled
from sims.reproduce.camcast.measured import KINDS, METRICS, P_SEL, Measured, measure
from sims.reproduce.camcast.memberships import FIGURES, LABELS
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.live.live_measured import Curves, measure_live
from sims.reproduce.registry import Progress, experiment, part

__all__ = ["register"]

SHARES = ("reception", "reliability", "efficiency")


def register(number: int) -> None:
    """Register one of the ten figures as an experiment of its own."""
    metric, level = FIGURES[number]
    id, where = f"live-camcast-fig{number}", "ad"[level]

    def run(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
        live = measure_live(quick, seed, part(progress, 0, 2))
        simulated = measure(quick, seed, part(progress, 1, 2))
        save_table(out, "live", _columns(live))
        _draw(out, id, live, simulated, metric, level)
        return _claims(id, live, simulated, metric, level)

    run.__doc__ = f"{LABELS[metric]} in {where} against p_sel, measured on live processes."
    run.__qualname__ = run.__name__ = f"live_fig{number}"
    experiment(id, title=f"{metric.capitalize()} in {where}, live processes beside simulated ones")(run)


for _number in FIGURES:
    register(_number)


def _columns(live: dict[str, Curves]) -> dict[str, object]:
    rows = [
        (kind, float(p), level, *map(float, means[i, t]))
        for kind, means in live.items()
        for i, p in enumerate(P_SEL)
        for t, level in enumerate("ad")
    ]
    return dict(zip(("membership", "p_sel", "community", *METRICS), zip(*rows, strict=True), strict=True))


def _draw(out: Path, id: str, live: dict[str, Curves], simulated: Measured, metric: str, level: int) -> None:
    with styled():
        fig, axes = figure()
        for kind, means in live.items():
            colour = COLOURS[list(KINDS).index(kind)]
            curve = means[:, level, METRICS.index(metric)]
            axes.plot(100 * P_SEL, curve, color=colour, marker="o", label=f"{kind}, live")
            expected = simulated.of(kind, level, metric)
            hollow = {"marker": "o", "markerfacecolor": "white", "linestyle": "--"}
            axes.plot(100 * P_SEL, expected, color=colour, label=f"{kind}, simulated", **hollow)
        axes.set(xscale="log", xlabel="chance of sending upward, p_sel (%)", ylabel=LABELS[metric])
        axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
        axes.minorticks_off()
        axes.set_ylim(bottom=0, top=1.03 if metric in ("reception", "reliability") else None)
        axes.set_title(f"Community {'ad'[level]}, event of g, over TCP")
        axes.legend()
        save_figure(out, id, fig)


def _claims(id: str, live: dict[str, Curves], simulated: Measured, metric: str, level: int) -> list[Claim]:
    column = METRICS.index(metric)
    curves = {kind: means[:, level, column] for kind, means in live.items()}
    claims = []
    apart = {}
    for kind, curve in curves.items():
        expected = simulated.of(kind, level, metric)
        both = np.isfinite(curve) & np.isfinite(expected)
        scale = 1.0 if metric in SHARES else np.maximum(expected[both], 1.0)
        apart[kind] = round(float(np.mean(np.abs(curve[both] - expected[both]) / scale)), 3)
    claims.append(
        Claim(
            id,
            "live processes do what simulated ones do: mean difference over p_sel"
            + ("" if metric in SHARES else ", relative to the simulated value")
            + " (holds below 0.15)",
            0.0,
            apart,
            all(value < 0.15 for value in apart.values()),
        )
    )
    if metric == "reception":
        ends = {kind: round(float(curve[-1]), 3) for kind, curve in curves.items()}
        claims.append(
            Claim(
                id,
                "reception converges to 100 %: at p_sel 1",
                1.0,
                ends,
                all(end > 0.99 for end in ends.values()),
            )
        )
    if metric == "reliability":
        seven = {kind: round(float(curve[P_SEL == 0.07][0]), 3) for kind, curve in curves.items()}
        claims.append(
            Claim(
                id,
                "100 % reliability with 7 % of the processes forwarding upward",
                1.0,
                seven,
                max(seven.values()) > 0.99,
            )
        )
    if metric == "upward":
        growth = {kind: round(float(curve[-1] / curve[P_SEL == 0.1][0]), 1) for kind, curve in curves.items()}
        claims.append(
            Claim(
                id,
                "upward messages grow in proportion to p_sel: ten times as many at 1 as at 0.1, within half",
                10.0,
                growth,
                all(5 < value < 15 for value in growth.values()),
            )
        )
    return claims
