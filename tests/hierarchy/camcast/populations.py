"""Random hierarchies, subscriptions and faults for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from hierarchy.camcast import Communities, TopicSettings
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.network import Network


@st.composite
def trees(draw, most_topics: int = 12, several_parents: bool = True) -> TopicTree:
    tree = TopicTree()
    for k in range(draw(st.integers(0, most_topics - 1))):
        tree.add(f"t{k}", [draw(st.integers(0, k))])
    if several_parents and len(tree) > 2:
        for _ in range(draw(st.integers(0, 3))):
            t, p = (draw(st.integers(0, len(tree) - 1)) for _ in range(2))
            if not tree.includes(t, p) and p not in tree.parents(t):
                tree.add_parent(t, p)
    return tree


@st.composite
def communities(draw, most_members: int = 60, **options) -> Communities:
    tree = draw(trees(**options))
    topics = draw(st.lists(st.integers(0, len(tree) - 1), min_size=1, max_size=most_members))
    return Communities.of(tree, np.array(topics))


@st.composite
def networks(draw, n: int) -> Network:
    network = Network.whole(n)
    for peer in draw(st.sets(st.integers(0, n - 1), max_size=n - 1)):
        network.alive[peer] = 0
    if draw(st.booleans()):
        network.group[: draw(st.integers(0, n))] = 1
    network.loss = draw(st.sampled_from([0.0, 0.15, 0.6]))
    return network


settings_of_topics = st.builds(
    TopicSettings,
    c=st.sampled_from([0.0, 1.0, 5.0]),
    g=st.sampled_from([1.0, 5.0, 50.0]),
    a=st.sampled_from([1.0, 2.0]),
    z=st.integers(2, 4),
    b=st.sampled_from([None, 3.0]),
)
