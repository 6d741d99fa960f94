"""Ints that follow from arguments and sizes by more than arithmetic of ints: ``int(0.8 * n)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.dispatch.bind import bind
from fxc.ir.graph import Literal, Operand, Region, Value
from fxc.ir.size_functions import hint
from fxc.ir.symbols import SymExpr, computed_in, symbols_of
from fxc.ir.types import ArrayType, ScalarType, scalar_type_of
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import COMPUTING
from fxc.ops.table import TABLE

from ..guards.builder import GuardBuilder
from ..session.exceptions import check_no_bug
from ..session.locations import user_location
from ..session.session import Session, current
from ..values.operands import record, wrap

# Note [Derived ints]
# An int is a size, a bound of a slice or the length of a loop, and those are dims. What a float, or
# a function such as ``math.isqrt``, becomes is none. Where it follows from scalar arguments and
# sizes, and from nothing that the program reads of an array or that a loop carries, it is known
# before the program runs: the guard program computes it, by the kernels of the operators that were
# recorded for it, and it is one more input of the graph, a symbol like an int argument. A call for
# which the computation fails misses the guards; if it fails in the call that is captured, or in a
# capture without hidden inputs, the int is a scalar of the graph as others are.


_MOST = 100  # operators that the guard program runs for one int


def int_of(name: str, *args: Operand) -> Any:
    """The int that an operator makes of scalars."""
    found = derived(kernel_of(name), *args)
    return record(name, *args) if found is None else found


def derived(function: Callable[..., object], *args: Operand) -> object:
    """The int that a function makes of scalars, as the guard program computes it; else None."""
    session = current()
    outside = session.door.outside
    if not outside.derives or not any(session.origins.get(x) for x in args if isinstance(x, Value)):
        return None
    found = _Computation.of(session, args)
    if found is None:
        return None
    try:
        number = found.result(function, args)
    except Exception as error:
        check_no_bug(error)
        return None
    if type(number) is not int or not -(2**63) <= number < 2**63:
        return None
    return outside.derived(found.expression(function, args), number, f"an int at {user_location()}")


def known_result(x: Value) -> object:
    """What an operator makes of scalars in this call, from here on a constant; None for an input of
    the graph, and for what the guard program does not compute.
    """
    session = current()
    outside = session.door.outside
    found = _Computation.of(session, (x,)) if outside.derives and x in session.made else None
    number = None if found is None else found.values[x]
    if found is None or _kind_of(number) != x.type:
        return None
    outside.demand(found.expression_of(x), number, f"a number at {user_location()}")
    return number


def _kind_of(number: object) -> ScalarType | None:
    try:
        return scalar_type_of(number)
    except TypeError:
        return None


def _stays(session: Session, array: Value, at: int) -> bool:
    """Whether an array holds what it was made with at that time: it is not written to."""
    aliases, root = session.aliases, session.aliases.root(array)
    if root in aliases.changed or not aliases.may_rely_on(root):
        return False
    aliases.rely_on(root, at)
    return True


class _Computation:
    """Scalars that operators make, in order, with what they are in this call."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.guards: GuardBuilder = session.door.outside.guards
        self.numbers: dict[Value, tuple[str, Any]] = session.door.outside.numbers
        self.calls: dict[Value, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
        self.values: dict[Value, Any] = {}  # in that order

    @staticmethod
    def of(session: Session, args: Sequence[object]) -> _Computation | None:
        """What ``args`` need; None if something cannot be computed by guards, or that is long."""
        found = _Computation(session)
        pending = [x for x in args if isinstance(x, Value)]
        while pending:
            x = pending.pop()
            if x in found.calls or x in found.numbers:
                continue
            call = session.made.get(x)
            if call is None or x.type.rank or session.origins.get(x) is None:
                return None
            if isinstance(x.type, ArrayType) and not _stays(session, x, call.at):
                return None
            given = bind(TABLE[call.name], call.args, call.kwargs)
            if len(found.calls) == _MOST or not all(map(found._is_known, given)):
                return None
            found.calls[x] = kernel_of(call.name), given
            pending += [each for each in given if isinstance(each, Value)]
        try:
            for x in sorted(found.calls, key=lambda each: session.made[each].at):
                found.values[x] = found.result(*found.calls[x])
        except Exception as error:
            check_no_bug(error)
            return None
        return found

    def _is_known(self, x: object) -> bool:
        """Whether guards have an argument, unless it is a scalar."""
        if isinstance(x, SymExpr):
            symbols = self.guards.symbols
            return not computed_in(x) and symbols_of(x).keys() <= symbols.keys()
        return not isinstance(x, tuple | Region)

    def result(self, function: Callable[..., object], args: Sequence[object]) -> Any:
        """What a function makes of arguments in this call; raises what it raises."""
        with np.errstate(all="ignore"):
            return function(*map(self._value, args))

    def _value(self, x: object) -> Any:
        match x:
            case Value():
                return self.values[x] if x in self.values else self.numbers[x][1]
            case Literal(value):
                return value
            case SymExpr():
                return hint(x)
            case _:
                return x

    def _keep_warnings(self, x: Value) -> None:
        """Have the graph compute a number of NumPy's, too: the guard program says no warnings."""
        session = self.session
        can_warn = not self._is_weak(x) and TABLE[session.made[x].name].tag in COMPUTING
        if can_warn and not session.region:
            session.discarded.append(wrap(x))

    @staticmethod
    def _is_weak(x: Value) -> bool:
        return isinstance(x.type, ScalarType) and x.type.weak

    def expression(self, function: Callable[..., object], args: Sequence[object]) -> str:
        """The same in the guard program."""
        given = ", ".join(map(self.expression_of, args))
        return f"{self.guards.constant(function)}({given})"

    def expression_of(self, x: object) -> str:
        """An argument in the guard program, which computes it once."""
        guards, numbers = self.guards, self.numbers
        match x:
            case Value():
                for each in () if x in numbers else self.values:
                    if each not in numbers:
                        source = guards.fetch(self.expression(*self.calls[each]), each.name)
                        numbers[each] = source.var, self.values[each]
                        self._keep_warnings(each)
                return numbers[x][0]
            case Literal(value):
                return guards.constant(value)
            case SymExpr():
                return guards.expression(x)
            case _:
                return guards.constant(x)
