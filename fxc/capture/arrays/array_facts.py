"""What an array is without its elements: sizes and dtype; it has no truth and no number."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.error_kinds import ELEMENT_NEEDED
from fxc.ir.types import ArrayType

from ..numbers.traced_int import wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import TracedValue, kind_of
from ..values.rows import list_array_of


class ArrayFacts(TracedValue):
    """What is known of a traced array while capturing, and what is asked in vain."""

    __slots__ = ()

    @property
    def _type(self) -> ArrayType:
        kind = self._value.type
        assert isinstance(kind, ArrayType)
        return kind

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(map(wrap_dim, self._type.shape))

    @property
    def strides(self) -> tuple[Any, ...]:
        return tuple(map(wrap_dim, self._type.strides))

    @property
    def ndim(self) -> int:
        return self._type.rank

    @property
    def size(self) -> Any:
        of_list = list_array_of(self)
        return wrap_dim(self._type.size if of_list is None else kind_of(of_list.array).size)

    @property
    def dtype(self) -> np.dtype:
        return self._type.dtype

    @property
    def itemsize(self) -> int:
        return self._type.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        return wrap_dim(self._type.size * self._type.dtype.itemsize)

    def _need(self, what: str) -> Any:
        raise refuse(
            ELEMENT_NEEDED,
            f"{what} needs the value of an array's element while the program is being captured; "
            "use fxc.cond, np.where or array operations, or compute it outside",
        )

    def __bool__(self) -> bool:
        size = self._type.size
        if not (isinstance(size, int) and size == 1) and self._type.rank:
            raise _ambiguous_truth(size)
        if not self._type.rank and current().expects_not(self._value):
            return False
        return bool(self._need("a decision (if, while, and, or, not)"))

    def __float__(self) -> float:
        return float(self._need("float()"))

    def __int__(self) -> int:
        return int(self._need("int()"))

    def __complex__(self) -> complex:
        return complex(self._need("complex()"))

    def __index__(self) -> int:
        if self._type.rank or self._type.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self._need("an index or a size"))

    def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
        raise refuse(
            ELEMENT_NEEDED, "a function that NumPy does not dispatch needs the elements of an array"
        )


def _ambiguous_truth(size: object) -> Exception:
    if isinstance(size, int) and size == 0:
        return ValueError(
            "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that "
            "an array is not empty."
        )
    return ValueError(
        "The truth value of an array with more than one element is ambiguous. "
        "Use a.any() or a.all()"
    )
