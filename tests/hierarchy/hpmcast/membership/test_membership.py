"""Membership: the kernels against the reference, and what the protocol promises under faults."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.hpmcast import AddressSpace, Condensation, Membership, Population, Upkeep, disseminate
from hierarchy.hpmcast.membership.audit import Audit, audit
from sub2sub.compiled.common.layer import Layer
from sub2sub.compiled.common.network import Network
from sub2sub.errors import InputError
from sub2sub.geometry.boxes import normalise
from tests.hierarchy.hpmcast.membership.reference import Line, Reference


def ranges(n: int, seed: int, attributes: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    low = rng.random((n, attributes))
    return normalise(low, low + 0.2 * rng.random((n, attributes)))


def found(layer: Membership, network: Network) -> Audit:
    return audit(layer.knowledge().views(), layer.exact(network.alive).views(), network.alive)


def run(layer: Membership, network: Network, first: int, cycles: int) -> None:
    for cycle in range(first, first + cycles):
        layer.step(cycle, network)


def assert_same(layer: Membership, reference: Reference) -> None:
    for i, table in enumerate(layer.tables):
        for x, peer in enumerate(reference.peers):
            for s in range(table.members.shape[1]):
                boxes = table.boxes[x, s, : table.used[x, s]].tolist()
                delegates = table.delegates[x, s]
                line = Line(
                    int(table.stamp[x, s]),
                    int(table.members[x, s]),
                    tuple(delegates[delegates >= 0].tolist()),
                    tuple((tuple(low), tuple(high)) for low, high in boxes),
                )
                assert line == peer.tables[i + 1].get(s, Line()), (i + 1, x, s)
    assert layer.meet.tolist() == [peer.meet for peer in reference.peers]
    assert layer.contact.tolist() == [peer.contact for peer in reference.peers]


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(2, 4), min_size=1, max_size=3),
    share=st.floats(0.4, 1),
    attributes=st.integers(1, 2),
    upkeep=st.builds(
        Upkeep,
        fanout=st.integers(1, 3),
        timeout=st.sampled_from([(2, 4), (3,)]),
        tries=st.sampled_from([0, 1, 3]),
        bidirectional=st.booleans(),
        revisit=st.sampled_from([0.0, 0.3]),
    ),
    loss=st.sampled_from([0.0, 0.2]),
    seed=st.integers(0, 999),
)
def test_kernels_take_the_decisions_of_the_reference(sizes, share, attributes, upkeep, loss, seed):
    space = AddressSpace(tuple(sizes))
    population = Population.scattered(space, max(1, int(share * space.capacity)), seed)
    n = population.n
    rng = np.random.default_rng(seed)
    low, high = ranges(n, seed, attributes)
    condensation = Condensation(redundancy=2, boxes=(2,))
    layer = Membership(population, condensation, upkeep, (low, high), seed=seed)
    boxes = [(tuple(a), tuple(b)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    reference = Reference(population, condensation, upkeep, boxes, seed)
    network = Network.whole(n)
    network.loss = loss
    contacts = np.where(np.arange(n) > 0, rng.integers(0, n, n), -1)
    layer.join(np.arange(n), contacts, 0)
    for x in range(n):
        reference.peers[x].contact = reference.peers[x].sponsor = int(contacts[x])
    for cycle in range(1, 10):
        if cycle == 4:
            network.alive[rng.random(n) < 0.3] = 0
        if cycle == 6:
            network.group[:] = rng.integers(0, 2, n)
        layer.step(cycle, network)
        reference.step(cycle, network)
        assert_same(layer, reference)


def test_it_is_a_layer():
    assert isinstance(Membership(Population.regular(a=3, levels=2)), Layer)


def test_without_faults_exact_tables_stay_exact():
    layer, network = Membership(Population.regular(a=8, levels=3), seed=3), Network.whole(512)
    layer.make_exact()
    run(layer, network, 1, 40)
    assert found(layer, network).whole == 1.0


@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_views_are_repaired_after_a_fifth_has_crashed(loss):
    population = Population.regular(a=8, levels=3)
    layer, network = Membership(population, interests=ranges(512, 4), seed=4), Network.whole(512)
    network.loss = loss
    layer.make_exact()
    run(layer, network, 1, 5)
    network.alive[np.random.default_rng(4).permutation(512)[:102]] = 0
    assert found(layer, network).dead > 0.1
    run(layer, network, 6, 50)
    after = found(layer, network)
    # Lost pings remove live participants for a short time.
    assert after.dead < (0.001 if loss else 1e-12)
    assert after.whole > (0.9 if loss else 0.999)


def test_a_subsystem_that_loses_all_its_delegates_presents_others():
    layer, network = Membership(Population.regular(a=8, levels=3), seed=5), Network.whole(512)
    layer.make_exact()
    network.alive[[64, 65, 66]] = 0
    run(layer, network, 1, 50)
    assert layer.tables[2].delegates[0, 1].tolist() == [67, 68, 69]
    assert layer.tables[2].members[0, 1] == 61
    assert found(layer, network).whole == 1.0


def test_a_subsystem_that_is_gone_is_given_up_and_comes_back_when_somebody_joins():
    layer, network = Membership(Population.regular(a=6, levels=2), seed=6), Network.whole(36)
    layer.make_exact()
    network.alive[12:18] = 0
    run(layer, network, 1, 60)
    assert (layer.tables[1].members[network.alive == 1, 2] == 0).all()
    network.alive[14] = 1
    layer.join(np.array([14]), np.array([3]), 61)
    run(layer, network, 61, 20)
    assert (layer.tables[1].members[network.alive == 1, 2] == 1).all()
    assert found(layer, network).whole == 1.0


def test_a_hierarchy_is_built_by_adding_one_participant_after_another():
    population = Population.scattered(AddressSpace((5, 5, 5)), 80, seed=7)
    layer, network = Membership(population, seed=7), Network.whole(80)
    network.alive[:] = 0
    rng = np.random.default_rng(7)
    order = rng.permutation(80)
    for cycle, x in enumerate(order, start=1):
        contact = rng.choice(order[: cycle - 1]) if cycle > 1 else -1
        layer.join(np.array([x]), np.array([contact]), cycle)
        network.alive[x] = 1
        layer.step(cycle, network)
    run(layer, network, 81, 20)
    assert found(layer, network).whole == 1.0


@pytest.mark.parametrize("loss", [0.0, 0.2])
def test_all_may_start_at_once_each_knowing_one_other(loss):
    layer, network = Membership(Population.regular(a=6, levels=3), seed=8), Network.whole(216)
    network.loss = loss
    earlier = np.random.default_rng(8).integers(0, np.maximum(np.arange(216), 1))
    layer.join(np.arange(216), np.where(np.arange(216) > 0, earlier, -1), 0)
    run(layer, network, 1, 80)
    assert (layer.contact == -1).all()
    # Lost pings remove live participants for a short time.
    assert found(layer, network).whole > (0.9 if loss else 1 - 1e-12)


def test_what_is_lost_of_a_join_is_asked_for_again_and_billed():
    costs = []
    for loss in (0.0, 0.6):
        layer, network = Membership(Population.regular(a=5, levels=2), seed=4), Network.whole(25)
        layer.make_exact()
        network.alive[7] = 0
        run(layer, network, 1, 40)
        network.alive[7], network.loss = 1, loss
        layer.join(np.array([7]), np.array([22]), 41)
        quiet = Membership(Population.regular(a=5, levels=2), seed=4)
        spent, cycles = 0, 0
        while layer.contact[7] >= 0:
            layer.busy[7] = 1  # no gossip of its own meanwhile
            quiet.load(layer.arrays())
            quiet.contact[:] = -1
            cycle = 41 + cycles
            spent += layer.step(cycle, network)["messages"] - quiet.step(cycle, network)["messages"]
            cycles += 1
        costs.append((cycles, spent))
    # Asked without loss: the contact, a delegate of its own subsystem, and that one again for its tables.
    assert costs[0] == (1, 6)
    assert costs[1][0] > 1
    assert costs[1][1] > 6


def test_goodbyes_may_be_lost():
    layer, network = Membership(Population.regular(a=6, levels=2), seed=9), Network.whole(36)
    layer.make_exact()
    network.loss = 0.5
    cost = layer.leave(np.arange(36), 1, network)
    assert cost["messages"] == 72
    assert 20 < cost["failed"] < 52
    assert (layer.tables[0].members == 0).sum() <= 72 - cost["failed"]


def test_those_who_leave_are_forgotten_sooner_than_those_who_crash():
    gone, cycles = [], []
    for polite in (True, False):
        layer, network = Membership(Population.regular(a=10, levels=2), seed=9), Network.whole(100)
        layer.make_exact()
        run(layer, network, 1, 5)
        leaving = np.array([0, 31, 77])
        if polite:
            assert layer.leave(leaving, 6, network)["messages"] == 6
        network.alive[leaving] = 0
        cycle = 6
        while found(layer, network).dead > 0:
            layer.step(cycle, network)
            cycle += 1
        cycles.append(cycle - 6)
        gone.append(found(layer, network).whole)
    assert cycles[0] < cycles[1]
    assert gone[0] > 0.9


def test_the_sides_of_a_partition_forget_each_other_and_meet_again():
    layer, network = Membership(Population.regular(a=6, levels=2), seed=10), Network.whole(36)
    layer.make_exact()
    network.group[:18] = 1
    run(layer, network, 1, 60)
    assert (layer.tables[1].members[0] > 0).tolist() == [True] * 3 + [False] * 3
    network.group[:] = 0
    run(layer, network, 61, 80)
    assert found(layer, network).whole == 1.0


def test_a_changed_interest_reaches_the_highest_tables():
    population = Population.regular(a=6, levels=3)
    layer = Membership(population, interests=normalise(np.zeros((216, 1)), np.ones((216, 1))), seed=11)
    network = Network.whole(216)
    layer.make_exact()
    run(layer, network, 1, 3)
    assert not layer.knowledge().match([7.0]).any()
    layer.resubscribe(np.array([100]), normalise([[6.0]], [[8.0]]))
    run(layer, network, 4, 25)
    hit = layer.knowledge().match([7.0])
    top = hit[layer.knowledge().first_lines[2] :].reshape(216, 6)
    assert (top == (np.arange(6) == 100 // 36)).all()


def test_event_messages_carry_membership_along():
    population = Population.regular(a=6, levels=2)
    layer, network = Membership(population, seed=12), Network.whole(36)
    layer.make_exact()
    layer.step(1, network)
    known = layer.knowledge()
    outcome = disseminate(known.views(), known.match([]), publisher=0, seed=12, record=True)
    stale = layer.tables[0].stamp.sum()
    cost = layer.piggyback(outcome.arrivals, 1, network)
    assert cost["messages"] == len(outcome.arrivals) == outcome.trace.received.sum()
    assert layer.tables[0].stamp.sum() > stale
    quiet = (outcome.trace.sent == 0).sum()
    assert layer.step(2, network)["messages"] == 4 * quiet


def test_tables_grow_from_first_contacts_while_events_carry_membership_along():
    layer, network = Membership(Population.regular(a=4, levels=3), seed=3), Network.whole(64)
    places = np.arange(64)
    layer.join(places, np.where(places > 0, places // 2, -1), 0)
    for cycle in range(1, 40):
        known = layer.knowledge()
        outcome = disseminate(known.views(), known.match([]), cycle % 64, seed=3, event=cycle, record=True)
        carried = layer.piggyback(outcome.arrivals, cycle, network)
        stepped = layer.step(cycle, network)
        messages, size = (int(own.sum()) for own in layer.spent())
        assert messages == carried["messages"] + stepped["messages"]
        assert size == carried["bytes"] + stepped["bytes"]
    assert found(layer, network).whole == 1.0


def test_answers_to_what_event_messages_carry_may_be_lost():
    stamps = []
    for loss in (0.0, 0.5, 1.0):
        layer, network = Membership(Population.regular(a=6, levels=2), seed=12), Network.whole(36)
        layer.make_exact()
        layer.step(1, network)
        known = layer.knowledge()
        outcome = disseminate(known.views(), known.match([]), publisher=0, seed=12, record=True)
        network.loss = loss
        cost = layer.piggyback(outcome.arrivals, 1, network)
        assert cost["messages"] == len(outcome.arrivals)
        assert (cost["failed"] > 0) == (loss > 0)
        stamps.append(layer.tables[0].stamp.sum())
    assert stamps[0] > stamps[1] > stamps[2]


def test_a_run_resumed_from_its_state_equals_the_one_never_interrupted():
    def start() -> tuple[Membership, Network]:
        layer = Membership(Population.regular(a=5, levels=2), interests=ranges(25, 13), seed=13)
        return layer, Network.whole(25)

    layer, network = start()
    layer.make_exact()
    network.alive[3] = 0
    run(layer, network, 1, 10)
    state = {name: array.copy() for name, array in layer.arrays().items()}
    run(layer, network, 11, 20)
    other, _ = start()
    other.load(state)
    run(other, network, 11, 20)
    for name, array in layer.arrays().items():
        assert (array == other.arrays()[name]).all(), name


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fanout": 0}, "fanout: expected 1 or more"),
        ({"timeout": ()}, "timeout: expected at least 1 cycle"),
        ({"tries": -1}, "tries: expected 0 or more"),
        ({"revisit": 2.0}, "revisit: expected 0 to 1"),
    ],
)
def test_settings_outside_their_domain_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Upkeep(**settings)
