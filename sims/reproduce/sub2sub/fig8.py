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

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sims.engine import Simulation
from sims.reproduce.claims import Claims, claim, share_interval
from sims.reproduce.reproduction import Tables
from sims.reproduce.sub2sub.gossiping_publishers import PublisherViews, gossip_to_match
from sims.reproduce.sub2sub.rejoin import rejoin
from sims.reproduce.sub2sub.setting import converged
from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.randomness import draws
from sub2sub.compiled.events.audience import audience
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.draws import cycle_key, stream_number
from sub2sub.peers.settings import PublisherSettings
from workloads import named
from workloads.charts.chart import Series

WORKLOAD = "power-law-3"
MOST_STEPS = 60
FIVE, THRESHOLDS = 5, (10, 20)  # the paper's
SAMPLE = stream_number("rejoin sample")
GOSSIP, RING_GOSSIP = "gossip", "gossip, ring links offered"
WALK, RING_WALK = "walk", "walk, ring links offered"
READINGS = (GOSSIP, RING_GOSSIP, WALK, RING_WALK)
FORMS = {"as published": "paper", "default": "default"}
NEVER = -1


def unit(form: str, count: int, size: int, seed: int) -> dict[str, pd.DataFrame]:
    """One form of the overlay: subscribers that rejoin, and publishers of the one that is published."""
    simulation, events = converged("sub2sub-fig8", seed, size, {"layers.base": FORMS[form]})
    found = {}
    if form == "as published":
        wanted = named(WORKLOAD).candidates(seed, 0, size)
        matches = audience(Links.of(simulation.overlay), simulation.overlay.network, wanted).matches
        found["publishers"] = _by_reading(lambda reading: {"cycles": _join(simulation, events, reading)})
        found["any_events"] = _by_reading(
            lambda reading: {"matches": matches, "cycles": _join(simulation, wanted, reading)}
        )
    order = np.argsort(draws(cycle_key(seed, SAMPLE, 0), np.arange(size)))
    found["subscribers"] = pd.DataFrame({"cycles": rejoin(simulation, order[:count].astype(np.int64))})
    return found


def _by_reading(columns: Callable[[str], dict[str, Any]]) -> pd.DataFrame:
    frames = [pd.DataFrame({"reading": reading, **columns(reading)}) for reading in READINGS]
    return pd.concat(frames, ignore_index=True)


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
        measured = {"share": round(float(found.mean()), 4), "slowest": slowest}
        ends = share_interval(int(found.sum()), len(found))
        yield claim("publishers", measured, found.all(), interval=ends, reading=reading)
    for reading, own in tables["any_events"].groupby("reading", sort=False):
        wanted = own[own.matches > 0]
        for threshold in THRESHOLDS:
            wrong = ~_within(wanted.cycles, threshold)
            share, ends = round(float(wrong.mean()), 5), share_interval(int(wrong.sum()), len(wrong))
            how = {"reading": reading, "threshold": threshold}
            yield claim("given_up", share, not wrong.any(), interval=ends, **how)
    for form, took in tables["subscribers"].groupby("form", sort=False).cycles:
        done = took[took > 0]
        yield claim("rejoined", float((took > 0).mean()), (took > 0).all(), reading=form)
        if len(done):
            middle = {"median": float(done.median()), "99th percentile": float(done.quantile(0.99))}
            yield claim("cycles", {**middle, "most": int(done.max())}, reading=form)
        else:
            yield claim("cycles", "none is back", reading=form)


def back(subscribers: pd.DataFrame) -> list[Series]:
    """Subscribers that are back, by form."""
    found = []
    for form, took in subscribers.groupby("form", sort=False).cycles:
        cycles = np.arange(int(took.max()) + 1)
        found.append(Series(f"{form} ({len(took):,})", cycles, _percent(took, cycles), "steps"))
    return found


def publishers(rows: pd.DataFrame) -> list[Series]:
    """Publishers that have found somebody, by reading."""
    cycles = np.arange(0, 26)
    return [
        Series(f"{reading} ({len(took):,})", cycles, _percent(took, cycles), "steps")
        for reading, took in rows.groupby("reading", sort=False).cycles
    ]


def given_up(rows: pd.DataFrame) -> list[Series]:
    """Events with subscribers that are given up, by reading."""
    thresholds, found = np.arange(1, 31), []
    for reading, own in rows[rows.matches > 0].groupby("reading", sort=False).cycles:
        wrong = [100 - share for share in _percent(own, thresholds)]
        found.append(Series(f"{reading} ({len(own):,})", thresholds, wrong))
    return found
