"""Native loops look now and then whether Python has signals to handle.

See Note [Interrupts].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fxc.ir.symbols import Dim, computed_in, product, symbols_of

from ..machine.costs import Costs
from ..nests.boxed_args import BufferArg
from ..nests.buffers import Const
from ..nests.statements import Apply, Boxed, For, If, Loop, Matmul, Stmt, While, walk
from ..nests.together import Together
from . import lock
from .emitter import Emitter
from .frame import Slot, finished, is_scalar
from .scratch import free

# Note [Interrupts]
# While native code runs, Python handles no signals: Ctrl-C would wait for the end of a loop, which
# may have none. So each function with loops of the user's program has a number in its stack frame
# from which they take the work they have done, in elements. When it is used up, it is looked for
# signals: see Note [The interpreter lock]. If a handler has raised, the function is left at once
# with that exception; arrays then hold what the iterations so far have stored, as with NumPy (but
# for those of which a loop that may raise works on a copy). The call is not replayed: the plan
# hands the exception on as ``Interrupted``. A call of NumPy is followed by a look.
# - A loop with long iterations (it is around such loops, has array statements, or ``for`` loops of
#   known length) and one in another that may end early takes from the number in each iteration;
# - one whose iterations wait for each other has time to look in passing, once in so many of them;
# - another one runs in strips, and looks behind each strip, so that what LLVM makes of the loop
#   itself stays; inside other loops these two take from the number behind themselves or a strip;
# - a parallel loop over arrays runs in strips of some milliseconds, and looks behind each: Note
#   [Threads];
# - one of few iterations, whose number is known or bounded, is counted by those around it: fewer
#   blocks for LLVM, which writes it out. So is one around loops that look for themselves.

INTERRUPTED = "interrupted"  # the block that leaves


def looks(block: Sequence[Stmt], costs: Costs) -> bool:
    """Whether there are loops in ``block`` that look for signals, those of threads included, or
    calls of NumPy, which do.
    """
    return any(
        isinstance(stmt, Boxed)
        or (isinstance(stmt, For | While) and not _is_short(stmt, costs))
        or (isinstance(stmt, Loop) and stmt.parallel is not None)
        for stmt in walk(tuple(block))
    )


def prepare(emitter: Emitter, block: Sequence[Stmt]) -> None:
    """Begin a function with loops that look for signals."""
    f = emitter.function
    calls = [stmt for stmt in walk(tuple(block)) if isinstance(stmt, Boxed)]
    draws = any(stmt.op == "draw" for stmt in calls)
    lock.prepare(emitter, lock.KEEPS if draws else lock.YIELDS if calls else lock.LEAVES)
    emitter.budget = f.stack("i8", 8)
    f.do(f"store i64 {emitter.costs.looks}, ptr {emitter.budget}, align 8")


def begin_end(emitter: Emitter) -> None:
    """Begin the block where such a function is left."""
    emitter.function.start(INTERRUPTED)


def end(emitter: Emitter, kept: Sequence[Slot]) -> None:
    """In this block, which is to be left: numbers of arrays are brought back to memory."""
    for slot in kept:
        slot.write(emitter.function)
    free(emitter.function, emitter.scratches.values())


def spend_iteration(emitter: Emitter, stmt: For | While) -> None:
    """At the start of an iteration of a loop that does not run in strips."""
    if not _is_short(stmt, emitter.costs):
        work = _work(stmt.body, emitter.costs, frozenset(emitter.regs.dims))
        found = emitter.dim(work)
        known = isinstance(work, int)  # else see Note [Opaque values]
        spend(emitter, found if known else emitter.function.opaque(found, "i64"))


def looks_apart(stmt: For, costs: Costs, *, inside: bool) -> bool:
    """Whether a loop does not take from the number in each iteration: it runs in strips, or looks
    in passing. ``inside``: of another loop, where one that ends early is often short.
    """
    if (
        (inside and stmt.leave is not None)
        or _is_short(stmt, costs)
        or not is_scalar(stmt)
        or looks(stmt.body, costs)
    ):
        return False
    if any(isinstance(inner, While) for inner in walk(stmt.body)):  # may be a few instructions
        return True
    work = _work(stmt.body, costs)
    return isinstance(work, int) and work < costs.looks_worth


def in_strips(
    emitter: Emitter,
    stmt: For,
    lo: str,
    hi: str,
    run: Callable[[str, str], None],
    *,
    inside: bool,
) -> None:
    """``run`` part after part of the range from ``lo`` to ``hi``, until it is left."""
    f, work = emitter.function, _work(stmt.body, emitter.costs)
    assert isinstance(work, int)  # see looks_apart
    strip, done = f.new_label("strip"), f.new_label("done")
    before, start = f.block, f.reserve()
    emitter.module.declare("declare i64 @llvm.umin.i64(i64, i64)")
    f.do(f"br i1 {f.op(f'icmp slt i64 {lo}, {hi}')}, label %{strip}, label %{done}")
    f.start(strip)
    place = len(f.lines)
    left = f.op(f"sub i64 {hi}, {start}")
    count = f.op(f"call i64 @llvm.umin.i64(i64 {left}, i64 {max(1, emitter.costs.looks // work)})")
    end = f.op(f"add nsw i64 {start}, {count}")
    if _is_straight(stmt.body, emitter.costs):  # LLVM unrolls what has a plain number of iterations
        end = f.opaque(end, "i64")
    run(start, end)
    if emitter.left is not None:
        on = f.new_label("on")
        gone = f.op(f"load i1, ptr {emitter.left}, align 1")
        f.do(f"br i1 {gone}, label %{done}, label %{on}")
        f.start(on)
    if inside:
        spend(emitter, f.op(f"mul nsw i64 {count}, {work}"))
    more = f.op(f"icmp slt i64 {end}, {hi}")
    if inside:
        f.do(f"br i1 {more}, label %{strip}, label %{done}" + finished(emitter.module))
    else:
        again = f.new_label("look")
        f.do(f"br i1 {more}, label %{again}, label %{done}")
        f.start(again)
        _look(emitter, strip, finished(emitter.module))
    f.lines.insert(place, f"  {start} = phi i64 [ {lo}, %{before} ], [ {end}, %{f.block} ]")
    f.start(done)


def spend(emitter: Emitter, work: str) -> None:
    """Take the work that has been done, or is about to be, from the number."""
    f = emitter.function
    look, on = f.new_label("look"), f.new_label("on")
    seldom = emitter.module.metadata('!{!"branch_weights", i32 1, i32 10000}')
    # The borrow of the subtraction is its own test: one instruction with its branch.
    emitter.module.declare("declare { i64, i1 } @llvm.usub.with.overflow.i64(i64, i64)")
    left = f.op(f"load i64, ptr {emitter.budget}, align 8")
    pair = f.op(f"call {{ i64, i1 }} @llvm.usub.with.overflow.i64(i64 {left}, i64 {work})")
    left, used_up = (f.op(f"extractvalue {{ i64, i1 }} {pair}, {place}") for place in (0, 1))
    f.do(f"store i64 {left}, ptr {emitter.budget}, align 8")
    f.do(f"br i1 {used_up}, label %{look}, label %{on}, !prof {seldom}")
    f.start(look)
    f.do(f"store i64 {emitter.costs.looks}, ptr {emitter.budget}, align 8")
    _look(emitter, on)
    f.start(on)


def _look(emitter: Emitter, on: str, mark: str = "") -> None:
    """Ask Python, and go on to a block unless a handler has raised."""
    f, raised = emitter.function, lock.look(emitter)
    seldom = mark or f.module.seldom(True)
    f.do(f"br i1 {raised}, label %{INTERRUPTED}, label %{on}{seldom}")


def look_in_passing(emitter: Emitter, stmt: For) -> None:
    """Look for signals in one of many iterations, by the loop's counter."""
    f, work = emitter.function, _work(stmt.body, emitter.costs)
    assert isinstance(work, int)  # see looks_apart
    last = 2 ** (emitter.costs.looks // work).bit_length() // 2 - 1
    look, on = f.new_label("look"), f.new_label("on")
    now = f.op(f"icmp eq i64 {f.op(f'and i64 {emitter.regs.dims[stmt.var]}, {last}')}, {last}")
    f.do(f"br i1 {now}, label %{look}, label %{on}{f.module.seldom(True)}")
    f.start(look)
    _look(emitter, on)
    f.start(on)


def spend_all(emitter: Emitter, stmt: For, lo: str, hi: str) -> None:
    """Behind a loop that looks in passing: take what all of it has done."""
    f = emitter.function
    work = _work(stmt.body, emitter.costs)
    spend(emitter, f.op(f"mul nsw i64 {f.op(f'sub nsw i64 {hi}, {lo}')}, {work}"))


def _is_straight(block: Sequence[Stmt], costs: Costs) -> bool:
    """Whether a body is a few instructions: those that count it are many beside them."""
    few = len(block) <= costs.looks_statements
    return few and not any(isinstance(each, If | For | While) for each in block)


def _is_short(stmt: For | While, costs: Costs) -> bool:
    number = trips(stmt, costs)
    if number is None or (isinstance(stmt, While) and looks(stmt.body, costs)):
        return False
    work = _work(stmt.body, costs) * number
    most = costs.looks if is_scalar(stmt) else costs.looks_short
    return isinstance(work, int) and work <= most


def trips(stmt: Stmt, costs: Costs) -> int | None:
    """The number of iterations, if it is known now."""
    if isinstance(stmt, For) and isinstance(stmt.lo, Const) and isinstance(stmt.hi, Const):
        return max(0, int(stmt.hi.value) - int(stmt.lo.value))
    return costs.looks_brief if isinstance(stmt, While) and stmt.brief else None


def _known(size: Dim, known: frozenset[str], costs: Costs) -> Dim:
    """A number of elements, if it depends on ``known`` symbols alone."""
    is_known = symbols_of(size).keys() <= known and not computed_in(size)
    return size if is_known else costs.looks_unknown


def _work(block: Sequence[Stmt], costs: Costs, known: frozenset[str] = frozenset()) -> Dim:
    """The elements that an iteration works on, over ``known`` symbols; without those of loops that
    look for signals themselves.
    """
    total: Dim = 1
    for stmt in block:
        match stmt:
            case Loop(size=size, body=body):
                total = total + _known(size, known, costs) * _work(body, costs, known)
            case If(then=then, orelse=orelse):
                total = total + _work(then, costs, known) + _work(orelse, costs, known)
            case Matmul(together=Together(most=most)):
                total = total + most * costs.looks_unknown
            case Matmul() | Apply():
                total = total + costs.looks_unknown
            case Boxed(op="draw", brief=True, args=(_, _, size, *_)):
                many = product(size) if isinstance(size, tuple) else 1
                total = total + _known(many, known, costs)
            case Boxed(brief=True, args=args):
                has_arrays = any(isinstance(x, BufferArg) and not x.scalar for x in args)
                total = total + (costs.looks_unknown if has_arrays else 1)
            case Boxed():
                total = total + costs.looks  # may be much, and leaves signals to us
            case For() | While() if _is_short(stmt, costs):
                total = total + (trips(stmt, costs) or 0) * _work(stmt.body, costs, known)
            case _:
                pass
    return total
