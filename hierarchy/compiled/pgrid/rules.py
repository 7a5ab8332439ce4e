"""P-Grid's exchange and routing rules over arrays.

Aberer: *P-Grid: A Self-Organizing Access Structure for P2P Information Systems*, CoopIS 2001; Aberer et al.:
*P-Grid: A Self-Organizing Structured P2P System*, SIGMOD Record 32(3), 2003.

A virtual binary trie over keys. Every peer stands at a leaf, its path; for each bit of the path it refers
to some peers on the other side of that bit. A key is found by handing the request to a reference on the
other side of the first bit that differs. Paths come from meetings: two replicas of a leaf with peers enough
part, one to either side; a peer left behind goes to the side that the other is not on; peers that are apart
meet each other's references. A newcomer becomes a replica of a random leaf.

Read differently from the papers: in the first one newcomers start at the root of the trie, and two peers
at the same place always part. A peer short of its final place would then answer for keys whose data it
never saw, so the later way is taken: replicas first, and parting only where `enough` peers are left on both
sides. A request that finds all references of a level dead fails, and its sender may try again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.compiled.common.channel import next_bits, send
from sub2sub.compiled.common.randomness import below
from sub2sub.compiled.machinery.compilation import kernel

ONE, TOP = np.uint64(1), np.uint64(63)


class Trie(NamedTuple):
    """What every one of n peers knows of the trie; -1 where it knows nobody."""

    path: NDArray[np.uint64]  # (n,) bits of the path, the first one highest
    length: NDArray[np.int32]  # (n,) how many bits count
    reference: NDArray[np.int32]  # (n, depth, most) peers across each bit
    buddy: NDArray[np.int32]  # (n, buddies) peers at the same leaf
    acquaintance: NDArray[np.int32]  # (n, ...) peers to meet, wherever they are


@kernel
def bit(word, place):
    """Bit `place` of a word, counted from the highest."""
    return (word >> (TOP - np.uint64(place))) & ONE


@kernel
def first_difference(a, b, length):
    """The first place below `length` at which two words differ; `length` if there is none."""
    for place in range(length):
        if bit(a, place) != bit(b, place):
            return place
    return length


@kernel
def is_across(trie, peer, other, place):
    """Whether `other` stands on the other side of bit `place` of `peer`'s path."""
    if trie.length[other] <= place:
        return False
    return first_difference(trie.path[peer], trie.path[other], place + 1) == place


@kernel
def put(row, peer, channel):
    """Put a peer into a row, in a free place or else in a random one, unless the row has it already."""
    free = -1
    for i in range(len(row) - 1, -1, -1):
        if row[i] == peer:
            return
        if row[i] < 0:
            free = i
    row[free if free >= 0 else below(next_bits(channel), len(row))] = peer


@kernel
def take_over(row, known, holder, channel):
    """Put the peers that another one knows at the same place into a row of `holder`."""
    for peer in known:
        if peer >= 0 and peer != holder:
            put(row, peer, channel)


@kernel
def extend(trie, peer, value, across, channel):
    """Append one bit to a path, with a first reference across it."""
    level = trie.length[peer]
    trie.path[peer] |= np.uint64(value) << (TOP - np.uint64(level))
    trie.length[peer] = level + 1
    for i in range(trie.buddy.shape[1]):  # whether one is still a replica is seen when they meet again
        if trie.buddy[peer, i] >= 0:
            put(trie.acquaintance[peer], trie.buddy[peer, i], channel)
            trie.buddy[peer, i] = -1
    put(trie.reference[peer, level], across, channel)


@kernel
def replicas(trie, peer):
    """How many peers at its leaf a peer knows of, itself included."""
    count = 1
    for i in range(trie.buddy.shape[1]):
        if trie.buddy[peer, i] >= 0:
            count += 1
    return count


