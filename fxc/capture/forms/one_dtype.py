"""Mixed numbers as items of one array, whose dtype depends on which of the two they are.

Native code has the dtype that NumPy's and Python's numbers make together, and leaves where the
items that it takes for that are missing: see Note [Mixed scalars].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from fxc.ir.records import frozen

from ..arrays.indexing import as_stored
from ..arrays.ufuncs import call_ufunc
from ..numbers.python_numbers import as_scalar
from ..session.session import current
from ..values.operands import operand, variable_of, wrap
from .mixed import Mixed, as_dtype, or_one


@frozen
class OneDtype:
    """The dtype of an array, and which mixed numbers there must be for it: one where the flag
    holds, ``given``, one where it does not, ``other``.
    """

    dtype: np.dtype
    given: bool
    other: bool

    def witness(self, x: Mixed) -> object:
        """Whether ``x`` is such a number; of two that are needed one."""
        return x.flag if self.given else call_ufunc("logical_not", x.flag)


def one_dtype(x: Mixed, beside: Iterable[np.dtype] = ()) -> OneDtype:
    """Of an array of numbers like ``x``, and of items of other dtypes."""
    assert x.other_dtype is not None
    others = tuple(beside)
    found = np.result_type(x.dtype, x.other_dtype, *others)
    less = (np.result_type(dtype, *others) for dtype in (x.other_dtype, x.dtype))
    return OneDtype(found, *(each != found for each in less))


def is_unclear(x: object) -> bool:
    """Whether ``x`` is a number that may be of two dtypes."""
    return type(x) is Mixed and x.other_dtype is not None


def of_one_dtype(items: Sequence[Any]) -> Sequence[Any]:
    """The items of an array, those that are unclear as numbers of its dtype."""
    unclear = [x for x in items if is_unclear(x)]
    if not unclear:
        return items
    kinds = {(x.dtype, x.other_dtype) for x in unclear}
    if len(kinds) > 1 or any(isinstance(x, list | tuple) for x in items):
        return [x.decided() if is_unclear(x) else x for x in items]
    found = one_dtype(unclear[0], (operand(x).type.dtype for x in items if not is_unclear(x)))
    if found.other and (found.given or len(unclear) == 1):
        return [x.decided() if is_unclear(x) else x for x in items]
    if found.given or found.other:
        some = reduce(lambda x, y: call_ufunc("logical_or", x, y), map(found.witness, unclear))
        current().record("try_demand", operand(some))
    return [as_dtype(x.number, found.dtype) if is_unclear(x) else x for x in items]


# ------------------------------------------------------------------ numbers that are stored


def is_weak_float(x: object) -> bool:
    """Whether this is a float of Python's, which raises where it fits in no int, or complex."""
    kind = operand(x).type
    return kind.dtype.kind == "c" or bool(kind.weak and kind.dtype.kind == "f")


def stored(flag: object, x: object, dtype: np.dtype) -> Any:
    """A number of that dtype where the flag holds; nothing that is asked of it raises elsewhere."""
    if dtype.kind == "i":
        x = variable_of(as_stored(operand(or_one(flag, x)), dtype))
    return as_number_of(x, dtype)


def as_number_of(x: object, dtype: np.dtype) -> object:
    """The number, cast to that dtype."""
    found = current().value("astype", operand(x), dtype, casting="unsafe")
    return wrap(as_scalar(found))
