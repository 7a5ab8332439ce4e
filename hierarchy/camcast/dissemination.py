"""Spreading one event: CAMCAST Section 3.5, Figures 7 and 8.

A member that receives an event for the first time forwards it once (infect and die): with probability
p_sel it sends the event to each entry of its super-topic tables with probability p_a, and it sends the
event to ln N + c entries of its topic table, chosen at random. Rounds are synchronous: what is sent in
round r arrives in round r. Nothing ever goes to a community that does not include the event's topic.

Readings
--------
- The pseudo-code forwards upward when RAND() >= p_sel; the prose, the analysis and the figures say *with
  probability* p_sel. The prose is followed.
- A publisher follows the same rule as everybody: it need not reach the super-community itself.

The kernel knows two tables per member and no more, so plain gossip (no super-topic tables), gossip
within groups and two-level gossip (p_sel = p_a = 1) are the same kernel on other tables; see
`hierarchy.gossip`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.communities import Communities
from hierarchy.camcast.settings import Parameters
from hierarchy.camcast.tables import Tables
from sub2sub.errors import InputError
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, cycle_key, draw, peer_key, stream_number, unit
from sub2sub.overlay.network import Network, reaches

__all__ = ["Spread", "choose_targets", "choose_upward", "disseminate"]

STREAM = stream_number("camcast dissemination")

SENT, UPWARD, UPWARD_ARRIVED, ARRIVED, DELIVERED, LAST_ROUND = range(6)


@dataclass(frozen=True)
class Spread:
    """What became of one event.

    Attributes
    ----------
    round_of : (n,) int32
        Round in which each member received the event first; 0 for the publisher, -1 for never.
    counts : (topics, 6) int64
        See the properties, each of which is a column.
    """

    round_of: NDArray[np.int32]
    counts: NDArray[np.int64]

    @property
    def sent(self) -> NDArray[np.int64]:
        """Messages sent from topic tables, by the sender's community."""
        return self.counts[:, SENT]

    @property
    def upward(self) -> NDArray[np.int64]:
        """Messages sent from super-topic tables, by the sender's community."""
        return self.counts[:, UPWARD]

    @property
    def upward_arrived(self) -> NDArray[np.int64]:
        """Those of `upward` that arrived."""
        return self.counts[:, UPWARD_ARRIVED]

    @property
    def arrived(self) -> NDArray[np.int64]:
        """Messages that arrived, duplicates included, by the receiver's community."""
        return self.counts[:, ARRIVED]

    @property
    def delivered(self) -> NDArray[np.int64]:
        """Members that have the event, the publisher included, by community."""
        return self.counts[:, DELIVERED]

    @property
    def last_round(self) -> NDArray[np.int64]:
        """Round of the last first reception in each community; 0 where there was none."""
        return self.counts[:, LAST_ROUND]

    def parasites(self, communities: Communities, topic: str | int) -> int:
        """Messages of an event of `topic` that arrived at members it does not concern."""
        tree = communities.tree
        concerned = [tree.number(topic), *tree.supertopics(topic)]
        return int(self.arrived.sum() - self.arrived[concerned].sum())

    @property
    def rounds(self) -> int:
        """Round of the last first reception anywhere."""
        return int(self.last_round.max())


def disseminate(
    tables: Tables,
    parameters: Parameters,
    publisher: int,
    *,
    seed: int,
    event: int = 0,
    network: Network | None = None,
) -> Spread:
    """Publish one event in the publisher's community and follow it to the end.

    Parameters
    ----------
    tables : Tables
        Membership tables.
    parameters : Parameters
        Fan-outs and probabilities, by topic.
    publisher : int
        The member that publishes; it has to be alive.
    seed, event : int
        The same seed and event number give the same spread.
    network : Network, optional
        Who is alive, and how much is lost; everybody and nothing by default.

    Examples
    --------
    >>> from hierarchy.camcast import Communities, StaticTables, parameters
    >>> group = Communities.chain(10, 100, 1000)
    >>> spread = disseminate(StaticTables(group).draw(seed=1), parameters(group.sizes), 1109, seed=1)
    >>> spread.delivered
    array([  10,  100, 1000])
    """
    n = len(tables.topic)
    network = network or Network.whole(n)
    if not 0 <= publisher < n or not network.alive[publisher]:
        raise InputError(f"publisher: expected a live member below {n}, got {publisher}")
    round_of = np.empty(n, np.int32)
    counts = np.empty((len(parameters.fanout), 6), np.int64)
    key = cycle_key(seed, STREAM, event)
    spread_event(
        tables, parameters, network.alive, network.group, 1.0 - network.loss, publisher, key, round_of, counts
    )
    return Spread(round_of, counts)


