"""Figure 8 of Sub-2-Sub: cycles for a subscriber to rejoin, and for a publisher to find a match.

- Subscribers: a sample of them is removed from a settled overlay and joins again, see `rejoin`. Both the
  protocol as published and the default, in which one who takes up a neighbour tells it so. The paper plots a
  distribution and states no number.
- Publishers: one for each test event, each from a random peer, one exchange a cycle. What a contacted peer
  offers decides the outcome, and the paper does not say; both forms are measured. The paper concludes that a
  publisher can take it after 10 or 20 cycles that nobody is interested: measured are the errors of every such
  threshold, for events that have subscribers (any number of them) and for events that have none.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sims.engine import Simulation
from sims.figures.style import COLOURS, figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment, part
from sims.reproduce.sub2sub.converged import converged
from sims.reproduce.sub2sub.rejoin import rejoin
from sims.reproduce.sub2sub.setting import Setting
from sub2sub.events.audience import audience
from sub2sub.events.publishing import PublisherSettings, Walks, find_entry
from sub2sub.kernels.randomness import cycle_key, draws, stream_number
from sub2sub.overlay.links import Links
from sub2sub.overlay.overlay import Overlay, OverlaySettings
from workloads import named

__all__ = ["fig8"]

ID, WORKLOAD = "sub2sub-fig8", "power-law-3"
MOST_STEPS = 60
FIVE, THRESHOLDS = 5, (10, 20)  # the paper's
SAMPLE = stream_number("rejoin sample")
Cycles = dict[str, NDArray[np.int64]]


@experiment("sub2sub-fig8", title="Cycles for a subscriber to rejoin and for a publisher to find a match")
def fig8(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Let subscribers and publishers join a settled overlay."""
    size, rejoining = (1_000, 40) if quick else (10_000, 500)
    forms = {"as published": OverlaySettings.paper(), "default": OverlaySettings()}
    subscribers: Cycles = {}
    walks: dict[str, Walks] = {}
    for number, (name, settings) in enumerate(forms.items()):
        simulation, events = converged(Setting(WORKLOAD, size, size, seed), settings)
        sample = np.argsort(draws(cycle_key(seed, SAMPLE, 0), np.arange(size)))[:rejoining].astype(np.int64)
        subscribers[name] = rejoin(simulation, sample, part(progress, number, len(forms)))
        if number == 0:
            walks = {offers: _walk(simulation, events, offers == "all links") for offers in _OFFERS}
            errors = _threshold_errors(simulation, size, seed)
    _save(out, subscribers, walks, errors)
    _draw(out, subscribers, walks, errors, size)
    return _claims(subscribers, walks, errors)


_OFFERS = ("all links", "proximity and random links only")


def _walk(simulation: Simulation[Overlay], events: NDArray[np.float64], ring_offers: bool) -> Walks:
    overlay, how = simulation.overlay, PublisherSettings(ring_offers=ring_offers, max_steps=MOST_STEPS)
    return find_entry(Links.of(overlay), overlay.network, events, settings=how, seed=overlay.seed)


