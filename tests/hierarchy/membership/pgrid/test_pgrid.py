from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import Communities
from hierarchy.channel import Channel, channel_of
from hierarchy.membership.pgrid.layer import PGrid, PGridSettings
from hierarchy.membership.pgrid.postings import Postings
from hierarchy.membership.pgrid.rules import Trie, meet, route
from sub2sub.errors import InputError
from sub2sub.overlay.network import Network
from tests.hierarchy.membership.pgrid import reference

N, DEPTH, MOST, BUDDIES = 12, 3, 2, 4


def _bits(word: int, length: int) -> str:
    return format(int(word), "064b")[:length]


@given(
    st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=60),
    st.integers(0, 2),
    st.integers(0, 2),
    st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, 2**DEPTH - 1)), max_size=10),
    st.sets(st.integers(0, N - 1), max_size=5),
    st.sampled_from([0.0, 0.4]),
)
@settings(deadline=None, max_examples=120)
def test_meetings_and_routes_go_as_in_the_reference_draw_for_draw(
    meetings, enough, deepest, requests, dead, loss
) -> None:
    trie = Trie(
        np.zeros(N, np.uint64),
        np.zeros(N, np.int32),
        np.full((N, DEPTH, MOST), -1, np.int32),
        np.full((N, BUDDIES), -1, np.int32),
        np.full((N, BUDDIES), -1, np.int32),
    )
    peers = [reference.Peer(i, MOST, BUDDIES) for i in range(N)]
    pairs = np.empty((1000, 2), np.int64)
    for number, (a, b) in enumerate(meetings):
        if a != b:
            key = np.uint64(number)
            sent, _, _ = meet(trie, a, b, enough, deepest, key, np.int64(0), pairs, np.int64(0))
            assert sent == reference.meet(peers[a], peers[b], DEPTH, enough, deepest, reference.Dice(key))
    for i, peer in enumerate(peers):
        assert _bits(trie.path[i], trie.length[i]) == peer.path
        for place in range(DEPTH):
            known = [x for x in trie.reference[i, place].tolist() if x >= 0]
            assert known == [r.number for r in peer.references.get(place, [])]
        assert [x for x in trie.buddy[i].tolist() if x >= 0] == [b.number for b in peer.buddies]
        assert [x for x in trie.acquaintance[i].tolist() if x >= 0] == [b.number for b in peer.acquaintances]

    alive = np.array([i not in dead for i in range(N)], np.uint8)
    channel = Channel(alive, np.zeros(N, np.uint8), loss, np.zeros(1, np.int64))
    for number, (start, wanted) in enumerate(requests):
        word = np.uint64(wanted << (64 - DEPTH))
        key = np.uint64(10_000 + number)
        at, hops, messages, _ = route(trie, start, word, channel, key, np.int64(0))
        expected = reference.route(peers[start], _bits(word, 64), DEPTH, alive, loss, reference.Dice(key))
        assert (at, hops, messages) == expected


def _settled(*sizes: int, seed: int = 1, cycles: int = 30, **options) -> tuple[PGrid, Communities, Network]:
    group = Communities.chain(*sizes)
    grid, network = PGrid(group.tree, group.topic, seed, PGridSettings(**options)), Network.whole(len(group))
    grid.join(np.arange(len(group)), np.full(len(group), -1), 0)
    for cycle in range(cycles):
        grid.step(cycle, network)
    return grid, group, network


def test_references_are_across_and_buddies_at_the_same_leaf() -> None:
    grid, _, _ = _settled(10, 100, 300)
    paths = [_bits(p, length) for p, length in zip(grid.trie.path, grid.trie.length, strict=True)]
    for i, own in enumerate(paths):
        for place in range(len(own)):
            for other in grid.trie.reference[i, place]:
                if other >= 0:
                    assert reference.common_prefix(own, paths[other]) == place
        for buddy in grid.trie.buddy[i]:
            assert buddy < 0 or paths[buddy] == own


