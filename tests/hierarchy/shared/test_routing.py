"""Events on the shared overlay, by CAMCAST's routing and along the rings, reach exactly the subscribers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.compiled.shared.routing import community_sizes, routing_tables
from hierarchy.peers.router import points_between
from hierarchy.shared import CamcastRoute, SharedOverlay
from hierarchy.topics import NestedRanges
from sub2sub.compiled.common.views import FREE, link
from sub2sub.errors import InputError
from sub2sub.peers.settings import DisseminationSettings
from tests.hierarchy.shared.test_tables import population

RINGS = DisseminationSettings()


def overlay_of(
    n: int, seed: int, ranges: bool, cycles: int = 25
) -> tuple[SharedOverlay, NestedRanges, np.ndarray, np.ndarray]:
    """An overlay, its topics, and an event and a publisher for each topic with subscribers."""
    people, nested = population(n, seed, ranges)
    overlay = SharedOverlay(people, None, seed, topics=nested)
    overlay.run(cycles)
    lows, highs = (side[:, 0] for side in people.ranges())
    events, publishers = [], []
    for topic in nested.tree:
        low, high = nested.range(topic)
        members = np.flatnonzero((lows == low) & (highs == high - 1))
        if members.size:
            events.append([float(nested.point(topic))])
            publishers.append(int(members[seed % members.size]))
    return overlay, nested, np.array(events), np.array(publishers)


@pytest.mark.parametrize("ranges", [False, True], ids=["topics", "topics and ranges"])
@pytest.mark.parametrize("route", [CamcastRoute(c=3, g=20), RINGS], ids=["camcast", "rings"])
def test_events_reach_all_matching_peers_and_no_others(route, ranges) -> None:
    for seed in range(3):
        overlay, _, events, publishers = overlay_of(300, seed, ranges)
        outcome = overlay.spread(events, publishers, route)
        assert outcome.complete.all()
        assert outcome.spam.sum() == 0
        assert outcome.parasitic.sum() == 0
        assert outcome.unbalanced() == 0


def test_without_range_subscribers_only_tables_are_used() -> None:
    overlay, _, events, publishers = overlay_of(300, 1, ranges=False)
    before = overlay.spread(events, publishers, CamcastRoute(c=3, g=20))
    overlay.ring.pool.size[:] = 0
    after = overlay.spread(events, publishers, CamcastRoute(c=3, g=20))
    assert np.array_equal(before.messages, after.messages)
    assert after.complete.all()


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 120), st.integers(0, 2**32), st.integers(1, 12))
def test_no_parasite_event_however_young_the_overlay(n, seed, cycles) -> None:
    overlay, _, events, publishers = overlay_of(n, seed, ranges=True, cycles=cycles)
    if len(events):
        overlay.network.loss = 0.1
        outcome = overlay.spread(events, publishers, CamcastRoute(c=50, g=1000))
        assert outcome.spam.sum() == outcome.parasitic.sum() == outcome.unbalanced() == 0


def test_a_wrong_entry_in_a_table_is_seen_as_spam_or_not_sent_to() -> None:
    """The count of spam can fail: an entry of another topic among those above gets a copy."""
    overlay, _, events, publishers = overlay_of(300, 2, ranges=False)
    lows, highs = (side[:, 0] for side in overlay.population.ranges())
    deepest = int(np.argmin(highs[publishers] - lows[publishers]))
    event, publisher = events[deepest : deepest + 1], publishers[deepest : deepest + 1]
    outside = np.flatnonzero((event[0, 0] < lows) | (highs < event[0, 0]))[0]
    for table, spam in (("equals", 0), ("above", 1)):
        row = getattr(overlay.tables, table)[publisher[0]]
        row[:] = FREE
        row[0] = link(outside, 25)
        assert overlay.spread(event, publisher, CamcastRoute(c=50, g=1000)).spam.sum() == spam


def test_a_table_with_room_counts_its_community_and_a_full_one_estimates_it() -> None:
    n = 4096
    ids = np.sort(np.random.default_rng(1).integers(0, 2**64, n, dtype=np.uint64))
    equals = np.full((n, 16), FREE)
    for k, step in enumerate((1, 2, n - 1, n - 2, *range(100, 1300, 100))):
        equals[:, k] = (np.arange(n) + step) % n | (1 << 32)
    found = community_sizes(equals, ids, 2)
    assert np.mean(1 / found) == pytest.approx(1 / n, rel=0.01)  # so that p_sel adds up to g
    assert np.exp(np.log(found).mean()) == pytest.approx(n, rel=0.3)
    equals[:, 4:] = FREE
    assert (community_sizes(equals, ids, 2) == 5).all()


def test_the_copies_that_go_upward_are_as_many_in_small_communities_as_in_large_ones() -> None:
    overlay, *_ = overlay_of(300, 1, ranges=False)
    tables, community = routing_tables(overlay, CamcastRoute(g=10))
    lows, highs = (side[:, 0] for side in overlay.population.ranges())
    for row in np.unique(np.stack([lows, highs]), axis=1).T:
        members = np.flatnonzero((lows == row[0]) & (highs == row[1]))
        following = np.roll(members, -1)
        first = community.ring_peer[community.ring_start[members]]
        assert (first == following).all() or members.size == 1
        arcs = zip(tables.ids[members].tolist(), tables.ids[following].tolist(), strict=True)
        assert sum(points_between(start, end, 12345, 10) for start, end in arcs) == 10


def test_a_publication_chooses_its_route_through_one_method() -> None:
    overlay, _, events, publishers = overlay_of(200, 5, ranges=True)
    rows = overlay.population.row[publishers]
    for route in (CamcastRoute(c=3, g=20), RINGS, None):
        published = overlay.publish(events, at=rows, settings=route)
        assert published.hit_ratio == 1.0
        assert published.missed.rows == 0
    with pytest.raises(InputError, match="at: expected the subscription each event is published by"):
        overlay.publish(events, settings=CamcastRoute())


def test_a_newcomer_may_publish_once_it_has_a_super_topic_entry() -> None:
    overlay, *_ = overlay_of(200, 4, ranges=True)
    ready = overlay.ready()
    assert (ready == (overlay.topical == 1)).all()
    newcomers = np.flatnonzero(ready & (overlay.tables.above[:, 0] != FREE))[:5]
    overlay.admit(newcomers, (newcomers + 1) % 200, overlay.cycle)
    assert not overlay.ready()[newcomers].any()
    overlay.step(overlay.cycle + 1)
    assert overlay.ready()[newcomers].all()


def test_publishing_never_steps_and_says_whose_events_were_not_sent() -> None:
    people, nested = population(200, 4, False)
    overlay = SharedOverlay(people, None, 4, topics=nested)
    overlay.bootstrap()
    deepest = int(np.argmin(np.subtract(*people.ranges()[::-1])[:, 0]))
    event = [[float(people.ranges()[0][deepest, 0])]]
    assert not overlay.ready()[deepest]
    published = overlay.publish(event, at=people.row[[deepest]], settings=CamcastRoute())
    assert overlay.cycle == 0
    assert published.not_ready.tolist() == [0]
    assert published.received.rows == published.outcome.messages.sum() == 0
    assert published.missed.rows == published.outcome.matches[0] > 0
    assert "1 not sent: publisher not ready" in repr(published)
    overlay.run(12)
    published = overlay.publish(event, at=people.row[[deepest]], settings=CamcastRoute())
    assert (overlay.cycle, published.not_ready.size, published.hit_ratio) == (12, 0, 1.0)


def test_publishers_that_do_not_fit_are_refused() -> None:
    overlay, _, events, publishers = overlay_of(200, 4, ranges=True)
    dead = publishers.copy()
    overlay.network.alive[dead[1]] = 0
    with pytest.raises(InputError, match=f"publishers row 1: expected a live peer, got {dead[1]}"):
        overlay.spread(events, dead, CamcastRoute())
    overlay.network.alive[dead[1]] = 1
    with pytest.raises(InputError, match="publishers row 0: expected a member of the topic of event"):
        overlay.spread(events, np.roll(publishers, 1), CamcastRoute())
    stranger = int(np.flatnonzero(overlay.topical == 0)[0])
    with pytest.raises(InputError, match="others publish along the rings"):
        overlay.spread(events[:1], [stranger], CamcastRoute())
    with pytest.raises(InputError, match="publishers: expected 1 integers"):
        overlay.spread(events[:1], [0, 1], CamcastRoute())
    with pytest.raises(InputError, match="g: expected 1 or more, got 0"):
        CamcastRoute(g=0)


def test_several_attributes_topics_on_one_of_them() -> None:
    """Topics on the first attribute, ranges on the second, which topic subscriptions do not restrict."""
    people, _ = population(200, 3)
    lows, highs = (side[people.row.argsort()] for side in people.ranges())
    rng = np.random.default_rng(3)
    is_range = rng.random(200) < 0.4
    second = np.where(is_range[:, None], np.sort(rng.random((200, 2)), axis=1), [-np.inf, np.inf])
    overlay = SharedOverlay.of(
        np.column_stack([lows, second[:, :1]]), np.column_stack([highs, second[:, 1:]]), seed=3
    ).run(25)
    topical = np.flatnonzero(~is_range)
    for row in topical[:40]:
        event = [[float(lows[row, 0]), 0.5]]
        published = overlay.publish(event, at=[row], settings=RINGS)
        assert published.hit_ratio == 1.0
        by_camcast = overlay.publish(event, at=[row], settings=CamcastRoute(c=5, g=30))
        assert by_camcast.outcome.spam.sum() == 0
