"""Python's operators of mixed numbers. See Note [Mixed scalars]."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from fxc.ir.later import import_later
from fxc.ir.types import ScalarType

from ..arrays.ufuncs import call_ufunc
from ..numbers.python_numbers import arithmetic, cast_to, to_float, to_int
from ..session.session import current
from ..values.operands import Traced, is_derived, operand, variable_of
from ..values.operator_methods import BINARY, COMPARISONS, operator_of
from .mixed import (
    Mixed,
    as_dtype,
    beside_strong,
    decides_dtype,
    is_strong,
    is_weak,
    mixed_form,
    number_of,
    of_numpy,
    or_one,
    select,
    unclear,
)
from .several import for_each

# See Note [Rooms with one door].
computes = import_later("fxc.capture.arrays.deferring", "computes")
left_to = import_later("fxc.capture.arrays.deferring", "left_to")
left_to_of_scalar = import_later("fxc.capture.arrays.deferring", "left_to_of_scalar")
of_one_dtype = import_later("fxc.capture.forms.one_dtype", "of_one_dtype")


def _neg(x: Mixed) -> object:
    if x.whole is not None:
        return _one_of(x.flag, -x.given, -x.whole)
    return x.__rsub__(0) if x.kind is int else Mixed(-x.number, x.flag)


def _pos(x: Mixed) -> object:
    return for_each(operator.pos, (x,)) if x.kind is bool else x


def _abs(x: Mixed) -> object:
    if x.kind is bool:
        return for_each(abs, (x,))
    if x.whole is not None:
        return _one_of(x.flag, abs(x.given), abs(x.whole))
    if x.kind is int:
        return Mixed(_of_python(abs(_python_number(x)), x.dtype), x.flag)
    found = abs(x.number)
    if x.kind is complex:  # Python raises where it is too large
        fits = call_ufunc("isfinite", found)
        current().record("try_demand", operand(call_ufunc("logical_or", x.flag, fits)))
    return Mixed(found, x.flag)


def _invert(x: Mixed) -> object:
    return for_each(operator.invert, (x,))


def _one_of(flag: object, given: object, other: object) -> object:
    """``given`` if the flag holds, else ``other``."""
    if operand(given).type == operand(other).type:
        return select(flag, given, other)
    form = mixed_form(given, other)
    if form is None:
        raise unclear("arithmetic")
    if form.has_whole:
        return Mixed(given, flag, other)
    return Mixed(select(flag, given, other), flag)


def _python_number(x: object) -> Any:
    """The number as Python's."""
    if type(x) is not Mixed:
        return x
    if not isinstance(x.number, Traced):
        return x.number.item()
    return to_float(x.number) if x.dtype.kind == "f" else to_int(x.number)


def _of_python(x: object, dtype: np.dtype) -> Any:
    """What NumPy has where Python has ``x``, computed from numbers of that dtype."""
    found = operand(x)
    return variable_of(cast_to(found, dtype) if found.type.dtype.kind == "i" else of_numpy(found))


def _python_type(x: object) -> type:
    found: type = x.kind if type(x) is Mixed else operand(x).type.python_type  # type: ignore[union-attr]
    return found


def _compute(name: str, left: object, right: object) -> object:
    both = (left, right)
    if any(map(is_derived, both)):  # which may have operators of its own beside one of the two
        return _by_cases(name, both)
    if not all(isinstance(x, Traced | np.generic | int | float | complex) for x in both):
        return _beside_other(name, left, right)
    if any(isinstance(x, Traced) and x._run is not None and type(x) is not Mixed for x in both):
        return NotImplemented
    mixed = [x for x in both if type(x) is Mixed]
    is_float = any(x.dtype.kind == "f" for x in mixed)
    if name in _OF_BITS and is_float and not any(isinstance(x, np.ndarray) for x in both):
        return _by_cases(name, both)
    if any(x.kind is complex for x in mixed):
        return _of_complex(name, left, right)
    strong = [x for x in both if is_strong(x)]
    if strong:
        is_scalar = isinstance(operand(strong[0]).type, ScalarType)
        if is_scalar and any(decides_dtype(x, strong[0]) for x in mixed):
            return _by_cases(name, both)
        return _by_numpy(name, *both)
    if any(x.whole is not None for x in mixed):
        return _of_ints(name, left, right)
    kinds = set(map(_python_type, both))
    if not _is_the_same(name, kinds, both):
        return _by_cases(name, both)
    return _of_one_type(name, kinds, both)


