"""P-Grid's phases of a cycle, each for all peers one after the other."""

from __future__ import annotations

import numpy as np

from hierarchy.compiled.camcast.sampling import draw_others, draw_some
from hierarchy.compiled.common.channel import arrives, begin_turn, next_bits, send
from hierarchy.compiled.pgrid.rules import first_difference, is_across, meet, put, route
from sub2sub.compiled.common.randomness import below, draw, peer_key
from sub2sub.compiled.machinery.compilation import kernel


@kernel
def introduce_newcomer(trie, peer, contact, channel, key, pairs, count):
    """Make a newcomer a replica of a random leaf, found by routing from its contact; returns messages."""
    begin_turn(channel, key, peer)
    at, _, messages = route(trie, contact, next_bits(channel), channel)
    if at < 0:
        at = contact
    trie.path[peer] = trie.path[at]
    trie.length[peer] = trie.length[at]
    trie.reference[peer] = trie.reference[at]
    trie.buddy[peer] = trie.buddy[at]
    put(trie.buddy[peer], at, channel)
    put(trie.buddy[at], peer, channel)
    put(trie.acquaintance[peer], contact, channel)
    pairs[count, 0], pairs[count, 1] = at, peer
    return messages + 2


@kernel
def random_entry(row, bits):
    """Place of a random entry of a row with gaps; -1 if it has none."""
    start = below(bits, len(row))
    for i in range(len(row)):
        place = (start + i) % len(row)
        if row[place] >= 0:
            return place
    return -1


@kernel
def meet_all(trie, limits, channel, key, pairs, count):
    """Let every live peer check a reference, meet a buddy and meet an acquaintance.

    Returns (messages, how many pairs are noted).
    """
    messages = 0
    for peer in range(len(trie.length)):
        if not channel.alive[peer]:
            continue
        begin_turn(channel, key, peer)
        level = below(next_bits(channel), trie.reference.shape[1])
        slot = below(next_bits(channel), trie.reference.shape[2])
        buddy, acquaintance = next_bits(channel), next_bits(channel)
        checked = trie.reference[peer, level, slot]
        if checked >= 0:
            messages += 1
            if not channel.alive[checked] or not is_across(trie, peer, checked, level):
                trie.reference[peer, level, slot] = -1
        for row, bits in ((trie.buddy[peer], buddy), (trie.acquaintance[peer], acquaintance)):
            slot = random_entry(row, bits)
            if slot < 0 or row[slot] == peer:
                continue
            other = row[slot]
            if not send(channel, peer, other):
                messages += 1
                if not channel.alive[other]:
                    row[slot] = -1
                continue
            passed_on = trie.acquaintance[other, below(next_bits(channel), trie.acquaintance.shape[1])]
            put(trie.acquaintance[other], peer, channel)
            if passed_on >= 0 and passed_on != peer:
                put(trie.acquaintance[peer], passed_on, channel)
            sent, count = meet(trie, np.int64(peer), np.int64(other), limits, channel, pairs, count)
            messages += sent
    return messages, count


@kernel
def route_all(trie, starts, keys, attempts, channel, key, result):
    """Route one request from each start; rows of `result` become where it ended (-1), hops, messages."""
    for i in range(len(starts)):
        begin_turn(channel, key, starts[i])
        result[0, i] = -1
        for _ in range(attempts):
            at, hops, messages = route(trie, starts[i], keys[i], channel)
            result[0, i] = at
            result[1, i] += hops
            result[2, i] += messages
            if at >= 0:
                break


@kernel
def tell(senders, receivers, channel, key, told):
    """Clear the marks in `told` of receivers that the message of their sender does not reach."""
    for i in range(len(senders)):
        draws = peer_key(key, i)
        for j in range(receivers.shape[1]):
            if told[i, j]:
                told[i, j] = arrives(channel, senders[i], receivers[i, j], draw(draws, j))


@kernel
def sample_members(member, low, high, starts, key, out, following):
    """Draw members for each search, from the sorted ones between `low` and `high`, never the searcher.

    They come in random order, so the first few of them are a fair sample too. `following` becomes the member
    next to the searcher in the order of numbers, after the last the first; -1 for none.
    """
    for i in range(len(starts)):
        pool = member[low[i] : high[i]]
        place = np.searchsorted(pool, starts[i])
        draws = peer_key(key, starts[i])
        is_member = place < len(pool) and pool[place] == starts[i]
        following[i] = -1 if len(pool) == is_member else pool[(place + is_member) % len(pool)]
        if is_member:
            k = draw_others(pool, place, draws, np.int64(0), out[i])
        else:
            k = draw_some(pool, draws, np.int64(0), out[i])
        last = len(out[i]) - 1
        while last >= 0 and out[i, last] < 0:
            last -= 1
        for j in range(last, 0, -1):
            other = below(draw(draws, k), j + 1)
            k += 1
            out[i, j], out[i, other] = out[i, other], out[i, j]


@kernel
def are_in_place(trie, holders, keys):
    """Whether each key belongs where each holder stands."""
    right = np.empty(len(holders), np.bool_)
    for i in range(len(holders)):
        length = trie.length[holders[i]]
        right[i] = first_difference(trie.path[holders[i]], keys[i], length) == length
    return right
