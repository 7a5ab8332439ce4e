"""Topics as ranges: an event matches a topic and its supertopics, from TOML to files and matching."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sub2sub.errors import InputError
from workloads.generate.churn import Churn
from workloads.generate.topic_ranges import TopicRanges, depth_first, last_below
from workloads.generate.topics import TopicSpec, random_tree
from workloads.match.bitmaps import count_matches
from workloads.settings.reading import read
from workloads.spec.files import WORKLOAD, load

NEWS = """
[topics]
fanout = [3, 2]
depth_bias = 2.0
event_exponent = 0.5

[churn]
session = 20
absence = 5
change = 0.1
"""


def below(topic: str, supertopic: str) -> bool:
    return supertopic in (".", topic) or topic.startswith(f"{supertopic}.")


@settings(max_examples=25, deadline=None)
@given(topics=st.integers(1, 60), max_depth=st.integers(1, 6), seed=st.integers(0, 1000))
def test_ranges_nest_as_topics_do(topics: int, max_depth: int, seed: int) -> None:
    tree = depth_first(random_tree(topics, max_depth, seed))
    last = last_below(tree)
    for number, topic in enumerate(tree):
        inside = [k for k, other in enumerate(tree) if below(other, topic)]
        assert inside == list(range(number, last[number] + 1))


def test_events_match_their_topic_and_its_supertopics() -> None:
    spec = TopicRanges.of("t", TopicSpec(random_tree(80, 5, seed=1), exponent=0.5))
    lows, highs = spec.subscriptions(500, seed=2)
    points = spec.candidates(2, 0, 100)
    paths = spec.topics.topics
    chosen, published = (paths[int(x)] for x in lows[:, 0]), [paths[int(x)] for x in points[:, 0]]
    subscribed = list(chosen)
    expected = [sum(below(topic, one) for one in subscribed) for topic in published]
    assert count_matches(lows, highs, points).tolist() == expected


def test_a_file_gives_the_topic_workload_and_its_churn(tmp_path: Path) -> None:
    (tmp_path / "news.toml").write_text(NEWS)
    spec = load(tmp_path / "news.toml")
    assert isinstance(spec, TopicRanges)
    assert spec.churn == Churn(20, 5, change=0.1)


def test_trees_come_from_files_and_lists_too(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("path\n.\n.b\n.a\n.a.x\n")
    table = {"file": "tree.csv", "column": "path", "exponent": 0.0}
    spec = read(WORKLOAD, {"name": "t", "topics": table}, folder=tmp_path)
    assert isinstance(spec, TopicRanges)
    assert spec.topics.topics == (".", ".a", ".a.x", ".b")
    grown = read(WORKLOAD, {"name": "t", "topics": {"count": 30, "max_depth": 3, "tree_seed": 5}})
    assert isinstance(grown, TopicRanges)
    assert set(grown.topics.topics) == set(random_tree(30, 3, 5))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "depth_bias",
            "depth_bais",
            r"news\.toml:4: topics\.depth_bais: unknown key, did you mean 'depth_bias'",
        ),
        ("[3, 2]", '"3,2"', r'topics\.fanout: expected a list of whole numbers, got "3,2"'),
        ("fanout = [3, 2]", "exponent = 1.0", "expected one of fanout, count, file, paths, got none"),
        ("fanout = [3, 2]", "fanout = [3]\nmax_depth = 4", "max_depth: expected only with 'count'"),
        ("session = 20", "sesion = 20", "did you mean 'session'"),
        ("session = 20", 'session = "20"', r'churn\.session: expected a number, got "20"'),
        ("[topics]", "events_follow = 'interest'\n[topics]", "events_follow: unknown key"),
    ],
)
def test_mistakes_are_refused_with_their_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in NEWS
    (tmp_path / "news.toml").write_text(NEWS.replace(old, new))
    with pytest.raises(InputError, match=message):
        load(tmp_path / "news.toml")
