"""The simulations of CAMCAST Section 6.1: runs over static tables against the share of failed processes.

Setting: communities of 1000, 100 and 10 (g below d below a, the root), c = 5, g = 5, a = 1, z = 3, a
message arrives with probability 0.85, a random live process of g publishes, tables are drawn anew for
each run. The share of failed processes is each process's own chance, the paper's "probability for a
process to crash".

Models of failure, each a reading of the paper or a part of one:

- `crashed`: processes are dead from the start and still in the tables, so messages are sent to them. This is
  the text of Section 6.1.1, taken literally.
- `avoided`: processes are dead from the start, and senders choose among the live entries, in super-topic
  tables as well.
- `seeming` (Figures 17 and 18): all are alive, but missing from a table with that chance.

Topic tables have ln N + c entries (CAMCAST), which are all targets, or (b + 1) ln N entries with b = 3 (the
technical report), of which ln N + c are chosen. `gossip` is gossip broadcast among all 1110 processes,
crashed ones included, with which Section 1.4 compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierarchy import camcast
from hierarchy.gossip import GossipBroadcast
from sub2sub.compiled.common.network import Network
from sub2sub.peers.draws import cycle_key, stream_number

SIZES = (10, 100, 1000)
LEVELS = ("a", "d", "g")  # the paper's names of the three topics, the root first
P_SUCCESS = 0.85
BLOCK = 10  # runs of a unit
IDEAL, REPORT, GOSSIP = "tables of ln N + c", "tables of (b + 1) ln N, b = 3", "gossip broadcast"
MODELS = {
    IDEAL: ("crashed", "seeming"),
    REPORT: ("crashed", "avoided", "seeming"),
    GOSSIP: ("crashed",),
}


class Known(NamedTuple):
    """Tables of one run and what the dissemination kernel needs beside them."""

    name: str
    tables: camcast.Tables
    parameters: camcast.Parameters


def unit(first: int, seed: int, shares: list[float]) -> pd.DataFrame:
    """Some runs: a row per run and community."""
    communities = camcast.Communities.chain(*SIZES)
    frames = []
    for run in range(first, first + BLOCK):
        dice = dice_for("camcast sweep", seed, run)
        fate = dice.random(len(communities))
        for known in _tables(communities, seed, run):
            for model, share in product(MODELS[known.name], shares):
                network, tables = lossy_network(len(communities)), known.tables
                if model == "seeming":
                    tables = camcast.thin(tables, share, seed, run)
                else:
                    network.alive[:] = fate >= share
                    tables = _without(tables, network.alive) if model == "avoided" else tables
                own = _run(communities, known._replace(tables=tables), network, seed, run, dice)
                frames.append(own.assign(tables=known.name, model=model, failed=share, run=run))
    return pd.concat(frames, ignore_index=True)


def _tables(communities: camcast.Communities, seed: int, run: int) -> Iterator[Known]:
    for name, settings in ((IDEAL, camcast.TopicSettings()), (REPORT, camcast.TopicSettings(b=3))):
        tables = camcast.StaticTables(communities, settings).draw(seed, run)
        yield Known(name, tables, camcast.parameters(communities.sizes, settings))
    gossip, bottom = GossipBroadcast(communities), len(SIZES) - 1
    yield Known(GOSSIP, gossip.tables(bottom, seed, run), gossip.parameters(bottom))


def _run(
    group: camcast.Communities, known: Known, network: Network, seed: int, run: int, dice: np.random.Generator
) -> pd.DataFrame:
    """An event of g: a row per community."""
    publisher = random_publisher(group, len(SIZES) - 1, network, dice)
    spread = camcast.disseminate(
        known.tables, known.parameters, publisher, seed=seed, event=run, network=network
    )
    return pd.DataFrame(
        {
            "community": LEVELS,
            "alive": np.bincount(group.topic[network.alive == 1], minlength=len(SIZES)),
            "received": spread.delivered,
            "sent": spread.sent,
            "upward": spread.upward,
            "upward_arrived": spread.upward_arrived,
        }
    )


def _without(tables: camcast.Tables, alive: NDArray[np.uint8]) -> camcast.Tables:
    """Tables without dead entries; super-topic tables repeat live ones, so that as much is sent upward."""
    upward = _living(tables.super_table, alive)
    count = np.maximum((upward >= 0).sum(axis=-1, keepdims=True), 1)
    repeated = np.take_along_axis(upward, np.arange(upward.shape[-1]) % count, axis=-1)
    return camcast.Tables(tables.topic, _living(tables.topic_table, alive), repeated)


def _living(table: NDArray[np.int32], alive: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Rows of live entries, packed to the left."""
    kept = np.where((table >= 0) & (alive[table] == 1), table, -1)
    return np.take_along_axis(kept, np.argsort(kept < 0, axis=-1, kind="stable"), axis=-1)


def chosen(table: pd.DataFrame, tables: str, model: str) -> pd.DataFrame:
    """The rows of one kind of tables and one model, with reception, and whether all processes receive."""
    own = table[(table.tables == tables) & (table.model == model) & (table.alive > 0)]
    reception = own.received / own.alive
    return own.assign(reception=reception, everybody=(reception == 1.0).astype(float))


def random_publisher(
    group: camcast.Communities, topic: int, network: Network, dice: np.random.Generator
) -> int:
    """A live member of a community, chosen at random."""
    members = group.community(topic)
    return int(dice.choice(members[network.alive[members] == 1]))


def dice_for(name: str, seed: int, run: int = 0) -> np.random.Generator:
    """Random numbers for one run, apart from those of other names."""
    return np.random.default_rng(int(cycle_key(seed, stream_number(name), run)))


def lossy_network(n: int) -> Network:
    """All processes alive, and messages lost as in the paper's simulations."""
    network = Network.whole(n)
    network.loss = 1 - P_SUCCESS
    return network


def table_entries(tables: camcast.Tables) -> NDArray[np.int64]:
    """Entries that each process has in both tables."""
    entries: NDArray[np.int64] = (tables.topic_table >= 0).sum(axis=1)
    entries += (tables.super_table >= 0).sum(axis=(1, 2))
    return entries
