"""Tables 1 and 2 of CAMCAST: rounds to reach everybody, and parasite events, beside other protocols.

Readings
--------
- Rounds: the round of the last first reception, averaged over the runs in which the event reached the
  root; an event that dies on the way has no number of rounds (Section 4.6.1). The silent round after the
  last reception is not counted.
- The paper computed its rows (2) and (3) from equations it does not print. Row (2) is simulated here. Row
  (3) of Table 1 is Pittel's formula, to which PMcast's analysis comes down when everybody is interested,
  with the same loss and a fan-out of 4; the paper does not name PMcast's fan-out.
- Parasite events: messages that arrive at processes the event does not concern, duplicates included. Only
  this gives the paper's numbers for plain gossip.
- Row (3) of Table 2 is simulated: hpmcast on three levels with R = 3 and F = 4, interests spread at random.
  The paper's setting is not known, so only the order of the protocols is judged, not the numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from pathlib import Path

import numpy as np

from hierarchy.camcast import Communities, Parameters, Spread, StaticTables, Tables, disseminate, parameters
from hierarchy.gossip import GossipBroadcast
from sims.figures.style import COLOURS, figure, styled
from sims.reproduce.camcast.sweep import P_SUCCESS, random_publisher
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.registry import Progress, experiment, part
from sub2sub.kernels.randomness import cycle_key, stream_number
from sub2sub.overlay.network import Network

__all__ = ["table1", "table2"]

TOPOLOGIES = {"1000-100-10": (10, 100, 1000), "3 x 100": (100,) * 3, "5 x 100": (100,) * 5}
PMCAST_FANOUT = 4

Rows = dict[str, list[float]]

ROUNDS: Rows = {"CAMCAST": [8.91, 8.83, 13.08], "gossip": [4.63, 4.39, 4.31], "PMcast": [6.61, 5.44, 5.89]}
PARASITES: Rows = {"CAMCAST": [0, 0, 0], "gossip": [11216, 1699, 3739], "PMcast": [453, 369, 615]}


@experiment("camcast-table1", title="Mean rounds to disseminate an event in all communities")
def table1(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Publish at the bottom, follow to the root."""
    runs = 300 if quick else 1000
    measured: Rows = {"CAMCAST": [], "gossip": [], "PMcast": []}
    for i, sizes in enumerate(TOPOLOGIES.values()):
        communities = Communities.chain(*sizes)
        bottom = len(sizes) - 1
        camcast = _camcast_runs(communities, bottom, seed, runs, part(progress, 2 * i, 6))
        measured["CAMCAST"].append(float(np.mean([s.rounds for s in camcast if s.delivered[0]])))
        gossip = _gossip_runs(communities, bottom, seed, runs, part(progress, 2 * i + 1, 6))
        measured["gossip"].append(float(np.mean([s.rounds for s in gossip])))
        measured["PMcast"].append(pmcast_rounds(len(communities)))
    _save(out, "camcast-table1", "rounds (mean)", ROUNDS, measured)
    claims = [
        _near("camcast-table1", f"mean rounds of {name}, within 10 %", ROUNDS[name], measured[name], 0.1)
        for name in measured
    ]
    growth = {name: round(measured[name][2] / measured[name][1], 2) for name in ("CAMCAST", "gossip")}
    claims.append(
        Claim(
            "camcast-table1",
            "levels cost CAMCAST rounds, and plain gossip none: growth from 3 x 100 to 5 x 100",
            {"CAMCAST": round(13.08 / 8.83, 2), "gossip": round(4.31 / 4.39, 2)},
            growth,
            growth["CAMCAST"] > 1.3 and growth["gossip"] < 1.1,
        )
    )
    return claims