def _beside_other(name: str, left: object, right: Any) -> object:
    """An operator beside what is no number. The program's code runs once, whatever it is."""
    mixed, other = (left, right) if type(left) is Mixed else (right, left)
    if not computes(other, name):
        return _by_cases(name, (left, right))  # NumPy may make an array of it
    if is_weak(mixed.given):
        return NotImplemented
    if mixed is right:
        return left_to(left)
    return left_to_of_scalar(name, lambda: _as_pythons(mixed), right)


def _as_pythons(x: Mixed) -> object:
    """The number as Python's in any case."""
    given = x.given.item()
    return given if x.whole is None else Mixed(given, x.flag, x.whole)


def _of_one_type(name: str, kinds: set[type], both: tuple[object, object]) -> object:
    """What Python gives for numbers of its own, and NumPy for those of one dtype."""
    mixed = [x for x in both if type(x) is Mixed]
    dtype, flag = mixed[0].dtype, _flag_of(mixed)
    if name in _WRAPPING and kinds == {int} and dtype == np.int64:
        # NumPy's arithmetic wraps; native code leaves where Python's would have to.
        zero = np.int64(0)
        given = [to_int(select(flag, zero, x.number)) if type(x) is Mixed else x for x in both]
        _arithmetic(name, *given)
        return Mixed(_by_numpy(name, *map(number_of, both)), flag)
    if name in BINARY and (kinds == {int} or name not in _EXACT_OF_FLOATS):
        found = _if_defined(name, *map(_python_number, both))
        if found is None:
            current().record("try_demand", operand(flag))
            return _by_numpy(name, *map(number_of, both))
        return Mixed(_of_python(found, dtype), flag)
    if kinds == {int}:
        return Mixed(_of_python(_arithmetic(name, *map(_python_number, both)), dtype), flag)
    return Mixed(_by_numpy(name, *(_as(np.float64, x) for x in both)), flag)


def _by_numpy(name: str, *xs: object) -> object:
    return call_ufunc(_NUMPYS[name], *xs)


def _flag_of(mixed: list[Mixed]) -> object:
    """Whether one of them is NumPy's."""
    flags = [x.flag for x in mixed]
    return flags[0] if len(flags) == 1 else call_ufunc("logical_or", *flags)


def _as(dtype: type, x: object) -> object:
    """A number beside mixed ones of this dtype."""
    return x.number if type(x) is Mixed else as_dtype(x, np.dtype(dtype))


def _by_cases(name: str, both: tuple[object, object]) -> object:
    """What an operator gives for each thing that the two may be."""
    return for_each(operator_of(name), both)


def _is_the_same(name: str, kinds: set[type], both: tuple[Any, Any]) -> bool:
    """Whether Python's result, where there is one, is NumPy's number."""
    dtypes = {x.dtype for x in both if type(x) is Mixed}
    if len(dtypes) != 1 or not kinds <= {int, float} or (name in COMPARISONS and len(kinds) == 2):
        return False
    (dtype,) = dtypes
    if name == "pow" and not (type(both[1]) in (int, float) and both[1] >= 0):
        return False
    if kinds != {int}:
        return dtype in (np.float64, np.int64)
    if name == "truediv":
        return dtype.itemsize >= 4
    info = np.iinfo(dtype)
    beside = [x for x in both if type(x) is not Mixed]
    return dtype == np.int64 or all(type(x) is int and info.min <= x <= info.max for x in beside)


