from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.topics import NestedRanges, TopicTree
from sub2sub.errors import InputError

# A history of a hierarchy: each number adds a topic below one of those present, or removes a leaf, or
# gives a topic a further parent. Small spans make the numbers run out often.
histories = st.lists(
    st.tuples(st.sampled_from("aaaarp"), st.integers(0, 10**6), st.integers(0, 10**6)), max_size=40
)
spans = st.sampled_from([200, 2**12, 2**53])


def _replay(history, span):
    ranges = NestedRanges(TopicTree(), span)
    tree = ranges.tree
    for row, (what, x, y) in enumerate(history):
        topics = list(tree)
        t, p = topics[x % len(topics)], topics[y % len(topics)]
        if what == "a":
            ranges.add(f"t{row}", [t])
        elif what == "r" and t != 0 and not tree.subtopics(t):
            ranges.remove(t)
        elif what == "p" and not tree.includes(t, p) and p not in tree.parents(t):
            tree.add_parent(t, p)
    return ranges


def _contains(outer: np.ndarray, inner: tuple[int, int]) -> bool:
    return bool(np.any((outer[:, 0] <= inner[0]) & (inner[1] <= outer[:, 1])))


@given(histories, spans)
@settings(deadline=None, max_examples=150)
def test_a_topic_includes_another_exactly_when_its_ranges_contain_the_others(history, span) -> None:
    ranges = _replay(history, span)
    for u in ranges.tree:
        for t in ranges.tree:
            assert _contains(ranges.ranges(u), ranges.range(t)) == ranges.tree.includes(u, t)


@given(histories, spans)
@settings(deadline=None, max_examples=150)
def test_an_event_matches_exactly_its_topic_and_the_supertopics(history, span) -> None:
    ranges = _replay(history, span)
    for t in ranges.tree:
        point = ranges.point(t)
        matching = {
            u for u in ranges.tree if any(low <= point <= high for low, high in ranges.closed_ranges(u))
        }
        assert matching == {t, *ranges.tree.supertopics(t)}
        assert ranges.topic_at(point) == t


@given(histories, spans)
@settings(deadline=None, max_examples=150)
def test_the_ranges_of_one_topic_are_disjoint(history, span) -> None:
    ranges = _replay(history, span)
    for u in ranges.tree:
        rows = ranges.ranges(u)
        rows = rows[np.argsort(rows[:, 0])]
        assert np.all(rows[:, 0] < rows[:, 1])
        assert np.all(rows[:-1, 1] <= rows[1:, 0])


@given(histories, spans, st.integers(0, 10**6))
@settings(deadline=None, max_examples=150)
def test_add_reports_exactly_the_ranges_that_moved(history, span, x) -> None:
    ranges = _replay(history, span)
    topics = list(ranges.tree)
    before = {t: ranges.range(t) for t in topics}
    added = ranges.add("new", [topics[x % len(topics)]])
    after = {t: ranges.range(t) for t in topics}
    assert added.moved == {t: (before[t], after[t]) for t in topics if before[t] != after[t]}


def test_nothing_moves_until_the_numbers_run_out() -> None:
    ranges = NestedRanges(TopicTree(), span=64)
    moved = [ranges.add(f".t{k}").moved for k in range(20)]
    first = next(k for k, m in enumerate(moved) if m)
    assert first > 5
    assert all(not m for m in moved[:first])


def test_a_removed_topics_numbers_are_not_given_to_the_next_one() -> None:
    ranges = NestedRanges(TopicTree.from_paths([".a"]))
    low, high = ranges.range(".a")
    ranges.remove(".a")
    ranges.add(".b")
    assert ranges.range(".b")[0] >= high
    assert ranges.topic_at(low) == 0


def test_a_full_range_is_refused_and_leaves_everything_as_it_was() -> None:
    ranges = NestedRanges(TopicTree(), span=6)
    for path in (".a", ".b", ".a.x"):
        ranges.add(path)
    before = ranges.bounds()
    with pytest.raises(InputError, match="6 numbers are too few for 5 topics"):
        ranges.add(".a.y")
    assert len(ranges.tree) == 4
    assert np.array_equal(ranges.bounds()[:4], before)


def test_a_hundred_thousand_topics_fifty_deep_and_ten_thousand_wide() -> None:
    tree = TopicTree()
    ranges = NestedRanges(tree)
    topic = 0
    for k in range(50):
        topic = ranges.add(f"deep{k}", [topic]).topic
    wide = ranges.add("wide", [topic]).topic
    moves = 0
    for k in range(10_000):
        moves += bool(ranges.add(f"wide{k}", [wide]).moved)
    for k in range(100_000 - len(tree)):
        moves += bool(ranges.add(f"more{k}", [(k * 7919) % len(tree)]).moved)
    assert len(tree) == 100_000
    assert tree.depth() >= 51
    assert moves < 20
    bounds = ranges.bounds()
    child = np.arange(1, 100_000)
    parent = np.array([tree.parents(int(t))[0] for t in child])
    # Inside the parent but past its first number, which is the parent's event.
    assert np.all(bounds[parent, 0] < bounds[child, 0])
    assert np.all(bounds[child, 1] <= bounds[parent, 1])
    assert np.all(bounds[:, 0] < bounds[:, 1])
    order = child[np.lexsort((bounds[child, 0], parent))]
    same = parent[order[1:] - 1] == parent[order[:-1] - 1]
    assert np.all(bounds[order[:-1], 1][same] <= bounds[order[1:], 0][same])


def test_a_ready_tree_of_a_hundred_thousand_topics_has_equal_room_everywhere() -> None:
    tree = TopicTree()
    for k in range(1, 100_000):
        tree.add(f"t{k}", [(k - 1) // 10])
    bounds = NestedRanges(tree).bounds()
    assert (bounds[:, 1] - bounds[:, 0]).min() == 2**53 // 100_000


def test_shares_of_ranges_shrink_with_the_number_of_subtopics_so_that_none_is_starved() -> None:
    """The k-th subtopic gets 1/(k + 2) of what is left: about 1/k^2 of the whole, not 2^-k."""
    ranges = NestedRanges(TopicTree(), span=2**53)
    widths = []
    for k in range(300):
        added = ranges.add(f".t{k}")
        assert not added.moved
        low, high = ranges.range(added.topic)
        widths.append((high - low) / 2**53)
    assert all(width == pytest.approx(1 / ((k + 1) * (k + 2)), rel=1e-6) for k, width in enumerate(widths))
