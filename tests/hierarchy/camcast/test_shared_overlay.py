from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import Communities, Parameters, disseminate
from hierarchy.camcast.shared_overlay import tables_from_links
from hierarchy.topics import NestedRanges, TopicTree
from sub2sub.errors import InputError
from tests.hierarchy.camcast.populations import trees


@st.composite
def overlays(draw, several_parents: bool = False):
    tree = draw(trees(several_parents=several_parents))
    topic = np.array(draw(st.lists(st.integers(0, len(tree) - 1), min_size=2, max_size=40)))
    n = len(topic)
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=200))
    return tree, topic, np.array(pairs, np.int64).reshape(-1, 2)


@given(overlays(), st.integers(1, 4))
@settings(deadline=None)
def test_tables_hold_the_links_to_the_community_and_to_the_nearest_supertopic_linked(overlay, z) -> None:
    tree, topic, links = overlay
    bounds = NestedRanges(tree).bounds()[topic]
    tables = tables_from_links(bounds, links[:, 0], links[:, 1], z).tables
    for peer, t in enumerate(topic):
        known = {int(b) for a, b in links if a == peer and b != peer}
        own = tables.topic_table[peer]
        assert set(own[own >= 0].tolist()) == {x for x in known if topic[x] == t}
        nearest: set[int] = set()
        for u in tree.supertopics(int(t)):
            nearest = {x for x in known if topic[x] == u}
            if nearest:
                break
        above = tables.super_table[peer, 0]
        above = above[above >= 0].tolist()
        assert len(set(above)) == len(above) == min(z, len(nearest))
        assert set(above) <= nearest


@given(overlays(), st.integers(0, 2**32))
@settings(deadline=None)
def test_no_parasite_event_whatever_the_links(overlay, seed) -> None:
    tree, topic, links = overlay
    drawn = tables_from_links(NestedRanges(tree).bounds()[topic], links[:, 0], links[:, 1], seed=seed)
    count = len(drawn.ranges)
    params = Parameters(np.full(count, 1000, np.int32), np.ones(count), np.ones(count))
    publisher = seed % len(topic)
    spread = disseminate(drawn.tables, params, publisher, seed=seed)
    group = Communities.of(tree, topic)
    assert not np.any((spread.trace.first >= 0) & ~group.interested(int(topic[publisher])))


def test_several_parents_are_served_by_virtual_peers() -> None:
    """.b is a further parent of .a.x: its subscriber has a second range, that of .a.x."""
    tree = TopicTree.from_dict({"a": {"x": {}}, "b": {}})
    tree.add_parent(".a.x", ".b")
    nested = NestedRanges(tree)
    rows = [(0, nested.range(".a.x")), (1, nested.range(".a"))]
    rows += [(2, tuple(r)) for r in nested.ranges(".b").tolist()]
    bounds = [r for _, r in rows]
    everybody = [(a, b) for a in range(4) for b in range(4) if a != b]
    drawn = tables_from_links(bounds, *zip(*everybody, strict=True))
    count = len(drawn.ranges)
    params = Parameters(np.full(count, 10, np.int32), np.ones(count), np.ones(count))
    spread = disseminate(drawn.tables, params, 0, seed=1)
    owners = {rows[peer][0] for peer in np.flatnonzero(spread.trace.first >= 0)}
    assert owners == {0, 1, 2}
    assert spread.trace.first[2] < 0  # the virtual peer for .b's own events


def test_more_links_than_places_are_drawn_uniformly() -> None:
    bounds = [(5, 6)] + [(0, 10)] * 8
    counts = np.zeros(9, int)
    for cycle in range(2000):
        drawn = tables_from_links(bounds, [0] * 8, range(1, 9), z=2, seed=1, cycle=cycle)
        counts[drawn.tables.super_table[0, 0]] += 1
    assert counts[1:].min() > 430  # 500 expected, 3.6 standard deviations
    assert counts[1:].max() < 570


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([(3, 3)], [], []), "ranges: expected rows"),
        (([(0, 3)], [0], [1]), "expected numbers of peers below 1"),
        (([(0, 3)], [], [], 0), "z: expected a whole number not below 1"),
    ],
)
def test_what_is_no_overlay_is_refused(arguments, message) -> None:
    with pytest.raises(InputError, match=message):
        tables_from_links(*arguments)
