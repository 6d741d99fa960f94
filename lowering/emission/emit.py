"""Loop nests → LLVM text.

The innermost loop that moves along contiguous memory is written with explicit vectors, a scalar
loop does the rest; the optimiser's own vectoriser is not relied on. See Note [Lanes].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

import numpy as np

from fxc.ir.records import frozen, mutable
from fxc.ir.symbols import (
    Computed,
    Dim,
    Symbol,
    SymFunc,
    atoms,
    computed,
    computed_in,
    decide,
    substitute,
    symbol,
    symbols_of,
)

from ..building.scratch import Scratch, emit_allocate
from ..loops import (
    Accumulate,
    Allocate,
    Apply,
    Atom,
    Bind,
    Boxed,
    Check,
    Compute,
    Const,
    For,
    If,
    Index,
    Load,
    Loop,
    Matmul,
    Program,
    Stmt,
    Store,
    While,
    atoms_read,
    walk,
)
from ..scheduling.accesses import rename
from . import ends, extremes, interleaved, interrupts
from .addressing import byte_offset, split, step_of
from .calls import emit_call
from .frame import finished, is_scalar, leave_vectors
from .llvm_text import FAILED, FunctionText, Lanes, ModuleText, memory_type, scalar_type
from .neutral import neutral
from .pairwise import PairwiseTree
from .products import emit_apply, emit_matmul
from .python_rules import LOSSES, SCALAR_RULES
from .scalar_rules import cast
from .survey import carried_through, is_repeatable, lanes_for
from .totals import better_of, combined, fold_lanes, is_better

# Note [Lanes]
# Inside a vector loop every name of the loop IR stands for ``lanes`` consecutive iterations of the
# vector variable. A load whose address does not depend on that variable is done once and spread;
# one that moves by the element size is a vector load; others are gathered element by element (on
# today's processors no slower than a gather instruction). Stores go to memory in the order of the
# lanes: where two of them meet, the last iteration's stays.
# The lanes of a 512-bit register are used whatever the processor has: the back end splits them.

BOOL = np.dtype(bool)
F64, I64 = np.dtype(np.float64), np.dtype(np.int64)
CACHE_LINE = 64  # bytes
ELEMENT = 8  # bytes, as a rule
BRIEF = 32  # statements of an iteration that may be written down once more
LONG = 8  # vectors that a loop must have for the place of its stores to be looked at


Place = tuple[str, str]  # registers: an index as it was given, and the size of the axis


@mutable
class Registers:
    """What the names of the loop IR are called in the function being written."""

    atoms: dict[str, tuple[str, int]] = field(default_factory=dict)  # register, lanes
    dims: dict[str, str] = field(default_factory=dict)  # symbols and loop variables
    functions: dict[SymFunc, str] = field(default_factory=dict)  # of those, computed before a loop
    data: dict[str, str] = field(default_factory=dict)  # storages
    marks: dict[str, str] = field(default_factory=dict)  # what their loads and stores bear
    totals: dict[str, str] = field(default_factory=dict)  # accumulators: the current value
    tests: dict[str, Place] = field(default_factory=dict)  # results of out_of_bounds: of what
    losses: dict[str, tuple[Compute, list[str]]] = field(default_factory=dict)  # see LOSSES
    wrapped: dict[Place, str] = field(default_factory=dict)  # places whose test was passed
    vector: str | None = None  # the variable whose iterations are the lanes

    def copy(self) -> Registers:
        return Registers(
            dict(self.atoms),
            dict(self.dims),
            dict(self.functions),
            self.data,
            self.marks,
            dict(self.totals),
            dict(self.tests),
            dict(self.losses),
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

    @property
    def step(self) -> Dim | None:
        """From lane to lane, if that is always the same."""
        return None if self.apart else self.known_step


class Emitter:
    """Writes statements into one function."""

    def __init__(
        self, module: ModuleText, function: FunctionText, program: Program, prefix: str
    ) -> None:
        self.module = module
        self.function = function
        self.program = program
        self.prefix = prefix
        self.regs = Registers()
        self.numbers = interleaved.Numbers(self)
        self.in_scalar_nest = False
        self.total_lanes = 0  # lanes of the totals, where they are fewer than those of the values
        self.scratches: dict[str, Scratch] = {}  # by storage: what the function allocates
        self.passed: frozenset[Atom] = frozenset()  # tests that are known not to fail
        self.done = ""  # the label at the end of the loop whose body is about to be written
        self.budget = ""  # where the work until the next look for signals stands

    def inside(self, function: FunctionText) -> Emitter:
        """An emitter for another function of the same program."""
        return Emitter(self.module, function, self.program, self.prefix)

    def inner_loop(self, ufunc: str, kind: str) -> tuple[str, str]:
        """Registers with NumPy's inner loop for a dtype and its data, from the pointer table."""
        slot = self.module.inner_loops.setdefault((ufunc, kind), len(self.module.inner_loops))
        found = []
        for place in (2 * slot, 2 * slot + 1):
            at = self.function.op(f"getelementptr ptr, ptr %table, i64 {place}")
            found.append(self.function.op(f"load ptr, ptr {at}, align 8"))
        return found[0], found[1]

    # -- dims and addresses

    def dim(self, value: Dim) -> str:
        """An integer expression as an i64 register or constant."""
        if isinstance(value, int):
            return str(value)
        total: str | None = None
        for monomial, coefficient in value.terms:
            term: str | None = None
            for atom in monomial:
                factor = self._dim_atom(atom)
                term = factor if term is None else self.function.op(f"mul nsw i64 {term}, {factor}")
            if term is None:
                term = str(coefficient)
            elif coefficient != 1:
                term = self.function.op(f"mul nsw i64 {term}, {coefficient}")
            total = term if total is None else self.function.op(f"add nsw i64 {total}, {term}")
        assert total is not None
        return total

    def _dim_atom(self, atom: object) -> str:
        if isinstance(atom, Computed):
            register, lanes = self.regs.atoms[atom.name]
            assert lanes == 1
            return register
        if not isinstance(atom, SymFunc):
            return self.regs.dims[atom.name]  # type: ignore[attr-defined]
        if atom in self.regs.functions:
            return self.regs.functions[atom]
        left, right = self.dim(atom.left), self.dim(atom.right)
        op = self.function.op
        if atom.name in ("floordiv", "mod") and decide(atom.right, "!=", 0) is None:
            zero = op(f"icmp eq i64 {right}, 0")  # what would divide by it is not reached
            right = op(f"select i1 {zero}, i64 1, i64 {right}")
        power = isinstance(atom.right, int) and atom.right > 0 and atom.right.bit_count() == 1
        match atom.name:
            case "floordiv" if power:
                return op(f"ashr i64 {left}, {int(right).bit_length() - 1}")
            case "mod" if power:
                return op(f"and i64 {left}, {int(right) - 1}")
            case "min" | "max":
                test = op(f"icmp {'slt' if atom.name == 'min' else 'sgt'} i64 {left}, {right}")
                return op(f"select i1 {test}, i64 {left}, i64 {right}")
            case _:
                rest = op(f"srem i64 {left}, {right}")
                crossed = op(f"icmp slt i64 {op(f'xor i64 {rest}, {right}')}, 0")
                partial = op(f"icmp ne i64 {rest}, 0")
                fix = op(f"and i1 {crossed}, {partial}")
                if atom.name == "mod":
                    more = op(f"select i1 {fix}, i64 {right}, i64 0")
                    return op(f"add i64 {rest}, {more}")
                less = op(f"zext i1 {fix} to i64")
                return op(f"sub i64 {op(f'sdiv i64 {left}, {right}')}, {less}")

    def compute_functions(self, dim: Dim) -> None:
        """Compute the quotients, remainders and the like of ``dim`` here, for all that follows.

        Not those that take what is not known here, or divide by what might be 0.
        """
        for atom in reversed([*atoms(dim)]):  # those inside others first
            if not isinstance(atom, SymFunc) or atom in self.regs.functions:
                continue
            sides = (atom.left, atom.right)
            known = all(symbols_of(side).keys() <= self.regs.dims.keys() for side in sides)
            divides = atom.name in ("floordiv", "mod") and not isinstance(atom.right, int)
            if known and not divides and not any(computed_in(side) for side in sides):
                self._compute_function(atom)

    def _compute_function(self, atom: SymFunc) -> None:
        self.regs.functions[atom] = self.function.opaque(self._dim_atom(atom), "i64")

    def address(self, buffer: str, offset: Dim) -> str:
        base = self.regs.data[self.program.buffers[buffer].storage]
        if offset == 0:
            return base
        return self.function.op(f"getelementptr i8, ptr {base}, i64 {self.dim(offset)}")

    def mark(self, buffer: str) -> str:
        """What stands behind a load from ``buffer`` or a store to it. See Note [Scalar loops]."""
        return self.regs.marks.get(self.program.buffers[buffer].storage, "")

    # -- atoms

    def atom(self, atom: Atom, dtype: np.dtype, code: Lanes) -> str:
        """The register (or constant) of an atom at the lanes of ``code``."""
        if isinstance(atom, Const):
            return code.const(atom.value, dtype)
        register, lanes = self.regs.atoms[atom]
        if lanes == code.count or code.count == 1:
            return register
        return self.spread(register, dtype, code)

    def spread(self, register: str, dtype: np.dtype, code: Lanes) -> str:
        """One scalar in every lane."""
        kind, scalar = code.type(dtype), scalar_type(dtype)
        first = code.op(f"insertelement {kind} poison, {scalar} {register}, i32 0")
        mask = f"<{code.count} x i32> zeroinitializer"
        return code.op(f"shufflevector {kind} {first}, {kind} poison, {mask}")

    # -- straight-line statements

    def straight(self, stmt: Stmt, code: Lanes) -> None:
        """Load, Compute, Index or Store."""
        match stmt:
            case Load():
                self.regs.atoms[stmt.name] = self.load(stmt, code)
            case Index(name, dtype, value):
                self.regs.atoms[name] = self.index(value, dtype, code)
            case Compute(name, dtype, op, args, arg_dtypes):
                registers = [self.atom(a, d, code) for a, d in zip(args, arg_dtypes, strict=True)]
                place = (registers[0], registers[-1])
                if op == "wrap_index" and place in self.regs.wrapped:
                    self.regs.atoms[name] = (self.regs.wrapped[place], 1)
                    return
                result = SCALAR_RULES[op].emit(code, registers, arg_dtypes, dtype)
                self.regs.atoms[name] = (result, code.count)
                if op == "out_of_bounds" and code.count == 1 and self.regs.marks:
                    self.regs.tests[result] = place
                if op in LOSSES and code.count == 1 and self.regs.marks:
                    self.regs.losses[result] = (stmt, registers)
            case Store():
                self.store(stmt, code)
            case _:
                raise AssertionError(stmt)

    def in_lanes(self, dim: Dim) -> InLanes:
        """``dim`` as it is in the first lane and how it differs in the others."""
        if self.regs.vector is None:
            return InLanes(dim, 0, ())
        start, multiples = split(dim)
        step = step_of(start, self.regs.vector)
        assert step is not None
        apart: list[tuple[str, Dim]] = []
        for atom, factor in multiples:
            register, lanes = self.regs.atoms[atom.name]
            if lanes == 1:
                start = start + computed(atom.name, atom.over) * factor
            else:
                apart.append((register, factor))
        return InLanes(start, step, tuple(apart))

    def load(self, stmt: Load, code: Lanes) -> tuple[str, int]:
        dtype, itemsize = stmt.dtype, stmt.dtype.itemsize
        offset = byte_offset(self.program.buffers[stmt.buffer], stmt.index)
        place = self.in_lanes(offset)
        memory, mark = memory_type(dtype), self.mark(stmt.buffer)
        if code.count == 1 or place.step == 0:
            pointer = self.address(stmt.buffer, offset)
            loaded = code.op(f"load {memory}, ptr {pointer}, align {itemsize}{mark}")
            return self._to_register(loaded, dtype, Lanes(self.function, 1)), 1
        if place.step == itemsize:
            pointer = self.address(stmt.buffer, offset)
            loaded = code.op(f"load {code.of(memory)}, ptr {pointer}, align {itemsize}{mark}")
            return self._to_register(loaded, dtype, code), code.count
        if place.step == -itemsize:
            pointer = self.address(stmt.buffer, offset - (code.count - 1) * itemsize)
            loaded = code.op(f"load {code.of(memory)}, ptr {pointer}, align {itemsize}{mark}")
            loaded = self._reversed(loaded, memory, code)
            return self._to_register(loaded, dtype, code), code.count
        if interleaved.is_part(self.program, stmt):
            return self.numbers.load(stmt, code), code.count
        gathered = "poison"
        for lane, pointer in self.lane_pointers(stmt.buffer, place, code):
            element = code.op(f"load {memory}, ptr {pointer}, align {itemsize}{mark}")
            gathered = code.op(
                f"insertelement {code.of(memory)} {gathered}, {memory} {element}, i32 {lane}"
            )
        return self._to_register(gathered, dtype, code), code.count

    def lane_pointers(self, buffer: str, place: InLanes, code: Lanes) -> Iterator[tuple[int, str]]:
        op = self.function.op
        pointer = self.address(buffer, place.start)
        stride = self.dim(place.known_step)
        factors = [self.dim(factor) for _, factor in place.apart]
        for lane in range(code.count):
            if lane and stride != "0":
                pointer = op(f"getelementptr i8, ptr {pointer}, i64 {stride}")
            there = pointer
            for (register, _), factor in zip(place.apart, factors, strict=True):
                at = op(f"extractelement {code.type(I64)} {register}, i32 {lane}")
                offset = op(f"mul nsw i64 {at}, {factor}")
                there = op(f"getelementptr i8, ptr {there}, i64 {offset}")
            yield lane, there

    def _reversed(self, register: str, memory: str, code: Lanes) -> str:
        kind = code.of(memory)
        mask = ", ".join(f"i32 {lane}" for lane in range(code.count - 1, -1, -1))
        return code.op(
            f"shufflevector {kind} {register}, {kind} poison, <{code.count} x i32> <{mask}>"
        )

    def _to_register(self, loaded: str, dtype: np.dtype, code: Lanes) -> str:
        if dtype.kind != "b":
            return loaded
        zero = "0" if code.count == 1 else "zeroinitializer"
        return code.op(f"icmp ne {code.of('i8')} {loaded}, {zero}")

    def store(self, stmt: Store, code: Lanes) -> None:
        dtype, itemsize = stmt.dtype, stmt.dtype.itemsize
        offset = byte_offset(self.program.buffers[stmt.buffer], stmt.index)
        value = self.atom(stmt.value, dtype, code)
        if dtype.kind == "b":
            value = code.op(f"zext {code.of('i1')} {value} to {code.of('i8')}")
        memory, mark = memory_type(dtype), self.mark(stmt.buffer)
        place = self.in_lanes(offset)
        if code.count == 1:
            pointer = self.address(stmt.buffer, offset)
            self.function.do(f"store {memory} {value}, ptr {pointer}, align {itemsize}{mark}")
            return
        if place.step in (itemsize, -itemsize):
            if place.step == -itemsize:
                value = self._reversed(value, memory, code)
                offset = offset - (code.count - 1) * itemsize
            pointer = self.address(stmt.buffer, offset)
            kind = code.of(memory)
            self.function.do(f"store {kind} {value}, ptr {pointer}, align {itemsize}{mark}")
            return
        for lane, pointer in self.lane_pointers(stmt.buffer, place, code):
            element = code.op(f"extractelement {code.of(memory)} {value}, i32 {lane}")
            self.function.do(f"store {memory} {element}, ptr {pointer}, align {itemsize}{mark}")

    def index(self, value: Dim, dtype: np.dtype, code: Lanes) -> tuple[str, int]:
        """An integer over loop variables, in the lanes if it moves with them."""
        scalar = Lanes(self.function, 1)
        place = self.in_lanes(value)
        start = self.dim(place.start)
        if code.count == 1 or place.step == 0:
            return cast(scalar, (start,), (I64,), dtype), 1
        total = self.spread(start, I64, code)
        lanes = ", ".join(f"i64 {lane}" for lane in range(code.count))
        for offsets, factor in ((f"<{lanes}>", place.known_step), *place.apart):
            if factor != 1:
                by = self.spread(self.dim(factor), I64, code)
                offsets = code.binary("mul", I64, offsets, by)
            total = code.binary("add", I64, total, offsets)
        return cast(code, (total,), (I64,), dtype), code.count

    # -- blocks and loops

    def block(self, block: Sequence[Stmt], lanes: int = 1) -> None:
        """Statements in order."""
        code = Lanes(self.function, lanes)
        self.numbers.clear()
        done = -1
        for number, stmt in enumerate(block):
            pair = interleaved.pair_at(self.program, block, number)
            if number == done or (pair is not None and self.numbers.store(pair, code)):
                done = number + (number != done)
                continue
            match stmt:
                case Loop():
                    self.loop(stmt, lanes)
                case Accumulate():
                    self.accumulate(stmt, code)
                case Check(failed):
                    self.check(failed)
                case Allocate():
                    need = emit_allocate(self, stmt)
                    if self.budget:
                        interrupts.spend(self, self.function.op(f"udiv i64 {need}, {ELEMENT}"))
                case Bind(name, value):
                    self.regs.dims[name] = self.atom(value, I64, code)
                case If():
                    self.branch(stmt)
                case For():
                    self.user_loop(stmt)
                case While():
                    self.while_loop(stmt)
                case Matmul():
                    emit_matmul(self, stmt)
                case Apply():
                    emit_apply(self, stmt)
                case Boxed():
                    emit_call(self, stmt)
                case _:
                    self.straight(stmt, code)
            if isinstance(stmt, Store):
                self.numbers.forget(stmt)
            elif isinstance(stmt, Loop | If | For | While | Matmul | Apply | Boxed):
                self.numbers.clear()

    def accumulate(self, stmt: Accumulate, code: Lanes) -> None:
        if stmt.position is not None:
            self._accumulate_position(stmt, code)
            return
        value = self.atom(stmt.value, stmt.dtype, code)
        total = self.regs.totals[stmt.name]
        groups = max(1, code.count // self.total_lanes) if self.total_lanes else 1
        few = Lanes(self.function, code.count // groups)
        for group in range(groups):  # in order: a lane's total takes every element of its own
            part = value if groups == 1 else code.part(value, stmt.dtype, group, few.count)
            total = combined(stmt, total, part, few)
        self.regs.totals[stmt.name] = total
        self.regs.atoms[stmt.name] = (total, few.count)

    def _accumulate_position(self, stmt: Accumulate, code: Lanes) -> None:
        """argmin, argmax: the first nan wins, else the first extreme."""
        assert stmt.position is not None
        dtype, key = stmt.dtype, f"{stmt.name}@"
        best, where = self.regs.totals[stmt.name], self.regs.totals[key]
        value = self.atom(stmt.value, dtype, code)
        position, lanes = self.index(stmt.position, I64, code)
        if lanes != code.count:
            position = self.spread(position, I64, code)
        better = is_better(code, stmt, value, best)
        none_yet = code.compare("slt", I64, where, code.const(0, I64))
        better = code.binary("or", BOOL, better, none_yet)
        self.regs.totals[stmt.name] = code.select(better, dtype, value, best)
        self.regs.totals[key] = code.select(better, I64, position, where)

    def loop(self, loop: Loop, lanes: int) -> None:
        if any(isinstance(s, Accumulate) and s.is_pairwise for s in loop.body):
            self.pairwise(loop)
            return
        if loop.descending:
            loop = _turned(loop)
        self._hoist_functions(loop)
        wide = lanes_for(self.program, loop) if lanes == 1 else 1
        carried = carried_through(loop)
        outermost = [s for s in carried if s.name not in self.regs.totals]
        for stmt in outermost:
            self._start_total(stmt, lanes)
        if wide > 1:
            self.vector_loop(loop, wide, carried)
        elif loop.behind:
            ends.one_by_one(self, loop)
        else:
            self.plain_loop(loop, lanes, "0", carried)
        for stmt in outermost:
            self._finish_total(stmt, lanes)

    def _start_total(self, stmt: Accumulate, lanes: int) -> None:
        code = Lanes(self.function, lanes)
        self.regs.totals[stmt.name] = self.atom(stmt.init, stmt.dtype, code)
        if stmt.position is not None:
            self.regs.totals[f"{stmt.name}@"] = code.const(-1, I64)

    def _start_lanes(self, stmt: Accumulate, code: Lanes) -> None:
        """Each lane of an order-free total begins with the neutral element."""
        start = neutral(stmt.combine, stmt.dtype)
        self.regs.totals[stmt.name] = code.const(start.value, stmt.dtype)
        if stmt.position is not None:
            self.regs.totals[f"{stmt.name}@"] = code.const(-1, I64)

    def _finish_total(self, stmt: Accumulate, lanes: int) -> None:
        total = self.regs.totals.pop(stmt.name)
        if stmt.position is not None:
            total = self.regs.totals.pop(f"{stmt.name}@")
        self.regs.atoms[stmt.name] = (total, lanes)

    def _keys(self, carried: Sequence[Accumulate]) -> list[tuple[str, np.dtype]]:
        keys = []
        for stmt in carried:
            keys.append((stmt.name, stmt.dtype))
            if stmt.position is not None:
                keys.append((f"{stmt.name}@", I64))
        return keys

    def plain_loop(
        self, loop: Loop, lanes: int, start: str, carried: Sequence[Accumulate], size: str = ""
    ) -> None:
        """``for var in start:size``, one iteration at a time; ``lanes`` are an outer variable's."""
        self.counted(
            loop.var,
            start,
            size or self.dim(loop.size),
            1,
            lanes,
            carried,
            lambda: self.block(loop.body, lanes),
            rest=bool(size),
        )

    def counted(
        self,
        var: str,
        start: str,
        stop: str,
        step: int,
        lanes: int,
        carried: Sequence[Accumulate],
        body: Callable[[], str | None],
        others: Sequence[tuple[str, str]] = (),
        *,
        rest: bool = False,
    ) -> None:
        """The loop itself: ``var`` from ``start`` while below ``stop``, totals carried along.

        So are ``others`` among ``regs.totals``, of these LLVM types.
        ``body`` may give a register: that it is true ends the loop, which then carries no totals.
        ``rest``: it runs what is left of a loop in lanes.
        """
        f, code = self.function, Lanes(self.function, lanes)
        head, inside, done = f.new_label("head"), f.new_label("body"), f.new_label("done")
        before = f.block
        keys = [(key, code.type(dtype)) for key, dtype in self._keys(carried)] + [*others]
        f.do(f"br label %{head}")
        f.start(head)
        counter = f.reserve()
        following = f.reserve()
        place = len(f.lines)
        phis = {key: f.reserve() for key, _ in keys}
        entering = {key: self.regs.totals[key] for key, _ in keys}
        self.regs.totals.update(phis)
        more = f.op(f"icmp slt i64 {counter}, {stop}")
        f.do(f"br i1 {more}, label %{inside}, label %{done}")
        f.start(inside)
        outer = self.regs.copy()
        self.regs.dims[var] = counter
        self.done = done
        leaves = body()
        totals = {key: self.regs.totals[key] for key, _ in keys}
        latch = f.block
        f.lines.append(f"  {following} = add nsw i64 {counter}, {step}")
        latch_mark = finished(self.module) if self.regs.marks and (rest or lanes > 1) else ""
        back = f"br i1 {leaves}, label %{done}, label %{head}" if leaves else f"br label %{head}"
        f.do(back + latch_mark)
        lines = [f"  {counter} = phi i64 [ {start}, %{before} ], [ {following}, %{latch} ]"]
        for key, kind in keys:
            lines.append(
                f"  {phis[key]} = phi {kind} [ {entering[key]}, %{before} ], "
                f"[ {totals[key]}, %{latch} ]"
            )
        f.lines[place:place] = lines
        f.start(done)
        self.regs = outer
        self.regs.totals.update(phis)

    def vector_loop(self, loop: Loop, lanes: int, carried: Sequence[Accumulate]) -> None:
        """Whole vectors first, then the rest one by one."""
        f = self.function
        size = self.dim(loop.size)
        hoisted, body = self._hoist(loop)
        self.block(hoisted)
        rest = loop.size % lanes
        enough = not isinstance(loop.size, int) or loop.size > lanes
        aligned = self._store_to_align(loop, lanes)
        if enough and (rest or aligned is not None) and is_repeatable(self.program, loop):
            self._overlapping(loop, lanes, body, aligned)
            return
        short = len(body) <= ends.SHORT
        if loop.behind or (enough and short and ends.computes_first(self.program, body)):
            ends.ends_first(self, loop, lanes, body, aligned)
            return
        whole = f.op(f"and i64 {size}, {-lanes}")
        scalars = {key: self.regs.totals[key] for key, _ in self._keys(carried)}
        code = Lanes(f, lanes)
        for stmt in carried:
            self._start_lanes(stmt, code)
        self.regs.vector = loop.var
        self.counted(loop.var, "0", whole, lanes, lanes, carried, lambda: self.block(body, lanes))
        self.regs.vector = None
        vectors = {key: self.regs.totals[key] for key, _ in self._keys(carried)}
        self.regs.totals.update(scalars)
        for stmt in carried:
            self._join_lanes(stmt, vectors, code)
        if rest != 0:
            self.plain_loop(replace(loop, body=body), 1, whole, carried, size)

    def _overlapping(
        self, loop: Loop, lanes: int, body: tuple[Stmt, ...], aligned: Store | None
    ) -> None:
        """Vectors only: the last one ends with the loop, and does some iterations once more.

        So does the first, where the others then store to whole cache lines. A loop that may have
        fewer iterations than lanes is run one by one if it has.
        """
        f = self.function
        size, last, stop = self.dim(loop.size), self.dim(loop.size - lanes), self.dim(loop.size)
        shift = "0" if aligned is None else self.past_line(loop, aligned)
        if aligned is not None:
            stop = f.op(f"add nsw i64 {size}, {shift}")
        known = isinstance(loop.size, int)
        if not known:
            wide = f.op(f"icmp sge i64 {size}, {lanes}")
            stop = f.op(f"select i1 {wide}, i64 {stop}, i64 0")

        def block() -> None:
            place = self.regs.dims[loop.var]
            if aligned is not None:
                place = f.op(f"sub nsw i64 {place}, {shift}")
                place = f.op(f"call i64 @llvm.smax.i64(i64 {place}, i64 0)")
            self.regs.dims[loop.var] = f.op(f"call i64 @llvm.smin.i64(i64 {place}, i64 {last})")
            self.block(body, lanes)

        self.module.declare("declare i64 @llvm.smin.i64(i64, i64)")
        self.module.declare("declare i64 @llvm.smax.i64(i64, i64)")
        self.regs.vector = loop.var
        self.counted(loop.var, "0", stop, lanes, lanes, (), block)
        self.regs.vector = None
        if not known:
            start = f.op(f"select i1 {wide}, i64 {size}, i64 0")
            self.plain_loop(replace(loop, body=body), 1, start, (), size)

    def _store_to_align(self, loop: Loop, lanes: int) -> Store | None:
        """The first store to consecutive elements, if the loop is long enough to care."""
        if isinstance(loop.size, int) and loop.size < LONG * lanes:
            return None
        for stmt in loop.body:
            if isinstance(stmt, Store):
                buffer = self.program.buffers[stmt.buffer]
                step = step_of(byte_offset(buffer, stmt.index), loop.var)
                if not isinstance(step, int) or step <= 0 or lanes * step % CACHE_LINE:
                    continue
                if interleaved.is_unit_step(buffer, step):
                    return stmt
        return None

    def past_line(self, loop: Loop, store: Store) -> str:
        """How many elements behind the start of a cache line the first one is stored."""
        f = self.function
        offset = byte_offset(self.program.buffers[store.buffer], store.index)
        pointer = self.address(store.buffer, substitute(offset, {loop.var: 0}))
        address = f.op(f"ptrtoint ptr {pointer} to i64")
        low = f.op(f"and i64 {address}, {CACHE_LINE - 1}")
        return f.op(f"udiv i64 {low}, {step_of(offset, loop.var)}")

    def _hoist_functions(self, loop: Loop) -> None:
        """Compute quotients, remainders and the like before a loop that does not change them."""
        for stmt in walk(loop.body):
            match stmt:
                case Load(buffer=buffer, index=index) | Store(buffer=buffer, index=index):
                    strides = self.program.buffers[buffer].strides
                    if all(isinstance(a, Symbol) for dim in (*index, *strides) for a in atoms(dim)):
                        continue
                    found = atoms(byte_offset(self.program.buffers[buffer], index))
                case Index(value=value):
                    found = atoms(value)
                case _:
                    continue
            fixed = self.regs.dims.keys() - {loop.var}
            for atom in found:
                if isinstance(atom, SymFunc):
                    sides = (atom.left, atom.right)
                    known = all(symbols_of(side).keys() <= fixed for side in sides)
                    if known and not any(computed_in(side) for side in sides):
                        self._compute_function(atom)

    def _hoist(self, loop: Loop) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...]]:
        """What does not change in the loop, and the rest of its body."""
        written = {
            self.program.buffers[s.buffer].storage for s in walk(loop.body) if isinstance(s, Store)
        }
        inside = {s.name for s in walk(loop.body) if isinstance(s, Load | Compute | Index)}
        inside |= {s.name for s in walk(loop.body) if isinstance(s, Accumulate)}
        fixed: list[Stmt] = []
        rest: list[Stmt] = []
        for stmt in loop.body:
            constant_here = not any(a in inside for a in atoms_read(stmt))
            match stmt:
                case Load(buffer=buffer, index=index):
                    constant_here &= not any(loop.var in symbols_of(dim) for dim in index)
                    constant_here &= self.program.buffers[buffer].storage not in written
                case Index(value=value):
                    constant_here &= loop.var not in symbols_of(value)
                case Compute():
                    pass
                case _:
                    constant_here = False
            (fixed if constant_here else rest).append(stmt)
            if constant_here:
                inside.discard(stmt.name)  # type: ignore[union-attr]
        return tuple(fixed), tuple(rest)

    def _join_lanes(self, stmt: Accumulate, vectors: dict[str, str], code: Lanes) -> None:
        """Combine the lanes' totals with the scalar one."""
        keys = dict(self._keys([stmt]))
        total = fold_lanes(stmt, {key: vectors[key] for key in keys}, keys, code)
        scalar = {key: self.regs.totals[key] for key in keys}
        self.regs.totals.update(better_of(stmt, scalar, total, Lanes(self.function, 1)))

    # -- pairwise sums

    def pairwise(self, loop: Loop) -> None:
        """NumPy's pairwise tree: a function for a few elements, one that halves, and calls."""
        f = self.function
        hoisted, body = self._hoist(loop)
        self.block(hoisted)
        totals = [s for s in body if isinstance(s, Accumulate)]
        for stmt in totals:
            if stmt.name not in self.regs.totals:
                self._start_total(stmt, 1)
        tree = PairwiseTree(self, loop, body, totals)
        size = self.dim(loop.size)
        if loop.chunk is None or _fits(loop):
            self._add_part(tree, totals, "0", size)
        else:
            chunk = self.dim(loop.chunk)

            def part() -> None:
                start = self.regs.dims[loop.var]
                left = f.op(f"sub i64 {size}, {start}")
                short = f.op(f"icmp slt i64 {left}, {chunk}")
                count = f.op(f"select i1 {short}, i64 {left}, i64 {chunk}")
                self._add_part(tree, totals, start, count)

            assert isinstance(loop.chunk, int)
            self.counted(loop.var, "0", size, loop.chunk, 1, totals, part)
        for stmt in totals:
            if stmt.levels == 1:
                self._finish_total(stmt, 1)

    def _add_part(
        self, tree: PairwiseTree, totals: Sequence[Accumulate], start: str, count: str
    ) -> None:
        code = Lanes(self.function, 1)
        for stmt, value in zip(totals, tree.call(start, count), strict=True):
            total = combined(stmt, self.regs.totals[stmt.name], value, code)
            self.regs.totals[stmt.name] = total

    # -- control flow

    def check(self, failed: Atom) -> None:
        """Leave the function if the call has to go back to NumPy."""
        f = self.function
        condition = self.atom(failed, BOOL, Lanes(f, 1))
        passed = f.new_label("passed")
        if condition in self.regs.tests:
            place = self.regs.tests[condition]
            if failed in self.passed:
                self.regs.wrapped[place] = place[0]
            else:
                self._look_at(place, passed)
            return
        if condition in self.regs.losses:
            condition = self._look_closer(*self.regs.losses[condition], passed)
        f.do(f"br i1 {condition}, label %{FAILED}, label %{passed}")
        f.start(passed)

    def _look_closer(self, stmt: Compute, registers: Sequence[str], passed: str) -> str:
        """Whether a function has failed, where it is seldom asked: its result is not finite."""
        f, code = self.function, Lanes(self.function, 1)
        closer = f.new_label("closer")
        often = self.module.metadata('!{!"branch_weights", i32 1, i32 1000}')
        value = f"double {registers[-1]}"
        self.module.declare("declare double @llvm.fabs.f64(double)")
        size = f.op(f"call double @llvm.fabs.f64({value})")
        infinite = f.op(f"fcmp ueq double {size}, {code.const(np.inf, F64)}")
        f.do(f"br i1 {infinite}, label %{closer}, label %{passed}, !prof {often}")
        f.start(closer)
        return SCALAR_RULES[stmt.op].emit(code, registers, stmt.arg_dtypes, stmt.dtype)

    def _look_at(self, place: Place, passed: str) -> None:
        """Leave if an index is out of bounds. One that counts from the end takes the longer way."""
        f, (index, size) = self.function, place
        before, other = f.block, f.new_label("other")
        likely = self.module.metadata('!{!"branch_weights", i32 1000, i32 1}')
        inside = f.op(f"icmp ult i64 {index}, {size}")
        f.do(f"br i1 {inside}, label %{passed}, label %{other}, !prof {likely}")
        f.start(other)
        moved = f.op(f"add i64 {index}, {size}")
        inside = f.op(f"icmp ult i64 {moved}, {size}")
        f.do(f"br i1 {inside}, label %{passed}, label %{FAILED}, !prof {likely}")
        f.start(passed)
        ways = f"[ {index}, %{before} ], [ {moved}, %{other} ]"
        self.regs.wrapped[place] = f.op(f"phi i64 {ways}")

    def branch(self, stmt: If) -> None:
        f = self.function
        condition = self.atom(stmt.condition, BOOL, Lanes(f, 1))
        self.either(condition, lambda: self.block(stmt.then), lambda: self.block(stmt.orelse))

    def either(self, condition: str, yes: Callable[[], None], no: Callable[[], None]) -> None:
        """One of two pieces of code, by an ``i1`` register."""
        f = self.function
        then, orelse, done = f.new_label("then"), f.new_label("else"), f.new_label("endif")
        f.do(f"br i1 {condition}, label %{then}, label %{orelse}")
        for label, write in ((then, yes), (orelse, no)):
            f.start(label)
            outer = self.regs.copy()
            write()
            self.regs = outer
            f.do(f"br label %{done}")
        f.start(done)

    def iteration(self, body: Sequence[Stmt], done: str) -> None:
        """The body of a loop of the user's program that may end early, by a jump to ``done``.

        LLVM would make numbers of small branches, and have the next iteration wait for the outcome
        of this one's test. A processor guesses well that a loop goes on.
        """
        start = 0
        for number, stmt in enumerate(body):
            rest = body[number + 1 :]
            if isinstance(stmt, If) and stmt.ends is not None and _is_brief(rest):
                self.block(body[start:number])
                self.leave(stmt, stmt.ends, rest, done)
                start = number + 1
        self.block(body[start:])

    def leave(self, stmt: If, ends: bool, rest: Sequence[Stmt], done: str) -> None:
        """A branch with an arm after which only the rest of the iteration is run."""
        f = self.function
        condition = self.atom(stmt.condition, BOOL, Lanes(f, 1))
        last, on = f.new_label("last"), f.new_label("on")
        then, orelse = (last, on) if ends else (on, last)
        f.do(f"br i1 {condition}, label %{then}, label %{orelse}")
        outer = self.regs.copy()
        f.start(last)
        self.block((*(stmt.then if ends else stmt.orelse), *rest))
        f.do(f"br label %{done}")
        self.regs = outer.copy()
        f.start(on)
        self.block(stmt.orelse if ends else stmt.then)
        self.regs = outer

    def user_loop(self, stmt: For) -> None:
        code = Lanes(self.function, 1)
        lo, hi = self.atom(stmt.lo, I64, code), self.atom(stmt.hi, I64, code)

        in_strips = interrupts.runs_in_strips(stmt)

        def body() -> str | None:
            if not in_strips:
                interrupts.spend_iteration(self, stmt)
            if stmt.leave is None:
                self.block(stmt.body)
                return None
            self.iteration(stmt.body, self.done)
            return self.atom(stmt.leave, BOOL, code)

        def run(start: str, stop: str) -> None:
            self.counted(stmt.var, start, stop, 1, 1, (), body)

        def checked() -> None:
            if in_strips:
                interrupts.in_strips(self, stmt, lo, hi, run)
            else:
                run(lo, hi)

        def unchecked() -> None:
            outer, self.passed = self.passed, self.passed | looks.keys()
            checked()
            self.passed = outer

        looks = extremes.looks(stmt) if stmt.leave is None and self.regs.marks else {}
        with self._scalar_nest(stmt):
            if looks:
                self.either(extremes.are_in_bounds(self, stmt, lo, hi), unchecked, checked)
            else:
                checked()

    def while_loop(self, stmt: While) -> None:
        f = self.function
        head, inside, done = f.new_label("test"), f.new_label("body"), f.new_label("done")
        outer = self.regs.copy()
        with self._scalar_nest(stmt):
            f.do(f"br label %{head}")
            f.start(head)
            self.block(stmt.test)
            condition = self.atom(stmt.condition, BOOL, Lanes(f, 1))
            f.do(f"br i1 {condition}, label %{inside}, label %{done}")
            f.start(inside)
            interrupts.spend_iteration(self, stmt)
            self.iteration(stmt.body, done)
            f.do(f"br label %{head}")
            f.start(done)
        self.regs = outer

    @contextmanager
    def _scalar_nest(self, stmt: For | While) -> Iterator[None]:
        """Around a loop of the user's program. See Note [Scalar loops]."""
        outer = self.in_scalar_nest
        scalar = is_scalar(stmt)
        if scalar and not outer:
            self.function.do(leave_vectors(self.module))
        self.in_scalar_nest = scalar
        yield
        self.in_scalar_nest = outer


def _is_brief(block: Sequence[Stmt]) -> bool:
    """Whether a block may as well be written twice."""
    stmts = tuple(walk(tuple(block)))
    return len(stmts) <= BRIEF and not any(
        isinstance(stmt, Loop | For | While | Matmul | Apply | Boxed | Allocate) for stmt in stmts
    )


def _fits(loop: Loop) -> bool:
    """Whether one chunk holds the whole run, as far as is known now."""
    return isinstance(loop.size, int) and isinstance(loop.chunk, int) and loop.size <= loop.chunk


def _turned(loop: Loop) -> Loop:
    """A descending loop as an ascending one over ``size - 1 - var``."""
    backwards = loop.size - 1 - symbol(loop.var, hint=0)
    body = tuple(rename(stmt, {loop.var: backwards}) for stmt in loop.body)
    return replace(loop, body=body, descending=False)
