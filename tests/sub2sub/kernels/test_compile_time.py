"""What numba need not do again and again makes no difference to what it compiles."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numba
import numpy as np
import pytest
from llvmlite.binding import ffi
from numba import config, types
from numba.core import errors
from numba.core.registry import cpu_target

from sub2sub.kernels.compilation import kernel
from sub2sub.kernels.compile_time import undisturbed

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

NUMBERS = (np.int32(3), -5, np.uint8(200), np.float32(2.5), -1.5, float("nan"), -0.0, 0.0)


@numba.njit  # type: ignore[untyped-decorator]
def extremes(a: Any, b: Any) -> Any:
    return min(a, b), max(a, b)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(NUMBERS, NUMBERS)))
def test_the_lesser_and_the_greater_of_two_numbers_are_those_of_python(a: Any, b: Any) -> None:
    assert str([float(each) for each in extremes(a, b)]) == str([float(min(a, b)), float(max(a, b))])


def test_the_least_of_more_numbers_or_of_a_tuple_is_left_to_numba() -> None:
    @kernel
    def least(a: Any, b: Any, c: Any) -> Any:
        return min(a, b, c), max((a, b))

    assert least(3, 1, 2) == (1, 3)


def test_no_function_is_compiled_for_the_lesser_of_two_numbers() -> None:
    @numba.njit  # type: ignore[untyped-decorator]  # not cached: its code is looked at
    def lesser(a: Any, b: Any) -> Any:
        return min(a, b)

    assert lesser(2, 1) == 1
    (code,) = lesser.inspect_llvm().values()
    assert "ol_min" not in code


def test_what_an_operator_gives_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    context = cpu_target.typing_context
    context.refresh()
    add, given = context.resolve_value_type(operator.add), (types.int16, types.uint16)
    found = add.get_call_type(context, given, {})
    monkeypatch.setattr(add, "templates", ())  # nothing that could be asked
    assert add.get_call_type(context, given, {}) is found
    with pytest.raises(errors.NumbaError):
        add.get_call_type(context, (types.int16, types.int8), {})


def test_an_operator_of_other_types_is_still_an_error() -> None:
    @kernel
    def total(a: Any, b: Any) -> Any:
        return a + b

    assert total(1, 2) == 3
    with pytest.raises(errors.TypingError, match="unicode_type"):
        total("a", 1)
    assert total("a", "b") == "ab"


def test_after_compilation_numba_is_as_before() -> None:
    before = ffi.lib._lock._cblist, errors._termcolor_inst
    with undisturbed():
        with undisturbed():  # one function is compiled because another is
            pass
        assert (ffi.lib._lock._cblist, errors.termcolor().errmsg("plain")) == ([], "plain")
    assert (ffi.lib._lock._cblist, errors._termcolor_inst) == before


def test_after_a_compilation_that_failed_numba_is_as_before() -> None:
    before = ffi.lib._lock._cblist, errors._termcolor_inst
    with pytest.raises(errors.TypingError):
        kernel(lambda x: x.there_is_no_such_thing)(1)
    assert (ffi.lib._lock._cblist, errors._termcolor_inst) == before
