"""Asking NumPy: an operator's result dtypes, kinds and errors, from tiny samples.

No promotion rule is written down in fxc. The NumPy callable of an operator runs once for each
combination of operand dtypes and kinds, on samples of one element, and the answer is kept.
What NumPy raises there is what the operator raises. Errors that depend on shapes are provoked in
the same way, with operands of the right shapes whose elements are all the same one in memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from functools import cache, lru_cache
from typing import Any, NoReturn

import numpy as np

from fxc.ir.boxed_dtypes import element_dtype
from fxc.ir.error_kinds import NUMPY_CALL, OPERAND
from fxc.ir.errors import InternalError, uncapturable
from fxc.ir.graph import Literal
from fxc.ir.size_functions import hint
from fxc.ir.symbols import SymExpr
from fxc.ir.types import (
    ArrayType,
    ScalarType,
    Type,
    filled,
    is_known,
    known_dtype,
    scalar_type_of,
)

from ..foreign_ufuncs import is_foreign
from ..operators import Operator

Operand = ArrayType | ScalarType | Literal

# How a sample of an operand is made: its dtype, its rank or kind, and for a Python int that might
# not fit into every dtype its value. ``None`` stands for an operand that is not there.
Key = tuple[np.dtype[Any], int | str, int | None]

_LARGE = 1 << 24  # bytes
_SMALL = 127  # a Python int from 0 to here is in the range of every dtype


def type_of(operand: Operand) -> Type:
    """The type of an operand as metas get it."""
    return operand.type if isinstance(operand, Literal) else operand


def key_of(operand: Operand | None, *, ranked: bool = False) -> Key | None:
    """What about an operand decides dtypes, kinds and errors.

    Arrays that are not of rank 0 are alike, unless ``ranked``.
    """
    if type(operand) is ArrayType:
        rank = len(operand.shape)
        return (operand.dtype, rank if ranked else min(rank, 1), None)
    if operand is None:
        return None
    if isinstance(operand, Literal):
        value, kind = operand.value, operand.type
        if type(value) is int and not 0 <= value <= _SMALL:
            return (kind.dtype, "weak", value)
    else:
        assert isinstance(operand, ScalarType)
        kind = operand
    return (kind.dtype, "weak" if kind.weak else "scalar", None)


def sample(key: Key | None) -> Any:
    """One element (a one) with the dtype and the kind of an operand."""
    if key is None:
        return None
    dtype, kind, value = key
    if value is not None:
        return value
    if kind == "weak":
        return ScalarType(dtype, weak=True).python_type(1)
    if kind == "scalar":
        return ScalarType(dtype).one
    assert isinstance(kind, int)
    return filled((1,) * kind, dtype, 1)


def quietly(function: Callable[..., Any], *args: object, **keywords: object) -> Any:
    """Call NumPy without its warnings: samples are not the user's data."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **keywords)


@cache
def derived_decide() -> bool:
    """Whether a number of a class derived from int or float is none of Python's to NumPy, and
    decides the dtype of a result. In 2.0 it is Python's.
    """
    derived: Any = type("Derived", (int,), {})
    return bool(np.result_type(np.int8, derived(1)) != np.int8)


def kind_of_result(value: object, name: str) -> Type:
    """The type of something NumPy gave for a sample.

    Raises ``CaptureError`` if it is of a dtype that fxc has no name for.
    """
    if isinstance(value, np.ndarray | np.generic):
        if not is_known(value.dtype):
            raise uncapturable(
                NUMPY_CALL, f"{name} gives dtype {value.dtype} here, which fxc does not compile"
            )
        dtype = known_dtype(value.dtype)
        if isinstance(value, np.generic):
            return ScalarType(scalar_dtype(dtype))
        shape = value.shape
        return ArrayType(dtype, shape, (dtype.itemsize,) * len(shape))
    return scalar_type_of(value)


