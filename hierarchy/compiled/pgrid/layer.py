"""P-Grid as a layer: an index from communities to their members, found by routing.

Rules and references: `hierarchy.compiled.pgrid.rules`. Every cycle each peer meets one it knows of, so the
trie grows and repairs itself, and replicas copy each other's announcements. Every member announces its
community again and again, by a request routed to the key of the topic; the peer found there tells its
buddies. A search is routed in the same way and brings back random members from what the peer it ends at
holds.

CAMCAST Section 5.2.2: a newcomer joins the overlay through gateways that have no part in any community.
Here they hand it a random one of the last peers that came. Peers keep a few acquaintances, and
choose the next one to meet from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierarchy.compiled.common.channel import WORD, Channel, channel_of
from hierarchy.compiled.common.rows import named
from hierarchy.compiled.pgrid.rules import Trie
from hierarchy.compiled.pgrid.steps import (
    are_in_place,
    introduce_newcomer,
    meet_all,
    route_all,
    sample_members,
    tell,
)
from hierarchy.peers.pgrid import ANNOUNCE, GATEWAY, MEET, STREAM
from hierarchy.peers.settings import PGridSettings
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.layer import LayerBase
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import below, draw, mix, peer_key
from sub2sub.compiled.common.views import LinkTable, table_links
from sub2sub.peers.draws import cycle_key, stream_number


class Postings:
    """Announcements *member m is of community t*, as the peers of an index hold them.

    Examples
    --------
    >>> index = Postings()
    >>> index.post(holder=[4, 4, 5], topic=[1, 1, 1], member=[7, 8, 7], expires=[10, 10, 10])
    >>> index.copy_between(np.array([[4, 5]]))
    >>> index.rows[index.rows[:, 0] == 5, 2].tolist()
    [7, 8]
    """

    def __init__(self) -> None:
        self.rows = np.empty((0, 4), np.int64)

    def post(self, holder: ArrayLike, topic: ArrayLike, member: ArrayLike, expires: ArrayLike) -> None:
        """Add announcements; a newer one of the same member takes the place of the older."""
        new = np.column_stack([holder, topic, member, expires]).astype(np.int64)
        self._set(np.concatenate([self.rows, new]))

    def expire(self, cycle: int) -> None:
        """Drop the announcements that have expired."""
        self.rows = self.rows[self.rows[:, 3] > cycle]

    def withdraw(self, members: ArrayLike) -> None:
        """Drop all announcements of some members."""
        self.rows = self.rows[~np.isin(self.rows[:, 2], members)]

    def keep_where(self, kept: NDArray[np.bool_]) -> None:
        """Keep the rows that are marked."""
        self.rows = self.rows[kept]

    def copy_between(self, pairs: NDArray[np.int64]) -> None:
        """Let both holders of each pair have what either had."""
        if len(pairs) == 0 or len(self.rows) == 0:
            return
        first = np.searchsorted(self.rows[:, 0], pairs)
        counts = np.searchsorted(self.rows[:, 0], pairs, side="right") - first
        parts = [self.rows]
        for side in (0, 1):
            take = np.repeat(first[:, side] - np.cumsum(counts[:, side]) + counts[:, side], counts[:, side])
            copied = self.rows[take + np.arange(counts[:, side].sum())].copy()
            copied[:, 0] = np.repeat(pairs[:, 1 - side], counts[:, side])
            parts.append(copied)
        self._set(np.concatenate(parts))

    def span(
        self, holder: NDArray[np.int64], topic: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the rows of each (holder, topic) begin and end."""
        code = self._code(self.rows[:, 0], self.rows[:, 1])
        wanted = self._code(holder, topic)
        return np.searchsorted(code, wanted), np.searchsorted(code, wanted, side="right")

    @staticmethod
    def _code(holder: NDArray[np.int64], topic: NDArray[np.int64]) -> NDArray[np.int64]:
        return holder << 31 | topic

    def _set(self, rows: NDArray[np.int64]) -> None:
        """Sort by holder, topic and member, and keep the latest of equal ones."""
        order = np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], rows[:, 0]))
        rows = rows[order]
        last = np.ones(len(rows), bool)
        last[:-1] = np.any(rows[1:, :3] != rows[:-1, :3], axis=1)
        self.rows = rows[last]


class SearchAnswers(NamedTuple):
    """Answers to searches."""

    members: NDArray[np.int32]  # (searches, wanted) members found, padded with -1
    first: NDArray[np.int64]  # (searches,) the smallest number known, other than the searcher's; -1: none
    following: NDArray[np.int64]  # (searches,) number after the searcher's, at the end the first; -1: none
    reached: NDArray[np.bool_]  # (searches,) whether a request got where its key belongs
    known: NDArray[np.int64]  # (searches,) members that the answering peer knew; 0 where the search failed
    hops: NDArray[np.int64]  # (searches,) steps of each request
    messages: NDArray[np.int64]  # (searches,) messages that it took, those to dead references included


