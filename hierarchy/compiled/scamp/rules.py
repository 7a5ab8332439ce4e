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

from hierarchy.compiled.common.channel import next_bits, send
from hierarchy.compiled.common.rows import add, find, remove_at
from sub2sub.compiled.common.randomness import below, unit
from sub2sub.compiled.machinery.compilation import kernel


class ScampViews(NamedTuple):
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


class ScampRules(NamedTuple):
    """The fields of `ScampSettings` that kernels read."""

    c: int
    lease: int
    indirection: int
    hop_limit: int
    contact_first: bool


@kernel
def keep_contact(views, holder, peer, expires):
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
def drop_entry(views, holder, place):
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
def forward_copy(views, member, holder, arrived, hop_limit, channel):
    """Forward one copy of `member`'s subscription from `holder`, until somebody keeps it.

    `arrived` is false if the holder has already decided to forward it.
    """
    for _ in range(hop_limit):
        size = views.size[holder]
        unknown = arrived and holder != member and find(views.partial[holder], size, member) < 0
        if unknown and keeps(next_bits(channel), size):
            keep_contact(views, holder, member, views.lease_end[member])
            return
        if size == 0:
            return
        target = np.int64(views.partial[holder, below(next_bits(channel), size)])
        arrived = send(channel, holder, target)
        if arrived:
            holder = target


@kernel
def spread_subscription(views, member, server, extra, rules, channel):
    """Have `server` spread `member`'s subscription."""
    size = views.size[server]
    if size < views.wanted[server]:
        extra = max(extra, rules.c)
    if size == 0 and server != member:
        keep_contact(
            views, server, member, views.lease_end[member]
        )  # a founder has no member to forward it to
        return
    for copy in range(size + extra):
        # Entries added meanwhile come after the first `size`.
        place = copy if copy < size else below(next_bits(channel), size)
        target = np.int64(views.partial[server, place])
        through = send(channel, server, target)
        holder = target if through else np.int64(server)
        forward_copy(views, member, holder, through, rules.hop_limit, channel)


@kernel
def reach_somebody(views, member, contact_first, channel):
    """Find a member that answers: of the view, of the InView, or the contact; -1 if nobody does.

    With `contact_first` the contact is asked first.
    """
    contact = views.contact[member]
    if contact_first and contact >= 0 and send(channel, member, contact):
        return contact
    for row, size in ((views.partial, views.size), (views.inward, views.in_size)):
        for _ in range(min(3, size[member])):
            target = np.int64(row[member, below(next_bits(channel), size[member])])
            if send(channel, member, target):
                return target
    if not contact_first and contact >= 0 and send(channel, member, contact):
        return contact
    return np.int64(-1)


@kernel
def indirect(views, member, start, steps, channel):
    """Forward `member`'s request from `start`; returns the member at which it ends.

    It follows weighted links; from a member that is not served yet it goes to its contact.
    """
    holder = start
    for _ in range(steps):
        if holder != member and not views.served[holder]:
            target = views.contact[holder]
            if target < 0:
                break
        else:
            size = views.size[holder]
            if size == 0:
                break
            left = unit(next_bits(channel)) * views.weight[holder, :size].sum()
            place = 0
            while place < size - 1 and left >= views.weight[holder, place]:
                left -= views.weight[holder, place]
                place += 1
            target = np.int64(views.partial[holder, place])
        if send(channel, holder, target):  # otherwise the sender gets no acknowledgement and tries again
            holder = target
    return holder


@kernel
def request(views, member, start, extra, rules, channel):
    """Let the member at which a walk from `start` ends serve `member`'s subscription."""
    server = indirect(views, member, start, rules.indirection, channel)
    if server == member and not views.served[member]:  # no member on the way is served, so it is the founder
        views.served[member], views.asked[member] = 1, -1
        return
    if server == member:
        server = start
    if not views.served[server]:
        return
    if send(channel, server, member):
        views.served[member], views.asked[member] = 1, -1
        few = views.size[member] < max(1, views.wanted[member] // 2)  # its events would reach few members
        if few and find(views.partial[member], views.size[member], server) < 0:
            keep_contact(views, member, server, views.lease_end[server])
    spread_subscription(views, member, server, extra, rules, channel)


@kernel
def unsubscribe(views, member, c, channel):
    """Let all but c + 1 of the members that know `member` replace it."""
    size, known_by = views.size[member], views.in_size[member]
    for i in range(known_by):
        holder = np.int64(views.inward[member, i])
        through = send(channel, member, holder)
        place = find(views.partial[holder], views.size[holder], member)
        if not through or place < 0:
            continue
        drop_entry(views, holder, place)
        if i < known_by - c - 1 and size > 0:
            other = np.int64(views.partial[member, i % size])
            if other != holder and find(views.partial[holder], views.size[holder], other) < 0:
                keep_contact(
                    views, holder, other, views.expires[member, i % size]
                )  # the lease that the leaver knows
    for i in range(size):
        other = np.int64(views.partial[member, i])
        place = find(views.inward[other], views.in_size[other], member)
        if place >= 0:
            remove_at(views.inward, views.in_size, other, place)
    clear_view(views, member)


@kernel
def clear_view(views, member):
    """Delete the state of `member`."""
    views.partial[member, :] = -1
    views.inward[member, :] = -1
    views.size[member] = 0
    views.in_size[member] = 0
    views.lease_end[member] = 0
    views.contact[member] = -1
    views.served[member] = 0
    views.asked[member] = -1
