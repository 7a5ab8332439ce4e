"""Figure 8 of Sub-2-Sub: cycles for a subscriber to rejoin, and for a publisher to find a match.

- Subscribers: each is removed from a converged overlay and joins again (see `rejoin`): all of them with the
  protocol as published, a sample with the default, in which a peer sends a hello to a new neighbour. The
  paper plots a distribution and states no number, so the only verdict is whether every subscriber rejoins.
- Publishers: one for each test event, each from a random peer, with one exchange of each layer per cycle. The
  paper does not say which links a contacted peer offers, and how greedily a publisher gossips. There are four
  readings: *gossip*, CYCLON and VICINITY exchanges as in Section 4.1 (see `gossiping_publishers`), and
  *walk*, a greedy list of the nearest known peers; both with proximity and random links offered, or with ring
  links as well. The walk with ring links is the default of this project.
- The paper concludes that a publisher can assume after 10 or 20 cycles that no peer is interested. Measured
  are the events with any number of subscribers that are given up wrongly at either threshold.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sims.engine import Simulation
from sims.figures.style import figure, legend_below, line, stated_line
from sims.reproduce.claims import Claims, interval_of_share, observed, stated
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables, measurement, part, register
from sims.reproduce.sub2sub.gossiping_publishers import PublisherViews, gossip_to_match
from sims.reproduce.sub2sub.rejoin import rejoin
from sims.reproduce.sub2sub.setting import Setting, converged
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.events.audience import audience
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.draws import cycle_key, stream_number
from sub2sub.peers.settings import OverlaySettings, PublisherSettings
from workloads import named

WORKLOAD = "power-law-3"
MOST_STEPS = 60
FIVE, THRESHOLDS = 5, (10, 20)  # the paper's
SAMPLE = stream_number("rejoin sample")
GOSSIP, RING_GOSSIP = "gossip", "gossip, ring links offered"
WALK, RING_WALK = "walk", "walk, ring links offered"
READINGS = (GOSSIP, RING_GOSSIP, WALK, RING_WALK)
FORMS = {"as published": OverlaySettings.paper(), "default": OverlaySettings()}
NEVER = -1


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Let subscribers and publishers join a converged overlay."""
    size, rejoining = (1_000, (60, 60)) if quick else (10_000, (10_000, 1_000))
    subscribers, publishers, anybody = [], [], []
    for number, (form, settings) in enumerate(FORMS.items()):
        simulation, events = converged(Setting(WORKLOAD, size, size, seed), settings)
        if form == "as published":
            publishers = [
                pd.DataFrame({"reading": reading, "cycles": _join(simulation, events, reading)})
                for reading in READINGS
            ]
            anybody = _any_events(simulation, size, seed)
        order = np.argsort(draws(cycle_key(seed, SAMPLE, 0), np.arange(size)))
        sample = order[: rejoining[number]].astype(np.int64)
        took = rejoin(simulation, sample, part(progress, number, len(FORMS)))
        subscribers.append(pd.DataFrame({"form": form, "cycles": took}))
    back = " and ".join(f"{count:,}" for count in rejoining)
    scale = f"{size:,} peers, {size:,} publishers, {back} subscribers rejoin, 1 seed"
    return measurement(scale, subscribers=subscribers, publishers=publishers, any_events=anybody)


def _join(simulation: Simulation[Overlay], events: NDArray[np.float64], reading: str) -> NDArray[np.int64]:
    """Cycles until a publisher of each event knows a matching peer."""
    overlay = simulation.overlay
    links = Links.of(overlay)
    if reading in (GOSSIP, RING_GOSSIP):
        views = PublisherViews(ring_offers=reading == RING_GOSSIP)
        return gossip_to_match(links, events, most=MOST_STEPS, seed=overlay.seed, views=views)
    settings = PublisherSettings(ring_offers=reading == RING_WALK, max_steps=MOST_STEPS)
    walks = find_entry(links, overlay.network, events, settings=settings, seed=overlay.seed)
    return np.where(walks.found, walks.steps, NEVER)


def _any_events(simulation: Simulation[Overlay], size: int, seed: int) -> list[pd.DataFrame]:
    """The same for events that may have any number of subscribers, none included."""
    overlay = simulation.overlay
    events = named(WORKLOAD).candidates(seed, 0, size)
    matches = audience(Links.of(overlay), overlay.network, events).matches
    return [
        pd.DataFrame({"reading": reading, "matches": matches, "cycles": _join(simulation, events, reading)})
        for reading in READINGS
    ]


