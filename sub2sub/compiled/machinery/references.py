"""Handing kernels many arrays at once: a named tuple of arrays, passed on as one address.

numba passes a tuple by value. A dozen arrays are a hundred numbers, which every function on the way to the
one that needs three of them has to receive and to hand on. A class marked with `by_reference` is laid down in
memory once, when Python calls a kernel, and handed from function to function as its address; what is read of
it is read there. Kernels write `pool.size[t]` as they would otherwise, but do not make such tuples.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox

from sub2sub.compiled.machinery.switch import uses

T = TypeVar("T", bound=type)
_address = ir.IntType(8).as_pointer()


class Reference(types.Type):  # type: ignore[misc]
    """numba's type of the address of a named tuple."""

    def __init__(self, content: types.BaseTuple) -> None:
        self.content, self.fields = content, content.fields
        whole = f"{content.instance_class.__module__} {content.fields} {content.name}"  # names may be alike
        of = hashlib.sha256(whole.encode()).hexdigest()[:12]
        super().__init__(f"Reference({content.instance_class.__name__}, {of})")


@register_model(Reference)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _address)


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = Reference

    def generic_resolve(self, reference: Reference, name: str) -> Any:
        fields = reference.fields
        return reference.content[fields.index(name)] if name in fields else None


@lower_getattr_generic(Reference)
def _read(context: Any, builder: Any, reference: Reference, address: Any, name: str) -> Any:
    place = reference.fields.index(name)
    laid_down = builder.bitcast(address, context.get_value_type(reference.content).as_pointer())
    value = _read_parts(builder, cgutils.gep_inbounds(builder, laid_down, 0, place))
    return impl_ret_borrowed(context, builder, reference.content[place], value)


def _read_parts(builder: Any, address: Any) -> Any:
    """What stands at an address, part by part: LLVM leaves out the parts that nobody needs."""
    kind = address.type.pointee
    if not isinstance(kind, ir.Aggregate):
        part = builder.load(address)
        # Nothing is written to a tuple, so what was read once need not be read again.
        part.set_metadata("invariant.load", builder.module.add_metadata([]))
        return part
    whole = ir.Constant(kind, ir.Undefined)
    for k in range(len(kind)):
        whole = builder.insert_value(
            whole, _read_parts(builder, cgutils.gep_inbounds(builder, address, 0, k)), k
        )
    return whole


@unbox(Reference)
def _lay_down(reference: Reference, instance: Any, c: Any) -> NativeValue:
    native = c.unbox(reference.content, instance)
    address = c.builder.bitcast(cgutils.alloca_once_value(c.builder, native.value), _address)
    # LLVM reads the tuple as never written to (`_read_parts`), but it was written above. So it must not know
    # that this is the same address: an empty piece of assembly gives it back as if it were another.
    hide = ir.FunctionType(_address, [_address])
    hidden = c.builder.asm(hide, "", "=r,0,~{memory}", [address], side_effect=True)

    def let_go() -> None:
        """After the call, let go of the arrays: of an address alone numba would not know that it has any."""
        if native.cleanup is not None:
            native.cleanup()
        if c.context.enable_nrt:  # `hot` kernels count no references
            c.context.nrt.decref(c.builder, reference.content, native.value)

    return NativeValue(hidden, cleanup=let_go, is_error=native.is_error)


def by_reference(cls: T) -> T:
    """Let kernels take instances of a named tuple as an address.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> import numpy as np
    >>> from sub2sub.compiled.machinery.compilation import kernel
    >>> @by_reference
    ... class Pair(NamedTuple):
    ...     left: np.ndarray
    ...     right: np.ndarray
    >>> @kernel
    ... def total(pair):
    ...     return pair.left.sum() + pair.right.sum()
    >>> total(Pair(np.ones(2), np.ones(3)))
    5.0
    """
    if not uses("references"):
        return cls

    @typeof_impl.register(cls)
    def typeof(instance: Any, context: Any) -> Reference:
        kinds = [typeof_impl(item, context) for item in instance]
        return Reference(types.BaseTuple.from_types(kinds, cls))

    return cls
