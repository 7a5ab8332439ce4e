"""Dissemination: the kernel against Figure 6, and the paper's statements on the three algorithms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.hpmcast import (
    AddressSpace,
    Condensation,
    Gossip,
    Population,
    Reading,
    disseminate,
    exact_knowledge,
    spread_interest,
)
from hierarchy.hpmcast.analysis import expected_rounds
from hierarchy.topics import ROOT, NestedRanges, TopicTree
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.timing.settings import Timing
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import normalise
from tests.hierarchy.hpmcast.reference import System, TimedSystem

REGULAR = Population.regular(a=22, levels=3)
VIEWS = exact_knowledge(REGULAR, Condensation(redundancy=3)).views()


@st.composite
def systems(draw: st.DrawFn) -> tuple[Population, np.ndarray, Network]:
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    space = AddressSpace(tuple(sizes))
    n = draw(st.integers(1, min(space.capacity, 60)))
    population = Population.scattered(space, n, draw(st.integers(0, 1000)))
    flags = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), np.uint8)
    network = Network.whole(n)
    network.alive[draw(st.lists(st.integers(0, n - 1), max_size=n // 3))] = 0
    network.group[:] = draw(st.lists(st.sampled_from([0, 0, 0, 1]), min_size=n, max_size=n))
    network.loss = draw(st.sampled_from([0.0, 0.15]))
    return population, flags, network


@settings(max_examples=90, deadline=None)
@given(
    system=systems(),
    gossip=st.builds(
        Gossip,
        fanout=st.integers(1, 5),
        constant=st.sampled_from([0.0, 1.5]),
        loss=st.sampled_from([0.0, 0.1]),
        crash=st.sampled_from([0.0, 0.2]),
        audience=st.sampled_from([0, 3]),
        retries=st.sampled_from([0, 2]),
        reliable=st.integers(1, 3),
        reading=st.sampled_from(Reading),
        redundancy=st.integers(1, 3),
    ),
    redundancy=st.integers(1, 3),
    adaptive=st.booleans(),
    seed=st.integers(0, 10),
    timing=st.sampled_from([None, Timing(bandwidth=0.5), Timing(latency="uniform", tick=10.0)]),
)
def test_kernel_takes_the_decisions_of_figure_6(system, gossip, redundancy, adaptive, seed, timing):
    if adaptive:
        gossip = replace(gossip, audience=0, adaptive=True)
    population, interested, network = system
    publisher = seed % population.n
    network.alive[publisher], network.timing = 1, timing
    views = exact_knowledge(population, Condensation(redundancy=redundancy)).views()
    outcome = disseminate(
        views, spread_interest(population, interested), publisher, gossip, network=network, seed=seed, event=3
    )
    reference = (System if timing is None else TimedSystem)(
        population.space, population.addresses.tolist(), interested.tolist(), redundancy, gossip, network
    )
    assert reference.multicast(publisher, seed, event=3) == outcome.rounds
    people = reference.participants
    assert reference.reached == outcome.trace.first.tolist()
    if isinstance(reference, TimedSystem):
        assert outcome.trace.when.tolist() == [reference.when.get(x, np.inf) for x in range(population.n)]
    assert reference.sent == outcome.trace.sent.tolist()
    assert reference.received == outcome.trace.received.tolist()
    assert [sum(p.matched.values()) for p in people] == outcome.filtered.tolist()
    assert reference.messages == outcome.messages.tolist()
    levels = range(1, population.levels + 1)
    assert [sum(p.matched.get(i, 0) for p in people) for i in levels] == outcome.matched.tolist()


def test_pmcast_touches_nobody_who_is_not_interested():
    flat = Population.regular(a=1000, levels=1)
    interested = np.arange(1000) % 3 == 0
    views = exact_knowledge(flat).views()
    outcome = disseminate(views, spread_interest(flat, interested), publisher=1, settings=Gossip(fanout=3))
    assert outcome.trace.parasites(interested) == 0
    assert outcome.trace.delivery(interested) > 0.95


def test_rfpbcast_reaches_everybody_whoever_is_interested():
    flat = Population.regular(a=1000, levels=1)
    views = exact_knowledge(flat).views()
    outcome = disseminate(views, np.ones(1000, np.uint8), publisher=1, settings=Gossip(fanout=3))
    assert outcome.trace.reached.mean() > 0.99
    assert outcome.rounds == int(np.ceil(expected_rounds(1000, 3)))


def test_only_delegates_are_touched_without_being_interested():
    interested = np.random.default_rng(1).random(REGULAR.n) < 0.3
    outcome = disseminate(VIEWS, spread_interest(REGULAR, interested), publisher=5000, seed=1)
    touched = outcome.trace.reached & ~interested
    touched[5000] = False
    assert outcome.trace.parasites(interested) == touched.sum() > 0
    assert VIEWS.top[touched].min() >= 2


def test_an_event_for_one_subsystem_stays_out_of_the_others():
    interested = np.zeros(REGULAR.n, np.uint8)
    interested[22 * 22 * 7 : 22 * 22 * 8] = 1
    gossip = Gossip(fanout=3, constant=6)
    outcome = disseminate(VIEWS, spread_interest(REGULAR, interested), publisher=0, settings=gossip, seed=2)
    assert outcome.trace.delivery(interested) > 0.99
    assert outcome.trace.parasites(interested) == 0


def test_topics_are_ranges_and_supertopics_get_the_events_of_subtopics():
    tree = TopicTree.from_paths([".sport.soccer", ".sport.tennis", ".music"])
    ranges = NestedRanges(tree)
    names = [tree.name(t) for t in tree]
    population = Population.regular(a=8, levels=3)
    topic = np.random.default_rng(6).integers(0, len(names), 512)
    bounds = np.array([ranges.closed_ranges(names[t])[0] for t in topic])
    interests = normalise(bounds[:, :1], bounds[:, 1:])
    known = exact_knowledge(population, Condensation(boxes=(8,)), interests)
    hit = known.match([ranges.point(".sport.soccer")])
    wants = np.isin(topic, [names.index(name) for name in (tree.name(ROOT), ".sport", ".sport.soccer")])
    assert (hit[:512] == wants).all()
    outcome = disseminate(known.views(), hit, 0, Gossip(fanout=3, constant=5), seed=6)
    assert outcome.trace.delivery(wants) > 0.99


def test_nobody_interested_costs_no_message():
    outcome = disseminate(VIEWS, np.zeros(22**3 + 22**2 + 22, np.uint8), publisher=9, seed=1)
    assert outcome.trace.sent.sum() == 0
    assert outcome.rounds == 0


def test_the_audience_threshold_raises_delivery_for_a_small_audience():
    interested = np.random.default_rng(5).random(REGULAR.n) < 0.1
    hit = spread_interest(REGULAR, interested)
    plain, widened = (
        np.mean(
            [disseminate(VIEWS, hit, 0, gossip, seed=seed).trace.delivery(interested) for seed in range(5)]
        )
        for gossip in (Gossip(), Gossip(audience=10))
    )
    assert widened > plain + 0.05


def test_nothing_depends_on_the_order_in_which_events_are_run():
    hit = spread_interest(REGULAR, np.ones(REGULAR.n))
    first = [disseminate(VIEWS, hit, 0, seed=1, event=e).trace.first for e in (0, 1)]
    second = [disseminate(VIEWS, hit, 0, seed=1, event=e).trace.first for e in (1, 0)]
    assert (first[0] == second[1]).all()
    assert (first[1] == second[0]).all()
    assert (first[0] != first[1]).any()


def test_recorded_arrivals_are_the_messages_that_arrived():
    hit = spread_interest(REGULAR, np.ones(REGULAR.n))
    plain = disseminate(VIEWS, hit, 0, seed=1)
    recorded = disseminate(VIEWS, hit, 0, seed=1, record=True)
    assert (plain.trace.first == recorded.trace.first).all()
    assert len(plain.arrivals) == 0
    assert (np.bincount(recorded.arrivals[:, 0], minlength=REGULAR.n) == recorded.trace.sent).all()
    assert (np.bincount(recorded.arrivals[:, 1], minlength=REGULAR.n) == recorded.trace.received).all()


def test_the_true_share_of_a_system_where_all_groups_are_alike_changes_nothing():
    interested = np.arange(REGULAR.n) % 2
    hit = spread_interest(REGULAR, interested)
    measured = disseminate(VIEWS, hit, 0, seed=1)
    assert (
        measured.trace.first == disseminate(VIEWS, hit, 0, seed=1, shares=[0.5, 1.0, 1.0]).trace.first
    ).all()
    assert disseminate(VIEWS, hit, 0, seed=1, shares=[0.1, 1.0, 1.0]).rounds > measured.rounds


def test_delegates_carry_more_load_the_higher_they_stand():
    outcome = disseminate(VIEWS, spread_interest(REGULAR, np.ones(REGULAR.n)), 0, seed=1)
    assert (VIEWS.top == 1).sum() == 22**2 * 19
    for load in (outcome.trace.sent, outcome.filtered):
        assert load[VIEWS.top == 1].mean() < load[VIEWS.top == 2].mean() < load[VIEWS.top == 3].mean()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fanout": 0}, "fanout: expected 1 or more, got 0"),
        ({"loss": 1.0}, "loss: expected a probability below 1, got 1.0"),
        ({"constant": float("nan")}, "constant: expected a finite"),
        ({"audience": -1}, "audience: expected 0 or more, got -1"),
    ],
)
def test_settings_outside_their_domain_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Gossip(**settings)


def test_a_crashed_publisher_is_refused():
    network = Network.whole(REGULAR.n)
    network.alive[3] = 0
    with pytest.raises(InputError, match="publisher: expected a live participant"):
        disseminate(VIEWS, spread_interest(REGULAR, np.ones(REGULAR.n)), 3, network=network)


def test_line_27_as_printed_gives_the_deliveries_of_figure_8():
    rng = np.random.default_rng(1)
    delivered = {}
    for reading in Reading:
        gossip = Gossip(fanout=2, reading=reading, redundancy=3)
        outcomes = []
        for event in range(20):
            interested = (rng.random(REGULAR.n) < 0.1).astype(np.uint8)
            outcome = disseminate(
                VIEWS, spread_interest(REGULAR, interested), event, gossip, seed=1, event=event
            )
            outcomes.append(outcome.trace.delivery(interested))
        delivered[reading] = np.mean(outcomes)
    assert delivered[Reading.LINE_27] > 0.998
    assert delivered[Reading.PROSE] < 0.9
    assert 0.89 < delivered[Reading.LINES_27_AND_35] < 0.93
