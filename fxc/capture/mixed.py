"""Scalars that are Python's in one case and NumPy's in another. See Note [Mixed scalars]."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.types import ArrayType, ScalarType

from .operands import Traced, operand, wrap
from .session import current, refuse
from .traced_scalar import TracedScalar
from .ufuncs import BINARY, COMPARISONS, call_ufunc

# Note [Mixed scalars]
# After ``s = 0.0`` and ``if x[i] > 0: s += x[i]``, s is Python's float or NumPy's float64. The
# bits are the same; what differs is the type of a result, and what the number becomes together with
# arrays of lower precision. Such a number is carried as NumPy's, with a flag beside it that says
# which of the two it is; the epilogue looks at the flag. Where the difference would change more
# than the type of a result, the program is refused.

_PYTHON_TYPES = {"f": float, "b": bool}
_ARITHMETIC = frozenset({"add", "subtract", "multiply"})


class Mixed(Traced):
    """A number that is Python's unless ``flag`` holds; ``number`` is NumPy's in any case."""

    __slots__ = ("flag", "number")
    __array_priority__ = 1001.0

    def __init__(self, number: Any, flag: Any) -> None:
        self.number = number
        self.flag = flag

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.float64 if self.kind is float else bool  # np.float64 is a float, too

    @property
    def kind(self) -> type:
        """Python's type."""
        return _PYTHON_TYPES[operand(self.number).type.dtype.kind]

    def _operand(self) -> Operand:
        return operand(self.number)

    def _beside(self, other: Any) -> Any:
        return _strong(self, (other,))

    def _run(self, name: str, inputs: tuple[Any, ...]) -> Any:
        """A ufunc: its result is NumPy's."""
        return call_ufunc(name, *(_strong(x, inputs) for x in inputs))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from .ufunc_methods import array_ufunc  # which runs the ufuncs of all traced values

        return array_ufunc(ufunc, method, tuple(_strong(x, inputs) for x in inputs), kwargs)

    def __bool__(self) -> bool:
        return bool(self.number)

    def __neg__(self) -> Any:
        return Mixed(-self.number, self.flag)

    def __abs__(self) -> Any:
        return Mixed(abs(self.number), self.flag)

    def __pos__(self) -> Any:
        return self

    def __round__(self, digits: int | None = None) -> Any:
        if digits is not None or self.kind is not float:
            raise self.unclear("round()")
        return round(self.number)

    def unclear(self, what: str) -> Exception:
        """What to raise where it matters which of the two it is."""
        return _refuse(what)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _refuse(f".{name}")


def number_of(x: Any) -> Any:
    """NumPy's number for what may be mixed, where Python's would do the same."""
    return x.number if type(x) is Mixed else x


def mixed_dtype(x: Any) -> np.dtype | None:
    """NumPy's dtype of what may be mixed: Python's and NumPy's float and bool."""
    if type(x) not in (Mixed, float, bool, TracedScalar, np.float64, np.bool_):
        return None
    dtype: np.dtype = operand(x).type.dtype
    return dtype if dtype.kind in "fb" and dtype in (np.float64, np.bool_) else None


def mixed_parts(x: Any) -> tuple[Operand, Operand]:
    """Number and flag of what may be mixed, recorded here."""
    if type(x) is Mixed:
        return operand(x.number), operand(x.flag)
    number = operand(x)
    weak = _is_weak(x)
    return (of_numpy(number) if weak else number), Literal(np.bool_(not weak))


def mixed(number: Operand, flag: Operand) -> Any:
    """The variable for these parts."""
    if isinstance(flag, Literal) and bool(flag.value):
        return _wrapped(number)
    return Mixed(_wrapped(number), _wrapped(flag))


def _wrapped(x: Operand) -> Any:
    return wrap(x) if isinstance(x, Value) else x.value


def of_numpy(x: Operand) -> Operand:
    """A Python number as NumPy's scalar."""
    if isinstance(x.type, ArrayType) or not x.type.weak:
        return x
    if isinstance(x, Literal):
        return Literal(x.type.dtype.type(x.value))
    found: Value = current().record("astype", x, x.type.dtype, casting="unsafe")
    if isinstance(found.type, ArrayType):
        found = current().record("item", found)
    return found


def _is_weak(x: Any) -> bool:
    kind = operand(x).type
    return isinstance(kind, ScalarType) and kind.weak


def _strong(x: Any, among: tuple[Any, ...]) -> Any:
    """The number to compute with, beside arrays or numbers of NumPy's."""
    if type(x) is not Mixed:
        return x
    for other in among:
        if type(other) is Mixed or _is_weak(other):
            continue
        dtype = operand(other).type.dtype
        if np.result_type(dtype, x.kind(0)) != np.result_type(dtype, operand(x).type.dtype):
            raise _refuse(f"arithmetic with {dtype}")
    return x.number


def _refuse(what: str) -> Exception:
    return refuse(
        f"{what} of a number that is Python's in one case and NumPy's in another cannot be "
        "captured; begin with np.float64(…)"
    )


def _define(name: str, numpy_name: str) -> None:
    def compute(left: Any, right: Any) -> Any:
        both = (left, right)
        if not all(isinstance(x, Traced | np.generic | int | float | complex) for x in both):
            return NotImplemented
        if any(type(x) is not Mixed and not _is_weak(x) for x in both):
            return call_ufunc(numpy_name, *(_strong(x, both) for x in both))
        if any(isinstance(x, complex) for x in both):
            raise _refuse(f"{name!r} with a complex number")
        nonzero = type(right) in (int, float) and right != 0
        exact = numpy_name in _ARITHMETIC or name in _COMPARED
        if not exact and not (numpy_name == "divide" and nonzero):
            raise _refuse(f"{name!r}")
        if left.kind is bool if type(left) is Mixed else right.kind is bool:
            raise _refuse(f"{name!r}")
        numbers = [x.number if type(x) is Mixed else _wrapped(_float64(operand(x))) for x in both]
        flags = [x.flag for x in both if type(x) is Mixed]
        flag = flags[0] if len(flags) == 1 else call_ufunc("logical_or", *flags)
        return Mixed(call_ufunc(numpy_name, *numbers), flag)

    setattr(Mixed, f"__{name}__", lambda self, other: compute(self, other))
    if name not in _COMPARED:
        setattr(Mixed, f"__r{name}__", lambda self, other: compute(other, self))


def _float64(x: Operand) -> Operand:
    if isinstance(x, Literal):
        return Literal(np.float64(float(x.value)))  # type: ignore[arg-type]
    found: Value = current().record("astype", x, np.dtype(np.float64), casting="unsafe")
    if isinstance(found.type, ArrayType):
        found = current().record("item", found)
    return found


_COMPARED = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
for _name, _numpy_name in (BINARY | COMPARISONS).items():
    if _name != "matmul":
        _define(_name, _numpy_name)
