"""Publishing over tables: CAMCAST's kernel, for many events, with costs per member.

`hierarchy.camcast.dissemination` counts by community and has one fan-out and one chance of sending upward
for each. Told that every member is a community of its own it counts by member and takes what each member
chose for itself: nobody has to be told how large its community is. The draws are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.dissemination import ARRIVED, SENT, UPWARD, spread_event
from hierarchy.camcast.settings import Parameters
from hierarchy.camcast.tables import Tables
from sims.compare.tally import Tally, account
from sub2sub.geometry.matching import Members
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import cycle_key, peer_key, stream_number
from sub2sub.overlay.network import Network

__all__ = ["Choices", "spread_tables"]

STREAM = stream_number("compare/gossip")


class Choices(NamedTuple):
    """What each member does with an event.

    Attributes
    ----------
    targets : (members,) int32
        Entries of its topic table that it sends to.
    upward : (members,) float64
        The chance that it uses its super-topic tables.
    entry : (members,) float64
        The chance that it then sends to one entry of them.
    """

    targets: NDArray[np.int32]
    upward: NDArray[np.float64]
    entry: NDArray[np.float64]


def spread_tables(
    topic_table: NDArray[np.int32],
    super_table: NDArray[np.int32],
    choices: Choices,
    network: Network,
    host: NDArray[np.int64],
    alive: NDArray[np.uint8],
    matches: Members,
    events: NDArray[np.int64],
    starts: NDArray[np.int64],
    publishers: NDArray[np.int64],
    seed: int,
    salt: int,
) -> Tally:
    """Spread events over tables.

    Parameters
    ----------
    topic_table, super_table : (members, k), (members, slots, z) int32
        Members, packed to the left and padded with -1.
    choices : Choices
    network : Network
        Of the members.
    host : (members,) int64
        The subscriber a member runs on.
    alive : (hosts,) uint8
        Subscribers that are up.
    matches : Members
        Who wants each event.
    events, starts, publishers : (m,) int64
        Numbers of events, the member each starts at, and the subscriber that publishes it.
    seed, salt : int
        What the draws depend on, with the numbers of event and member.
    """
    tally = Tally.empty(len(events), len(alive))
    own = np.arange(len(host), dtype=np.int32)
    _spread_all(
        Tables(own, topic_table, super_table), Parameters(*choices), network.alive, network.group,
        1.0 - float(network.loss), host, alive, matches.offsets, matches.members, events, starts, publishers,
        np.uint64(cycle_key(seed, STREAM, salt)), (tally.events, tally.hosts),
    )  # fmt: skip
    return tally


@kernel
def _spread_all(
    tables, parameters, up, group, p_success, host, alive, offsets, members, events, starts, publishers, key,
    tally,
):  # fmt: skip
    n = len(host)
    round_of, counts = np.empty(n, np.int32), np.empty((n, 6), np.int64)
    wants, got = np.full(len(alive), -1, np.int64), np.full(len(alive), -1, np.int64)
    for k in range(len(events)):
        spread_event(
            tables, parameters, up, group, p_success, starts[k], peer_key(key, events[k]), round_of, counts
        )
        sent = counts[:, SENT] + counts[:, UPWARD]
        account(
            k, offsets, members, events[k], publishers[k], alive, host, round_of, sent, counts[:, ARRIVED],
            wants, got, tally,
        )  # fmt: skip
