"""Indices that move with the counter of a loop are looked at once, before it.

::

    for s in lo:hi                        if s - v is in bounds at lo and at hi - 1
      raise if out_of_bounds(s - v, n)  →   for s in lo:hi …        without a look
      …                                   else
                                            for s in lo:hi …        with one

A loop of its own, since not every index out of these bounds is wrong: one that counts from the end
is none, nor is one that a branch leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fxc.ir.symbols import computed_in
from fxc.ops.python_numbers import stem

from ..nests.addressing import step_of
from ..nests.buffers import I64, Atom, Const
from ..nests.statements import Bind, Check, Compute, For, Index, Load, Loop, While, walk
from .emitter import Emitter
from .llvm_text import Lanes

STEEP = 2**20  # places that an index may move by
_FACTOR = 2**19  # the largest number that a counter may be multiplied by
FAR = 2**40  # iterations
_SIGNS = {"add": (1, 1), "subtract": (1, -1), "int": (1,), "astype": (1,), "item": (1,)}


def looks(stmt: For, most: int) -> dict[Atom, Compute]:
    """The checks of a loop's body that are about indices which move with its counter: what says
    that one fails, and how it is computed. A body of more than ``most`` statements is not written
    down twice.
    """
    body = tuple(walk(stmt.body))
    if len(body) > most or any(isinstance(each, Loop | For | While | Bind) for each in body):
        return {}
    moves = _Moves(stmt)
    found: dict[Atom, Compute] = {}
    for check in body:
        failed = check.failed if isinstance(check, Check) else None
        test = moves.made.get(failed) if isinstance(failed, str) else None
        if isinstance(test, Compute) and test.op == "out_of_bounds":
            index, size = map(moves.step, test.args)
            if size == _NONE and index is not None and index.most <= STEEP:
                found[test.name] = test
    return found


class _Step(NamedTuple):
    """What an int64 moves by from iteration to iteration, always the same: a known number, and one
    of which only the size is known if no factor is larger than ``_FACTOR``.
    """

    known: int
    factors: int = 0

    @property
    def most(self) -> int:
        return abs(self.known) + self.factors


_NONE = _Step(0)


class _Moves:
    """How the ints of a loop's body move, and the ``factors`` of its own that the counter has."""

    def __init__(self, stmt: For) -> None:
        body = walk(stmt.body)
        self.var = stmt.var
        self.made = {s.name: s for s in body if isinstance(s, Load | Compute | Index)}
        self.factors: dict[Atom, None] = {}
        self._found: dict[Atom, _Step | None] = {}

    def step(self, x: Atom) -> _Step | None:
        """None if it is not always the same."""
        if isinstance(x, Const) or x not in self.made:
            return _NONE  # nothing that the loop makes
        if x not in self._found:
            self._found[x] = self._of_made(self.made[x])
        return self._found[x]

    def _of_made(self, stmt: Load | Compute | Index) -> _Step | None:
        match stmt:
            case Index(value=value):
                moves = None if computed_in(value) else step_of(value, self.var)
                return _Step(moves) if isinstance(moves, int) else None
            case Compute(op=op, args=args, arg_dtypes=dtypes) if all(t == I64 for t in dtypes):
                steps = [step for each in args if (step := self.step(each)) is not None]
                return self._of_result(stem(op), args, steps) if len(steps) == len(args) else None
            case _:
                return None

    def _of_result(self, name: str, args: Sequence[Atom], steps: list[_Step]) -> _Step | None:
        if name == "multiply" and _NONE in steps:
            one, other = (1, 0) if steps[0] == _NONE else (0, 1)
            return self._times(steps[one], args[other])
        signs = _SIGNS.get(name)
        if signs is None:
            return None
        known = sum(sign * step.known for sign, step in zip(signs, steps, strict=True))
        return _Step(known, sum(step.factors for step in steps))

    def _times(self, step: _Step, factor: Atom) -> _Step:
        """The step of a product with what does not move."""
        if isinstance(factor, Const):
            by = int(factor.value)
            return _Step(step.known * by, step.factors * abs(by))
        if step == _NONE:
            return _NONE
        self.factors[factor] = None
        return _Step(0, step.most * _FACTOR)


def are_in_bounds(emitter: Emitter, stmt: For, lo: str, hi: str) -> str:
    """A register: whether all ``looks`` pass, and count from the front, in all iterations.

    They do at both ends, and in between there is no way round 64 bits.
    """
    f = emitter.function
    last = f.op(f"sub i64 {hi}, 1")
    whole = f.op(f"icmp ult i64 {f.op(f'sub i64 {last}, {lo}')}, {FAR}")
    moves, tests = _Moves(stmt), looks(stmt, emitter.costs.twice).values()
    made = {s.name: s for s in moves.made.values() if not isinstance(s, Load)}
    outer = emitter.regs
    for counter in (lo, last):
        emitter.regs = outer.copy()
        emitter.regs.dims[stmt.var] = counter
        for test in tests:
            index, size = (_register(emitter, x, made) for x in test.args)
            inside = f.op(f"icmp ult i64 {index}, {size}")
            whole = f.op(f"and i1 {whole}, {inside}")
    for test in tests:
        moves.step(test.args[0])
    for factor in moves.factors:
        above = f.op(f"add i64 {_register(emitter, factor, made)}, {_FACTOR}")
        whole = f.op(f"and i1 {whole}, {f.op(f'icmp ule i64 {above}, {2 * _FACTOR}')}")
    emitter.regs = outer
    return whole


def _register(emitter: Emitter, x: Atom, made: Mapping[str, Compute | Index]) -> str:
    """An int64 of the iteration that ``emitter.regs`` are about."""
    code = Lanes(emitter.function, 1)
    if not isinstance(x, Const) and x in made and x not in emitter.regs.atoms:
        for each in _operands(made[x]):
            _register(emitter, each, made)
        emitter.straight(made[x], code)
    return emitter.atom(x, I64, code)


def _operands(stmt: Compute | Index) -> Iterator[Atom]:
    yield from stmt.args if isinstance(stmt, Compute) else ()
