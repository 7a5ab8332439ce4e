"""Subscriptions by name: who receives an event is what filters and conditions say, by both routes."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from hierarchy import Topics
from hierarchy.shared.topic_overlay import TopicOverlay
from hierarchy.topics.filters import levels_of, matches, parse
from sub2sub import Float
from sub2sub.errors import InputError

PATHS = ["sport.soccer.cup", "sport.soccer.league", "sport.tennis.cup", "news.local", "news.world.economy"]
WANTED = [
    "sport",
    "sport.soccer",
    "sport.soccer.cup",
    "news",
    "sport.*",
    "sport.>",
    "*.soccer.*",
    "news.*.economy",
]


def crowd(seed: int, size: int = 150) -> Topics:
    """Subscribers of one or two filters each, half of them with a condition on the price."""
    rng, topics = np.random.default_rng(seed), Topics.of(PATHS, attributes={"price": Float(0, 100)})
    for number in range(size):
        for filter in rng.choice(WANTED, rng.integers(1, 3), replace=False).tolist():
            low = float(rng.integers(0, 80))
            conditions = {"price": (low, low + 40)} if rng.random() < 0.5 else {}
            topics.subscribe(filter, by=f"host {number}", subtopics=rng.random() < 0.8, **conditions)
    return topics


def audience(overlay: TopicOverlay, topic: str, price: float) -> set[str]:
    """Brute force: who wants an event."""
    found, event = set(), levels_of(topic)
    for wanted in overlay.topics.subscriptions:
        parsed, own = parse(wanted.filter), levels_of(wanted.filter)
        fits = matches(parsed, event) if parsed.has_wildcards else event == own
        fits |= not parsed.has_wildcards and wanted.subtopics and event[: len(own)] == own
        low, high = wanted.conditions.get("price", (0, 100))
        if fits and low <= price <= high:
            found.add(wanted.by)
    return found


@pytest.fixture(scope="module")
def overlay() -> TopicOverlay:
    return crowd(seed=3).overlay(seed=3).run(35)


TOPICS = ["sport", "sport.soccer", "sport.soccer.cup", "sport.tennis.cup", "news.world", "news.world.economy"]


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("route", ["rings", "camcast"])
def test_topic_and_content_reach_exactly_those_who_want_both(overlay, topic, route) -> None:
    for price in (0.0, 37.5, 100.0):
        if route == "camcast" and topic not in ("sport", "sport.soccer", "sport.soccer.cup"):
            with pytest.raises(InputError, match="by: expected a member of the topic"):
                overlay.publish(topic, price=price, route=route)
            continue
        wanted = audience(overlay, topic, price)
        found = overlay.publish(topic, price=price, route=route)
        assert set(found.received) == wanted
        assert found.missed == ()
        assert found.published.outcome.spam.sum() == 0
        assert len(found.received) == found.published.outcome.delivered[0]


def test_a_subscriber_with_several_ranges_counts_once() -> None:
    topics = Topics.of(["a.b", "a.c"])
    for filter in ("a", "a.b", "a.*", "a.>"):
        topics.subscribe(filter, by="alice")
    topics.subscribe("a", by="bob")
    for route in ("rings", "camcast"):
        found = topics.overlay(seed=1).run(15).publish("a.b" if route == "rings" else "a", route=route)
        assert found.received == ("alice", "bob")
        assert found.published.outcome.delivered.tolist() == [2]


def test_paths_with_slashes_and_dots_and_graphs_name_the_same_topics() -> None:
    for paths in (["sport/soccer/cup"], ["sport.soccer.cup"], [".sport.soccer.cup"]):
        topics = Topics.of(paths)
        assert topics.number("sport/soccer/cup") == topics.number("sport.soccer.cup") == 3
    graph = Topics.of(nx.DiGraph([("sport", "soccer"), ("italy", "serie-a"), ("soccer", "serie-a")]))
    graph.subscribe("italy", by="alice")
    graph.subscribe("sport", by="bob")
    assert graph.overlay(seed=1).run(5).publish("serie-a", route="rings").received == ("alice", "bob")


def test_topics_appear_at_the_first_subscription_or_publication() -> None:
    topics = Topics.of()
    topics.subscribe("a.b", by="alice")
    topics.subscribe("a", by="bob")
    overlay = topics.overlay(seed=1).run(5)
    assert overlay.publish("a.b.new").received == ("alice", "bob")
    assert overlay.publish("a.other").received == ("bob",)


def test_what_a_filter_matches_grows_with_the_topics_while_it_runs(overlay) -> None:
    overlay = crowd(seed=5, size=60).overlay(seed=5).run(25)
    overlay.add_topic("sport.rowing")
    overlay.run(8)
    found = overlay.publish("sport.rowing", price=50)
    assert set(found.received) == audience(overlay, "sport.rowing", 50)
    assert found.missed == ()
    assert any(s.filter == "sport.*" and s.by in found.received for s in overlay.topics.subscriptions)


@pytest.mark.parametrize("change", ["move", "rename", "remove", "full"])
def test_subscriptions_follow_topics_and_no_stranger_receives_anything_meanwhile(change) -> None:
    crowded, deep = crowd(seed=7, size=80), "sport.soccer.cup." + ".".join(str(level) for level in range(38))
    crowded.subscribe(deep, by="deep")
    overlay, topics = crowded.overlay(seed=7).run(25), list(TOPICS)
    if change == "move":
        overlay.move_topic("sport.soccer", "news")
        topics = ["sport", "news.soccer", "news.soccer.cup", "news.world"]
        members = {s.by for s in overlay.topics.subscriptions if s.filter == "sport.soccer" and s.subtopics}
        assert overlay.layout == 1
    elif change == "rename":
        overlay.rename_topic("sport.soccer", "football")
        topics = ["sport", "sport.football", "sport.football.cup"]
        members = {s.by for s in overlay.topics.subscriptions if s.filter == "sport.soccer" and s.subtopics}
        assert overlay.layout == 0
    elif change == "remove":
        overlay.remove_topic("sport.tennis.cup")
        topics, members = ["sport", "sport.tennis", "news.world"], set()
    else:  # until ranges have to move
        members = {"deep"}
        overlay.add_topic(deep + ".x" * 30)
        topics = ["sport", deep, deep + ".x" * 30]
        assert overlay.layout == 1
    for _ in range(12):
        for topic in topics:
            found = overlay.publish(topic, price=50)
            assert set(found.received) <= wanting(overlay, topic)
        overlay.run(1)
    for topic in topics:
        found = overlay.publish(topic, price=50)
        assert found.missed == ()
        if "soccer" in topic or "football" in topic:
            assert {m for m in members if takes(overlay, m)} <= set(found.received)


def wanting(overlay: TopicOverlay, topic: str) -> set[str]:
    """Whose subscription has a box with an event of this topic, in the layout as it is now."""
    event = float(overlay.topics.nested.point(overlay.topics.number(topic))), 50.0
    boxes = [(s.by, box) for s in overlay.topics.subscriptions for box in overlay.topics.boxes(s)]
    return {
        by for by, (low, high) in boxes if all(a <= x <= b for a, x, b in zip(low, event, high, strict=True))
    }


def takes(overlay: TopicOverlay, name: str) -> bool:
    """Whether a follower of soccer has no condition that excludes a price of 50."""
    own = [
        s for s in overlay.topics.subscriptions if s.by == name and s.filter == "sport.soccer" and s.subtopics
    ]
    return any((c := s.conditions.get("price", (0, 100)))[0] <= 50 <= c[1] for s in own)


@pytest.mark.parametrize("seed", range(4))
def test_nobody_misses_an_event_a_cycle_after_topics_moved(seed) -> None:
    """Newcomers joined by peers that left in the same change, and knew nobody for ten cycles."""
    overlay = crowd(seed=seed, size=80).overlay(seed=seed).run(25)
    overlay.rename_topic("news", "press")
    overlay.move_topic("sport.soccer", "press")
    overlay.run(1)
    for topic in ("sport", "press.soccer", "press.soccer.cup", "press.world"):
        assert overlay.publish(topic, price=50).missed == ()


def test_all_are_in_one_overlay_after_all_ranges_moved() -> None:
    overlay = crowd(seed=1, size=80).overlay(seed=1).run(25)
    nested = overlay.topics.nested
    nested._free[0] = nested._high[0]  # the root has no room for another topic
    overlay.add_topic("new")
    overlay.run(25)
    for topic in TOPICS:
        assert overlay.publish(topic, price=50).missed == ()


def test_a_renamed_topic_leaves_its_name_to_others() -> None:
    overlay = crowd(seed=3, size=40).overlay(seed=3).run(25)
    overlay.rename_topic("sport.soccer", "football")
    overlay.publish("sport.soccer.new", price=50)
    overlay.run(2)
    assert set(overlay.publish("sport.soccer.new", price=50).received) == wanting(overlay, "sport.soccer.new")
    assert "sport.football.cup" not in overlay.topics.nested.tree
    assert {"/sport/football/cup", "/sport/soccer/new"} <= {
        overlay.topics.nested.tree.name(topic) for topic in overlay.topics.nested.tree
    }


def test_those_who_come_when_nobody_is_left_start_the_overlay_anew() -> None:
    topics = Topics.of(["a"])
    topics.subscribe("a", by="first")
    topics.subscribe("a", by="second")
    overlay = topics.overlay(seed=1).run(5)
    overlay.unsubscribe("a", by="first")
    overlay.unsubscribe("a", by="second")
    for name in ("third", "fourth", "fifth"):
        overlay.subscribe("a", by=name)
    assert overlay.run(5).publish("a").received == ("fifth", "fourth", "third")


def test_unsubscribing_ends_deliveries_and_subscribing_starts_them() -> None:
    overlay = crowd(seed=8, size=40).overlay(seed=8).run(25)
    overlay.subscribe("news", by="newcomer")
    overlay.run(5)
    assert "newcomer" in overlay.publish("news.local", price=1).received
    overlay.unsubscribe("news", by="newcomer")
    assert "newcomer" not in overlay.publish("news.local", price=1).received
    with pytest.raises(InputError, match="filter: expected a filter that 'newcomer' subscribes to"):
        overlay.unsubscribe("news", by="newcomer")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda t: t.subscribe("a", by=""), "by: expected the name of a subscriber"),
        (lambda t: t.subscribe("a", by="x", prize=3), "conditions: expected price, got prize"),
        (lambda t: t.subscribe("a", by="x", price=(3, 1)), "expected low <= high"),
        (lambda t: t.subscribe("a..b", by="x"), "expected a path without empty parts"),
        (lambda t: Topics.of("a.b"), "topics: expected paths or a networkx.DiGraph, got the string"),
        (lambda t: Topics.of([], attributes={"by": float}), "'by' has a meaning of its own"),
        (lambda t: t.overlay(), "expected one or more subscriptions before an overlay starts"),
        (lambda t: t.number("b"), "topic: expected a topic that is there, got 'b'"),
        (lambda t: t.move("a", name="a"), "expected a free place"),
        (lambda t: t.move("a", name="b/c"), "name: expected one level of a path, got 'b/c'"),
    ],
)
def test_mistakes_get_one_line(wrong, message) -> None:
    with pytest.raises(InputError, match=message):
        wrong(Topics.of(["a"], attributes={"price": Float(0, 100)}))
