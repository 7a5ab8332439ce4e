"""SCAMP's phases of a cycle, each for all members one after the other.

Serving stops before a subscription that might not fit into the rows, and says how far it got: the layer
then widens them and goes on.
"""

from __future__ import annotations

import numpy as np

from hierarchy.channel import arrives
from hierarchy.membership.rows import find
from hierarchy.membership.scamp.rules import (
    clear,
    drop,
    indirect,
    keep,
    reach_somebody,
    subscribe,
    unsubscribe,
)
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, draw, peer_key

__all__ = ["balance", "beat", "clear_all", "expire", "join_all", "leave_all", "renew_all"]

LEAVE, JOIN, RENEW, BEAT, BALANCE = range(-5, 0)  # draws of the phases are kept apart


@kernel
def clear_all(views, members):
    """Forget all that some members know."""
    for member in members:
        clear(views, member)


@kernel
def _fits(views, extra):
    """Whether one more subscription fits: a row of a view grows by one at most, an InView by all copies."""
    copies = views.peak[0] + extra + 2
    return views.peak[0] < views.partial.shape[1] and views.peak[1] + copies <= views.inward.shape[1]


@kernel
def leave_all(views, members, done, contact, heard, rules, cycle, channel, key):
    """Unsubscribe members from number `done` on; returns (how far it got, messages)."""
    messages = 0
    while done < len(members):
        member = members[done]
        # Replacing one member by others can put as many entries into one InView as knew it.
        if views.peak[1] + views.in_size[member] > views.inward.shape[1]:
            return done, messages
        own = peer_key(peer_key(key, LEAVE), member)
        sent, _ = unsubscribe(views, member, rules[0], channel, own, np.int64(0))
        messages += sent
        done += 1
    return done, messages


@kernel
def expire(views, alive, cycle):
    """Drop entries of live members whose lease is over."""
    for member in range(len(views.size)):
        if alive[member]:
            for place in range(views.size[member] - 1, -1, -1):
                if views.expires[member, place] <= cycle:
                    drop(views, member, place)


@kernel
def _end_lease(views, member):
    """Drop a member whose lease is over from the views that it knows to have it."""
    for i in range(views.in_size[member]):
        holder = np.int64(views.inward[member, i])
        place = find(views.partial[holder], views.size[holder], member)
        if place >= 0:
            drop(views, holder, place)
    views.in_size[member] = 0
    views.inward[member, :] = -1


@kernel
def join_all(views, members, done, contact, heard, rules, cycle, channel, key):
    """Subscribe newcomers from number `done` on; returns (how far it got, messages)."""
    messages = 0
    while done < len(members):
        member = members[done]
        if not _fits(views, rules[0]):
            return done, messages
        done += 1
        if channel.alive[member]:
            own = peer_key(peer_key(key, JOIN), member)
            messages += _subscribe(views, member, contact, heard, rules, rules[0], cycle, channel, own)
    return done, messages


@kernel
def renew_all(views, members, done, contact, heard, rules, cycle, channel, key):
    """Subscribe members again from number `done` on; returns (how far it got, messages)."""
    messages = 0
    while done < len(members):
        member = members[done]
        if not _fits(views, np.int64(0)):
            return done, messages
        done += 1
        if views.lease_end[member] <= cycle:
            _end_lease(views, member)
        own = peer_key(peer_key(key, RENEW), member)
        messages += _subscribe(views, member, contact, heard, rules, np.int64(0), cycle, channel, own)
    return done, messages


@kernel
def _subscribe(views, member, contact, heard, rules, extra, cycle, channel, own):
    """Begin a lease and spread it through whoever answers; returns messages."""
    _, lease, steps, hop_limit, contact_first = rules
    views.lease_end[member] = cycle + lease + below(draw(own, 0), lease // 2 + 1)
    heard[member] = cycle
    start, messages, k = reach_somebody(
        views, member, contact[member], contact_first, channel, own, np.int64(1)
    )
    if start < 0:
        return messages
    server, walked, k = indirect(views, start, steps, channel, own, k)
    if server == member:
        server = start
    if views.size[member] == 0:
        keep(views, member, server, views.lease_end[server])
    sent, _ = subscribe(views, member, server, extra, hop_limit, channel, own, k)
    return messages + walked + sent


@kernel
def beat(views, heard, cycle, channel, key):
    """Send a heartbeat along every link; returns the messages."""
    messages = 0
    for member in range(len(views.size)):
        if channel.alive[member]:
            own = peer_key(peer_key(key, BEAT), member)
            for place in range(views.size[member]):
                target = np.int64(views.partial[member, place])
                messages += 1
                if arrives(channel, member, target, draw(own, place)):
                    heard[target] = cycle
    return messages


@kernel
def balance(views, channel, key):
    """One round towards weights whose sums out of and into every member are 1; two messages a link."""
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
            if arrives(channel, target, member, draw(own, place)) and channel.alive[target]:
                views.weight[member, place] /= into[target]
        total = views.weight[member, :size].sum()
        for place in range(size):
            views.weight[member, place] /= total
    return messages
