"""SCAMP's exchange rules over arrays. Ganesh, Kermarrec, Massoulié: *Peer-to-Peer Membership Management for
Gossip-Based Protocols*, IEEE Transactions on Computers 52(2), 2003.

- Subscription: the contact sends a copy of the newcomer's name to all members of its view and `extra` more to
  random ones. A member that gets a copy keeps it with probability 1/(1 + size of its view), unless it has the
  newcomer already, or forwards it to a random member of its view. Views then have about (c + 1) ln n members,
  though no member knows n.
- Unsubscription: all but c + 1 of the members that know the leaver replace it by members of its view.
- Indirection: a request walks some steps along weighted links before a contact serves it. Weights are kept
  balanced, so that the walk ends at every member with the same probability.

Differences from the paper:

- A copy is dropped after `hop_limit` steps in all; the paper counts visits to each node.
- Subscriptions are sent over connections, as in CAMCAST's implementation: a sender notices that a message did
  not arrive, and tries another member of its view. If copies were lost, each renewal of a lease would result
  in fewer links, and a crash of a third of the members would leave views of two.
- A member that has not been served yet forwards requests to its contact.
- Renewals spread with c extra copies only if the server's view is smaller than it should be for the size of
  the community (`wanted`). With extra copies always, views would grow by c entries per lease; without any,
  views of small communities would shrink.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierarchy.channel import arrives
from hierarchy.membership.rows import add, find, remove_at
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import below, draw, unit


class Views(NamedTuple):
    """Views of all n members; row i is what member i knows, packed to the left."""

    partial: NDArray[np.int32]  # (n, capacity) PartialView: the members that a member gossips to
    size: NDArray[np.int32]  # (n,) entries of it
    expires: NDArray[np.int32]  # (n, capacity) cycle in which the lease of each entry ends
    weight: NDArray[np.float64]  # (n, capacity) weight of each link in walks
    inward: NDArray[np.int32]  # (n, more) InView: the members that have this one in their view
    in_size: NDArray[np.int32]  # (n,) entries of it
    lease_end: NDArray[np.int32]  # (n,) cycle in which the own subscription ends
    contact: NDArray[np.int64]  # (n,) the member to ask if no member of the views answers; -1 for none
    heard: NDArray[np.int32]  # (n,) cycle of the last heartbeat
    served: NDArray[np.uint8]  # (n,) whether it is in the community: the founder, or served by a member
    asked: NDArray[np.int32]  # (n,) cycle of the last request, until it is answered; -1 afterwards
    wanted: NDArray[np.int32]  # (n,) how many members the view should have; 0 if unknown
    peak: NDArray[np.int32]  # (2,) most entries of any view and of any InView so far; `Scamp` widens the rows


class Rules(NamedTuple):
    """The fields of `ScampSettings` that kernels read."""

    c: int
    lease: int
    indirection: int
    hop_limit: int
    contact_first: bool


@kernel
def keep(views, holder, peer, expires):
    """Let `holder` have `peer` in its view for a lease that ends in cycle `expires`, and tell `peer`."""
    place = views.size[holder]
    add(views.partial, views.size, holder, peer)
    views.expires[holder, place] = expires
    # A new link gets the mean weight; with the 1 of an empty row it would attract all walks.
    views.weight[holder, place] = views.weight[holder, :place].mean() if place > 0 else 1.0
    add(views.inward, views.in_size, peer, holder)
    views.peak[0] = max(views.peak[0], views.size[holder])
    views.peak[1] = max(views.peak[1], views.in_size[peer])


@kernel
def drop(views, holder, place):
    """Remove an entry of a view, without a message."""
    last = views.size[holder] - 1
    views.expires[holder, place] = views.expires[holder, last]
    views.weight[holder, place] = views.weight[holder, last]
    remove_at(views.partial, views.size, holder, place)


@kernel
def keeps(bits, size):
    """Whether a member with a view of this size keeps a subscription, given random bits."""
    return unit(bits) * (1 + size) < 1.0


@kernel
def forward_copy(views, member, holder, arrived, hop_limit, channel, own, k):
    """Forward one copy of `member`'s subscription from `holder`; returns (messages, next draw).

    `arrived` is false if the holder has already decided to forward it.
    """
    messages = 0
    for _ in range(hop_limit):
        size = views.size[holder]
        if arrived and holder != member and find(views.partial[holder], size, member) < 0:
            kept = keeps(draw(own, k), size)
            k += 1
            if kept:
                keep(views, holder, member, views.lease_end[member])
                return messages, k
        if size == 0:
            return messages, k
        target = np.int64(views.partial[holder, below(draw(own, k), size)])
        messages += 1
        arrived = arrives(channel, holder, target, draw(own, k + 1))
        k += 2
        if arrived:
            holder = target
    return messages, k


@kernel
def spread(views, member, server, extra, rules, channel, own, k):
    """Have `server` spread `member`'s subscription; returns (messages, next draw)."""
    messages = 0
    size = views.size[server]
    if size < views.wanted[server]:
        extra = max(extra, rules.c)
    if size == 0 and server != member:
        keep(views, server, member, views.lease_end[member])  # a founder has no member to forward it to
        return messages, k
    for copy in range(size + extra):
        if copy < size:  # entries added meanwhile come after these
            target = np.int64(views.partial[server, copy])
        else:
            target = np.int64(views.partial[server, below(draw(own, k), size)])
            k += 1
        messages += 1
        through = arrives(channel, server, target, draw(own, k))
        k += 1
        holder = target if through else np.int64(server)
        more, k = forward_copy(views, member, holder, through, rules.hop_limit, channel, own, k)
        messages += more
    return messages, k