def _if_defined(name: str, left: object, right: object) -> object:
    """Python's arithmetic; None where it raises for certain, which NumPy does not."""
    try:
        if any(isinstance(x, Traced) for x in (left, right)):
            return arithmetic(name, left, right)
        return operator_of(name)(left, right)
    except (ArithmeticError, ValueError):
        return None


def _arithmetic(name: str, left: object, right: object) -> object:
    """Python's arithmetic, where it does not raise for certain."""
    found = _if_defined(name, left, right)
    if found is None:
        raise unclear(f"{name!r} with {right!r}")
    return found


_WRAPPING = frozenset({"add", "sub", "mul", "lshift"})
_DIVIDING = frozenset({"truediv", "floordiv", "mod", "pow"})


def _of_ints(name: str, left: object, right: object) -> object:
    """Arithmetic of what may be an int with a number of Python's, for all that they may be."""
    mixed = [x for x in (left, right) if type(x) is Mixed]
    if any(isinstance(x, complex) for x in (left, right)):
        raise unclear(f"{name!r}")
    if any(x._kinds() != mixed[0]._kinds() for x in mixed):
        return _by_cases(name, (left, right))
    alone = len(mixed) == 1
    wholes = [x.whole if type(x) is Mixed else x for x in (left, right)]
    givens = [(x.given if alone else x.number) if type(x) is Mixed else x for x in (left, right)]
    if name in _DIVIDING and alone:
        (only,) = mixed
        none = call_ufunc("logical_not", only.flag)
        wholes = [or_one(none, x) if x is only.whole else x for x in wholes]
        givens = [or_one(only.flag, x) if x is only.given else x for x in givens]
    if is_weak(mixed[0].given):
        given = _arithmetic(name, *givens)
    else:
        given = _by_numpy(name, *givens)
    flag = _flag_of(mixed)
    whole = _if_defined(name, *wholes)
    if whole is None:
        current().record("try_demand", operand(flag))
        return given
    return _one_of(flag, given, whole)


def _of_complex(name: str, left: object, right: object) -> object:
    """Arithmetic of complex numbers. Python's and np.float64, which is a float, make Python's."""
    both = (left, right)
    compute = operator_of(name)  # scalars have bits of their own
    strong = [x for x in both if type(x) is not Mixed and not is_weak(x)]
    is_float = type(right) is not Mixed and operand(right).type == ScalarType(np.dtype(np.float64))
    if strong and not is_float:
        return compute(*(beside_strong(x, both) for x in both))
    if name == "pow" and type(left) is Mixed and type(right) in (int, float) and right == 2:
        return _square(left)
    mixed = [x for x in both if type(x) is Mixed]
    if name not in _EXACT_OF_FLOATS or any(x.dtype != np.complex128 for x in mixed):
        raise unclear(f"{name!r}")
    flag = _flag_of(mixed)
    return Mixed(compute(*(_as(np.complex128, x) for x in both)), flag)


def _square(x: Mixed) -> object:
    """``x**2`` of a complex number, as Python multiplies; it raises if that is too large."""
    found = operator.mul(np.complex128(1), operator.mul(x.number, x.number))
    fits = call_ufunc("logical_or", x.flag, call_ufunc("isfinite", found))
    current().record("try_demand", operand(fits))
    return Mixed(select(x.flag, x.number**2, found), x.flag)


_EXACT_OF_FLOATS = frozenset({"add", "sub", "mul"})
_OF_BITS = frozenset({"and", "or", "xor", "lshift", "rshift"})  # which floats do not have
_UNARY = {"neg": _neg, "pos": _pos, "abs": _abs, "invert": _invert}
_NUMPYS = BINARY | COMPARISONS


def computed(name: str, *xs: Any) -> object:
    """What an operator gives of mixed numbers, and of others beside one."""
    return _UNARY[name](*xs) if name in _UNARY else _compute(name, *xs)
