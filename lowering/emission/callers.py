"""Who calls an entry, and what that means for its first and its last lines.

Python calls as Note [Native entry] says. What is plain C is called by anybody:
Note [Plain entries].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

from fxc.ir.graph import Graph
from fxc.ir.objects import ARRAY_DATA, ARRAY_DIMS, ARRAY_STRIDES, BYTES_DATA
from fxc.ir.records import frozen
from fxc.ir.symbols import SymExpr, symbols_of
from fxc.ir.types import ArrayType, ScalarType

from .emitter import Emitter
from .llvm_text import LEFT, FunctionText
from .lock import enter
from .native_module import Given, Segment
from .objects import return_numbers

# Note [Plain entries]
# A module that is ``plain`` is for object files. Its one entry, of that name, is a C function,
# ``int32_t name(arrays, sizes, numbers, table)`` of four pointers:
#   arrays   the data of the program's array slots in order, results among them, then the arena
#   sizes    the symbols that are dims or strides of inputs, in the order in which they come there
#   numbers  the scalar parameters, 8 bytes each
#   table    pairs of pointers, as the bytes of ``self`` in Note [Native entry]
# It gives 0 when all is done; the number of a site (Note [Leaves]), or one more than there are,
# where NumPy would raise, and then no input has changed; -1 where what it was told to look at, or a
# call of NumPy, has said that it is to stop. That sizes and numbers are what the program is for its
# callers have looked at: Python's loader, or the function in the header (Note [Comparisons in C]).
# There are no objects in it, and nobody is told of floating-point flags. Where loops look for
# signals, it asks a function of the table, if there is one, and gives up the interpreter lock as in
# Note [The interpreter lock] by functions of the table. NumPy's calls go through functions of the
# table, too: each is given the addresses of operands and results, then the sizes that it depends
# on, as in Note [Calls of NumPy]. What they give is such that nothing else looks like it: of a
# function of Python's that a signal has ended before its first line nobody knows what it gives.


class EntryCaller(ABC):
    """How an entry is given what it reads, and how it is left."""

    @abstractmethod
    def head(self, entry: str) -> str:
        """The head of the function."""

    @abstractmethod
    def begin(self, f: FunctionText) -> None:
        """The first lines."""

    @abstractmethod
    def data(self, f: FunctionText, given: Given, name: str) -> str:
        """The register with the data of an array; the arena has no name."""

    @abstractmethod
    def size(self, f: FunctionText, given: Given, place: SizeOf, mark: str) -> str:
        """The register with a symbol, which is a dim or stride of an input."""

    @abstractmethod
    def number(self, f: FunctionText, place: int, kind: str, mark: str) -> str:
        """The register with a packed parameter, of 8 bytes."""

    @abstractmethod
    def note(self, emitter: Emitter, site: int) -> None:
        """Write down for which operator the call is left to NumPy."""

    @abstractmethod
    def done(self, emitter: Emitter, returned: Mapping[str, ScalarType]) -> None:
        """Return: all is done."""

    @abstractmethod
    def fail(self, emitter: Emitter, segment: Segment) -> None:
        """Return: NumPy would raise."""

    @abstractmethod
    def stop(self, emitter: Emitter) -> None:
        """Return: a handler of a signal has raised, or NumPy's call is not to be replayed."""


@frozen
class SizeOf:
    """Where a symbol stands: a dim, or a stride, of an input."""

    symbol: str
    array: str
    axis: int
    is_stride: bool


def argument(f: FunctionText, place: int) -> str:
    """An object that Python gives."""
    slot = f.op(f"getelementptr ptr, ptr %args, i64 {place}")
    return f.op(f"load ptr, ptr {slot}, align 8")


def field(f: FunctionText, pointer: str, offset: int, kind: str, mark: str = "") -> str:
    """What is so many bytes behind a pointer."""
    at = f.op(f"getelementptr i8, ptr {pointer}, i64 {offset}")
    return f.op(f"load {kind}, ptr {at}, align 8{mark}")


def return_argument(f: FunctionText, place: int) -> None:
    """Return one of the objects that Python has given."""
    result = argument(f, place)
    f.do(f"call void @Py_IncRef(ptr {result})")
    f.do(f"ret ptr {result}")


def return_raised(emitter: Emitter) -> None:
    """Return what NumPy has raised, if it has."""
    f = emitter.function
    none, some = f.new_label("none"), f.new_label("raised")
    found = f.op(f"load ptr, ptr {emitter.raised}, align 8")
    f.do(f"br i1 {f.op(f'icmp eq ptr {found}, null')}, label %{none}, label %{some}")
    f.start(some)
    f.do(f"ret ptr {found}")
    f.start(none)


