"""The readable routing of one peer and the kernels choose the same targets with the same draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast.dissemination import choose_targets, choose_upward
from hierarchy.shared import CamcastRoute
from hierarchy.shared.peer import TablePeer
from hierarchy.shared.router import range_neighbours, targets_of
from hierarchy.shared.routing import first_neighbours, routing_tables
from sub2sub.kernels.dice import Dice
from sub2sub.overlay.descriptors import Descriptor, Link
from tests.hierarchy.shared.driver import entries_of
from tests.hierarchy.shared.test_routing import overlay_of


def chosen_by_kernels(overlay, route: CamcastRoute, key: int) -> list[tuple[list[int], list[int]]]:
    tables, parameters = routing_tables(overlay, route)
    n, found = len(overlay.population), []
    for i in range(n):
        own = np.uint64(Dice(key).of_peer(i).key)
        upward = np.empty((tables.super_table[i].size, 2), np.int64)
        fanout, p_sel, p_a = (column[i] for column in parameters)
        count, k = choose_upward(tables.super_table[i], p_sel, p_a, own, upward)
        out = np.empty(tables.topic_table.shape[1], np.int32)
        near = first_neighbours(tables.topic_table[i], fanout, i, n, out)
        more, _ = choose_targets(tables.topic_table[i, near:], fanout - near, own, k, out[near:])
        found.append((upward[:count, 0].tolist(), out[: near + more].tolist()))
    return found


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 200), st.integers(0, 2**32), st.floats(0, 4), st.floats(1, 40), st.floats(1, 3))
def test_the_kernels_choose_as_the_readable_routing_does(n, seed, c, g, a) -> None:
    overlay, *_ = overlay_of(n, seed, ranges=False, cycles=8)
    people, route = overlay.population, CamcastRoute(c, g, a)
    ids = people.ids.tolist()
    own = [
        Descriptor.half_open(ids[k], tuple(low), tuple(end))
        for k, (low, end) in enumerate(people.boxes[:, :, : people.d].tolist())
    ]
    wanted = chosen_by_kernels(overlay, route, seed)
    for i in range(n):
        peer = TablePeer(own[i], overlay.settings.tables)
        peer.equals, peer.above = (
            [Link(own[j], stamp) for j, stamp in entries_of(getattr(overlay.tables, name)[i])]
            for name in ("equals", "above")
        )
        targets = targets_of(peer, route, Dice(seed).of_peer(i))
        assert tuple([ids.index(each.id) for each in part] for part in targets) == wanted[i]


@pytest.mark.parametrize(
    ("topical", "found"),
    [([0, 0, 0, 0], [2, 4]), ([0, 1, 0, 0], [4]), ([0, 1, 0, 1], []), ([1, 0, 1, 0], [2, 4])],
)
def test_only_adjacent_range_subscribers_that_want_an_event_get_it_along_the_ring(topical, found) -> None:
    ranges = {1: (5.0, 9.0), 2: (0.0, 9.0), 3: (0.0, 9.0), 4: (0.0, 1.0)}
    ring = [Descriptor.half_open(id, (low,), (end,)) for id, (low, end) in ranges.items()]
    assert [peer.id for peer in range_neighbours(ring, (0.5,), topical)] == found
