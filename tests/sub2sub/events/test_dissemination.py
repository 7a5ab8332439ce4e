"""Dissemination over overlays: deliveries, shortcuts, threads, old links, changed subscriptions, input."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from sub2sub.compiled.common.links import Links
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import FREE, stamp_of
from sub2sub.compiled.events.audience import audience, batches
from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.events.outcome import Outcome
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from sub2sub.peers.settings import DisseminationSettings, OverlaySettings, RingSettings
from tests.sub2sub.events.engine import Peer
from tests.sub2sub.overlay.worlds import World


def converged(n: int = 400, **options: object) -> Overlay:
    low = np.random.default_rng(1).random((n, 2)) * 0.7
    overlay = Overlay(Population.of(low, low + 0.3, **options), seed=1)
    overlay.run(25)
    return overlay


@pytest.fixture(scope="module")
def overlay() -> Overlay:
    return converged()


EVENTS = np.random.default_rng(2).random((600, 2))


def test_an_overlay_that_has_converged_delivers_everything_and_no_spam(overlay: Overlay) -> None:
    for how in (DisseminationSettings(), DisseminationSettings.paper(), DisseminationSettings(shortcuts=0)):
        outcome = disseminate(Links.of(overlay), overlay.network, EVENTS, settings=how, seed=4)
        assert outcome.complete_share == 1.0
        assert not outcome.spam.any()


def test_ring_views_stand_in_the_order_of_the_ring(overlay: Overlay) -> None:
    """Forwarding relies on this order to find the adjacent neighbours."""
    links, n = Links.of(overlay), len(overlay.population)
    for holder in range(n):
        start = links.ring_start[holder]
        ways = (links.ring_peer[start : start + links.ring_size[holder]].astype(int) - holder) % n
        assert (np.diff(ways) > 0).all()


def test_shortcuts_turn_half_the_ring_into_few_hops(overlay: Overlay) -> None:
    hops = {}
    for k in (0, 1, 2):
        how = DisseminationSettings(shortcuts=k)
        outcome = disseminate(Links.of(overlay), overlay.network, EVENTS, settings=how, seed=4)
        hops[k] = int(outcome.hops.max())
        if k == 0:
            assert (outcome.hops[outcome.matches > 0] == outcome.matches[outcome.matches > 0] // 2).all()
    assert hops[2] <= hops[1] < hops[0] / 2


def same(a: Outcome, b: Outcome) -> bool:
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(Outcome))


@pytest.mark.parametrize("threads", [2, 3])
def test_the_outcome_does_not_depend_on_the_number_of_threads(overlay: Overlay, threads: int) -> None:
    network = replace(overlay.network, alive=overlay.network.alive.copy(), loss=0.1)
    network.alive[::7] = 0
    one, several = (disseminate(Links.of(overlay), network, EVENTS, seed=4, threads=k) for k in (1, threads))
    assert one.failures.size
    assert same(one, several)


def test_the_draws_depend_on_seed_and_cycle(overlay: Overlay) -> None:
    first, again, later, other = (
        disseminate(Links.of(overlay), overlay.network, EVENTS, seed=seed, cycle=cycle)
        for seed, cycle in ((4, 1), (4, 1), (4, 2), (5, 1))
    )
    assert same(first, again)
    assert not same(first, later)
    assert not same(first, other)


def test_an_application_gets_an_event_once_however_many_of_its_peers_match() -> None:
    overlay = converged(120, hosts=np.arange(120) // 3)
    links = Links.of(overlay)
    outcome = disseminate(links, overlay.network, EVENTS, seed=4)
    matching = audience(links, overlay.network, EVENTS)
    assert (matching.applications < matching.matches).any()
    assert (outcome.delivered == matching.applications).all()
    assert (outcome.reached == matching.matches).all()
    assert outcome.local.any()


def test_young_links_are_those_of_the_last_cycles_in_their_order(overlay: Overlay) -> None:
    links, young = Links.of(overlay), Links.of(overlay).younger(3)
    for name in ("near", "random"):
        view, size = getattr(young, name), getattr(young, f"{name}_size")
        for peer, row in enumerate(getattr(links, name)):
            kept = [word for word in row.tolist() if word != FREE and stamp_of(word) >= overlay.cycle - 3]
            assert view[peer, : size[peer]].tolist() == kept
    assert 0 < young.random_size.sum() < links.random_size.sum()


def test_old_links_to_the_dead_are_no_shortcuts() -> None:
    overlay = converged(200)
    overlay.network.alive[::5] = 0
    overlay.run(6)
    failed = {
        age: disseminate(
            Links.of(overlay), overlay.network, EVENTS, seed=4, settings=DisseminationSettings(max_age=age)
        ).failed.sum()
        for age in (0, 4)
    }
    assert failed[4] == 0 < failed[0]


@pytest.mark.parametrize("told", [True, False])
def test_spam_ends_in_a_few_cycles_where_the_host_says_what_has_changed(told: bool) -> None:
    """Some hosts exchange their subscriptions: their peers leave, and others join on the same hosts."""
    rng = np.random.default_rng(3)
    low = rng.random((150, 2)) * 0.8
    settings = OverlaySettings(ring=RingSettings(max_age=9, tell_changes=told))
    overlay = Overlay.of(low, low + 0.2, settings=settings, spare=30, seed=1).run(20)
    people, old = overlay.population, np.flatnonzero(overlay.population.present)[::10]
    lows, highs = (side[np.roll(old, 1)] for side in people.ranges())
    new = np.flatnonzero(people.dormant)[: old.size]
    people.activate(new, lows, highs, people.host[old])
    overlay.admit(new, np.setdiff1d(np.flatnonzero(overlay.network.alive), old)[: old.size], overlay.cycle)
    overlay.network.alive[old] = 0
    people.retire(old)
    overlay.change(old, new)
    overlay.run(1)
    holders, peers, _ = overlay.ring.links()
    held = np.isin(peers, old) & (overlay.network.alive[holders] == 1)
    assert bool(held.any()) is not told, "ring neighbours are told at once, or find out"
    overlay.run(5)
    outcome = disseminate(Links.of(overlay), overlay.network, EVENTS, seed=4)
    assert outcome.complete.all()
    assert not outcome.spam.any()


def test_one_who_changed_its_subscription_gets_spam_until_that_has_spread() -> None:
    """The old peer is gone, a new one on the same host has joined, and others still know the old one."""
    low = np.linspace(0.0, 0.4, 20)[:, None]
    overlay = Overlay(Population.of(low, low + 0.5, spare=1), seed=1)
    overlay.run(15)
    people, network = overlay.population, overlay.network
    old, new = int(people.row.argmax()), int(np.flatnonzero(people.row < 0)[0])
    network.alive[old] = 0
    people.activate(np.array([new]), [[0.95]], [[0.99]], people.host[[old]])
    contact = (old + 1) % 21 if (old + 1) % 21 != new else (old + 2) % 21
    overlay.admit(np.array([new]), np.array([contact]), 16)
    event = [[0.45]]  # in all boxes but the new one
    stale = disseminate(Links.of(overlay), network, event, seed=1)
    assert stale.spam[0] > 0
    assert stale.complete.all()
    assert not stale.failed.any()
    for cycle in range(16, 80):
        overlay.step(cycle)
    spread = disseminate(Links.of(overlay), network, event, seed=1)
    assert spread.complete.all()
    assert not spread.spam.any()


def test_a_host_takes_for_its_new_subscription_what_was_sent_for_its_old_one() -> None:
    box = [(0.0, 1.0)]
    peers = [Peer(0, box, 0, ring=[1]), Peer(1, box, 1), Peer(2, box, 1)]
    world = World(1, peers, Network.whole(3), np.array([[0.5]]))
    world.network.alive[1] = 0
    outcome = disseminate(world.links(), world.network, world.events, entry=[0])
    assert outcome.taken.tolist() == [1, 0, 1]
    assert not outcome.spam.any()


def test_events_for_nobody_cost_nothing_and_count_as_complete(overlay: Overlay) -> None:
    outcome = disseminate(Links.of(overlay), overlay.network, [[5.0, 5.0]])
    assert (outcome.hops[0], outcome.messages[0], outcome.matches[0]) == (-1, 0, 0)
    assert outcome.complete_share == 1.0
    empty = disseminate(Links.of(overlay), overlay.network, np.empty((0, 2)))
    assert empty.hit_ratio == 1.0
    assert empty.summary()["events"] == 0


def test_tables_have_columns_of_one_length(overlay: Overlay) -> None:
    outcome = disseminate(Links.of(overlay), overlay.network, EVENTS)
    for table, rows in (
        (outcome.as_table(), len(EVENTS)),
        (outcome.load_table(), len(overlay.population)),
    ):
        assert {len(column) for column in table.values()} == {rows}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"events": [[0.1]]}, "events: expected 2 attributes, got 1"),
        ({"events": [[0.1, 0.2]], "entry": [400]}, "entry row 0: expected a peer below 400, or -1, got 400"),
        ({"events": [[0.1, 0.2]], "entry": [0.5]}, "entry: expected 1 integers, got float64"),
        ({"events": [[0.1, 0.2]], "entry": [1, 2]}, "entry: expected 1 integers"),
        ({"events": [[0.1, 0.2]], "threads": 0}, "threads: expected a whole number from 1 on, got 0"),
    ],
)
def test_wrong_input_is_refused(overlay: Overlay, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        disseminate(Links.of(overlay), overlay.network, **arguments)


@pytest.mark.parametrize(("tries", "expected"), [(1, 0.95), (3, 1 - 0.05**3)])
def test_a_ring_of_two_hears_of_what_is_sent_again(tries: int, expected: float) -> None:
    """In a ring of two, no third peer could bring an event that was lost."""
    box = [(0.0, 1.0)]
    events, network = np.full((4000, 1), 0.5), replace(Network.whole(2), loss=0.05)
    world = World(1, [Peer(0, box, 0, ring=[1]), Peer(1, box, 1, ring=[0])], network, events)
    how = DisseminationSettings(shortcuts=0, tries=tries)
    outcome = disseminate(world.links(), network, events, entry=np.zeros(4000, np.int64), settings=how)
    reached = (outcome.reached == 2).mean()
    assert abs(reached - expected) < 4 * np.sqrt(expected * (1 - expected) / 4000) + 1e-9
    assert np.array_equal(outcome.duplicates[outcome.acks == 1], np.zeros((outcome.acks == 1).sum()))
    assert (outcome.duplicates > 0).any() == (tries > 1), "a lost acknowledgement brings a copy more"


@pytest.mark.parametrize("value", [0, 64])
def test_tries_outside_their_domain_are_refused(value: int) -> None:
    with pytest.raises(InputError, match=f"dissemination.tries: expected 1 to 63, got {value}"):
        DisseminationSettings(tries=value)


@pytest.mark.parametrize("field", ["shortcuts", "retries"])
@pytest.mark.parametrize("value", [-1, 64])
def test_settings_outside_their_domain_are_refused(field: str, value: int) -> None:
    with pytest.raises(InputError, match=f"dissemination.{field}: expected 0 to 63, got {value}"):
        DisseminationSettings(**{field: value})


def test_an_audience_of_other_events_is_refused(overlay: Overlay) -> None:
    links = Links.of(overlay)
    with pytest.raises(InputError, match="to: expected an audience of 2 events, got one of 600"):
        disseminate(links, overlay.network, EVENTS[:2], to=audience(links, overlay.network, EVENTS))


def test_threads_have_batches_to_share() -> None:
    """Otherwise the test of threads would use only one."""
    assert len(batches(len(EVENTS), 400, at_least=16)) > 1
    assert np.array_equal(np.concatenate(batches(100_000, 1_000_000, at_least=16)), np.arange(100_000))


@pytest.mark.parametrize("threads", [1, 3])
def test_receptions_say_who_got_what_when(overlay: Overlay, threads: int) -> None:
    links, network = Links.of(overlay), replace(overlay.network, loss=0.2)
    plain = disseminate(links, network, EVENTS, seed=4)
    outcome = disseminate(links, network, EVENTS, seed=4, threads=threads, record=True)
    assert plain.receptions is None
    assert outcome.receptions is not None
    assert np.array_equal(plain.messages, outcome.messages)
    table, lows_highs = outcome.receptions.table(), overlay.population.ranges()
    assert np.array_equal(np.bincount(table["event"], minlength=len(EVENTS)), outcome.reached)
    assert np.array_equal(np.bincount(table["peer"], minlength=len(overlay.population)), outcome.taken)
    at = EVENTS[table["event"]]
    assert ((lows_highs[0][table["peer"]] <= at) & (at <= lows_highs[1][table["peer"]])).all()
    for event in range(0, len(EVENTS), 97):
        peers, hops = outcome.receptions.of(event)
        if len(peers):
            assert (peers[0], hops[0], hops[-1]) == (outcome.entry[event], 0, outcome.hops[event])


@pytest.mark.parametrize(("tries", "retries"), [(1, 0), (1, 3), (2, 0), (3, 3)])
def test_what_is_sent_again_is_paid_for_with_an_acknowledgement_of_every_arrival_on_the_ring(
    overlay: Overlay, tries: int, retries: int
) -> None:
    network = replace(overlay.network, loss=0.2)
    for shortcuts in (0, 2):
        how = DisseminationSettings(shortcuts=shortcuts, tries=tries, retries=retries)
        outcome = disseminate(Links.of(overlay), network, EVENTS, settings=how, seed=4)
        arrived = (outcome.messages - outcome.failed).sum() if tries + retries > 1 else 0
        assert outcome.acks.sum() == arrived if shortcuts == 0 else outcome.acks.sum() <= arrived
        assert outcome.unbalanced() == 0
        paid = outcome.messages.sum() + outcome.acks.sum()
        assert outcome.messages_per_delivery == paid / (outcome.delivered - outcome.entered).sum()