@kernel
def spread_event(tables, parameters, alive, group, p_success, publisher, key, round_of, counts):
    """Fill `round_of` and `counts` for one event. Draw k of a member decides its k-th question."""
    topic, topic_table, super_table = tables
    fanout, p_sel, p_a = parameters
    round_of[:] = -1
    counts[:] = 0
    waiting = np.empty(len(topic), np.int32)
    targets = np.empty(topic_table.shape[1], np.int32)
    upward = np.empty((super_table.shape[1] * super_table.shape[2], 2), np.int64)
    waiting[0] = publisher
    round_of[publisher] = 0
    counts[topic[publisher], DELIVERED] = 1
    head, tail = 0, 1
    while head < tail:
        member = waiting[head]
        head += 1
        t = topic[member]
        own = peer_key(key, member)
        count, k = choose_upward(super_table[member], p_sel[t], p_a[t], own, upward)
        for i in range(count):
            target, fate = upward[i]
            counts[t, UPWARD] += 1
            arrives = unit(draw(own, fate)) < p_success
            if arrives and reaches(alive, group, member, target):
                counts[t, UPWARD_ARRIVED] += 1
                tail = receive(topic, member, target, round_of, counts, waiting, tail)
        count, k = choose_targets(topic_table[member], fanout[t], own, k, targets)
        for i in range(count):
            target = targets[i]
            counts[t, SENT] += 1
            arrives = unit(draw(own, k)) < p_success
            k += 1
            if arrives and reaches(alive, group, member, target):
                tail = receive(topic, member, target, round_of, counts, waiting, tail)


@kernel
def receive(topic, sender, target, round_of, counts, waiting, tail):
    """Note that an event arrived; a first reception queues the target. Returns the end of the queue."""
    u = topic[target]
    counts[u, ARRIVED] += 1
    if round_of[target] >= 0:
        return tail
    now = round_of[sender] + 1
    round_of[target] = now
    counts[u, DELIVERED] += 1
    counts[u, LAST_ROUND] = now
    waiting[tail] = target
    return tail + 1


@kernel
def choose_upward(super_tables, p_sel, p_a, key, out):
    """Choose, as a link with probability p_sel, entries of one member's super-topic tables.

    Rows of `out` become an entry and the number of the draw that decides whether the message to it arrives;
    returns how many, and the next draw.
    """
    count, k = 0, np.int64(1)
    if unit(draw(key, 0)) >= p_sel:
        return count, k
    for slot in range(super_tables.shape[0]):
        for entry in range(super_tables.shape[1]):
            target = super_tables[slot, entry]
            if target < 0:
                break
            chosen = unit(draw(key, k)) < p_a
            k += 1
            if chosen:
                out[count, 0], out[count, 1] = target, k
                k += 1
                count += 1
    return count, k


@kernel
def choose_targets(table, fanout, key, k, out):
    """Copy `fanout` random entries of a topic table, or all it has; return how many, and the next draw."""
    size = 0
    while size < len(table) and table[size] >= 0:
        out[size] = table[size]
        size += 1
    if size <= fanout:
        return size, k
    for i in range(fanout):
        j = i + below(draw(key, k), size - i)
        k += 1
        out[i], out[j] = out[j], out[i]
    return fanout, k
