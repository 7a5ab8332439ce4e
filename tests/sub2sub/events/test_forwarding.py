"""Forwarding: kernel and readable peer forward alike; complete rings deliver to all matches and no others."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sub2sub.compiled.events.dissemination import disseminate
from sub2sub.compiled.timing.settings import Timing
from sub2sub.peers.settings import DisseminationSettings
from tests.sub2sub.events.engine import Dissemination, Report
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
    """Mostly peers that match, sometimes others, sometimes none (-1)."""
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
    assert outcome.copies.sum() == outcome.sent.sum() == outcome.reached.sum()
