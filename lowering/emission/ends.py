"""Vector loops whose first and last vector are computed before the others and stored after them.

::

    first, last = f(0), f(n - 8)          # eight elements each, in registers
    for i in k:n - 8 by 8                 # k <= 8: these are stored to whole cache lines
      a[i] = f(i)
    a[0], a[n - 8] = first, last

No element is left for a scalar loop. Vectors may have elements in common: both get the same values,
as nothing has been stored when the ends are computed. A loop that stores ``behind`` keeps what it
has computed in registers until later vectors have read what it would spoil.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fxc.ir.records import frozen, replace
from fxc.ir.size_functions import substitute

from ..nests.accesses import whole_lines
from ..nests.addressing import byte_offset, step_of
from ..nests.program import Program
from ..nests.statements import Load, Loop, Stmt, Store
from .emitter import Counting, Emitter
from .llvm_text import Lanes
from .registers import Registers


def ends_first(emitter: Emitter, loop: Loop, lanes: int, body: Sequence[Stmt]) -> None:
    """The loop in vectors; one that has fewer iterations than lanes is run one by one, or, if there
    are loops in it, in shorter vectors.
    """

    def wide() -> None:
        _in_vectors(emitter, loop, lanes, body)

    def narrow() -> None:
        fewer = lanes // 4
        if fewer >= emitter.program.target.costs.ends_lanes and any(
            isinstance(stmt, Loop) for stmt in body
        ):
            ends_first(emitter, replace(loop, aligned=""), fewer, body)
        else:
            one_by_one(emitter, replace(loop, body=tuple(body)))

    if isinstance(loop.size, int):
        (wide if loop.size >= lanes else narrow)()
    else:
        emitter.either(_at_least(emitter, loop, lanes), wide, narrow)


def one_by_one(emitter: Emitter, loop: Loop) -> None:
    """The loop in single iterations."""

    def some() -> None:
        single = _Iterations(loop, 1, loop.body)
        bounds = "0", emitter.dim(loop.size)
        _stored_behind(emitter, single, _old_content(emitter, single), bounds)

    if not loop.behind:
        emitter.plain_loop(loop, 1, "0", (), emitter.dim(loop.size))
    elif isinstance(loop.size, int):
        some()
    else:
        emitter.either(_at_least(emitter, loop, 1), some, lambda: None)


def _at_least(emitter: Emitter, loop: Loop, least: int) -> str:
    return emitter.function.op(f"icmp sge i64 {emitter.dim(loop.size)}, {least}")


@frozen
class _Iterations:
    """So many iterations of a loop at once, and the statements of each."""

    loop: Loop
    lanes: int
    body: Sequence[Stmt]


@frozen
class _Vector:
    """Iterations that have been computed, and their stores, which have yet to be made."""

    registers: Registers
    stores: tuple[Store, ...]

    def store(self, emitter: Emitter, lanes: int) -> None:
        _in(emitter, self.registers, lambda: emitter.block(self.stores, lanes))


def _in_vectors(emitter: Emitter, loop: Loop, lanes: int, body: Sequence[Stmt]) -> None:
    both, aligned = loop.ends == "ends first", aligned_access(emitter.program, loop)
    start, stop = "0", emitter.dim(loop.size - lanes)
    emitter.regs.vector = loop.var
    some = _Iterations(loop, lanes, body)
    ends = [_computed(emitter, some, stop)]
    if both and aligned is not None:
        past = past_line(emitter, loop, aligned)
        start = emitter.function.op(f"sub nsw i64 {lanes}, {past}")
        ends.append(_computed(emitter, some, "0"))
    if not loop.behind:
        counting = Counting(loop.var, start, stop, lanes, lanes)
        emitter.counted(counting, (), lambda: emitter.block(body, lanes))
    elif both and aligned is None and loop.behind <= lanes:
        direct, late = _by_haste(emitter.program, body)
        first = _computed(emitter, some, "0")
        _Vector(first.registers, direct).store(emitter, lanes)
        first = _Vector(first.registers, late)
        _stored_behind(emitter, some, first, (str(lanes), stop))
    else:
        _stored_behind(emitter, some, _old_content(emitter, some), (start, stop))
    for end in ends:
        end.store(emitter, lanes)
    emitter.regs.vector = None


def _stores(body: Sequence[Stmt]) -> tuple[Store, ...]:
    return tuple(stmt for stmt in body if isinstance(stmt, Store))


def _computed(emitter: Emitter, some: _Iterations, place: str) -> _Vector:
    """The iterations from ``place`` on, but for their stores."""
    start = emitter.regs.copy()
    start.dims[some.loop.var] = place
    loads = [stmt for stmt in some.body if not isinstance(stmt, Store)]
    found = _in(emitter, start, lambda: emitter.block(loads, some.lanes))
    return _Vector(found, _stores(some.body))


def _in(emitter: Emitter, registers: Registers, write: Callable[[], None]) -> Registers:
    """Write code that knows these registers; those that are known behind it."""
    outer, emitter.regs = emitter.regs, registers
    write()
    found, emitter.regs = emitter.regs, outer
    return found


def _by_haste(
    program: Program, body: Sequence[Stmt]
) -> tuple[tuple[Store, ...], tuple[Store, ...]]:
    """The stores to what is only loaded in the same iteration, and those that have to wait."""
    direct: list[Store] = []
    late: list[Store] = []
    for store in _stores(body):
        storage = program.buffers[store.buffer].storage
        met = {
            (s.buffer, s.index)
            for s in body
            if isinstance(s, Load) and program.buffers[s.buffer].storage == storage
        }
        (direct if met <= {(store.buffer, store.index)} else late).append(store)
    return tuple(direct), tuple(late)


def _old_content(emitter: Emitter, some: _Iterations) -> _Vector:
    """What stands where the first iterations store late: storing it changes nothing."""
    _, late = _by_haste(emitter.program, some.body)
    old = [
        Load(f"{some.loop.var}.old{number}", s.dtype, s.buffer, s.index)
        for number, s in enumerate(late)
    ]
    loaded = _computed(emitter, replace(some, body=old), "0")
    stores = [replace(s, value=load.name) for s, load in zip(late, old, strict=True)]
    return _Vector(loaded.registers, tuple(stores))


def _stored_behind(
    emitter: Emitter, some: _Iterations, first: _Vector, bounds: tuple[str, str]
) -> None:
    """The iterations from one bound to another; late stores are made when later ones are computed.

    ``first`` waits at the beginning.
    """
    lanes, var = some.lanes, some.loop.var
    code = Lanes(emitter.function, lanes)
    waiting = -(-some.loop.behind // lanes)
    direct, late = _by_haste(emitter.program, some.body)
    names = [f"{var}.behind{number}" for number in range(len(late))]
    held = tuple(replace(s, value=name) for name, s in zip(names, late, strict=True))
    phis = []

    def wait(turn: int, vector: _Vector, place: str) -> None:
        emitter.regs.totals[f"{var}.{turn}"] = place
        for name, s in zip(names, vector.stores, strict=True):
            emitter.regs.totals[f"{name}.{turn}"] = _value(emitter, vector, s, code)

    def store(turn: int) -> None:
        registers = emitter.regs.copy()
        registers.dims[var] = registers.totals[f"{var}.{turn}"]
        for name in names:
            registers.atoms[name] = (registers.totals[f"{name}.{turn}"], lanes)
        _Vector(registers, held).store(emitter, lanes)

    def step() -> None:
        totals, place = emitter.regs.totals, emitter.regs.dims[var]
        now = _computed(emitter, some, place).registers
        _Vector(now, direct).store(emitter, lanes)
        store(waiting - 1)
        for turn in range(waiting - 1, 0, -1):
            for name in (var, *names):
                totals[f"{name}.{turn}"] = totals[f"{name}.{turn - 1}"]
        wait(0, _Vector(now, late), place)

    for turn in range(waiting):
        wait(turn, first, "0")
        phis.append((f"{var}.{turn}", "i64"))
        phis += [(f"{n}.{turn}", code.type(s.dtype)) for n, s in zip(names, late, strict=True)]
    emitter.counted(Counting(var, *bounds, lanes, lanes), (), step, phis)
    for turn in range(waiting - 1, -1, -1):
        store(turn)
    for key, _ in phis:
        del emitter.regs.totals[key]


def _value(emitter: Emitter, vector: _Vector, stmt: Store, code: Lanes) -> str:
    """What ``stmt`` stores, in lanes."""
    found: list[str] = []
    _in(
        emitter,
        vector.registers,
        lambda: found.append(emitter.atom(stmt.value, stmt.dtype, code)),
    )
    return found[0]


def past_line(emitter: Emitter, loop: Loop, access: Load | Store) -> str:
    """How many elements behind the start of a cache line the first one is."""
    f = emitter.function
    offset = byte_offset(emitter.program.buffers[access.buffer], access.index)
    pointer = emitter.address(access.buffer, substitute(offset, {loop.var: 0}))
    address = f.op(f"ptrtoint ptr {pointer} to i64")
    low = f.op(f"and i64 {address}, {emitter.program.target.line - 1}")
    return f.op(f"udiv i64 {low}, {step_of(offset, loop.var)}")


def aligned_access(program: Program, loop: Loop) -> Load | Store | None:
    """An access whose vectors are whole cache lines. See Note [Loops in lanes]."""
    found = whole_lines(program, loop, loop.aligned) if loop.aligned else []
    return found[0] if found else None
