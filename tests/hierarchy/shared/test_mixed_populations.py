"""CAMCAST's routing where topics and ranges mix, with default settings, on trees of the test's own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from hierarchy.shared import SharedOverlay
from sims.engine import Simulation
from sims.engine.faults import Churn, Crash
from sub2sub.compiled.common.views import FREE
from sub2sub.peers.settings import DisseminationSettings
from tests.hierarchy.shared.mixed import judged, judged_by_choice, mixed, topic_events

HOSTS, EVENTS, SETTLED = 600, 60, 40
RINGS = DisseminationSettings()
KINDS, SHARES = ("chain", "star", "tree", "graph"), (0.0, 0.05, 0.3, 0.9)
WORLDS = [(kind, SHARES[(k + turn) % 4]) for k, kind in enumerate(KINDS) for turn in (0, 2)] + [("star", 0.0)]


@cache
def settled(kind: str, share: float, loss: float = 0.0) -> SharedOverlay:
    overlay = mixed(kind, share, HOSTS, seed=11)
    overlay.network.loss = loss
    return overlay.run(SETTLED)


@pytest.mark.parametrize(("kind", "share"), WORLDS)
def test_without_faults_everybody_has_every_event_in_at_most_twice_the_hops_of_the_rings(kind, share) -> None:
    overlay = settled(kind, share)
    events = topic_events(overlay, EVENTS, 1)
    routed, rings = judged(overlay, *events), judged(overlay, *events, RINGS)
    assert (routed.hit_ratio, routed.wrong) == (1.0, 0)
    assert routed.hops <= 2 * rings.hops


@pytest.mark.parametrize(("kind", "share"), WORLDS)
def test_five_percent_loss_costs_less_than_one_delivery_in_a_thousand(kind, share) -> None:
    overlay = settled(kind, share, 0.05)
    found = judged(overlay, *topic_events(overlay, EVENTS, 2))
    assert found.hit_ratio >= 0.999
    assert found.wrong == 0


@pytest.mark.parametrize(("kind", "share"), [*WORLDS[::2], ("star", 0.3)])
def test_after_a_crash_of_a_fifth_it_is_as_good_as_the_rings_and_heals(kind, share) -> None:
    overlay = mixed(kind, share, HOSTS, seed=12)
    simulation, after = Simulation(overlay), {}
    simulation.add(Crash(0.2), start=SETTLED, until=SETTLED + 1)
    for cycle in range(1, SETTLED + 11):
        simulation.act()
        simulation.cycle = overlay.cycle = cycle
        if cycle > SETTLED and cycle - 1 - SETTLED in (0, 2):
            events = topic_events(overlay, EVENTS, cycle)
            after[cycle - 1 - SETTLED] = judged(overlay, *events), judged(overlay, *events, RINGS)
        overlay.step(cycle)
    healed = judged(overlay, *topic_events(overlay, EVENTS, 99))
    assert after[0][0].hit_ratio >= after[0][1].hit_ratio - 0.01
    assert after[2][0].hit_ratio >= 0.98
    assert healed.hit_ratio >= 0.9995
    assert not any(found.wrong for found in (after[0][0], after[2][0], healed))


@pytest.mark.parametrize(("kind", "share"), WORLDS[1::2])
def test_one_percent_churn_costs_two_deliveries_in_a_thousand_at_most(kind, share) -> None:
    overlay = mixed(kind, share, HOSTS, seed=13, spare=HOSTS)
    simulation, found = Simulation(overlay), []
    simulation.add(Churn(0.01), start=SETTLED)
    for cycle in range(1, SETTLED + 21):
        simulation.act()
        simulation.cycle = overlay.cycle = cycle
        overlay.step(cycle)
        if cycle >= SETTLED + 15:
            found.append(judged(overlay, *topic_events(overlay, EVENTS, cycle)))
    assert np.mean([each.hit_ratio for each in found]) >= 0.998
    assert not any(each.wrong for each in found)


@pytest.mark.parametrize("loss", [0.0, 0.05])
@pytest.mark.parametrize(("kind", "share"), WORLDS)
def test_the_route_that_publishers_choose_costs_a_tenth_more_than_the_better_one_at_most(
    kind, share, loss
) -> None:
    overlay = settled(kind, share, loss)
    events = topic_events(overlay, EVENTS, 3)
    both = judged(overlay, *events), judged(overlay, *events, RINGS)
    chosen, by_tables = judged_by_choice(overlay, *events)
    assert chosen.bytes <= 1.1 * min(route.bytes for route in both)
    assert chosen.hit_ratio >= min(route.hit_ratio for route in both) - 0.001
    if kind != "star" or share in (0.0, 0.9):
        assert (by_tables > 0.9) == (kind == "star" and share == 0.0)


def test_a_publisher_that_nobody_answers_sends_along_the_rings() -> None:
    overlay = settled("star", 0.0)
    events, publishers = topic_events(overlay, 20, 4)
    leaves = overlay.tables.above[publishers, 0] != FREE
    rows = overlay.population.row[publishers[leaves]]
    before = overlay.choose_routes(events[leaves], rows)
    assert all("communities of" in choice.why and choice.messages == 2 for choice in before)
    alive = overlay.network.alive.copy()
    overlay.network.alive[overlay.population.ranges()[0][:, 0] == 0.0] = 0  # all subscribers of the root
    after = overlay.choose_routes(events[leaves], rows)
    overlay.network.alive[:] = alive
    assert all("nobody answered" in choice.why for choice in after)
    assert all(choice.route == RINGS and choice.messages == 9 for choice in after)
