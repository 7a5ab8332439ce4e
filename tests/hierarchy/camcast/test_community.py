from __future__ import annotations

import pytest

from hierarchy.camcast import CommunityManager, TopicSettings
from hierarchy.membership import SemiStructured, SimulatedTransport, Structured, Unstructured
from hierarchy.topics import TopicTree
from sub2sub.errors import InputError

ALL = TopicSettings(c=5.0, g=100.0, a=3.0, z=3)


def _network(*paths: str, membership=Unstructured, capacity: int = 300) -> SimulatedTransport:
    return SimulatedTransport(TopicTree.from_paths(paths), 1, ALL, capacity, membership)


def _listener(network: SimulatedTransport, process: int, topic: str) -> list:
    heard: list = []
    CommunityManager(process, network).community(topic).subscribe(heard.append)
    return heard


@pytest.mark.parametrize("membership", [Unstructured, SemiStructured, Structured])
def test_subscribers_of_the_topic_and_of_its_supertopics_hear_an_event_and_nobody_else(membership) -> None:
    network = _network(".soccer.italy", ".soccer.france", membership=membership)
    topics = [".", ".soccer", ".soccer.italy", ".soccer.france"]
    heard = {
        (topic, i): _listener(network, 10 * i + k, topic) for i in range(6) for k, topic in enumerate(topics)
    }
    network.step(30)
    number = CommunityManager(99, network).community(".soccer.italy").publish(b"score", upward=1.0)
    for (topic, _), events in heard.items():
        if topic == ".soccer.france":
            assert events == []
        else:
            assert [(e.topic, e.data, e.id, e.publisher) for e in events] == [
                (".soccer.italy", b"score", number, 99)
            ]


def test_one_community_object_for_each_topic_and_its_supers() -> None:
    manager = CommunityManager(1, _network(".soccer.italy"))
    italy = manager.community(".soccer.italy")
    assert manager.community(".soccer.italy") is italy
    assert [c.topic for c in manager.super_communities(".soccer.italy")] == [".soccer"]
    with pytest.raises(InputError, match=r"'\.chess' is unknown"):
        manager.community(".chess")


def test_a_process_leaves_with_its_last_subscription_unless_it_publishes() -> None:
    network = _network(".a")
    community = CommunityManager(1, network).community(".a")
    first, second = community.subscribe(print), community.subscribe(repr)
    assert network.network.alive.sum() == 1
    community.unsubscribe(first)
    assert community.is_member
    community.publish(b"x")
    community.unsubscribe(second)
    assert community.is_member
    community.stop_publishing()
    assert not community.is_member
    assert network.network.alive.sum() == 0


def test_who_left_hears_nothing_and_may_come_back() -> None:
    network = _network(".a")
    heard: list = []
    community = CommunityManager(1, network).community(".a")
    other = CommunityManager(2, network).community(".a")
    subscription = community.subscribe(lambda e: heard.append(e.data))
    other.publish(b"one")
    community.unsubscribe(subscription)
    other.publish(b"two")
    community.subscribe(subscription)
    network.step(5)
    other.publish(b"three")
    assert heard == [b"one", b"three"]


def test_a_process_may_subscribe_to_unrelated_topics() -> None:
    network = _network(".soccer.italy", ".chess")
    manager, heard = CommunityManager(1, network), []
    for topic in (".soccer", ".chess"):
        manager.community(topic).subscribe(lambda e: heard.append(e.topic))
    CommunityManager(2, network).community(".soccer.italy").publish(b"x")
    CommunityManager(3, network).community(".chess").publish(b"y")
    assert heard == [".soccer.italy", ".chess"]


def test_a_publisher_without_subscription_is_told_nothing() -> None:
    network = _network(".a")
    publisher = CommunityManager(1, network).community(".a")
    publisher.publish(b"x")
    other = CommunityManager(2, network).community(".a")
    other.publish(b"y")
    assert publisher.is_member


@pytest.mark.parametrize("membership", [Unstructured, SemiStructured, Structured])
def test_topics_and_further_parents_can_be_added_while_it_runs(membership) -> None:
    network = _network(".a", ".b", membership=membership)
    heard = {topic: _listener(network, k, topic) for k, topic in enumerate([".", ".a", ".b"])}
    network.tree.add(".a.new", [".a", ".b"])
    publisher = CommunityManager(7, network).community(".a.new")
    publisher.publish(b"first")
    network.step(30)
    publisher.publish(b"second")
    for events in heard.values():
        assert events[-1].data == b"second"


def test_crashed_processes_hear_nothing_and_are_worked_around() -> None:
    network = _network(".a")
    heard = [_listener(network, process, ".a") for process in range(40)]
    for process in range(2, 40, 3):  # not the gateways
        network.crash(process)
    network.step(160)
    CommunityManager(100, network).community(".a").publish(b"x")
    assert [len(events) for events in heard] == [0 if p >= 2 and p % 3 == 2 else 1 for p in range(40)]


def test_misuse_is_refused_in_one_line() -> None:
    network = _network(".a", capacity=1)
    community = CommunityManager(1, network).community(".a")
    with pytest.raises(InputError, match=r"subscription: expected one to '\.a' that has not ended"):
        community.unsubscribe(print)
    with pytest.raises(InputError, match="nothing was published"):
        community.stop_publishing()
    community.publish(b"x")
    with pytest.raises(InputError, match="capacity: all 1 memberships are used"):
        CommunityManager(2, network).community(".a").publish(b"y")
    with pytest.raises(InputError, match=r"is a member of '\.a' already"):
        network.join(1, ".a", print)


@pytest.mark.parametrize("membership", [Unstructured, SemiStructured, Structured])
def test_a_further_parent_given_while_it_runs_hears_of_events(membership) -> None:
    network = _network(".a", ".b", membership=membership)
    heard, publisher = _listener(network, 1, ".b"), CommunityManager(2, network).community(".a")
    publisher.publish(b"before")
    network.tree.add_parent(".a", ".b")
    network.step(30)
    publisher.publish(b"after")
    assert [event.data for event in heard] == [b"after"]


@pytest.mark.parametrize("membership", [Unstructured, SemiStructured, Structured])
def test_the_first_event_gets_to_the_root_past_empty_communities(membership) -> None:
    """Publishing waits until somebody above is known."""
    network = _network(".a.b.c.d", membership=membership)
    heard = _listener(network, 1, ".")
    network.step(20)
    CommunityManager(2, network).community(".a.b.c.d").publish(b"first")
    assert [event.data for event in heard] == [b"first"]


def test_a_subscriber_that_raises_is_isolated_and_logged(caplog) -> None:
    network, heard = _network(".a"), []
    community = CommunityManager(1, network).community(".a")
    community.subscribe(lambda event: 1 / 0)
    community.subscribe(heard.append)
    CommunityManager(2, network).community(".a").publish(b"x")
    assert [event.data for event in heard] == [b"x"]
    assert "a subscriber of .a failed" in caplog.text
    with pytest.raises(InputError, match="callback: expected a function"):
        community.subscribe(7)
