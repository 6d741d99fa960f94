"""Ints that are not known while capturing as sizes: ``np.zeros(x.max() + 1)``.

See Note [Measured sizes].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.size_functions import floordiv, hint, mod, substitute
from fxc.ir.symbols import MOST_MEASURED, Dim, SymExpr, are_heavy, symbols_of
from fxc.ir.types import PY_INT, ScalarType
from fxc.ops.kernels import kernel_of
from fxc.ops.python_numbers import stem

from ..session.refusing import Request, Respecialise, constants
from ..session.session import Session, current
from ..values.operands import kind_of, operand, wrap
from .python_numbers import to_int
from .traced_int import int_dim, wrap_dim
from .varying import fits

# Note [Measured sizes]
# An int that a loop carries, or that is computed from data, may be a size: it is bound to a symbol
# there, as a counted size is (Note [Counted sizes]), and a check sends the call back to NumPy
# unless it is from 0 to ``MOST_MEASURED``. Arithmetic with it is taken apart, down to what is no
# arithmetic, so that sizes which follow from one number are dims of one symbol. A difference is
# measured itself, unless what is subtracted is a size already: it may be negative, as the lowest of
# some places. Nothing bounds such a size before the program runs: native code allocates the
# temporaries (``lowering/scheduling/allocations.py``). It is cut behind the size of an array that
# leaves it (``lowering/nests/pieces.py``): the plan makes that array then, before the rest runs.
# A size that follows from counters of loops alone (``r**i``) and is 1 at first has a layout then
# that the other iterations do not have: Python runs such loops if they have few iterations.

_ARITHMETIC: dict[str, Callable[[Dim, Dim], Dim]] = {
    "add": lambda left, right: left + right,
    "subtract": lambda left, right: left - right,
    "multiply": lambda left, right: left * right,
    "floor_divide": floordiv,
    "remainder": mod,
}
_SHIFTS: dict[str, Callable[[Dim, int], Dim]] = {
    "left_shift": lambda left, by: left * 2**by,
    "right_shift": lambda left, by: floordiv(left, 2**by),
}


def length_of_range(start: object, stop: Any, step: Any) -> object:
    """The length of ``np.arange`` of floats that depend on data; None of other numbers."""
    kinds = {operand(x).type.dtype for x in (start, stop, step)}
    if not all(x.kind == "i" or x == np.float64 for x in kinds):
        return None
    parts = (stop - start) / step
    is_usual = np.logical_and(abs(parts) < 2.0**62, np.logical_or(parts != 0, stop == start))
    current().record("try_demand", operand(is_usual))
    length = size_from(to_int(np.ceil(np.maximum(parts, 0.0)))._value)
    return None if length is None else wrap_dim(length)


def size_from(number: Value) -> Dim | None:
    """The dim that an int is which follows from dims by arithmetic, from elements of arrays or from
    what a loop carries; else None: it follows from arguments, and is the same in each iteration.
    """
    session = current()
    found = _Dims(session, lambda *_: None).of(number)
    if found is not None and fits(found):
        return found
    if session.origins.get(number) and not session.made_in(number):
        return None
    found = _Dims(session, _measured).of(number)
    return found if found is not None and fits(found) else _measured(session, number)


def known_size(number: Value) -> Dim | None:
    """The dim that an int is which follows from sizes that are measured already."""
    found = _Dims(current(), Session.known_size).of(number)
    return found if found is not None and fits(found) else None


def size_of(number: Value) -> Dim | None:
    """The size that a number is, if it counts how many elements of a mask are True."""
    session = current()
    call = session.made.get(number)
    while call is not None and call.name in ("py_int", "try_int"):
        number = call.args[0]
        call = session.made.get(number)
    if call is None or call.name != "sum" or number.type != ScalarType(PY_INT.dtype):
        return None
    (mask,) = call.args
    if not isinstance(mask, Value) or mask.type.dtype != np.bool_:
        return None
    known = session.known_size(number)
    if known is not None:
        return known
    return session.bind_size(number, kind_of(mask).size, mask=mask, at=call.at)


class _Dims:
    """Ints as dims of what ``leaf`` gives for those that are no arithmetic of others."""

    def __init__(self, session: Session, leaf: Callable[[Session, Value], Dim | None]) -> None:
        self.session = session
        self.leaf = leaf
        self.found: dict[Value, Dim | None] = {}

    def of(self, x: Operand) -> Dim | None:
        if isinstance(x, Literal):
            return _number(x)
        if x not in self.found:
            self.found[x] = self._taken_apart(x)
        return self.found[x]

    def _taken_apart(self, x: Value) -> Dim | None:
        call, known = self.session.made.get(x), self.session.known_size(x)
        if known is not None or call is None or not _is_int(x):
            return known or self.leaf(self.session, x)
        name, args = stem(call.name), call.args
        if name == "int_value":
            found: Dim = args[0]
            return found
        if name == "astype" and _is_int(args[0]):
            return self.of(args[0])
        if name == "subtract" and not self._is_known(args[1]):
            return self.leaf(self.session, x)  # the lowest place, perhaps, which may be negative
        if name in _ARITHMETIC and all(map(_is_int, args)):
            left, right = map(self.of, args)
            if left is None or right is None:
                return None
            is_division = name in ("floor_divide", "remainder")
            if not are_heavy(left, right) and (not is_division or decide(right, ">", 0)):
                return _ARITHMETIC[name](left, right)
        elif name in _SHIFTS and _is_int(args[0]) and isinstance(args[1], Literal):
            shifted = self.of(args[0])
            return None if shifted is None else _SHIFTS[name](shifted, _number(args[1]))
        return self.leaf(self.session, x)

    def _is_known(self, x: Operand) -> bool:
        return isinstance(x, Literal) or known_size(x) is not None


def _number(x: Literal) -> int:
    assert isinstance(x.value, int | np.int64)
    return int(x.value)


def _is_int(x: Operand) -> bool:
    """Whether an operand is an int of Python's, or a scalar that sizes fit."""
    return isinstance(x.type, ScalarType) and x.type.dtype == np.int64


