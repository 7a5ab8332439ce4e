"""A community is one component, in any order of joins, with loss from the first message on."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from hierarchy.camcast import Communities
from hierarchy.membership import SemiStructured, Structured, Unstructured
from sub2sub.compiled.common.network import Network

KINDS = [Unstructured, SemiStructured, Structured]
LOSSES = [0.0, 0.05, 0.15]


def parts(tables, network: Network, strong: bool = True) -> list[int]:
    """How many components each community has, of its live members and the topic tables between them."""
    counts = []
    for topic in np.unique(tables.topic):
        members = np.flatnonzero((tables.topic == topic) & (network.alive == 1))
        graph = nx.DiGraph()
        graph.add_nodes_from(members.tolist())
        for member in members.tolist():
            known = tables.topic_table[member]
            graph.add_edges_from((member, int(other)) for other in known[known >= 0] if network.alive[other])
        count = nx.number_strongly_connected_components if strong else nx.number_weakly_connected_components
        counts.append(count(graph))
    return counts


def _enter(membership, n: int, seed: int, loss: float, at_once: bool) -> tuple[Network, int]:
    network = Network(np.zeros(n, np.uint8), np.zeros(n, np.uint8), loss)
    cycle, order = 0, np.random.default_rng(seed).permutation(n)
    for peers in [order] if at_once else order[:, None]:
        network.alive[peers] = 1
        membership.join(peers, np.full(len(peers), -1), cycle)
        membership.step(cycle, network)
        cycle += 1
    return network, cycle


def _run(membership, network: Network, cycle: int, cycles: int) -> int:
    for later in range(cycle, cycle + cycles):
        membership.step(later, network)
    return cycle + cycles


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "one by one"])
def test_communities_are_one_component_and_stay_so(kind, loss, at_once) -> None:
    for seed, sizes in ((1, (10, 30, 100)), (2, (1, 2, 60)), (3, (25, 3, 40))):
        group = Communities.chain(*sizes)
        membership = kind(group.tree, group.topic, seed)
        network, cycle = _enter(membership, len(group), seed, loss, at_once)
        cycle = _run(membership, network, cycle, 50)
        for _ in range(40):  # all leases end meanwhile
            cycle = _run(membership, network, cycle, 3)
            assert parts(membership.tables(), network) == [1, 1, 1], (seed, cycle)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", [0.0, 0.15])
def test_a_thousand_that_join_at_once_are_one_component(kind, loss) -> None:
    """More seeds, losses and orders: `PYTHONPATH=. python benchmarks/one_component.py --sizes 1000`."""
    group = Communities.chain(1000)
    membership = kind(group.tree, group.topic, 4)
    network, cycle = _enter(membership, 1000, 4, loss, at_once=True)
    _run(membership, network, cycle, 24)
    assert parts(membership.tables(), network, strong=False) == [1]


def test_newcomers_that_search_for_one_another_never_form_two_communities() -> None:
    for seed in range(4):
        group = Communities.chain(60)
        membership, network = SemiStructured(group.tree, group.topic, seed), Network.whole(60)
        membership.join(np.random.default_rng(seed).permutation(60), np.full(60, -1), 0)
        for cycle in range(14):
            membership.step(cycle, network)
            inside = Network(membership.inside().astype(np.uint8), network.group)
            assert parts(membership.tables(), inside, strong=False)[0] <= 1, (seed, cycle)
        assert membership.inside().all()


@pytest.mark.parametrize("left", [1, 3])
def test_members_whose_contact_crashes_before_it_is_served_found_the_community(left) -> None:
    group = Communities.chain(left + 1)
    membership, network, cycle = SemiStructured(group.tree, group.topic, 1), Network.whole(left + 1), 0
    membership.join(np.arange(left + 1), np.full(left + 1, -1), 0)
    while (membership.scamp.views.contact[1:] < 0).any():
        cycle = _run(membership, network, cycle, 1)
    network.alive[0] = 0
    assert not membership.inside().any()
    _run(membership, network, cycle, 30)
    assert membership.inside()[1:].all()
    assert parts(membership.tables(), network) == [1]


@pytest.mark.parametrize("kind", [Unstructured, SemiStructured])
def test_a_community_that_was_divided_grows_together(kind) -> None:
    group = Communities.chain(4, 60)
    membership = kind(group.tree, group.topic, 5)
    network, cycle = _enter(membership, 64, 5, 0.0, at_once=True)
    cycle = _run(membership, network, cycle, 30)
    network.group[::2] = 1
    cycle = _run(membership, network, cycle, 320)  # all leases end: nobody knows anybody on the other side
    assert parts(membership.tables(), network, strong=False)[1] > 1
    network.group[:] = 0
    cycle = _run(membership, network, cycle, 120)
    assert parts(membership.tables(), network) == [1, 1]


def test_a_community_whose_gateways_all_crash_does_not_become_two() -> None:
    group = Communities.chain(40)
    membership = Unstructured(group.tree, group.topic, 1)
    network = Network(np.zeros(40, np.uint8), np.zeros(40, np.uint8))
    network.alive[:30] = 1
    membership.join(np.arange(30), np.full(30, -1), 0)
    cycle = _run(membership, network, 0, 40)
    network.alive[membership.gateways.table[0]] = 0
    network.alive[30:] = 1
    membership.join(np.arange(30, 40), np.full(10, -1), cycle)
    _run(membership, network, cycle, 100)
    assert parts(membership.tables(), network) == [1]
