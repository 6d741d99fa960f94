"""Which bytes of a storage a loop's statements may meet, and whether those of two are apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fxc.ir.bounds import decide
from fxc.ir.records import frozen
from fxc.ir.size_functions import substitute
from fxc.ir.symbols import Dim, computed_in, symbol

from .addressing import byte_offset, step_of
from .bounds import Range, bounds
from .buffers import Buffer
from .statements import Accumulate, Compute, If, Index, Load, Loop, Matmul, Stmt, Store

Way = tuple[str, Dim, Dim]  # a variable, its first and its last value


@frozen
class Met:
    """The elements of ``size`` bytes that an access meets: at ``offset``, for all values of the
    variables of ``ways``, inner ones first.
    """

    offset: Dim
    ways: tuple[Way, ...]
    size: int


def met_in_vector(vector: Buffer, size: Dim) -> Met:
    """The first elements of a vector, so many."""
    element = f"{vector.name}.element"
    offset = vector.offset + symbol(element, hint=0) * vector.strides[0]
    return Met(offset, ((element, 0, size - 1),), vector.dtype.itemsize)


def stores(
    buffers: Mapping[str, Buffer], block: Sequence[Stmt], storage: str, around: tuple[Way, ...] = ()
) -> Iterator[Met | None]:
    """What statements write to a storage; None where that is not known."""
    for stmt in block:
        match stmt:
            case Store(buffer=buffer, index=index, dtype=dtype):
                if buffers[buffer].storage == storage:
                    offset = byte_offset(buffers[buffer], index)
                    is_known = not computed_in(offset)
                    yield Met(offset, around, dtype.itemsize) if is_known else None
            case Matmul(out=out):
                if buffers[out].storage == storage:
                    yield None
            case Loop(var=var, size=size, body=body):
                yield from stores(buffers, body, storage, ((var, 0, size - 1), *around))
            case If(then=then, orelse=orelse):
                yield from stores(buffers, (*then, *orelse), storage, around)
            case Load() | Compute() | Index() | Accumulate():
                pass
            case _:
                yield None


def ends(places: Met, *ways: Way) -> Range | None:
    """The offsets of the first and of the last element, over ``ways`` further out, too."""
    low = high = places.offset
    for name, first, last in (*places.ways, *ways):
        steps = step_of(low, name), step_of(high, name)
        falls = [None if each is None else decide(each, "<", 0) for each in steps]
        if None in falls:
            return None
        low = substitute(low, {name: last if falls[0] else first})
        high = substitute(high, {name: first if falls[1] else last})
    return low, high


def is_positive(dim: Dim, ranges: Mapping[str, Range]) -> bool:
    """Whether that is known, for all values of the counters."""
    return not computed_in(dim) and decide(bounds(dim, ranges)[0], ">", 0) is True


def are_apart(first: Met, other: Met, ways: Sequence[Way], ranges: Mapping[str, Range]) -> bool:
    """Whether the one meets only what lies below all that the other meets."""
    here, there = ends(first, *ways), ends(other, *ways)
    if here is None or there is None:
        return False
    below = is_positive(there[0] - here[1] - first.size + 1, ranges)
    return below or is_positive(here[0] - there[1] - other.size + 1, ranges)
