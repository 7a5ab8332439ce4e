"""numba's compiler as kernels use it: with plain indices, short loops and few passes.

All kernels are compiled under `changed_numba` (`sub2sub.compiled.machinery.compile_time`). `hot` functions,
and those that they call, differ in three more ways:

*Plain indices.* In Python `row[-1]` is the last item. So numba asks of every index whether it is negative,
which takes a tenth of the ring layer's time. Here it does not: an index counts from the beginning, unless it
is a constant in the source. If SUB2SUB_CHECK_INDICES is set, kernels raise an IndexError for an index outside
of its array; they are kept in a cache of their own (`make check-indices` runs all of them).

*Short loops.* LLVM prepares loops for many rounds: it unrolls them, and makes vectors of them where arrays
turn out not to overlap. Those of `hot` functions have few rounds, most of them one for each attribute or for
each sixteen neighbours, and the preparation takes longer than it saves; what is worth a vector is written as
one (`sub2sub.compiled.machinery.simd`). So both are left out. And numba optimises everything twice, so that
references that it counts can be told apart in between; `hot` functions count none.

*Few passes.* numba looks through every function for closures, `with`, loops over literals, expressions of
whole arrays and more. `hot` functions have none of that: only the passes of `_PASSES` run.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import binding, ir
from numba import config, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    InlineInlinables,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)
from numba.np import arrayobj

from sub2sub.compiled.common.memory import check_place
from sub2sub.compiled.machinery.compile_time import REPLACED, changed_numba
from sub2sub.compiled.machinery.switch import uses

FIRST_NUMBA, LAST_NUMBA = (0, 62), (0, 68)
_PASSES = (
    TranslateByteCode, FixupArgs, IRProcessing, RewriteSemanticConstants, DeadBranchPrune, GenericRewrites,
    InlineInlinables, ReconstructSSA, NopythonTypeInference, PreLowerStripPhis, IRLegalization,
    NativeLowering, NoPythonBackend,
)  # fmt: skip
_from_either_end = arrayobj.fix_integer_index


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles kernels by a numba that is changed for as long as that takes."""

    def compile_extra(self, function: Any) -> Any:
        """Compile a function, and what it calls."""
        with changed_numba():
            return super().compile_extra(function)


class _ShortLoops(JITCodeLibrary):  # type: ignore[misc]
    """Code that is optimised once, and whose loops stay as they are."""

    def _optimize_final_module(self) -> None:
        options = binding.create_pipeline_tuning_options(config.OPT)
        options.loop_unrolling = options.loop_vectorization = False
        builder = binding.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)


class HotCompiler(KernelCompiler):
    """Compiles functions whose indices count from the beginning, and whose loops are short."""

    def define_pipelines(self) -> list[Any]:
        """Say how the function is compiled, and by which passes."""
        self.state.targetctx.sub2sub_plain_indices = True
        if uses("loops"):
            self.state.library = _ShortLoops(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
        if not uses("passes"):
            return super().define_pipelines()  # type: ignore[no-any-return]
        passes = PassManager("hot")
        for each in _PASSES:
            passes.add_pass(each, "")
        passes.finalize()
        return [passes]


def _fix_integer_index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    if isinstance(index, ir.Constant) or not hasattr(context, "sub2sub_plain_indices"):
        return _from_either_end(context, builder, kind, index, size)
    place = context.cast(builder, index, kind, types.intp)
    check_place(context, builder, place, size)
    return place


if uses("indices"):
    REPLACED.append((arrayobj, "fix_integer_index", _fix_integer_index))


def check_numba(version: str) -> None:
    """Refuse a version of numba that these changes are not made for.

    Examples
    --------
    >>> check_numba("0.68.1")
    >>> check_numba("0.69.0")
    Traceback (most recent call last):
    ImportError: numba: expected a version from 0.62 to 0.68, got 0.69.0
    """
    number = tuple(int(part) for part in version.split(".")[:2])
    if not FIRST_NUMBA <= number <= LAST_NUMBA:
        first, last = (".".join(map(str, each)) for each in (FIRST_NUMBA, LAST_NUMBA))
        raise ImportError(f"numba: expected a version from {first} to {last}, got {version}")


check_numba(numba.__version__)
