"""SCAMP as a layer: joins, leases, heartbeats and balancing, a cycle at a time.

Rules and reference: `hierarchy.membership.scamp_rules`. Every subscription ends with its lease: then the
entries made by it go from all views, and its owner subscribes again through a random member of its own
view, which it keeps. A member that has heard no heartbeat for a while takes itself for isolated and does
the same.

Read differently from the paper: a renewed subscription spreads without the c extra copies. With them views
would grow by c entries each lease, without end (the paper's equilibrium counts only first subscriptions).
Messages take no time within a cycle; who joins or leaves is served at the start of the next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.membership.rows import find, widened
from hierarchy.membership.scamp_rules import (
    Channel,
    Views,
    arrives,
    clear,
    drop,
    indirect,
    keep,
    subscribe,
    unsubscribe,
)
from sub2sub.compilation import kernel
from sub2sub.errors import InputError
from sub2sub.network import Network
from sub2sub.randomness import below, cycle_key, draw, peer_key, stream_number

__all__ = ["Scamp", "ScampSettings"]

STREAM = stream_number("scamp")
LEAVE, JOIN, RENEW, BEAT, BALANCE = range(-5, 0)  # draws of the phases of a step are kept apart


@dataclass(frozen=True)
class ScampSettings:
    """Settings of SCAMP.

    Attributes
    ----------
    c : int
        Extra copies of a new subscription. Views settle at (c + 1) ln n; more of them stand more failures.
    lease : int
        Cycles a subscription lasts, up to half as many more by chance so that not all end at once.
    indirection : int
        Steps a request walks before it is served. More make views more even when many join by few contacts.
    isolation : int
        Cycles without a heartbeat after which a member subscribes again.
    hop_limit : int
        Steps after which a copy of a subscription is given up.
    """

    c: int = 0
    lease: int = 100
    indirection: int = 10
    isolation: int = 10
    hop_limit: int = 500

    def __post_init__(self) -> None:
        lowest = {"c": 0, "lease": 2, "indirection": 0, "isolation": 1, "hop_limit": 1}
        for field, low in lowest.items():
            value = getattr(self, field)
            if not isinstance(value, int) or value < low:
                raise InputError(f"{field}: expected a whole number not below {low}, got {value!r}")


class Scamp:
    """Partial views of a population, kept by SCAMP.

    Parameters
    ----------
    n : int
        Members, present or to come.
    seed : int
        Of all draws.
    settings : ScampSettings, optional
        See there.

    Examples
    --------
    >>> network = Network.whole(300)
    >>> scamp = Scamp(300, seed=1)
    >>> scamp.join(np.arange(300), np.r_[-1, np.arange(299)], cycle=0)
    >>> cost = scamp.step(0, network)
    >>> bool(3 < scamp.views.size.mean() < 9)  # ln 300 is 5.7
    True
    """

    name = "scamp"

    def __init__(self, n: int, seed: int, settings: ScampSettings | None = None) -> None:
        self.seed = seed
        self.settings = settings or ScampSettings()
        capacity = 16
        self.views = Views(
            np.full((n, capacity), -1, np.int32),
            np.zeros(n, np.int32),
            np.zeros((n, capacity), np.int32),
            np.zeros((n, capacity)),
            np.full((n, 4 * capacity), -1, np.int32),
            np.zeros(n, np.int32),
            np.zeros(n, np.int32),
            np.zeros(2, np.int32),
        )
        self.contact = np.full(n, -1, np.int32)  # the one given at the join, for when the view is empty
        self.heard = np.zeros(n, np.int32)  # cycle of the last heartbeat
        self.joining = np.empty(0, np.int64)
        self.leaving = np.empty(0, np.int64)

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` afresh with one contact each (-1: found a community), in this order."""
        peers, contacts = np.asarray(peers, np.int64), np.asarray(contacts, np.int64)
        self.contact[peers] = contacts
        self.joining = np.concatenate([self.joining[~np.isin(self.joining, peers)], peers])
        self.leaving = self.leaving[~np.isin(self.leaving, peers)]
        _clear_all(self.views, peers)

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Let `peers` unsubscribe; they may be gone from the network by then."""
        peers = np.asarray(peers, np.int64)
        self.joining = self.joining[~np.isin(self.joining, peers)]
        self.leaving = np.concatenate([self.leaving, peers])

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Serve leaves and joins, renew leases, send heartbeats."""
        key = cycle_key(self.seed, STREAM, cycle)
        channel = Channel(network.alive, network.group, network.loss)
        s = self.settings
        subscriptions = self._serve(_leave_all, self.leaving, cycle, key, channel)
        self.joining, joining = self.joining[:0], self.joining
        self.leaving = self.leaving[:0]
        subscriptions += self._serve(_join_all, joining, cycle, key, channel)
        due = (self.views.lease_end <= cycle) | (self.heard < cycle - s.isolation)
        due &= (network.alive == 1) & (self.views.lease_end > 0)
        subscriptions += self._serve(_renew_all, np.flatnonzero(due), cycle, key, channel)
        _expire(self.views, network.alive, cycle)
        beats = _beat(self.views, self.heard, cycle, channel, key)
        balance = _balance(self.views, channel, key) if s.indirection else 0
        return {
            "messages": subscriptions + beats + balance,
            "subscriptions": subscriptions,
            "heartbeats": beats,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything a checkpoint has to keep."""
        return {
            **self.views._asdict(),
            "contact": self.contact,
            "heard": self.heard,
            "joining": self.joining,
            "leaving": self.leaving,
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up the state that `arrays` gave."""
        self.views = Views(*(arrays[name].copy() for name in Views._fields))
        self.contact, self.heard = arrays["contact"].copy(), arrays["heard"].copy()
        self.joining, self.leaving = arrays["joining"].copy(), arrays["leaving"].copy()

    def _serve(self, serve: Any, members: NDArray[np.int64], cycle: int, key: Any, channel: Channel) -> int:
        """Serve members one after the other, widening the rows whenever the next might not fit."""
        s = self.settings
        rules = (s.c, s.lease, s.indirection, s.hop_limit)
        done, messages = 0, 0
        while done < len(members):
            start = done
            done, sent = serve(
                self.views, members, done, self.contact, self.heard, rules, np.int64(cycle), channel, key
            )
            messages += sent
            if done < len(members) or done == start:
                self._widen()
        return messages

    def _widen(self) -> None:
        v = self.views
        capacity, inward = 2 * v.partial.shape[1], 2 * v.inward.shape[1]
        weight = np.zeros((len(v.partial), capacity))
        weight[:, : v.weight.shape[1]] = v.weight
        self.views = v._replace(
            partial=widened(v.partial, capacity),
            expires=widened(v.expires, capacity),
            weight=weight,
            inward=widened(v.inward, inward),
        )


@kernel
def _clear_all(views, members):
    for member in members:
        clear(views, member)


@kernel
def _fits(views, extra):
    """Whether one more subscription fits: a row of a view grows by one at most, an InView by all copies."""
    copies = views.peak[0] + extra + 2
    return views.peak[0] < views.partial.shape[1] and views.peak[1] + copies <= views.inward.shape[1]


@kernel
def _leave_all(views, members, done, contact, heard, rules, cycle, channel, key):
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
def _expire(views, alive, cycle):
    for member in range(len(views.size)):
        if alive[member]:
            for place in range(views.size[member] - 1, -1, -1):
                if views.expires[member, place] <= cycle:
                    drop(views, member, place)


@kernel
def _end_lease(views, member, cycle):
    """Drop a member whose lease is over from the views that it knows to have it."""
    for i in range(views.in_size[member]):
        holder = views.inward[member, i]
        place = find(views.partial[holder], views.size[holder], member)
        if place >= 0 and views.expires[holder, place] <= cycle:
            drop(views, holder, place)
    views.in_size[member] = 0
    views.inward[member, :] = -1


@kernel
def _new_lease(lease, cycle, own, k):
    return cycle + lease + below(draw(own, k), lease // 2 + 1)


@kernel
def _join_all(views, members, done, contact, heard, rules, cycle, channel, key):
    c, lease, steps, hop_limit = rules
    messages = 0
    while done < len(members):
        member = members[done]
        if not _fits(views, c):
            return done, messages
        done += 1
        if not channel.alive[member]:
            continue
        own = peer_key(peer_key(key, JOIN), member)
        views.lease_end[member] = _new_lease(lease, cycle, own, np.int64(0))
        heard[member] = cycle
        if contact[member] >= 0:
            server, walked, k = indirect(views, contact[member], steps, channel, own, np.int64(1))
            if server == member:
                server = contact[member]
            if find(views.partial[member], views.size[member], server) < 0:
                keep(views, member, server)
            sent, _ = subscribe(views, member, server, c, hop_limit, channel, own, k)
            messages += walked + sent
    return done, messages


@kernel
def _renew_all(views, members, done, contact, heard, rules, cycle, channel, key):
    _, lease, steps, hop_limit = rules
    messages = 0
    while done < len(members):
        member = members[done]
        if not _fits(views, 0):
            return done, messages
        done += 1
        own = peer_key(peer_key(key, RENEW), member)
        if views.lease_end[member] <= cycle:
            _end_lease(views, member, cycle)
        views.lease_end[member] = _new_lease(lease, cycle, own, np.int64(0))
        heard[member] = cycle
        k = np.int64(1)
        start = contact[member]
        if views.size[member] > 0:
            start = views.partial[member, below(draw(own, k), views.size[member])]
            k += 1
        if start < 0:
            continue
        server, walked, k = indirect(views, start, steps, channel, own, k)
        if server == member:
            server = start
        if views.size[member] == 0:
            keep(views, member, server)
        sent, _ = subscribe(views, member, server, 0, hop_limit, channel, own, k)
        messages += walked + sent
    return done, messages


@kernel
def _beat(views, heard, cycle, channel, key):
    messages = 0
    for member in range(len(views.size)):
        if channel.alive[member]:
            own = peer_key(peer_key(key, BEAT), member)
            for place in range(views.size[member]):
                target = views.partial[member, place]
                messages += 1
                if arrives(channel, member, target, draw(own, place)):
                    heard[target] = cycle
    return messages


@kernel
def _balance(views, channel, key):
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
            target = views.partial[member, place]
            messages += 2
            if arrives(channel, target, member, draw(own, place)) and channel.alive[target]:
                views.weight[member, place] /= into[target]
        total = views.weight[member, :size].sum()
        for place in range(size):
            views.weight[member, place] /= total
    return messages
