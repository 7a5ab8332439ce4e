"""Counting a community by extrema propagation, over arrays.

Baquero, Almeida, Menezes, Jesus: *Extrema Propagation: Fast Distributed Estimation of Sums and Network
Sizes*, IEEE Transactions on Parallel and Distributed Systems 23(4), 2012.

Every member draws k numbers from the exponential distribution. Members gossip the smallest of each that they
have received, so that after a while all have the same k minima. Each is exponential with rate N, so N is
about (k - 1) / (their sum). Lost and repeated messages do no harm, and all members have the same role.

Counts are repeated, so that members that left no longer count. A count ends for a member when its time is up
or when it hears of the next one. The first count takes half the time, so that parts of a community with
several founders merge soon.

The minima also show whether two members are in the same part of the community: gossip follows directed links,
so a member that is not reachable from the other's part lacks its minima. A few may differ because members
joined or left during the count; if more than one in `FEW` differ, the two are in different parts.

Differences from the paper: numbers are stored as uniform integers, whose order is the same, and become
exponential when they are added up; tallies go to a few members per cycle, not to all neighbours; repeated
counts (epochs) are added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.compiled.common.channel import ask, begin_turn, next_bits, send
from hierarchy.compiled.common.rows import entries
from hierarchy.peers.census import CHOOSE, COMPARE, FEW, TELL
from sub2sub.compiled.common.randomness import below, draw, peer_key, unit
from sub2sub.compiled.machinery.compilation import kernel

HALF, WORD32 = np.uint64(32), 4294967296.0


class Counts(NamedTuple):
    """The state of the counts of all n members."""

    epoch: NDArray[np.int32]  # (n,) number of the count that a member takes part in
    begun: NDArray[np.int32]  # (n,) cycle in which it entered that count
    minima: NDArray[np.uint32]  # (n, k) the smallest numbers that it has received
    size: NDArray[np.float64]  # (n,) size of the community by the last count; 0 if there was none
    last: NDArray[np.uint32]  # (n, k) the minima of the last count that it joined early enough
    counted: NDArray[np.int32]  # (n,) number of that count; -1 for none
    merged: NDArray[np.int32]  # (n,) number of the last count after which it merged its part with another
    key: NDArray[np.uint64]  # (n,) key of its own random numbers


def sizes_of(minima: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The sizes estimated from rows of minima, at least 1.

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
    """The size estimated from minima, at least 1."""
    total = 0.0
    for i in range(len(minima)):
        total -= np.log1p(-(minima[i] + 0.5) / WORD32)
    return max(1.0, (len(minima) - 1) / total)


@kernel
def begin_count(counts, member, epoch, cycle, period):
    """Enter a count; the one before ends, and is used by members that were in it for long enough."""
    if cycle - counts.begun[member] >= period // 2:
        counts.size[member] = estimate(counts.minima[member])
        counts.last[member] = counts.minima[member]
        counts.counted[member] = counts.epoch[member]
    enter_count(counts, member, epoch, cycle)


@kernel
def enter_count(counts, member, epoch, cycle):
    """Draw the member's own numbers for a count."""
    counts.epoch[member], counts.begun[member] = epoch, cycle
    draws = peer_key(counts.key[member], epoch)
    for i in range(counts.minima.shape[1]):
        counts.minima[member, i] = np.uint32(draw(draws, i) >> HALF)


@kernel
def enter_all(counts, members, cycle):
    """Start members without an earlier count."""
    for member in members:
        counts.size[member] = 0.0
        counts.counted[member] = counts.merged[member] = -1
        enter_count(counts, member, 0, cycle)


@kernel
def advance_all(counts, present, cycle, period):
    """Begin the next count for members whose time is up."""
    for member in range(len(present)):
        time = period // 2 if counts.epoch[member] == 0 else period
        if present[member] and cycle - counts.begun[member] >= time:
            begin_count(counts, member, counts.epoch[member] + 1, cycle, period)


@kernel
def take_tally(counts, member, sender, cycle, period):
    """Process a tally: enter a later count, keep the smaller numbers; a newcomer takes over the size."""
    if counts.epoch[sender] > counts.epoch[member]:
        begin_count(counts, member, counts.epoch[sender], cycle, period)
    if counts.epoch[sender] < counts.epoch[member]:
        return
    for i in range(counts.minima.shape[1]):
        counts.minima[member, i] = min(counts.minima[member, i], counts.minima[sender, i])
    if counts.counted[member] < 0:
        counts.size[member] = counts.size[sender]


@kernel
def tell_all(counts, topic_table, present, rules, cycle, channel, key):
    """Send each member's tally to some members of its topic table."""
    fan, period = rules
    for member in range(len(present)):
        if not present[member]:
            continue
        begin_turn(channel, peer_key(key, TELL), member)
        known = entries(topic_table[member])
        for _ in range(min(fan, known)):
            target = topic_table[member, below(next_bits(channel), known)]
            if send(channel, member, target) and present[target]:
                take_tally(counts, target, member, cycle, period)


@kernel
def choose_askers(counts, present, askers, key):
    """The members that ask a contact now in which part it is, each with probability askers / size."""
    chosen = np.empty(len(present), np.int64)
    count = 0
    for member in range(len(present)):
        if present[member] and counts.counted[member] > counts.merged[member]:
            draws = peer_key(peer_key(key, CHOOSE), member)
            if unit(draw(draws, 0)) * counts.size[member] < askers:
                chosen[count] = member
                count += 1
    return chosen[:count].copy()


@kernel
def in_different_parts(epoch, minima, other_epoch, other_minima):
    """Whether two members with these minima of these counts are in different parts.

    Within one part, the numbers of counts differ by at most one. Minima of different counts do not tell.
    """
    if epoch < 0 or other_epoch < 0 or abs(epoch - other_epoch) == 1:
        return False
    differing = 0
    for i in range(len(minima)):
        differing += minima[i] != other_minima[i]
    return epoch != other_epoch or FEW * differing > len(minima)


@kernel
def compare_all(counts, members, others, channel, key, is_apart):
    """Mark the members that are in another part than their contact; two messages each."""
    for i in range(len(members)):
        member, other = members[i], others[i]
        begin_turn(channel, peer_key(key, COMPARE), member)
        is_apart[i] = ask(channel, member, other) and in_different_parts(
            counts.counted[member], counts.last[member], counts.counted[other], counts.last[other]
        )
        if is_apart[i]:
            counts.merged[member] = counts.counted[member]
