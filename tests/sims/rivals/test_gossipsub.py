"""GossipSub: degrees of the mesh stay within their bounds, both ends agree, broken links are replaced."""

from __future__ import annotations

import numpy as np
import pytest

from sims.rivals.base.objects import ObjectLayer
from sims.rivals.others.gossipsub import GossipSubPeer, GossipSubSettings, Graft, Prune, gossipsub
from sub2sub.errors import InputError
from sub2sub.peers.draws import Dice
from tests.sims.rivals.grown import go_on, grow, reached, stack_of

N = 150
SPARSE = {"D": 4, "D_lo": 3, "D_hi": 6, "D_out": 1}


def grown(n: int = N, seed: int = 1, loss: float = 0.0, **given: int) -> ObjectLayer[GossipSubPeer]:
    layer = gossipsub(n, GossipSubSettings(**given), seed)
    grow(stack_of(layer, n, seed), 20, loss)
    return layer


@pytest.mark.parametrize(
    ("seed", "given"), [(1, {}), (2, {}), (1, {"D": 4, "D_lo": 3, "D_hi": 6, "D_out": 1})]
)
def test_mesh_degrees_are_within_bounds_and_both_ends_agree(seed: int, given: dict[str, int]) -> None:
    layer = grown(seed=seed, **given)
    mesh = {peer: layer.peers[peer].mesh for peer in range(N)}
    chosen = layer.peers[0].settings
    lowest, highest = chosen.D_lo, chosen.D_hi
    assert all(lowest <= len(links) <= highest for links in mesh.values())
    assert all(peer in mesh[other] for peer, links in mesh.items() for other in links)
    assert len(reached(mesh, 0)) == N


def test_every_mesh_has_links_that_its_peer_opened_itself() -> None:
    layer = grown()
    own = [sum(other in peer.outbound for other in peer.mesh) for peer in layer.peers]
    assert np.mean(np.array(own) >= layer.peers[0].settings.D_out) > 0.9


def test_a_small_group_is_one_mesh_of_all() -> None:
    layer = grown(n=5)
    assert all(sorted(peer.mesh) == [k for k in range(5) if k != own] for own, peer in enumerate(layer.peers))


def test_a_pruned_link_is_not_grafted_again_before_its_backoff_is_over() -> None:
    layer = grown(**SPARSE)
    for peer in layer.peers:
        for other, until in peer.barred.items():
            assert until <= peer.now or other not in peer.mesh


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_the_mesh_is_mended_after_a_third_has_crashed(loss: float) -> None:
    layer = gossipsub(N, GossipSubSettings(), 1)
    stack = stack_of(layer, N)
    grow(stack, 10, loss)
    stack.network.alive[::3] = 0
    go_on(stack, 11, 30)
    live = [peer for peer in range(N) if peer % 3]
    mesh = {peer: layer.peers[peer].mesh for peer in live}
    assert not any(other % 3 == 0 for links in mesh.values() for other in links)
    assert len(reached(mesh, live[0])) == len(live)
    assert np.mean([len(links) >= 5 for links in mesh.values()]) > 0.95


def test_settings_that_contradict_one_another_are_refused() -> None:
    with pytest.raises(InputError, match="expected 0 < D_lo <= D <= D_hi"):
        GossipSubSettings(D=3)
    with pytest.raises(InputError, match=r"gossipsub\.D_out"):
        GossipSubSettings(D_out=4)


def test_a_full_mesh_refuses_links_that_others_opened_and_names_other_peers() -> None:
    peer = GossipSubPeer(0, GossipSubSettings())
    peer.connected = list(range(1, 20))
    peer.mesh, peer.outbound = list(range(1, 13)), [13]
    ((target, answer),) = peer.receive(14, Graft(), Dice(1))
    assert (target, type(answer), len(answer.others)) == (14, Prune, 4)
    assert 14 not in peer.mesh
    assert list(peer.receive(13, Graft(), Dice(1))) == []  # one it opened itself may come
    assert 13 in peer.mesh
