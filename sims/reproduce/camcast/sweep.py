"""The simulations of CAMCAST Section 6.1: runs over static tables against the share of failed processes.

Setting: communities of 1000, 100 and 10 (g below d below a, the root), c = 5, g = 5, a = 1, z = 3, a
message arrives with probability 0.85, a random live process of g publishes, tables are drawn anew for
each run. The share of failed processes is each process's own chance, the paper's "probability for a
process to crash".

Models of failure, each a reading of the paper or a part of one:

- `crashed`: dead from the start, to everybody, and still in the tables: messages go to the dead. The text of
  Section 6.1.1, taken literally.
- `avoided`: dead from the start, and senders choose among the entries that are alive, in super-topic tables
  too.
- `seeming` (Figures 17 and 18): all are alive, but missing from a table with that chance.

Topic tables have ln N + c entries (CAMCAST), so that all of them are targets, or (b + 1) ln N with b = 3 (the
technical report), of which ln N + c are chosen. `gossip` is gossip broadcast among all 1110 processes,
crashed ones included: the approach that Section 1.4 compares with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy.camcast import (
    Communities,
    Parameters,
    StaticTables,
    Tables,
    TopicSettings,
    disseminate,
    parameters,
    thin,
)
from hierarchy.gossip import GossipBroadcast
from sims.reproduce.reproduction import Measured, Progress
from sub2sub.kernels.randomness import cycle_key, stream_number
from sub2sub.overlay.network import Network

SIZES = (10, 100, 1000)
LEVELS = ("a", "d", "g")  # the paper's names of the three topics, the root first
P_SUCCESS = 0.85
IDEAL, REPORT, GOSSIP = "tables of ln N + c", "tables of (b + 1) ln N, b = 3", "gossip broadcast"
MODELS = {
    IDEAL: ("crashed", "seeming"),
    REPORT: ("crashed", "avoided", "seeming"),
    GOSSIP: ("crashed",),
}


class Known(NamedTuple):
    """Tables of one run and what the dissemination kernel needs beside them."""

    name: str
    tables: Tables
    parameters: Parameters


def sweep(quick: bool, seed: int, progress: Progress) -> Measured:
    """Run the setting of Section 6.1 for failed shares from 0 to 0.9: a row per run and community."""
    communities = Communities.chain(*SIZES)
    shares = np.linspace(0, 0.9, 10 if quick else 19)
    runs = 40 if quick else 100
    frames = []
    for run in range(runs):
        dice = np.random.default_rng(int(cycle_key(seed, stream_number("camcast sweep"), run)))
        fate = dice.random(len(communities))
        for known in _tables(communities, seed, run):
            for model in MODELS[known.name]:
                for share in shares:
                    row = _run(communities, known, model, float(share), fate, seed, run, dice)
                    frames.append(row.assign(tables=known.name, model=model, failed=share, run=run))
        progress(run + 1, runs)
    scale = f"{sum(SIZES):,} processes in communities of {', '.join(map(str, reversed(SIZES)))}, {runs} runs"
    return Measured({"sweep": pd.concat(frames, ignore_index=True)}, scale)


def _tables(communities: Communities, seed: int, run: int) -> Iterator[Known]:
    for name, settings in ((IDEAL, TopicSettings()), (REPORT, TopicSettings(b=3))):
        tables = StaticTables(communities, settings).draw(seed, run)
        yield Known(name, tables, parameters(communities.sizes, settings))
    gossip, bottom = GossipBroadcast(communities), len(SIZES) - 1
    yield Known(GOSSIP, gossip.tables(bottom, seed, run), gossip.parameters(bottom))


def _run(
    communities: Communities,
    known: Known,
    model: str,
    share: float,
    fate: NDArray[np.float64],
    seed: int,
    run: int,
    dice: np.random.Generator,
) -> pd.DataFrame:
    network = Network.whole(len(communities))
    network.loss = 1 - P_SUCCESS
    tables = known.tables
    if model == "seeming":
        tables = thin(tables, share, seed, run)
    else:
        network.alive[:] = fate >= share
        tables = _without(tables, network.alive) if model == "avoided" else tables
    publisher = random_publisher(communities, len(SIZES) - 1, network, dice)
    spread = disseminate(tables, known.parameters, publisher, seed=seed, event=run, network=network)
    return pd.DataFrame(
        {
            "community": LEVELS,
            "alive": np.bincount(communities.topic[network.alive == 1], minlength=len(SIZES)),
            "received": spread.delivered,
            "sent": spread.sent,
            "upward": spread.upward,
            "upward_arrived": spread.upward_arrived,
        }
    )


def _without(tables: Tables, alive: NDArray[np.uint8]) -> Tables:
    """Tables without the dead; super-topic tables repeat the living, so that links send as much."""
    upward = _living(tables.super_table, alive)
    count = np.maximum((upward >= 0).sum(axis=-1, keepdims=True), 1)
    repeated = np.take_along_axis(upward, np.arange(upward.shape[-1]) % count, axis=-1)
    return Tables(tables.topic, _living(tables.topic_table, alive), repeated)


def _living(table: NDArray[np.int32], alive: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Rows of the living, packed to the left."""
    kept = np.where((table >= 0) & (alive[table] == 1), table, -1)
    return np.take_along_axis(kept, np.argsort(kept < 0, axis=-1, kind="stable"), axis=-1)


def chosen(table: pd.DataFrame, tables: str, model: str) -> pd.DataFrame:
    """The rows of one kind of tables and one model, with reception and everybody's reception per run."""
    own = table[(table.tables == tables) & (table.model == model) & (table.alive > 0)]
    reception = own.received / own.alive
    return own.assign(reception=reception, everybody=(reception == 1.0).astype(float))


def random_publisher(
    communities: Communities, topic: int, network: Network, dice: np.random.Generator
) -> int:
    """A live member of a community, chosen at random."""
    members = communities.community(topic)
    return int(dice.choice(members[network.alive[members] == 1]))
