"""Loop nests → LLVM text.

The innermost loop that moves along contiguous memory is written with explicit vectors, a scalar
loop does the rest; the optimiser's own vectoriser is not relied on. See Note [Lanes].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace

import numpy as np

from fxc.ir.records import mutable
from fxc.ir.symbols import Dim, SymFunc, symbol, symbols_of

from .addressing import byte_offset, step_of
from .llvm_text import FunctionText, Lanes, ModuleText, constant, memory_type, scalar_type
from .loops import (
    Accumulate,
    Atom,
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
    walk,
)
from .neutral import neutral, nothing
from .products import emit_matmul
from .reduction_order import PAIRWISE_BLOCK, PAIRWISE_LANES
from .scalar_rules import SCALAR_RULES, cast

# Note [Lanes]
# Inside a vector loop every name of the loop IR stands for ``lanes`` consecutive iterations of the
# vector variable. A load whose address does not depend on that variable is done once and spread;
# one that moves by the element size is a vector load; others are gathered element by element.
# The lanes of a 512-bit register are used whatever the processor has: the back end splits them.

VECTOR_BYTES = 64
MOST_LANES = 32
COLUMNS = 4  # vectors of totals of a loop that runs inside a vector loop
SHORT = 8  # a loop of fewer iterations gets no lanes if the loop around it can have them
BOOL = np.dtype(bool)
I64 = np.dtype(np.int64)


@mutable
class Registers:
    """What the names of the loop IR are called in the function being written."""

    atoms: dict[str, tuple[str, int]] = field(default_factory=dict)  # register, lanes
    dims: dict[str, str] = field(default_factory=dict)  # symbols and loop variables
    data: dict[str, str] = field(default_factory=dict)  # storages
    totals: dict[str, str] = field(default_factory=dict)  # accumulators: the current value
    vector: str | None = None  # the variable whose iterations are the lanes

    def copy(self) -> Registers:
        return Registers(
            dict(self.atoms), dict(self.dims), dict(self.data), dict(self.totals), self.vector
        )


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
        if not isinstance(atom, SymFunc):
            return self.regs.dims[atom.name]  # type: ignore[attr-defined]
        left, right = self.dim(atom.left), self.dim(atom.right)
        op = self.function.op
        match atom.name:
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

    def address(self, buffer: str, offset: Dim) -> str:
        base = self.regs.data[self.program.buffers[buffer].storage]
        if offset == 0:
            return base
        return self.function.op(f"getelementptr i8, ptr {base}, i64 {self.dim(offset)}")

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
                result = SCALAR_RULES[op].emit(code, registers, arg_dtypes, dtype)
                self.regs.atoms[name] = (result, code.count)
            case Store():
                self.store(stmt, code)
            case _:
                raise AssertionError(stmt)

    def step(self, offset: Dim) -> Dim | None:
        """By how many bytes ``offset`` grows from lane to lane."""
        return 0 if self.regs.vector is None else step_of(offset, self.regs.vector)

    def load(self, stmt: Load, code: Lanes) -> tuple[str, int]:
        dtype, itemsize = stmt.dtype, stmt.dtype.itemsize
        offset = byte_offset(self.program.buffers[stmt.buffer], stmt.index)
        step = self.step(offset)
        memory = memory_type(dtype)
        if code.count == 1 or step == 0:
            pointer = self.address(stmt.buffer, offset)
            loaded = code.op(f"load {memory}, ptr {pointer}, align {itemsize}")
            return self._to_register(loaded, dtype, Lanes(self.function, 1)), 1
        if step == itemsize:
            pointer = self.address(stmt.buffer, offset)
            loaded = code.op(f"load {code.of(memory)}, ptr {pointer}, align {itemsize}")
            return self._to_register(loaded, dtype, code), code.count
        if step == -itemsize:
            pointer = self.address(stmt.buffer, offset - (code.count - 1) * itemsize)
            loaded = code.op(f"load {code.of(memory)}, ptr {pointer}, align {itemsize}")
            loaded = self._reversed(loaded, memory, code)
            return self._to_register(loaded, dtype, code), code.count
        gathered = "poison"
        for lane, pointer in self._lane_pointers(stmt.buffer, offset, code):
            element = code.op(f"load {memory}, ptr {pointer}, align {itemsize}")
            gathered = code.op(
                f"insertelement {code.of(memory)} {gathered}, {memory} {element}, i32 {lane}"
            )
        return self._to_register(gathered, dtype, code), code.count

    def _lane_pointers(self, buffer: str, offset: Dim, code: Lanes) -> Iterator[tuple[int, str]]:
        step = self.step(offset)
        assert step is not None
        pointer = self.address(buffer, offset)
        stride = self.dim(step)
        for lane in range(code.count):
            yield lane, pointer
            if lane + 1 < code.count:
                pointer = self.function.op(f"getelementptr i8, ptr {pointer}, i64 {stride}")

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
        memory = memory_type(dtype)
        step = self.step(offset)
        if code.count == 1:
            pointer = self.address(stmt.buffer, offset)
            self.function.do(f"store {memory} {value}, ptr {pointer}, align {itemsize}")
            return
        if step in (itemsize, -itemsize):
            if step == -itemsize:
                value = self._reversed(value, memory, code)
                offset = offset - (code.count - 1) * itemsize
            pointer = self.address(stmt.buffer, offset)
            kind = code.of(memory)
            self.function.do(f"store {kind} {value}, ptr {pointer}, align {itemsize}")
            return
        for lane, pointer in self._lane_pointers(stmt.buffer, offset, code):
            element = code.op(f"extractelement {code.of(memory)} {value}, i32 {lane}")
            self.function.do(f"store {memory} {element}, ptr {pointer}, align {itemsize}")

    def index(self, value: Dim, dtype: np.dtype, code: Lanes) -> tuple[str, int]:
        """An integer over loop variables, in the lanes if it moves with them."""
        scalar = Lanes(self.function, 1)
        start = self.dim(value)
        step = self.step(value)
        if code.count == 1 or step == 0:
            return cast(scalar, (start,), (I64,), dtype), 1
        assert step is not None
        base = self.spread(start, I64, code)
        lanes = ", ".join(f"i64 {lane}" for lane in range(code.count))
        offsets = f"<{lanes}>"
        if step != 1:
            offsets = code.binary("mul", I64, offsets, self.spread(self.dim(step), I64, code))
        return cast(code, (code.binary("add", I64, base, offsets),), (I64,), dtype), code.count

    def combine(
        self, stmt: Accumulate, left: str, right: str, code: Lanes, dtype: np.dtype | None = None
    ) -> str:
        kind = dtype or stmt.dtype
        return SCALAR_RULES[stmt.combine].emit(code, (left, right), (kind, kind), kind)

    # -- blocks and loops

    def block(self, block: Sequence[Stmt], lanes: int = 1) -> None:
        """Statements in order."""
        code = Lanes(self.function, lanes)
        for stmt in block:
            match stmt:
                case Loop():
                    self.loop(stmt, lanes)
                case Accumulate():
                    self.accumulate(stmt, code)
                case If():
                    self.branch(stmt)
                case For():
                    self.user_loop(stmt)
                case Matmul():
                    emit_matmul(self, stmt)
                case _:
                    self.straight(stmt, code)

    def accumulate(self, stmt: Accumulate, code: Lanes) -> None:
        if stmt.position is not None:
            self._accumulate_position(stmt, code)
            return
        value = self.atom(stmt.value, stmt.dtype, code)
        total = self.combine(stmt, self.regs.totals[stmt.name], value, code)
        self.regs.totals[stmt.name] = total
        self.regs.atoms[stmt.name] = (total, code.count)

    def _accumulate_position(self, stmt: Accumulate, code: Lanes) -> None:
        """argmin, argmax: the first nan wins, else the first extreme."""
        assert stmt.position is not None
        dtype, key = stmt.dtype, f"{stmt.name}@"
        best, where = self.regs.totals[stmt.name], self.regs.totals[key]
        value = self.atom(stmt.value, dtype, code)
        position, lanes = self.index(stmt.position, I64, code)
        if lanes != code.count:
            position = self.spread(position, I64, code)
        better = _is_better(code, stmt, value, best)
        none_yet = code.compare("slt", I64, where, code.const(0, I64))
        better = code.binary("or", BOOL, better, none_yet)
        self.regs.totals[stmt.name] = code.select(better, dtype, value, best)
        self.regs.totals[key] = code.select(better, I64, position, where)

    def loop(self, loop: Loop, lanes: int) -> None:
        if any(isinstance(s, Accumulate) and s.order == "pairwise" for s in loop.body):
            self.pairwise(loop)
            return
        if loop.descending:
            loop = _turned(loop)
        wide = self.lanes_for(loop) if lanes == 1 else 1
        carried = _carried(loop)
        outermost = [s for s in carried if s.name not in self.regs.totals]
        for stmt in outermost:
            self._start_total(stmt, lanes)
        if wide > 1:
            self.vector_loop(loop, wide, carried)
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
        )

    def counted(
        self,
        var: str,
        start: str,
        stop: str,
        step: int,
        lanes: int,
        carried: Sequence[Accumulate],
        body: Callable[[], None],
    ) -> None:
        """The loop itself: ``var`` from ``start`` while below ``stop``, totals carried along."""
        f, code = self.function, Lanes(self.function, lanes)
        head, inside, done = f.new_label("head"), f.new_label("body"), f.new_label("done")
        before = f.block
        keys = self._keys(carried)
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
        body()
        totals = {key: self.regs.totals[key] for key, _ in keys}
        latch = f.block
        f.lines.append(f"  {following} = add nsw nuw i64 {counter}, {step}")
        f.do(f"br label %{head}")
        lines = [f"  {counter} = phi i64 [ {start}, %{before} ], [ {following}, %{latch} ]"]
        for key, dtype in keys:
            kind = code.type(dtype)
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
        self.plain_loop(replace(loop, body=body), 1, whole, carried, size)

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
            match stmt:
                case Load(buffer=buffer, index=index):
                    moves = any(loop.var in symbols_of(dim) for dim in index)
                    constant_here = not moves and (
                        self.program.buffers[buffer].storage not in written
                    )
                case Index(value=value):
                    constant_here = loop.var not in symbols_of(value)
                case Compute(args=args):
                    constant_here = not any(a in inside for a in args if isinstance(a, str))
                case _:
                    constant_here = False
            (fixed if constant_here else rest).append(stmt)
            if constant_here:
                inside.discard(stmt.name)  # type: ignore[union-attr]
        return tuple(fixed), tuple(rest)

    def _join_lanes(self, stmt: Accumulate, vectors: dict[str, str], code: Lanes) -> None:
        """Combine the lanes' totals with the scalar one."""
        scalar = Lanes(self.function, 1)
        for lane in range(code.count):
            values = {}
            for key, dtype in self._keys([stmt]):
                kind = code.type(dtype)
                values[key] = code.op(f"extractelement {kind} {vectors[key]}, i32 {lane}")
            if stmt.position is not None:
                self._join_position(stmt, values, scalar)
            else:
                total = self.regs.totals[stmt.name]
                self.regs.totals[stmt.name] = self.combine(stmt, total, values[stmt.name], scalar)

    def _join_position(self, stmt: Accumulate, values: dict[str, str], code: Lanes) -> None:
        """Of two positions the better; of equally good ones the first."""
        dtype, key = stmt.dtype, f"{stmt.name}@"
        best, where = self.regs.totals[stmt.name], self.regs.totals[key]
        value, position = values[stmt.name], values[key]
        better = _is_better(code, stmt, value, best)
        worse = _is_better(code, stmt, best, value)
        tie = code.op(f"xor i1 {code.binary('or', BOOL, better, worse)}, true")
        earlier = code.compare("ult", I64, position, where)
        better = code.binary("or", BOOL, better, code.binary("and", BOOL, tie, earlier))
        unset = code.compare("slt", I64, where, "0")
        known = code.compare("sge", I64, position, "0")
        better = code.binary("or", BOOL, better, unset)
        better = code.binary("and", BOOL, better, known)
        self.regs.totals[stmt.name] = code.select(better, dtype, value, best)
        self.regs.totals[key] = code.select(better, I64, position, where)

    # -- how many lanes

    def lanes_for(self, loop: Loop) -> int:
        """How many iterations of ``loop`` to run at once; 1 if it is not to be vectorised."""
        if isinstance(loop.size, int) and loop.size < 4:
            return 1
        survey = Survey(self.program, loop)
        if not survey.possible or not survey.pays:
            return 1
        lanes = VECTOR_BYTES // survey.widest
        if survey.inner and not survey.all_short:  # a few totals at once hide the latency of each
            lanes *= COLUMNS
        return min(MOST_LANES, lanes)

    # -- pairwise sums

    def pairwise(self, loop: Loop) -> None:
        """NumPy's pairwise tree: a function for up to 128 elements, one that halves, and calls."""
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
            total = self.combine(stmt, self.regs.totals[stmt.name], value, code)
            self.regs.totals[stmt.name] = total

    # -- control flow

    def branch(self, stmt: If) -> None:
        f = self.function
        condition = self.atom(stmt.condition, BOOL, Lanes(f, 1))
        yes, no, done = f.new_label("then"), f.new_label("else"), f.new_label("endif")
        f.do(f"br i1 {condition}, label %{yes}, label %{no}")
        for label, block in ((yes, stmt.then), (no, stmt.orelse)):
            f.start(label)
            outer = self.regs.copy()
            self.block(block)
            self.regs = outer
            f.do(f"br label %{done}")
        f.start(done)

    def user_loop(self, stmt: For) -> None:
        code = Lanes(self.function, 1)
        lo, hi = self.atom(stmt.lo, I64, code), self.atom(stmt.hi, I64, code)
        self.counted(stmt.var, lo, hi, 1, 1, (), lambda: self.block(stmt.body))