def scalar_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of NumPy's scalar of that dtype.

    Raises ``CaptureError`` if no graph holds it: see Note [Boxed dtypes].
    """
    found = element_dtype(dtype)
    if found is None:
        kind = dtype.type.__name__
        raise uncapturable(
            OPERAND, f"a {kind} cannot be captured; leave it in an array: x[i : i + 1]"
        )
    return found


@lru_cache(maxsize=2048)  # numbers are in the keys: thousands of programs have no end of them
def ask(function: Callable[..., Any], keys: tuple[Key | None, ...]) -> tuple[Type, ...]:
    """The types of what ``function`` gives for samples of its operands."""
    if isinstance(function, np.ufunc):
        if is_foreign(function):
            return _ask_without_elements(function, keys)
        if any(key and key[2] is not None for key in keys):
            return _ask_with_values(function, keys)
    return _types(quietly(function, *map(sample, keys)), function)


def _ask_with_values(function: np.ufunc, keys: tuple[Key | None, ...]) -> tuple[Type, ...]:
    """Whether a Python int is in range is of interest, not what comes of it: nothing is computed.

    (``where=False`` instead of empty operands makes NumPy 2.4 crash in comparisons.)
    """
    samples = [sample(key) for key in keys]
    strong = [isinstance(one, np.ndarray | np.generic) for one in samples]
    if not any(strong):
        return _types(quietly(function, *samples), function)
    empty = [
        np.ones((0,), one.dtype) if one_is_strong else one
        for one, one_is_strong in zip(samples, strong, strict=True)
    ]
    results = _types(quietly(function, *empty), function)
    if any(isinstance(one, np.ndarray) and one.ndim for one in samples):
        return results
    return tuple(ScalarType(result.dtype) for result in results)


def _ask_without_elements(function: np.ufunc, keys: tuple[Key | None, ...]) -> tuple[Type, ...]:
    """The types that a ufunc of any origin gives: none of its code runs for no elements."""
    samples = [sample(key) for key in keys]
    is_strong = [isinstance(one, np.ndarray | np.generic) for one in samples]
    nothing = [
        np.asarray(one).reshape(-1)[:0] if strong or not any(is_strong) else one
        for one, strong in zip(samples, is_strong, strict=True)
    ]
    results = _types(quietly(function, *nothing), function)
    if any(isinstance(one, np.ndarray) and one.ndim for one in samples):
        return results
    return tuple(ScalarType(result.dtype) for result in results)


def _types(given: object, function: object) -> tuple[Type, ...]:
    name = getattr(function, "__name__", str(function))
    results = given if isinstance(given, tuple) else (given,)
    return tuple(kind_of_result(result, name) for result in results)


def bind(op: Operator, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and the keyword arguments of the NumPy callable of ``op``."""
    count = op.schema.positional
    names = [param.name for param in op.schema.params[count:]]
    return args[:count], dict(zip(names, args[count:], strict=True))


@lru_cache(maxsize=2048)  # numbers are in the keys: thousands of programs have no end of them
def ask_bound(op: Operator, args: tuple[Hashable, ...]) -> tuple[Type, ...]:
    """The types of what ``op`` gives for samples: as ``ask``, for operators with attributes.

    ``args`` are canonical, with ``Key`` in place of operands.
    """
    assert op.numpy is not None
    positional, keywords = bind(op, tuple(map(sampled, args)))
    return _types(quietly(op.numpy, *positional, **keywords), op.numpy)


def _is_key(arg: object) -> bool:
    return isinstance(arg, tuple) and len(arg) == 3 and isinstance(arg[0], np.dtype)


def sampled(arg: Any) -> Any:
    if _is_key(arg):
        return sample(arg)
    if isinstance(arg, tuple) and arg and all(map(_is_key, arg)):
        return tuple(sample(key) for key in arg)
    return arg


def keyed(arg: object) -> Any:
    """An argument with operands replaced by their keys (arrays with their rank)."""
    if isinstance(arg, ArrayType | ScalarType | Literal):
        return key_of(arg, ranked=True)
    if isinstance(arg, tuple):
        return tuple(keyed(item) for item in arg)
    return arg


# ---------------------------------------------------------------- errors that depend on shapes


def stand_in(arg: object) -> Any:
    """A real argument with the shape of a typed one; arrays take the memory of one element."""
    if isinstance(arg, ArrayType):
        one = np.ones((), arg.dtype)
        shape = tuple(hint(dim) for dim in arg.shape)
        made = np.lib.stride_tricks.as_strided(one, shape, (0,) * len(shape))
        if not arg.writeable:
            made.flags.writeable = False
        return made
    if isinstance(arg, Literal):
        return arg.value
    if isinstance(arg, ScalarType):
        return sample(key_of(arg))
    if isinstance(arg, SymExpr):
        return hint(arg)
    if isinstance(arg, tuple):
        return tuple(map(stand_in, arg))
    return arg


def stand_in_out(kind: ArrayType) -> np.ndarray:
    """As ``stand_in``, for an array to be written: its strides matter, unless it is large."""
    shape, strides = tuple(map(hint, kind.shape)), tuple(map(hint, kind.strides))
    reach = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    if 0 in shape or high - low > _LARGE:
        return stand_in(kind)  # type: ignore[no-any-return]
    memory = np.zeros(high - low + kind.dtype.itemsize, np.uint8)
    made: np.ndarray = np.ndarray(shape, kind.dtype, memory, -low, strides)
    made.flags.writeable = kind.writeable
    return made


def fail_in_numpy(function: Callable[..., Any], *args: object, **keywords: object) -> NoReturn:
    """Raise what NumPy raises for arguments of these types."""
    real = [stand_in(arg) for arg in args]
    quietly(function, *real, **{name: stand_in(arg) for name, arg in keywords.items()})
    raise InternalError(f"NumPy was expected to refuse {function} of {args} {keywords}")
