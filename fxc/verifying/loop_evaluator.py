"""Running loop nests with NumPy, statement by statement: what a ``Program`` means.

``evaluate`` takes the inputs of a graph and gives the contents of its results; what is stored to an
input is in it afterwards. A loop that is not ordered may run in any order: ``backwards`` runs all
of them so, and a step of scheduling that relies on their order gives other numbers then. The
iterations of a parallel loop run side by side, each statement by all of them before the next one.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from fxc.ir.errors import WouldRaise
from fxc.ir.evaluate import evaluate as mean
from fxc.ir.records import field, mutable
from fxc.ir.size_functions import evaluate as number
from fxc.ir.size_functions import rename_computed
from fxc.ir.symbols import Dim, computed_in, plain_symbol
from fxc.lowering.nests.boxed_args import BufferArg, InputArg
from fxc.lowering.nests.buffers import Atom, Buffer, Const
from fxc.lowering.nests.program import Param, Program
from fxc.lowering.nests.statements import (
    Accumulate,
    Allocate,
    Apply,
    Bind,
    Boxed,
    Check,
    Compute,
    For,
    If,
    Index,
    Load,
    Loop,
    Matmul,
    Stmt,
    Store,
    While,
    blocks_of,
)
from fxc.lowering.nests.together import Sums, Together
from fxc.lowering.operators.einsum_order import added_up
from fxc.lowering.operators.python_rules import FAILING
from fxc.lowering.operators.scalar_rules import COMPLEX_MATH
from fxc.ops.kernels import kernel_of

Waiting = tuple[np.ndarray, tuple[int, ...], Any]
FAILS = " fails"  # behind the name of an operator: whether it raises for the arguments


def evaluate(
    program: Program,
    inputs: Sequence[Any],
    *,
    backwards: bool = False,
    seconds: float = math.inf,
) -> list[np.ndarray]:
    """The results of a program. Raises ``TimeoutError`` if it takes more ``seconds`` than these."""
    run = _Run(program, backwards, time.perf_counter() + seconds)
    for name, given in zip(program.inputs, inputs, strict=True):
        param = next((each for each in program.params if each.name == name), None)
        if param is not None:
            run.scalars[name] = _part(param, given)
            if param.dtype.kind in "iu":
                run.sizes[name] = int(given)
            continue
        run.memory[name] = given
        buffer = program.buffers[name]
        for dims, known in ((buffer.shape, given.shape), (buffer.strides, given.strides)):
            run.sizes |= {
                symbol: value
                for dim, value in zip(dims, known, strict=False)
                if (symbol := plain_symbol(dim)) is not None
            }
    run.given = inputs
    run.block(program.body)
    return [run.array(name) for name in program.results]


def _part(param: Param, given: Any) -> Any:
    return param.dtype.type(getattr(given, param.part) if param.part else given)


@mutable
class _Run:
    program: Program
    backwards: bool
    until: float
    scalars: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # of symbols, loop variables among them
    memory: dict[str, Any] = field(default_factory=dict)  # by storage
    waiting: list[list[Waiting]] | None = None  # to be stored
    extremes: dict[str, Any] = field(default_factory=dict)  # of totals that are their places
    given: Sequence[Any] = ()  # the inputs

    def dim(self, dim: Dim) -> int:
        known: dict[str, str | int] = {name: int(self.scalars[name]) for name in computed_in(dim)}
        return number(rename_computed(dim, known) if known else dim, self.sizes)

    def atom(self, atom: Atom) -> Any:
        return atom.dtype.type(atom.value) if isinstance(atom, Const) else self.scalars[atom]

    def array(self, name: str) -> np.ndarray:
        buffer = self.program.buffers[name]
        shape = tuple(map(self.dim, buffer.shape))
        if buffer.role == "constant":
            return np.ndarray(shape, buffer.dtype, buffer.data, self.dim(buffer.offset))
        if buffer.role == "input" and buffer.storage == name:
            given: np.ndarray = self.memory[name]
            return given
        if buffer.storage not in self.memory:
            self.memory[buffer.storage] = self._new(buffer)
        strides = tuple(map(self.dim, buffer.strides))
        memory, start = _bytes_of(self.memory[buffer.storage])
        return np.ndarray(shape, buffer.dtype, memory, start + self.dim(buffer.offset), strides)

    def _new(self, buffer: Buffer) -> np.ndarray:
        """Memory full of what nobody should read."""
        readings = [b for b in self.program.buffers.values() if b.storage == buffer.storage]
        extents = [
            self.dim(b.offset)
            + b.dtype.itemsize
            + sum(
                (self.dim(size) - 1) * self.dim(step)
                for size, step in zip(b.shape, b.strides, strict=True)
            )
            for b in readings
        ]
        return np.full(max(extents), 0xEE, np.uint8)

    def block(self, block: Sequence[Stmt]) -> None:
        for stmt in block:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        """Run one statement; it has so many lines because there are so many kinds."""
        match stmt:
            case Load(name, _, buffer, index):
                self.scalars[name] = self.array(buffer)[tuple(map(self.dim, index))]
            case Store(buffer, index, value):
                self.store(self.array(buffer), tuple(map(self.dim, index)), self.atom(value))
            case Compute(name, dtype, op, args):
                self.scalars[name] = _computed(op, dtype, [self.atom(arg) for arg in args])
            case Index(name, dtype, value):
                self.scalars[name] = dtype.type(self.dim(value))
            case Accumulate(name, _, combine, value, position=position):
                if position is not None:
                    self.extreme(stmt, self.dim(position))
                    return
                total = kernel_of(combine)(self.scalars[name], self.atom(value))
                self.scalars[name] = total
            case Check(failed):
                if self.atom(failed):
                    raise WouldRaise("a check fails")
            case Bind(name, value):
                self.sizes[name] = int(self.atom(value))
            case Allocate():
                pass
            case Matmul():
                self.product(stmt)
            case Apply("sort", out, keys=None):
                self.array(out).sort(-1)
            case Apply(function, out, keys=None):
                self.array(out)[...] = kernel_of(function)(self.array(out))
            case Boxed(op, args, outs, graph=graph):
                given = [self.boxed(arg) for arg in args]
                made = kernel_of(op)(*given) if graph is None else mean(graph, given, kernel_of)
                made = made[0] if graph is not None and len(outs) == 1 else made
                for name, new in zip(outs, made if len(outs) > 1 else (made,), strict=True):
                    self.array(name)[...] = new
            case Loop():
                self.loop(stmt)
            case If(condition, then, orelse):
                self.block(then if self.atom(condition) else orelse)
            case For(var, lo, hi, body, leave=leave):
                for k in range(int(self.atom(lo)), int(self.atom(hi))):
                    self.sizes[var] = k
                    self.block(body)
                    if leave is not None and self.atom(leave):
                        break
            case While(test, condition, body):
                self.block(test)
                while self.atom(condition):
                    self.block(body)
                    self.block(test)
            case _:
                raise NotImplementedError(stmt)

    def product(self, stmt: Matmul) -> None:
        """One product of matrices, of stacks of them, or of several vectors by one matrix."""
        if stmt.done is not None and stmt.begun is None:
            return  # what it begins is added up as a whole
        x, y, out = (self.array(name) for name in (stmt.x, stmt.y, stmt.out))
        match stmt:
            case Matmul(together=Together(fewer=fewer)):
                for place, vector in enumerate(x):
                    behind = place * fewer
                    out[place, :, behind:] = np.matmul(vector, y[:, behind:])
            case Matmul(sums=Sums() as sums):
                added_up(sums, x, y, out)
            case _:
                np.matmul(x, y, out=out)

    def boxed(self, arg: Any) -> Any:
        """An argument of a call of NumPy."""
        if isinstance(arg, tuple):
            return tuple(map(self.boxed, arg))
        if isinstance(arg, InputArg):
            return self.given[arg.input]
        if not isinstance(arg, BufferArg):
            return arg
        array: Any = self.array(arg.buffer)
        for step in arg.steps:
            array = kernel_of(step.op)(array, *map(self.boxed, step.args))
        array = array[()] if arg.scalar else array
        return array.item() if arg.weak else array

    def extreme(self, total: Accumulate, position: int) -> None:
        """The place of the first extreme, or of the first nan."""
        new, old = self.atom(total.value), self.extremes.get(total.name)
        greater = total.combine == "maximum"
        if old is None or (
            not np.isnan(old) and (np.isnan(new) or (new > old if greater else new < old))
        ):
            self.extremes[total.name] = new
            self.scalars[total.name] = total.dtype.type(position)

    def store(self, array: np.ndarray, index: tuple[int, ...], value: Any) -> None:
        if self.waiting is not None:
            self.waiting[-1].append((array, index, value))
        else:
            array[index] = value

    def loop(self, loop: Loop) -> None:
        for total in _totals_of(loop.body, 1):
            self.scalars[total.name] = self.atom(total.init)
            self.extremes.pop(total.name, None)
        order = range(self.dim(loop.size))
        if loop.descending or (self.backwards and not loop.ordered):
            order = order[::-1]
        if loop.parallel is not None and not _totals_of(loop.body, 1):
            self.at_once(loop, order)
            return
        waiting: list[list[Waiting]] = []
        if loop.behind:
            self.waiting = waiting
        for k in order:
            if time.perf_counter() > self.until:
                raise TimeoutError
            self.sizes[loop.var] = k
            if loop.behind:
                waiting.append([])
            self.block(loop.body)
            if loop.behind and len(waiting) > loop.behind:
                self.stored(1)
        if loop.behind:
            self.stored(len(waiting))
            self.waiting = None

    def at_once(self, loop: Loop, order: Sequence[int]) -> None:
        """Iterations side by side; each has scalars of its own, and what there are copies of."""
        copied = [name for name, each in self.program.buffers.items() if each.copies > 1]
        scalars, memory = self.scalars, self.memory
        own = {k: (dict(scalars), {name: self._new_copy(name) for name in copied}) for k in order}
        for stmt in loop.body:
            for k in order:
                self.sizes[loop.var] = k
                self.scalars, copies = own[k]
                memory.update(copies)
                self.statement(stmt)
        self.scalars = scalars

    def _new_copy(self, name: str) -> np.ndarray:
        return self._new(self.program.buffers[name])

    def stored(self, iterations: int) -> None:
        """Make the stores of the first iterations that have waited."""
        assert self.waiting is not None
        for _ in range(iterations):
            for array, index, value in self.waiting.pop(0):
                array[index] = value


def _bytes_of(x: np.ndarray) -> tuple[Any, int]:
    """The memory that an array lies in, and where its first element is in it."""
    if x.dtype == np.uint8 and x.flags.c_contiguous:
        return x, 0
    low, high = byte_bounds(x)
    memory = (ctypes.c_ubyte * (high - low)).from_address(low)
    memory.owner = x  # type: ignore[attr-defined]
    return memory, x.__array_interface__["data"][0] - low


def _totals_of(block: Sequence[Stmt], depth: int) -> list[Accumulate]:
    """The totals that begin with the loop that is so many loops around the block's statements."""
    found = [s for s in block if isinstance(s, Accumulate) and s.levels == depth]
    for stmt in block:
        for inner in blocks_of(stmt):
            found += _totals_of(inner, depth + isinstance(stmt, Loop))
    return found


