"""FIND_SUPER_CONTACT: asking the neighbourhood for members of the super-community.

CAMCAST, Section 3.3, Figure 5. A request names topics, at first only the parent, and spreads from neighbour
to neighbour. A process that gets it for the first time and knows members of one of these topics answers with
them; one that knows none forwards it, until its time to live is over. If a request finds no member, the next
one, after a timeout, names one more supertopic, up to the root. If it finds members of a distant supertopic,
the search for nearer ones goes on.

Interpretations
---------------
- The pseudo-code starts the message with t and stops at an answer from t. The prose is followed: the search
  is for super(t) and stops there.
- The pseudo-code would widen a narrowed search again at every timeout. Here, if a table has members of a
  distant supertopic, only nearer ones are searched for.
- Requests and answers take no time within a cycle; timeouts are counted in cycles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierarchy.compiled.common.channel import begin_turn, send
from hierarchy.compiled.super_tables.rules import Search, answer, merge
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.errors import InputError
from sub2sub.peers.draws import cycle_key, stream_number

STREAM = stream_number("camcast bootstrap")


class Flood:
    """Finds super-contacts through neighbours.

    Parameters
    ----------
    neighbourhood : (n, k) int32
        Neighbours of each member, of any topic, -1 for none: the view of a CYCLON layer, for example. It may
        be changed in place.
    ttl : int
        Maximum number of steps of a request.
    """

    def __init__(self, neighbourhood: NDArray[np.int32], ttl: int = 3) -> None:
        if ttl < 1:
            raise InputError(f"ttl: expected a whole number not below 1, got {ttl!r}")
        self.neighbourhood = neighbourhood
        self.ttl = ttl

    def find(self, search: Search) -> tuple[NDArray[np.int32], int]:
        """Spread each request through the neighbourhood."""
        candidates = search.nothing()
        key = cycle_key(search.seed, STREAM, search.cycle)
        tables, requests, channel = search.tables, search.requests, search.channel
        messages = flood_all(tables, self.neighbourhood, requests, self.ttl, channel, key, candidates)
        return candidates, int(messages)


@kernel
def flood_all(tables, neighbourhood, requests, ttl, channel, key, candidates):
    """Spread each request, and merge the answers into its row of `candidates`; returns messages."""
    state, slots, _ = tables
    n = len(state.topic)
    seen = np.full(n, -1, np.int64)
    waiting = np.empty(n, np.int32)
    steps = np.empty(n, np.int32)
    reply = np.empty(candidates.shape[1], np.int32)
    messages = 0
    for number in range(len(requests)):
        member, slot, scope = requests[number]
        begin_turn(channel, peer_key(key, slot), member)
        seen[member] = number
        waiting[0], steps[0] = member, 0
        head, tail = 0, 1
        while head < tail:
            at, step = waiting[head], steps[head]
            head += 1
            for i in range(neighbourhood.shape[1]):
                to = neighbourhood[at, i]
                if to < 0:
                    continue
                messages += 1
                if not send(channel, at, to) or seen[to] == number:
                    continue
                seen[to] = number
                answer(tables, slot, scope, to, len(reply), reply, channel)
                if reply[0] >= 0:
                    messages += 1
                    if send(channel, to, member):
                        for candidate in reply:
                            if candidate >= 0 and candidate != member:
                                merge(state.topic, candidates[number], len(reply), slots, slot, candidate)
                elif step + 1 < ttl:
                    waiting[tail], steps[tail] = to, step + 1
                    tail += 1
    return messages
