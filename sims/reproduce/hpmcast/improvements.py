"""Improvements that hpmcast names and does not build, beside the algorithm (Sections 5.4.1, 6.1).

n = 22^3, l = 3, R = 3, F = 2, c = 0, Figure 6 by the prose, where small audiences suffer; a tenth
interested, with and without a fifth of the messages lost.

- *Digests* (Section 5.4.1): after dissemination, identifiers of events are gossiped, and missing events are
  requested (`hierarchy.hpmcast.extensions`).
- *Estimated share* (Section 6.1.1): a level's share of interested entries by equation 19 from the true p,
  which no participant knows; and *adjusted share*: estimated from the level above by equation 19 and adjusted
  by the entries that match, which every participant can compute (`Gossip.adaptive`).
- *Broadcast below* (Section 6.1.2): another medium at level 1, a broadcast in each group
  (`hierarchy.hpmcast.extensions`). The paper says that it could be used, without a result: the bound is ours.
- *Acknowledged above* (Section 6.1.2): a more reliable protocol at the highest level, at which messages are
  acknowledged and repeated up to twice; also, for comparison, at every level.
- *Audience* (Section 5.4.2): the paper's own choice, D = 10, for comparison.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from hierarchy.hpmcast import Gossip, disseminate, spread_interest
from hierarchy.hpmcast.analysis import Regular
from hierarchy.hpmcast.extensions import DigestSettings, broadcast_below, exchange_digests
from sims.reproduce.claims import OURS, Claims, mean_interval, observed, stated
from sims.reproduce.hpmcast.trials import hierarchy
from sims.reproduce.reproduction import (
    Plan,
    Tables,
    grid,
)
from sub2sub.compiled.common.network import Network
from workloads.charts.chart import Chart, Sheet, curves
from workloads.statistics.intervals import below

A, LEVELS, REDUNDANCY, P = 22, 3, 3, 0.1
LOSSES = (0.0, 0.2)
PLAIN, ESTIMATED, ADJUSTED = "as it is", "true p, equation 19", "adjusted share"
AUDIENCE, BROADCAST = "audience, D = 10", "broadcast at level 1"
ABOVE, EVERYWHERE = "acknowledged at level 3", "acknowledged at all levels"
AGAIN = 2  # times a message is sent again
DIGESTS = {f"digests, {rounds} rounds": DigestSettings(rounds) for rounds in (2, 5, 10)}
LAST = list(DIGESTS)[-1]
CLEARLY = 0.05
BLOCK = 10  # events of a unit
COSTS = ["delivery", "messages", "filtered", "parasites"]


def plan(quick: bool, seed: int) -> Plan:
    """Every improvement on the same events."""
    events = 10 if quick else 200
    scale = f"{A**LEVELS:,} participants, p = {P}, {events} events"
    return Plan(scale, unit, grid(first=range(0, events, BLOCK)), {"seed": seed}, "improvements")


def unit(first: int, seed: int) -> pd.DataFrame:
    """Some events: a row for each loss and variant."""
    events = product(range(first, first + BLOCK), LOSSES)
    rows = [row for event, loss in events for row in _event(seed, event, loss)]
    return pd.DataFrame(rows, columns=["loss", "variant", *COSTS])


def _event(seed: int, event: int, loss: float) -> list[tuple[float, str, float, float, float, float]]:
    population, views = hierarchy(A, LEVELS, REDUNDANCY)
    generator = np.random.Generator(np.random.Philox(key=[seed, event]))
    interested = (generator.random(population.n) < P).astype(np.uint8)
    publisher = int(generator.integers(population.n))
    hit = spread_interest(population, interested)
    network = Network.whole(population.n)
    network.loss = loss
    regular = Regular(A, LEVELS, REDUNDANCY, 2, P)
    shares = [regular.share(level) for level in range(1, LEVELS + 1)]
    given: dict[str, Any] = {"network": network, "seed": seed, "event": event}
    forms: dict[str, tuple[Gossip, dict[str, Any]]] = {
        PLAIN: (Gossip(loss=loss), {}),
        ESTIMATED: (Gossip(loss=loss), {"shares": shares}),
        ADJUSTED: (Gossip(loss=loss, adaptive=True), {}),
        ABOVE: (Gossip(loss=loss, retries=AGAIN, reliable=LEVELS), {}),
        EVERYWHERE: (Gossip(loss=loss, retries=AGAIN), {}),
        AUDIENCE: (Gossip(loss=loss, audience=10), {}),
    }
    outcomes = {
        name: disseminate(views, hit, publisher, gossip, **own, **given)
        for name, (gossip, own) in forms.items()
    }
    outcomes[BROADCAST] = broadcast_below(views, hit, publisher, Gossip(loss=loss), **given)
    for name, how in DIGESTS.items():
        outcomes[name] = exchange_digests(views, hit, outcomes[PLAIN], how, **given)[0]
    return [
        (
            loss, name, found.trace.delivery(interested), float(found.trace.sent.mean()),
            float(found.filtered.mean()), found.trace.parasites(interested) / population.n,
        )
        for name, found in outcomes.items()
    ]  # fmt: skip


def judge(tables: Tables) -> Claims:
    """What each improvement gains, and what it costs."""
    for loss, own in tables["improvements"].groupby("loss"):
        for claim in (_digests, _adjusted, _broadcast, _acknowledged):
            yield from claim(f"{100 * loss:.0f} % lost, p = {P}", own)
        by = own.groupby("variant", sort=False)
        yield observed(
            f"{100 * loss:.0f} % lost: delivery, messages and filterings per participant, share of "
            "uninterested participants reached, by variant",
            {str(name): [round(float(v), 3) for v in rows[COSTS].mean()] for name, rows in by},
            source="hpmcast, Sections 5.4 and 6.1",
        )  # fmt: skip


def _means(own: pd.DataFrame, column: str, *variants: str) -> dict[str, float]:
    return {name: round(float(own[column][own.variant == name].mean()), 4) for name in variants}


def _intervals(own: pd.DataFrame, column: str, *variants: str) -> dict[str, list[float]]:
    return {name: mean_interval(own[column][own.variant == name]) for name in variants}


def _below(own: pd.DataFrame, column: str, less: str, more: str) -> bool:
    return below(*(own[column][own.variant == name] for name in (less, more)))


def _digests(at: str, own: pd.DataFrame) -> Claims:
    found = _means(own, "delivery", PLAIN, LAST)
    yield stated(
        f"{at}: delivery as it is, and with 10 rounds of digests (more than {CLEARLY} above)",
        "hpmcast, Section 5.4.1: an exchange of digests improves the behaviour for small p; the bound is "
        "ours", "better", found, found[LAST] > found[PLAIN] + CLEARLY,
        interval=_intervals(own, "delivery", PLAIN, LAST),
    )  # fmt: skip


def _adjusted(at: str, own: pd.DataFrame) -> Claims:
    matched, found = (_means(own, column, PLAIN, ADJUSTED) for column in ("filtered", "delivery"))
    yield stated(
        f"{at}: filterings per participant with a matched and with an adjusted share (fewer, beyond chance)",
        "hpmcast, Sections 5.1.2 and 6.1.1: matching all is costly; instead an estimate is adjusted", "fewer",
        matched, _below(own, "filtered", ADJUSTED, PLAIN),
        interval=_intervals(own, "filtered", PLAIN, ADJUSTED),
    )  # fmt: skip
    yield stated(
        f"{at}: delivery with a matched and with an adjusted share (at most {CLEARLY} less)",
        "hpmcast, Section 6.1.1: the estimate improves by adjusting; the bound is ours", "as good", found,
        found[ADJUSTED] >= found[PLAIN] - CLEARLY, interval=_intervals(own, "delivery", PLAIN, ADJUSTED),
    )  # fmt: skip


def _broadcast(at: str, own: pd.DataFrame) -> Claims:
    found, sent = (_means(own, column, PLAIN, BROADCAST) for column in ("delivery", "messages"))
    yield stated(
        f"{at}: delivery with gossip and with broadcast at level 1 (better), and messages per participant "
        "(fewer), both beyond chance", f"hpmcast, Section 6.1.2 names it; {OURS}", "better and fewer",
        {"delivery": found, "messages": sent},
        _below(own, "delivery", PLAIN, BROADCAST) and _below(own, "messages", BROADCAST, PLAIN),
        interval=_intervals(own, "delivery", PLAIN, BROADCAST),
    )  # fmt: skip


def _acknowledged(at: str, own: pd.DataFrame) -> Claims:
    if (own.loss == 0).all():
        return  # without loss nothing is sent again
    found = _means(own, "delivery", PLAIN, ABOVE, EVERYWHERE)
    sent = _means(own, "messages", PLAIN, ABOVE, EVERYWHERE)
    gains = [(found[name] - found[PLAIN]) / (sent[name] - sent[PLAIN]) for name in (ABOVE, EVERYWHERE)]
    yield stated(
        f"{at}: delivery gained per message more, with acknowledgements at level 3 and at all levels (more "
        "at level 3)",
        "hpmcast, Section 6.1.2: more reliability is very advantageous at the upmost level, whose misses "
        "isolate subsystems", "more", {ABOVE: round(gains[0], 3), EVERYWHERE: round(gains[1], 3)},
        gains[0] > gains[1], interval=_intervals(own, "delivery", PLAIN, ABOVE, EVERYWHERE),
    )  # fmt: skip


def charts(tables: Tables) -> Sheet:
    """Delivery and messages by variant."""
    table = tables["improvements"]
    variants = list(dict.fromkeys(table.variant))
    placed = table.assign(place=[variants.index(name) for name in table.variant])
    labels = {"delivery": "probability of delivery", "messages": "messages per participant"}

    def name(loss: float) -> str:
        return f"{100 * loss:.0f} % of the messages lost"

    found = [
        Chart(
            label, "", label, curves(placed, "place", column, "loss", label=name, shape="bars"),
            ticks=dict(enumerate(variants)), bottom=0.5 if column == "delivery" else None,
        )
        for column, label in labels.items()
    ]  # fmt: skip
    return Sheet(found, note="paper: digests and a larger audience improve small p (no numbers)")


REPRODUCTIONS = {"hpmcast-improvements": (plan, judge, charts)}
