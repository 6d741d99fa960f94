"""Modules of native code and their functions: what the runtime needs to call them.

See Note [Native entry].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fxc.ir.graph import Graph
from fxc.ir.location import Site
from fxc.ir.records import frozen
from fxc.ir.signature import Slot
from fxc.ir.symbols import Dim, SymExpr, symbols_of
from fxc.ir.types import ScalarType, array_type, ordered_strides, stride_order

from ..nests.bounds import counter_ranges, most_elements
from ..nests.pieces import pieces
from ..nests.program import Param, Program
from ..nests.statements import Allocate, Bind, Boxed, Check, walk
from . import interrupts, sticky
from .arena import Arena
from .frame import LoopKind

# Among the functions of the pointer table: where the elements of a constant are, ...
CONSTANT = "constant"
CALL, UFUNC, PARALLEL = "call NumPy", "foreign ufunc", "parallel loops"
# What the objects of a call stand behind: PyArray_NewFromDescr, PyArray_Scalar, PyArray_NewCopy and
# PyArray_UpdateFlags, by their places in NumPy's table of C functions, its ABI.
NUMPY_FUNCTIONS = (94, 60, 85, 92)


def in_text(program: Program, plain: str) -> tuple[str, ...]:
    """The constants whose elements are part of the LLVM text, not behind the table."""
    most = program.target.costs.constant_bytes
    data = {name: buffer.data for name, buffer in program.buffers.items()}
    return tuple(n for n, x in data.items() if x is not None and (plain or len(x) < most))


@frozen
class Segment:
    """One native function: the statements of the program from ``first`` up to ``last``.

    ``checks``: some of them may send the call back to NumPy. ``looks``: see Note [Interrupts],
    ``calls``: Note [Calls of NumPy].
    """

    entry: str
    first: int
    last: int
    checks: bool
    looks: bool
    calls: bool
    binds: tuple[str, ...] = ()  # symbols, see Note [Counted sizes]
    flags: bool = False  # see Note [Floating-point flags]


@frozen
class Given:
    """What an entry is given, in order: parameters in bytes, parameters as objects, storages that
    are arrays.
    """

    packed: tuple[Param, ...]
    objects: tuple[Param, ...]
    arrays: tuple[str, ...]
    symbols: tuple[str, ...] = ()  # those of inputs, for plain entries

    def array(self, name: str) -> int:
        """The number of an array; behind the last of them is the arena."""
        return self.arrays.index(name) if name in self.arrays else len(self.arrays)

    def place(self, name: str) -> int:
        """The argument that is an array."""
        return 2 + len(self.objects) + self.array(name)


@frozen
class Module:
    """LLVM text and what the runtime needs to call it.

    ``arena`` is the size in bytes of the temporaries that live together in one more array.
    ``returned`` are the storages whose numbers are returned.
    ``inner_loops`` name the contents of the pointer table: (ufunc, dtype) each with its data
    pointer. For ``user_loops`` see Note [Scalar loops]. ``calls`` are the objects that each call of
    NumPy mentions. ``support`` are texts of modules whose
    functions it calls, each after those that it needs. ``updated`` are the inputs that it reads and
    writes. If it ``keeps_states`` of generators, it brings them back where it fails.
    """

    text: str
    program: Program
    segments: tuple[Segment, ...]
    given: Given
    arena: Dim
    returned: tuple[str, ...]
    inner_loops: tuple[tuple[str, str], ...]
    user_loops: LoopKind
    calls: tuple[tuple[Any, ...], ...]
    support: tuple[str, ...]
    updated: tuple[int, ...] = ()
    keeps_states: bool = False
    may_be_careful: bool = False  # it may set flags that careful code would not
    sites: tuple[Site, ...] = ()  # see Note [Leaves]
    approximates: bool = False  # elementary functions, up to bounds

    @property
    def sets_flags(self) -> bool:
        """Whether it looks at floating-point flags."""
        return any(segment.flags for segment in self.segments)


@frozen
class Whole:
    """What the pieces of a program have in common: found once, there may be hundreds of them.

    ``users`` has for each storage the number of the program's statements that use it.
    """

    graph: Graph
    program: Program
    given: Given
    arena: Arena
    frame: int
    returned: Mapping[str, ScalarType]
    dims: tuple[SymExpr, ...]
    loops: LoopKind
    users: Mapping[str, int]
    caller: Any  # an ``EntryCaller``, which is defined with more than this
    drawn: tuple[str, ...] = ()  # handles of generators whose states are kept


def segments_of(program: Program, plain: str) -> Iterator[Segment]:
    """The pieces of a program; what is ``plain`` has one, of that name, if only to do nothing."""
    for first, last in pieces(program) if program.body or not plain else [(0, 0)]:
        block = program.body[first:last]
        checks = any(isinstance(s, Check | Allocate) for s in walk(block))
        looks = interrupts.looks(block, program.target.costs)
        calls = any(isinstance(s, Boxed) for s in walk(block))
        binds = tuple(s.name for s in block if isinstance(s, Bind))
        flags = sticky.sets_flags(block) and not plain
        yield Segment(plain or f"fxc.entry{first}", first, last, checks, looks, calls, binds, flags)


def slots_of(graph: Graph, module: Module) -> tuple[Slot, ...]:
    """The array arguments of the code, in their order."""
    program = module.program
    ranges = counter_ranges(program)
    columns = {id(node.output) for node in graph.nodes if node.op == "nonzero"}
    rows = {  # of what ``np.nonzero`` gives columns
        program.results[number]
        for number, value in enumerate(graph.outputs)
        if id(value) in columns
    }
    slots = []
    for name in module.given.arrays:
        buffer = program.buffers[name]
        if buffer.role == "input":  # which has its own layout
            place = program.inputs.index(name)
            slots.append(Slot(name, buffer.dtype, buffer.shape, (), place))
            continue
        order = stride_order(array_type(buffer.dtype, buffer.shape, buffer.strides))
        dense = ordered_strides(buffer.shape, order, buffer.dtype.itemsize)
        gaps = buffer.strides != dense
        is_counted = any(not ranges.keys().isdisjoint(symbols_of(d)) for d in buffer.shape)
        room = most_elements(buffer.shape, ranges) if is_counted else None
        keeps = name in rows
        slots.append(Slot(name, buffer.dtype, buffer.shape, order, None, room, keeps, gaps))
    return tuple(slots)
