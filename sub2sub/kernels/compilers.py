"""numba's compiler as kernels use it: undisturbed, with plain indices, short loops and few passes.

Kernels are compiled without what serves nobody meanwhile (`sub2sub.kernels.compile_time`). `hot` functions,
and those that they call, differ in three more ways:

*Plain indices.* In Python `row[-1]` is the last item. So numba asks of every index whether it is negative,
which takes a tenth of the ring layer's time. Here the question is left out: an index is a place, unless it is
a constant in the source. With SUB2SUB_CHECK_INDICES in the environment they are compiled with another
question instead: a place outside of its array is an IndexError. Such kernels are kept by themselves
(`make check-indices` runs all of them).

*Short loops.* LLVM prepares loops for many rounds: it unrolls them, and makes vectors of them where arrays
turn out not to overlap. Those of `hot` functions have few rounds, most of them one for each attribute or for
each sixteen neighbours, and the preparation takes longer than it saves; what is worth a vector is written as
one (`sub2sub.kernels.simd`). So both are left out. And numba optimises everything twice, so that references
that it counts can be told apart in between; `hot` functions count none.

*Few passes.* numba looks through every function for closures, `with`, loops over literals, expressions of
whole arrays and more. `hot` functions have none of that: only the passes of `_PASSES` run.
"""

from __future__ import annotations

import os
from typing import Any

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

from sub2sub.kernels.compile_time import undisturbed

CHECKED = bool(os.environ.get("SUB2SUB_CHECK_INDICES"))
_PASSES = (
    TranslateByteCode, FixupArgs, IRProcessing, RewriteSemanticConstants, DeadBranchPrune, GenericRewrites,
    InlineInlinables, ReconstructSSA, NopythonTypeInference, PreLowerStripPhis, IRLegalization,
    NativeLowering, NoPythonBackend,
)  # fmt: skip
_from_either_end = arrayobj.fix_integer_index


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles undisturbed."""

    def compile_extra(self, function: Any) -> Any:
        """Compile a function, and what it calls."""
        with undisturbed():
            return super().compile_extra(function)


class _ShortLoops(JITCodeLibrary):  # type: ignore[misc]
    """Code that is optimised once, and whose loops stay as they are."""

    def _optimize_final_module(self) -> None:
        options = binding.create_pipeline_tuning_options(config.OPT)
        options.loop_unrolling = options.loop_vectorization = False
        builder = binding.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)


class HotCompiler(KernelCompiler):
    """Compiles functions whose indices are places, and whose loops are short."""

    def define_pipelines(self) -> list[Any]:
        """Mark what is compiled, then compile it with few passes."""
        self.state.targetctx.sub2sub_plain_indices = True
        self.state.library = _ShortLoops(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
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


def check_place(context: Any, builder: Any, place: Any, size: Any = None) -> None:
    """Where kernels are checked, raise an error for a place below 0, or from `size` on if that is given."""
    if not CHECKED:
        return
    if size is None:
        outside = builder.icmp_signed("<", place, place.type(0))
    else:
        outside = builder.icmp_unsigned(">=", place, size)
    with builder.if_then(outside, likely=False):
        context.call_conv.return_user_exc(builder, IndexError, ("a place outside of its array",))


arrayobj.fix_integer_index = _fix_integer_index
