"""Dissemination of one event (CAMCAST, Section 3.5, Figures 7 and 8).

A member that receives an event for the first time forwards it once (infect and die): with probability p_sel
it sends the event to each entry of its super-topic tables with probability p_a, and it sends the event to ln
N + c random entries of its topic table. Rounds are synchronous: a message sent in round r arrives in round r;
in a network with latencies messages take time (`sub2sub.compiled.timing`). No message goes to a community
that does not include the event's topic. `hierarchy.peers.camcast` has the choice of one member.

Interpretations
---------------
- The pseudo-code forwards upward when RAND() >= p_sel; the prose, the analysis and the figures say *with
  probability* p_sel. The prose is followed.
- A publisher follows the same rule as all members, so it need not send to the super-community itself.

Messages may be acknowledged and sent again, which the paper does not have (`Carrier.retries`).

The kernel needs only two tables per member, so plain gossip (no super-topic tables), gossip within groups and
two-level gossip (p_sel = p_a = 1) are the same kernel with other tables; see `hierarchy.gossip`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.communities import Communities
from hierarchy.camcast.settings import MemberParameters, Parameters
from hierarchy.compiled.camcast.tables import Tables
from hierarchy.compiled.common.trace import Trace
from sub2sub.compiled.common.network import AGAIN, Network, is_confirmed, reaches
from sub2sub.compiled.common.randomness import below, draw, peer_key, unit
from sub2sub.compiled.machinery.compilation import kernel, rule
from sub2sub.compiled.timing.agenda import Agenda, clear, departure, new_agenda, offer, take
from sub2sub.compiled.timing.latency import Clock, travel
from sub2sub.errors import InputError
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("camcast dissemination")

SENT, UPWARD, UPWARD_ARRIVED, ARRIVED = range(4)


@dataclass(frozen=True)
class Spread:
    """The dissemination of one event, by community.

    Attributes
    ----------
    trace : Trace
        The same by member: the round of the first reception, and the messages sent.
    topic : (n,) int32
        Community of each member.
    topics : int
        Number of communities.
    counts : (n, 4) int64
        Messages of each member. Each property below adds up one column.
    """

    trace: Trace
    topic: NDArray[np.int32]
    topics: int
    counts: NDArray[np.int64]

    @property
    def sent(self) -> NDArray[np.int64]:
        """Messages sent from topic tables, by the sender's community."""
        return self._by_topic(self.counts[:, SENT])

    @property
    def upward(self) -> NDArray[np.int64]:
        """Messages sent from super-topic tables, by the sender's community."""
        return self._by_topic(self.counts[:, UPWARD])

    @property
    def upward_arrived(self) -> NDArray[np.int64]:
        """Those of `upward` that arrived."""
        return self._by_topic(self.counts[:, UPWARD_ARRIVED])

    @property
    def arrived(self) -> NDArray[np.int64]:
        """Messages that arrived, duplicates included, by the receiver's community."""
        return self._by_topic(self.counts[:, ARRIVED])

    @property
    def delivered(self) -> NDArray[np.int64]:
        """Members that received the event, including the publisher, by community."""
        return self._by_topic(self.trace.reached)

    @property
    def last_round(self) -> NDArray[np.int64]:
        """Round of the last first reception in each community; 0 if there was none."""
        last = np.zeros(self.topics, np.int64)
        np.maximum.at(last, self.topic, self.trace.first)
        return last

    def parasites(self, communities: Communities, topic: str | int) -> int:
        """Messages of an event of `topic` that arrived at members that are not interested in it."""
        interested = [communities.tree.number(topic), *communities.tree.supertopics(topic)]
        return int(self.counts[~np.isin(self.topic, interested), ARRIVED].sum())

    @property
    def rounds(self) -> int:
        """Round of the last first reception anywhere."""
        return self.trace.last

    def _by_topic(self, values: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(self.topic, weights=values, minlength=self.topics).astype(np.int64)


def disseminate(
    tables: Tables,
    parameters: Parameters | MemberParameters,
    publisher: int,
    *,
    seed: int,
    event: int = 0,
    network: Network | None = None,
) -> Spread:
    """Publish one event in the publisher's community, and simulate its dissemination.

    Parameters
    ----------
    tables : Tables
        Membership tables.
    parameters : Parameters or MemberParameters
        Fan-outs and probabilities, by topic or by member.
    publisher : int
        The member that publishes; it has to be alive.
    seed, event : int
        The same seed and event number give the same spread.
    network : Network, optional
        Live members and loss; by default all are alive and nothing is lost.

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
    first, counts = np.empty(n, np.int32), np.empty((n, 4), np.int64)
    carrier = Carrier.of(network, 0, np.arange(n))
    key, known, topics = cycle_key(seed, STREAM, event), tables, len(parameters.fanout)
    if isinstance(parameters, MemberParameters):
        known, topics = tables._replace(topic=np.arange(n, dtype=np.int32)), parameters.topics
        parameters = Parameters(*parameters[:3])
    spread_event(known, parameters, carrier, publisher, key, first, counts)
    sent = counts[:, SENT] + counts[:, UPWARD]
    trace = Trace(first, sent, counts[:, ARRIVED], publisher, network.alive, carrier.agenda.when)
    return Spread(trace, tables.topic, topics, counts)


class Carrier(NamedTuple):
    """Delivery of messages: faults, retries and latency."""

    alive: NDArray[np.uint8]
    group: NDArray[np.uint8]
    p_success: float  # probability that a message is not lost
    retries: int  # how many times it is repeated without an acknowledgement, which may be lost, too
    clock: Clock  # latency
    agenda: Agenda  # messages on their way

    @classmethod
    def of(cls, network: Network, retries: int, places: NDArray[np.int64]) -> Carrier:
        """The carrier of a network whose members are on these hosts."""
        clock = Clock.of(network.timing, places)
        loss, agenda = float(network.loss), new_agenda(len(network.alive), clock)
        return cls(network.alive, network.group, 1.0 - loss, retries, clock, agenda)


@kernel
def spread_event(tables, parameters, carrier, publisher, key, first, counts):
    """Fill `first` and `counts` for one event. A member's decisions use its draws in order."""
    topic, topic_table, super_table = tables
    fanout, p_sel, p_a = parameters
    begin_event(carrier, publisher, first, counts)
    targets = np.empty(topic_table.shape[1], np.int32)
    upward = np.empty((super_table.shape[1] * super_table.shape[2], 2), np.int64)
    member = next_receiver(carrier, first)
    while member >= 0:
        t = topic[member]
        own = peer_key(key, member)
        count, k = choose_upward(super_table[member], p_sel[t], p_a[t], own, upward)
        send_upward(carrier, member, upward[:count], own, counts)
        count, k = choose_targets(topic_table[member], fanout[t], own, k, targets)
        send_within(carrier, member, targets[:count], own, k, counts)
        member = next_receiver(carrier, first)


@rule
def begin_event(carrier, publisher, first, counts):
    """Start an event: only the publisher will receive it."""
    first[:] = -1
    counts[:] = 0
    clear(carrier.agenda)
    offer(carrier.agenda, publisher, -1, 0.0)


@rule
def send(carrier, sender, target, key, fate, counts, column):
    """Send a message, again while it is not acknowledged; return how many copies arrived."""
    clock, agenda, came = carrier.clock, carrier.agenda, 0
    leaves = departure(clock, agenda.free, sender, target, agenda.when[sender], 0)
    for attempt in range(carrier.retries + 1):
        counts[sender, column] += 1
        bits = draw(key, AGAIN * attempt + fate)
        if unit(bits) < carrier.p_success and reaches(carrier.alive, carrier.group, sender, target):
            counts[target, ARRIVED] += 1
            if (
                came == 0 and agenda.when[target] > leaves
            ):  # else it has the event before this copy can arrive
                offer(agenda, target, sender, leaves + travel(clock, sender, target, attempt, key))
            came += 1
            if is_confirmed(1.0 - carrier.p_success, bits):
                break
    return came


@rule
def send_upward(carrier, member, upward, key, counts):
    """Send the event to entries of super-topic tables, each with the draw that decides on its loss."""
    for i in range(len(upward)):
        came = send(carrier, member, upward[i, 0], key, upward[i, 1], counts, UPWARD)
        counts[member, UPWARD_ARRIVED] += came


@rule
def send_within(carrier, member, targets, key, k, counts):
    """Send the event to entries of the topic table; returns the next draw."""
    for target in targets:
        send(carrier, member, target, key, k, counts, SENT)
        k += 1
    return k


@rule
def next_receiver(carrier, first):
    """The next member that receives the event for the first time; -1 if there is none."""
    member = take(carrier.agenda)
    if member >= 0:
        first[member] = carrier.agenda.hop[member]
    return member


@kernel
def choose_upward(super_tables, p_sel, p_a, key, out):
    """Choose entries of one member's super-topic tables, with probability p_sel that it acts as a link.

    Writes to rows of `out` an entry and the number of the draw that decides on the loss of its message;
    returns the number of rows, and the next draw.
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
    """Copy `fanout` random entries of a topic table, or all; returns their number, and the next draw."""
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
