"""numba's compiler as kernels use it: the collector waits, and indices may be taken as they are.

*Collection of garbage.* To compile is to make very many small objects; looking through all of them for
garbage again and again takes a tenth of the time. While a kernel is compiled, that waits.

*Plain indices.* In Python `row[-1]` is the last item. So numba asks of every index whether it is negative,
which takes a tenth of the ring layer's time. `hot` functions, and those that they call, are compiled without
the question: in them an index is a place, unless it is a constant in the source.
"""

from __future__ import annotations

import gc
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.compiler import Compiler
from numba.np import arrayobj

__all__ = ["KernelCompiler", "PlainIndices"]

_from_either_end = arrayobj.fix_integer_index


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles without looking for garbage."""

    def compile_extra(self, function: Any) -> Any:
        """Compile a function, and what it calls."""
        if not gc.isenabled():  # one function is compiled because another is
            return super().compile_extra(function)
        gc.disable()
        try:
            return super().compile_extra(function)
        finally:
            gc.enable()


class PlainIndices(KernelCompiler):
    """Compiles functions whose indices are places."""

    def define_pipelines(self) -> list[Any]:
        """Mark what is compiled, then compile it as always."""
        self.state.targetctx.sub2sub_plain_indices = True
        pipelines: list[Any] = super().define_pipelines()
        return pipelines


def _fix_integer_index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    if isinstance(index, ir.Constant) or not hasattr(context, "sub2sub_plain_indices"):
        return _from_either_end(context, builder, kind, index, size)
    return context.cast(builder, index, kind, types.intp)


arrayobj.fix_integer_index = _fix_integer_index
