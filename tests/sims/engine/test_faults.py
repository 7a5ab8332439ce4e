"""Faults on hosts with several subscriptions, in divided networks, and one after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sims.engine import Control, Schedule, Simulation
from sims.engine.faults import Churn, Crash, Leave, Partition, Recover, Resubscribe
from sub2sub.errors import InputError
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from tests.sims.engine.joining import joining

HOSTS, EACH = 60, 3


def simulation(*faults: tuple[int, Control], spare: int = 100, each: int = EACH) -> Simulation:
    """Sixty hosts with three subscriptions each."""
    low = np.random.default_rng(1).random((HOSTS * each, 2)) * 0.7
    hosts = np.repeat(np.arange(HOSTS), each)
    overlay = Overlay(Population.of(low, low + 0.3, hosts=hosts, spare=spare, seed=1), seed=1)
    overlay.bootstrap()
    return Simulation(overlay, [(Schedule(at=cycle), fault) for cycle, fault in faults])


def subscriptions_by_host(run: Simulation) -> dict[int, list[list[float]]]:
    people = run.overlay.population
    lows, highs = people.ranges()
    found: dict[int, list[list[float]]] = {}
    for peer in np.flatnonzero(run.overlay.network.alive):
        found.setdefault(int(people.host[peer]), []).append([*lows[peer], *highs[peer]])
    return {host: sorted(boxes) for host, boxes in found.items()}


def test_a_peer_that_recovers_after_a_change_has_the_changed_subscription() -> None:
    run = simulation((2, Resubscribe(0.5)), (4, Crash(0.6)), (6, Recover()))
    run.run(3)
    changed = subscriptions_by_host(run)
    assert changed != subscriptions_by_host(simulation())
    run.run(5)
    assert len(subscriptions_by_host(run)) == HOSTS - round(0.6 * HOSTS)
    run.run(7)
    assert subscriptions_by_host(run) == changed


def test_the_same_holds_across_a_checkpoint(tmp_path: Path) -> None:
    faults = ((2, Resubscribe(0.5)), (4, Crash(0.6)), (6, Recover()))
    whole, first, second = (simulation(*faults) for _ in range(3))
    whole.run(8)
    first.run(5)
    first.save(tmp_path / "state.npz")
    second.load(tmp_path / "state.npz")
    second.run(8)
    assert subscriptions_by_host(second) == subscriptions_by_host(whole)
    assert second.tables == whole.tables


def test_the_peers_of_a_host_crash_recover_and_leave_together() -> None:
    run = simulation((1, Crash(0.5)), (2, Recover(0.5)), (3, Leave(0.2)))
    for cycle, hosts in ((1, 30), (2, 45), (3, 36)):
        run.run(cycle)
        run.act()
        left = subscriptions_by_host(run)
        assert len(left) == hosts
        assert {len(boxes) for boxes in left.values()} == {EACH}


def test_a_peer_that_left_does_not_recover() -> None:
    run = simulation((1, Leave(0.5)), (2, Crash(0.5)), (3, Recover()))
    run.run(4)
    assert len(subscriptions_by_host(run)) == HOSTS // 2


def test_churn_replaces_hosts_by_new_ones_with_the_same_subscriptions() -> None:
    run = simulation((1, Churn(0.25)))
    before = subscriptions_by_host(run)
    run.run(2)
    after = subscriptions_by_host(run)
    assert len(before.keys() - after.keys()) == HOSTS // 4
    assert sorted(before.values()) == sorted(after.values())


def test_a_partition_separates_hosts_and_peers_that_change_or_join_stay_on_a_side() -> None:
    run = simulation(
        (1, Partition(3)),
        (2, Resubscribe(0.3)),
        (3, joining(np.zeros((4, 2)), np.ones((4, 2)), hosts=[5, 5, 900, 901])),
    )
    run.run(2)
    people, network = run.overlay.population, run.overlay.network

    def sides() -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for peer in np.flatnonzero(network.alive):
            found.setdefault(int(people.host[peer]), set()).add(int(network.group[peer]))
        return found

    before = sides()
    assert {len(side) for side in before.values()} == {1}
    assert set().union(*before.values()) == {0, 1, 2}
    run.run(3)
    after = sides()
    assert all(after[host] == before[host] for host in before)
    newcomers = np.flatnonzero(people.host >= 900)
    views = [run.overlay.cyclon.view[peer, : run.overlay.cyclon.size[peer]] for peer in newcomers]
    contacts = [view & 0xFFFFFFFF for view in views]
    assert all((network.group[c] == network.group[p]).all() for p, c in zip(newcomers, contacts, strict=True))


def test_places_of_departed_peers_are_used_again_when_no_links_to_them_are_left() -> None:
    run = simulation(*((cycle, Churn(0.1)) for cycle in range(20, 120, 20)), spare=40)
    run.run(115)  # 5 x 18 newcomers in 40 places
    assert len(subscriptions_by_host(run)) == HOSTS


def test_peers_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match=r"crash\.peers: expected peers from 0 to 279, got 280"):
        simulation((1, Crash(peers=(3, 280)))).run(2)


def test_the_place_of_a_peer_to_which_a_crashed_peer_has_a_link_stays_empty() -> None:
    """It would come back and take the stranger for the one it knew."""
    run = simulation(spare=0)
    run.run(15)
    overlay = run.overlay
    holders, peers, _ = overlay.ring.links()
    crashed = int(holders[0])
    known = np.unique(peers[holders == crashed])
    Crash(peers=(crashed,)).execute(run)
    Leave(peers=tuple(known.tolist())).execute(run)
    run.run(60)  # the living have forgotten them by then
    alive = overlay.network.alive == 1
    assert not any(
        np.isin(layer.links()[1][alive[layer.links()[0]]], known).any() for layer in overlay.layers
    )
    overlay.population.free(~overlay.referenced())
    assert not overlay.population.dormant[known].any()
    overlay.population.retire(np.array([crashed]))
    overlay.population.free(~overlay.referenced())
    assert overlay.population.dormant[known].all()


def test_a_simulation_without_peers_is_refused() -> None:
    low = np.random.default_rng(1).random((20, 2)) * 0.7
    run = Simulation(Overlay(Population.of(low, low + 0.3)))
    with pytest.raises(InputError, match="overlay: no peer has joined"):
        run.run(3)
