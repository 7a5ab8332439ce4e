"""CYCLON: the kernel makes the same decisions as `CyclonPeer`, and views keep their invariants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.views import FREE
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.errors import InputError
from sub2sub.peers.cyclon import CyclonPeer
from sub2sub.peers.descriptors import HEADER, LINK, Link
from sub2sub.peers.draws import Dice
from sub2sub.peers.settings import CyclonSettings
from tests.sub2sub.overlay.engine import CyclonEngine, descriptors, row
from tests.sub2sub.overlay.histories import History, histories, links_of

CYCLES = 16


def run(history: History) -> Iterator[tuple[int, Cyclon, Network, dict[str, int]]]:
    """The layer after each cycle of a history."""
    layer, network = Cyclon(history.n, history.cyclon, history.seed), Network.whole(history.n)
    layer.join(np.arange(history.n), history.contacts(), cycle=0)
    for cycle in range(1, CYCLES):
        fresh = history.apply_faults(cycle, network)
        layer.join(fresh, history.contacts()[fresh], cycle)
        yield cycle, layer, network, dict(layer.step(cycle, network))


@settings(max_examples=60)
@given(histories())
def test_the_kernel_decides_as_its_peer_does(history: History) -> None:
    engine = CyclonEngine(descriptors(history.naive_boxes()), history.cyclon, history.seed)
    contacts = history.contacts().tolist()
    for number, contact in enumerate(contacts):
        engine.join(number, contact, cycle=0)
    for cycle, layer, network, counts in run(history):
        if cycle == history.join_at:
            for number in range(1, history.n, 4):
                engine.join(number, contacts[number], cycle)
        cost = engine.step(cycle, network)
        assert counts == {
            "messages": cost.messages,
            "failed": cost.failed,
            "bytes": HEADER * cost.messages + LINK * cost.links,
        }
        for number, peer in enumerate(engine.peers):
            assert links_of(layer.view[number], layer.size[number]) == row(peer.view)
            lost = peer.lost.id if peer.lost else -1
            assert layer.lost[number] == (-2 - lost if peer.lost and peer.failed_again else lost)


@settings(max_examples=60)
@given(histories(most=40))
def test_a_view_never_holds_its_owner_duplicates_or_more_than_its_room(history: History) -> None:
    for cycle, layer, _, _ in run(history):
        places = np.arange(layer.view.shape[1])
        assert (layer.size <= history.cyclon.view).all()
        assert ((layer.view != FREE) == (places < layer.size[:, None])).all()
        holders, others, stamps = layer.links()
        assert (holders != others).all()
        assert len(set(zip(holders.tolist(), others.tolist(), strict=True))) == len(holders)
        assert (stamps <= cycle).all()


def swapped(mine: list[int], its: list[int], shuffle: int, seed: int) -> tuple[list[int], list[int]]:
    """The peers in the views of the last peer and of its partner, peer 0, after one exchange."""
    n, dead, partner, peer = 60, 58, 0, 59
    layer, network = Cyclon(n, CyclonSettings(20, shuffle), seed), Network.whole(n)
    network.alive[dead] = 0
    # The partner has its turn first, and spends it on its oldest link, which is dead.
    for holder, others in ((peer, [partner, *mine]), (partner, [dead, *its])):
        stamps = np.array([1] + [2] * (len(others) - 1))
        layer.view[holder, : len(others)] = (stamps << 32) | np.array(others)
        layer.size[holder] = len(others)
    layer.step(3, network)
    holders, others, _ = layer.links()
    return others[holders == peer].tolist(), others[holders == partner].tolist()


some_peers = st.lists(st.integers(1, 57), max_size=19, unique=True)


@settings(max_examples=100)
@given(some_peers, some_peers, st.integers(1, 20), st.integers(0, 1000))
def test_a_shuffle_loses_no_peer_that_only_one_side_knew(
    mine: list[int], its: list[int], shuffle: int, seed: int
) -> None:
    """A link that both send is discarded and overwritten by both, as published."""
    after = {other for view in swapped(mine, its, shuffle, seed) for other in view}
    assert after <= {*mine, *its, 59}
    assert after >= {*mine, 59} ^ set(its)


@given(st.permutations(range(2, 41)), st.integers(1, 20), st.integers(0, 1000))
def test_full_disjoint_views_swap_links_one_for_one(others: list[int], shuffle: int, seed: int) -> None:
    """Tested with `CyclonPeer`, where a single exchange is possible."""
    everybody = descriptors([[(0.0, 1.0)]] * 41)
    peer, partner = (CyclonPeer(own, CyclonSettings(20, shuffle)) for own in everybody[:2])
    peer.view = [Link(partner.own, 0)] + [Link(everybody[other], 1) for other in others[:19]]
    partner.view = [Link(everybody[other], 1) for other in others[19:]]
    request = peer.begin(2, 2, Dice(seed))
    assert request
    peer.finish(request, partner.answer(request.links, Dice(seed)))
    assert sorted(link.peer.id for link in peer.view + partner.view) == [0, *range(2, 41)]
    assert len(peer.view) == len(partner.view) == 20


def test_links_to_dead_peers_disappear() -> None:
    n = 300
    layer, network = Cyclon(n, seed=3), Network.whole(n)
    layer.join(np.arange(n), (np.arange(n) + 1) % n, cycle=0)
    for cycle in range(1, 20):
        layer.step(cycle, network)
    network.alive[::5] = 0
    for cycle in range(20, 60):
        layer.step(cycle, network)
    holders, others, _ = layer.links()
    assert network.alive[others[network.alive[holders] == 1]].all()


def test_a_resumed_run_equals_the_uninterrupted_one() -> None:
    n, network = 80, Network.whole(80)
    whole = Cyclon(n, seed=5)
    whole.join(np.arange(n), (np.arange(n) + 1) % n, cycle=0)
    for cycle in range(1, 6):
        whole.step(cycle, network)
    resumed = Cyclon(n, seed=5)
    resumed.load(whole.arrays())
    for cycle in range(6, 12):
        whole.step(cycle, network)
        resumed.step(cycle, network)
    assert all((whole.arrays()[name] == array).all() for name, array in resumed.arrays().items())


@pytest.mark.parametrize(
    ("view", "shuffle", "field"), [(0, 1, "view"), (64, 8, "view"), (8, 0, "shuffle"), (8, 9, "shuffle")]
)
def test_settings_outside_their_domain_are_refused(view: int, shuffle: int, field: str) -> None:
    with pytest.raises(InputError, match=f"cyclon.{field}: expected 1 to"):
        CyclonSettings(view, shuffle)


def test_halves_that_have_forgotten_each_other_meet_again_only_by_retrying() -> None:
    for retry, pieces in ((0, 2), (10, 1)):
        n = 400
        layer, network = Cyclon(n, CyclonSettings(retry=retry), seed=2), Network.whole(n)
        layer.join(np.arange(n), (np.arange(n) + 7) % n, cycle=0)
        for cycle in range(1, 121):
            if cycle == 20:
                network.group[::2] = 1
            if cycle == 90:
                network.group[:] = 0
            layer.step(cycle, network)
        holders, others, _ = layer.links()
        crossing = (holders % 2 != others % 2).any()
        assert 2 - int(crossing) == pieces