def _computed(op: str, dtype: np.dtype, args: list[Any]) -> Any:
    """What an operation on scalars gives; 0 where an operator raises that a check stands behind."""
    if op in ("astype", "copy", "item"):
        return dtype.type(args[0])
    if op in ("wrap_index", "count_from_front", "out_of_bounds"):
        place, size = (int(arg) for arg in args)
        place += size if place < 0 else 0
        is_outside = not 0 <= place < size
        return dtype.type(is_outside if op == "out_of_bounds" else 0 if is_outside else place)
    op = op.removesuffix(" of scalars")
    if op in ("divide_with_inverse", "inverse"):
        op, args = ("divide", args[:2]) if len(args) > 1 else ("reciprocal", args)
    if op == "fused_multiply_add":  # rounded twice: the tests have numbers that need no rounding
        return args[0] * args[1] + args[2]
    if op == "has_no_order":
        x, y, *imaginary = args
        return np.isnan([x, y]).any() or (x == y and np.isnan(imaginary).any())
    if op in COMPLEX_MATH:
        name, part = COMPLEX_MATH[op]
        with np.errstate(all="ignore"):
            both = getattr(np, name)(np.asarray(args).view(args[0].dtype.char.upper())[0])
        return (both.real, both.imag)[part]
    if op.endswith(FAILS):
        return np.bool_(_try(op.removesuffix(FAILS), args[:-1]) is None)
    made = _try(op, args)
    return dtype.type(0 if made is None else made)


def _try(op: str, args: Sequence[Any]) -> Any:
    """What an operator gives; None where it raises and a check stands behind."""
    try:
        with np.errstate(all="ignore"):
            return kernel_of(op)(*args)
    except (ArithmeticError, ValueError):
        if op not in FAILING:
            raise
        return None