def _is_better(code: Lanes, stmt: Accumulate, value: str, best: str) -> str:
    dtype = stmt.dtype
    greater = stmt.combine == "maximum"
    if dtype.kind == "f":
        better = code.compare("ogt" if greater else "olt", dtype, value, best)
        is_nan = code.compare("uno", dtype, value, value)
        was_number = code.compare("ord", dtype, best, best)
        return code.binary("or", BOOL, better, code.binary("and", BOOL, is_nan, was_number))
    if dtype.kind == "b":
        flipped = code.binary("xor", BOOL, best if greater else value, code.const(True, BOOL))
        return code.binary("and", BOOL, value if greater else best, flipped)
    sign = "s" if dtype.kind == "i" else "u"
    return code.compare(sign + ("gt" if greater else "lt"), dtype, value, best)


def _carried(loop: Loop) -> list[Accumulate]:
    """The accumulators whose total is carried through ``loop``."""
    found: list[Accumulate] = []

    def visit(block: Sequence[Stmt], depth: int) -> None:
        for stmt in block:
            if isinstance(stmt, Accumulate) and stmt.levels >= depth:
                found.append(stmt)
            elif isinstance(stmt, Loop):
                visit(stmt.body, depth + 1)

    visit(loop.body, 1)
    return found


def _is_scan(loop: Loop) -> bool:
    return any(isinstance(s, Accumulate) for s in loop.body)


