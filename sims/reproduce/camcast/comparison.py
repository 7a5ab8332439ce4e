"""Tables 1 and 2 of CAMCAST: rounds to reach all processes, and parasite events, beside other protocols.

Readings
--------
- Rounds of CAMCAST: three choices are open, which makes eight readings. ln N + c targets are rounded down
  (which Table 2 needs) or up; the last round, in which no process receives anything, counts or not; and the
  mean is over all runs, or over those in which the event reached the root (Section 4.6.1). Over all runs,
  rounded up and with the silent round was also the best of 144 readings in an independent simulation (8.60,
  9.09, 13.52).
- The paper computed its rows (2) and (3) from equations that it does not print. Row (2) is simulated here.
  Row (3) needs a fan-out that the paper does not name; 4 is the nearest whole number, so it is an
  observation.
- Parasite events are messages that arrive at processes that the event does not concern, duplicates included.
  Only this definition gives the paper's numbers for plain gossip. CAMCAST has none by construction, which is
  not judged.
- Row (3) of Table 2 is simulated: hpmcast on three levels with R = 3 and F = 4, interests spread at random.
  The paper's setting is not known, so only the order of the protocols is judged, not the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import pandas as pd

from hierarchy import hpmcast
from hierarchy.camcast import Communities, Spread, StaticTables, TopicSettings, disseminate, parameters
from hierarchy.gossip import GossipBroadcast
from hierarchy.hpmcast.analysis import expected_rounds, rounds_to_everybody
from hierarchy.hpmcast.analysis.chain import reach_probability
from sims.reproduce.camcast.sweep import P_SUCCESS, dice_for, lossy_network, random_publisher
from sims.reproduce.claims import Claims, Found, claim, mean_interval, rounded
from sims.reproduce.reproduction import Tables
from workloads.charts.chart import Chart, Series, Sheet
from workloads.statistics.intervals import below, interval_of_mean

TOPOLOGIES = {"1000-100-10": (10, 100, 1000), "3 x 100": (100,) * 3, "5 x 100": (100,) * 5}
PMCAST_FANOUT = 4
ROUNDS = {"CAMCAST": [8.91, 8.83, 13.08], "gossip": [4.63, 4.39, 4.31], "PMcast": [6.61, 5.44, 5.89]}
PARASITES = {"CAMCAST": [0, 0, 0], "gossip": [11216, 1699, 3739], "PMcast": [453, 369, 615]}
READINGS = {  # rounding, silent rounds, whether over all runs
    f"rounded {way}{', silent round counted' * silent}{', all runs' * over_all}": (way, silent, over_all)
    for over_all in (False, True)
    for way in ("down", "up")
    for silent in (0, 1)
}
NEAREST = "rounded up, silent round counted, all runs"
TABLE1, TABLE2 = "CAMCAST, Section 6.1.2, Table 1", "CAMCAST, Section 6.1.2, Table 2"


def rounds(topology: str, protocol: str, rounding: str, seed: int, runs: int) -> pd.DataFrame:
    """A row per run."""
    sizes = TOPOLOGIES[topology]
    spreads = _spreads(protocol, rounding, Communities.chain(*sizes), len(sizes) - 1, seed, runs)
    rows = [(spread.rounds, bool(spread.delivered[0])) for spread in spreads]
    return pd.DataFrame(rows, columns=["rounds", "reached_root"])


def parasites(topology: str, protocol: str, seed: int, runs: int) -> pd.DataFrame:
    """A row per run."""
    sizes = TOPOLOGIES[topology]
    group = Communities.chain(*sizes)
    if protocol == "PMcast":
        found = list(_pmcast_parasites(len(group), sizes[0], seed, runs))
    else:
        found = [spread.parasites(group, 0) for spread in _spreads(protocol, "down", group, 0, seed, runs)]
    return pd.DataFrame({"parasites": found})


def _spreads(
    protocol: str, rounding: str, communities: Communities, topic: int, seed: int, runs: int
) -> Iterator[Spread]:
    if protocol == "CAMCAST":
        settings = TopicSettings(rounding="up" if rounding == "up" else "down")
        draw, own = StaticTables(communities, settings).draw, parameters(communities.sizes, settings)
    else:
        gossip = GossipBroadcast(communities)
        draw, own = partial(gossip.tables, topic), gossip.parameters(topic)
    network = lossy_network(len(communities))
    for run in range(runs):
        publisher = random_publisher(communities, topic, network, dice_for("camcast comparison", seed, run))
        yield disseminate(draw(seed, run), own, publisher, seed=seed, event=run, network=network)


def _pmcast_parasites(n: int, interested: int, seed: int, runs: int) -> Iterator[int]:
    """Parasite messages of PMcast among n processes of which some, chosen at random, are interested."""
    space = hpmcast.AddressSpace((ceil(n ** (1 / 3)),) * 3)
    network = lossy_network(n)
    for run in range(runs):
        dice = dice_for("camcast pmcast", seed, run)
        wanted = np.zeros(n, np.uint8)
        wanted[dice.choice(n, interested, replace=False)] = 1
        system = hpmcast.Population.scattered(space, n, seed=int(dice.integers(2**31)))
        gossip = hpmcast.Gossip(fanout=PMCAST_FANOUT, loss=network.loss)
        views, hit = hpmcast.exact_knowledge(system).views(), hpmcast.spread_interest(system, wanted)
        publisher = int(np.flatnonzero(wanted)[0])
        outcome = hpmcast.disseminate(views, hit, publisher, gossip, network=network, seed=seed, event=run)
        yield int(outcome.trace.received[wanted == 0].sum())


def mean_rounds(runs: pd.DataFrame, reading: str) -> list[pd.Series[float]]:
    """CAMCAST's rounds in each run that counts, by topology, in one reading."""
    rounding, silent, over_all = READINGS[reading]
    own = runs[(runs.rounding == rounding) & (runs.reached_root.astype(bool) | over_all)]
    return [rounds + silent for rounds in _by_protocol(own, "CAMCAST", "rounds")]


