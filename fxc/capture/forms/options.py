"""What a variable may be, each thing with a flag. See Note [Several things]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum, Flag
from typing import Any, TypeGuard

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.types import PY_INT, ArrayType, ScalarType

from ..arrays.elements import TracedVoid, check_distinct
from ..arrays.traced_scalar import TracedScalar
from ..numbers.python_numbers import to_python
from ..numbers.traced_int import TracedInt
from ..values.operands import (
    Traced,
    array_of,
    is_derived,
    numpys_operand,
    operand,
    record,
    variable_of,
)
from .structures import DEEPEST, fields_of, item_structure

_OF_MEMBERS = (int, float, str)  # what members of an enum may be besides
_NUMBERS = (bool, int, float, TracedInt, TracedScalar)


Option = tuple[Any, Any]  # a flag and a value


def is_record(x: object) -> bool:
    """Whether this is a record for sure."""
    return isinstance(x, Traced) and x._in_pool


def has_keys(x: object) -> bool:
    """Whether ``x[key]`` is known to be an item: of a record, or of one of NumPy's."""
    return is_record(x) or type(x) is TracedVoid


def is_named(x: object) -> bool:
    """Whether this is None, a text, or a member of an enum, which may be a number or text, too."""
    if isinstance(x, Enum):
        return all(each in _OF_MEMBERS or issubclass(each, Enum) for each in type(x).__mro__[:-1])
    return x is None or type(x) is str


def is_member(x: object) -> TypeGuard[Enum]:
    """Whether this is a member of an enum: a constant, of which Python's operators are known."""
    return isinstance(x, Enum) and is_named(x)


def number_of_member(x: Any) -> object:
    """The int that a member of an enum is, with int's operators; what is no such member itself."""
    kind = type(x)
    is_number = issubclass(kind, int) and not issubclass(kind, Flag)
    return int.__int__(x) if is_number and is_named(x) else x


def numpys_number(x: object) -> object:
    """The number that NumPy takes it for: a member of an enum may be none of Python's there."""
    found = numpys_operand(x) if is_derived(x) else None
    return found.value if isinstance(found, Literal) else x


def is_of_one_type(x: object) -> bool:
    """Whether this is a number, and of which type is known."""
    is_numpys = isinstance(x, np.generic) and not isinstance(x, np.flexible)
    return is_numpys or type(x) in _NUMBERS


def is_number(x: object) -> bool:
    """Whether this is such a number, or a member of an enum that is one."""
    return is_of_one_type(x) or is_derived(x)


def is_row(x: object) -> bool:
    """Whether this is a tuple of numbers, which an assignment to an array takes for one."""
    return type(x) is tuple and all(map(is_of_one_type, x))


def has_truth(x: object) -> bool:
    """Whether ``bool(x)`` does not raise, as it does of arrays but those of one element."""
    kind = None if (found := array_of(x)) is None else found.type
    return not isinstance(kind, ArrayType) or not isinstance(kind.size, int) or kind.size == 1


def may_be_numpys(x: object) -> bool:
    """Whether an option is a number of NumPy's."""
    kinds = [graph_type(each) for _, each in options_in(x)]
    return any(isinstance(kind, ScalarType) and not kind.weak for kind in kinds)


def is_unknown_number(x: object) -> bool:
    """Whether this is a number that is not known, of one type or two."""
    return isinstance(x, Traced) and x._kinds() is not None


def is_open_int(x: object) -> bool:
    """Whether this is an int of Python's that is not known."""
    return isinstance(x, Traced) and x._graph_type() == PY_INT


def graph_type(x: object) -> ArrayType | ScalarType | None:
    """The type of a variable's value in a graph; None if it has none."""
    if isinstance(x, Traced):
        return x._graph_type()
    is_number = type(x) in (bool, int, float, complex) or isinstance(x, np.generic)
    return operand(x).type if is_number else None


def arrays_of(x: Any, depth: int = 0) -> list[Value]:
    """The arrays that a variable holds, or may hold, in tuples, dicts and objects, too."""
    if array_of(x) is not None:
        return [x._value]
    held: Sequence[Any] = sides_of(x)
    if not isinstance(x, Traced | list) and depth <= DEEPEST:
        structure = item_structure(x)
        held = () if structure is None else fields_of(x, structure)
    return [value for each in held for value in arrays_of(each, depth + 1)]


def sides_of(x: object) -> tuple[Any, ...]:
    """The two things that a variable is one of; nothing for one that no flag decides."""
    return x._sides if isinstance(x, Traced) else ()


def flag_operand(flag: object) -> Operand:
    """A flag as an operand."""
    return Literal(np.bool_(flag)) if type(flag) in (bool, np.bool_) else operand(flag)


def both_hold(left: object, right: object) -> Any:
    """Whether two flags hold."""
    for one, other in ((left, right), (right, left)):
        if type(one) in (bool, np.bool_):
            return other if one else False
    return record("logical_and", operand(left), operand(right))


def one_holds(flags: Sequence[object]) -> object:
    """Whether one of some flags holds."""
    found: Any = False
    for flag in flags:
        if type(flag) in (bool, np.bool_):
            if flag:
                return True
        elif found is False:
            found = flag
        else:
            found = record("logical_or", operand(found), operand(flag))
    return found


def one_is(options: Sequence[Option], what: Callable[[Any], bool]) -> object:
    """Whether the option is one that ``what`` holds for, Python's bool."""
    flags = [flag for flag, x in options if what(x)]
    is_known = len(flags) in (0, len(options))
    return bool(flags) if is_known else to_python(one_holds(flags))


def flags_of_one(options: Sequence[Option], others: Sequence[Option]) -> Iterator[Any]:
    """The flags by which something is what another thing is."""
    for flag, x in options:
        for one, y in others:
            if is_record(x) and is_record(y):
                yield both_hold(both_hold(flag, one), variable_of(operand(x.is_(y))))
            check_distinct(x, y)
            if x is y and is_named(x):
                yield both_hold(flag, one)


def is_instance(x: object, kinds: Any) -> bool:
    """What ``isinstance`` gives of an option."""
    return x._is_instance(kinds) if isinstance(x, Traced) else isinstance(x, kinds)


def holds_not(flag: object) -> object:
    """Whether a flag does not hold."""
    if type(flag) in (bool, np.bool_):
        return not flag
    return record("logical_not", operand(flag))


def options_in(x: object) -> Sequence[Option]:
    """What ``x`` may be."""
    return x._options() if isinstance(x, Traced) else ((True, x),)


def things_in(x: object) -> Sequence[Any]:
    """What ``x`` may be, of which the types matter alone."""
    return x._things() if isinstance(x, Traced) else (x,)
