"""Straight-line statements in one function: integer expressions, loads, computations, stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.boxed_dtypes import has_gaps, own_bytes
from fxc.ir.later import import_later
from fxc.ir.records import computed_once
from fxc.ir.symbols import Computed, Dim, Symbol, SymFunc, atoms, computed, computed_in, symbols_of

from ..nests.addressing import byte_offset, row_of, split, step_of
from ..nests.bounds import Range, counter_ranges
from ..nests.buffers import F64, I64, Atom, Const
from ..nests.program import Program
from ..nests.statements import Compute, Index, Load, Loop, Stmt, Store, walk
from .casts import cast
from .llvm_text import FunctionText, Lanes, ModuleText, memory_type, scalar_type
from .operator_code import SCALAR_CODE
from .python_failures import LOSSES
from .registers import InLanes, Registers

# See Note [Rooms with one door].
divided = import_later("fxc.lowering.emission.remainders", "divided")

# Note [Lanes]
# Inside a vector loop every name of the loop IR stands for ``lanes`` consecutive iterations of the
# vector variable. A load whose address does not depend on that variable is done once and spread;
# one that moves by the element size is a vector load, and one that moves by a few elements is
# picked from some of those (``apart``); others are gathered element by element (on today's
# processors no slower than a gather instruction). Stores go to memory in the order of the lanes:
# where two of them meet, the last iteration's stays.
# The lanes of a 512-bit register are used whatever the processor has: the back end splits them.


class Elements:
    """What a function is written with, and its statements without control flow."""

    def __init__(
        self, module: ModuleText, function: FunctionText, program: Program, prefix: str
    ) -> None:
        self.module = module
        self.function = function
        self.program = program
        self.costs = program.target.costs
        self.prefix = prefix
        self.regs = Registers()
        self.of_constants: set[str] = set()  # what is made of constants alone
        self.stores = Counter[str]()  # of single elements, by block
        self.is_ignored = False  # what flags are set is not kept, see ``sticky.ignoring``

    # -- dims and addresses

    def dim(self, value: Dim) -> str:
        """An integer expression as an i64 register or constant."""
        if isinstance(value, int):
            return str(value)
        same = self.function.same
        total: str | None = None
        for monomial, coefficient in value.terms:
            term: str | None = None
            factors = [self._dim_atom(atom) for atom in monomial]
            if "0" in factors:  # of a loop that is one vector
                continue
            for factor in factors:
                term = factor if term is None else same(f"mul nsw i64 {term}, {factor}")
            if term is None:
                term = str(coefficient)
            elif coefficient != 1:
                term = same(f"mul nsw i64 {term}, {coefficient}")
            total = term if total is None else same(f"add nsw i64 {total}, {term}")
        return "0" if total is None else total

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
        op = self.function.same
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
                return str(divided(self.function, atom, self.ranges, left, right))

    @computed_once
    def ranges(self) -> dict[str, Range]:
        """The values that the counters of the user's loops take."""
        return counter_ranges(self.program)

    def compute_functions(self, dim: Dim) -> None:
        """Compute the quotients, remainders and the like of ``dim`` here, for all that follows.

        Not those that take what is not known here, or divide by what might be 0.
        """
        for atom in reversed([*atoms(dim)]):  # those inside others first
            if not isinstance(atom, SymFunc) or atom in self.regs.functions:
                continue
            divides = atom.name in ("floordiv", "mod") and not isinstance(atom.right, int)
            if not divides:
                self._compute_function(atom, self.regs.dims.keys())

    def _compute_function(self, atom: SymFunc, known: Set[str]) -> None:
        """Compute it here, if it follows from what is known."""
        sides = (atom.left, atom.right)
        if all(symbols_of(side).keys() <= known and not computed_in(side) for side in sides):
            self.regs.functions[atom] = self.function.opaque(self._dim_atom(atom), "i64")

    def hoist_functions(self, loop: Loop) -> None:
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
                    self._compute_function(atom, fixed)

    def hoist_rows(self, loop: Loop) -> None:
        """Compute where the rows begin that an innermost loop goes along."""
        if any(isinstance(stmt, Loop) for stmt in loop.body):
            return
        known = frozenset(self.regs.dims.keys() - {loop.var})
        rows: dict[tuple[str, Dim], str] = {}
        for stmt in loop.body:
            if isinstance(stmt, Load | Store):
                buffer = self.program.buffers[stmt.buffer]
                row, _ = row_of(byte_offset(buffer, stmt.index), known)
                key = (buffer.storage, row)
                if row != 0 and key not in rows:
                    rows[key] = self.function.opaque(self.address(stmt.buffer, row), "ptr")
        self.regs.rows = rows
        self.regs.known = known

    def address(self, buffer: str, offset: Dim) -> str:
        storage = self.program.buffers[buffer].storage
        base = self.regs.data[storage]
        if self.regs.rows:
            row, rest = row_of(offset, self.regs.known)
            if (storage, row) in self.regs.rows:
                base, offset = self.regs.rows[storage, row], rest
        if offset == 0:
            return base
        return self.function.same(f"getelementptr i8, ptr {base}, i64 {self.dim(offset)}")

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

    def operand(self, atom: Atom, dtype: np.dtype, code: Lanes) -> str:
        """The same to compute with: LLVM knows no nan, with which it left out ``x * 0.0``."""
        is_nan = isinstance(atom, Const) and atom.value != atom.value
        found = self.atom(atom, dtype, code)
        return code.fenced(found, dtype) if is_nan else found

    # -- statements

    def straight(self, stmt: Stmt, code: Lanes) -> None:
        """Load, Compute, Index or Store."""
        match stmt:
            case Load():
                self.regs.atoms[stmt.name] = self.load(stmt, code)
                if self.program.buffers[stmt.buffer].data is not None:
                    self.of_constants.add(stmt.name)
            case Index(name, dtype, value):
                self.regs.atoms[name] = self.index(value, dtype, code)
            case Compute(name, dtype, op, args, arg_dtypes):
                is_marked = code.count == 1 and bool(self.regs.marks)
                if code.count > 1 and dtype.kind in "iu" and self._is_same(args):
                    code = Lanes(self.function, 1)
                registers = self._operands(stmt, code)
                place = (registers[0], registers[-1])
                if op == "wrap_index" and place in self.regs.wrapped:
                    self.regs.atoms[name] = (self.regs.wrapped[place], 1)
                    return
                code.quiet = frozenset() if self.is_ignored else stmt.quiet
                result = SCALAR_CODE[op](code, registers, arg_dtypes, dtype)
                if all(isinstance(x, Const) or x in self.of_constants for x in args):
                    self.of_constants.add(name)
                    if dtype.kind == "f" and arg_dtypes[0].kind != "f":
                        result = code.fenced(result, dtype)  # no constant to compute with
                self.regs.atoms[name] = (result, code.count)
                if op == "out_of_bounds" and is_marked:
                    self.regs.tests[result] = place
                if op == "logical_and" and is_marked:
                    self.regs.conjunctions[result] = place
                large = LOSSES.get(op) if is_marked else None
                if large is not None and arg_dtypes[large[0]] == F64:
                    self.regs.losses[result] = (stmt, registers)
            case Store():
                self.store(stmt, code)
            case _:
                raise AssertionError(stmt)

    def _operands(self, stmt: Compute, code: Lanes) -> list[str]:
        """The registers of what is computed with. LLVM is not to compute with constants itself: it
        would set no flags, and NumPy tells of ``np.zeros(n) / 0.0``.
        """
        pairs = list(zip(stmt.args, stmt.arg_dtypes, strict=True))
        read = self.atom if stmt.op == "where" else self.operand
        found = [read(arg, dtype, code) for arg, dtype in pairs]
        if all(isinstance(arg, Const) for arg, _ in pairs):
            for place in [n for n, (_, dtype) in enumerate(pairs) if dtype.kind == "f"][:1]:
                found[place] = code.fenced(found[place], pairs[place][1])
        return found

    def _is_same(self, args: Sequence[Atom]) -> bool:
        """Whether these are one in all lanes: an int computed of them may say where to read."""
        return all(isinstance(each, Const) or self.regs.atoms[each][1] == 1 for each in args)

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
        dtype, itemsize, buffer = stmt.dtype, stmt.dtype.itemsize, self.program.buffers[stmt.buffer]
        offset, alignment = byte_offset(buffer, stmt.index), buffer.alignment
        place = self.in_lanes(offset)
        memory, mark = memory_type(dtype), self.mark(stmt.buffer)
        if code.count == 1 or place.step == 0:
            pointer = self.address(stmt.buffer, offset)
            loaded = code.op(f"load {memory}, ptr {pointer}, align {alignment}{mark}")
            return self._to_register(loaded, dtype, Lanes(self.function, 1)), 1
        if place.step == itemsize:
            pointer = self.address(stmt.buffer, offset)
            if stmt.ahead:
                self.prefetch(pointer, stmt.ahead, code.count * itemsize)
            loaded = code.op(f"load {code.of(memory)}, ptr {pointer}, align {alignment}{mark}")
            return self._to_register(loaded, dtype, code), code.count
        if place.step == -itemsize:
            pointer = self.address(stmt.buffer, offset - (code.count - 1) * itemsize)
            loaded = code.op(f"load {code.of(memory)}, ptr {pointer}, align {alignment}{mark}")
            loaded = self._reversed(loaded, memory, code)
            return self._to_register(loaded, dtype, code), code.count
        return self._to_register(self.gathered(stmt, place, code), dtype, code), code.count

    def prefetch(self, pointer: str, ahead: int, size: int, *, write: bool = False) -> None:
        """Fetch the cache lines that so many bytes take, so far ahead."""
        self.module.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        for start in range(0, size, self.program.target.line):
            there = self.function.op(f"getelementptr i8, ptr {pointer}, i64 {ahead + start}")
            what = f"ptr {there}, i32 {int(write)}, i32 3, i32 1"
            self.function.do(f"call void @llvm.prefetch.p0({what})")

    def gathered(self, stmt: Load, place: InLanes, code: Lanes) -> str:
        """Elements that stand apart, one for each lane."""
        memory, mark = memory_type(stmt.dtype), self.mark(stmt.buffer)
        gathered, alignment = "poison", self.program.buffers[stmt.buffer].alignment
        for lane, pointer in self.lane_pointers(stmt.buffer, place, code):
            element = code.op(f"load {memory}, ptr {pointer}, align {alignment}{mark}")
            gathered = code.op(
                f"insertelement {code.of(memory)} {gathered}, {memory} {element}, i32 {lane}"
            )
        return gathered

    def lane_pointers(self, buffer: str, place: InLanes, code: Lanes) -> Iterator[tuple[int, str]]:
        op = self.function.op
        pointer = self.address(buffer, place.start)
        stride = self.dim(place.known_step)
        factors = [self.dim(factor) for _, factor in place.apart]
        for lane in range(code.count):
            if lane and stride != "0":
                pointer = op(f"getelementptr i8, ptr {pointer}, i64 {stride}")
            there = pointer
            for number, factor in enumerate(factors):
                one = f"extractelement {code.type(I64)} {place.apart[number][0]}, i32 {lane}"
                at = place.singles[number][lane] if place.singles else op(one)
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
        dtype, itemsize, buffer = stmt.dtype, stmt.dtype.itemsize, self.program.buffers[stmt.buffer]
        offset, alignment = byte_offset(buffer, stmt.index), buffer.alignment
        value = self.stored(stmt, code)
        memory, mark = memory_type(dtype), self.mark(stmt.buffer)
        place = self.in_lanes(offset)
        if code.count == 1:
            pointer = self.address(stmt.buffer, offset)
            if has_gaps(dtype):
                value = self._beside_gaps(value, dtype, f"ptr {pointer}, align {alignment}{mark}")
            self.function.do(f"store {memory} {value}, ptr {pointer}, align {alignment}{mark}")
            self.stores[self.function.block] += 1
            if self.stores[self.function.block] % self.costs.stores_together == 0:
                self.function.do('call void asm sideeffect "", "~{memory}"()')
            return
        if place.step in (itemsize, -itemsize):
            if place.step == -itemsize:
                value = self._reversed(value, memory, code)
                offset = offset - (code.count - 1) * itemsize
            pointer = self.address(stmt.buffer, offset)
            kind = code.of(memory)
            if stmt.ahead:
                self.prefetch(pointer, stmt.ahead, code.count * itemsize, write=True)
            self.function.do(f"store {kind} {value}, ptr {pointer}, align {alignment}{mark}")
            return
        for lane, pointer in self.lane_pointers(stmt.buffer, place, code):
            element = code.op(f"extractelement {code.of(memory)} {value}, i32 {lane}")
            self.function.do(f"store {memory} {element}, ptr {pointer}, align {alignment}{mark}")

    def _beside_gaps(self, value: str, dtype: np.dtype, where: str) -> str:
        """A record with what memory has in the bytes that no field of it has."""
        own = int.from_bytes((own_bytes(dtype) * 255).astype(np.uint8).tobytes(), "little")
        kind, op = memory_type(dtype), self.function.op
        rest = own ^ (1 << 8 * dtype.itemsize) - 1
        kept = op(f"and {kind} {op(f'load {kind}, {where}')}, {rest}")
        return op(f"or {kind} {kept}, {op(f'and {kind} {value}, {own}')}")

    def stored(self, stmt: Store, code: Lanes) -> str:
        """What ``stmt`` stores, as memory holds it."""
        of_loops = self.atom if stmt.index else self.operand
        value = of_loops(stmt.value, stmt.dtype, code)
        if stmt.dtype.kind == "b":
            value = code.op(f"zext {code.of('i1')} {value} to {code.of('i8')}")
        return value

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
                offsets = code.binary("mul", I64, offsets, self.spread(self.dim(factor), I64, code))
            total = code.binary("add", I64, total, offsets)
        return cast(code, (total,), (I64,), dtype), code.count