def _measured(session: Session, number: Value) -> Dim:
    """The symbol that stands for a number here."""
    counters, labels = _follows_from(session, number)
    few = frozenset[Request]().union(*(each.few(counters) for each in session.statements))
    if few and _first(session, number) in (0, 1):
        raise Respecialise(*few, *constants(labels))
    whole = to_int(wrap(number))
    known = int_dim(whole)
    if known is not None:  # what the guard program computes
        return known
    fits = session.record("try_fit", operand(whole), Literal(0), Literal(MOST_MEASURED))
    return session.bind_size(fits, MOST_MEASURED, number=number)


def _follows_from(session: Session, number: Value) -> tuple[set[str], set[str]]:
    """The counters of loops that an int follows from, and what numbers from outside are called in
    requests that it follows from, too; no counters if it follows from data.
    """
    found: set[str] = set()
    labels: set[str] = set()
    waiting: list[object] = [number]
    seen: set[int] = set()
    while waiting:
        x = waiting.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        names = symbols_of(x).keys() if isinstance(x, SymExpr) else set()
        if isinstance(x, Value):
            call = session.made.get(x)
            if x.name in session.counters:
                names = {x.name}
            elif call is not None and not x.type.rank:
                waiting += call.args
            elif session.origins.get(x) is None:
                return set(), set()
            labels |= session.origins.get(x, frozenset())
        if not session.sizes.keys().isdisjoint(names):
            return set(), set()
        found |= session.counters.keys() & names
        labels |= session.labels_of(names - session.counters.keys())
    return found, labels


def _first(session: Session, x: object) -> object:
    """An int of counters and outer numbers in the first iterations; None if unknown."""
    if isinstance(x, Literal):
        return x.value
    if isinstance(x, SymExpr):
        lows = {
            name: session.counters[name][0]
            for name in symbols_of(x).keys() & session.counters.keys()
        }
        return None if None in lows.values() else hint(substitute(x, lows))  # type: ignore[arg-type]
    if not isinstance(x, Value):
        return x
    call = session.made.get(x)
    if x.name in session.counters:
        low = session.counters[x.name][0]
        return None if low is None else hint(low)
    if call is None:
        return None
    args = [_first(session, each) for each in call.args]
    if call.name == "int_value":
        return args[0]
    try:
        return None if None in args else kernel_of(call.name)(*args)
    except Exception:
        return None
