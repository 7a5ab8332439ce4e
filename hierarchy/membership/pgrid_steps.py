"""P-Grid's phases of a cycle, each for all peers one after the other."""

from __future__ import annotations

import numpy as np

from hierarchy.camcast.sampling import draw_others, draw_some
from hierarchy.membership.pgrid_rules import first_difference, is_across, meet, put, route
from hierarchy.membership.scamp_rules import arrives
from sub2sub.compilation import kernel
from sub2sub.randomness import below, draw, peer_key

__all__ = ["matches", "meet_all", "route_all", "sample", "tell"]


@kernel
def meet_all(trie, acquaintance, deepest, channel, key, pairs):
    """Let every live peer check one reference and meet one acquaintance; returns (messages, pairs noted)."""
    messages, count = 0, 0
    for peer in range(len(trie.length)):
        if not channel.alive[peer]:
            continue
        own = peer_key(key, peer)
        place = below(draw(own, 0), trie.reference.shape[1])
        slot = below(draw(own, 1), trie.reference.shape[2])
        checked = trie.reference[peer, place, slot]
        if checked >= 0:
            messages += 1
            if not channel.alive[checked] or not is_across(trie, peer, checked, place):
                trie.reference[peer, place, slot] = -1
        slot = below(draw(own, 2), acquaintance.shape[1])
        for _ in range(acquaintance.shape[1]):
            if acquaintance[peer, slot] >= 0:
                break
            slot = (slot + 1) % acquaintance.shape[1]
        other = acquaintance[peer, slot]
        if other < 0 or other == peer:
            continue
        if not arrives(channel, peer, other, draw(own, 3)):
            messages += 1
            if not channel.alive[other]:
                acquaintance[peer, slot] = -1
            continue
        passed_on = acquaintance[other, below(draw(own, 4), acquaintance.shape[1])]
        k = put(acquaintance[other], peer, own, np.int64(5))
        if passed_on >= 0 and passed_on != peer:
            k = put(acquaintance[peer], passed_on, own, k)
        sent, k, count = meet(trie, np.int64(peer), np.int64(other), deepest, own, k, pairs, count)
        messages += sent
    return messages, count


@kernel
def route_all(trie, starts, keys, attempts, channel, key, result):
    """Route one request from each start; rows of `result` become where it ended (-1), hops, messages."""
    for i in range(len(starts)):
        own = peer_key(key, starts[i])
        k = np.int64(0)
        result[0, i] = -1
        for _ in range(attempts):
            at, hops, messages, k = route(trie, starts[i], keys[i], channel, own, k)
            result[0, i] = at
            result[1, i] += hops
            result[2, i] += messages
            if at >= 0:
                break


@kernel
def tell(senders, receivers, channel, key, told):
    """Leave in `told` those of the receivers marked there whom a message from the sender reaches."""
    for i in range(len(senders)):
        own = peer_key(key, i)
        for j in range(receivers.shape[1]):
            if told[i, j]:
                told[i, j] = arrives(channel, senders[i], receivers[i, j], draw(own, j))


@kernel
def sample(member, low, high, starts, key, out):
    """Draw members for each search, from the sorted ones between `low` and `high`, never the searcher."""
    for i in range(len(starts)):
        pool = member[low[i] : high[i]]
        place = np.searchsorted(pool, starts[i])
        own = peer_key(key, starts[i])
        if place < len(pool) and pool[place] == starts[i]:
            draw_others(pool, place, own, np.int64(0), out[i])
        else:
            draw_some(pool, own, np.int64(0), out[i])


@kernel
def matches(trie, holders, keys):
    """Whether each key belongs where each holder stands."""
    right = np.empty(len(holders), np.bool_)
    for i in range(len(holders)):
        length = trie.length[holders[i]]
        right[i] = first_difference(trie.path[holders[i]], keys[i], length) == length
    return right
