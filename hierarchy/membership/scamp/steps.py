"""SCAMP's phases of a cycle, each for all members one after the other.

A phase stops before a subscription that might not fit into the rows, and returns how many members it has
served: the layer then widens the rows and continues.
"""

from __future__ import annotations

import numpy as np

from hierarchy.channel import arrives
from hierarchy.membership.rows import find
from hierarchy.membership.scamp.rules import clear, drop, keep, reach_somebody, request, unsubscribe
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, draw, peer_key

REFILL, MERGE, LEAVE, JOIN, RENEW, BEAT, BALANCE = range(-7, 0)  # keys of the phases' random numbers


@kernel
def refill_key(key):
    """The key of the random numbers of members that subscribe again because their views are empty."""
    return peer_key(key, REFILL)


@kernel
def clear_all(views, members):
    """Delete the state of some members."""
    for member in members:
        clear(views, member)


@kernel
def _fits(views, extra):
    """Whether one more subscription fits: a row of a view grows by two at most, an InView by all copies."""
    copies = views.peak[0] + extra + 4
    return views.peak[0] + 2 <= views.partial.shape[1] and views.peak[1] + copies <= views.inward.shape[1]


@kernel
def leave_all(views, members, done, rules, cycle, channel, key):
    """Unsubscribe members from number `done` on; returns (number served, messages)."""
    messages = 0
    while done < len(members):
        member = members[done]
        # Replacing one member by others can put as many entries into one InView as knew it.
        if views.peak[1] + views.in_size[member] > views.inward.shape[1]:
            return done, messages
        own = peer_key(peer_key(key, LEAVE), member)
        sent, _ = unsubscribe(views, member, rules.c, channel, own, np.int64(0))
        messages += sent
        done += 1
    return done, messages


@kernel
def expire(views, alive, cycle):
    """Drop entries with an expired lease from the views of live members."""
    for member in range(len(views.size)):
        if alive[member]:
            for place in range(views.size[member] - 1, -1, -1):
                if views.expires[member, place] <= cycle:
                    drop(views, member, place)


@kernel
def _end_lease(views, member):
    """Drop a member with an expired lease from the views of the members in its InView."""
    for i in range(views.in_size[member]):
        holder = np.int64(views.inward[member, i])
        place = find(views.partial[holder], views.size[holder], member)
        if place >= 0:
            drop(views, holder, place)
    views.in_size[member] = 0
    views.inward[member, :] = -1


@kernel
def subscribe_all(views, members, done, rules, cycle, channel, key, again):
    """Subscribe newcomers, or members `again`, from number `done` on; returns (number served, messages)."""
    messages = 0
    while done < len(members):
        member = members[done]
        if not _fits(views, rules.c):
            return done, messages
        done += 1
        if not channel.alive[member]:
            continue
        own = peer_key(peer_key(key, RENEW if again else JOIN), member)
        ends = again and views.lease_end[member] <= cycle
        if not again:
            views.served[member] = views.contact[member] < 0  # it founds the community
        extra = np.int64(0) if again and views.served[member] else rules.c
        messages += _subscribe(views, member, rules, extra, cycle, channel, own, ends)
    return done, messages


@kernel
def _subscribe(views, member, rules, extra, cycle, channel, own, ends):
    """Subscribe through the first member that answers, with a new lease if the old one has expired.

    `ends` tells whether to remove the member from views that have it by the old lease. Returns messages.
    """
    if views.lease_end[member] <= cycle:
        views.lease_end[member] = cycle + rules.lease + below(draw(own, 0), rules.lease // 2 + 1)
    views.heard[member] = cycle
    start, messages, k = reach_somebody(views, member, rules.contact_first, channel, own, np.int64(1))
    if ends:
        _end_lease(views, member)  # only now, because members of its InView may answer
    if messages > 0:
        views.asked[member] = cycle
    if start >= 0:
        messages += request(views, member, start, extra, rules, channel, own, k)
    return messages


@kernel
def merge_all(views, pairs, done, rules, cycle, channel, key):
    """Link members to others of their community, which serve them; returns (number served, messages)."""
    messages = 0
    while done < len(pairs):
        member, other = pairs[done]
        if not _fits(views, rules.c):
            return done, messages
        done += 1
        own = peer_key(peer_key(key, MERGE), member)
        if find(views.partial[member], views.size[member], other) < 0:
            keep(views, member, other, views.lease_end[other])
        messages += 1
        if arrives(channel, member, other, draw(own, 0)):
            messages += request(views, member, other, np.int64(0), rules, channel, own, np.int64(1))
    return done, messages


@kernel
def beat(views, cycle, channel, key):
    """Send a heartbeat along every link; returns the messages."""
    messages = 0
    for member in range(len(views.size)):
        if channel.alive[member]:
            own = peer_key(peer_key(key, BEAT), member)
            for place in range(views.size[member]):
                target = np.int64(views.partial[member, place])
                messages += 1
                if arrives(channel, member, target, draw(own, place)):
                    views.heard[target] = cycle
    return messages


@kernel
def balance(views, channel, key):
    """One round towards weights that sum to 1 out of and into every member; two messages per link."""
    into = np.zeros(len(views.size))
    messages = 0
    for member in range(len(views.size)):
        if channel.alive[member]:
            for place in range(views.size[member]):
                into[views.partial[member, place]] += views.weight[member, place]
    for member in range(len(views.size)):
        if not channel.alive[member]:
            continue
        own = peer_key(peer_key(key, BALANCE), member)
        size = views.size[member]
        for place in range(size):
            target = np.int64(views.partial[member, place])
            messages += 2
            channel.sent[member] += 1
            if arrives(channel, target, member, draw(own, place)) and channel.alive[target]:
                views.weight[member, place] /= into[target]
        total = views.weight[member, :size].sum()
        for place in range(size):
            views.weight[member, place] /= total
    return messages
