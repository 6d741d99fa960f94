"""Python's operators of mixed numbers. See Note [Mixed scalars]."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from fxc.ir.types import ScalarType

from ..numpy_api.ufuncs import BINARY, COMPARISONS, call_ufunc
from ..session import current
from .mixed import (
    Mixed,
    as_dtype,
    beside_strong,
    cast_to,
    decides_dtype,
    is_strong,
    is_weak,
    kinds_of,
    mixed_form,
    number_of,
    of_numpy,
    or_one,
    select,
    unclear,
)
from .one_dtype import of_one_dtype
from .operands import Traced, operand, variable_of
from .python_numbers import arithmetic, to_float, to_int
from .several import for_each


def _neg(x: Mixed) -> Any:
    if x.whole is not None:
        return _one_of(x.flag, -x.given, -x.whole)
    return x.__rsub__(0) if x.kind is int else Mixed(-x.number, x.flag)


def _abs(x: Mixed) -> Any:
    if x.whole is not None:
        return _one_of(x.flag, abs(x.given), abs(x.whole))
    if x.kind is int:
        return Mixed(_of_python(abs(_python_number(x)), x.dtype), x.flag)
    found = abs(x.number)
    if x.kind is complex:  # Python raises where it is too large
        fits = call_ufunc("isfinite", found)
        current().record("try_demand", operand(call_ufunc("logical_or", x.flag, fits)))
    return Mixed(found, x.flag)


def _invert(x: Mixed) -> Any:
    return for_each(operator.invert, (x,))


def _one_of(flag: object, given: object, other: object) -> Any:
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


def _define(name: str, numpy_name: str) -> None:
    def compute(left: object, right: object) -> Any:
        both = (left, right)
        if not all(isinstance(x, Traced | np.generic | int | float | complex) for x in both):
            return NotImplemented
        if any(isinstance(x, Traced) and x._run is not None and type(x) is not Mixed for x in both):
            return NotImplemented
        is_float = any(type(x) is Mixed and x.dtype.kind == "f" for x in both)
        if name in _OF_BITS and is_float and not any(isinstance(x, np.ndarray) for x in both):
            return _by_cases(name, both)
        if any(type(x) is Mixed and x.kind is complex for x in both):
            return _of_complex(name, numpy_name, left, right)
        strong = [x for x in both if is_strong(x)]
        if strong:
            is_scalar = isinstance(operand(strong[0]).type, ScalarType)
            mixed = [x for x in both if type(x) is Mixed]
            if is_scalar and any(decides_dtype(x, strong[0]) for x in mixed):
                return _by_cases(name, both)
            return call_ufunc(numpy_name, *(beside_strong(x, both) for x in both))
        if any(type(x) is Mixed and x.whole is not None for x in both):
            return _of_ints(name, numpy_name, left, right)
        kinds = {_python_type(x) for x in both}
        if not _is_the_same(name, kinds, both):
            return _by_cases(name, both)
        flags = [x.flag for x in both if type(x) is Mixed]
        flag = flags[0] if len(flags) == 1 else call_ufunc("logical_or", *flags)
        dtypes = {x.dtype for x in both if type(x) is Mixed}
        if name in _WRAPPING and kinds == {int} and dtypes == {np.dtype(np.int64)}:
            return _of_words(name, numpy_name, both, flag)
        if name not in _COMPARED and (kinds == {int} or numpy_name not in _EXACT_OF_FLOATS):
            found = _if_defined(name, *map(_python_number, both))
            if found is None:
                current().record("try_demand", operand(flag))
                return call_ufunc(numpy_name, *map(number_of, both))
            return Mixed(_of_python(found, *dtypes), flag)
        if kinds == {int}:
            return Mixed(_of_python(_arithmetic(name, *map(_python_number, both)), *dtypes), flag)
        numbers = [
            x.number if type(x) is Mixed else as_dtype(x, np.dtype(np.float64)) for x in both
        ]
        return Mixed(call_ufunc(numpy_name, *numbers), flag)

    setattr(Mixed, f"__{name}__", lambda self, other: compute(self, other))
    if name not in _COMPARED:
        setattr(Mixed, f"__r{name}__", lambda self, other: compute(other, self))


def _of_words(name: str, numpy_name: str, both: tuple[Any, Any], flag: object) -> Any:
    """Arithmetic of int64, which wraps, and Python's, which leaves native code where that would."""
    zero = np.int64(0)
    given = [to_int(select(flag, zero, x.number)) if type(x) is Mixed else x for x in both]
    _arithmetic(name, *given)
    return Mixed(call_ufunc(numpy_name, *map(number_of, both)), flag)