def _within(cycles: pd.Series[int], most: int) -> pd.Series[bool]:
    return (cycles > 0) & (cycles <= most)


def _percent(took: pd.Series[int], cycles: NDArray[np.int64]) -> list[float]:
    """Percentage that is done after each number of cycles."""
    return [100 * float(_within(took, int(most)).mean()) for most in cycles]


def judge(tables: Tables) -> Claims:
    """Publishers by reading; thresholds by reading; subscribers by form."""
    for reading, cycles in tables["publishers"].groupby("reading", sort=False).cycles:
        found = _within(cycles, FIVE)
        slowest = "never" if (cycles < 0).any() else int(cycles.max())
        yield stated(
            f"share of publishers that find a match within {FIVE} cycles, and cycles of the slowest",
            "Sub-2-Sub, Section 5 and Figure 8: all 10,000 publishers joined in five or less cycles",
            {"share": 1.0, "slowest": FIVE}, {"share": round(float(found.mean()), 4), "slowest": slowest},
            found.all(), interval=interval_of_share(int(found.sum()), len(found)), reading=reading,
        )  # fmt: skip
    for reading, own in tables["any_events"].groupby("reading", sort=False):
        wanted = own[own.matches > 0]
        for threshold in THRESHOLDS:
            wrong = ~_within(wanted.cycles, threshold)
            yield stated(
                f"share of events with subscribers that a publisher gives up after {threshold} cycles",
                "Sub-2-Sub, Section 5: after 10 or 20 cycles a publisher can safely assume that nobody "
                "matches", 0.0, round(float(wrong.mean()), 5), not wrong.any(),
                interval=interval_of_share(int(wrong.sum()), len(wrong)), reading=reading,
            )  # fmt: skip
    for form, took in tables["subscribers"].groupby("form", sort=False).cycles:
        back = took[took > 0]
        yield stated(
            "share of subscribers that rejoin and have all their ring links again within 150 cycles",
            "Sub-2-Sub, Section 5 and Figure 8: each subscriber was removed and joined again", 1.0,
            float((took > 0).mean()), (took > 0).all(), reading=form,
        )  # fmt: skip
        yield observed(
            "cycles until a subscriber has all its ring links again: median, 99th percentile, most",
            {
                "median": float(back.median()), "99th percentile": float(back.quantile(0.99)),
                "most": int(back.max()),
            } if len(back) else "none is back", source="Sub-2-Sub, Figure 8: a plot whose numbers are lost",
            reading=form,
        )  # fmt: skip


def draw(tables: Tables) -> Figures:
    """Distributions of either, and the errors of publishers that give up."""
    fig, (left, right, far) = figure(1, 3, figsize=(13.2, 4.6))
    for number, (form, took) in enumerate(tables["subscribers"].groupby("form", sort=False).cycles):
        cycles, label = np.arange(int(took.max()) + 1), f"{form} ({len(took):,})"
        line(left, number, cycles, _percent(took, cycles), label, drawstyle="steps-post", markevery=4)
    left.set(xlabel="cycles", ylabel="are back (%)", title="Subscribers that rejoin")
    for number, (reading, took) in enumerate(tables["publishers"].groupby("reading", sort=False).cycles):
        cycles, label = np.arange(0, 26), f"{reading} ({len(took):,})"
        line(right, number, cycles, _percent(took, cycles), label, drawstyle="steps-post", markevery=3)
    stated_line(right, "paper: all by 5", x=FIVE)
    right.set(xlabel="cycles", ylabel="have found somebody (%)")
    right.set_title("Publishers that look for a match", pad=14)
    for number, (reading, own) in enumerate(tables["any_events"].groupby("reading", sort=False)):
        wanted = own[own.matches > 0].cycles
        thresholds = np.arange(1, 31)
        wrong = [100 * float((~_within(wanted, int(t))).mean()) for t in thresholds]
        line(far, number, thresholds, wrong, f"{reading} ({len(wanted):,})", markevery=4)
    for threshold in THRESHOLDS:
        stated_line(far, f"{threshold}: safe", x=threshold)
    far.set_yscale("symlog", linthresh=0.01)
    far.set(xlabel="give up after so many cycles", ylabel="events with subscribers given up (%)")
    far.set_ylim(-0.001, 100)
    far.set_title("Publishers that give up (paper: safe)", pad=14)
    for axes in (left, right, far):
        legend_below(axes, 1)
    return {"": fig}


register(
    "sub2sub-fig8", "Cycles for a subscriber to rejoin and for a publisher to find a match",
    measure, judge, draw,
)  # fmt: skip
