"""What hpmcast names as improvements and does not build, beside the algorithm (Sections 5.4.1, 6.1).

n = 22^3, l = 3, R = 3, F = 2, c = 0, Figure 6 by the prose, where small audiences suffer; a tenth
interested, with and without a fifth of the messages lost.

- *Digests* (Section 5.4.1): after dissemination, identifiers of events are gossiped, and what is missing is
  asked for (`hierarchy.hpmcast.digests`).
- *Estimated share* (Section 6.1.1): a level's share of interested entries by equation 19 instead of matching
  the event against all of them.
- *Broadcast below* (Section 6.1.2): another medium at level 1, a broadcast in each group
  (`hierarchy.hpmcast.media`).
- *Audience* (Section 5.4.2): the paper's own choice, D = 10, for comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import pandas as pd

from hierarchy.hpmcast import Gossip, disseminate, spread_interest
from hierarchy.hpmcast.analysis import Regular
from hierarchy.hpmcast.digests import DigestSettings, exchange_digests
from hierarchy.hpmcast.media import broadcast_below
from sims.figures.style import COLOURS, figure, legend_above
from sims.reproduce.claims import Claim, interval_of_mean, observed, stated
from sims.reproduce.hpmcast.trials import hierarchy
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Measured, Progress, Tables
from sub2sub.overlay.network import Network

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["judge"]

A, LEVELS, REDUNDANCY, P = 22, 3, 3, 0.1
LOSSES = (0.0, 0.2)
PLAIN, ESTIMATED, AUDIENCE = "as it is", "share by equation 19", "audience, D = 10"
BROADCAST = "broadcast at level 1"
DIGESTS = {f"digests, {rounds} rounds": DigestSettings(rounds) for rounds in (2, 5, 10)}
LAST = list(DIGESTS)[-1]
CLEARLY, HIGH = 0.05, 0.99
COSTS = ("delivery", "messages", "filtered", "parasites")


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Every improvement on the same events: a row per event."""
    events = 10 if quick else 60
    rows = []
    for event in range(events):
        for loss in LOSSES:
            rows += _event(seed, event, loss)
        progress(event + 1, events)
    table = pd.DataFrame(rows, columns=["loss", "variant", "delivery", "messages", "filtered", "parasites"])
    return Measured({"improvements": table}, f"{A**LEVELS:,} participants, p = {P}, {events} events")


class Given(TypedDict):
    """What dissemination and repair of one event have in common."""

    network: Network
    seed: int
    event: int


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
    given = Given(network=network, seed=seed, event=event)
    plain = disseminate(views, hit, publisher, Gossip(loss=loss), **given)
    outcomes = {
        PLAIN: plain,
        ESTIMATED: disseminate(views, hit, publisher, Gossip(loss=loss), shares=shares, **given),
        AUDIENCE: disseminate(views, hit, publisher, Gossip(loss=loss, audience=10), **given),
        BROADCAST: broadcast_below(views, hit, publisher, Gossip(loss=loss), **given),
        **{name: exchange_digests(views, hit, plain, how, **given)[0] for name, how in DIGESTS.items()},
    }
    return [
        (
            loss, name, outcome.trace.delivery(interested), float(outcome.trace.sent.mean()),
            float(outcome.filtered.mean()),
            outcome.trace.parasites(interested) / population.n,
        )
        for name, outcome in outcomes.items()
    ]  # fmt: skip


def judge(tables: Tables) -> list[Claim]:
    """What digests gain, and what they cost."""
    claims = []
    for loss, own in tables["improvements"].groupby("loss"):
        by = own.groupby("variant", sort=False)
        mean = by.delivery.mean()
        claims += [
            stated(
                f"{100 * loss:.0f} % lost, p = {P}: delivery as it is, and with 10 rounds of digests (more "
                f"than {CLEARLY} "
                f"above, and at least {HIGH})",
                "hpmcast, Section 5.4.1: an exchange of digests improves the behaviour for small p; the "
                "bounds are ours",
                "better", [round(float(mean[PLAIN]), 4), round(float(mean[LAST]), 4)],
                mean[LAST] > mean[PLAIN] + CLEARLY and mean[LAST] >= HIGH,
                interval=[interval_of_mean(own.delivery[own.variant == name]) for name in (PLAIN, LAST)],
            ),
            stated(
                f"{100 * loss:.0f} % lost, p = {P}: delivery with gossip and with broadcast at level 1 "
                "(better), and "
                "messages per participant (fewer)",
                "hpmcast, Section 6.1.2: a broadcast at the lowest level instead of gossip",
                "better and fewer",
                [[round(float(by[column].mean()[name]), 4) for name in (PLAIN,
                BROADCAST)] for column in COSTS[:2]],
                mean[BROADCAST] > mean[PLAIN] and by.messages.mean()[BROADCAST] < by.messages.mean()[PLAIN],
                interval=[interval_of_mean(own.delivery[own.variant == name]) for name in (PLAIN, BROADCAST)],
            ),
            observed(
                f"{100 * loss:.0f} % lost: delivery, messages and filterings per participant, share of "
                "uninterested "
                "participants reached, by variant",
                "hpmcast, Sections 5.4 and 6.1",
                {str(name): [round(float(v), 3) for v in rows[list(COSTS)].mean()] for name, rows in by},
            ),
        ]  # fmt: skip
    return claims


def draw(tables: Tables) -> Mapping[str, Figure]:
    """Delivery and messages by variant."""
    table = tables["improvements"]
    fig, panels = figure(1, 2, figsize=(11.6, 4.8))
    variants = list(dict.fromkeys(table.variant))
    for axes, column, label in (
        (panels[0], "delivery", "probability of delivery"),
        (panels[1], "messages", "messages per participant"),
    ):
        for i, (loss, own) in enumerate(table.groupby("loss")):
            by = own.groupby("variant")[column]
            places = np.arange(len(variants)) + 0.4 * (i - 0.5)
            name = f"{100 * loss:.0f} % of the messages lost"
            axes.bar(
                places,
                by.mean()[variants],
                0.4,
                yerr=1.96 * by.sem()[variants],
                color=COLOURS[i],
                label=name,
                capsize=3,
            )
        axes.set_xticks(range(len(variants)), variants, rotation=25, ha="right", fontsize=9)
        axes.set(ylabel=label)
    panels[0].set_ylim(0.5, 1.01)
    legend_above(fig, panels[0], 2)
    return {"": fig}


register(
    "hpmcast-improvements",
    "Digests, broadcast below and estimated shares, which the paper names and does not build",
    measure=measure, judge=judge, draw=draw,
)  # fmt: skip
