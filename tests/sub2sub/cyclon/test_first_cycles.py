"""Why views fill sooner than in a simulation whose messages take time: CYCLON once more, event by event.

Independent of the library: a heap of events, dictionaries for views. A cycle of ours is the case without
latency: whoever was contacted earlier in the cycle passes on what it got.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count
from random import Random

import numpy as np
import pytest

from sub2sub import CyclonSettings, Stack
from sub2sub.compiled.cyclon.layer import Cyclon

PEERS, ROOM, SHUFFLE = 1000, 20, 8
Links = list[tuple[int, float]]
Event = tuple[float, int, int, int | None, Links, list[int]]  # time, number, peer, asker, links, those sent


def keep(view: dict[int, float], own: int, links: Links, sent: list[int]) -> None:
    """Accept links to unknown peers: in free places, or instead of links that were sent."""
    gone = [peer for peer in sent if peer in view]
    for peer, made in links:
        if peer != own and peer not in view and (len(view) < ROOM or gone):
            if len(view) >= ROOM:
                del view[gone.pop()]
            view[peer] = made


def sizes(latency: float, cycles: int, random: Random) -> list[float]:
    """Mean size of a view after each cycle, if a message takes this share of a cycle."""
    order, number = random.sample(range(PEERS), PEERS), count()
    views = {order[0]: {order[1]: 0.0}}
    views |= {order[k]: {order[random.randrange(k)]: 0.0} for k in range(1, PEERS)}
    events: list[Event] = [(random.random(), next(number), peer, None, [], []) for peer in views]
    heapify(events)
    found: list[float] = []
    while len(found) < cycles:
        time, _, peer, asker, links, sent = heappop(events)
        found += [float(np.mean([*map(len, views.values())]))] * (int(time) - len(found))
        view = views[peer]
        if links:
            if asker is not None:
                back = random.sample(list(view), min(SHUFFLE, len(view)))
                answer = [(each, view[each]) for each in back]
                if answer:
                    heappush(events, (time + latency, next(number), asker, None, answer, sent))
                sent = back
            keep(view, peer, links, sent)
        else:
            heappush(events, (time + 1, next(number), peer, None, [], []))
            partner = min(view, key=view.__getitem__, default=None)
            if partner is not None:
                del view[partner]
                chosen = random.sample(list(view), min(SHUFFLE - 1, len(view)))
                request = [*((each, view[each]) for each in chosen), (peer, time)]
                heappush(events, (time + latency, next(number), partner, peer, request, chosen))
    return found


def test_a_cycle_is_one_of_messages_that_take_no_time() -> None:
    stack, ours = Stack(PEERS, [Cyclon(PEERS, CyclonSettings(), seed=1)], seed=1), []
    stack.bootstrap()
    for cycle in range(1, 4):
        stack.step(cycle)
        ours.append(float(np.mean(stack["cyclon"].size)))  # type: ignore[attr-defined]
    assert ours == pytest.approx(sizes(0.0, 3, Random(1)), abs=0.5)
    assert ours[0] == pytest.approx(4.4, abs=0.2)


def test_messages_that_take_a_tenth_of_a_cycle_make_it_lag_by_most_of_a_cycle() -> None:
    at_once, late = sizes(0.0, 4, Random(2)), sizes(0.1, 4, Random(2))
    assert late[0] == pytest.approx(2.8, abs=0.2)
    assert all(before < after for before, after in zip(late, at_once, strict=True))
    assert late[1] < at_once[1] < late[2] + 0.5 < late[3]
