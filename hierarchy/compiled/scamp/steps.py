"""SCAMP's phases of a cycle, each for all members one after the other.

A phase stops before a subscription that might not fit into the rows, and returns how many members it has
served: the layer then widens the rows and continues. The channel counts the messages.
"""

from __future__ import annotations

import numpy as np

from hierarchy.compiled.common.channel import begin_turn, next_bits, send
from hierarchy.compiled.common.rows import find
from hierarchy.compiled.scamp.rules import (
    clear_view,
    drop_entry,
    keep_contact,
    reach_somebody,
    request,
    unsubscribe,
)
from hierarchy.peers.scamp import BALANCE, BEAT, JOIN, LEAVE, MERGE, REFILL, RENEW
from sub2sub.compiled.common.randomness import below, peer_key
from sub2sub.compiled.machinery.compilation import kernel


@kernel
def refill_key(key):
    """The key of the random numbers of members that subscribe again because their views are empty."""
    return peer_key(key, REFILL)


@kernel
def clear_all(views, members):
    """Delete the state of some members."""
    for member in members:
        clear_view(views, member)


@kernel
def _fits(views, extra):
    """Whether one more subscription fits: a row of a view grows by two at most, an InView by all copies."""
    copies = views.peak[0] + extra + 4
    return views.peak[0] + 2 <= views.partial.shape[1] and views.peak[1] + copies <= views.inward.shape[1]


@kernel
def leave_all(views, members, done, rules, cycle, channel, key):
    """Unsubscribe members from number `done` on; returns the number served."""
    while done < len(members):
        member = members[done]
        # Replacing one member by others can put as many entries into one InView as knew it.
        if views.peak[1] + views.in_size[member] > views.inward.shape[1]:
            return done
        begin_turn(channel, peer_key(key, LEAVE), member)
        unsubscribe(views, member, rules.c, channel)
        done += 1
    return done


@kernel
def expire(views, alive, cycle):
    """Drop entries with an expired lease from the views of live members."""
    for member in range(len(views.size)):
        if alive[member]:
            for place in range(views.size[member] - 1, -1, -1):
                if views.expires[member, place] <= cycle:
                    drop_entry(views, member, place)


@kernel
def _end_lease(views, member):
    """Drop a member with an expired lease from the views of the members in its InView."""
    for i in range(views.in_size[member]):
        holder = np.int64(views.inward[member, i])
        place = find(views.partial[holder], views.size[holder], member)
        if place >= 0:
            drop_entry(views, holder, place)
    views.in_size[member] = 0
    views.inward[member, :] = -1


@kernel
def subscribe_all(views, members, done, rules, cycle, channel, key, again):
    """Subscribe newcomers, or members `again`, from number `done` on; returns the number served."""
    while done < len(members):
        member = members[done]
        if not _fits(views, rules.c):
            return done
        done += 1
        if not channel.alive[member]:
            continue
        begin_turn(channel, peer_key(key, RENEW if again else JOIN), member)
        ends = again and views.lease_end[member] <= cycle
        if not again:
            views.served[member] = views.contact[member] < 0  # it founds the community
        extra = np.int64(0) if again and views.served[member] else rules.c
        _subscribe(views, member, rules, extra, cycle, channel, ends)
    return done


@kernel
def _subscribe(views, member, rules, extra, cycle, channel, ends):
    """Subscribe through the first member that answers, with a new lease if the old one has expired.

    `ends` tells whether to remove the member from views that have it by the old lease.
    """
    more = below(next_bits(channel), rules.lease // 2 + 1)
    if views.lease_end[member] <= cycle:
        views.lease_end[member] = cycle + rules.lease + more
    views.heard[member] = cycle
    before = channel.sent[member]
    start = reach_somebody(views, member, rules.contact_first, channel)
    if ends:
        _end_lease(views, member)  # only now, because members of its InView may answer
    if channel.sent[member] > before:
        views.asked[member] = cycle
    if start >= 0:
        request(views, member, start, extra, rules, channel)


@kernel
def merge_all(views, pairs, done, rules, cycle, channel, key):
    """Link members to others of their community, which serve them; returns the number served."""
    while done < len(pairs):
        member, other = pairs[done]
        if not _fits(views, rules.c):
            return done
        done += 1
        begin_turn(channel, peer_key(key, MERGE), member)
        if find(views.partial[member], views.size[member], other) < 0:
            keep_contact(views, member, other, views.lease_end[other])
        if send(channel, member, other):
            request(views, member, other, np.int64(0), rules, channel)
    return done


@kernel
def beat(views, cycle, channel, key):
    """Send a heartbeat along every link."""
    for member in range(len(views.size)):
        if channel.alive[member]:
            begin_turn(channel, peer_key(key, BEAT), member)
            for place in range(views.size[member]):
                target = np.int64(views.partial[member, place])
                if send(channel, member, target):
                    views.heard[target] = cycle


@kernel
def balance(views, channel, key):
    """One round towards weights that sum to 1 out of and into every member; two messages per link."""
    into = np.zeros(len(views.size))
    for member in range(len(views.size)):
        if channel.alive[member]:
            for place in range(views.size[member]):
                into[views.partial[member, place]] += views.weight[member, place]
    for member in range(len(views.size)):
        if not channel.alive[member]:
            continue
        begin_turn(channel, peer_key(key, BALANCE), member)
        size = views.size[member]
        for place in range(size):
            target = np.int64(views.partial[member, place])
            channel.sent[member] += 1
            if send(channel, target, member) and channel.alive[target]:
                views.weight[member, place] /= into[target]
        total = views.weight[member, :size].sum()
        for place in range(size):
            views.weight[member, place] /= total
