"""Publishers: the kernel makes the same walks as `Walk`, and a walk ends at a live match or at its limit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.events.audience import audience
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.publishing import find_entry
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.descriptors import Descriptor
from sub2sub.peers.newcomer import LEAST, MOST, Newcomer
from sub2sub.peers.publisher import ALIKE, Walk
from sub2sub.peers.ring import RingPeer
from sub2sub.peers.settings import PublisherSettings, RingSettings
from tests.sub2sub.events.engine import Publisher
from tests.sub2sub.overlay.worlds import World, worlds

some_settings = st.builds(
    PublisherSettings, view=st.integers(1, 6), ring_offers=st.booleans(), max_steps=st.integers(1, 12)
)


@settings(max_examples=150)
@given(worlds(), some_settings, st.integers(0, 1000))
def test_the_kernel_walks_as_a_publisher_does(world: World, how: PublisherSettings, seed: int) -> None:
    walks = find_entry(world.links(), world.network, world.events, settings=how, seed=seed, cycle=3)
    for e, event in enumerate(world.events.tolist()):
        publisher = Publisher(world.peers, world.network, how, e, tuple(event), seed)
        publisher.walk()
        row = [walks.entry[e], walks.steps[e], walks.messages[e], walks.failed[e]]
        assert row == [publisher.entry, publisher.steps, publisher.messages, publisher.failed]


@settings(max_examples=100)
@given(worlds(most=14), some_settings, st.integers(0, 1000))
def test_a_walk_ends_at_a_live_match_or_at_its_limit(world: World, how: PublisherSettings, seed: int) -> None:
    walks = find_entry(world.links(), world.network, world.events, settings=how, seed=seed)
    for e in range(len(world.events)):
        if walks.found[e]:
            assert walks.entry[e] in world.live_matches(e)
            assert 1 <= walks.steps[e] <= how.max_steps
        else:
            assert walks.steps[e] == (how.max_steps if world.network.alive.any() else 0)
    assert not walks.found_within(0).any()
    assert (walks.found_within(how.max_steps) == walks.found).all()


@pytest.fixture(scope="module")
def overlay() -> Overlay:
    low = np.random.default_rng(1).random((500, 2)) * 0.9
    overlay = Overlay(Population.of(low, low + 0.1), seed=1)
    overlay.run(30)
    return overlay


EVENTS = np.random.default_rng(2).random((300, 2))


def test_publishers_find_whoever_there_is_in_a_converged_overlay(overlay: Overlay) -> None:
    links = Links.of(overlay)
    wanted = audience(links, overlay.network, EVENTS).matches > 0
    walks = find_entry(links, overlay.network, EVENTS, seed=1)
    assert 0 < wanted.sum() < len(EVENTS)
    assert (walks.found == wanted).all()
    assert (walks.steps[~wanted] == PublisherSettings().max_steps).all()
    outcome = disseminate(links, overlay.network, EVENTS, entry=walks.entry, seed=1)
    assert outcome.complete.all()


def test_ring_offers_shorten_the_walk(overlay: Overlay) -> None:
    links = Links.of(overlay)
    wanted = audience(links, overlay.network, EVENTS).matches > 0
    steps = [
        find_entry(
            links, overlay.network, EVENTS[wanted], settings=PublisherSettings(ring_offers=offers), seed=1
        )
        for offers in (True, False)
    ]
    assert steps[0].steps.sum() < steps[1].steps.sum()


def test_where_all_subscribers_have_died_nobody_is_found(overlay: Overlay) -> None:
    network = Network.whole(len(overlay.population))
    matching = audience(Links.of(overlay), network, EVENTS)
    event = int(matching.matches.argmax())
    lows, highs = overlay.population.ranges()
    interested = ((lows <= EVENTS[event]) & (EVENTS[event] <= highs)).all(axis=1)
    assert interested.sum() == matching.matches[event]
    network.alive[interested] = 0
    walks = find_entry(Links.of(overlay), network, EVENTS[[event]], seed=1)
    assert not walks.found[0]
    assert walks.failed[0] > 0


@pytest.mark.parametrize("field", ["view", "max_steps"])
def test_settings_outside_their_domain_are_refused(field: str) -> None:
    with pytest.raises(InputError, match=f"publisher.{field}: expected 1 or more, got 0"):
        PublisherSettings(**{field: 0})


def at(number: int, low: float, width: float = 0.5) -> Descriptor:
    return Descriptor.half_open(number, (low,), (low + width,))


def test_a_publisher_keeps_few_of_those_that_are_equally_far_and_so_a_way_past_them() -> None:
    walk = Walk((0.0,), PublisherSettings(view=ALIKE + 1))
    walk.learn([*(at(number, 1.0) for number in range(9)), at(9, -7.0)])
    asked = [walk.next() for _ in range(ALIKE + 1)]
    assert [move.peer.id for move in asked if move and move.peer] == [*range(ALIKE), 9]


def test_an_event_is_handed_to_the_same_match_as_often_as_the_settings_say() -> None:
    walk = Walk((0.2,), PublisherSettings(tries=3))
    walk.learn([at(1, 0.0), at(2, 4.0)])
    moves = [walk.next() for _ in range(5)]
    assert [(move.peer and move.peer.id, move.hand_over) for move in moves if move] == [
        (1, True), (1, True), (1, True), (2, False), (None, False),
    ]  # fmt: skip


@pytest.mark.parametrize(("has_neighbour", "asked"), [(True, LEAST), (False, MOST)])
def test_a_newcomer_asks_longer_while_it_has_no_neighbour(has_neighbour: bool, asked: int) -> None:
    ring = RingPeer(at(0, 0.0), RingSettings())
    newcomer = Newcomer(ring, [at(1, 0.2 if has_neighbour else 2.0)], now=1)
    others = [at(number, 3.0 + number) for number in range(2, 2 * MOST)]
    count = 0
    while peer := newcomer.next():
        newcomer.answered(peer, others)
        count += 1
    assert count == asked


def test_a_newcomer_asks_few_of_those_that_are_equally_far() -> None:
    newcomer = Newcomer(RingPeer(at(0, 0.0), RingSettings()), [at(1, 2.0)], now=1)
    others, asked = [*(at(number, 3.0) for number in range(2, 99)), at(99, 8.0)], []
    while peer := newcomer.next():
        newcomer.answered(peer, others)
        asked.append(peer.id)
    assert asked == [1, *range(2, 2 + ALIKE), 99]