@experiment("camcast-table2", title="Parasite events when publishing on the root")
def table2(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Publish on the root: everybody else is not concerned."""
    runs = 30 if quick else 100
    measured: Rows = {"CAMCAST": [], "gossip": [], "PMcast": []}
    for i, sizes in enumerate(TOPOLOGIES.values()):
        communities = Communities.chain(*sizes)
        for j, (name, run_all) in enumerate((("CAMCAST", _camcast_runs), ("gossip", _gossip_runs))):
            spreads = run_all(communities, 0, seed, runs, part(progress, 3 * i + j, 9))
            measured[name].append(float(np.mean([s.parasites(communities, 0) for s in spreads])))
        measured["PMcast"].append(
            pmcast_parasites(len(communities), sizes[0], seed, runs // 3, part(progress, 3 * i + 2, 9))
        )
    _save(out, "camcast-table2", "parasite events (mean)", PARASITES, measured)
    return [
        Claim(
            "camcast-table2",
            "CAMCAST sends no parasite event",
            PARASITES["CAMCAST"],
            measured["CAMCAST"],
            not any(measured["CAMCAST"]),
        ),
        _near(
            "camcast-table2",
            "parasite events of plain gossip, within 1 %",
            PARASITES["gossip"],
            measured["gossip"],
            0.01,
        ),
        Claim(
            "camcast-table2",
            "PMcast sends fewer parasite events than plain gossip, and CAMCAST fewer than both",
            PARASITES["PMcast"],
            [round(value, 1) for value in measured["PMcast"]],
            all(
                own < other < plain
                for own, other, plain in zip(
                    *(measured[name] for name in ("CAMCAST", "PMcast", "gossip")), strict=True
                )
            ),
        ),
    ]


def pmcast_parasites(n: int, interested: int, seed: int, runs: int, progress: Progress) -> float:
    """Mean parasite messages of PMcast among n processes of which some, chosen at random, are interested."""
    from hierarchy import hpmcast

    space = hpmcast.AddressSpace((ceil(n ** (1 / 3)),) * 3)
    network = Network.whole(n)
    network.loss = 1 - P_SUCCESS
    parasites = []
    for run in range(runs):
        dice = np.random.default_rng(int(cycle_key(seed, stream_number("camcast pmcast"), run)))
        wanted = np.zeros(n, np.uint8)
        wanted[dice.choice(n, interested, replace=False)] = 1
        system = hpmcast.Population.scattered(space, n, seed=int(dice.integers(2**31)))
        outcome = hpmcast.disseminate(
            hpmcast.exact_knowledge(system).views(),
            hpmcast.spread_interest(system, wanted),
            int(np.flatnonzero(wanted)[0]),
            hpmcast.Gossip(fanout=PMCAST_FANOUT, loss=network.loss),
            network=network,
            seed=seed,
            event=run,
        )
        parasites.append(int(outcome.trace.received[wanted == 0].sum()))
        progress(run + 1, runs)
    return float(np.mean(parasites))


def pmcast_rounds(n: int) -> float:
    """Expected rounds of PMcast among n processes that are all interested."""
    from hierarchy.hpmcast.analysis import expected_rounds

    return expected_rounds(n, PMCAST_FANOUT, loss=1 - P_SUCCESS)


def _camcast_runs(
    communities: Communities, topic: int, seed: int, runs: int, progress: Progress
) -> list[Spread]:
    static, params = StaticTables(communities), parameters(communities.sizes)
    return _runs(communities, topic, static.draw, params, seed, runs, progress)


def _gossip_runs(
    communities: Communities, topic: int, seed: int, runs: int, progress: Progress
) -> list[Spread]:
    gossip = GossipBroadcast(communities)
    return _runs(
        communities,
        topic,
        lambda seed, run: gossip.tables(topic, seed, run),
        gossip.parameters(topic),
        seed,
        runs,
        progress,
    )


def _runs(
    communities: Communities,
    topic: int,
    draw: Callable[[int, int], Tables],
    params: Parameters,
    seed: int,
    runs: int,
    progress: Progress,
) -> list[Spread]:
    network = Network.whole(len(communities))
    network.loss = 1 - P_SUCCESS
    spreads = []
    for run in range(runs):
        dice = np.random.default_rng(int(cycle_key(seed, stream_number("camcast comparison"), run)))
        publisher = random_publisher(communities, topic, network, dice)
        spreads.append(disseminate(draw(seed, run), params, publisher, seed=seed, event=run, network=network))
        progress(run + 1, runs)
    return spreads


def _near(id: str, claim: str, paper: list[float], measured: list[float], tolerance: float) -> Claim:
    off = np.abs(np.array(measured) / np.array(paper) - 1)
    return Claim(id, claim, paper, [round(m, 2) for m in measured], bool(off.max() <= tolerance))


def _save(out: Path, id: str, label: str, paper: Rows, measured: Rows) -> None:
    save_table(
        out,
        id.removeprefix("camcast-"),
        {
            "protocol": [name for name in measured for _ in TOPOLOGIES],
            "topology": [topology for _ in measured for topology in TOPOLOGIES],
            "paper": [value for name in measured for value in paper[name]],
            "measured": [value for name in measured for value in measured[name]],
        },
    )
    with styled():
        fig, axes = figure()
        places = np.arange(len(TOPOLOGIES))
        width = 0.8 / (2 * len(measured))
        for i, name in enumerate(measured):
            left = places - 0.4 + 2 * i * width + width / 2
            axes.bar(left, measured[name], width, color=COLOURS[i], label=f"{name}, measured")
            axes.bar(left + width, paper[name], width, color=COLOURS[i], alpha=0.4, label=f"{name}, paper")
            for x, value in zip(left, measured[name], strict=True):
                text = f"{value:.0f}" if value >= 100 else f"{value:.2f}"
                axes.annotate(text, (x, value), ha="center", va="bottom", fontsize=8)
        axes.set_xticks(places, list(TOPOLOGIES))
        axes.set(xlabel="communities, bottom to root", ylabel=label)
        axes.grid(axis="x", visible=False)
        axes.margins(y=0.3)
        axes.legend(fontsize=8, ncols=len(measured))
        save_figure(out, id, fig)