class PGrid(LayerBase):
    """A P-Grid of all members, indexing them by community.

    Parameters
    ----------
    tree : TopicTree
        Topics; the key of one is a hash of its name.
    topic : (n,) array
        Community of each member.

    Examples
    --------
    >>> from hierarchy.camcast import Communities
    >>> group = Communities.chain(10, 90)
    >>> grid, network = PGrid(group.tree, group.topic, seed=1), Network.whole(100)
    >>> grid.join(np.arange(100), np.full(100, -1), cycle=0)
    >>> for cycle in range(30):
    ...     cost = grid.step(cycle, network)
    >>> found = grid.search([5, 50], [1, 0], wanted=4, cycle=30, channel=channel_of(network))
    >>> group.topic[found.members].tolist(), found.known.tolist()
    ([[1, 1, 1, 1], [0, 0, 0, 0]], [90, 10])
    """

    name = "pgrid"
    saved = ("trie", "contact", "announce_in", "recent", "joining")

    def __init__(
        self, tree: TopicTree, topic: ArrayLike, seed: int, settings: PGridSettings | None = None
    ) -> None:
        self.tree = tree
        self.topic = np.asarray(topic, np.int32)
        self.seed = seed
        self.settings = s = settings or PGridSettings()
        n = len(self.topic)
        depth = max(1, floor(log2(max(2.0, n / s.replication))))
        self.trie = Trie(
            np.zeros(n, np.uint64),
            np.zeros(n, np.int32),
            np.full((n, depth, s.references), -1, np.int32),
            np.full((n, 4 * s.replication), -1, np.int32),
            np.full((n, 4 * s.replication), -1, np.int32),
        )
        self.contact = np.full(n, -1, np.int64)
        self.announce_in = np.full(n, -1, np.int64)  # cycle of the next announcement; -1 for none
        self.recent = np.empty(0, np.int64)  # the last peers that came, as the gateways know them
        self.joining = np.empty(0, np.int64)
        self.postings = Postings()

    def join(self, peers: ArrayLike, contacts: ArrayLike, cycle: int) -> None:
        """Start `peers` afresh with one contact each (-1: the one that the gateways name)."""
        peers, contacts = np.asarray(peers, np.int64), np.asarray(contacts, np.int64)
        self._forget(peers)
        self.contact[peers] = contacts
        self.announce_in[peers] = cycle
        self.joining = np.concatenate([self.joining[~np.isin(self.joining, peers)], peers])

    def leave(self, peers: ArrayLike, cycle: int) -> None:
        """Take `peers` out; they withdraw their announcements."""
        peers = np.asarray(peers, np.int64)
        self.postings.withdraw(peers)
        self._forget(peers)
        self.joining = self.joining[~np.isin(self.joining, peers)]

    def step(self, cycle: int, network: Network) -> dict[str, int]:
        """Introduce newcomers, meet, hand over data, announce."""
        key = cycle_key(self.seed, STREAM, cycle)
        channel = channel_of(network)
        pairs = np.empty((16 * len(self.topic), 2), np.int64)
        introductions, count = self._introduce(channel, np.uint64(peer_key(key, GATEWAY)), pairs)
        meetings, count = meet_all(
            self.trie,
            (self.settings.replication, self.settings.recursion),
            channel,
            np.uint64(peer_key(key, MEET)),
            pairs,
            count,
        )
        self.postings.expire(cycle)
        self.postings.copy_between(pairs[:count])
        self.postings.keep_where(self._in_place())
        due = (self.announce_in >= 0) & (self.announce_in <= cycle) & (network.alive == 1)
        announcements = self.announce(np.flatnonzero(due), cycle, channel)
        knowledge = self.trie.reference[0].size + self.trie.buddy.shape[1]
        return {
            "messages": introductions + meetings + announcements,
            "failed": int(channel.failed[0]),
            "bytes": WORD * ((introductions + meetings) * knowledge + 3 * announcements),
            "meetings": meetings,
            "announcements": announcements,
        }

    def search(
        self, starts: ArrayLike, topics: ArrayLike, wanted: int, cycle: int, channel: Channel, salt: int = 0
    ) -> SearchAnswers:
        """Route one request from each start to the key of each topic, for `wanted` random members.

        Requests with another `salt` draw independently in the same cycle. Nobody finds itself.
        """
        starts, topics = np.asarray(starts, np.int64), np.asarray(topics, np.int64)
        key = np.uint64(peer_key(cycle_key(self.seed, stream_number("pgrid search"), cycle), salt))
        at, hops, messages = self._route(starts, topics, channel, key)
        low, high = self.postings.span(at, topics)
        members = np.full((len(starts), wanted), -1, np.int32)
        first, following = self._first(low, high, starts), np.empty(len(starts), np.int64)
        held = np.ascontiguousarray(self.postings.rows[:, 2])
        sample_members(held, low, high, starts, np.uint64(mix(key)), members, following)
        return SearchAnswers(members, first, following, at >= 0, high - low, hops, messages)

    def search_up(
        self, starts: NDArray[np.int64], topics: NDArray[np.int64], begin: NDArray[np.int64],
        scope: NDArray[np.int64], wanted: int, cycle: int, channel: Channel, salt: int,
    ) -> tuple[NDArray[np.int32], int]:  # fmt: skip
        """Search for each start up its chain, `scope` topics from `begin` on, until a topic has members.

        Returns a row of members for each, padded with -1, and the number of messages.
        """
        members = np.full((len(starts), wanted), -1, np.int32)
        messages = 0
        for step in range(int(scope.max(initial=0))):
            left = np.flatnonzero((members[:, 0] < 0) & (scope > step))
            if len(left) == 0:
                break
            answers = self.search(
                starts[left], topics[begin[left] + step], wanted, cycle, channel, salt + step
            )
            members[left] = answers.members
            messages += int(answers.messages.sum()) + len(left)
        return members, messages

    def _first(
        self, low: NDArray[np.int64], high: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The first member of each span of announcements that is not the searcher; -1 for none."""
        held = np.append(self.postings.rows[:, 2], -1)
        place = low + ((low < high) & (held[low] == starts))
        return np.where(place < high, held[np.minimum(place, len(held) - 1)], -1)

    def announce(self, members: NDArray[np.int64], cycle: int, channel: Channel) -> int:
        """Route the announcements of `members` to where they belong, and to the buddies; returns messages."""
        key = np.uint64(peer_key(cycle_key(self.seed, STREAM, cycle), ANNOUNCE))
        at, _, messages = self._route(members, self.topic[members].astype(np.int64), channel, key)
        self.announce_in[members] = np.where(at >= 0, cycle + self.settings.lease // 2, cycle + 1)
        members, at = members[at >= 0], at[at >= 0]
        buddies = self.trie.buddy[at]
        told = buddies >= 0
        tell(at, buddies, channel, np.uint64(mix(key)), told)
        holder = np.concatenate([at, buddies[told]])
        member = np.concatenate([members, np.repeat(members, told.sum(axis=1))])
        self.postings.post(
            holder, self.topic[member], member, np.full(len(member), cycle + self.settings.lease)
        )
        return int(messages.sum() + (buddies >= 0).sum())

    def referenced(self, alive: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which members a live peer refers to, has announced, or could be introduced to."""
        t, live = self.trie, alive == 1
        rows = self.postings.rows
        return named(
            len(alive),
            t.reference[live],
            t.buddy[live],
            t.acquaintance[live],
            rows[live[rows[:, 0]], 2],
            self.recent,
            self.contact[live],
        )

    def links(self) -> LinkTable:
        """References, buddies and acquaintances as (holders, members, stamps of 0)."""
        return table_links(self.trie.reference, self.trie.buddy, self.trie.acquaintance)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All state that a checkpoint stores."""
        return {**super().arrays(), "postings": self.postings.rows}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that `arrays` returned."""
        super().load(arrays)
        self.postings.rows = np.array(arrays["postings"])

    def _forget(self, peers: NDArray[np.int64]) -> None:
        t = self.trie
        t.path[peers], t.length[peers] = 0, 0
        t.reference[peers], t.buddy[peers], t.acquaintance[peers] = -1, -1, -1
        self.contact[peers] = -1
        self.announce_in[peers] = -1
        self.postings.keep_where(~np.isin(self.postings.rows[:, 0], peers))

    def _keys(self, topics: NDArray[np.int64]) -> NDArray[np.uint64]:
        different, place = np.unique(topics, return_inverse=True)
        keys = [mix(np.uint64(stream_number(self.tree.name(int(t))))) for t in different]
        return np.array(keys, np.uint64)[place]

    def _in_place(self) -> NDArray[np.bool_]:
        """Which postings are where they belong."""
        rows = self.postings.rows
        right: NDArray[np.bool_] = are_in_place(
            self.trie, np.ascontiguousarray(rows[:, 0]), self._keys(rows[:, 1])
        )
        return right

    def _introduce(self, channel: Channel, key: Any, pairs: NDArray[np.int64]) -> tuple[int, int]:
        """Bring newcomers to their leaves; returns messages, and how many pairs have data to share."""
        messages, count = 0, 0
        for peer in self.joining[channel.alive[self.joining] == 1]:
            draws = np.uint64(peer_key(key, peer))
            contact = self.contact[peer]
            if contact >= 0 and not channel.alive[contact]:
                contact = -1
            known = self.recent[(channel.alive[self.recent] == 1) & (self.recent != peer)]
            if contact < 0 and len(known):
                contact = known[below(np.uint64(draw(draws, 1 << 20)), len(known))]
                messages += 2
            if contact >= 0:
                messages += introduce_newcomer(self.trie, peer, contact, channel, key, pairs, count)
                count += 1
            self.recent = np.append(self.recent[self.recent != peer], peer)[-16:]
        self.joining = self.joining[channel.alive[self.joining] == 0]
        return messages, count

    def _route(
        self, starts: NDArray[np.int64], topics: NDArray[np.int64], channel: Channel, key: Any
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        result = np.zeros((3, len(starts)), np.int64)
        route_all(self.trie, starts, self._keys(topics), self.settings.attempts, channel, key, result)
        return result[0], result[1], result[2]
