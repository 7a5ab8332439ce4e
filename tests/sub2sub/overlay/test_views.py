"""Views: each operation is compared with a plain version."""

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

from sub2sub.compiled.common import views
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.common.randomness import peer_key
from sub2sub.compiled.cyclon.layer import Cyclon
from sub2sub.compiled.vicinity.layer import Vicinity
from sub2sub.compiled.vicinity.proximity import packed_boxes
from sub2sub.peers.draws import cycle_key
from sub2sub.peers.settings import CyclonSettings, Tie, VicinitySettings

ROOT = Path(__file__).parents[3]
LOW = 0xFFFFFFFF


def mask_of(flags) -> int:
    return sum(1 << k for k, flag in enumerate(flags) if flag)


few = st.integers(0, 5)
words = st.one_of(st.builds(lambda peer, stamp: stamp << 32 | peer, few, few), st.just(int(views.FREE)))
rows = arrays(np.int64, 24, elements=words)


@given(rows, rows, st.integers(0, 24), few)
def test_looking_up_links(row, received, count: int, peer: int) -> None:
    row_peers = (row & LOW).tolist()
    assert views.oldest(row) == row.tolist().index(row.min())
    assert views.places_of_links(row, peer) == mask_of(each == peer for each in row_peers)
    assert views.place_of_link(row, peer) == (row_peers.index(peer) if peer in row_peers else -1)
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
    """All arrays of two small populations after a few cycles, in which every rule is used."""
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
    code = (
        "import tests.sub2sub.kernels.uncompiled;"
        "from tests.sub2sub.overlay.test_views import digest_of_a_run; print(digest_of_a_run())"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore::RuntimeWarning", "-c", code],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == digest_of_a_run(), run.stderr
