"""Writes vector instructions: what the inner loops of the ring layer are made of.

An intrinsic of numba is a function that emits the machine-independent code of LLVM for its body; `Vectors`
gives the few words such a body is written in. Vectors are of sixteen 32-bit integers unless said otherwise.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils

__all__ = [
    "LANES",
    "Vectors",
    "byte",
    "flag",
    "flags",
    "float32",
    "floats",
    "int32",
    "int64",
    "ints",
    "longs",
]

LANES = 16
flag, byte, int32, int64, float32 = (
    ir.IntType(1),
    ir.IntType(8),
    ir.IntType(32),
    ir.IntType(64),
    ir.FloatType(),
)
ints, longs, floats, flags = (ir.VectorType(item, LANES) for item in (int32, int64, float32, flag))


class Vectors:
    """Writes vector instructions."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.context, self.builder, self.signature, self.arguments = context, builder, signature, arguments

    def array(self, k: int) -> tuple[Any, Any]:
        """Address of the first item of argument k, and the length of its rows."""
        struct = self.context.make_array(self.signature.args[k])(
            self.context, self.builder, self.arguments[k]
        )
        return struct.data, cgutils.unpack_tuple(self.builder, struct.shape)[-1]

    def address(self, data: Any, row_length: Any, row: Any, item: Any) -> Any:
        """Address of an item of a row."""
        b = self.builder
        return b.gep(data, [b.add(b.mul(row, row_length), item)])

    def load(self, address: Any, vector: Any = ints) -> Any:
        """A vector of items from an address on."""
        return self.builder.load(self.builder.bitcast(address, vector.as_pointer()), align=4)

    def everywhere(self, value: Any, vector: Any = ints) -> Any:
        """A vector with one value in all lanes."""
        undefined = ir.Constant(vector, ir.Undefined)
        one = self.builder.insert_element(undefined, value, int32(0))
        zeros = ir.Constant(ir.VectorType(int32, vector.count), [0] * vector.count)
        return self.builder.shuffle_vector(one, undefined, zeros)

    def call(self, name: str, result: Any, arguments: list[Any]) -> Any:
        """Call a function that LLVM knows by name."""
        shape = ir.FunctionType(result, [each.type for each in arguments])
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, shape, name), arguments)

    def boxes_at(self, peers: Any, stride: Any) -> Any:
        """How many bytes after the first box those of the peers begin."""
        b = self.builder
        items = b.zext(b.mul(peers, self.everywhere(b.trunc(stride, int32))), longs)
        return b.shl(items, ir.Constant(longs, [2] * LANES))

    def gather(self, address: Any, offsets: Any, chosen: Any) -> Any:
        """The words so many bytes after an address, in the chosen lanes."""
        b = self.builder
        first = self.everywhere(b.ptrtoint(address, int64), longs)
        addresses = b.inttoptr(b.add(first, offsets), ir.VectorType(int32.as_pointer(), LANES))
        nothing = ir.Constant(ints, [0] * LANES)
        return self.call(
            f"llvm.masked.gather.v{LANES}i32.v{LANES}p0", ints, [addresses, int32(4), chosen, nothing]
        )

    def greatest(self, lanes: Any) -> Any:
        """The greatest of the lanes."""
        return self.call(f"llvm.vector.reduce.smax.v{LANES}i32", int32, [lanes])

    def first(self, chosen: Any) -> Any:
        """Number of the first lane that is set; some lane is."""
        word = self.builder.zext(self.builder.bitcast(chosen, ir.IntType(LANES)), int64)
        return self.builder.cttz(word, flag(1))

    def some(self, chosen: Any) -> Any:
        """Whether any lane is chosen."""
        word = self.builder.bitcast(chosen, ir.IntType(LANES))
        return self.builder.icmp_unsigned("!=", word, ir.IntType(LANES)(0))

    def below(self, count: Any, start: Any) -> Any:
        """Lanes of a chunk that begins at `start` whose places are below `count`."""
        rest = self.everywhere(self.builder.trunc(self.builder.sub(count, start), int32))
        return self.builder.icmp_signed("<", ir.Constant(ints, list(range(LANES))), rest)

    def least(self, a: Any, b: Any) -> Any:
        """The lesser of each two lanes."""
        return self.builder.select(self.builder.icmp_signed("<", a, b), a, b)

    def most(self, a: Any, b: Any) -> Any:
        """The greater of each two lanes."""
        return self.builder.select(self.builder.icmp_signed(">", a, b), a, b)

    def variable(self, initial: Any) -> Any:
        """A place for a value that changes; kept in a register."""
        return cgutils.alloca_once_value(self.builder, initial)

    def chunks(self, first: Any, count: Any) -> Any:
        """Loop over the starts of chunks from `first` on."""
        return cgutils.for_range_slice(self.builder, first, count, int64(LANES), int64, inc=True)

    def axes(self, d: Any) -> Any:
        """Loop over the attributes."""
        return cgutils.for_range(self.builder, d, intp=int64)
