"""Gateways: a few well-known members of each community that provide contacts (CAMCAST, Section 5.2.1).

The first members of a community are its gateways. When a gateway is dead, a newcomer replaces it. A newcomer
that finds no live gateway founds the community. Members ask the gateways again from time to time. So if all
gateways of a community crash at once and the next newcomer founds a second community of the same topic, the
two merge. Requests to gateways, and their replies, may be lost. A member that searches for super-processes
and gets none from the gateways asks a member of its own community ("exchanging super-process information
between the processes of a given community").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierarchy.compiled.common.channel import Channel, ask, begin_turn, next_bits
from hierarchy.compiled.common.rows import entries
from hierarchy.compiled.super_tables.rules import Search, answer, merge
from sub2sub.compiled.common.randomness import below, draw, peer_key, unit
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("gateways")
UNANSWERED, FOUNDS = -2, -1
LOST = 1 << 20  # where the draws for lost messages begin


class Gateways:
    """The gateways of all communities; also a `Finder` that asks them.

    Parameters
    ----------
    topics : int
        Maximum number of topics.
    count : int
        Number of gateways per community.

    Examples
    --------
    >>> from hierarchy.compiled.common.channel import channel_of
    >>> from sub2sub.compiled.common.network import Network
    >>> gateways, channel = Gateways(topics=1), channel_of(Network.whole(3))
    >>> topic = np.zeros(3, np.int32)
    >>> gateways.admit(np.arange(3), topic, cycle=0, channel=channel, seed=1).tolist()
    [-1, 0, 0]
    """

    def __init__(self, topics: int, count: int = 2) -> None:
        self.table = np.full((topics, count), -1, np.int32)

    def grow(self, topics: int) -> None:
        """Allocate space for more topics."""
        self.table = np.pad(self.table, ((0, topics - len(self.table)), (0, 0)), constant_values=-1)

    def admit(
        self, peers: NDArray[np.int64], topic: NDArray[np.int32], cycle: int, channel: Channel, seed: int
    ) -> NDArray[np.int64]:
        """Return a contact for each of `peers`, in their order.

        The result is `FOUNDS` for a peer that finds no live gateway, `UNANSWERED` if a message is lost.
        """
        contacts = np.empty(len(peers), np.int64)
        key = cycle_key(seed, STREAM, cycle)
        admit_all(self.table, peers, topic, channel, key, contacts)
        return contacts

    def find(self, search: Search) -> tuple[NDArray[np.int32], int]:
        """Ask the gateways of the requested topics, nearest first, then a member of the same community."""
        candidates = search.nothing()
        key = np.uint64(peer_key(cycle_key(search.seed, STREAM, search.cycle), -1))
        messages = ask_all(search.tables, self.table, search.requests, search.channel, key, candidates)
        return candidates, int(messages)


@kernel
def admit_all(gateways, peers, topic, channel, key, contacts):
    """Choose a live gateway as contact for each newcomer; newcomers replace missing or dead gateways."""
    for i in range(len(peers)):
        peer = peers[i]
        row, alive = gateways[topic[peer]], channel.alive
        draws = peer_key(key, peer)
        if unit(draw(draws, LOST)) < channel.loss or unit(draw(draws, LOST + 1)) < channel.loss:
            channel.failed[0] += 1
            channel.sent[peer] += 1
            contacts[i] = UNANSWERED
            continue
        contacts[i] = FOUNDS
        count = 0
        for j in range(len(row)):
            if row[j] >= 0 and row[j] != peer and alive[row[j]]:
                count += 1
                if below(draw(draws, j), count) == 0:  # each of them with the same chance
                    contacts[i] = row[j]
        channel.sent[peer] += 1
        channel.sent[contacts[i] if contacts[i] >= 0 else peer] += 1  # a founder is its own gateway
        for j in range(len(row)):
            if row[j] == peer:
                break
            if row[j] < 0 or not alive[row[j]]:
                row[j] = peer
                break


@kernel
def ask_all(tables, gateways, requests, channel, key, candidates):
    """Send each request to gateways, topic by topic, then to a neighbour; return the number of messages."""
    _, slots, topic_table = tables
    reply = np.empty(candidates.shape[1], np.int32)
    messages = 0
    for number in range(len(requests)):
        request, row = requests[number], candidates[number]
        member, slot, scope = request
        begin_turn(channel, peer_key(key, slot), member)
        for i in range(slots.start[slot], slots.start[slot] + scope):
            for asked in gateways[slots.chain[i]]:
                if asked >= 0 and asked != member:
                    messages += 2
                    put_to(tables, request, asked, channel, reply, row)
            if row[0] >= 0:
                break
        known = entries(topic_table[member])
        if row[0] < 0 and known > 0:
            asked = topic_table[member, below(next_bits(channel), known)]
            messages += 2
            put_to(tables, request, asked, channel, reply, row)
    return messages


@kernel
def put_to(tables, request, asked, channel, reply, row):
    """Merge one process's reply to a request into `row`."""
    member, slot, scope = request
    if ask(channel, member, asked):
        answer(tables, slot, scope, asked, len(reply), reply, channel)
        for candidate in reply:
            if candidate >= 0:
                merge(tables.state.topic, row, len(reply), tables.slots, slot, candidate)