def _by_protocol(runs: pd.DataFrame, protocol: str, column: str) -> list[pd.Series[float]]:
    """The runs of a protocol, by topology."""
    own = runs[runs.protocol == protocol]
    return [own[column][own.topology == topology] for topology in TOPOLOGIES]


def _means(samples: Sequence[pd.Series[float]]) -> list[float]:
    return [float(values.mean()) for values in samples]


def _by_topology(values: Sequence[float], digits: int = 2) -> dict[str, float]:
    return rounded(dict(zip(TOPOLOGIES, values, strict=True)), digits)


def judge_rounds(tables: Tables) -> Claims:
    """CAMCAST in eight readings; plain gossip; PMcast as an observation; what levels cost."""
    runs = tables["runs"]
    gossip, found = _by_protocol(runs, "gossip", "rounds"), {k: mean_rounds(runs, k) for k in READINGS}
    for reading, own in found.items():
        yield _beside("rounds", own, ROUNDS["CAMCAST"], reading=reading)
    yield _beside("gossip", gossip, ROUNDS["gossip"])
    camcast, plain = (float(own[2].mean() / own[1].mean()) for own in (found["rounded down"], gossip))
    growth = {"CAMCAST": round(camcast, 2), "gossip": round(plain, 2)}
    totals, loss = [sum(sizes) for sizes in TOPOLOGIES.values()], 1 - P_SUCCESS
    formula = [expected_rounds(n, PMCAST_FANOUT, loss=loss) for n in totals]
    chain = [rounds_to_everybody(n, reach_probability(n, 5, loss=loss)) for n in totals]
    yield claim("levels", growth, camcast > 1.3 and plain < 1.1)
    yield claim("pittel", _by_topology(formula))
    yield claim("chain", _by_topology(chain))


def _beside(key: str, samples: Sequence[pd.Series[float]], paper: Sequence[float], **words: str) -> Found:
    """A claim that the means of all topologies are near the paper's."""
    own, digits = _means(samples), 2 if max(paper) < 100 else 1
    off = np.abs(np.array(own) / np.array(paper) - 1)
    ends = [mean_interval(values, 2 if digits == 2 else 0) for values in samples]
    return claim(key, _by_topology(own, digits), off, interval=ends, paper=_by_topology(paper), **words)


def judge_parasites(tables: Tables) -> Claims:
    """Plain gossip's numbers, and the order of the three."""
    runs = tables["runs"]
    by = {name: _by_protocol(runs, name, "parasites") for name in PARASITES}
    fewer = all(
        below(least, more)
        for least, more in (*zip(by["CAMCAST"], by["PMcast"], strict=True),
                            *zip(by["PMcast"], by["gossip"], strict=True))
    )  # fmt: skip
    yield _beside("gossip_parasites", by["gossip"], PARASITES["gossip"])
    yield claim("order", _by_topology(_means(by["PMcast"]), 1), fewer)
    yield claim("none", _by_topology(_means(by["CAMCAST"])))


def _sheet(
    rows: Mapping[str, tuple[list[pd.Series[float]], Sequence[float]]], label: str, **options: Any
) -> Sheet:
    """Means of what was measured beside the paper's, by protocol and topology."""
    places, series = range(len(TOPOLOGIES)), []
    for i, (name, (runs, paper)) in enumerate(rows.items()):
        ends = dict(zip(("low", "high"), np.array([interval_of_mean(own) for own in runs]).T, strict=True))
        series.append(Series(f"{name}, measured", places, _means(runs), "bars", look=i, **ends))
        series.append(Series(f"{name}, paper", places, paper, "bars", look=i, style="faint"))
    ticks = dict(enumerate(TOPOLOGIES))
    return Sheet(
        [Chart("", "communities, bottom to root", label, series, ticks=ticks, values=True, **options)]
    )


def charts_rounds(tables: Tables) -> Sheet:
    """Rounds of each protocol, and the paper's."""
    runs = tables["runs"]
    rows: dict[str, tuple[list[pd.Series[float]], Sequence[float]]] = {
        f"CAMCAST, {reading}": (mean_rounds(runs, reading), ROUNDS["CAMCAST"])
        for reading in ("rounded down", NEAREST)
    }
    rows["gossip"] = (_by_protocol(runs, "gossip", "rounds"), ROUNDS["gossip"])
    totals = [sum(sizes) for sizes in TOPOLOGIES.values()]
    formula = [pd.Series([expected_rounds(n, PMCAST_FANOUT, loss=1 - P_SUCCESS)]) for n in totals]
    rows["PMcast (F fitted)"] = (formula, ROUNDS["PMcast"])
    return _sheet(rows, "rounds (mean)")


def charts_parasites(tables: Tables) -> Sheet:
    """Parasite events of each protocol, and the paper's."""
    found = {name: (_by_protocol(tables["runs"], name, "parasites"), PARASITES[name]) for name in PARASITES}
    return _sheet(found, "parasite events (mean)", linear=100)
