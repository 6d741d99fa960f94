"""Loops over elements, each of which runs a loop of its own to its own end, run in lanes.

::

    loop i in 0:n                             loop is in 0:(n + 15) // 16
      x[] = a[i]                                for ia in 0:16 lanes 16
      while                                       x.lane[ia] = a[16*is + ia]
        holds c[]                       →         c.lane[ia] = …
      do                                          some.first = logical_or …  [any]
        x[] = f(x[])                            some[] = some.first
        c[] = greater(x[], 1.0)                 while
      b[i] = x[]                                  holds some[]
                                                do
                                                  for ia in 0:16 lanes 16
                                                    t1 = c.lane[ia]
                                                    x.lane[ia] = where(t1, f(…), x.lane[ia])
                                                    …
                                                for ia in 0:16 lanes 16
                                                  b[16*is + ia] = x.lane[ia]

Sixteen elements go on until the last of them has ended; what has ended stays as it is. So do those
whose loops are equally long, as the sums of a moving window: they need no choices. Numbers
that an iteration hands on are elements of small buffers, which are registers in the end. What is
computed for elements that have ended sets no flags that tell, as in ``branchless``.
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.bounds import decide
from fxc.ir.records import replace
from fxc.ir.size_functions import floordiv, minimum
from fxc.ir.symbols import Dim, computed_in, symbol, symbols_of

from ..nests.accesses import Block, elements_apart, rename, renamed
from ..nests.bounds import Range, bounds, counter_bounds, ranges_within, trips
from ..nests.buffers import BOOL, I64, Const
from ..nests.program import Program
from ..nests.rewriting import innermost_first
from ..nests.statements import (
    Accumulate,
    Compute,
    For,
    If,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    While,
    atoms_read,
    blocks_of,
    walk,
)
from ..operators.python_rules import SCALAR_RULES
from .branchless import Stays, own_numbers, uses
from .elements_abreast import LanePart, Number, StripElements
from .independent_steps import Counters, why_dependent
from .survey import Survey


def abreast(program: Program) -> Program:
    """The program with such loops in lanes.

    Requires: stored values are forwarded, and loops whose iterations all do the same are nests.
    Ensures: the same results, bit for bit.
    """
    steps = _Steps(program)
    body = innermost_first(program.body, steps.loop)
    return replace(program, body=body, buffers=steps.buffers)


class _Steps:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffers = dict(program.buffers)
        counters = counter_bounds(program)
        self.known: Counters = counters, ranges_within(counters)
        self.used = uses(program, program.body)
        self.made = 0

    def loop(self, loop: For) -> list[Stmt] | None:
        """The loop in strips, whose elements go abreast; None if that brings nothing."""
        inner = [stmt for stmt in loop.body if isinstance(stmt, For | While)]
        if loop.leave is not None or loop.var not in self.known[0] or not inner:
            return None
        if any(isinstance(stmt, Loop) for stmt in walk(loop.body)):
            return None
        apart = any(isinstance(stmt, While) or stmt.leave is not None for stmt in inner)
        if not all(self.pays(stmt, apart) for stmt in inner) or self.adds_up_apart(loop, inner):
            return None
        count = trips(self.known[0][loop.var], self.known[1])
        # A size that varies may be a small one only in the call that is captured.
        if isinstance(count, int) and count < self.program.target.costs.abreast_steps:
            return None
        if not self.is_apart(loop, count):
            return None
        try:
            return _Strip(self, loop, count).statements()
        except Stays:
            return None

    def pays(self, inner: For | While, apart: bool) -> bool:
        """Whether lanes are quicker than one element after the other; ``apart``: their loops end
        apart.

        A processor goes wrong where elements branch each their own way. Else it runs ahead, and
        lanes have to look up elements one by one, too; and LLVM knows loops that count bits. Of
        loops that all run equally long a branch may be easy to guess, but sums wait.
        """
        stmts = walk((inner,))
        arms = [stmt for stmt in stmts if isinstance(stmt, If) and stmt.ends is None]
        if arms and (apart or not all(map(self.is_brief, walk(tuple(arms))))):
            return apart
        made = [stmt for stmt in stmts if isinstance(stmt, Compute)]
        found = sum(isinstance(s, Load) and any(map(computed_in, s.index)) for s in stmts)
        work = sum(SCALAR_RULES[stmt.op].cost for stmt in made)
        has_floats = any(stmt.dtype.kind == "f" for stmt in made)
        return has_floats and work >= found * self.program.target.costs.abreast_gathered

    def adds_up_apart(self, loop: For, inner: Sequence[For | While]) -> bool:
        """Whether steps of a loop inside go to one and the same element, which is some elements
        away from that of the next lane: those are picked again in each step.
        """
        for around in inner:
            for stmt in walk((around,)):
                if not isinstance(stmt, Store) or not stmt.index:
                    continue
                moving = {name for dim in stmt.index for name in symbols_of(dim)}
                is_one = not isinstance(around, For) or around.var not in moving
                if is_one and elements_apart(self.program, stmt, loop.var):
                    return True
        return False

    def is_brief(self, stmt: Stmt) -> bool:
        """Whether a statement of an arm may as well run in vain."""
        if isinstance(stmt, Compute):
            return SCALAR_RULES[stmt.op].cost <= self.program.target.costs.vain_cost
        return isinstance(stmt, If | Store | Index) or (
            isinstance(stmt, Load) and not any(map(computed_in, stmt.index))
        )

    def is_apart(self, loop: For, count: Dim) -> bool:
        """Whether iterations write apart, and no loop inside that may end early meets what one
        writes.
        """
        own = own_numbers(self.program, loop, self.used)

        def written(block: Block) -> set[str]:
            names = {stmt.buffer for stmt in walk(block) if isinstance(stmt, Store)}
            return {self.program.buffers[name].storage for name in names - own}

        def touched(block: Block) -> set[str]:
            names = {stmt.buffer for stmt in walk(block) if isinstance(stmt, Load | Store)}
            return {self.program.buffers[name].storage for name in names - own}

        def met(block: Block) -> Block:
            found: list[Stmt] = []
            for stmt in block:
                if isinstance(stmt, Load | Store):
                    found += [stmt] if stmt.buffer not in own else []
                elif isinstance(stmt, For) and self.is_even(stmt, loop):
                    first, last = self.known[0][stmt.var]
                    shift: dict[str, Dim] = {stmt.var: symbol(stmt.var, hint=0) + first}
                    inner = tuple([rename(each, shift) for each in met(stmt.body)])
                    found.append(Loop(stmt.var, trips((first, last), self.known[1]), inner))
                else:
                    found += [each for inside in blocks_of(stmt) for each in met(inside)]
            return tuple(found)

        inner = tuple([stmt for stmt in loop.body if isinstance(stmt, For | While)])
        uneven = tuple([stmt for stmt in inner if not self.is_even(stmt, loop)])
        if written(loop.body) & touched(uneven):
            return False
        if any(self.program.buffers[name].role == "input" for name in written(inner)):
            return False  # an interrupt would leave elements at different steps
        return not why_dependent(self.program, Loop(loop.var, count, met(loop.body)))

    def is_even(self, stmt: For | While, loop: For) -> bool:
        """Whether a loop inside runs equally long for all elements."""
        if isinstance(stmt, While) or stmt.leave is not None or stmt.var not in self.known[0]:
            return False
        ends = self.known[0][stmt.var]
        return not any(computed_in(end) or loop.var in symbols_of(end) for end in ends)


class _Strip:
    """The strip of one loop, of which the elements have been taken in."""

    def __init__(self, steps: _Steps, loop: For, count: Dim) -> None:
        steps.made += 1
        self.steps, self.whole, self.size = steps, loop, count
        self.suffix = f"abreast{steps.made}"
        self.ranges = steps.known[1]
        self.taken = StripElements(steps.program, steps.known, loop, steps.used, self.suffix)
        self.lane, self.lanes = self.taken.lane, self.taken.lanes
        self.run = steps.program.target.costs.abreast_run

    def statements(self) -> list[Stmt]:
        """The loop in strips, and what is left of it where its size is not known."""
        loop, lanes = self.whole, self.lanes
        first = self.steps.known[0][loop.var][0]
        enough = decide(bounds(self.size, self.ranges)[0], ">=", lanes) is True
        strip = symbol(f"{loop.var}s", hint=0, lower=0)
        name = f"{strip}.count"
        if enough and self.may_repeat():
            place = minimum(lanes * strip, self.size - lanes)
            number = floordiv(self.size + (lanes - 1), lanes)
            rest: list[Stmt] = []
        else:
            place, number = lanes * strip, floordiv(self.size, lanes)
            behind = f"{strip}.behind"
            rest = [Index(behind, I64, first + lanes * number), replace(loop, lo=behind)]
            rest = rest if lanes * number != self.size else []
        inside = self.written(first + place)
        self.steps.buffers |= self.taken.buffers
        strips = For(str(strip), Const(0, I64), name, tuple(inside), loop.loc)
        return [Index(name, I64, number), strips, *rest]

    def may_repeat(self) -> bool:
        """Whether iterations may run twice: none reads what one writes."""
        buffers = self.steps.program.buffers
        read, written = (
            {buffers[name].storage for name in names if name not in self.taken.local}
            for names in self.whole.touched
        )
        return read.isdisjoint(written)

    def hand_on(self) -> None:
        """Let parts find numbers of earlier ones: in buffers, or, if they are sizes, made again."""
        made: dict[str, tuple[LanePart, Number]] = {}
        for part in self.taken.parts:
            own, found = part.numbers, list[Stmt]()
            for atom in dict.fromkeys(x for stmt in part.body for x in atoms_read(stmt)):
                if not isinstance(atom, str) or atom in own or atom not in made:
                    continue
                other, stmt = made[atom]
                if isinstance(stmt, Index) and not computed_in(stmt.value):
                    found.append(stmt)
                    continue
                buffer = self.taken.room(atom, stmt.dtype, self.lanes)
                store = Store(buffer, (self.lane,), atom, stmt.dtype)
                if store not in other.body:
                    other.body.append(store)
                found.append(Load(atom, stmt.dtype, buffer, (self.lane,)))
            made |= {name: (part, stmt) for name, stmt in own.items()}
            part.body[:0] = found

    # -- the strip

    def written(self, start: Dim) -> list[Stmt]:
        """The statements of a strip that begins at an iteration."""
        self.hand_on()
        found: list[Stmt] = []
        for number, part in enumerate(self.taken.parts):
            moved: dict[str, Dim] = {self.whole.var: start + self.lane}
            if isinstance(part.around, For):
                moved[part.around.var] = self.counter(part.around)
            names = {name: f"{name}.{self.suffix}.{number}" for name in part.numbers}
            totals = [s.name for s in part.body if isinstance(s, Accumulate)]
            names |= {name: f"{name}.{self.suffix}" for name in totals}
            body = [renamed(rename(stmt, moved), names) for stmt in part.body]
            for check in part.checks:
                assert isinstance(check.failed, str)
                total, failed = f"{names[check.failed]}.any", names[check.failed]
                body.append(
                    Accumulate(total, BOOL, "logical_or", failed, Const(False, BOOL), "any")
                )
            loop = Loop(str(self.lane), self.lanes, tuple(body), loc=self.whole.loc)
            self.look(loop)
            step: list[Stmt] = [replace(loop, lanes=self.lanes)]
            step += [replace(c, failed=f"{names[str(c.failed)]}.any") for c in part.checks]
            some = names.get(part.goes_on, "")
            if isinstance(part.around, While):
                found += self.around_while(part.around, step, some)
            elif part.around is not None:
                found += self.around_for(part.around, step, some)
            else:
                found += step
                found += [Store(self.taken.room("some", BOOL), (), some, BOOL)] if some else []
        return found

    def look(self, loop: Loop) -> None:
        """Whether lanes are possible, and worth it."""
        program = self.steps.program
        known = replace(program, buffers=program.buffers | self.taken.buffers)
        if Survey(known, loop).against:
            raise Stays

    def around_while(self, stmt: While, step: list[Stmt], some: str) -> list[Stmt]:
        """The loop inside, of all lanes, in runs of iterations between which it may look around."""
        buffer = self.taken.room("some", BOOL)
        step += [
            Store(buffer, (), some, BOOL),
            Compute(f"{some}.none", BOOL, "logical_not", (some,), (BOOL,)),
        ]
        most = Const(self.run, I64)
        run = For(f"{some}.step", Const(0, I64), most, tuple(step), leave=f"{some}.none")
        goes_on = Load(f"{some}.holds", BOOL, buffer, ())
        return [replace(stmt, test=(goes_on,), condition=goes_on.name, body=(run,))]

    def around_for(self, stmt: For, step: list[Stmt], some: str) -> list[Stmt]:
        """The same for a loop of which all lanes run one iteration at a time."""
        name = f"{stmt.var}.{self.suffix}"
        first, last = self.ends_of(stmt)
        if self.is_brief(stmt):
            size = Index(f"{name}.size", I64, trips((first, last), self.ranges))
            return [size, For(f"{name}.step", Const(0, I64), size.name, tuple(step), stmt.loc)]
        next_one, end, leave = f"{name}.next", f"{name}.end", f"{name}.ends"
        step.append(Index(next_one, I64, self.counter(stmt) + 1))
        step.append(Compute(leave, BOOL, "py_greater_equal", (next_one, end), (I64, I64)))
        body: list[Stmt] = []
        gone = None
        if some:
            buffer, none, gone = self.taken.room("some", BOOL), f"{some}.none", f"{some}.gone"
            step += [
                Store(buffer, (), some, BOOL),
                Compute(none, BOOL, "logical_not", (some,), (BOOL,)),
                Compute(f"{leave}.any", BOOL, "logical_or", (leave, none), (BOOL, BOOL)),
            ]
            leave = f"{leave}.any"
            body = [
                Load(f"{some}.holds", BOOL, buffer, ()),
                Compute(gone, BOOL, "logical_not", (f"{some}.holds",), (BOOL,)),
            ]
        zero, most = Const(0, I64), Const(self.run, I64)
        run = For(f"{name}.step", zero, most, tuple(step), leave=leave)
        count = floordiv(trips((first, last), self.ranges) + (self.run - 1), self.run)
        return [
            Index(end, I64, last),
            Index(f"{name}.runs", I64, count),
            For(f"{name}.run", zero, f"{name}.runs", (run, *body), stmt.loc, gone),
        ]

    def ends_of(self, stmt: For) -> Range:
        """The bounds of a loop inside, which are the same for all lanes."""
        found = self.steps.known[0].get(stmt.var)
        if found is None or any(computed_in(x) or self.whole.var in symbols_of(x) for x in found):
            raise Stays
        return found

    def counter(self, stmt: For) -> Dim:
        """What a loop inside counts, in its runs."""
        name = f"{stmt.var}.{self.suffix}"
        step = self.ends_of(stmt)[0] + symbol(f"{name}.step", hint=0, lower=0)
        if self.is_brief(stmt):
            return step
        return step + self.run * symbol(f"{name}.run", hint=0, lower=0)

    def is_brief(self, stmt: For) -> bool:
        """Whether a loop inside is no longer than a run, and never left."""
        if stmt.leave is not None:
            return False
        count = trips(self.ends_of(stmt), self.ranges)
        return decide(bounds(count, self.ranges)[1], "<=", self.run) is True
