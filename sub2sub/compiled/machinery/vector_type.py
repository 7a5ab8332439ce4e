"""The type of a vector, and its operators, taught to numba; kernels use `simd` of this room."""

from __future__ import annotations

import operator
from collections.abc import Callable
from inspect import Parameter, Signature
from inspect import signature as signature_of
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

ITEMS = {types.boolean: ir.IntType(1), types.uint8: ir.IntType(8), types.int32: ir.IntType(32),
          types.int64: ir.IntType(64), types.float32: ir.FloatType(),
          types.float64: ir.DoubleType()}  # fmt: skip
FLAG, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
# What LLVM calls an operation on integers, and on floats.
_ARITHMETIC = {"add": ("add", "fadd"), "sub": ("sub", "fsub"), "mul": ("mul", "fmul"), "and_": ("and_", ""),
               "or_": ("or_", ""), "xor": ("xor", ""), "rshift": ("ashr", ""),
               "truediv": ("", "fdiv")}  # fmt: skip
_COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


class Vector(types.Type):  # type: ignore[misc]
    """numba's type of several values of one type."""

    def __init__(self, item: Any, count: int) -> None:
        self.item, self.count = item, count
        self.is_float, self.signed = isinstance(item, types.Float), getattr(item, "signed", True)
        super().__init__(f"Vector({item}, {count})")

    @property
    def llvm(self) -> Any:
        """LLVM's type."""
        return ir.VectorType(ITEMS[self.item], self.count)

    def of(self, item: Any) -> Vector:
        """As many values of another type."""
        return Vector(item, self.count)

    def spread(self, builder: Any, value: Any) -> Any:
        """One value in all lanes."""
        undefined = ir.Constant(self.llvm, ir.Undefined)
        one = builder.insert_element(undefined, value, I32(0))
        return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(I32, self.count), None))

    def operand(self, context: Any, builder: Any, kind: Any, value: Any) -> Any:
        """A vector as it is, a number in all lanes."""
        if isinstance(kind, Vector):
            return value
        return self.spread(builder, context.cast(builder, value, kind, self.item))

    def compare(self, builder: Any, symbol: str, a: Any, b: Any) -> Any:
        """Flags."""
        if self.is_float:
            return builder.fcmp_ordered(symbol, a, b)
        return (builder.icmp_signed if self.signed else builder.icmp_unsigned)(symbol, a, b)


@register_model(Vector)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.llvm)


def _teach(name: str) -> None:
    """Teach numba an operator of vectors, and its in-place form."""
    comparing = name in _COMPARE

    class Template(AbstractTemplate):  # type: ignore[misc]
        def generic(self, arguments: Any, keywords: Any) -> Any:
            kinds = [kind for kind in arguments if isinstance(kind, Vector)]
            if kinds and all(isinstance(kind, Vector | types.Number) for kind in arguments):
                plain = (types.unliteral(kind) for kind in arguments)
                return signature(kinds[0].of(types.boolean) if comparing else kinds[0], *plain)
            return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = next(each for each in signature.args if isinstance(each, Vector))
        a, b = (kind.operand(context, builder, *pair) for pair in zip(signature.args, arguments, strict=True))
        if comparing:
            return kind.compare(builder, _COMPARE[name], a, b)
        return getattr(builder, _ARITHMETIC[name][kind.is_float])(a, b)

    for each in (name, "i" + name.rstrip("_")):
        if hasattr(operator, each):
            infer_global(getattr(operator, each))(Template)
            for kinds in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
                lower_builtin(getattr(operator, each), *kinds)(generate)


for _name in (*_COMPARE, *_ARITHMETIC):
    _teach(_name)


def call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """Call a function that LLVM knows by name."""
    shape = ir.FunctionType(result, [each.type for each in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, shape, name), arguments)


def operation(kinds: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Make an operation for kernels of a function that writes its instructions.

    `kinds` gives numba's signature for the types that the operation is called with. The function gets numba's
    context, LLVM's builder, the signature and the values.
    """

    def make(write: Callable[..., Any]) -> Any:
        def known(typing_context: Any, *given: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                return write(context, builder, signature, *arguments)

            return kinds(*given), generate

        first = Parameter("typing_context", Parameter.POSITIONAL_OR_KEYWORD)
        # numba counts arguments by this.
        known.__signature__ = Signature([first, *signature_of(kinds).parameters.values()])  # type: ignore[attr-defined]
        return intrinsic(known)

    return make
