"""Whether what a variable holds counts as true."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.boxed_dtypes import is_boxed
from fxc.ir.graph import Literal, Operand

from ..arrays.array_facts import is_single
from ..arrays.traced_scalar import TracedScalar
from ..numbers.python_numbers import logical_not, to_bool
from ..numbers.traced_int import TracedInt
from ..outside.containers import External
from ..session.session import current
from ..values.operands import Traced, array_of, kind_of, operand, variable_of
from ..values.shadows import has_method
from .mixed import Mixed, of_numpy
from .options import Option, both_hold, one_holds


def truth(test: object) -> object:
    """``test`` as a bool, or as a traced scalar that stands for one.

    What follows from arguments alone is decided by their numbers, which become constants; but for
    sizes and ints: a guard has decided what a guard can say of them, the rest is none of the kind
    that stays the same (``n & (n - 1)``). Nor is a number that has changed from call to call.
    """
    if type(test) is TracedScalar:
        session = current()
        origins = session.origins.get(test._value)
        if origins and not origins <= session.ints and not session.leaves_open(origins):
            return bool(test)
    return going_on(test)


def going_on(test: Any) -> object:
    """As ``truth``, for loops: a number that is an argument need not be a constant."""
    if type(test) is TracedScalar:  # native code tests what it computes with
        return to_bool(test) if is_boxed(test._type.dtype) else test
    if type(test) is Mixed:
        return test.number
    if isinstance(test, Traced | External) and (filled := test._is_filled()) is not None:
        return filled
    found = array_of(test)
    if found is not None and is_single(kind_of(found)):
        return test[(0,) * found.type.rank]
    if type(test) is TracedInt:
        return test.__ne__(0)
    return _by_python(test) if has_method(test, "__bool__") else bool(test)


def _by_python(x: object) -> object:
    """The truth of an object whose ``__bool__`` is Python code."""
    found: Any = current().door.special(x, "__bool__")
    kind = found.__class__
    if kind is not bool:
        raise TypeError(f"__bool__ should return bool, returned {kind.__name__}")
    return truth(found) if isinstance(found, Traced) else found


def number_of(x: object) -> Any:
    """NumPy's number for one that is Python's or NumPy's of one dtype; anything else itself."""
    return x.number if type(x) is Mixed and x.other_dtype is None else x


def flag_of(test: object) -> Operand:
    """The truth of a bool or a traced scalar as NumPy's bool."""
    if type(test) is bool:
        return Literal(np.bool_(test))
    if operand(test).type.dtype.kind != "b":
        test = test != 0
    return of_numpy(operand(test))


def demand(test: object) -> None:
    """Have native code send a call back to Python in which a test does not hold."""
    current().record("try_demand", flag_of(test))


def demand_or_raise(test: Any, kind: type[Exception]) -> object:
    """Have an operation raise where a test does not hold, if that is handled by the program, else
    have native code send a call back to Python; the test if it may not hold behind.
    """
    door, negated = current().door, partial(logical_not, test)
    if current().handles and isinstance(test, Traced) and door.raises_if(kind, negated) is not None:
        return test
    demand(test)
    return True


def true_one(options: Sequence[Option]) -> object:
    """Whether the one of them that holds is true."""
    flags: list[Any] = []
    for flag, x in options:
        test = going_on(x) if isinstance(x, Traced) else bool(x)
        if test is True:
            flags.append(flag)
        elif test is not False:
            flags.append(both_hold(flag, variable_of(flag_of(test))))
    return one_holds(flags)
