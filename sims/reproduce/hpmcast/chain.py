"""The Markov chain of infected participants against simulation (hpmcast, equations 1 to 9).

rfpbcast in a system of 100, and pmcast in one of 200 of which half are interested, F = 2, no loss and with
loss; the number of infected participants round by round. Gossip has as many rounds as the figure shows.

Result: the means of the chain equal those of gossip or lag a little, but its distribution is far too wide. In
the chain each participant is reached independently, as if the number of targets varied; gossip chooses
exactly F targets.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy.hpmcast import Gossip, disseminate, spread_interest
from hierarchy.hpmcast.analysis import infected_distribution, reach_probability
from sims.reproduce.claims import Claims, claim, rounded
from sims.reproduce.hpmcast.trials import hierarchy
from sims.reproduce.reproduction import Tables
from sub2sub.compiled.common.network import Network
from workloads.charts.chart import Series

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


def unit(case: str, runs: int, seed: int) -> dict[str, pd.DataFrame]:
    """One case, simulated and by the chain."""
    p, loss = CASES[case]
    counts = _simulate(p, loss, runs, seed)
    # SYSTEM = n p participants are interested, and the fanout among them is F p (equation 6).
    chances = infected_distribution(SYSTEM, reach_probability(SYSTEM, FANOUT * p, loss), ROUNDS)
    expected = chances @ np.arange(SYSTEM + 1)
    error = counts.std(axis=0, ddof=1) / np.sqrt(runs)
    own = {"round": np.arange(ROUNDS + 1), "simulated": counts.mean(axis=0)}
    middle = int(np.abs(expected - SYSTEM / 2).argmin())
    seen = np.bincount(counts[:, middle], minlength=SYSTEM + 1) / runs
    spread = {"round": middle, "infected": np.arange(SYSTEM + 1), "simulated": seen, "chain": chances[middle]}
    return {
        "means": pd.DataFrame({**own, "error": error, "chain": expected}),
        "spreads": pd.DataFrame(spread),
    }


def judge(tables: Tables) -> Claims:
    """Means round by round, at the end, and the width of the distribution."""
    by = tables["means"].groupby("case", sort=False)
    off = {str(case): (own.simulated - own.chain).abs() / SYSTEM for case, own in by}
    most = {case: own.max() for case, own in off.items()}
    last = {case: own.iloc[-1] for case, own in off.items()}
    yield claim("means", rounded(most), list(most.values()))
    yield claim("last", rounded(last), list(last.values()))
    for case, own in tables["spreads"].groupby("case", sort=False):
        seen, chain = (_deviation(own[name].to_numpy()) for name in ("simulated", "chain"))
        yield claim("deviation", round(seen, 2), abs(seen / chain - 1), paper=round(chain, 2), case=case)


def infected(means: pd.DataFrame) -> list[Series]:
    """The share that is infected by round, simulated and by the chain."""
    found = []
    for k, (case, own) in enumerate(means.groupby("case", sort=False)):
        share, reach = own.simulated / SYSTEM, 1.96 * own.error / SYSTEM
        ends = {"low": share - reach, "high": share + reach}
        found.append(Series(f"{case}, simulated", own["round"], share, "points", look=k, **ends))
        chain = own.chain / SYSTEM
        found.append(Series(f"{case}, the paper's chain", own["round"], chain, look=k, style="plain"))
    return found


def spread(rows: pd.DataFrame) -> list[Series]:
    """The distribution, simulated and by the chain."""
    seen = Series("", rows.infected, rows.simulated, "points", look=0)
    return [seen, Series("", rows.infected, rows.chain, look=0, style="plain")]
