"""FIND_SUPER_CONTACT: asking the neighbourhood for members of the super-community.

CAMCAST Section 3.3, Figure 5. A request names the topics searched for, at first the parent alone, and spreads
from neighbour to neighbour. A process that gets it for the first time and knows members of one of these
topics answers with them; one that knows none passes it on, until its time to live is over. When a request
finds nobody, the next one, after a timeout, names one more supertopic, up to the root; when it finds members
of a farther one, the search goes on for nearer ones.

Readings
--------
- The pseudo-code starts the message with t itself and stops at an answer from t; as the prose has it, the
  search is for super(t) and stops there.
- The pseudo-code would widen a narrowed search again at every timeout. Here a table that holds members
  of a farther supertopic is searched for nearer ones only.
- Requests and answers travel within one cycle; timeouts are counted in cycles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierarchy.channel import arrives
from hierarchy.super_tables.rules import Search, answer, merge
from sub2sub.errors import InputError
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import cycle_key, draw, peer_key, stream_number

STREAM = stream_number("camcast bootstrap")


class Flood:
    """Finds super-contacts through neighbours.

    Parameters
    ----------
    neighbourhood : (n, k) int32
        Neighbours of each member, -1 for none: any weakly consistent overlay of all members, whatever
        their topics, such as the view of a CYCLON layer, which may change it in place.
    ttl : int
        Steps a request goes at most.
    """

    def __init__(self, neighbourhood: NDArray[np.int32], ttl: int = 3) -> None:
        if ttl < 1:
            raise InputError(f"ttl: expected a whole number not below 1, got {ttl!r}")
        self.neighbourhood = neighbourhood
        self.ttl = ttl

    def find(self, search: Search) -> tuple[NDArray[np.int32], int]:
        """Spread each request through the neighbourhood."""
        found = search.nothing()
        key = cycle_key(search.seed, STREAM, search.cycle)
        messages = flood_all(
            search.state,
            search.slots,
            search.topic_table,
            self.neighbourhood,
            search.requests,
            self.ttl,
            search.channel,
            key,
            found,
        )
        return found, int(messages)


@kernel
def flood_all(state, slots, topic_table, neighbourhood, requests, ttl, channel, key, found):
    """Spread each request, and merge the answers into its row of `found`; returns messages."""
    n = len(state.topic)
    seen = np.full(n, -1, np.int64)
    waiting = np.empty(n, np.int32)
    steps = np.empty(n, np.int32)
    told = np.empty(found.shape[1], np.int32)
    messages = 0
    for number in range(len(requests)):
        member, slot, scope = requests[number]
        own = peer_key(peer_key(key, slot), member)
        k = np.int64(0)
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
                through = arrives(channel, at, to, draw(own, k))
                k += 1
                if not through or seen[to] == number:
                    continue
                seen[to] = number
                k = answer(state, slots, slot, scope, topic_table, to, len(told), told, own, k)
                if told[0] >= 0:
                    messages += 1
                    back = arrives(channel, to, member, draw(own, k))
                    k += 1
                    if back:
                        for candidate in told:
                            if candidate >= 0 and candidate != member:
                                merge(state.topic, found[number], len(told), slots, slot, candidate)
                elif step + 1 < ttl:
                    waiting[tail], steps[tail] = to, step + 1
                    tail += 1
    return messages
