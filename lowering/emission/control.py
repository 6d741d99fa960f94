"""The control flow of the user's program: checks, branches, loops."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from fxc.ir.location import Site

from ..machine.costs import Costs
from ..nests.buffers import BOOL, F64, I64
from ..nests.statements import (
    Allocate,
    Apply,
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
    walk,
)
from ..operators.python_rules import SCALAR_RULES, mostly_looks_up
from . import extremes, interrupts, sticky
from .bests import replacing
from .chains import handed_on, is_chain
from .emitter import Counting, Emitter
from .frame import advice, goes_backwards, is_few, is_scalar, leave_vectors
from .late import checks_late
from .llvm_text import Lanes
from .operator_code import SCALAR_CODE
from .python_failures import LOSSES
from .registers import Place
from .ups_and_downs import moving


def check(emitter: Emitter, stmt: Check) -> None:
    """Leave the function if the call has to go back to NumPy."""
    f, failed = emitter.function, stmt.failed
    condition = emitter.atom(failed, BOOL, Lanes(f, 1))
    passed = f.new_label("passed")
    if condition in emitter.regs.tests:
        place = emitter.regs.tests[condition]
        if failed in emitter.passed:
            emitter.regs.wrapped[place] = place[0]
        else:
            _look_at(emitter, place, passed, emitter.leaving(stmt.site))
        return
    if emitter.lost is not None:
        before = f.op(f"load i1, ptr {emitter.lost}, align 1")
        f.do(f"store i1 {f.op(f'or i1 {before}, {condition}')}, ptr {emitter.lost}, align 1")
        return
    if condition in emitter.regs.losses:
        condition = _look_closer(emitter, *emitter.regs.losses[condition], passed)
    elif condition in emitter.regs.conjunctions:  # as ``speculate`` writes them
        condition, fails = emitter.regs.conjunctions[condition]
        also = f.new_label("also")
        f.do(f"br i1 {fails}, label %{also}, label %{passed}{f.module.seldom(True)}")
        f.start(also)
        hidden = f.opaque(f.op(f"zext i1 {condition} to i64"), "i64")
        condition = f.op(f"trunc i64 {hidden} to i1")
    f.do(f"br i1 {condition}, label %{emitter.leaving(stmt.site)}, label %{passed}")
    f.start(passed)


def _look_closer(emitter: Emitter, stmt: Compute, registers: Sequence[str], passed: str) -> str:
    """Whether it has failed, where it is seldom asked: see ``LOSSES``."""
    f, code = emitter.function, Lanes(emitter.function, 1)
    closer, (place, limit) = f.new_label("closer"), LOSSES[stmt.op]
    emitter.module.declare("declare double @llvm.fabs.f64(double)")
    size = f.op(f"call double @llvm.fabs.f64(double {registers[place]})")
    large = f.op(f"fcmp uge double {size}, {code.const(limit, F64)}")
    f.do(f"br i1 {large}, label %{closer}, label %{passed}{f.module.seldom(True)}")
    f.start(closer)
    return SCALAR_CODE[stmt.op](code, registers, stmt.arg_dtypes, stmt.dtype)


def _look_at(emitter: Emitter, place: Place, passed: str, leaving: str) -> None:
    """Leave if an index is out of bounds. One that counts from the end takes the longer way."""
    f, (index, size) = emitter.function, place
    before, other = f.block, f.new_label("other")
    seldom = f.module.seldom(False)
    inside = f.op(f"icmp ult i64 {index}, {size}")
    f.do(f"br i1 {inside}, label %{passed}, label %{other}{seldom}")
    f.start(other)
    moved = f.op(f"add i64 {index}, {size}")
    inside = f.op(f"icmp ult i64 {moved}, {size}")
    f.do(f"br i1 {inside}, label %{passed}, label %{leaving}{seldom}")
    f.start(passed)
    ways = f"[ {index}, %{before} ], [ {moved}, %{other} ]"
    emitter.regs.wrapped[place] = f.op(f"phi i64 {ways}")


def branch(emitter: Emitter, stmt: If) -> None:
    code, record = Lanes(emitter.function, 1), emitter.replacing.get(id(stmt))
    needs = None if record is None else record.needs
    emitter.either(
        emitter.atom(stmt.condition, BOOL, code),
        lambda: _arm(emitter, stmt.then),
        lambda: _arm(emitter, stmt.orelse),
        seldom=None if record is None else record.first,
        needs=None if needs in (None, stmt.condition) else emitter.atom(needs, BOOL, code),
    )


def _arm(emitter: Emitter, block: Sequence[Stmt], rest: Sequence[Stmt] = ()) -> None:
    if emitter.function.module.careful and emitter.flags and sticky.is_guarded(block):
        sticky.stay(emitter.function)
    emitter.block((*block, *rest))


def _iteration(emitter: Emitter, body: Sequence[Stmt], done: str) -> None:
    """The body of a loop of the user's program that may end early, by a jump to ``done``.

    LLVM would make numbers of small branches, and have the next iteration wait for the outcome
    of this one's test. A processor guesses well that a loop goes on.
    """
    start = 0
    for number, stmt in enumerate(body):
        rest = body[number + 1 :]
        if isinstance(stmt, If) and stmt.ends is not None and _is_brief(rest, emitter.costs.brief):
            emitter.block(body[start:number])
            _leave(emitter, stmt, stmt.ends, rest, done)
            start = number + 1
    emitter.block(body[start:])


def _leave(emitter: Emitter, stmt: If, ends: bool, rest: Sequence[Stmt], done: str) -> None:
    """A branch with an arm after which only the rest of the iteration is run."""
    f = emitter.function
    condition = emitter.atom(stmt.condition, BOOL, Lanes(f, 1))
    last, on = f.new_label("last"), f.new_label("on")
    then, orelse = (last, on) if ends else (on, last)
    f.do(f"br i1 {condition}, label %{then}, label %{orelse}")
    outer = emitter.regs.copy()
    f.start(last)
    _arm(emitter, stmt.then if ends else stmt.orelse, rest)
    _note_leaving(emitter, "true")
    f.do(f"br label %{done}")
    emitter.regs = outer.copy()
    f.start(on)
    _arm(emitter, stmt.orelse if ends else stmt.then)
    emitter.regs = outer


def _note_leaving(emitter: Emitter, leaves: str) -> None:
    if emitter.left is not None:
        emitter.function.do(f"store i1 {leaves}, ptr {emitter.left}, align 1")


def user_loop(emitter: Emitter, stmt: For) -> None:
    _UserLoop(emitter, stmt).emit()


class _UserLoop:
    """A loop of the user's program while it is written."""

    def __init__(self, emitter: Emitter, stmt: For) -> None:
        self.emitter, self.stmt = emitter, stmt
        self.code = code = Lanes(emitter.function, 1)
        self.lo, self.hi = emitter.atom(stmt.lo, I64, code), emitter.atom(stmt.hi, I64, code)
        self.inside = emitter.in_scalar_nest
        self.chain = is_chain(stmt, emitter.costs, inside=self.inside)
        self.looks_apart = interrupts.looks_apart(stmt, emitter.costs, inside=self.inside)
        self.in_strips = self.looks_apart and not self.chain
        self.handed = handed_on(emitter.program, stmt) if self.chain else {}

    def emit(self) -> None:
        """The loop, in its bounds or looking at each index; then the checks behind it."""
        emitter, stmt = self.emitter, self.stmt
        outside, emitter.left = emitter.left, None
        if self.in_strips and stmt.leave is not None:
            emitter.left = emitter.function.stack("i1", 1)
        if checks_late(emitter, stmt):
            emitter.lost = emitter.function.stack("i1", 1)
            emitter.function.do(f"store i1 false, ptr {emitter.lost}, align 1")
        emitter.replacing |= moving(emitter.program, stmt) | replacing(emitter.program, stmt)
        ends_by_itself = stmt.leave is None and emitter.regs.marks
        looks = extremes.looks(stmt, emitter.costs.twice) if ends_by_itself else {}

        def unchecked() -> None:
            outer, emitter.passed = emitter.passed, emitter.passed | looks.keys()
            self.run()
            emitter.passed = outer

        with _scalar_nest(emitter, stmt):
            if looks:
                in_bounds = extremes.are_in_bounds(emitter, stmt, self.lo, self.hi)
                emitter.either(in_bounds, unchecked, self.run)
            else:
                self.run()
        emitter.left = outside
        if emitter.lost is not None:
            sites = [each.site for each in walk(stmt.body) if isinstance(each, Check)]
            _check_late(emitter, emitter.lost, sites[0])
            emitter.lost = None

    def run(self) -> None:
        """All iterations."""
        emitter, stmt = self.emitter, self.stmt
        if self.in_strips:
            interrupts.in_strips(
                emitter, stmt, self.lo, self.hi, self.iterations, inside=self.inside
            )
        elif self.chain and interrupts.trips(stmt, emitter.costs) is None:
            some = emitter.function.op(f"icmp slt i64 {self.lo}, {self.hi}")
            emitter.either(some, self.run_chain, lambda: None)
        elif self.chain:
            self.run_chain()
        else:
            self.iterations(self.lo, self.hi)

    def run_chain(self) -> None:
        """Iterations that hand on in registers what they store: there is one."""
        emitter, stmt = self.emitter, self.stmt
        _load_first(emitter, stmt, self.lo, self.handed)
        kinds = [(name, self.code.type(store.dtype)) for name, store in self.handed.items()]
        emitter.counted(Counting(stmt.var, self.lo, self.hi, rest=True), (), self.body, kinds)
        if self.looks_apart and self.inside:
            interrupts.spend_all(emitter, stmt, self.lo, self.hi)

    def iterations(self, start: str, stop: str) -> None:
        """Those from one number up to another."""
        emitter, stmt = self.emitter, self.stmt
        _note_leaving(emitter, "false")
        rest = id(stmt) in emitter.minor or goes_backwards(emitter.program, stmt)
        scalar = mostly_looks_up(stmt.body, emitter.costs)
        copies = _copies(stmt, emitter.costs)
        counting = Counting(stmt.var, start, stop, rest=rest, scalar=scalar, copies=copies)
        emitter.counted(counting, (), self.body)

    def body(self) -> str | None:
        """One iteration; whether the loop ends behind it."""
        emitter, stmt, handed = self.emitter, self.stmt, self.handed
        block = tuple(s for s in stmt.body if not (isinstance(s, Load) and s.name in handed))
        if not self.looks_apart:
            interrupts.spend_iteration(emitter, stmt)
        for name in handed:
            emitter.regs.atoms[name] = (emitter.regs.totals[name], 1)
        leaves = None
        if stmt.leave is None:
            emitter.block(block)
        else:
            _iteration(emitter, block, emitter.done)
            leaves = emitter.atom(stmt.leave, BOOL, self.code)
            _note_leaving(emitter, leaves)
        for name, store in handed.items():
            emitter.regs.totals[name] = emitter.operand(store.value, store.dtype, self.code)
        if self.looks_apart and self.chain:
            interrupts.look_in_passing(emitter, stmt)
        return leaves


