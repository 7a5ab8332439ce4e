"""Functions that kernels call: compiled as far as their callers need them, and no further.

numba optimises every function, makes machine code of it and a wrapper that lets Python call it. Of a function
that only kernels call, none of that is used: its caller takes it in before it is optimised itself, and what
comes out is compiled with the caller. A first overlay is stepped after half the time that it took otherwise.

And numba takes a number in the source for a type of its own: `f(x, 0)` and `f(x, k)` would be compiled each,
where they come out the same once they are part of their callers. Here both are calls with an int64.

A `Callee` is such a function. Kernels know it in that form; Python, in tests above all, calls it as
well, and has a compiled form of its own, made when it is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

import numba
from numba import _dynfunc, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import _LowerResult
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import NativeLowering

from sub2sub.compiled.machinery.compilers import HotCompiler


class _Draft(JITCodeLibrary):  # type: ignore[misc]
    """Code that is only ever linked into other code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=False)
class _MakeKnown(LoweringPass):  # type: ignore[misc]
    """Let callers find the code, under the key that numba looks for: a function, which nobody calls."""

    _name = "sub2sub_make_callee_known"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        lowered, library = state["cr"], state.library
        name = lowered.fndesc.qualname.split(".")[-1]
        key = _dynfunc.make_function(lowered.fndesc.lookup_module(), name, "", 0, lowered.env, (library,))
        state.targetctx.insert_user_function(key, lowered.fndesc, [library])
        state["cr"] = _LowerResult(lowered.fndesc, lowered.call_helper, cfunc=key, env=lowered.env)
        return True


class _CalleeCompiler(HotCompiler):
    def define_pipelines(self) -> list[Any]:
        (passes,) = super().define_pipelines()
        self.state.flags.no_compile = True
        self.state.library = _Draft(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        passes.add_pass_after(_MakeKnown, NativeLowering)
        passes.finalize()
        return [passes]


def _without_literals(dispatcher: Any) -> Any:
    """Let a function be compiled for types of numbers, not for each number that it is called with."""
    template_for = dispatcher.get_call_template

    def get_call_template(arguments: Any, named: Any) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in named.items()}
        return template_for(tuple(types.unliteral(kind) for kind in arguments), plain)

    dispatcher.get_call_template = get_call_template
    return dispatcher


class Callee:
    """A function that kernels call.

    Parameters
    ----------
    options : dict
        How numba compiles it.
    for_python : callable
        Given the function, compiles the form that Python calls.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        for_python: Callable[[Callable[..., Any]], Any],
    ) -> None:
        self.py_func, self._compile = function, for_python
        options = {**options, "no_cpython_wrapper": True, "pipeline_class": _CalleeCompiler}
        self._for_kernels = _without_literals(numba.njit(**options)(function))
        self._numba_type_ = types.Dispatcher(self._for_kernels)
        update_wrapper(self, function)

    @cached_property
    def _for_python(self) -> Any:
        return self._compile(self.py_func)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the form that Python calls."""
        return self._for_python(*arguments, **named)
