"""The elements of a strip, whose loops end apart: what each does, with choices for branches.

See ``abreast``. An iteration of a loop inside is taken in as an arm of a branch, which is run by
the lanes that have not ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.records import mutable, replace
from fxc.ir.symbols import Dim, computed, computed_in, symbol, symbols_of
from fxc.ops.python_numbers import SETTLED

from ..nests.accesses import Block, read_early, renamed
from ..nests.bounds import bounds
from ..nests.buffers import BOOL, I64, Atom, Buffer, Const
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Check,
    Compute,
    For,
    If,
    Index,
    Load,
    Stmt,
    Store,
    While,
    blocks_of,
    walk,
)
from ..operators.python_rules import asks_library
from .apart import guarded
from .branchless import Choices, Stays, Stores
from .independent_steps import Counters

Number = Load | Compute | Index


@mutable
class LanePart:
    """What lanes do at once: one iteration of a loop inside of theirs, or what stands between two.

    ``goes_on`` is the total that says whether a lane runs the loop inside once more.
    """

    around: For | While | None
    body: list[Stmt]
    checks: tuple[Check, ...] = ()
    goes_on: str = ""

    @property
    def numbers(self) -> dict[str, Number]:
        return {stmt.name: stmt for stmt in self.body if isinstance(stmt, Number)}


class StripElements(Choices):
    """The elements of a strip of a loop, taken in part by part."""

    def __init__(
        self, program: Program, known: Counters, loop: For, used: Counter[str], suffix: str
    ) -> None:
        super().__init__(program, known, loop, used)
        self.whole, self.suffix = loop, suffix
        self.lane = symbol(f"{loop.var}a", hint=0, lower=0)
        target = program.target
        self.lanes = target.vector // 8 * target.costs.abreast
        self.buffers: dict[str, Buffer] = {}
        self.parts: list[LanePart] = []
        self.values: dict[str, str] = {}
        self.going: str | None = None  # what says which lanes go on with a loop inside
        if self.lanes < 2:
            raise Stays
        self.take_in()

    # -- numbers

    def take_in(self) -> None:
        """Split what an iteration does at the loops inside, with choices in place of branches."""
        body = self.whole.body
        for number, stmt in enumerate(body):
            if isinstance(stmt, For | While):
                self.inside(stmt, _read_behind(self.program, body[number + 1 :]))
            else:
                self.one(stmt, None, self.values)
        self.end_part(None)
        checked = any(part.checks for part in self.parts)
        stores = [stmt for stmt in walk(self.whole.body) if isinstance(stmt, Store)]
        if checked and not self.may_fail(stores):
            raise Stays

    def one(self, stmt: Stmt, mask: Atom | None, values: dict[str, str]) -> None:
        """A statement of an iteration, or of a loop inside, of the lanes where the mask holds."""
        if not isinstance(stmt, If):
            self.number(stmt, mask, values)
            return
        stores: Stores = {}
        self.branch(_without_ends(stmt), mask, values, stores)
        if stores and mask is not None:
            raise Stays

    def number(self, stmt: Stmt, mask: Atom | None, values: dict[str, str]) -> None:
        if isinstance(stmt, Compute) and asks_library(stmt.op, stmt.args):
            raise Stays
        if isinstance(stmt, Load) and any(map(computed_in, stmt.index)):
            self.look_up(stmt, mask)
        elif isinstance(stmt, Load) and mask is not None and self.is_loaded_by_some(stmt, mask):
            self.made.append(stmt)
        elif isinstance(stmt, Compute) and self.is_harmless(stmt):
            self.made.append(renamed(stmt, self.renamed))
            if stmt.op == "out_of_bounds":
                self.may_be_checked.add(stmt.name)
        else:
            super().number(stmt, mask, values)

    def is_loaded_by_some(self, stmt: Load, mask: Atom) -> bool:
        """Whether all lanes that go on load this element, and there is one."""
        is_one = not any(self.whole.var in symbols_of(dim) for dim in stmt.index)
        return is_one and mask == self.going and stmt.buffer not in self.local

    def is_harmless(self, stmt: Compute) -> bool:
        """Whether lanes that have ended may compute it, whatever it gives for them."""
        settled = stmt.op in SETTLED and isinstance(stmt.args[1], Const)
        return settled or stmt.op in ("out_of_bounds", "wrap_index")

    def guarded(self, stmt: Compute, mask: Atom) -> list[Compute]:
        return guarded(stmt, mask, self.program.target.costs, careful=False)

    def look_up(self, stmt: Load, mask: Atom | None) -> None:
        """An element at a computed place; where the mask does not hold, the first one."""
        shape = self.program.buffers[stmt.buffer].shape
        if any(decide(bounds(dim, self.ranges)[0], ">=", 1) is not True for dim in shape):
            raise Stays
        self.made.append(replace(stmt, index=tuple(self.place(dim, mask) for dim in stmt.index)))

    def place(self, dim: Dim, mask: Atom | None) -> Dim:
        found = computed_in(dim)
        if not found and (mask is None or isinstance(dim, int)):
            return dim
        (name, scalar), *others = found.items() if found else (("", None),)
        if others or scalar is None or dim != computed(name, scalar.over):
            raise Stays
        atom = self.atom(name)
        if mask is not None:
            atom = self.compute(I64, "where", mask, atom, Const(0, I64), of=(BOOL, I64, I64))
        assert isinstance(atom, str)
        return computed(atom, (self.lane,))

    # -- loops inside

    def inside(self, stmt: For | While, later: Collection[str]) -> None:
        """One iteration of a loop inside; ``later`` storages are read behind the loop."""
        body = (*stmt.body, *stmt.test) if isinstance(stmt, While) else stmt.body
        dtypes = {name: self.program.buffers[name].dtype for name in self.handed_on(body, later)}
        if not dtypes.keys() <= self.values.keys():
            raise Stays
        goes_on = self.first_test(stmt)
        for name in dtypes:
            self.keep(name, self.values[name])
        self.end_part(None)
        self.going = mask = self.kept(goes_on) if goes_on else None
        before = {name: self.kept(name) for name in dtypes}
        values = before.copy()
        for each in body:
            self.one(each, mask, values)
        if mask is not None:
            self.next_test(stmt, mask, goes_on)
        for name, old in before.items():
            new = values[name]
            self.keep(name, new if mask is None else self.choice(mask, name, new, old))
        self.end_part(stmt)
        self.values |= {name: self.kept(name) for name in dtypes}

    def handed_on(self, body: Block, later: Collection[str]) -> list[str]:
        """The numbers that an iteration leaves to the next one, or to what is behind the loop."""
        buffers = self.program.buffers
        early = read_early(self.program, body, set())
        met = [stmt for stmt in walk(body) if isinstance(stmt, Load | Store)]
        left = {buffers[s.buffer].storage for s in met if isinstance(s, Store)} & {*later}
        names = dict.fromkeys(s.buffer for s in met if s.buffer in self.local)
        return [name for name in names if buffers[name].storage in early | left]

    def first_test(self, stmt: For | While) -> str:
        """Where it stands whether a lane goes on with a loop; "" if all go through all of it."""
        if isinstance(stmt, For) and stmt.leave is None:
            return ""
        first: Atom = Const(True, BOOL)
        if isinstance(stmt, While):
            names = {s.name: f"{s.name}.first" for s in stmt.test if isinstance(s, Number)}
            for each in stmt.test:
                if not isinstance(each, Number):
                    raise Stays
                self.number(renamed(each, names), None, self.values)
            first = names.get(str(stmt.condition), stmt.condition)
        name = f"{self.whole.var}.goes{len(self.parts)}"
        self.goes_on(name, self.named(first, BOOL))
        return name

    def next_test(self, stmt: For | While, mask: Atom, name: str) -> None:
        """Whether a lane goes on behind an iteration."""
        test = self.atom(stmt.condition if isinstance(stmt, While) else stmt.leave or "")
        if isinstance(stmt, For):
            test = self.compute(BOOL, "logical_not", test, of=(BOOL,))
        self.goes_on(name, self.compute(BOOL, "logical_and", mask, test, of=(BOOL, BOOL)))

    def goes_on(self, name: str, value: str) -> None:
        self.room(name, BOOL, self.lanes)
        self.keep(name, value)
        total = f"{self.whole.var}.some{len(self.parts)}"
        self.made.append(Accumulate(total, BOOL, "logical_or", value, Const(False, BOOL), "any"))

    # -- what parts hand on

    def room(self, name: str, dtype: np.dtype, *shape: int) -> str:
        """A buffer with an element for each lane, or of one number."""
        full = f"{name}.{self.suffix}"
        strides = (dtype.itemsize,) if shape else ()
        self.buffers.setdefault(full, Buffer(full, dtype, shape, strides, "temp", full))
        return full

    def keep(self, name: str, value: str) -> None:
        known = self.program.buffers.get(name)
        if known is not None:
            self.room(name, known.dtype, self.lanes)
        buffer = self.buffers[f"{name}.{self.suffix}"]
        self.made.append(Store(buffer.name, (self.lane,), value, buffer.dtype))

    def kept(self, name: str) -> str:
        buffer, found = self.buffers[f"{name}.{self.suffix}"], self.name()
        self.made.append(Load(found, buffer.dtype, buffer.name, (self.lane,)))
        return found

    def end_part(self, around: For | While | None) -> None:
        totals = [s.name for s in self.made if isinstance(s, Accumulate)]
        checks = tuple([replace(check, failed=name) for name, check in self.failing.items()])
        self.parts.append(LanePart(around, self.made, checks, totals[0] if totals else ""))
        self.made, self.failing = [], {}


def _without_ends(stmt: If) -> If:
    """A branch, and those in it, of which no arm ends a loop by itself."""
    arms = [
        tuple(_without_ends(each) if isinstance(each, If) else each for each in arm)
        for arm in (stmt.then, stmt.orelse)
    ]
    return replace(stmt, then=arms[0], orelse=arms[1], ends=None)


def _read_behind(program: Program, block: Block) -> set[str]:
    """The storages of single numbers that a block may read before it stores to them."""
    known: set[str] = set()
    found: set[str] = set()
    for stmt in block:
        if isinstance(stmt, For | While):  # it may have no iteration
            found |= {x for each in blocks_of(stmt) for x in read_early(program, each, {*known})}
        else:
            found |= read_early(program, (stmt,), known)
    return found
