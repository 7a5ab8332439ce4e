"""What hpmcast names as improvements and does not build, beside the algorithm (Sections 5.4.1, 6.1).

n = 22^3, l = 3, R = 3, F = 2, c = 0, Figure 6 by the prose, where small audiences suffer; a tenth
interested, with and without a fifth of the messages lost.

- *Digests* (Section 5.4.1): after dissemination, identifiers of events are gossiped, and what is missing is
  asked for (`hierarchy.hpmcast.digests`).
- *Estimated share* (Section 6.1.1): a level's share of interested entries by equation 19 from the true p,
  which no participant knows; and *adjusted share*: estimated from the level above by equation 19 and adjusted
  by who matches, which every participant can do (`Gossip.adaptive`).
- *Broadcast below* (Section 6.1.2): another medium at level 1, a broadcast in each group
  (`hierarchy.hpmcast.media`). The paper says that it could be used, not what it brings: the bound is ours.
- *Acknowledged above* (Section 6.1.2): a more reliable protocol at the upmost level, where messages are
  acknowledged and sent again up to twice; beside it, at every level.
- *Audience* (Section 5.4.2): the paper's own choice, D = 10, for comparison.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np
import pandas as pd

from hierarchy.hpmcast import Gossip, disseminate, spread_interest
from hierarchy.hpmcast.analysis import Regular
from hierarchy.hpmcast.digests import DigestSettings, exchange_digests
from hierarchy.hpmcast.media import broadcast_below
from sims.figures.style import COLOURS, figure, legend_above
from sims.reproduce.claims import OURS, Claim, below, interval_of_mean, observed, stated
from sims.reproduce.hpmcast.trials import hierarchy
from sims.reproduce.registry import register
from sims.reproduce.reproduction import Figures, Measured, Progress, Tables
from sub2sub.overlay.network import Network

A, LEVELS, REDUNDANCY, P = 22, 3, 3, 0.1
LOSSES = (0.0, 0.2)
PLAIN, ESTIMATED, ADJUSTED = "as it is", "true p, equation 19", "adjusted share"
AUDIENCE, BROADCAST = "audience, D = 10", "broadcast at level 1"
ABOVE, EVERYWHERE = "acknowledged at level 3", "acknowledged at all levels"
AGAIN = 2  # times a message is sent again
DIGESTS = {f"digests, {rounds} rounds": DigestSettings(rounds) for rounds in (2, 5, 10)}
LAST = list(DIGESTS)[-1]
CLEARLY = 0.05
COSTS = ("delivery", "messages", "filtered", "parasites")


def measure(quick: bool, seed: int, progress: Progress) -> Measured:
    """Every improvement on the same events: a row per event."""
    events = 10 if quick else 200
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
        ADJUSTED: disseminate(views, hit, publisher, Gossip(loss=loss, adaptive=True), **given),
        ABOVE: disseminate(views, hit, publisher, Gossip(loss=loss, retries=AGAIN, reliable=LEVELS), **given),
        EVERYWHERE: disseminate(views, hit, publisher, Gossip(loss=loss, retries=AGAIN), **given),
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
    """What each improvement gains, and what it costs."""
    claims = []
    for loss, own in tables["improvements"].groupby("loss"):
        for claim in (_digests, _adjusted, _broadcast, _acknowledged):
            claims += claim(f"{100 * loss:.0f} % lost, p = {P}", own)
        by = own.groupby("variant", sort=False)
        claims.append(
            observed(
                f"{100 * loss:.0f} % lost: delivery, messages and filterings per participant, share of "
                "uninterested participants reached, by variant",
                "hpmcast, Sections 5.4 and 6.1",
                {str(name): [round(float(v), 3) for v in rows[list(COSTS)].mean()] for name, rows in by},
            )
        )  # fmt: skip
    return claims


def _means(own: pd.DataFrame, column: str, *variants: str) -> dict[str, float]:
    return {name: round(float(own[column][own.variant == name].mean()), 4) for name in variants}


def _intervals(own: pd.DataFrame, column: str, *variants: str) -> dict[str, list[float]]:
    return {name: interval_of_mean(own[column][own.variant == name]) for name in variants}


def _below(own: pd.DataFrame, column: str, less: str, more: str) -> bool:
    return below(*(own[column][own.variant == name] for name in (less, more)))


def _digests(at: str, own: pd.DataFrame) -> list[Claim]:
    found = _means(own, "delivery", PLAIN, LAST)
    return [
        stated(
            f"{at}: delivery as it is, and with 10 rounds of digests (more than {CLEARLY} above)",
            "hpmcast, Section 5.4.1: an exchange of digests improves the behaviour for small p; the bound "
            "is ours",
            "better", found, found[LAST] > found[PLAIN] + CLEARLY,
            interval=_intervals(own, "delivery", PLAIN, LAST),
        )
    ]  # fmt: skip


def _adjusted(at: str, own: pd.DataFrame) -> list[Claim]:
    matched, found = (_means(own, column, PLAIN, ADJUSTED) for column in ("filtered", "delivery"))
    return [
        stated(
            f"{at}: filterings per participant with a matched and with an adjusted share (fewer, "
            "beyond chance)",
            "hpmcast, Sections 5.1.2 and 6.1.1: matching all is costly; instead an estimate is adjusted",
            "fewer", matched, _below(own, "filtered", ADJUSTED, PLAIN),
            interval=_intervals(own, "filtered", PLAIN, ADJUSTED),
        ),
        stated(
            f"{at}: delivery with a matched and with an adjusted share (at most {CLEARLY} less)",
            "hpmcast, Section 6.1.1: the estimate improves by adjusting; the bound is ours", "as good", found,
            found[ADJUSTED] >= found[PLAIN] - CLEARLY,
            interval=_intervals(own, "delivery", PLAIN, ADJUSTED),
        ),
    ]  # fmt: skip


def _broadcast(at: str, own: pd.DataFrame) -> list[Claim]:
    found, sent = (_means(own, column, PLAIN, BROADCAST) for column in ("delivery", "messages"))
    return [
        stated(
            f"{at}: delivery with gossip and with broadcast at level 1 (better), and messages per "
            "participant (fewer), both beyond chance",
            f"hpmcast, Section 6.1.2 names it; {OURS}", "better and fewer",
            {"delivery": found, "messages": sent},
            _below(own, "delivery", PLAIN, BROADCAST) and _below(own, "messages", BROADCAST, PLAIN),
            interval=_intervals(own, "delivery", PLAIN, BROADCAST),
        )
    ]  # fmt: skip


def _acknowledged(at: str, own: pd.DataFrame) -> list[Claim]:
    if (own.loss == 0).all():
        return []  # without loss nothing is sent again
    found = _means(own, "delivery", PLAIN, ABOVE, EVERYWHERE)
    sent = _means(own, "messages", PLAIN, ABOVE, EVERYWHERE)
    gains = [(found[name] - found[PLAIN]) / (sent[name] - sent[PLAIN]) for name in (ABOVE, EVERYWHERE)]
    return [
        stated(
            f"{at}: delivery gained per message more, with acknowledgements at level 3 and at all levels "
            "(more at level 3)",
            "hpmcast, Section 6.1.2: more reliability is very advantageous at the upmost level, whose misses "
            "isolate subsystems",
            "more", {ABOVE: round(gains[0], 3), EVERYWHERE: round(gains[1], 3)}, gains[0] > gains[1],
            interval=_intervals(own, "delivery", PLAIN, ABOVE, EVERYWHERE),
        )
    ]  # fmt: skip


def draw(tables: Tables) -> Figures:
    """Delivery and messages by variant."""
    table = tables["improvements"]
    fig, panels = figure(1, 2, figsize=(13.2, 5.2))
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
    legend_above(fig, panels[0], 2, title="paper: digests and a larger audience improve small p (no numbers)")
    return {"": fig}


register(
    "hpmcast-improvements",
    "Digests, other media and estimated shares, which the paper names and does not build",
    measure=measure, judge=judge, draw=draw,
)  # fmt: skip