def _fits(loop: Loop) -> bool:
    """Whether one chunk holds the whole run, as far as is known now."""
    return isinstance(loop.size, int) and isinstance(loop.chunk, int) and loop.size <= loop.chunk


def _turned(loop: Loop) -> Loop:
    """A descending loop as an ascending one over ``size - 1 - var``."""
    from .fuse import rename

    backwards = loop.size - 1 - symbol(loop.var, hint=0)
    body = tuple(rename(stmt, {loop.var: backwards}) for stmt in loop.body)
    return replace(loop, body=body, descending=False)


def _typed_atoms(stmt: Stmt) -> Iterator[tuple[Atom, np.dtype]]:
    match stmt:
        case Compute(args=args, arg_dtypes=dtypes):
            yield from zip(args, dtypes, strict=True)
        case Store(value=value, dtype=dtype) | Accumulate(value=value, dtype=dtype):
            yield value, dtype


class Survey:
    """What running the iterations of a loop in lanes would mean.

    ``along`` counts accesses that move by one element from lane to lane, ``across`` those that
    are gathered or scattered, ``work`` the operations that gain.
    """

    def __init__(self, program: Program, loop: Loop) -> None:
        self.program = program
        self.loop = loop
        self.inner = [s for s in walk(loop.body) if isinstance(s, Loop)]
        self.direct = {id(s) for s in loop.body}
        self.widest = 1
        self.along = self.across = self.better_inside = self.work = 0
        self.possible = all(self.visit(stmt) for stmt in walk(loop.body))

    @property
    def pays(self) -> bool:
        """Whether lanes of this loop are better than those of a loop inside, or none."""
        if self.inner and not self.all_short and self.better_inside >= self.along:
            return False
        return self.across <= 2 * self.along or self.work >= 8 * self.across

    @property
    def all_short(self) -> bool:
        """Whether the loops inside are too short for lanes of their own."""
        return all(isinstance(i.size, int) and i.size < SHORT for i in self.inner)

    def visit(self, stmt: Stmt) -> bool:
        """Take a statement into account; False if it rules lanes out."""
        match stmt:
            case Load():
                return self.access(stmt)
            case Store():
                return self.access(stmt) and self.step(stmt) != 0
            case Compute(op=op, dtype=dtype, arg_dtypes=arg_dtypes):
                self.widen(dtype, *arg_dtypes)
                self.work += SCALAR_RULES[op].cost
                return True
            case Index(value=value):
                self.widest = 8
                return step_of(value, self.loop.var) is not None
            case Accumulate():
                return self.accumulate(stmt)
            case Loop():
                return not stmt.ordered or _is_scan(stmt)
            case _:
                return False

    def widen(self, *dtypes: np.dtype) -> None:
        self.widest = max(self.widest, *(dtype.itemsize for dtype in dtypes))

    def step(self, stmt: Load | Store) -> Dim | None:
        return step_of(byte_offset(self.program.buffers[stmt.buffer], stmt.index), self.loop.var)

    def access(self, stmt: Load | Store) -> bool:
        self.widen(stmt.dtype)
        unit = (stmt.dtype.itemsize, -stmt.dtype.itemsize)
        offset = byte_offset(self.program.buffers[stmt.buffer], stmt.index)
        step = step_of(offset, self.loop.var)
        self.along += step in unit
        self.across += step not in unit and step != 0
        self.better_inside += any(step_of(offset, i.var) in unit for i in self.inner)
        return step is not None

    def accumulate(self, stmt: Accumulate) -> bool:
        self.widen(stmt.dtype)
        if stmt.position is not None:
            self.widest = 8
            if step_of(stmt.position, self.loop.var) is None:
                return False
        if self.inner:  # the total of a loop inside is one for each lane, if it ends there
            return (
                stmt.order != "pairwise" and id(stmt) not in self.direct and not self.carries(stmt)
            )
        return stmt.order == "any"

    def carries(self, stmt: Accumulate) -> bool:
        return any(each is stmt for each in _carried(self.loop))


