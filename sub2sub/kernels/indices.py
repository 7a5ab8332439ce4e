"""Indices taken as they are: in kernels where speed counts, none counts from the end of an array.

In Python `row[-1]` is the last item. So numba asks of every index whether it is negative, which takes a tenth
of the ring layer's time. `hot` functions, and those that they call, are compiled without the
question: in them an index is a place, unless it is a constant in the source.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.compiler import Compiler
from numba.np import arrayobj

__all__ = ["PlainIndices"]

_from_either_end = arrayobj.fix_integer_index


class PlainIndices(Compiler):  # type: ignore[misc]
    """numba's compiler, for functions whose indices are places."""

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
