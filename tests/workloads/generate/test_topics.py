"""Topic workloads: trees of the asked shape, shares as stated, rows that do not depend on partitioning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sub2sub.errors import InputError
from workloads.generate.topics import TopicSpec, depth, random_tree, regular_tree


def test_a_regular_tree_has_the_given_fanout_at_each_depth() -> None:
    tree = regular_tree((3, 2, 4))
    assert np.bincount([depth(topic) for topic in tree]).tolist() == [1, 3, 6, 24]


@settings(max_examples=25, deadline=None)
@given(topics=st.integers(1, 300), max_depth=st.integers(1, 8), seed=st.integers(0, 1000))
def test_a_random_tree_is_a_tree(topics: int, max_depth: int, seed: int) -> None:
    tree = random_tree(topics, max_depth, seed)
    known = set(tree)
    assert len(known) == topics
    for topic in tree[1:]:
        parent = topic.rpartition(".")[0] or "."
        assert parent in known
        assert depth(topic) <= max_depth


@pytest.mark.parametrize(("exponent", "bias"), [(0.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.7, 0.5)])
def test_subscribers_choose_topics_in_the_stated_shares(exponent: float, bias: float) -> None:
    spec = TopicSpec(regular_tree((3, 3)), exponent, bias)
    chosen = np.bincount(spec.subscriptions(200_000, seed=6), minlength=13)
    assert stats.chisquare(chosen, 200_000 * spec.shares(exponent, bias)).pvalue > 1e-4
    depths = np.array([depth(topic) for topic in spec.topics])
    per_depth = np.array([spec.shares(0.0, bias)[depths == k][0] for k in range(3)])
    assert np.allclose(per_depth[1:] / per_depth[:-1], bias)


def test_events_have_a_law_of_their_own_and_rows_are_slices() -> None:
    spec = TopicSpec(random_tree(50, 5, seed=3), exponent=1.2)
    events = spec.events(100_000, seed=4)
    assert stats.chisquare(np.bincount(events, minlength=50)).pvalue > 1e-4
    assert np.array_equal(spec.events(700, 4, start=65_300), events[65_300:66_000])


def test_impossible_topic_workloads_are_refused() -> None:
    with pytest.raises(InputError, match="each once"):
        TopicSpec((".a", ".a"))
    with pytest.raises(InputError, match="depth_bias"):
        TopicSpec((".",), depth_bias=0)
    with pytest.raises(InputError, match="fanout, depth 1 = 0"):
        regular_tree((3, 0))
