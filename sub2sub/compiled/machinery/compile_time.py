"""What numba does again and again while it compiles, done once or left out; and the frame of all changes.

Nothing of numba is changed for longer than one of our kernels is being compiled: `changed_numba` puts the
functions of `REPLACED` into numba before that, and takes them out afterwards. numba compiles under one lock,
which is held meanwhile, so what other threads compile is compiled by numba as it is, before or after.

Two thirds of the time that a first overlay takes is numba's own work in Python, not LLVM's. Five things of it
are of no use to a kernel:

- *Signatures.* numba finds out what `a + b` gives for two int64 at each `+` in the source, twice, by trying
  the rules for text, lists, sets and arrays before those for numbers. Here it is remembered.
- *`min` and `max`.* For each pair of types numba compiles a function that looks through a tuple. Here the
  lesser or greater of two numbers is two instructions, which give the same.
- *Garbage.* Compiling makes very many small objects; looking through all of them for garbage again and again
  takes a tenth of the time.
- *Colours.* numba makes the message of every error bold, also of those that it catches itself, and with
  colorama installed that takes longer than everything else about an error.
- *Events.* Each of the forty thousand calls of LLVM is announced to listeners, of which there are none.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import operator
from collections.abc import Iterator
from time import monotonic
from types import MappingProxyType
from typing import Any

from llvmlite.binding import ffi
from numba.core import errors, types, typing
from numba.core.compiler_lock import global_compiler_lock
from numba.core.types.functions import BaseFunction
from numba.core.typing.templates import AbstractTemplate
from numba.extending import lower_builtin

from sub2sub.compiled.machinery.switch import uses

REPLACED: list[tuple[Any, str, Any]] = []
"""What stands in numba while a kernel is compiled: an owner, the name of its attribute, the value."""

_compiling = False
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


def _teach(function: Any, comes_before: Any) -> None:
    """Teach numba `min` or `max` of two numbers, for kernels."""

    class Template(AbstractTemplate):  # type: ignore[misc]
        # Rules for this kind of processor are tried before numba's own, which are for any.
        metadata = MappingProxyType({"target": "cpu"})

        def generic(self, arguments: Any, named: Any) -> Any:
            if not _compiling or len(arguments) != 2:
                return None
            kind = self.context.unify_types(*arguments)
            if isinstance(kind, types.Integer | types.Float):
                return typing.signature(kind, kind, kind)
            return None

    def generate(context: Any, builder: Any, signature: Any, pair: Any) -> Any:
        compare = context.get_function(comes_before, typing.signature(types.boolean, *signature.args))
        first, second = pair
        return builder.select(compare(builder, (second, first)), second, first)

    typing.templates.infer_global(function)(Template)
    lower_builtin(function, types.Number, types.Number)(generate)


class _Uncoloured:
    """Stands for numba's colours: gives every message as it is."""

    def __getattr__(self, name: str) -> Any:
        return str


if uses("compile_time"):
    _teach(min, operator.lt)
    _teach(max, operator.gt)
    REPLACED += [
        (BaseFunction, "get_call_type", _get_call_type),
        (errors, "_termcolor_inst", _Uncoloured()),
        (ffi.lib._lock, "_cblist", []),
    ]


class _Announcements:
    """Says once that kernels are being compiled, and every ten seconds how many there are by now."""

    def __init__(self) -> None:
        self.kernels, self.next = 0, 0.0

    def count(self) -> None:
        now, text = monotonic(), f"{self.kernels} kernels compiled so far"
        if self.kernels == 0:
            text = "compiling kernels: about half a minute the first time, then they are kept on disk"
        if self.kernels == 0 or now >= self.next:
            logging.getLogger("sub2sub").warning(text)
            self.next = now + 10
        self.kernels += 1


_announcements = _Announcements()


@contextlib.contextmanager
def changed_numba() -> Iterator[None]:
    """Compile a kernel, and all that it calls, with the replacements in numba and without garbage collection.

    Afterwards, also after an error, numba is as it was.
    """
    global _compiling
    with contextlib.ExitStack() as afterwards:
        afterwards.enter_context(global_compiler_lock)
        if not _compiling:  # else this kernel is compiled because another one calls it
            _compiling = True
            _announcements.count()
            afterwards.callback(_stop)
            if gc.isenabled() and uses("compile_time"):
                gc.disable()
                afterwards.callback(gc.enable)
            for owner, name, value in REPLACED:
                afterwards.callback(setattr, owner, name, getattr(owner, name))
                setattr(owner, name, value)
        yield


def _stop() -> None:
    global _compiling
    _compiling = False