@kernel
def reach_somebody(views, member, contact_first, channel, own, k):
    """Find a member that answers: of the view, of the InView, or the contact.

    Returns (the member or -1, messages, next draw). With `contact_first` the contact is asked first.
    """
    messages, contact = 0, views.contact[member]
    for turn in range(2):
        if contact >= 0 and turn == (0 if contact_first else 1):
            messages += 1
            through = arrives(channel, member, contact, draw(own, k))
            k += 1
            if through:
                return contact, messages, k
        if turn == 1:
            break
        for row, size in ((views.partial, views.size), (views.inward, views.in_size)):
            for _ in range(min(3, size[member])):
                target = np.int64(row[member, below(draw(own, k), size[member])])
                messages += 1
                through = arrives(channel, member, target, draw(own, k + 1))
                k += 2
                if through:
                    return target, messages, k
    return np.int64(-1), messages, k


@kernel
def indirect(views, member, start, steps, channel, own, k):
    """Forward `member`'s request from `start`; returns (where it ends, messages, next draw).

    It follows weighted links; from a member that is not served yet it goes to its contact.
    """
    at, messages = start, 0
    for _ in range(steps):
        if at != member and not views.served[at]:
            target = views.contact[at]
            if target < 0:
                break
        else:
            size = views.size[at]
            if size == 0:
                break
            left = unit(draw(own, k)) * views.weight[at, :size].sum()
            k += 1
            place = 0
            while place < size - 1 and left >= views.weight[at, place]:
                left -= views.weight[at, place]
                place += 1
            target = np.int64(views.partial[at, place])
        messages += 1
        through = arrives(channel, at, target, draw(own, k))
        k += 1
        if through:  # otherwise the sender gets no acknowledgement and tries again
            at = target
    return at, messages, k


@kernel
def request(views, member, start, extra, rules, channel, own, k):
    """Let the member at which a walk from `start` ends serve `member`'s subscription; returns messages."""
    server, messages, k = indirect(views, member, start, rules.indirection, channel, own, k)
    if server == member and not views.served[member]:  # no member on the way is served, so it is the founder
        views.served[member], views.asked[member] = 1, -1
        return messages
    if server == member:
        server = start
    if not views.served[server]:
        return messages
    answered = arrives(channel, server, member, draw(own, k))
    k += 1
    if answered:
        views.served[member], views.asked[member] = 1, -1
        few = views.size[member] < max(1, views.wanted[member] // 2)  # its events would reach few members
        if few and find(views.partial[member], views.size[member], server) < 0:
            keep(views, member, server, views.lease_end[server])
    sent, _ = spread(views, member, server, extra, rules, channel, own, k)
    return messages + 1 + sent


@kernel
def unsubscribe(views, member, c, channel, own, k):
    """Let all but c + 1 of the members that know `member` replace it; returns (messages, next draw)."""
    size, known_by = views.size[member], views.in_size[member]
    messages = 0
    for i in range(known_by):
        holder = np.int64(views.inward[member, i])
        messages += 1
        through = arrives(channel, member, holder, draw(own, k))
        k += 1
        place = find(views.partial[holder], views.size[holder], member)
        if not through or place < 0:
            continue
        drop(views, holder, place)
        if i < known_by - c - 1 and size > 0:
            other = np.int64(views.partial[member, i % size])
            if other != holder and find(views.partial[holder], views.size[holder], other) < 0:
                keep(views, holder, other, views.expires[member, i % size])  # the lease that the leaver knows
    for i in range(size):
        other = np.int64(views.partial[member, i])
        place = find(views.inward[other], views.in_size[other], member)
        if place >= 0:
            remove_at(views.inward, views.in_size, other, place)
    clear(views, member)
    return messages, k


@kernel
def clear(views, member):
    """Delete the state of `member`."""
    views.partial[member, :] = -1
    views.inward[member, :] = -1
    views.size[member] = 0
    views.in_size[member] = 0
    views.lease_end[member] = 0
    views.contact[member] = -1
    views.served[member] = 0
    views.asked[member] = -1