def _threshold_errors(
    simulation: Simulation[Overlay], size: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """For every threshold: events with subscribers given up wrongly, events without that somebody took."""
    overlay = simulation.overlay
    links, network = Links.of(overlay), overlay.network
    events = named(WORKLOAD).candidates(seed, 0, 4 * size)
    wanted = audience(links, network, events).matches > 0
    walks = _walk(simulation, events, ring_offers=True)
    thresholds = np.arange(1, MOST_STEPS + 1)
    found = np.array([walks.found_within(int(steps)) for steps in thresholds])
    return {
        "threshold": thresholds,
        "given_up_wrongly": 1 - found[:, wanted].mean(axis=1),
        "taken_wrongly": found[:, ~wanted].mean(axis=1),
        "events_with_subscribers": np.full(thresholds.size, wanted.sum()),
        "events_without": np.full(thresholds.size, (~wanted).sum()),
    }


def _save(
    out: Path, subscribers: Cycles, walks: dict[str, Walks], errors: dict[str, NDArray[np.float64]]
) -> None:
    sizes = [took.size for took in subscribers.values()]
    save_table(
        out, "subscribers",
        {"form": np.repeat(list(subscribers), sizes), "cycles": np.concatenate(list(subscribers.values()))},
    )  # fmt: skip
    for offers, walk in walks.items():
        save_table(out, f"publishers-{offers.replace(' ', '-')}", walk.as_table())
    save_table(out, "thresholds", errors)


def _claims(
    subscribers: Cycles, walks: dict[str, Walks], errors: dict[str, NDArray[np.float64]]
) -> list[Claim]:
    claims = []
    for offers, walk in walks.items():
        slowest, within = int(walk.steps.max()), float(walk.found_within(FIVE).mean())
        claims.append(
            Claim(
                ID, f"all publishers find a match within {FIVE} cycles (a contacted peer offers {offers})",
                "all within 5", f"{within:.2%} within {FIVE}, slowest {slowest}", within == 1.0,
            )
        )  # fmt: skip
    for threshold in THRESHOLDS:
        wrongly = float(errors["given_up_wrongly"][threshold - 1])
        taken = float(errors["taken_wrongly"][threshold - 1])
        claims.append(
            Claim(
                ID, f"after {threshold} cycles a publisher can safely assume that nobody is interested: "
                "share of events with subscribers given up, of events without taken by somebody",
                [0, 0], [wrongly, taken], wrongly == taken == 0.0,
            )
        )  # fmt: skip
    for form, took in subscribers.items():
        back = took[took > 0]
        claims.append(
            Claim(
                ID, f"all subscribers that rejoin are back ({form}): median and most cycles",
                "distribution lost", f"median {np.median(back):g}, at most {back.max()}, "
                f"{(took < 0).sum()} of {took.size} never", bool((took > 0).all()),
            )
        )  # fmt: skip
    return claims


def _draw(
    out: Path, subscribers: Cycles, walks: dict[str, Walks], errors: dict[str, NDArray[np.float64]], size: int
) -> None:
    with styled():
        fig, (left, right, far) = figure(1, 3, figsize=(12.6, 4.2))
        for number, (form, took) in enumerate(subscribers.items()):
            cycles = np.arange(int(took.max()) + 1)
            line(
                left, number, cycles, [100 * ((took > 0) & (took <= c)).mean() for c in cycles], form,
                drawstyle="steps-post", markevery=4,
            )  # fmt: skip
        left.set(
            xlabel="cycles", ylabel="are back (%)", title="Subscribers that rejoin",
            xticks=range(0, 5 * (max(int(took.max()) for took in subscribers.values()) // 5) + 6, 5),
        )  # fmt: skip
        for number, (offers, walk) in enumerate(walks.items()):
            cycles = np.arange(0, 26)
            line(
                right, number, cycles, [100 * walk.found_within(int(c)).mean() for c in cycles], offers,
                drawstyle="steps-post", markevery=3,
            )  # fmt: skip
        right.axvline(FIVE, color=COLOURS[-1], linewidth=0.8)
        right.annotate("paper: all by here", (FIVE, 50), (5, 0), textcoords="offset points", fontsize=9)
        right.set(xlabel="cycles", ylabel="have found somebody (%)", title="Publishers that look for a match")
        left.legend(loc="lower right", fontsize=9)
        right.legend(title="a contacted peer offers", loc="lower right", fontsize=9)
        with_them, without = (int(errors[f"events_{name}"][0]) for name in ("with_subscribers", "without"))
        for number, (name, label) in enumerate(
            (
                ("given_up_wrongly", f"{with_them:,} with subscribers: given up"),
                ("taken_wrongly", f"{without:,} without: taken by somebody"),
            )
        ):
            line(far, number, errors["threshold"], 100 * errors[name], label, markevery=5)
        far.set_yscale("symlog", linthresh=0.01)
        far.set(ylim=(-0.001, 100), xlim=(0, 30), title="Publishers that give up")
        far.set(xlabel="after so many cycles", ylabel="events decided wrongly (%)")
        far.legend(title="events", fontsize=9)
        fig.suptitle(f"3 attributes, power law, {size:,} peers", fontsize=10)
        save_figure(out, ID, fig)
