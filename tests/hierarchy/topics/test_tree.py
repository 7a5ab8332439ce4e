from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierarchy.topics import TopicTree
from sub2sub.errors import InputError
from workloads.generate.topic_ranges import depth_first
from workloads.generate.topics import random_tree


def test_paths_dict_and_graph_give_the_same_hierarchy() -> None:
    by_paths = TopicTree.from_paths([".a.b", ".a.c", ".d"])
    by_dict = TopicTree.from_dict({"a": {"b": {}, "c": {}}, "d": {}})
    by_graph = TopicTree.from_graph(
        nx.DiGraph([(".", ".a"), (".a", ".b"), (".a", ".c"), (".", ".d")])  # names need not be paths
    )
    for tree in (by_paths, by_dict):
        assert {tree.name(t) for t in tree} == {".", ".a", ".a.b", ".a.c", ".d"}
        assert [tree.name(u) for u in tree.supertopics(".a.b")] == [".a", "."]
        assert tree.depth() == 2
    assert [by_graph.name(u) for u in by_graph.supertopics(".b")] == [".a", "."]


def test_a_topic_may_be_listed_after_its_subtopic() -> None:
    tree = TopicTree.from_paths([".a.b", ".a"])
    assert len(tree) == 3


def test_several_topics_without_supertopic_hang_under_an_added_root() -> None:
    tree = TopicTree.from_graph(nx.DiGraph([("x", "y"), ("z", "y")]))
    assert tree.name(0) == "."
    assert tree.parents("x") == [0]
    assert [tree.name(p) for p in tree.parents("y")] == ["x", "z"]


def test_several_parents_make_every_ancestor_a_supertopic() -> None:
    tree = TopicTree.from_dict({"a": {"b": {}}, "c": {"d": {}}})
    tree.add_parent(".a.b", ".c.d")
    assert tree.includes(".c", ".a.b")
    assert tree.includes(".a", ".a.b")
    assert not tree.includes(".a", ".c.d")
    assert tree.children(".c.d") == []
    assert [tree.name(t) for t in tree.subtopics(".c.d")] == [".a.b"]


def test_a_removed_topic_is_unknown_and_its_number_is_not_reused() -> None:
    tree = TopicTree.from_paths([".a.b"])
    number = tree.number(".a.b")
    tree.remove(".a.b")
    assert ".a.b" not in tree
    assert number not in tree
    assert tree.add(".a.b") == number + 1


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: TopicTree.from_paths([".a", ".a"]), r"paths\[1\]: topic '.a' is listed twice"),
        (lambda: TopicTree.from_paths([".a", ".b..c"]), r"paths\[1\]: .*empty parts"),
        (lambda: TopicTree.from_paths(["a"]), r"paths\[0\]: expected a path"),
        (lambda: TopicTree.from_paths([".a."]), r"paths\[0\]: expected a path"),
        (lambda: TopicTree.from_paths([" "]), r"paths\[0\]: expected the name"),
        (lambda: TopicTree.from_dict({"a": {"": {}}}), r"topics\['.a'\]: expected the name of a subtopic"),
        (lambda: TopicTree.from_dict({"a": 3}), r"topics\['.a'\]: expected a dict"),
        (lambda: TopicTree.from_graph(nx.DiGraph([("a", "b"), ("b", "a")])), "graph: .*form a cycle"),
        (lambda: TopicTree.from_graph(nx.DiGraph()), "at least one topic"),
        (lambda: TopicTree.from_graph(nx.DiGraph([(".", "a"), ("b", "a")])), "has no supertopic"),
        (lambda: TopicTree.from_graph(nx.DiGraph([(1, 2)])), "graph: expected the name"),
        (lambda: TopicTree().number(".x"), "topic: '.x' is unknown"),
        (lambda: TopicTree().number(7), "topic: 7 is unknown"),
        (lambda: TopicTree().add(".x.y"), "topic: '.x' is unknown"),
        (lambda: TopicTree().add("."), "is there already"),
        (lambda: TopicTree().add("x", [".", "."]), "parents: expected one or more different"),
        (lambda: TopicTree().remove("."), "is the root"),
        (lambda: TopicTree().rename(".", ".x"), "below the root, got the root"),
        (lambda: TopicTree.from_paths([".a"]).rename(".a", ""), "name: expected the name of a topic"),
        (lambda: TopicTree.from_paths([".a", ".b"]).rename(".a", ".b"), "'.b' is there already"),
        (lambda: TopicTree.from_paths([".a.b"]).remove(".a"), "topic with subtopics"),
        (lambda: TopicTree.from_paths([".a.b"]).add_parent(".a", ".a.b"), "would close a cycle"),
        (lambda: TopicTree.from_paths([".a.b"]).add_parent(".a.b", ".a"), "already"),
    ],
)
def test_what_cannot_be_a_hierarchy_is_refused_in_one_line(build, message) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        build()
    assert "\n" not in str(refusal.value)


@given(st.integers(1, 60), st.integers(1, 5), st.integers(0, 9))
def test_a_topic_has_one_number_in_workloads_and_in_trees(count: int, depth: int, seed: int) -> None:
    grown = random_tree(count, depth, seed)
    for topics in (grown, depth_first(grown)):
        tree = TopicTree.numbered(topics)
        assert [tree.number(topic) for topic in topics] == list(range(count))


@pytest.mark.parametrize("topics", [(".a", "."), (".", ".a.b", ".a"), (".", ".a.b"), (".a",)])
def test_topics_before_their_supertopics_cannot_have_their_places_as_numbers(topics: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"topics\[\d\]: expected '.*', a topic comes after its supertopic"):
        TopicTree.numbered(topics)
