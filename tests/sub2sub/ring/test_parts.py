"""The parts of ring views, each compared with brute force: labels, the cover test, the shadow, one view."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sub2sub.compiled.common.memory import LANES32
from sub2sub.compiled.common.network import Network
from sub2sub.compiled.machinery.compilation import kernel
from sub2sub.compiled.ring.message_length import new_space
from sub2sub.compiled.ring.offers import consider, note
from sub2sub.compiled.ring.probes import Probes
from sub2sub.compiled.ring.settings import RingStep
from sub2sub.compiled.ring_views import labels as labels_module
from sub2sub.compiled.ring_views.cover import ask
from sub2sub.compiled.ring_views.labels import Labels
from sub2sub.compiled.ring_views.pool import MARGIN, STAMP, compact, empty_pool, place_of
from sub2sub.compiled.ring_views.scratch import new_scratch, prepare
from sub2sub.compiled.ring_views.shadow import (
    CELLS,
    cell_piece,
    depth_code,
    frame_of,
    inside_cells,
    new_frame,
    touched_cells,
)
from sub2sub.compiled.ring_views.view import is_hidden, remove
from sub2sub.peers.settings import RingSettings
from tests.sub2sub.geometry import naive

SIDE = 6  # points along an attribute in the tests that go through all of them


@st.composite
def grid_boxes(draw: st.DrawFn, least: int, most: int, side: int = SIDE) -> NDArray[np.int32]:
    """Boxes (n, 2, d) on a small grid of integers, half-open."""
    d = draw(st.integers(1, 3))
    interval = st.tuples(st.integers(0, side - 1), st.integers(1, side)).map(
        lambda pair: (min(pair[0], pair[1] - 1), max(pair[0] + 1, pair[1]))
    )
    drawn = draw(st.lists(st.lists(interval, min_size=d, max_size=d), min_size=least, max_size=most))
    return np.array(drawn, np.int32).reshape(-1, d, 2).transpose(0, 2, 1).copy()


def points_of(box: NDArray[np.int32]) -> set[tuple[int, ...]]:
    return set(product(*(range(low, high) for low, high in zip(*box.tolist(), strict=True))))


# Labels


def in_the_same_order(labels: Labels, boxes: NDArray[np.float64]) -> None:
    for k in range(labels.d):
        ends, numbers = boxes[:, :, k].reshape(-1), labels.boxes[:, :, k].reshape(-1)
        assert (np.sign(ends[:, None] - ends) == np.sign(numbers[:, None].astype(np.int64) - numbers)).all()
    assert (labels.boxes >= 0).all()


@st.composite
def half_open_boxes(draw: st.DrawFn, n: int, d: int) -> NDArray[np.float64]:
    ends = st.integers(0, 40).map(lambda k: k / 7.0 - 2.0)
    interval = st.tuples(ends, ends).map(lambda pair: (min(pair), max(pair) + 0.01))
    drawn = draw(st.lists(st.lists(interval, min_size=d, max_size=d), min_size=n, max_size=n))
    return np.array(drawn).transpose(0, 2, 1).copy()


@settings(max_examples=60)
@given(st.data(), st.integers(1, 8), st.integers(1, 5), st.sampled_from([40, 2**30]))
def test_labels_keep_the_order_of_all_ends_however_boxes_change(
    data: st.DataObject, n: int, d: int, most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labels_module, "_MOST", most)  # with few labels the gaps run out
        boxes = data.draw(half_open_boxes(n, d))
        labels = Labels(boxes, d)
        in_the_same_order(labels, boxes)
        for _ in range(4):
            peers = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True)))
            boxes[peers] = data.draw(half_open_boxes(peers.size, d))
            stayed, before = np.setdiff1d(np.arange(n), peers), labels.boxes.copy()
            moved = labels.update(boxes, peers)
            in_the_same_order(labels, boxes)
            for k in range(d):  # what did not change kept its labels, or moved with them
                old, new = before[stayed, :, k], labels.boxes[stayed, :, k]
                if moved:
                    places = np.searchsorted(moved[k][0], old)
                    assert (moved[k][0][places] == old).all()
                    old = moved[k][1][places]
                assert (old == new).all()


# The cover test


def asked(boxes: NDArray[np.int32], piece: NDArray[np.int32], steps: int = 0) -> tuple[int, Any, Any]:
    """Whether the piece is covered: how many boxes suffice, the witness, and the counts."""
    d, n = boxes.shape[2], len(boxes)
    places = -(-max(n, 1) // LANES32) * LANES32
    columns = np.zeros((2 * d, places), np.int32)
    columns[0::2, :n], columns[1::2, :n] = boxes[:, 0].T, boxes[:, 1].T
    space = new_space(places, d).cover
    space.stack[0, 0 : 2 * d : 2], space.stack[0, 1 : 2 * d : 2] = piece
    return int(_ask(columns, n, d, steps, space)), space.witness, space.counts


@kernel
def _ask(columns, n, d, steps, space):
    return ask(columns, np.int64(0), n, d, steps, space)


@settings(max_examples=150)
@given(grid_boxes(least=1, most=24))
def test_a_piece_is_covered_if_all_its_points_are_and_else_there_is_a_witness(
    boxes: NDArray[np.int32],
) -> None:
    piece, boxes = boxes[0], boxes[1:]
    enough, witness, counts = asked(boxes, piece)
    left = points_of(piece)
    for box in boxes[: enough or len(boxes)]:
        left -= points_of(box)
    if enough:
        assert not left
    else:
        assert tuple(witness.tolist()) in left
    assert counts[0] == 1
    assert counts[2] == 0


@settings(max_examples=60)
@given(grid_boxes(least=2, most=16), st.integers(1, 3))
def test_a_test_for_cover_that_is_given_up_counts_as_not_covered(
    boxes: NDArray[np.int32], steps: int
) -> None:
    enough, _, counts = asked(boxes[1:], boxes[0], steps)
    unlimited, _, _ = asked(boxes[1:], boxes[0])
    assert counts[1] <= steps
    assert enough == (0 if counts[2] else unlimited)


# The shadow


@kernel
def _cells(boxes, shadow, t, x, frame, pieces):
    frame_of(boxes, shadow, t, frame)
    for cell in range(pieces.shape[0]):
        cell_piece(frame, cell, boxes.shape[2], pieces[cell])
    return touched_cells(boxes, x, frame), inside_cells(boxes, x, frame)


def cell_of(point: NDArray[np.int64], box: NDArray[np.int32], frame: Any) -> int:
    """The cell that holds a point, as `sub2sub.compiled.ring_views.shadow` defines cells."""
    cell, shift = 0, 0
    for k in range(box.shape[1]):
        count, bits = int(frame.bounds[3, k]), int(frame.bounds[5, k])
        scale = np.float32(count) / np.float32(box[1, k] - box[0, k])
        number = min(int(np.float32(point[k] - box[0, k]) * scale), count - 1)
        cell |= number << shift
        shift += bits
    return cell


def padded_boxes(boxes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Boxes padded to a multiple of four attributes, along which all overlap, as in labels."""
    n, _, d = boxes.shape
    wide = np.zeros((n, 2, -(-d // 4) * 4), np.int32)
    wide[:, 1], wide[:, :, :d] = 1, boxes
    return wide


@settings(max_examples=100)
@given(grid_boxes(least=2, most=2, side=40), st.sampled_from([1, 1_000_003]), st.randoms())
def test_cells_that_are_touched_hold_a_common_point_and_those_inside_no_other(
    boxes: NDArray[np.int32], stretch: int, random: Any
) -> None:
    boxes, d = boxes * stretch, boxes.shape[2]
    frame = new_frame(d)
    cells = 1 << int(frame.bounds[5].sum())
    pieces = np.zeros((cells, 8), np.int32)
    touched, inside = (
        int(word) % 2**64
        for word in _cells(padded_boxes(boxes), np.full((2, 2, CELLS), 255, np.uint8), 0, 1, frame, pieces)
    )
    own, other = boxes.astype(np.int64)
    for _ in range(200):
        point = np.array([random.randrange(low, high) for low, high in zip(*own.tolist(), strict=True)])
        cell = cell_of(point, boxes[0], frame)
        common = bool(((other[0] <= point) & (point < other[1])).all())
        if common:
            assert touched >> cell & 1
        else:
            assert not inside >> cell & 1
        piece = pieces[cell, : 2 * d].astype(np.int64)
        assert ((piece[0::2] <= point) & (point < piece[1::2])).all()
    if not naive.overlap(*([list(zip(*box.tolist(), strict=True)) for box in boxes])):
        assert touched == inside == 0


@given(st.integers(1, 2**31 - 1), st.integers(1, 2**31 - 1))
def test_depths_are_in_the_order_of_distances(near: int, far: int) -> None:
    near, far = min(near, far), max(near, far)
    assert 0 <= depth_code(near) <= depth_code(far) < 255


# A view


@kernel
def _offer(pool, boxes, t, x, settings, scratch, probes, news):
    prepare(pool, boxes, t, scratch)
    if touched_cells(boxes, x, scratch.frame) == 0:
        return 0
    noted = note(pool, boxes, t, x, settings.cycle, scratch, np.int64(0))
    return consider(pool, boxes, t, noted, settings, scratch, probes, news, np.int64(0))


@kernel
def _hidden(pool, boxes, t, x, frame):
    frame_of(boxes, pool.shadow, t, frame)
    n = boxes.shape[0]
    touched, up = touched_cells(boxes, x, frame), x - t if x > t else x - t + n
    way, down = min(up, frame.reach[0]), min(n - up, frame.reach[1])
    return is_hidden(pool.shadow, t, touched, up, n), way == up or down == n - up


@kernel
def _remove(pool, boxes, t, x, settings, scratch):
    remove(pool, boxes, t, place_of(pool, t, x), settings, scratch)


def needed(boxes: NDArray[np.int32], t: int, others: set[int]) -> set[int]:
    """Those of the others that Figure 3 selects."""
    candidates = sorted(others)
    shapes = [list(zip(*box.tolist(), strict=True)) for box in boxes]
    sides = naive.figure_3(shapes[t], t, [shapes[x] for x in candidates], candidates)
    return {candidates[k] for side in sides for k in side}


@settings(max_examples=120)
@given(grid_boxes(least=3, most=24), st.data())
def test_a_view_is_at_any_time_what_figure_3_selects(boxes: NDArray[np.int32], data: st.DataObject) -> None:
    n, _, d = boxes.shape
    t = data.draw(st.integers(0, n - 1))
    wide, pool, scratch = padded_boxes(boxes), empty_pool(n, d), new_scratch(d, 64)
    news = np.empty((64, 2), np.int64)
    probes = Probes(
        Network.whole(n).faults(),
        np.uint64(1),
        np.zeros(2, np.int64),
        np.zeros((n, 4), np.int32),
        np.ones(n, np.uint8),
        np.zeros((n, 2), np.int32),
    )
    seen: set[int] = set()
    moves = data.draw(st.lists(st.tuples(st.integers(0, n - 2), st.booleans()), min_size=1, max_size=40))
    for cycle, (number, away) in enumerate(moves, start=1):
        x = number if number < t else number + 1
        step = RingStep.of(RingSettings.paper(max_steps=0), cycle)
        before = set(pool.peer[pool.start[t] : pool.start[t] + pool.size[t]].tolist())
        if away and x in before:
            _remove(pool, wide, t, x, step, scratch)
            before.discard(x)
            seen = before
        else:
            taken = _offer(pool, wide, t, x, step, scratch, probes, news)
            seen = before | {x}
            assert taken == (x not in before and x in needed(boxes, t, seen))
        held = pool.peer[pool.start[t] : pool.start[t] + pool.size[t]].tolist()
        assert set(held) == needed(boxes, t, seen)
        assert held == sorted(held, key=lambda x: (x - t) % n)
        for other in held:  # nothing that is needed is ever passed over at a glance
            hidden, in_reach = _hidden(pool, wide, t, other, scratch.frame)
            assert not hidden
            assert in_reach
    stamps = pool.start[t] + STAMP * np.int64(pool.room[t])
    assert (pool.words[stamps : stamps + pool.size[t]] >= 1).all()


def test_a_pool_is_compacted_before_all_its_memory_is_written() -> None:
    pool = empty_pool(1000, 2)
    assert MARGIN < pool.end[0] < pool.words.size
    compacted = compact(pool, 2, spare=50_000)
    assert compacted.words is pool.words
    assert pool.end[0] < compacted.end[0] <= pool.words.size
    assert compact(pool, 2, spare=100_000).words.size > pool.words.size
