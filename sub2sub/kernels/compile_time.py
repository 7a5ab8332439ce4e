"""What numba does again and again while it compiles: done once here, or not at all.

Two thirds of the time that a first overlay takes go into numba's own work in Python, not into LLVM. Five
things of it serve nobody where a kernel is compiled:

- *Signatures.* What `a + b` gives for two int64 numba finds out for each `+` in the source, twice, by trying
  the rules for text, lists, sets and arrays before those for numbers. Here it is remembered.
- *`min` and `max`.* For each pair of types numba compiles a function that looks through a tuple. Here the
  lesser or greater of two numbers is two instructions, which give the same.
- *Garbage.* To compile is to make very many small objects; looking through all of them for garbage again and
  again takes a tenth of the time.
- *Colours.* numba makes the message of every error bold, also of those that it catches itself, and with
  colorama installed that takes longer than everything else about an error.
- *Events.* Each of the forty thousand calls of LLVM is announced to listeners, which are not there.

The first two are for good and for all that numba compiles in this process, as they only depend on types. The
others last for as long as a kernel is compiled.
"""

from __future__ import annotations

import contextlib
import gc
import operator
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from llvmlite.binding import ffi
from numba.core import errors, types, typing
from numba.core.types.functions import BaseFunction
from numba.core.typing.templates import AbstractTemplate
from numba.extending import lower_builtin

_find_signature = BaseFunction.get_call_type


def _get_call_type(function: Any, context: Any, arguments: Any, named: Any) -> Any:
    known = function.__dict__.setdefault("sub2sub_signatures", {})
    key = (tuple(arguments), tuple(named.items()))
    signature = known.get(key)
    if signature is None:
        signature = _find_signature(function, context, arguments, named)
        # Where another function does the work, numba compiles that for each set of options: not to be kept.
        if function.get_impl_key(signature) is function.typing_key:
            known[key] = signature
    return signature


BaseFunction.get_call_type = _get_call_type  # type: ignore[assignment, method-assign]


def _teach(function: Any, comes_before: Any) -> None:
    """Teach numba `min` or `max` of two numbers."""

    class Template(AbstractTemplate):  # type: ignore[misc]
        # Rules for this kind of processor are tried before numba's own, which are for any.
        metadata = MappingProxyType({"target": "cpu"})

        def generic(self, arguments: Any, named: Any) -> Any:
            kind = self.context.unify_types(*arguments) if len(arguments) == 2 else None
            if isinstance(kind, types.Integer | types.Float):
                return typing.signature(kind, kind, kind)
            return None

    def generate(context: Any, builder: Any, signature: Any, pair: Any) -> Any:
        compare = context.get_function(comes_before, typing.signature(types.boolean, *signature.args))
        first, second = pair
        return builder.select(compare(builder, (second, first)), second, first)

    typing.templates.infer_global(function)(Template)
    lower_builtin(function, types.Number, types.Number)(generate)


_teach(min, operator.lt)
_teach(max, operator.gt)


class _Plain:
    """Messages as they are."""

    def __getattr__(self, name: str) -> Any:
        return str


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """While a kernel is compiled, and all that it calls, do nothing else."""
    if not gc.isenabled():  # one function is compiled because another is
        yield
        return
    with contextlib.ExitStack() as afterwards:
        gc.disable()
        afterwards.callback(gc.enable)
        for owner, name, instead in (
            (errors, "_termcolor_inst", _Plain()),
            (ffi.lib._lock, "_cblist", []),
        ):
            afterwards.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, instead)
        yield
