"""Vectors compute what NumPy computes with arrays, and keep to their places at the ends of arrays."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from sub2sub.compiled.common import rows
from sub2sub.compiled.common.memory import LANES32, LANES64
from sub2sub.compiled.machinery import simd
from sub2sub.compiled.machinery.compilation import kernel

INT32 = st.integers(-(2**31), 2**31 - 1)
ints = arrays(np.int32, LANES32, elements=INT32)
longs = arrays(np.int64, LANES64, elements=st.integers(-(2**63), 2**63 - 1))
few = arrays(np.int32, LANES32, elements=st.integers(-2, 2))
masks = arrays(np.bool_, LANES32)
load_four = simd.loader(4)


@kernel
def _arithmetic(a, b, number, out):
    x, y = simd.load(a, 0), simd.load(b, 0)
    simd.store(out[0], 0, x + y)
    simd.store(out[1], 0, x - number)
    simd.store(out[2], 0, x * y)
    simd.store(out[3], 0, x & y)
    simd.store(out[4], 0, x | y)
    simd.store(out[5], 0, x ^ y)
    simd.store(out[6], 0, x >> 3)
    simd.store(out[7], 0, simd.where(x < y, x, number))
    simd.store(out[8], 0, simd.minimum(x, number))
    simd.store(out[9], 0, simd.maximum(x, y))
    simd.store(out[10], 0, simd.backwards(x))
    simd.store(out[11], 0, simd.numbers(5))
    simd.store(out[12], 0, simd.positions(x))
    simd.store(out[13], 0, simd.in_all_lanes(np.int32(number)))
    simd.store(out[14], 0, simd.scaled(x, 1000))
    return simd.least(x), simd.greatest(x), simd.item(x, 3)


@given(ints, ints, INT32)
def test_vectors_of_integers_compute_as_arrays_do(
    a: NDArray[np.int32], b: NDArray[np.int32], number: int
) -> None:
    out = np.zeros((15, LANES32), np.int32)
    found = _arithmetic(a, b, number, out)
    scalar = np.int32(number)
    share = (a.view(np.uint32).astype(np.uint64) * np.uint64(1000)) >> np.uint64(32)
    expected = [a + b, a - scalar, a * b, a & b, a | b, a ^ b, a >> 3, np.where(a < b, a, scalar),
                np.minimum(a, scalar), np.maximum(a, b), a[::-1], np.arange(5, 5 + LANES32),
                np.arange(LANES32), np.full(LANES32, scalar), share.astype(np.int32)]  # fmt: skip
    np.testing.assert_array_equal(out, np.array(expected, np.int32))
    assert found == (a.min(), a.max(), a[3])


@kernel
def _comparisons(a, b):
    x, y = simd.load(a, 0), simd.load(b, 0)
    return (simd.bits(x < y), simd.bits(x <= y), simd.bits(x > y), simd.bits(x >= y), simd.bits(x == y),
            simd.bits(x != y), simd.bits((x < y) & (x != 0)))  # fmt: skip


@given(few, few)
def test_comparisons_give_flags_and_bits_are_their_mask(a: NDArray[np.int32], b: NDArray[np.int32]) -> None:
    expected = (a < b, a <= b, a > b, a >= b, a == b, a != b, (a < b) & (a != 0))
    assert _comparisons(a, b) == tuple(mask_of(flags) for flags in expected)


def mask_of(flags: NDArray[np.bool_]) -> int:
    return sum(1 << k for k, flag in enumerate(flags) if flag)


@kernel
def _halves(a, peer, out):
    x = simd.load(a, 0)
    simd.store(out, 0, simd.low_half(x))
    return simd.least(x), simd.greatest(x), simd.bits(simd.low_half(x) == simd.low_half(peer))


@given(longs, st.integers(0, LANES64 - 1))
def test_links_have_halves(a: NDArray[np.int64], k: int) -> None:
    out = np.zeros(LANES64, np.int32)
    least, greatest, same = _halves(a, a[k], out)
    lows = a.astype(np.int32)
    assert (least, greatest) == (a.min(), a.max())
    assert out.tolist() == lows.tolist()
    assert same == mask_of(lows == lows[k])


@kernel
def _floats(a, b, out, raw):
    x, y = load_four(a, 0), load_four(b, 0)
    scale = simd.as_floats(x) / simd.as_floats(y)
    simd.store(out, 0, scale)
    simd.store(raw[0], 0, simd.raw_bits(scale))
    simd.store(raw[1], 0, simd.as_ints(scale))


@given(
    arrays(np.int32, 4, elements=st.integers(0, 10**6)), arrays(np.int32, 4, elements=st.integers(1, 10**6))
)
def test_floats_of_four_attributes(a: NDArray[np.int32], b: NDArray[np.int32]) -> None:
    out, raw = np.zeros(4, np.float32), np.zeros((2, 4), np.int32)
    _floats(a, b, out, raw)
    expected = a.astype(np.float32) / b.astype(np.float32)
    assert out.tolist() == expected.tolist()
    assert raw.tolist() == [expected.view(np.int32).tolist(), expected.astype(np.int32).tolist()]


@kernel
def _pack(target, start, a, chosen):
    simd.pack(target, start, simd.load(a, 0), simd.load(chosen, 0) != 0)


@given(ints, masks, st.integers(0, 20))
def test_pack_writes_the_chosen_side_by_side_and_nothing_outside_one_vector(
    a: NDArray[np.int32], chosen: NDArray[np.bool_], start: int
) -> None:
    target = np.full(64, 77, np.int32)
    _pack(target, start, a, chosen.astype(np.int32))
    count = int(chosen.sum())
    assert target[start : start + count].tolist() == a[chosen].tolist()
    assert (target[:start] == 77).all()
    assert (target[start + LANES32 :] == 77).all()


@kernel
def _pack_halves(target, a, peer):
    x = simd.load(a, 0)
    simd.pack(target, 0, simd.low_half(x), x != peer)


@given(longs, st.integers(0, LANES64 - 1))
def test_eight_lanes_are_packed_as_sixteen_are(a: NDArray[np.int64], k: int) -> None:
    target = np.full(32, 77, np.int32)
    _pack_halves(target, a, a[k])
    kept = a[a != a[k]].astype(np.int32)
    assert target[: kept.size].tolist() == kept.tolist()
    assert (target[LANES64:] == 77).all()


@kernel
def _gather(table, first, items, out):
    simd.store(out, 0, simd.gather(table, first, simd.load(items, 0)))


@given(arrays(np.int32, LANES32, elements=st.integers(0, 30)), st.integers(0, 9))
def test_gather_looks_items_up(items: NDArray[np.int32], first: int) -> None:
    table, out = np.arange(40, dtype=np.int32) ** 2, np.zeros(LANES32, np.int32)
    _gather(table, first, items, out)
    assert out.tolist() == table[first + items].tolist()


@kernel
def _words(mask):
    return simd.first_bit(mask), simd.popcount(mask), simd.bit_length(mask)


@given(st.integers(1, 2**63 - 1))
def test_bits_of_a_word(mask: int) -> None:
    assert _words(mask) == (bin(mask)[::-1].index("1"), mask.bit_count(), mask.bit_length())


@kernel
def _lower(depths, cells, depth):
    known = simd.load(depths, 0)
    simd.store(depths, 0, simd.where(simd.flags(cells), simd.minimum(known, depth), known))
    return simd.bits(simd.load(depths, 0) > depth)


@given(arrays(np.uint8, 64), st.integers(-(2**63), 2**63 - 1), st.integers(0, 255))
def test_bytes_are_compared_without_a_sign(depths: NDArray[np.uint8], cells: int, depth: int) -> None:
    chosen = np.array([cells >> k & 1 for k in range(64)], bool)
    expected = np.where(chosen, np.minimum(depths, np.uint8(depth)), depths)
    deeper = int(_lower(depths, cells, depth)) % 2**64
    assert depths.tolist() == expected.tolist()
    assert deeper == mask_of(expected > depth)


# Stretches of rows (`sub2sub.compiled.common.rows`), which begin and end anywhere.


@kernel
def _search(row, first, count, value):
    return rows.place_of_value(row, first, count, value), rows.least_value(row, first, count)


stretches = st.tuples(st.integers(0, 20), st.integers(1, 60))


@given(arrays(np.int32, 96, elements=st.integers(-3, 40)), stretches, st.integers(-3, 40))
def test_searching_a_stretch_sees_nothing_outside_it(
    row: NDArray[np.int32], stretch: tuple[int, int], value: int
) -> None:
    first, count = stretch
    part = row[first : first + count].tolist()
    assert _search(row, first, count, value) == (part.index(value) if value in part else -1, min(part))


@kernel
def _shift(row, first, count, by):
    rows.shift(row, first, count, by)


@settings(max_examples=200)
@given(
    arrays(np.int32, 100, elements=INT32), st.integers(1, 20), st.integers(0, 60), st.sampled_from([1, -1])
)
def test_shifting_a_stretch_moves_it_and_nothing_else(
    row: NDArray[np.int32], first: int, count: int, by: int
) -> None:
    expected = row.copy()
    expected[first + by : first + by + count] = row[first : first + count]
    _shift(row, first, count, np.int64(by))
    assert row.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "elsewhere", [{"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}, {"NUMBA_DISABLE_JIT": "1"}]
)
def test_all_that_holds_on_any_processor_and_without_compilation(elsewhere: dict[str, str]) -> None:
    if any(os.environ.get(name) == value for name, value in elsewhere.items() if value):
        pytest.skip("this is that place")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
         "-k", "not any_processor", "-W", "ignore::RuntimeWarning", __file__],
        env={**os.environ, **elsewhere}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