class PairwiseTree:
    """The two functions that sum a run pairwise; see Note [Pairwise sums] in reduction_order.

    What the body reads from outside (data pointers, sizes, outer loop variables, scalars) are
    their parameters.
    """

    def __init__(
        self, emitter: Emitter, loop: Loop, body: Sequence[Stmt], totals: Sequence[Accumulate]
    ) -> None:
        self.emitter = emitter
        self.loop = loop
        self.body = tuple(s for s in body if not isinstance(s, Accumulate))
        self.totals = totals
        self.name = f"{emitter.prefix}.sum{len(emitter.module.functions)}"
        self.params = self._outside()
        kinds = [scalar_type(s.dtype) for s in totals]
        self.type = kinds[0] if len(kinds) == 1 else f"{{ {', '.join(kinds)} }}"
        self._write_leaf()
        self._write_tree()

    def _outside(self) -> list[tuple[str, str, str, str]]:
        """(group, name, LLVM type, register in the caller) of what the body reads."""
        emitter = self.emitter
        regs, buffers = emitter.regs, emitter.program.buffers
        inside = {s.name for s in self.body if isinstance(s, Load | Compute | Index)}
        dims: dict[str, None] = {}
        storages: dict[str, None] = {}
        atoms: dict[str, np.dtype] = {}
        for stmt in (*self.body, *self.totals):
            match stmt:
                case Load(buffer=buffer, index=index) | Store(buffer=buffer, index=index):
                    storages[buffers[buffer].storage] = None
                    offset = byte_offset(buffers[buffer], index)
                    dims.update(dict.fromkeys(symbols_of(offset)))
                case Index(value=value):
                    dims.update(dict.fromkeys(symbols_of(value)))
            for atom, dtype in _typed_atoms(stmt):
                if isinstance(atom, str) and atom not in inside:
                    atoms[atom] = dtype
        dims.pop(self.loop.var, None)
        found = [("data", s, "ptr", regs.data[s]) for s in storages]
        found += [("dims", d, "i64", regs.dims[d]) for d in dims]
        found += [("atoms", a, scalar_type(t), regs.atoms[a][0]) for a, t in atoms.items()]
        return found

    def _header(self, name: str) -> str:
        given = "".join(f", {kind} %p{i}" for i, (_, _, kind, _) in enumerate(self.params))
        return f"define internal {self.type} @{name}(i64 %lo, i64 %n{given}) nounwind {{"

    def _arguments(self, own: bool) -> str:
        return "".join(
            f", {kind} {f'%p{i}' if own else register}"
            for i, (_, _, kind, register) in enumerate(self.params)
        )

    def call(self, start: str, count: str) -> list[str]:
        """Call the tree from the emitter's function; the sums."""
        f = self.emitter.function
        result = f.op(
            f"call {self.type} @{self.name}(i64 {start}, i64 {count}{self._arguments(False)})"
        )
        return self._parts(f, result)

    def _parts(self, f: FunctionText, result: str) -> list[str]:
        if len(self.totals) == 1:
            return [result]
        return [f.op(f"extractvalue {self.type} {result}, {i}") for i in range(len(self.totals))]

    def _return(self, f: FunctionText, sums: Sequence[str]) -> None:
        if len(sums) == 1:
            f.do(f"ret {self.type} {sums[0]}")
            return
        whole = "poison"
        for i, (stmt, value) in enumerate(zip(self.totals, sums, strict=True)):
            kind = scalar_type(stmt.dtype)
            whole = f.op(f"insertvalue {self.type} {whole}, {kind} {value}, {i}")
        f.do(f"ret {self.type} {whole}")

    def _inner_emitter(self, f: FunctionText) -> Emitter:
        outer = self.emitter
        inner = Emitter(outer.module, f, outer.program, outer.prefix)
        groups = {"data": inner.regs.data, "dims": inner.regs.dims}
        for i, (group, name, _, _) in enumerate(self.params):
            if group == "atoms":
                inner.regs.atoms[name] = (f"%p{i}", 1)
            else:
                groups[group][name] = f"%p{i}"
        return inner

    def _write_leaf(self) -> None:
        """Up to 128 elements: eight lanes over whole groups of eight, then the rest in order."""
        f = FunctionText(self.emitter.module)
        inner = self._inner_emitter(f)
        code = Lanes(f, PAIRWISE_LANES)
        end = f.op("add i64 %lo, %n")
        groups = f.op(f"and i64 %n, {-PAIRWISE_LANES}")
        middle = f.op(f"add i64 %lo, {groups}")
        few = f.op(f"icmp slt i64 %n, {PAIRWISE_LANES}")
        many, join = f.new_label("many"), f.new_label("join")
        start = f.block
        f.do(f"br i1 {few}, label %{join}, label %{many}")
        f.start(many)
        lanes = [
            Accumulate(s.name, s.dtype, s.combine, s.value, s.init, "any") for s in self.totals
        ]
        for stmt in lanes:
            zero = nothing(stmt.combine, stmt.dtype).value
            inner.regs.totals[stmt.name] = code.const(zero, stmt.dtype)
        inner.regs.vector = self.loop.var
        block = (*self.body, *lanes)
        inner.counted(
            self.loop.var,
            "%lo",
            middle,
            PAIRWISE_LANES,
            PAIRWISE_LANES,
            lanes,
            lambda: inner.block(block, PAIRWISE_LANES),
        )
        inner.regs.vector = None
        sums = [self._fold(inner, stmt, inner.regs.totals[stmt.name], code) for stmt in lanes]
        last = f.block
        f.do(f"br label %{join}")
        f.start(join)
        for stmt, value in zip(lanes, sums, strict=True):
            kind = scalar_type(stmt.dtype)
            zero = nothing(stmt.combine, stmt.dtype).value
            empty = constant(zero, stmt.dtype)
            inner.regs.totals[stmt.name] = f.op(
                f"phi {kind} [ {empty}, %{start} ], [ {value}, %{last} ]"
            )
        inner.counted(self.loop.var, middle, end, 1, 1, lanes, lambda: inner.block(block))
        self._return(f, [inner.regs.totals[stmt.name] for stmt in lanes])
        header = self._header(f"{self.name}.leaf")
        self.emitter.module.functions.append("\n".join([header, "entry:", *f.lines, "}"]))

    def _fold(self, inner: Emitter, stmt: Accumulate, vector: str, code: Lanes) -> str:
        """((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))."""
        kind, scalar = code.type(stmt.dtype), Lanes(code.function, 1)
        parts = [
            code.op(f"extractelement {kind} {vector}, i32 {lane}") for lane in range(code.count)
        ]
        while len(parts) > 1:
            parts = [
                inner.combine(stmt, parts[i], parts[i + 1], scalar) for i in range(0, len(parts), 2)
            ]
        return parts[0]

    def _write_tree(self) -> None:
        f = FunctionText(self.emitter.module)
        small = f.op(f"icmp sle i64 %n, {PAIRWISE_BLOCK}")
        f.do(f"br i1 {small}, label %leaf, label %halves")
        f.start("leaf")
        given = self._arguments(True)
        f.do(f"%all = call {self.type} @{self.name}.leaf(i64 %lo, i64 %n{given})")
        f.do(f"ret {self.type} %all")
        f.start("halves")
        half = f.op(f"and i64 {f.op('lshr i64 %n, 1')}, {-PAIRWISE_LANES}")
        rest = f.op(f"sub i64 %n, {half}")
        middle = f.op(f"add i64 %lo, {half}")
        left = f.op(f"call {self.type} @{self.name}(i64 %lo, i64 {half}{given})")
        right = f.op(f"call {self.type} @{self.name}(i64 {middle}, i64 {rest}{given})")
        lefts, rights = self._parts(f, left), self._parts(f, right)
        code = Lanes(f, 1)
        inner = self._inner_emitter(f)
        sums = [
            inner.combine(stmt, a, b, code)
            for stmt, a, b in zip(self.totals, lefts, rights, strict=True)
        ]
        self._return(f, sums)
        self.emitter.module.functions.append(
            "\n".join([self._header(self.name), "entry:", *f.lines, "}"])
        )
