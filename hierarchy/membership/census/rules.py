"""Counting a community by extrema propagation, over arrays.

Baquero, Almeida, Menezes, Jesus: *Extrema Propagation: Fast Distributed Estimation of Sums and Network
Sizes*, IEEE Transactions on Parallel and Distributed Systems 23(4), 2012.

Every member draws k numbers from the exponential distribution. Members gossip the smallest of each that
they have heard of, so that after a while all have the same k minima. Each is exponential with rate N, so N
is about (k - 1) / (their sum). A message that is lost or comes twice does no harm, and nobody has a role of
its own.

Counts follow one another, so that members that left are forgotten. A count is over for a member when its
time is up or when it hears of the next one. The very first takes half the time, so that parts of a
community that was founded by several find one another soon.

The minima also tell whether two members are in one part of the community: gossip goes along directed links,
so a member that the other's part does not reach lacks its minima. A few may differ because somebody came or
went during the count; where more than one in `FEW` do, the two are apart.

Read differently from the paper: numbers are kept as whole numbers from a uniform distribution, smallest first
as well, and become exponential ones when they are added up; tallies go to a few members a cycle, not to all
neighbours; epochs are ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.channel import arrives
from hierarchy.super_tables.rules import ask, entries
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, draw, peer_key, unit

TELL, COMPARE, CHOOSE = range(-3, 0)  # draws of the phases are kept apart
FEW = 6  # one in so many minima may differ within one part
HALF, WORD32 = np.uint64(32), 4294967296.0


class Counts(NamedTuple):
    """How the counts of all members stand.

    Attributes
    ----------
    epoch : (n,) int32
        Number of the count that a member takes part in.
    begun : (n,) int32
        The cycle in which it entered that count.
    minima : (n, k) uint32
        The smallest numbers it has heard of.
    size : (n,) float64
        Size of the community by the last count; 0 if there was none.
    last : (n, k) uint32
        The minima of the last count it took part in from early on.
    counted : (n,) int32
        Number of that count; -1 for none.
    merged : (n,) int32
        Number of the last count after which it merged its part with another.
    key : (n,) uint64
        Of its own numbers.
    """

    epoch: NDArray[np.int32]
    begun: NDArray[np.int32]
    minima: NDArray[np.uint32]
    size: NDArray[np.float64]
    last: NDArray[np.uint32]
    counted: NDArray[np.int32]
    merged: NDArray[np.int32]
    key: NDArray[np.uint64]


def sizes_of(minima: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The sizes that rows of minima stand for, at least 1.

    Examples
    --------
    >>> everybody = np.random.default_rng(1).integers(0, 2**32, (1000, 64), dtype=np.uint32)
    >>> bool(700 < sizes_of(everybody.min(axis=0)[None])[0] < 1400)
    True
    """
    exponential = -np.log1p(-(minima + 0.5) / WORD32)
    sizes: NDArray[np.float64] = np.maximum(1.0, (minima.shape[1] - 1) / exponential.sum(axis=1))
    return sizes


@kernel
def estimate(minima):
    """The size that minima stand for, at least 1."""
    total = 0.0
    for i in range(len(minima)):
        total -= np.log1p(-(minima[i] + 0.5) / WORD32)
    return max(1.0, (len(minima) - 1) / total)


@kernel
def begin(counts, member, epoch, cycle, period):
    """Enter a count; the one before is over, and is believed by those who were in it for long enough."""
    if cycle - counts.begun[member] >= period // 2:
        counts.size[member] = estimate(counts.minima[member])
        counts.last[member] = counts.minima[member]
        counts.counted[member] = counts.epoch[member]
    enter(counts, member, epoch, cycle)


@kernel
def enter(counts, member, epoch, cycle):
    """Draw one's own numbers for a count."""
    counts.epoch[member], counts.begun[member] = epoch, cycle
    own = peer_key(counts.key[member], epoch)
    for i in range(counts.minima.shape[1]):
        counts.minima[member, i] = np.uint32(draw(own, i) >> HALF)


@kernel
def enter_all(counts, members, cycle):
    """Let members begin from nothing."""
    for member in members:
        counts.size[member] = 0.0
        counts.counted[member] = counts.merged[member] = -1
        enter(counts, member, 0, cycle)


@kernel
def advance_all(counts, present, cycle, period):
    """Begin the next count where the time of one is up."""
    for member in range(len(present)):
        time = period // 2 if counts.epoch[member] == 0 else period
        if present[member] and cycle - counts.begun[member] >= time:
            begin(counts, member, counts.epoch[member] + 1, cycle, period)


@kernel
def take(counts, member, sender, cycle, period):
    """Take a tally: enter a later count, keep the smaller numbers; a newcomer believes the size as well."""
    if counts.epoch[sender] > counts.epoch[member]:
        begin(counts, member, counts.epoch[sender], cycle, period)
    if counts.epoch[sender] < counts.epoch[member]:
        return
    for i in range(counts.minima.shape[1]):
        counts.minima[member, i] = min(counts.minima[member, i], counts.minima[sender, i])
    if counts.counted[member] < 0:
        counts.size[member] = counts.size[sender]


@kernel
def tell_all(counts, topic_table, present, rules, cycle, channel, key):
    """Have every member send its tally to some of its topic table; returns messages."""
    fan, period = rules
    messages = 0
    for member in range(len(present)):
        if not present[member]:
            continue
        own = peer_key(peer_key(key, TELL), member)
        known = entries(topic_table[member])
        for i in range(min(fan, known)):
            target = topic_table[member, below(draw(own, 2 * i), known)]
            messages += 1
            if arrives(channel, member, target, draw(own, 2 * i + 1)) and present[target]:
                take(counts, target, member, cycle, period)
    return messages


@kernel
def choose_askers(counts, present, askers, key):
    """Who asks a contact now whether they are in the same part: each with chance askers / size."""
    chosen = np.empty(len(present), np.int64)
    count = 0
    for member in range(len(present)):
        if present[member] and counts.counted[member] > counts.merged[member]:
            own = peer_key(peer_key(key, CHOOSE), member)
            if unit(draw(own, 0)) * counts.size[member] < askers:
                chosen[count] = member
                count += 1
    return chosen[:count].copy()


@kernel
def apart(epoch, minima, other_epoch, other_minima):
    """Whether those with such minima of such counts are in different parts.

    Within one part counts differ by one at most. Between two that do, minima say nothing.
    """
    if epoch < 0 or other_epoch < 0 or abs(epoch - other_epoch) == 1:
        return False
    differing = 0
    for i in range(len(minima)):
        differing += minima[i] != other_minima[i]
    return epoch != other_epoch or FEW * differing > len(minima)


@kernel
def compare_all(counts, members, others, channel, key, is_apart):
    """Mark the members that find themselves in another part than whom they ask; two messages each."""
    for i in range(len(members)):
        member, other = members[i], others[i]
        own = peer_key(peer_key(key, COMPARE), member)
        is_apart[i] = False
        if ask(channel, member, other, own, 0) and apart(
            counts.counted[member], counts.last[member], counts.counted[other], counts.last[other]
        ):
            is_apart[i] = True
            counts.merged[member] = counts.counted[member]
