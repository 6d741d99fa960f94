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

from collections.abc import Iterator, Mapping

from fxc.ir.symbols import computed_in
from fxc.ops.python_numbers import stem

from ..nests.addressing import step_of
from ..nests.buffers import I64, Atom, Const
from ..nests.statements import Bind, Check, Compute, For, Index, Load, Loop, While, walk
from .emitter import Emitter
from .llvm_text import Lanes

STEEP = 2**20  # places that an index may move by
FAR = 2**40  # iterations
_SIGNS = {"add": (1, 1), "subtract": (1, -1), "int": (1,), "astype": (1,), "item": (1,)}

Made = Mapping[str, Load | Compute | Index]


def looks(stmt: For, most: int) -> dict[Atom, Compute]:
    """The checks of a loop's body that are about indices which move with its counter: what says
    that one fails, and how it is computed. A body of more than ``most`` statements is not written
    down twice.
    """
    body = tuple(walk(stmt.body))
    if len(body) > most or any(isinstance(each, Loop | For | While | Bind) for each in body):
        return {}
    made = {each.name: each for each in body if isinstance(each, Load | Compute | Index)}
    found: dict[Atom, Compute] = {}
    for check in body:
        failed = check.failed if isinstance(check, Check) else None
        test = made.get(failed) if isinstance(failed, str) else None
        if isinstance(test, Compute) and test.op == "out_of_bounds":
            index, size = (_step(x, stmt.var, made) for x in test.args)
            if size == 0 and index is not None and abs(index) <= STEEP:
                found[test.name] = test
    return found


def _step(x: Atom, var: str, made: Made) -> int | None:
    """What an int64 moves by from iteration to iteration, if that is always the same."""
    if isinstance(x, Const) or x not in made:
        return 0  # nothing that the loop makes
    match made[x]:
        case Index(value=value):
            step = None if computed_in(value) else step_of(value, var)
            return step if isinstance(step, int) else None
        case Compute(op=op, args=args, arg_dtypes=dtypes) if all(each == I64 for each in dtypes):
            name = stem(op)
            steps = [_step(each, var, made) for each in args]
            if name == "multiply" and steps[0] is not None and isinstance(args[1], Const):
                return steps[0] * int(args[1].value)
            signs = _SIGNS.get(name)
            if signs is None or any(step is None for step in steps):
                return None
            return sum(sign * (step or 0) for sign, step in zip(signs, steps, strict=True))
        case _:
            return None


def are_in_bounds(emitter: Emitter, stmt: For, lo: str, hi: str) -> str:
    """A register: whether all ``looks`` pass, and count from the front, in all iterations.

    They do at both ends, and in between there is no way round 64 bits.
    """
    f = emitter.function
    last = f.op(f"sub i64 {hi}, 1")
    whole = f.op(f"icmp ult i64 {f.op(f'sub i64 {last}, {lo}')}, {FAR}")
    made = {s.name: s for s in walk(stmt.body) if isinstance(s, Compute | Index)}
    outer = emitter.regs
    for counter in (lo, last):
        emitter.regs = outer.copy()
        emitter.regs.dims[stmt.var] = counter
        for test in looks(stmt, emitter.costs.twice).values():
            index, size = (_register(emitter, x, made) for x in test.args)
            inside = f.op(f"icmp ult i64 {index}, {size}")
            whole = f.op(f"and i1 {whole}, {inside}")
    emitter.regs = outer
    return whole


def _register(emitter: Emitter, x: Atom, made: Mapping[str, Compute | Index]) -> str:
    """An int64 of the iteration that ``emitter.regs`` are about."""
    code = Lanes(emitter.function, 1)
    if not isinstance(x, Const) and x in made:
        for each in _operands(made[x]):
            _register(emitter, each, made)
        emitter.straight(made[x], code)
    return emitter.atom(x, I64, code)


def _operands(stmt: Compute | Index) -> Iterator[Atom]:
    yield from stmt.args if isinstance(stmt, Compute) else ()
