from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.camcast import Communities
from hierarchy.compiled.common.channel import channel_of
from hierarchy.compiled.pgrid.layer import PGrid, Postings
from hierarchy.compiled.pgrid.steps import route_all, sample_members
from hierarchy.peers.pgrid import GridPeer, Posting, common_prefix
from hierarchy.peers.settings import PGridSettings
from hierarchy.topics import TopicTree
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import mix
from sub2sub.errors import InputError
from sub2sub.peers.draws import Dice
from tests.hierarchy.membership.pgrid.driver import Driver, contact, path_of, simulated_rows


@st.composite
def histories(draw, n: int = 14, cycles: int = 14):
    """For each cycle: who joins, who leaves, who crashes, how much is lost, whether the network is split."""
    history = []
    for _ in range(cycles):
        joins = draw(st.lists(st.integers(0, n - 1), max_size=5, unique=True))
        leaves = [p for p in draw(st.lists(st.integers(0, n - 1), max_size=1)) if p not in joins]
        crashes = draw(st.lists(st.integers(0, n - 1), max_size=1))
        history.append((joins, leaves, crashes, draw(st.sampled_from([0.0, 0.0, 0.3])), draw(st.booleans())))
    return history


rules = st.builds(
    PGridSettings,
    replication=st.integers(1, 2),
    references=st.integers(1, 3),
    recursion=st.integers(0, 2),
    attempts=st.just(1),
)


@given(histories(), rules, st.integers(0, 2**32))
@settings(deadline=None, max_examples=80)
def test_meetings_and_routes_go_as_those_of_peers_draw_for_draw(history, own, seed) -> None:
    n, tree = 14, TopicTree.from_paths([".a", ".b"])
    grid = PGrid(tree, np.arange(n) % 3, seed, own)
    peers = Driver(n, seed, own, grid.trie.reference.shape[1])
    network = Network(np.zeros(n, np.uint8), np.zeros(n, np.uint8))
    for cycle, (joins, leaves, crashes, loss, split) in enumerate(history):
        network.alive[joins] = 1
        network.alive[[*leaves, *crashes]] = 0
        network.loss = loss
        network.group[::2] = split
        grid.join(joins, np.full(len(joins), -1), cycle)
        peers.join(joins)
        grid.leave(leaves, cycle)
        peers.leave(leaves)
        cost = grid.step(cycle, network)
        assert peers.step(cycle, network) == cost["messages"] - cost["announcements"]
        assert peers.rows() == simulated_rows(grid)
        for _, references, buddies, acquaintances in peers.rows():
            for row in (*references, buddies, acquaintances):
                known = [each for each in row if each >= 0]
                assert len(known) == len(set(known))
        for i in peers.live(range(n)):
            result = np.zeros((3, 1), np.int64)
            key, word = np.uint64(100 * cycle), mix(np.uint64(i))
            route_all(
                grid.trie, np.array([i]), np.array([word], np.uint64), 1, channel_of(network), key, result
            )
            expected = peers.route(i, format(int(word), "064b"), Dice(key).of_peer(i))
            assert tuple(result[:, 0].tolist()) == expected


@given(
    st.sets(st.integers(0, 40), max_size=20), st.integers(0, 40), st.integers(0, 12), st.integers(0, 2**32)
)
@settings(deadline=None)
def test_a_search_brings_back_those_that_a_peer_names_draw_for_draw(members, asker, wanted, seed) -> None:
    own = PGridSettings()
    peer = GridPeer(contact(99), own, 4)
    peer.hold([Posting(contact(i, ".a"), own.lease) for i in members], 0)
    out = np.full((1, wanted), -1, np.int32)
    pool = np.array(sorted(members), np.int64)
    spans, following = (np.array([0]), np.array([len(pool)])), np.zeros(1, np.int64)
    sample_members(pool, *spans, np.array([asker]), np.uint64(seed), out, following)
    expected = peer.some_of(".a", asker + 1, wanted, Dice(seed).of_peer(asker))
    assert [i for i in out[0].tolist() if i >= 0] == [each.id - 1 for each in expected]
    after = [each.id - 1 for each in peer.following(".a", asker + 1)]
    assert (after or [-1]) == following.tolist()
    assert (
        after == ([i for i in sorted(members) if i > asker] + [i for i in sorted(members) if i < asker])[:1]
    )


def _settled(*sizes: int, seed: int = 1, cycles: int = 30, **options) -> tuple[PGrid, Communities, Network]:
    group = Communities.chain(*sizes)
    grid, network = PGrid(group.tree, group.topic, seed, PGridSettings(**options)), Network.whole(len(group))
    grid.join(np.arange(len(group)), np.full(len(group), -1), 0)
    for cycle in range(cycles):
        grid.step(cycle, network)
    return grid, group, network


def test_references_are_across_and_buddies_at_the_same_leaf() -> None:
    grid, _, _ = _settled(10, 100, 300)
    paths = [path_of(grid, i) for i in range(len(grid.topic))]
    for i, own in enumerate(paths):
        for place in range(len(own)):
            for other in grid.trie.reference[i, place]:
                if other >= 0:
                    assert common_prefix(own, paths[other]) == place
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
    with pytest.raises(InputError, match=f"{field}: expected [0-9] or more"):
        PGridSettings(**{field: -1})


def test_crashed_peers_do_nothing() -> None:
    group = Communities.chain(40, 160)
    grid, network = PGrid(group.tree, group.topic, seed=1), Network.whole(200)
    grid.join(np.arange(200), np.full(200, -1), 0)
    for cycle in range(12):
        grid.step(cycle, network)
    dead = np.arange(0, 200, 2)
    network.alive[dead] = 0
    before = {name: array[dead].copy() for name, array in grid.trie._asdict().items()}
    for cycle in range(12, 30):
        grid.step(cycle, network)
    for name, array in grid.trie._asdict().items():
        assert np.array_equal(array[dead], before[name]), name
