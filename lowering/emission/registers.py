"""What the names of the loop IR are called in a function that is being written."""

from __future__ import annotations

from fxc.ir.records import field, frozen, mutable
from fxc.ir.symbols import Dim, SymFunc

from ..nests.statements import Compute

Place = tuple[str, str]  # registers: an index as it was given, and the size of the axis


@mutable
class Registers:
    """What the names of the loop IR are called in the function being written."""

    atoms: dict[str, tuple[str, int]] = field(default_factory=dict)  # register, lanes
    dims: dict[str, str] = field(default_factory=dict)  # symbols and loop variables
    functions: dict[SymFunc, str] = field(default_factory=dict)  # of those, computed before a loop
    rows: dict[tuple[str, Dim], str] = field(default_factory=dict)  # by storage and offset
    known: frozenset[str] = frozenset()  # what rows do not change with
    data: dict[str, str] = field(default_factory=dict)  # storages
    marks: dict[str, str] = field(default_factory=dict)  # what their loads and stores bear
    totals: dict[str, str] = field(default_factory=dict)  # accumulators: the current value
    tests: dict[str, Place] = field(default_factory=dict)  # results of out_of_bounds: of what
    losses: dict[str, tuple[Compute, list[str]]] = field(default_factory=dict)  # see LOSSES
    conjunctions: dict[str, tuple[str, str]] = field(default_factory=dict)  # logical_and: of what
    wrapped: dict[Place, str] = field(default_factory=dict)  # places whose test was passed
    vector: str | None = None  # the variable whose iterations are the lanes

    def copy(self) -> Registers:
        return Registers(
            dict(self.atoms),
            dict(self.dims),
            dict(self.functions),
            self.rows,
            self.known,
            self.data,
            self.marks,
            dict(self.totals),
            dict(self.tests),
            dict(self.losses),
            dict(self.conjunctions),
            dict(self.wrapped),
            self.vector,
        )


@frozen
class InLanes:
    """A dim in lanes: in lane ``k`` it is ``start + k * known_step``, and multiples of the integers
    that registers hold for each lane.
    """

    start: Dim
    known_step: Dim
    apart: tuple[tuple[str, Dim], ...]  # register, factor
    singles: tuple[tuple[str, ...], ...] = ()  # of each of these a register for each lane, if any

    @property
    def step(self) -> Dim | None:
        """From lane to lane, if that is always the same."""
        return None if self.apart else self.known_step


@frozen
class Scratch:
    """Where the stack frame has the address of what is allocated, and how much that is."""

    memory: str
    size: str


@frozen
class Log:
    """The log of an input, in the stack frame, and where the marks of the copy that takes its place
    stand. A store changes ``unit`` bytes.
    """

    fields: str
    marks: str
    unit: int


@frozen
class Kept:
    """Registers: an input, its copy, the marks behind that, the size in bytes, the last block."""

    data: str
    copy: str
    marks: str
    size: str
    last: str

    @property
    def given(self) -> str:
        return f"ptr {self.data}, ptr {self.copy}, i64 {self.size}"


@frozen
class Undo:
    """By storage, what is kept, if there is room for that."""

    kept: dict[str, Kept | Log]
    no_room: str


@frozen
class Record:
    """What is known of a branch: whether the arm that is seldom run is the first one, and an order
    that must hold for that.
    """

    first: bool
    needs: str | None
