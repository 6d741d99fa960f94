"""Tables of 16 numbers, which are looked up at an index in each lane.

Where the target permutes, a table is in registers, and an instruction finds 8 or 16 entries; else
entries are loaded from memory. The numbers are computed when they are first needed.
"""

from collections.abc import Sequence
from decimal import Context, Decimal
from functools import cache
from typing import Final

from .builder import Code, Value, rounded, type_name
from .comparisons import suffix

SIZE: Final = 16
RECIPROCALS: Final = tuple(
    each / 64 for each in (88, 86, 82, 78, 76, 74, 70, 68, 66, 64, 60, 57, 54, 51, 49, 46)
)
"""About 1 / m for m in the cells of ``log_in_cells``; m times it, less 1, is exact."""

_FINEST: Final = {"f64": 2.0**-42, "f32": 2.0**-16}  # exact beside any exponent times ln2_high
_PERMUTING: Final = {
    ("f64", 64): "avx512.vpermi2var.pd.512",
    ("f32", 64): "avx512.permvar.sf.512",
    ("f32", 32): "avx2.permps",
}
"""Instructions, by kind and bytes of a register, that find an entry in one, or one of two."""

_PRECISE: Final = Context(prec=60)


@cache
def entries(name: str, kind: str) -> tuple[float, ...]:
    """The numbers of a table: ``reciprocal``; ``log``, minus its logarithm, with ``log_low``, what
    that lacks; ``exp2``, of sixteenths, with ``exp2_low``, what that lacks, relative to it.
    """
    if name == "reciprocal":
        return RECIPROCALS
    d = _PRECISE
    if name.startswith("log"):
        exact = [d.minus(d.ln(Decimal(each))) for each in RECIPROCALS]
        unit = _FINEST[kind]
        parts = [round(float(each) / unit) * unit for each in exact]
        lacks = [d.subtract(each, Decimal(part)) for each, part in zip(exact, parts, strict=True)]
    else:
        exact = [d.power(2, d.divide(i, SIZE)) for i in range(SIZE)]
        parts = [rounded(kind, float(each)) for each in exact]
        ratios = [d.divide(each, Decimal(part)) for each, part in zip(exact, parts, strict=True)]
        lacks = [d.subtract(ratio, 1) for ratio in ratios]
    return tuple(map(float, lacks)) if name.endswith("_low") else tuple(parts)


def looked_up(name: str, kind: str, index: Value) -> Value:
    """The entry at the low four bits of ``index``, an integer as wide as the entries."""
    code, element = index.code, type_name(kind, 1)
    numbers = [Code(1).constant(kind, each).typed for each in entries(name, kind)]
    if code.lanes > 1 and (kind, code.permutes) in _PERMUTING:
        return _permuted(index, kind, numbers)
    table = f"@fxc.table.{name}.{kind}"
    content = f"[{SIZE} x {element}] [{', '.join(numbers)}]"
    code.helpers[table] = f"{table} = private unnamed_addr constant {content}, align 64\n"
    places = code.types["place"] = "ptr" if code.lanes == 1 else f"<{code.lanes} x ptr>"
    place = code.emit("place", f"getelementptr {element}, ptr {table}, {(index & 15).typed}")
    if code.lanes == 1:
        return code.emit(kind, f"load {element}, {place.typed}")
    vector, mask = code.type(kind), code.type("i1")
    gather = f"{vector} @llvm.masked.gather.{suffix(kind, code.lanes)}.v{code.lanes}p0"
    code.declares.add(f"declare {gather}({places}, i32, {mask}, {vector})")
    rest = f"i32 {element_size(kind)}, {mask} splat (i1 true), {vector} poison"
    return code.emit(kind, f"call {gather}({place.typed}, {rest})")


def element_size(kind: str) -> int:
    """Bytes of a number of this kind."""
    return 8 if kind == "f64" else 4


def _permuted(index: Value, kind: str, numbers: Sequence[str]) -> Value:
    """The entries by instructions that permute registers."""
    code, size = index.code, index.code.permutes // element_size(kind)
    element, integer = type_name(kind, 1), type_name(index.kind, 1)
    found = []
    for start in range(0, code.lanes, size):
        part = _shuffled(index, index, integer, range(start, start + size))
        found.append(_in_register(part, kind, numbers))
    while len(found) > 1:
        found += found[len(found) & ~1 :]
        size *= 2
        pairs = zip(found[::2], found[1::2], strict=True)
        found = [_shuffled(left, right, element, range(size)) for left, right in pairs]
    return Value(code, kind, _shuffled(found[0], found[0], element, range(code.lanes)).name)


def _in_register(places: Value, kind: str, numbers: Sequence[str]) -> Value:
    """The entries at as many places as a register has."""
    code = places.code
    indices, size = places.typed.rsplit(" ", 1)[0], code.permutes // element_size(kind)
    whole = code.types["entries"] = f"<{size} x {type_name(kind, 1)}>"
    name = f"{whole} @llvm.x86.{_PERMUTING[kind, code.permutes]}"
    tables = [f"{whole} <{', '.join(numbers[at : at + size])}>" for at in range(0, SIZE, size)]

    def found(*those: str) -> Value:
        types = ", ".join([whole, indices, whole][: 1 + len(those)])
        code.declares.add(f"declare {name}({types})")
        operands = ", ".join([those[0], places.typed, *those[1:]])
        return code.emit("entries", f"call {name}({operands})")

    if "vpermi2var" in name or len(tables) == 1:
        return found(*tables)
    code.types |= {"places": indices, "upper": f"<{size} x i1>"}
    bit = code.emit("places", f"and {places.typed}, splat (i32 8)")
    upper = code.emit("upper", f"icmp ne {bit.typed}, zeroinitializer")
    low, high = found(tables[0]), found(tables[1])
    return code.emit("entries", f"select {upper.typed}, {high.typed}, {low.typed}")


def _shuffled(left: Value, right: Value, element: str, places: range) -> Value:
    """These of the elements of both, one behind the other; what there is not is arbitrary."""
    code = left.code
    count = 2 * int(left.typed[1:].split(" ", 1)[0])
    mask = ", ".join([f"i32 {place if place < count else 'poison'}" for place in places])
    code.types["shuffled"] = f"<{len(places)} x {element}>"
    text = f"shufflevector {left.typed}, {right.typed}, <{len(places)} x i32> <{mask}>"
    return code.emit("shuffled", text)