def _load_first(emitter: Emitter, stmt: For, lo: str, names: Collection[str]) -> None:
    """Load what an iteration hands on to the next one, for the first."""
    outer, emitter.regs = emitter.regs, emitter.regs.copy()
    emitter.regs.dims[stmt.var] = lo
    for load in stmt.body:
        if isinstance(load, Load) and load.name in names:
            outer.totals[load.name], _ = emitter.load(load, Lanes(emitter.function, 1))
    emitter.regs = outer


def _check_late(emitter: Emitter, lost: str, site: Site | None) -> None:
    f, passed = emitter.function, emitter.function.new_label("passed")
    condition = f.op(f"load i1, ptr {lost}, align 1")
    f.do(f"br i1 {condition}, label %{emitter.leaving(site)}, label %{passed}")
    f.start(passed)


def while_loop(emitter: Emitter, stmt: While) -> None:
    f = emitter.function
    head, inside, done = f.new_label("test"), f.new_label("body"), f.new_label("done")
    outer, outside = emitter.regs.copy(), emitter.left
    emitter.left = None
    emitter.replacing |= moving(emitter.program, stmt) | replacing(emitter.program, stmt)
    with _scalar_nest(emitter, stmt):
        f.do(f"br label %{head}")
        begin = len(f.lines)
        f.start(head)
        emitter.block(stmt.test)
        condition = emitter.atom(stmt.condition, BOOL, Lanes(f, 1))
        f.do(f"br i1 {condition}, label %{inside}, label %{done}")
        f.start(inside)
        interrupts.spend_iteration(emitter, stmt)
        _iteration(emitter, stmt.body, done)
        f.do(f"br label %{head}{advice(f, begin, _copies(stmt, emitter.costs))}")
        f.start(done)
    emitter.regs, emitter.left = outer, outside


