"""Dissemination: the kernel forwards as peers do; complete rings deliver to all and nobody else."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sub2sub.errors import InputError
from sub2sub.events.audience import audience, batches
from sub2sub.events.dissemination import DisseminationSettings, disseminate
from sub2sub.events.outcome import Outcome
from sub2sub.overlay.links import Links
from sub2sub.overlay.network import Network
from sub2sub.overlay.overlay import Overlay, OverlaySettings
from sub2sub.overlay.population import Population
from sub2sub.overlay.views import FREE, stamp_of
from sub2sub.ring.settings import RingSettings
from sub2sub.timing.settings import Timing
from tests.sub2sub.events.engine import Dissemination, Peer, Report
from tests.sub2sub.overlay.worlds import World, worlds

some_settings = st.builds(
    DisseminationSettings,
    shortcuts=st.integers(0, 3),
    ring_shortcuts=st.booleans(),
    tries=st.sampled_from([1, 1, 2, 4]),
    retries=st.sampled_from([0, 0, 1, 5]),
)


TIMINGS = [
    None,
    Timing(latency="constant", ms=7.0, jitter=0.0, bandwidth=0.0),
    Timing(latency="log-normal", bandwidth=0.5),
    Timing(latency="sphere", jitter=0.0, tick=10.0),
]


def entries(world: World, seed: int) -> list[int]:
    """Mostly peers that match; also any other, and nobody."""
    rng = np.random.default_rng(seed)
    anybody = rng.integers(-1, len(world.peers), len(world.events)).tolist()
    matching = [world.live_matches(e) for e in range(len(world.events))]
    return [
        int(rng.choice(those)) if those and rng.random() < 0.8 else other
        for those, other in zip(matching, anybody, strict=True)
    ]


def reports(world: World, how: DisseminationSettings, seed: int, entry: list[int]) -> list[Report]:
    engine = Dissemination(world.peers, world.network, how, seed, cycle=3)
    return [engine.publish(e, tuple(world.events[e]), entry[e]) for e in range(len(world.events))]


@settings(max_examples=200)
@given(worlds(), some_settings, st.integers(0, 1000), st.sampled_from(TIMINGS))
def test_the_kernel_forwards_as_peers_do(
    world: World, how: DisseminationSettings, seed: int, timing: Timing | None
) -> None:
    entry, world.network.timing = entries(world, seed), timing
    outcome = disseminate(
        world.links(), world.network, world.events, entry=entry, settings=how, seed=seed, cycle=3, record=True
    )
    expected = reports(world, how, seed, entry)
    for e, report in enumerate(expected):
        assert outcome.reached[e] == len(report.hop_of)
        assert outcome.delivered[e] == len(report.applications)
        assert outcome.hops[e] == max(report.hop_of.values(), default=-1)
        for name in ("messages", "local", "duplicates", "spam", "failed", "acks"):
            assert getattr(outcome, name)[e] == report.counts[name]
        by_hop = np.bincount(list(report.hop_of.values()), minlength=0).tolist()
        assert outcome.at_hop[slice(*outcome.hop_offsets[e : e + 2])].tolist() == by_hop
        assert outcome.receptions is not None
        assert sorted(zip(*(x.tolist() for x in outcome.receptions.of(e)), strict=True)) == sorted(
            report.hop_of.items()
        )
        if timing is not None:
            assert outcome.times is not None
            own = outcome.times.ms[outcome.times.offsets[e] : outcome.times.offsets[e + 1]]
            assert own.tolist() == [float(np.float32(t)) for t in sorted(report.when.values())[1:]]
    for peer in range(len(world.peers)):
        assert outcome.taken[peer] == sum(peer in report.hop_of for report in expected)
        assert outcome.received[peer] == sum(report.received[peer] for report in expected)
        assert outcome.spammed[peer] == sum(report.spammed[peer] for report in expected)
        assert outcome.forwarded[peer] == sum(report.forwarded[peer] for report in expected)
    assert set(map(tuple, outcome.failures.tolist())) == set().union(
        *(report.failures for report in expected)
    )
    copies = [report.received[peer] for report in expected for peer in report.hop_of]
    assert outcome.copies.tolist() == np.bincount(copies, minlength=0).tolist()


@settings(max_examples=100)
@given(worlds(most=14, faults=False), some_settings, st.integers(0, 1000))
def test_complete_rings_deliver_every_event_to_all_it_is_meant_for(
    world: World, how: DisseminationSettings, seed: int
) -> None:
    world.fill_rings()
    outcome = disseminate(world.links(), world.network, world.events, settings=how, seed=seed)
    for e in range(len(world.events)):
        assert outcome.matches[e] == outcome.reached[e] == len(world.live_matches(e))
    assert outcome.complete.all()
    assert outcome.hit_ratio == 1.0
    assert not outcome.spam.any()
    assert not outcome.failed.any()


@settings(max_examples=100)
@given(worlds(most=14, faults=False, shared_hosts=False), st.integers(0, 3), st.integers(0, 1000))
def test_a_peer_sends_two_ring_copies_and_its_shortcuts_at_most_and_gets_two_ring_copies_at_most(
    world: World, shortcuts: int, seed: int
) -> None:
    world.fill_rings()
    how = DisseminationSettings(shortcuts=shortcuts)
    outcome = disseminate(world.links(), world.network, world.events, settings=how, seed=seed)
    assert outcome.sent.size <= 2 + shortcuts + 1
    ring_only = DisseminationSettings(shortcuts=0)
    outcome = disseminate(world.links(), world.network, world.events, settings=ring_only, seed=seed)
    assert outcome.copies.size <= 2 + 1


@settings(max_examples=100)
@given(worlds(most=14), some_settings, st.integers(0, 1000))
def test_the_dead_neither_receive_nor_send_and_only_matches_take_an_event(
    world: World, how: DisseminationSettings, seed: int
) -> None:
    dead = world.network.alive == 0
    outcome = disseminate(
        world.links(), world.network, world.events, entry=entries(world, seed), settings=how, seed=seed
    )
    assert not (outcome.taken + outcome.received + outcome.forwarded)[dead].any()
    assert (outcome.reached <= outcome.matches).all()
    wanted = np.zeros(len(world.peers), int)
    for e in range(len(world.events)):
        wanted[world.live_matches(e)] += 1
    assert (outcome.taken <= wanted).all()


@settings(max_examples=100)
@given(worlds(most=14, shared_hosts=False), st.integers(0, 1000))
def test_with_retries_the_living_get_everything_whoever_has_died(world: World, seed: int) -> None:
    world.fill_rings()
    world.network.loss, world.network.group[:] = 0.0, 0
    how = DisseminationSettings(retries=len(world.peers))
    outcome = disseminate(world.links(), world.network, world.events, settings=how, seed=seed)
    assert outcome.complete.all()
    alive = world.network.alive
    assert not alive[outcome.failures[:, 1]].any()


@settings(max_examples=50)
@given(worlds(most=14), some_settings, st.integers(0, 1000))
def test_every_message_is_a_delivery_a_duplicate_spam_or_a_failure(
    world: World, how: DisseminationSettings, seed: int
) -> None:
    outcome = disseminate(world.links(), world.network, world.events, settings=how, seed=seed)
    first = (outcome.reached > 0).astype(int)  # at the entry, by the publisher
    arrived = outcome.reached - first + outcome.duplicates + outcome.spam
    assert (outcome.messages + outcome.local == arrived + outcome.failed).all()
    assert outcome.received.sum() == outcome.reached.sum() + outcome.duplicates.sum()
    assert outcome.forwarded.sum() == outcome.messages.sum()
    assert outcome.at_hop.sum() == outcome.reached.sum()
    assert outcome.copies.sum() == outcome.sent.sum() == outcome.reached.sum()


def converged(n: int = 400, **options: object) -> Overlay:
    low = np.random.default_rng(1).random((n, 2)) * 0.7
    overlay = Overlay(Population.of(low, low + 0.3, **options), seed=1)
    overlay.bootstrap()
    for cycle in range(1, 26):
        overlay.step(cycle)
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
    """What forwarding relies on to find the adjacent neighbours first."""
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
    """Some exchange their subscriptions: peers leave, and others join in their place on the same hosts."""
    rng = np.random.default_rng(3)
    low = rng.random((150, 2)) * 0.8
    settings = OverlaySettings(ring=RingSettings(max_age=9, tell_changes=told))
    overlay = Overlay.of(low, low + 0.2, settings=settings, spare=30, seed=1).run(20)
    people, old = overlay.population, np.flatnonzero(overlay.population.present)[::10]
    lows, highs = (side[np.roll(old, 1)] for side in people.ranges())
    new = np.flatnonzero(people.dormant)[: old.size]
    people.settle(new, lows, highs, people.host[old])
    overlay.join(new, np.setdiff1d(np.flatnonzero(overlay.network.alive), old)[: old.size], overlay.cycle)
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
    overlay.bootstrap()
    for cycle in range(1, 16):
        overlay.step(cycle)
    people, network = overlay.population, overlay.network
    old, new = int(people.row.argmax()), int(np.flatnonzero(people.row < 0)[0])
    network.alive[old] = 0
    people.settle(np.array([new]), [[0.95]], [[0.99]], people.host[[old]])
    overlay.join(np.array([new]), np.array([(old + 1) % 21 if (old + 1) % 21 != new else (old + 2) % 21]), 16)
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
    """Nobody else could bring the other one an event that was lost on its way."""
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
    """Otherwise the test on threads would not test any."""
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