@kernel
def meet(trie, a, b, limits, channel, pairs, count):
    """Let two peers exchange, then each of them with a reference of the other, some levels deep.

    `limits` are the peers wanted at a leaf and the number of levels. A reference has to be reached first.

    Returns (messages, count). Peers that have data to hand over, replicas that met and peers that parted, are
    written to `pairs` from number `count` on.
    """
    enough, deepest = limits
    depth = trie.reference.shape[1]
    waiting = np.empty((64, 3), np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = a, b, 0
    left, messages = 1, 0
    while left > 0:
        left -= 1
        a, b, recursion = waiting[left, 0], waiting[left, 1], waiting[left, 2]
        if recursion > 0 and not send(channel, a, b):
            messages += 1
            continue
        messages += 2
        shorter = min(trie.length[a], trie.length[b])
        common = first_difference(trie.path[a], trie.path[b], shorter)
        for level in range(common):
            take_over(trie.reference[a, level], trie.reference[b, level], a, channel)
            take_over(trie.reference[b, level], trie.reference[a, level], b, channel)
        more_a, more_b = trie.length[a] - common, trie.length[b] - common
        if (more_a == 0 or more_b == 0) and count < len(pairs):
            pairs[count, 0], pairs[count, 1] = a, b
            count += 1
        crowded = max(replicas(trie, a), replicas(trie, b)) >= 2 * enough
        if more_a == 0 and more_b == 0 and common < depth and crowded:
            extend(trie, a, 0, b, channel)
            extend(trie, b, 1, a, channel)
        elif more_a == 0 and more_b == 0:
            take_over(trie.buddy[a], trie.buddy[b], a, channel)
            take_over(trie.buddy[b], trie.buddy[a], b, channel)
            put(trie.buddy[a], b, channel)
            put(trie.buddy[b], a, channel)
        elif more_a == 0:
            extend(trie, a, ONE - bit(trie.path[b], common), b, channel)
            put(trie.reference[b, common], a, channel)
        elif more_b == 0:
            extend(trie, b, ONE - bit(trie.path[a], common), a, channel)
            put(trie.reference[a, common], b, channel)
        else:
            put(trie.reference[a, common], b, channel)
            put(trie.reference[b, common], a, channel)
            if recursion < deepest:
                for i in range(trie.reference.shape[2]):
                    via_a, via_b = trie.reference[a, common, i], trie.reference[b, common, i]
                    if via_a >= 0 and via_a != b and left < len(waiting):
                        waiting[left, 0], waiting[left, 1], waiting[left, 2] = b, via_a, recursion + 1
                        left += 1
                    if via_b >= 0 and via_b != a and left < len(waiting):
                        waiting[left, 0], waiting[left, 1], waiting[left, 2] = a, via_b, recursion + 1
                        left += 1
    return messages, count


@kernel
def route(trie, start, key, channel):
    """Hand a request on until it is where `key` belongs.

    Returns (peer, hops, messages); the peer is -1 if the request got stuck. Messages to dead references
    count, hops are only those that got through.
    """
    at, hops, messages = start, 0, 0
    tried = np.empty(trie.reference.shape[2], np.bool_)
    while True:
        level = first_difference(trie.path[at], key, trie.length[at])
        if level == trie.length[at]:
            return at, hops, messages
        row = trie.reference[at, level]
        tried[:] = False
        left = 0
        for i in range(len(row)):
            if row[i] < 0:
                tried[i] = True
            else:
                left += 1
        following = -1
        while left > 0 and following < 0:
            skip = below(next_bits(channel), left)
            i = 0
            while tried[i] or skip > 0:
                skip -= not tried[i]
                i += 1
            tried[i] = True
            left -= 1
            messages += 1
            if send(channel, at, row[i]):
                following = row[i]
        hops += following >= 0
        # References to peers that came back elsewhere can go in circles.
        if following < 0 or hops > 2 * trie.reference.shape[1]:
            return -1, hops, messages
        at = following
