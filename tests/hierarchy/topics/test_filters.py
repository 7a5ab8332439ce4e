"""Topic filters mean what the specifications of MQTT 5 and NATS say, and their ranges are exact."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.shared.topics import Topics
from hierarchy.topics.filters import levels_of, matches, parse, ranges_of
from sub2sub.errors import InputError

# (filter, topic, whether it matches): MQTT 5.0 (OASIS), Sections 4.7.1.2, 4.7.1.3, 4.7.2 and 4.7.3.
MQTT = [
    ("sport/tennis/player1/#", "sport/tennis/player1", True),
    ("sport/tennis/player1/#", "sport/tennis/player1/ranking", True),
    ("sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", True),
    ("sport/#", "sport", True),
    ("#", "sport/tennis", True),
    ("sport/tennis/+", "sport/tennis/player1", True),
    ("sport/tennis/+", "sport/tennis/player2", True),
    ("sport/tennis/+", "sport/tennis/player1/ranking", False),
    ("sport/+", "sport", False),
    ("sport/+", "sport/", True),
    ("+", "sport", True),
    ("+/tennis/#", "sport/tennis/player1", True),
    ("sport/+/player1", "sport/tennis/player1", True),
    ("+/+", "/finance", True),
    ("/+", "/finance", True),
    ("+", "/finance", False),
    ("#", "$SYS/monitor/Clients", False),
    ("+/monitor/Clients", "$SYS/monitor/Clients", False),
    ("$SYS/#", "$SYS/monitor/Clients", True),
    ("$SYS/monitor/+", "$SYS/monitor/Clients", True),
    ("ACCOUNTS/#", "Accounts/x", False),
]
# NATS documentation, Subject-Based Messaging: wildcards.
NATS = [
    ("time.*.east", "time.us.east", True),
    ("time.*.east", "time.eu.east", True),
    ("time.*.east", "time.us.east.atlanta", False),
    ("time.us.*", "time.us.east", True),
    ("time.us.*", "time.us.east.atlanta", False),
    ("time.us.>", "time.us.east", True),
    ("time.us.>", "time.us.east.atlanta", True),
    ("time.us.>", "time.us", False),
    ("*.*.east.>", "time.us.east.atlanta", True),
    (">", "time", True),
]


def ranges(topics: Topics, text: str, most: int = 1000) -> list[tuple[int, int]]:
    return ranges_of(parse(text), topics.nested, topics._labels.__getitem__, text, most)


def selected(topics: Topics, text: str, names: list[str]) -> list[str]:
    """The topics whose events lie in the ranges of a filter."""
    pairs = ranges(topics, text)
    points = {name: topics.nested.point(topics.number(name)) for name in names}
    return [name for name, point in points.items() if any(low <= point <= high for low, high in pairs)]


@pytest.mark.parametrize(("text", "topic", "wanted"), MQTT + NATS)
def test_the_examples_of_the_specifications(text: str, topic: str, wanted: bool) -> None:
    assert matches(parse(text), levels_of(topic)) is wanted
    dots = parse(text).language == "nats"
    others = [other for _, other, _ in (NATS if dots else MQTT)]
    found = selected(Topics.of([topic, *others]), text, [topic])
    assert found == [topic] * wanted


@pytest.mark.parametrize(
    "text", ["sport/tennis#", "sport/tennis/#/ranking", "sport+", "a.b*", "a.>.b", "a.>b"]
)
def test_the_invalid_filters_of_the_specifications_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="filter: expected"):
        parse(text)


level = st.sampled_from(["a", "b", "c", "$d", ""])
path = st.lists(level, min_size=2, max_size=4).map("/".join)
pattern = st.tuples(
    st.lists(st.one_of(level, st.just("+")), min_size=1, max_size=4), st.sampled_from(["", "/#"])
).map(lambda both: "/".join(both[0]) + both[1])


@settings(max_examples=300)
@given(st.lists(path, min_size=1, max_size=20, unique=True), st.one_of(pattern, st.just("#")))
def test_the_ranges_of_a_filter_hold_exactly_the_topics_that_match(paths: list[str], text: str) -> None:
    if "/" not in text and text not in ("#", "+"):
        return
    topics = Topics.of(paths)
    names = sorted({"/".join(levels) for levels in topics._numbers if len(levels) > 1})
    wanted = [name for name in names if matches(parse(text), levels_of(name))]
    assert selected(topics, text, names) == wanted
    pairs = ranges(topics, text)
    assert all(high + 1 < low for (_, high), (low, _) in pairwise(pairs))


@settings(max_examples=200)
@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(".".join), min_size=1, unique=True),
    st.lists(st.sampled_from("ab*"), min_size=1, max_size=3),
    st.booleans(),
)
def test_the_same_of_nats(paths: list[str], parts: list[str], rest: bool) -> None:
    text = ".".join(parts) + ".>" * rest
    topics = Topics.of(paths)
    names = [".".join(levels) for levels in topics._numbers if levels]
    assert selected(topics, text, names) == [n for n in names if matches(parse(text), levels_of(n))]


def test_a_topic_with_its_subtopics_or_all_its_subtopics_are_one_range_however_many_there_are() -> None:
    topics = Topics.of([f"a.{k}.{j}" for k in range(30) for j in range(3)])
    for text, count in (("a/#", 1), ("a.>", 1), ("a/+/#", 1), ("a/+", 30), ("a.*.*", 90), ("a.*.1", 30)):
        assert len(ranges(topics, text)) == count, text


def test_a_filter_that_needs_too_many_ranges_says_how_many_and_what_to_do() -> None:
    topics = Topics.of([f"a.{k}.x" for k in range(30)], most=20)
    with pytest.raises(InputError, match=r"needs 30 ranges.*at most 20; subscribe to 'a/#' \(1 range\)"):
        topics.subscribe("a.*", by="alice")
    assert not topics.subscriptions
