"""What is changed of numba's compiler changes how fast kernels are and how soon, not what they compute."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba import config, typeof, types

from sub2sub.compiled.machinery.compilation import HOT, SETTINGS, apart, hot, kernel, rule
from sub2sub.compiled.machinery.references import Reference, by_reference

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


@by_reference
class Inner(NamedTuple):
    """Is part of another tuple."""

    factor: int
    flags: np.ndarray


@by_reference
class Outer(NamedTuple):
    """Has arrays of several kinds, numbers and another tuple."""

    rows: np.ndarray
    share: float
    inner: Inner
    key: np.uint64


def outer() -> Outer:
    return Outer(
        np.arange(12.0).reshape(3, 4), 0.5, Inner(7, np.array([1, 0, 1], np.uint8)), np.uint64(2**63)
    )


@rule
def scaled(outer: Any, row: int) -> Any:
    return outer.rows[row].sum() * outer.share * outer.inner.factor


@apart
def marked(outer: Any, row: int) -> Any:
    outer.inner.flags[row] += 2
    return scaled(outer, row)


@hot
def total(outer: Any) -> Any:
    result = 0.0
    for row in range(outer.rows.shape[0]):
        result += marked(outer, row)
    return result, outer.key


@hot
def item(row: Any, place: int) -> Any:
    return row[place]


@hot
def last(row: Any) -> Any:
    return row[-1]


@kernel
def from_the_end(row: Any, place: int) -> Any:
    return row[place]


def test_a_tuple_by_reference_is_read_and_its_arrays_written_through_all_that_is_called() -> None:
    given = outer()
    assert total(given) == (66.0 * 0.5 * 7, 2**63)
    assert given.inner.flags.tolist() == [3, 2, 3]
    (signature,) = total.signatures  # type: ignore[attr-defined]
    assert isinstance(signature[0], Reference)


def test_a_tuple_is_read_anew_in_each_call() -> None:
    given = outer()
    total(given)
    assert total(given._replace(share=1.0, rows=np.ones((1, 4)))) == (28.0, 2**63)


def test_a_call_lets_go_of_all_arrays_of_a_tuple() -> None:
    """Also of those of a tuple within it, and where Python calls what kernels call."""
    given = outer()
    before = sys.getrefcount(given.rows), sys.getrefcount(given.inner.flags)
    for _ in range(5):
        total(given)
        scaled(given, 1)
    assert (sys.getrefcount(given.rows), sys.getrefcount(given.inner.flags)) == before


def test_tuples_of_one_name_and_different_fields_are_told_apart() -> None:
    first = by_reference(NamedTuple("Same", [("a", int), ("b", int)]))
    second = by_reference(NamedTuple("Same", [("b", int), ("c", int)]))

    @kernel
    def b_of(pair: Any) -> Any:
        return pair.b

    assert (b_of(first(1, 2)), b_of(second(3, 4))) == (2, 3)  # type: ignore[call-arg]


def test_python_calls_what_kernels_call() -> None:
    given = outer()
    assert marked(given, 1) == scaled(given, 1) == 22.0 * 0.5 * 7
    assert given.inner.flags.tolist() == [1, 2, 1]
    assert marked.__name__ == "marked"


def test_what_kernels_call_is_not_made_into_machine_code_by_itself() -> None:
    for_kernels = marked._numba_type_.dispatcher  # type: ignore[attr-defined]
    for_kernels.compile((typeof(outer()), types.int64))
    (compiled,) = for_kernels.overloads.values()
    assert not compiled.library.codegen._engine.is_symbol_defined(compiled.fndesc.llvm_func_name)


@rule
def shifted(x: Any, by: int) -> Any:
    return x + by


@kernel
def around(x: int) -> Any:
    return shifted(x, 1) - shifted(x, by=-2), shifted(x, x)


def test_what_kernels_call_is_compiled_once_whatever_numbers_stand_in_the_source() -> None:
    assert around(5) == (3, 10)
    around.recompile()  # type: ignore[attr-defined]  # what the cache has of it was compiled elsewhere
    (signature,) = shifted._numba_type_.dispatcher.signatures  # type: ignore[attr-defined]
    assert signature == (types.int64, types.int64)


def test_only_hot_functions_take_an_index_as_it_is_and_constants_count_from_the_end() -> None:
    row = np.arange(5.0)
    assert item(row, 3) == 3.0
    assert item(row[2:], -1) == 1.0  # the place before the first
    assert last(row) == from_the_end(row, -1) == 4.0


CHECKED = """
import numpy as np
from sub2sub.compiled.machinery.simd import load, least
from tests.sub2sub.kernels.test_compilers import hot, item, marked, outer
@hot
def least_from(row, start):
    return least(load(row, start))
row = np.arange(32)
for function, *arguments in ((item, row, -1), (item, row, 32), (marked, outer(), 3), (least_from, row, -1)):
    try:
        print(function(*arguments))
    except IndexError as error:
        print(error)
print(item(row, 3), least_from(row, 4))
"""


def test_where_kernels_are_checked_a_place_outside_of_its_array_is_an_error() -> None:
    root = Path(__file__).parents[3]
    env = {**os.environ, "SUB2SUB_CHECK_INDICES": "1", "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", CHECKED], env=env, capture_output=True, text=True)
    assert done.stdout.splitlines() == 4 * ["a place outside of its array"] + ["3 4"], done.stderr


def test_garbage_is_collected_after_compilation_as_before() -> None:
    @kernel
    def fails(x: Any) -> Any:
        return x.there_is_no_such_thing

    assert gc.isenabled()
    with pytest.raises(Exception, match="there_is_no_such_thing"):
        fails(1)
    assert gc.isenabled()


@pytest.mark.parametrize(("options", "prepared"), [(SETTINGS, True), ({**SETTINGS, **HOT}, False)])
def test_loops_of_hot_functions_stay_short(options: dict[str, Any], prepared: bool) -> None:
    @numba.njit(**options)  # type: ignore[untyped-decorator]
    def double(row: Any) -> None:
        for k in range(row.shape[0]):
            row[k] *= 2

    row = np.arange(100, dtype=np.int32)
    double(row)
    assert (row == 2 * np.arange(100)).all()
    (code,) = double.inspect_llvm().values()
    assert ("vector.body" in code) == prepared
