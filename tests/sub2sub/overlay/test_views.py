"""Views and the vector instructions under them, each against its plain meaning."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sub2sub.cyclon.layer import Cyclon
from sub2sub.cyclon.settings import CyclonSettings
from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.randomness import cycle_key, peer_key
from sub2sub.kernels.simd import links as lanes
from sub2sub.overlay import views
from sub2sub.overlay.network import Network
from sub2sub.vicinity.layer import Vicinity
from sub2sub.vicinity.proximity import Tie, packed_boxes
from sub2sub.vicinity.settings import VicinitySettings

ROOT = Path(__file__).parents[3]
LOW = 0xFFFFFFFF


@kernel
def equal(array, start, value):
    return lanes.equal_lanes(array, start, value)


@kernel
def low_equal(array, start, value):
    return lanes.low_equal_lanes(array, start, value)


@kernel
def shared(array, start, other, other_start):
    return lanes.shared_lanes(array, start, other, other_start)


@kernel
def extremes(array, start):
    return lanes.least_lane(array, start), lanes.greatest_lane(array, start)


@kernel
def bits(mask):
    return lanes.first_bit(mask), lanes.popcount(mask)


def mask_of(flags) -> int:
    return sum(1 << k for k, flag in enumerate(flags) if flag)


few = st.integers(0, 5)
words = st.one_of(st.builds(lambda peer, stamp: stamp << 32 | peer, few, few), st.just(int(views.FREE)))
rows = arrays(np.int64, 24, elements=words)
chunks = st.sampled_from([0, 8, 16])


@given(rows, chunks, words)
def test_equal_lanes_marks_equal_words(row, start: int, word: int) -> None:
    assert equal(row, start, word) == mask_of(row[start : start + 8] == word)


@given(arrays(np.float32, 24, elements=st.sampled_from([0.0, 1e-30, 1.0, 2.5, np.inf])), chunks)
def test_lanes_of_gaps_are_ordered_as_gaps_are(gaps, start: int) -> None:
    part = gaps[start : start + 8]
    least, greatest = extremes(gaps, start)
    assert [np.int32(least).view(np.float32), np.int32(greatest).view(np.float32)] == [part.min(), part.max()]
    assert equal(gaps, start, least) == mask_of(part == part.min())


@given(rows, chunks)
def test_extremes_of_words(row, start: int) -> None:
    part = row[start : start + 8]
    assert extremes(row, start) == (part.min(), part.max())


@given(rows, chunks, few)
def test_low_equal_lanes_marks_links_to_a_peer(row, start: int, peer: int) -> None:
    assert low_equal(row, start, peer) == mask_of(row[start : start + 8] & LOW == peer)


@given(rows, chunks, rows, chunks)
def test_shared_lanes_marks_links_to_peers_of_the_other_row(row, start: int, other, other_start: int) -> None:
    others = set((other[other_start : other_start + 8] & LOW).tolist())
    assert shared(row, start, other, other_start) == mask_of(
        peer in others for peer in (row[start : start + 8] & LOW).tolist()
    )


@given(st.integers(1, 2**63 - 1))
def test_bits_of_a_mask(mask: int) -> None:
    assert bits(mask) == (bin(mask)[::-1].index("1"), bin(mask).count("1"))


@given(rows, rows, st.integers(0, 24), few)
def test_looking_up_links(row, received, count: int, peer: int) -> None:
    row_peers = (row & LOW).tolist()
    assert views.oldest(row) == row.tolist().index(row.min())
    assert views.places_of(row, peer) == mask_of(each == peer for each in row_peers)
    assert views.place_of(row, peer) == (row_peers.index(peer) if peer in row_peers else -1)
    assert views.known(received, count, row) == mask_of(
        each in row_peers for each in (received[:count] & LOW).tolist()
    )


@given(st.integers(0, 2**32 - 2), st.integers(0, 2**31 - 1))
def test_a_link_is_one_word(peer: int, stamp: int) -> None:
    word = views.link(peer, stamp)
    assert (views.peer_of(word), views.stamp_of(word)) == (peer, stamp)
    assert word < views.FREE


@given(st.integers(0, 63), st.data(), st.integers(0, 2**64 - 1))
def test_a_sample_has_so_many_places_in_range(size: int, data: st.DataObject, key: int) -> None:
    count = data.draw(st.integers(0, size))
    places = int(views.sample(size, count, np.uint64(key), 0))
    assert places.bit_count() == count
    assert places < 1 << size


@pytest.mark.parametrize(("size", "count"), [(20, 8), (20, 1), (7, 6), (63, 8)])
def test_a_sample_prefers_no_place_and_no_pair(size: int, count: int) -> None:
    trials = 20_000
    key = cycle_key(1, 2, 3)
    masks = np.array([views.sample(size, count, np.uint64(peer_key(key, i)), 0) for i in range(trials)])
    chosen = (masks[:, None] >> np.arange(size)) & 1
    share = count / size
    assert np.abs(chosen.mean(0) - share).max() < 5 * np.sqrt(share * (1 - share) / trials)
    pairs = chosen.T @ chosen / trials
    both = share * (count - 1) / (size - 1)
    off_diagonal = pairs[~np.eye(size, dtype=bool)]
    assert np.abs(off_diagonal - both).max() < 5 * np.sqrt(max(both * (1 - both), 1e-9) / trials) + 1e-12


def digest_of_a_run() -> str:
    """Everything two small populations hold after a few cycles, in which every rule gets its turn."""
    digest = hashlib.sha256()
    for d, tie in ((3, Tie.RANDOM), (5, Tie.SEQUENCE), (1, Tie.KEEP)):
        n = 14
        rng = np.random.default_rng(d)
        lows = rng.random((n, d))
        network = Network.whole(n)
        network.loss = 0.1
        cyclon = Cyclon(n, CyclonSettings(view=9, shuffle=4), seed=d)
        boxes = packed_boxes(lows, lows + 0.5)
        vicinity = Vicinity(boxes, d, cyclon, VicinitySettings(5, 4, tie, max_age=4), seed=d)
        cyclon.join(np.arange(n), (np.arange(n) + 1) % n, cycle=0)
        for cycle in range(1, 9):
            network.alive[3] = cycle < 4
            counts = [sorted(layer.step(cycle, network).items()) for layer in (cyclon, vicinity)]
            digest.update(repr(counts).encode())
        for layer in (cyclon, vicinity):
            for name, array in sorted(layer.arrays().items()):
                digest.update(name.encode() + array.tobytes())
    return digest.hexdigest()


def test_interpreted_kernels_do_what_compiled_ones_do() -> None:
    code = "from tests.sub2sub.overlay.test_views import digest_of_a_run; print(digest_of_a_run())"
    run = subprocess.run(
        [sys.executable, "-W", "ignore::RuntimeWarning", "-c", code],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == digest_of_a_run(), run.stderr