@contextmanager
def _scalar_nest(emitter: Emitter, stmt: For | While) -> Iterator[None]:
    """Around a loop of the user's program. See Note [Scalar loops]."""
    outer = emitter.in_scalar_nest
    scalar = is_scalar(stmt)
    if scalar and not outer and not is_few(stmt, emitter.program.target.costs.steps_short):
        emitter.function.do(leave_vectors(emitter.module))
    emitter.in_scalar_nest = scalar
    yield
    emitter.in_scalar_nest = outer


_Straight = Load | Compute | Index | Store | Check


def _copies(stmt: For | While, costs: Costs) -> int:
    """How many iterations of a long loop are written down, one after the other, each with its own
    test, as they are short; 0 where LLVM decides: it knows their number, or how they branch. Of
    several choices after each other it makes branches, which a processor may guess badly.
    """
    number = interrupts.trips(stmt, costs)
    if (number is not None and number <= costs.chain_brief) or len(stmt.body) > costs.copied:
        return 0
    if not all(isinstance(each, _Straight) for each in stmt.body):
        return 0
    work = sum(SCALAR_RULES[s.op].cost for s in stmt.body if isinstance(s, Compute))
    return costs.copies if work <= costs.copied_work else 0


def _is_brief(block: Sequence[Stmt], most: int) -> bool:
    """Whether a block may as well be written twice."""
    stmts = tuple(walk(tuple(block)))
    return len(stmts) <= most and not any(
        isinstance(stmt, Loop | For | While | Matmul | Apply | Boxed | Allocate) for stmt in stmts
    )
