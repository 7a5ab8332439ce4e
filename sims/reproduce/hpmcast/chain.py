"""The Markov chain of infected participants against simulation (hpmcast, equations 1 to 9).

rfpbcast in a system of 100, and pmcast in one of 200 of which half are interested, F = 2, no loss and with
loss; the number of infected participants round by round. Gossip has as many rounds as the figure shows.

What was found: the chain's means are those of gossip or lag a little, its distribution is far too wide. It
lets each participant be reached independently, as if a gossiper had now no target and now five; gossip
chooses exactly F.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hierarchy.hpmcast import Gossip, disseminate, spread_interest
from hierarchy.hpmcast.analysis import infected_distribution, reach_probability
from sims.figures.style import figure, line, styled
from sims.reproduce.claims import Claim, save_figure, save_table
from sims.reproduce.hpmcast.trials import hierarchy
from sims.reproduce.registry import Progress, experiment
from sub2sub.overlay.network import Network

__all__ = ["chain"]

FANOUT, ROUNDS, SYSTEM = 2, 14, 100
CASES = {"rfpbcast": (1.0, 0.0), "pmcast, p = 0.5": (0.5, 0.0), "pmcast, p = 0.5, 20 % loss": (0.5, 0.2)}


def _simulate(p: float, loss: float, runs: int, seed: int) -> NDArray[np.int64]:
    """Infected participants after each round, one row per run."""
    n = round(SYSTEM / p)
    population, views = hierarchy(n, 1, 1)
    interested = np.zeros(n, np.uint8)
    interested[:SYSTEM] = 1
    network = Network.whole(n)
    network.loss = loss
    gossip = Gossip(FANOUT, constant=float(ROUNDS))  # never short of rounds
    hit = spread_interest(population, interested)
    counts = np.empty((runs, ROUNDS + 1), np.int64)
    for run in range(runs):
        first = disseminate(views, hit, 0, gossip, network=network, seed=seed, event=run).trace.first
        reached = first[first >= 0]
        counts[run] = np.cumsum(np.bincount(reached, minlength=ROUNDS + 1))[: ROUNDS + 1]
    return counts


def _deviation(chances: NDArray[np.float64]) -> float:
    """Standard deviation of a number of participants."""
    numbers = np.arange(len(chances))
    mean = chances @ numbers
    return float(np.sqrt(chances @ (numbers - mean) ** 2))


@experiment("pmcast-chain", title="Infected participants: the Markov chain against simulation")
def chain(out: Path, quick: bool, seed: int, progress: Progress) -> list[Claim]:
    """Compare means round by round, and the distribution where it is widest."""
    runs = 1000 if quick else 10_000
    rounds = np.arange(ROUNDS + 1)
    ahead, off = {}, {}
    table: dict[str, list[str | float]] = {"case": [], "round": [], "simulated": [], "chain": []}
    with styled():
        fig, panels = figure(columns=2)
        for k, (name, (p, loss)) in enumerate(CASES.items()):
            counts = _simulate(p, loss, runs, seed)
            # SYSTEM = n p participants are interested, and the fanout among them is F p (equation 6).
            chances = infected_distribution(SYSTEM, reach_probability(SYSTEM, FANOUT * p, loss), ROUNDS)
            simulated, expected = counts.mean(axis=0), chances @ np.arange(SYSTEM + 1)
            line(panels[0], k, rounds, simulated / SYSTEM, name, linestyle="")
            line(panels[0], k, rounds, expected / SYSTEM, "", marker="")
            ahead[name] = round(float((simulated - expected).max() / SYSTEM), 3)
            off[name] = round(float(np.abs(simulated - expected)[-1] / SYSTEM), 4)
            table["case"] += [name] * len(rounds)
            table["round"] += rounds.tolist()
            table["simulated"] += simulated.tolist()
            table["chain"] += expected.tolist()
            if p == 1.0:
                middle = int(np.abs(expected - SYSTEM / 2).argmin())
                seen = np.bincount(counts[:, middle], minlength=SYSTEM + 1) / runs
                spread = [_deviation(seen), _deviation(chances[middle])]
                line(panels[1], 0, np.arange(SYSTEM + 1), seen, "simulated", markersize=3, linestyle="")
                line(panels[1], 1, np.arange(SYSTEM + 1), chances[middle], "chain", marker="")
                panels[1].set(xlabel="infected participants", ylabel="probability")
                panels[1].set_title(f"rfpbcast after round {middle}")
            progress(k + 1, len(CASES))
        panels[0].set(xlabel="round", ylabel="share of the interested infected")
        panels[0].set_title("simulated (points) and chain (lines)")
        panels[0].legend(fontsize=9, loc="lower right")
        panels[1].legend()
        save_figure(out, "pmcast-chain", fig)
    save_table(out, "infected", table)
    return [
        Claim(
            "pmcast-chain",
            "the chain gives the number of infected: largest lead of the simulation over it, as a share",
            "0",
            ahead,
            max(ahead.values()) < 0.1,
        ),
        Claim(
            "pmcast-chain",
            f"both end alike: difference after round {ROUNDS}, as a share of the interested",
            "0",
            off,
            max(off.values()) < 0.02,
        ),
        Claim(
            "pmcast-chain",
            "and its distribution: standard deviation where half are infected, within 20 %",
            round(spread[1], 1),
            round(spread[0], 1),
            bool(abs(spread[0] / spread[1] - 1) < 0.2),
        ),
    ]
