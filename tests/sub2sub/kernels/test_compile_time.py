"""What numba need not do again and again makes no difference to what it compiles."""

from __future__ import annotations

import itertools
import operator
import subprocess
import sys
import threading
from typing import Any

import numba
import numpy as np
import pytest
from numba import config, types
from numba.core import errors
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from sub2sub.compiled.machinery.compilation import SETTINGS, kernel
from sub2sub.compiled.machinery.compile_time import REPLACED, changed_numba

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

NUMBERS = (np.int32(3), -5, np.uint8(200), np.float32(2.5), -1.5, float("nan"), -0.0, 0.0)


@kernel
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


def lesser(a: Any, b: Any) -> Any:
    return min(a, b)


def test_the_lesser_of_two_numbers_is_two_instructions_in_kernels_and_numbas_own_function_elsewhere() -> None:
    in_kernels, elsewhere = numba.njit(**SETTINGS)(lesser), numba.njit(lesser)
    for function, is_numbas in ((in_kernels, False), (elsewhere, True)):
        assert function(2, 1) == 1
        (code,) = function.inspect_llvm().values()
        assert ("ol_min" in code) == is_numbas


def test_what_an_operator_gives_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    context = cpu_target.typing_context
    context.refresh()
    add, given = context.resolve_value_type(operator.add), (types.int16, types.uint16)
    with changed_numba():
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


def replaced() -> list[Any]:
    """What stands now where something else stands while a kernel is compiled."""
    return [getattr(owner, name) for owner, name, _ in REPLACED]


def is_compiling() -> bool:
    return any(now is value for now, (*_, value) in zip(replaced(), REPLACED, strict=True))


def test_numba_is_changed_while_a_kernel_is_compiled_and_no_longer() -> None:
    before = replaced()
    with changed_numba():
        with changed_numba():  # one function is compiled because another one calls it
            pass
        assert all(now is value for now, (*_, value) in zip(replaced(), REPLACED, strict=True))
    assert all(now is then for now, then in zip(replaced(), before, strict=True))
    assert not is_compiling()


def test_after_a_compilation_that_failed_numba_is_as_before() -> None:
    before = replaced()
    with pytest.raises(errors.TypingError):
        kernel(lambda x: x.there_is_no_such_thing)(1)
    assert all(now is then for now, then in zip(replaced(), before, strict=True))


def test_another_thread_compiles_with_numba_as_it_is() -> None:
    """It waits until the kernel is compiled."""
    seen = []

    def compile_one() -> None:
        with global_compiler_lock:  # as numba does
            seen.append(is_compiling())

    with changed_numba():
        other = threading.Thread(target=compile_one)
        other.start()
        other.join(0.2)
        assert not seen
    other.join()
    assert seen == [False]


AS_BEFORE = """
import importlib, pkgutil
import numba, numpy, llvmlite.binding
from numba.core import dispatcher, types, caching, compiler, codegen, errors, typed_passes, untyped_passes
from numba.np import arrayobj

def attributes():
    owners = [module for name, module in sys.modules.items() if name.split(".")[0] in ("numba", "llvmlite")]
    owners += [each for module in owners for each in vars(module).values() if isinstance(each, type)]
    return {
        (getattr(owner, "__module__", ""), owner.__name__, name): value
        for owner in owners for name, value in list(vars(owner).items()) if callable(value)
    }

import sys
from numba.extending import overload
numba.njit(lambda x: x)(1)
before = attributes()
import sub2sub
for package in (sub2sub,):
    for module in pkgutil.walk_packages(package.__path__, "sub2sub."):
        if ".live" not in module.name and "__main__" not in module.name:
            importlib.import_module(module.name)
from sub2sub.compiled.machinery.compilation import kernel, hot
hot(lambda row, k: min(row[k], 3))(numpy.arange(4), 1)
after = attributes()
print(sorted(key for key in before if after.get(key) is not before[key]))
print(numba.njit(lambda row, k: row[k])(numpy.arange(4), -1))
"""


def test_after_all_is_imported_and_a_kernel_compiled_every_function_of_numba_is_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", AS_BEFORE], capture_output=True, text=True)
    assert done.stdout.split("\n") == ["[]", "3", ""], done.stderr
