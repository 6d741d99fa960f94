"""Operators for ufuncs of any origin: SciPy's, numba's, the user's own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from fxc.ir.asynchronous import NUMPYS_ERRORS, hand_on
from fxc.ir.errors import WouldRaise
from fxc.ir.records import frozen

from .operators import Operator, Row, Tag, row
from .table import TABLE

# Note [Foreign ufuncs]
# A ufunc that the table does not list gets a row of its own when a program first calls it; it stays
# for as long as the process runs. The types of its results are those that it gives for arrays
# without elements: its code does not run then. One with a loop over Python objects for these types
# may do anything at all, and one with core dimensions is no pointwise operator: neither is adopted.
# Native code calls the inner loop itself, by the pointer that the ufunc has, on numbers and on
# arrays that lie as NumPy would hand them over. Which loop it is NumPy says (``resolve_dtypes``).
# An exception that the loop leaves sends the whole call back to Python, as a check that fails.
# The frequent ones of ``scipy.special`` have native code as NumPy's own have: a rule of the name
# "special_" and theirs, if the ufunc is the very object that ``scipy.special`` has. fxc never
# imports SciPy. Its errors (``special.errstate``) come with floating-point flags, which have the
# call replayed: Note [Floating-point flags].


def operator_of(ufunc: np.ufunc) -> Operator:
    """The operator that means a ufunc without core dimensions."""
    return TABLE.adopt(ufunc, lambda name: _row_of(ufunc, name))


def _row_of(ufunc: np.ufunc, name: str) -> Row:
    params = ", ".join(f"Array x{place}" for place in range(ufunc.nin))
    returns = ", ".join(["Array"] * ufunc.nout)
    result = returns if ufunc.nout == 1 else f"({returns})"
    return row(f"{name}({params}) -> {result}", Tag.POINTWISE, ufunc, raises=True)


def is_foreign(ufunc: np.ufunc) -> bool:
    """Whether a ufunc is none of NumPy's own, by its name."""
    return getattr(np, ufunc.__name__, None) is not ufunc


def is_numpys_ufunc(function: object) -> bool:
    return isinstance(function, np.ufunc) and not is_foreign(function)


@cache
def name_in_scipy(ufunc: object) -> str | None:
    """The name of a ufunc that is an attribute of ``scipy.special``, if the program has that."""
    name = getattr(ufunc, "__name__", None)
    is_there = name and getattr(sys.modules.get("scipy.special"), name, None) is ufunc
    return name if is_there else None


@cache
def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``; of a foreign ufunc, one whose exceptions are never taken for those of a handler
    of a signal: see ``NUMPYS_ERRORS``.
    """
    if not (isinstance(function, np.ufunc) and is_foreign(function)):
        return function

    def call(*args: object, **options: object) -> Any:
        try:
            return function(*args, **options)
        except NUMPYS_ERRORS:
            raise
        except Exception as error:
            hand_on(error)
            raise WouldRaise(f"{function.__name__} raises {error!r}") from error

    return call


PromotionKey = np.dtype | type  # of an operand: a dtype, or the type of a Python number


@frozen
class InnerLoop:
    """The loop number ``number`` of a ufunc, with the dtypes of its operands and of its result."""

    number: int
    dtypes: tuple[np.dtype, ...]


@cache
def inner_loop_of(ufunc: object, keys: tuple[PromotionKey, ...]) -> InnerLoop | None:
    """The loop for operands of these dtypes, or kinds of Python's numbers; None if native code
    cannot call it: it is one of NumPy's own, or takes other things than real numbers.
    """
    if type(ufunc) is not np.ufunc or not is_foreign(ufunc):
        return None
    if ufunc.signature is not None or (ufunc.nin, ufunc.nout) != (len(keys), 1):
        return None
    dtypes: tuple[np.dtype, ...] = ufunc.resolve_dtypes((*keys, None))
    if any(dtype.kind not in "biuf" or dtype.itemsize > 8 or dtype.char == "e" for dtype in dtypes):
        return None
    if any(key is int and dtype.itemsize < 8 for key, dtype in zip(keys, dtypes, strict=False)):
        return None  # NumPy looks whether it holds the number
    numbers = [dtype.num for dtype in dtypes]
    for place, text in enumerate(ufunc.types):
        if [np.dtype(char).num for char in text.replace("->", "")] == numbers:
            return InnerLoop(place, dtypes)
    return None


def runs_python(ufunc: np.ufunc) -> bool:
    """Whether a ufunc has loops over Python objects alone, as those of ``np.frompyfunc``."""
    return all("O" in loop for loop in ufunc.types) and bool(ufunc.types)


def ufunc_named(name: str) -> np.ufunc:
    """The ufunc that an operator's attribute names: one of NumPy's, or an adopted one's row."""
    found = getattr(np, name, None)
    if found is None:
        found = TABLE[name].numpy
    assert isinstance(found, np.ufunc)
    return found
