"""Plumtree over HyParView: links the same at both ends, one tree, mended after crashes."""

from __future__ import annotations

import numpy as np
import pytest

from sims.rivals.others.plumtree import LazyPush, Plumtree, PlumtreeSettings, TreeLayer
from sub2sub.errors import InputError
from tests.sims.compare.worlds import small
from tests.sims.rivals.grown import go_on, grow, reached, stack_of

N = 150


def grown(n: int = N, seed: int = 1, loss: float = 0.0, cycles: int = 12) -> tuple[TreeLayer, list[int]]:
    layer = TreeLayer(n, PlumtreeSettings(), seed)
    return layer, grow(stack_of(layer, n, seed), cycles, loss)


@pytest.mark.parametrize(("n", "seed"), [(N, 1), (N, 2), (4, 1), (40, 3)])
def test_active_views_are_symmetric_bounded_and_connected(n: int, seed: int) -> None:
    layer, _ = grown(n, seed)
    active = {peer: layer.peers[peer].active for peer in range(n)}
    assert all(peer in active[other] for peer, others in active.items() for other in others)
    assert all(len(others) == len(set(others)) <= 5 for others in active.values())
    assert all(peer not in others for peer, others in active.items())
    assert len(reached(active, 0)) == n


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_eager_links_are_a_spanning_tree(loss: float) -> None:
    layer, _ = grown(loss=loss)
    eager = {peer: layer.peers[peer].eager() for peer in range(N)}
    assert len(reached(eager, 0)) == N
    assert sum(map(len, eager.values())) <= 2 * (N - 1) * (1.0 if loss == 0 else 1.1)


def test_after_stabilising_an_event_takes_about_one_push_for_each_delivery() -> None:
    system = Plumtree(small("ranges power-law-1").wanted, 1)
    system.overlay.bootstrap()
    for cycle in range(1, 13):
        system.step(cycle)
    events, publishers = np.arange(5), system.peer_of[:5]
    found = system.publish(events, publishers, LazyPush(wait=16, retries=0), 1)
    # A long branch may outlast the wait: then somebody asks for what is on its way.
    assert found.messages.mean() <= 1.02 * (system.wanted.n - 1)
    assert np.array_equal(found.deliveries, found.owed)
    assert found.control.min() > 0


def depths(layer: TreeLayer, source: int) -> list[int]:
    """Hops along branches of the tree from a source to each peer."""
    found, level = {source: 0}, [source]
    while level:
        level = [other for peer in level for other in layer.peers[peer].eager() if other not in found]
        found |= dict.fromkeys(level, max(found.values()) + 1)
    return [found[peer] for peer in range(len(layer.peers))]


def test_optimised_branches_are_still_a_tree_and_shorter() -> None:
    mean = {}
    for optimise in (0, 1):
        layer = TreeLayer(N, PlumtreeSettings(optimise=optimise), 1)
        grow(stack_of(layer, N), 20)
        eager = {peer: layer.peers[peer].eager() for peer in range(N)}
        assert len(reached(eager, 0)) == N
        assert sum(map(len, eager.values())) <= 2.05 * (N - 1)
        mean[optimise] = np.mean([np.mean(depths(layer, source)) for source in range(0, N, 10)])
    assert mean[1] < 0.95 * mean[0]


def test_a_tree_is_mended_after_a_third_has_crashed_and_views_forget_the_dead() -> None:
    layer = TreeLayer(N, PlumtreeSettings(), 1)
    stack = stack_of(layer, N)
    grow(stack, 10)
    down = np.arange(0, N, 3)
    stack.network.alive[down] = 0
    go_on(stack, 11, 22)
    live = [peer for peer in range(N) if peer % 3]
    eager = {peer: layer.peers[peer].eager() for peer in live}
    assert not any(other % 3 == 0 for peer in live for other in layer.peers[peer].active)
    assert len(reached(eager, live[0])) == len(live)
    assert sum(map(len, eager.values())) == 2 * (len(live) - 1)


def test_one_who_comes_back_is_let_in_again() -> None:
    layer = TreeLayer(N, PlumtreeSettings(), 1)
    stack = stack_of(layer, N)
    grow(stack, 8)
    stack.network.alive[:20] = 0
    go_on(stack, 9, 14)
    stack.admit(np.arange(20), np.full(20, -1), 15)
    go_on(stack, 15, 20)
    assert len(reached({peer: layer.peers[peer].eager() for peer in range(N)}, 0)) == N


def test_a_checkpoint_goes_on_as_if_nothing_had_happened() -> None:
    whole, half, rest = (TreeLayer(60, PlumtreeSettings(), 4) for _ in range(3))
    stacks = [stack_of(layer, 60, 4) for layer in (whole, half, rest)]
    expected = grow(stacks[0], 10)
    grow(stacks[1], 5)
    rest.load(half.arrays())
    assert go_on(stacks[2], 6, 10) == expected[5:]
    assert [peer.state() for peer in rest.peers] == [peer.state() for peer in whole.peers]


def test_settings_outside_their_domain_are_refused() -> None:
    with pytest.raises(InputError, match=r"hyparview\.active: expected 1 or more, got 0"):
        PlumtreeSettings(active=0)
