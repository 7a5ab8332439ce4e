"""Spreading one event: CAMCAST Section 3.5, Figures 7 and 8.

A member that receives an event for the first time forwards it once (infect and die): with probability
p_sel it sends the event to each entry of its super-topic tables with probability p_a, and it sends the
event to ln N + c entries of its topic table, chosen at random. Rounds are synchronous: what is sent in
round r arrives in round r; in a network with latencies every message takes its time (`sub2sub.timing`).
Nothing ever goes to a community that does not include the event's topic.

Readings
--------
- The pseudo-code forwards upward when RAND() >= p_sel; the prose, the analysis and the figures say *with
  probability* p_sel. The prose is followed.
- A publisher follows the same rule as everybody: it need not reach the super-community itself.

Messages may be acknowledged and sent again, which the paper does not have (`Carrier.retries`).

The kernel knows two tables per member and no more, so plain gossip (no super-topic tables), gossip
within groups and two-level gossip (p_sel = p_a = 1) are the same kernel on other tables; see
`hierarchy.gossip`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.camcast.communities import Communities
from hierarchy.camcast.settings import MemberParameters, Parameters
from hierarchy.camcast.tables import Tables
from hierarchy.trace import Trace
from sub2sub.errors import InputError
from sub2sub.kernels.compilation import kernel, rule
from sub2sub.kernels.randomness import below, cycle_key, draw, peer_key, stream_number, unit
from sub2sub.overlay.network import Network, reaches
from sub2sub.timing.agenda import Agenda, clear, departure, new_agenda, offer, take
from sub2sub.timing.latency import Clock, travel

STREAM = stream_number("camcast dissemination")
AGAIN = 1 << 32  # where the draws for messages that are sent again begin

SENT, UPWARD, UPWARD_ARRIVED, ARRIVED = range(4)


@dataclass(frozen=True)
class Spread:
    """What became of one event, by community.

    Attributes
    ----------
    trace : Trace
        The same by member: who received it in which round, and who sent how much.
    topic : (n,) int32
        Community of each member.
    topics : int
        How many communities there are.
    counts : (n, 4) int64
        Messages of each member; see the properties, each of which adds up a column.
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
        """Members that have the event, the publisher included, by community."""
        return self._by_topic(self.trace.reached)

    @property
    def last_round(self) -> NDArray[np.int64]:
        """Round of the last first reception in each community; 0 where there was none."""
        last = np.zeros(self.topics, np.int64)
        np.maximum.at(last, self.topic, self.trace.first)
        return last

    def parasites(self, communities: Communities, topic: str | int) -> int:
        """Messages of an event of `topic` that arrived at members it does not concern."""
        tree = communities.tree
        concerned = [tree.number(topic), *tree.supertopics(topic)]
        return int(self.arrived.sum() - self.arrived[concerned].sum())

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
    """Publish one event in the publisher's community and follow it to the end.

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
    """What happens to a message on its way.

    Attributes
    ----------
    alive, group : (n,) uint8
        As of `Network`.
    p_success : float
        The chance that it is not lost.
    retries : int
        Times it is sent again where no acknowledgement comes back. Acknowledgements are not lost.
    clock : Clock
        How long it takes.
    agenda : Agenda
        Messages on their way.
    """

    alive: NDArray[np.uint8]
    group: NDArray[np.uint8]
    p_success: float
    retries: int
    clock: Clock
    agenda: Agenda

    @classmethod
    def of(cls, network: Network, retries: int, places: NDArray[np.int64]) -> Carrier:
        """Of a network whose members are at these places."""
        clock = Clock.of(network.timing, places)
        loss, agenda = float(network.loss), new_agenda(len(network.alive), clock)
        return cls(network.alive, network.group, 1.0 - loss, retries, clock, agenda)


@kernel
def spread_event(tables, parameters, carrier, publisher, key, first, counts):
    """Fill `first` and `counts` for one event. Draw k of a member decides its k-th question."""
    topic, topic_table, super_table = tables
    fanout, p_sel, p_a = parameters
    begin(carrier, publisher, first, counts)
    targets = np.empty(topic_table.shape[1], np.int32)
    upward = np.empty((super_table.shape[1] * super_table.shape[2], 2), np.int64)
    member = receive(carrier, first)
    while member >= 0:
        t = topic[member]
        own = peer_key(key, member)
        count, k = choose_upward(super_table[member], p_sel[t], p_a[t], own, upward)
        for i in range(count):
            target, fate = upward[i]
            if send(carrier, member, target, own, fate, counts, UPWARD):
                counts[member, UPWARD_ARRIVED] += 1
        count, k = choose_targets(topic_table[member], fanout[t], own, k, targets)
        for i in range(count):
            send(carrier, member, targets[i], own, k, counts, SENT)
            k += 1
        member = receive(carrier, first)


@rule
def begin(carrier, publisher, first, counts):
    """Nobody has received anything, and a publisher is about to."""
    first[:] = -1
    counts[:] = 0
    clear(carrier.agenda)
    offer(carrier.agenda, publisher, -1, 0.0)


@rule
def send(carrier, sender, target, key, fate, counts, column):
    """Send a message, and again where it fails and may be sent again; whether it arrived."""
    clock, agenda = carrier.clock, carrier.agenda
    leaves = departure(clock, agenda.free, sender, target, agenda.when[sender], 0)
    for attempt in range(carrier.retries + 1):
        counts[sender, column] += 1
        k = fate if attempt == 0 else AGAIN * attempt + fate
        lost = unit(draw(key, k)) >= carrier.p_success
        if not lost and reaches(carrier.alive, carrier.group, sender, target):
            counts[target, ARRIVED] += 1
            if agenda.when[target] > leaves:  # else it has the event, or will before this can arrive
                offer(agenda, target, sender, leaves + travel(clock, sender, target, attempt, key))
            return True
    return False


@rule
def receive(carrier, first):
    """The next member that receives the event for the first time; -1 when nobody will."""
    member = take(carrier.agenda)
    if member >= 0:
        first[member] = carrier.agenda.hop[member]
    return member


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