def _by_cases(name: str, both: tuple[Any, Any]) -> Any:
    """What an operator gives for each thing that the two may be."""
    return for_each(getattr(operator, f"__{name}__"), both)


def _is_the_same(name: str, kinds: set[type], both: tuple[Any, Any]) -> bool:
    """Whether Python's result, where there is one, is NumPy's number."""
    dtypes = {x.dtype for x in both if type(x) is Mixed}
    if len(dtypes) != 1 or not kinds <= {int, float} or (name in _COMPARED and len(kinds) == 2):
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


def _if_defined(name: str, left: object, right: object) -> Any:
    """Python's arithmetic; None where it raises for certain, which NumPy does not."""
    try:
        if any(isinstance(x, Traced) for x in (left, right)):
            return arithmetic(name, left, right)
        return getattr(operator, f"__{name}__")(left, right)
    except (ArithmeticError, ValueError):
        return None


def _arithmetic(name: str, left: object, right: object) -> Any:
    """Python's arithmetic, where it does not raise for certain."""
    found = _if_defined(name, left, right)
    if found is None:
        raise unclear(f"{name!r} with {right!r}")
    return found


_WRAPPING = frozenset({"add", "sub", "mul", "lshift"})
_DIVIDING = frozenset({"truediv", "floordiv", "mod", "pow"})


def _of_ints(name: str, numpy_name: str, left: object, right: object) -> Any:
    """Arithmetic of what may be an int with a number of Python's, or another such: what it gives
    for ints, and for what else it may be.
    """
    mixed = [x for x in (left, right) if type(x) is Mixed]
    if any(isinstance(x, complex) for x in (left, right)):
        raise unclear(f"{name!r}")
    if any(kinds_of(x) != kinds_of(mixed[0]) for x in mixed):
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
        given = call_ufunc(numpy_name, *givens)
    flag = mixed[0].flag if alone else call_ufunc("logical_or", *(x.flag for x in mixed))
    whole = _if_defined(name, *wholes)
    if whole is None:
        current().record("try_demand", operand(flag))
        return given
    return _one_of(flag, given, whole)


def _of_complex(name: str, numpy_name: str, left: object, right: object) -> Any:
    """Arithmetic of complex numbers. Python's and np.float64, which is a float, make Python's."""
    both = (left, right)
    compute = getattr(operator, f"__{name}__")  # scalars have bits of their own
    strong = [x for x in both if type(x) is not Mixed and not is_weak(x)]
    is_float = bool(strong) and _kind_or_none(right) == ScalarType(np.dtype(np.float64))
    if strong and not is_float:
        return compute(*(beside_strong(x, both) for x in both))
    if name == "pow" and type(left) is Mixed and type(right) in (int, float) and right == 2:
        return _square(left)
    mixed = [x for x in both if type(x) is Mixed]
    if numpy_name not in _EXACT_OF_FLOATS or any(x.dtype != np.complex128 for x in mixed):
        raise unclear(f"{name!r}")
    flag = mixed[0].flag if len(mixed) == 1 else call_ufunc("logical_or", *(x.flag for x in mixed))
    numbers = [x.number if type(x) is Mixed else _complex128(x) for x in both]
    return Mixed(compute(*numbers), flag)


def _square(x: Mixed) -> Any:
    """``x**2`` of a complex number, which Python multiplies by itself, and one by that; it raises
    if that is too large.
    """
    found = operator.mul(np.complex128(1), operator.mul(x.number, x.number))
    fits = call_ufunc("logical_or", x.flag, call_ufunc("isfinite", found))
    current().record("try_demand", operand(fits))
    return Mixed(select(x.flag, x.number**2, found), x.flag)


def _kind_or_none(x: object) -> Any:
    return None if type(x) is Mixed else operand(x).type


def _complex128(x: object) -> Any:
    return as_dtype(x, np.dtype(np.complex128))


_EXACT_OF_FLOATS = frozenset({"add", "subtract", "multiply"})
_OF_BITS = frozenset({"and", "or", "xor", "lshift", "rshift"})  # which floats do not have
_COMPARED = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def give_operators() -> None:
    """Give mixed numbers what they do with others, and by what may be one of several things."""
    for name, numpy_name in (BINARY | COMPARISONS).items():
        if name != "matmul":
            _define(name, numpy_name)
    for name, method in (("neg", _neg), ("abs", _abs), ("invert", _invert)):
        setattr(Mixed, f"__{name}__", method)
    Mixed._among = staticmethod(of_one_dtype)
