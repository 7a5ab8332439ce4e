"""Filter coverage: what condensed interests let pass in vain (hpmcast, Sections 3.3, 4.2.2, 6.1.1).

10,648 participants (a = 22, l = 3, R = 3) with boxes over two attributes. A joint interest may have K boxes;
the fewer, the weaker the filter. Addresses are given out at random, or along a curve through the
participants' interests so that neighbours resemble each other: the paper's locality of addresses against
redundancy of interests. Delegates are the smallest addresses, or those whose own interest covers most.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast import Condensation, Gossip, Population, disseminate, exact_knowledge, spread_interest
from sims.figures.style import figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment
from sub2sub.geometry.boxes import Boxes, normalise

__all__ = ["coverage"]

GOSSIP = Gossip(fanout=2, constant=3.0)
PLACINGS = {"random": "addresses at random", "alike": "neighbours alike"}
ELECTIONS = {False: "smallest addresses", True: "largest coverage"}


def _interests(n: int, generator: np.random.Generator) -> Boxes:
    """Boxes of which most are narrow: an event interests one participant in twenty or so."""
    centre, width = generator.random((n, 2)), generator.random((n, 2)) ** 2
    return normalise(centre - width / 3, centre + width / 3)


def _along_a_curve(interests: Boxes) -> NDArray[np.int64]:
    """Participants in the order of their boxes' centres along the Z-curve."""
    centres = np.clip((interests[0] + interests[1]) / 2, 0, 1 - 1e-9)
    cells = (centres * 256).astype(np.int64)
    code = np.zeros(len(cells), np.int64)
    for bit in range(8):
        for axis in range(2):
            code |= ((cells[:, axis] >> bit) & 1) << (2 * bit + axis)
    return np.argsort(code, kind="stable")


def _measure(
    population: Population,
    condensation: Condensation,
    interests: Boxes,
    events: NDArray[np.float64],
    seed: int,
) -> dict[str, float]:
    """Means over the events, and how many lines of levels 2 and up pass one in vain."""
    known = exact_knowledge(population, condensation, interests)
    views = known.views()
    rows = []
    for k, event in enumerate(events):
        wants = ((interests[0] <= event) & (event < interests[1])).all(axis=1)
        hit, needed = known.match(event), spread_interest(population, wants)
        publisher = int(np.random.Generator(np.random.Philox(key=[seed, k])).integers(population.n))
        outcome = disseminate(views, hit, publisher, GOSSIP, seed=seed, event=k)
        vain = (hit > needed)[population.n :].mean()
        rows.append(
            (
                vain,
                outcome.trace.parasites(wants) / population.n,
                outcome.trace.sent.mean(),
                outcome.filtered.mean(),
                outcome.trace.delivery(wants),
            )
        )
    names = ("vain", "parasites", "messages", "filtered", "delivery")
    return dict(zip(names, np.mean(rows, axis=0).tolist(), strict=True))


@experiment("hpmcast-coverage", title="Weak filters: what passes in vain, by the boxes of a joint interest")
def coverage(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Vary the boxes of a line, who sits beside whom, and who is elected."""
    generator = np.random.Generator(np.random.Philox(seed))
    population = Population.regular(10 if quick else 22, 3)
    boxes = [1, 2, 4, 8] if quick else [1, 2, 4, 8, 16, 32]
    drawn = _interests(population.n, generator)
    order = _along_a_curve(drawn)
    placed = {"random": drawn, "alike": (drawn[0][order], drawn[1][order])}
    events = generator.random((40, 2))
    results: dict[tuple[str, bool], list[dict[str, float]]] = {}
    done = 0
    for placing in PLACINGS:
        for by_coverage in ELECTIONS:
            results[placing, by_coverage] = []
            for most in boxes:
                condensation = Condensation(redundancy=3, boxes=(most,), by_coverage=by_coverage)
                row = _measure(population, condensation, placed[placing], events, seed)
                results[placing, by_coverage].append(row)
                done += 1
                progress(done, len(PLACINGS) * len(ELECTIONS) * len(boxes))
    _save(out, boxes, results)
    return _claims(boxes, results)


def _save(out: Path, boxes: list[int], results: dict[tuple[str, bool], list[dict[str, float]]]) -> None:
    rows = [
        {"placing": placing, "election": ELECTIONS[elected], "boxes": most, **row}
        for (placing, elected), values in results.items()
        for most, row in zip(boxes, values, strict=True)
    ]
    save_table(out, "coverage", {name: [row[name] for row in rows] for name in rows[0]})
    with styled():
        fig, (left, right) = figure(columns=2)
        for k, (placing, name) in enumerate(PLACINGS.items()):
            line(left, k, boxes, [100 * row["vain"] for row in results[placing, False]], name)
        for k, ((placing, elected), values) in enumerate(results.items()):
            name = f"{PLACINGS[placing]}, {ELECTIONS[elected]}"
            line(right, k, boxes, [100 * row["parasites"] for row in values], name)
        left.set(ylabel="lines of levels 2, 3 that pass in vain (%)", ylim=(0, None))
        worst = max(row["parasites"] for values in results.values() for row in values)
        right.set(ylabel="uninterested participants reached (%)", ylim=(0, 150 * worst))  # legend on top
        for axes in (left, right):
            axes.set_xscale("log", base=2)
            axes.set_xticks(boxes, [str(most) for most in boxes])
            axes.set(xlabel="boxes of a joint interest, K")
            axes.legend(fontsize=9)
        save_figure(out, "hpmcast-coverage", fig)


def _claims(boxes: list[int], results: dict[tuple[str, bool], list[dict[str, float]]]) -> list[Claim]:
    vain = {name: [row["vain"] for row in results[name, False]] for name in PLACINGS}
    elected = [results["alike", by_coverage][-1]["parasites"] for by_coverage in (False, True)]
    lost = max(values[-1]["delivery"] - row["delivery"] for values in results.values() for row in values)
    return [
        Claim(
            "hpmcast-coverage",
            f"a weaker filter lets more pass in vain: share of lines with K = {boxes[0]} and {boxes[-1]}",
            "falls with K",
            {name: [round(values[0], 4), round(values[-1], 4)] for name, values in vain.items()},
            all(values[0] > values[-1] for values in vain.values()),
        ),
        Claim(
            "hpmcast-coverage",
            "redundancy competes with locality: K = 4, addresses at random and neighbours alike",
            "far fewer pass where neighbours are alike",
            [round(vain[name][boxes.index(4)], 4) for name in PLACINGS],
            vain["alike"][boxes.index(4)] < vain["random"][boxes.index(4)] / 2,
        ),
        Claim(
            "hpmcast-coverage",
            "delegates chosen by coverage forward less in vain: uninterested reached, by either choice",
            "less pure forwarding",
            [round(value, 4) for value in elected],
            elected[1] < elected[0],
        ),
        Claim(
            "hpmcast-coverage",
            f"a weak filter loses no event: most delivery lost against K = {boxes[-1]}, over all settings",
            "0, but for the luck of gossip",
            round(lost, 4),
            lost < 0.02,
        ),
    ]