def test_a_search_takes_about_half_the_depth_and_never_more_than_the_depth() -> None:
    grid, group, network = _settled(10, 100, 1000, cycles=40)
    found = grid.search(np.arange(len(group)), group.topic, 5, 40, channel_of(network))
    depth = grid.trie.reference.shape[1]
    assert found.hops.max() <= depth
    assert found.hops.mean() == pytest.approx(depth / 2, rel=0.25)


def test_a_search_finds_members_of_the_community_uniformly_and_never_the_searcher() -> None:
    grid, group, network = _settled(7, 28, 79)
    drawn = np.zeros(len(group), int)
    for cycle in range(30, 60):
        grid.step(cycle, network)
        found = grid.search(np.arange(len(group)), np.full(len(group), 1), 5, cycle, channel_of(network))
        assert np.all(group.topic[found.members] == 1)
        assert np.all(found.known == 28)
        assert not np.any(found.members == np.arange(len(group))[:, None])
        np.add.at(drawn, found.members.ravel(), 1)
    of_topic = drawn[group.topic == 1]
    assert of_topic.max() < 1.2 * of_topic.mean()
    assert of_topic.min() > 0.8 * of_topic.mean()


def test_the_first_found_are_a_fair_sample_too() -> None:
    grid, group, network = _settled(7, 60)
    first = np.zeros(len(group), int)
    for cycle in range(30, 90):
        found = grid.search(np.arange(7, 67), np.zeros(60, int), 5, cycle, channel_of(network))
        np.add.at(first, found.members[:, 0], 1)
    assert first[:7].min() > 0.8 * first[:7].mean()


def test_a_community_smaller_than_asked_for_is_found_whole() -> None:
    grid, _, network = _settled(3, 60)
    found = grid.search([0, 62], [0, 0], 5, 30, channel_of(network))
    assert sorted(found.members[0].tolist()) == [-1, -1, -1, 1, 2]
    assert sorted(found.members[1].tolist()) == [-1, -1, 0, 1, 2]


def test_searches_survive_crashes_and_forget_the_dead() -> None:
    grid, group, network = _settled(20, 300)
    network.alive[np.random.default_rng(3).random(len(group)) < 0.3] = 0
    for cycle in range(30, 30 + 2 * grid.settings.lease):
        grid.step(cycle, network)
    live = np.flatnonzero(network.alive)
    found = grid.search(live, group.topic[live], 5, cycle, channel_of(network))
    assert np.mean(found.known > 0) > 0.99
    assert np.all(network.alive[found.members[found.members >= 0]] == 1)


def test_a_leaver_is_not_found_any_more() -> None:
    grid, _, network = _settled(5, 60)
    network.alive[2] = 0
    grid.leave([2], 30)
    grid.step(30, network)
    found = grid.search(np.arange(5, 65), np.zeros(60, int), 5, 31, channel_of(network))
    assert not np.any(found.members == 2)


def test_a_checkpoint_goes_on_as_the_uninterrupted_run() -> None:
    grid, group, network = _settled(5, 60, cycles=12)
    other = PGrid(group.tree, group.topic, 1)
    other.load(grid.arrays())
    for cycle in range(12, 30):
        assert grid.step(cycle, network) == other.step(cycle, network)
    for name, array in grid.arrays().items():
        assert np.array_equal(array, other.arrays()[name]), name


def test_a_newer_announcement_takes_the_place_of_the_older() -> None:
    index = Postings()
    index.post([1, 1], [0, 0], [5, 5], [10, 30])
    index.post([1], [0], [5], [20])
    assert index.rows.tolist() == [[1, 0, 5, 30]]
    index.expire(30)
    assert len(index.rows) == 0


@pytest.mark.parametrize("field", ["replication", "references", "recursion", "lease", "attempts"])
def test_settings_outside_their_domain_are_refused(field) -> None:
    with pytest.raises(InputError, match=f"{field}: expected a whole number not below"):
        PGridSettings(**{field: -1})