class Python(EntryCaller):
    """See Note [Native entry]."""

    def head(self, entry: str) -> str:
        return f'define ptr @"{entry}"(ptr %self, ptr %args, i64 %nargs) nounwind'

    def begin(self, f: FunctionText) -> None:
        f.module.declare("declare void @Py_IncRef(ptr)")
        f.lines.append(f"  %table = getelementptr i8, ptr %self, i64 {BYTES_DATA}")

    def data(self, f: FunctionText, given: Given, name: str) -> str:
        return field(f, argument(f, given.place(name)), ARRAY_DATA, "ptr")

    def size(self, f: FunctionText, given: Given, place: SizeOf, mark: str) -> str:
        array = argument(f, given.place(place.array))
        vector = field(f, array, ARRAY_STRIDES if place.is_stride else ARRAY_DIMS, "ptr")
        return field(f, vector, 8 * place.axis, "i64", mark)

    def number(self, f: FunctionText, place: int, kind: str, mark: str) -> str:
        return field(f, argument(f, 1), BYTES_DATA + 8 * place, kind, mark)

    def note(self, emitter: Emitter, site: int) -> None:
        written, _ = emitter.inner_loop(LEFT, "")
        emitter.function.do(f"store i64 {site}, ptr {written}, align 8")

    def done(self, emitter: Emitter, returned: Mapping[str, ScalarType]) -> None:
        if returned:
            return_numbers(emitter, returned)
        else:
            return_argument(emitter.function, 1)

    def fail(self, emitter: Emitter, segment: Segment) -> None:
        if segment.calls:
            return_raised(emitter)
        return_argument(emitter.function, 0)

    def stop(self, emitter: Emitter) -> None:
        emitter.function.do("ret ptr null")


class PlainC(EntryCaller):
    """See Note [Plain entries]."""

    _LEFT = "%fxc.left"  # the number of a site

    def head(self, entry: str) -> str:
        given = "ptr %arrays, ptr %sizes, ptr %numbers, ptr %table"
        return f'define i32 @"{entry}"({given}) nounwind'

    def begin(self, f: FunctionText) -> None:
        f.stack_lines.append(f"  {self._LEFT} = alloca i32, align 4")
        f.do(f"store i32 0, ptr {self._LEFT}, align 4")

    def data(self, f: FunctionText, given: Given, name: str) -> str:
        return field(f, "%arrays", 8 * given.array(name), "ptr")

    def size(self, f: FunctionText, given: Given, place: SizeOf, mark: str) -> str:
        return field(f, "%sizes", 8 * given.symbols.index(place.symbol), "i64", mark)

    def number(self, f: FunctionText, place: int, kind: str, mark: str) -> str:
        return field(f, "%numbers", 8 * place, kind, mark)

    def note(self, emitter: Emitter, site: int) -> None:
        emitter.function.do(f"store i32 {site}, ptr {self._LEFT}, align 4")

    def done(self, emitter: Emitter, returned: Mapping[str, ScalarType]) -> None:
        emitter.function.do("ret i32 0")

    def fail(self, emitter: Emitter, segment: Segment) -> None:
        f, other = emitter.function, len(emitter.module.sites) + 1
        found = f.op(f"load i32, ptr {self._LEFT}, align 4")
        some = f.op(f"icmp ne i32 {found}, 0")
        f.do(f"ret i32 {f.op(f'select i1 {some}, i32 {found}, i32 {other}')}")

    def stop(self, emitter: Emitter) -> None:
        enter(emitter)
        emitter.function.do("ret i32 -1")


def symbols_of_inputs(graph: Graph) -> tuple[str, ...]:
    """The symbols that are dims or strides of inputs, as plain entries are given them."""
    kinds = (value.type for value in graph.inputs if isinstance(value.type, ArrayType))
    return tuple(dict.fromkeys(place.symbol for kind in kinds for place in symbols_in(kind, "")))


def symbols_in(kind: ArrayType, array: str) -> Iterator[SizeOf]:
    """The dims and strides of an input that are symbols, with their places."""
    for is_stride, dims in ((False, kind.shape), (True, kind.strides)):
        for axis, dim in enumerate(dims):
            if isinstance(dim, SymExpr) and list(symbols_of(dim)) == [str(dim)]:
                yield SizeOf(str(dim), array, axis, is_stride)
