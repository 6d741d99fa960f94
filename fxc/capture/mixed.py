"""Scalars that are Python's in one case and NumPy's in another. See Note [Mixed scalars]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.types import ArrayType, ScalarType

from .operands import Traced, operand, record, wrap
from .python_numbers import arithmetic, to_float, to_int
from .session import current, refuse
from .traced_int import TracedInt
from .traced_scalar import TracedScalar
from .ufuncs import BINARY, COMPARISONS, call_ufunc

# Note [Mixed scalars]
# After ``s = 0.0`` and ``if x[i] > 0: s += x[i]``, s is Python's float or NumPy's float64. The
# bits are the same; what differs is the type of a result, and what the number becomes together with
# arrays of lower precision. Such a number is carried as NumPy's, with a flag beside it that says
# which of the two it is; the epilogue looks at the flag. So are Python's int and one of NumPy's:
# Python's arithmetic leaves native code where it has not NumPy's result (Note [Operators of
# Python numbers]). After ``s = 0`` it is Python's int or float64: the number is then an int that a
# float64 holds, and the type of the flag, a bool of Python's, tells this from the first case.
# Where the difference would change more than the type of a result, the program is refused.

_FLAG = ScalarType(np.dtype(bool))
_FLAG_OF_INT = ScalarType(np.dtype(bool), weak=True)
_EXACT = 2**53  # up to here floats hold every integer

Kinds = tuple[ScalarType, ScalarType]


class Mixed(Traced):
    """A number that is Python's unless ``flag`` holds; ``number`` is NumPy's in any case."""

    __slots__ = ("flag", "number")
    __array_priority__ = 1001.0

    def __init__(self, number: Any, flag: Any) -> None:
        self.number = number
        self.flag = flag

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        # np.float64 is a float, too
        return bool if self.kind is bool else self.dtype.type

    @property
    def kind(self) -> type:
        """Python's type of it."""
        if operand(self.flag).type == _FLAG_OF_INT:
            return int
        return _PYTHON_TYPES[self.dtype.kind]

    @property
    def is_int_in_float(self) -> bool:
        """Whether it is Python's int or float64."""
        return operand(self.flag).type == _FLAG_OF_INT

    @property
    def dtype(self) -> np.dtype:
        """NumPy's type of it."""
        found: np.dtype = operand(self.number).type.dtype
        return found

    def _operand(self) -> Operand:
        return operand(self.number)

    def _plain(self) -> Any:
        return self.number

    def _beside(self, other: Any) -> Any:
        return _strong(self, (other,))

    def _stored_as(self, dtype: np.dtype) -> Any:
        """What is stored into an array: Python's int must fit, NumPy's is cast."""
        if self.kind is float and dtype.kind == "u":
            raise self.unclear(f"an assignment to {dtype}")
        if self.kind is int and dtype.kind in "iu" and not np.can_cast(self.dtype, dtype):
            return to_int(self.number) if isinstance(self.number, Traced) else int(self.number)
        return self.number

    def _run(self, name: str, inputs: tuple[Any, ...]) -> Any:
        """A ufunc: its result is NumPy's."""
        return call_ufunc(name, *(_strong(x, inputs) for x in inputs))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from .ufunc_methods import array_ufunc  # which runs the ufuncs of all traced values

        return array_ufunc(ufunc, method, tuple(_strong(x, inputs) for x in inputs), kwargs)

    def __bool__(self) -> bool:
        return bool(self.number)

    def __index__(self) -> int:
        return self.number.__index__()  # type: ignore[no-any-return]

    def __round__(self, digits: int | None = None) -> Any:
        if digits is not None or self.kind is bool:
            raise self.unclear("round()")
        return round(self.number)

    def __neg__(self) -> Any:
        if self.kind is int:
            return self.__rsub__(0)
        return Mixed(-self.number, self.flag)

    def __abs__(self) -> Any:
        if self.kind is int and not self.is_int_in_float:
            return Mixed(_of_python(abs(_python_number(self)), self.dtype), self.flag)
        return Mixed(abs(self.number), self.flag)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pos__(self) -> Any:
        return self

    def unclear(self, what: str) -> Exception:
        """What to raise where it matters which of the two it is."""
        return _refuse(what)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _refuse(f".{name}")

    def is_instance(self, kinds: Any) -> bool:
        """``isinstance(self, kinds)``, which must be the same in both cases."""
        found = {issubclass(each, kinds) for each in (self.kind, self.dtype.type)}
        if len(found) > 1:
            raise self.unclear("isinstance()")
        return found.pop()


def number_of(x: Any) -> Any:
    """NumPy's number for what may be mixed, where Python's would do the same."""
    return x.number if type(x) is Mixed else x


# ------------------------------------------------------------------ of variables


def mixed_kinds(left: Any, right: Any) -> Kinds | None:
    """The types of number and flag of what is one of two values; None for what cannot be mixed."""
    python: set[type] = set()
    dtypes: set[np.dtype] = set()
    for x in (left, right):
        if type(x) not in _MAY_BE_MIXED:
            return None
        kind = operand(x).type
        if type(x) is Mixed:
            python.add(x.kind)
            dtypes.add(kind.dtype)
        elif _is_weak(x):
            python.add(kind.python_type)  # type: ignore[union-attr]
        else:
            dtypes.add(kind.dtype)
    if len(python) != 1 or len(dtypes) != 1:
        return None
    (of_python,), (dtype,) = python, dtypes
    if dtype not in _DTYPES:
        return None
    if of_python is _PYTHON_TYPES[dtype.kind]:
        return ScalarType(dtype), _FLAG
    return (ScalarType(dtype), _FLAG_OF_INT) if of_python is int and dtype == np.float64 else None


_PYTHON_TYPES: dict[str, type] = {"f": float, "i": int, "u": int, "b": bool}
_DTYPES = frozenset(np.dtype(code) for code in "?bhilBHILfd")
_MAY_BE_MIXED = frozenset(
    (Mixed, float, int, bool, TracedInt, TracedScalar, *(dtype.type for dtype in _DTYPES))
)


def mixed_parts(x: Any, kinds: Sequence[Any]) -> tuple[Operand, Operand]:
    """Number and flag of what may be mixed, recorded here."""
    if type(x) is Mixed:
        return operand(x.number), operand(x.flag)
    weak = _is_weak(x)
    of_int = kinds[1] == _FLAG_OF_INT
    flag = Literal(not weak if of_int else np.bool_(not weak))
    if weak and of_int:
        return _float_of_int(x), flag
    return (_fitting(operand(x), kinds[0].dtype) if weak else operand(x)), flag


def _fitting(x: Operand, dtype: np.dtype) -> Operand:
    """Python's number as NumPy's; one that is not the same number there leaves native code."""
    number = _cast(x, dtype)
    if dtype == np.float32:
        same = _wrapped(_float64(number)) == _wrapped(_float64(x))
        current().record("try_demand", operand(same))
    return number


def _float_of_int(x: Any) -> Operand:
    """Python's int as a float64 that is the same number."""
    if type(x) is int:
        if abs(x) > _EXACT:
            raise _refuse(f"{x}")
        return Literal(np.float64(x))
    return _float64(_exact_int(x))


def _exact_int(x: Any) -> Operand:
    """Python's int, of which a float64 has all digits: other ones leave native code."""
    if type(x) in (int, TracedInt):
        return operand(x)
    found: Value = current().record("try_fit", operand(x), Literal(-_EXACT), Literal(_EXACT))
    return found


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
    return _cast(x, x.type.dtype)


def _float64(x: Operand) -> Operand:
    return _cast(x, np.dtype(np.float64))


def _cast(x: Operand, dtype: np.dtype) -> Operand:
    if isinstance(x, Literal):
        return Literal(dtype.type(x.value))
    found: Value = current().record("astype", x, dtype, casting="unsafe")
    if isinstance(found.type, ArrayType):
        found = current().record("item", found)
    return found


def _is_weak(x: Any) -> bool:
    kind = operand(x).type
    return isinstance(kind, ScalarType) and kind.weak


def _refuse(what: str) -> Exception:
    return refuse(
        f"{what} of a number that is Python's in one case and NumPy's in another cannot be "
        "captured; begin with np.float64(…) or np.int64(…)"
    )


# ------------------------------------------------------------------ arithmetic


def _strong(x: Any, among: Iterable[Any]) -> Any:
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


def _python_number(x: Any) -> Any:
    """The number as Python's."""
    if type(x) is not Mixed:
        return x
    if not isinstance(x.number, Traced):
        return x.number.item()
    return to_float(x.number) if operand(x).type.dtype.kind == "f" else to_int(x.number)


def _of_python(x: Any, dtype: np.dtype) -> Any:
    """What NumPy has where Python has ``x``, computed from numbers of that dtype."""
    found = operand(x)
    return _wrapped(_cast(found, dtype) if found.type.dtype.kind == "i" else of_numpy(found))


def _python_type(x: Any) -> type:
    found: type = x.kind if type(x) is Mixed else operand(x).type.python_type  # type: ignore[union-attr]
    return found


def _define(name: str, numpy_name: str) -> None:
    def compute(left: Any, right: Any) -> Any:
        both = (left, right)
        if not all(isinstance(x, Traced | np.generic | int | float | complex) for x in both):
            return NotImplemented
        if any(type(x) is not Mixed and not _is_weak(x) for x in both):
            return call_ufunc(numpy_name, *(_strong(x, both) for x in both))
        kinds = {_python_type(x) for x in both}
        if not kinds <= {int, float} or (kinds == {bool} and name not in _COMPARED):
            raise _refuse(f"{name!r}")
        flags = [x.flag for x in both if type(x) is Mixed]
        flag = flags[0] if len(flags) == 1 else _both_flags(*flags)
        if any(type(x) is Mixed and x.is_int_in_float for x in both):
            return _of_ints_in_floats(name, numpy_name, left, right, flag)
        if name in _COMPARED and len(kinds) == 2:
            raise _refuse(f"{name!r} of an int and a float")
        dtypes = {x.dtype for x in both if type(x) is Mixed}
        if not _is_the_same_there(name, dtypes, kinds, both):
            raise _refuse(f"{name!r}")
        if name not in _COMPARED and (kinds == {int} or numpy_name not in _EXACT_OF_FLOATS):
            found = _arithmetic(name, *map(_python_number, both))
            return Mixed(_of_python(found, *dtypes), flag)
        if kinds == {int}:
            return Mixed(_of_python(_arithmetic(name, *map(_python_number, both)), *dtypes), flag)
        numbers = [x.number if type(x) is Mixed else _wrapped(_float64(operand(x))) for x in both]
        return Mixed(call_ufunc(numpy_name, *numbers), flag)

    setattr(Mixed, f"__{name}__", lambda self, other: compute(self, other))
    if name not in _COMPARED:
        setattr(Mixed, f"__r{name}__", lambda self, other: compute(other, self))


def _is_the_same_there(
    name: str, dtypes: set[np.dtype], kinds: set[type], both: tuple[Any, Any]
) -> bool:
    """Whether Python's result, where there is one, is NumPy's number."""
    if len(dtypes) != 1:
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


def _both_flags(left: Any, right: Any) -> Any:
    if {operand(x).type for x in (left, right)} != {_FLAG}:
        raise _refuse("arithmetic")
    return call_ufunc("logical_or", left, right)


def _arithmetic(name: str, left: Any, right: Any) -> Any:
    if any(isinstance(x, Traced) for x in (left, right)):
        return arithmetic(name, left, right)
    return getattr(left, f"__{name}__")(right)


def _of_ints_in_floats(name: str, numpy_name: str, left: Any, right: Any, flag: Any) -> Any:
    """Arithmetic of what is Python's int or float64 with a number of Python's."""
    both = (left, right)
    beside = {_python_type(x) for x in both if type(x) is not Mixed}
    if len(beside) != 1 or name not in {*_COMPARED, "add", "sub", "truediv"}:
        raise _refuse(f"{name!r}")
    numbers = [
        x.number
        if type(x) is Mixed
        else _wrapped(_float64(_exact_int(x) if beside == {int} else operand(x)))
        for x in both
    ]
    strong = _wrapped(of_numpy(operand(record("py_bool", operand(flag)))))
    if name in _COMPARED:
        return Mixed(call_ufunc(numpy_name, *numbers), strong)
    if name == "truediv":
        if not isinstance(right, int | float) or isinstance(right, Traced):
            current().record("try_demand", operand(numbers[1] != 0))
        elif right == 0:
            raise _refuse("division by zero")
        return Mixed(call_ufunc(numpy_name, *numbers), strong)
    found = call_ufunc(numpy_name, *numbers)
    if beside == {float}:
        return Mixed(found, strong)
    exact = call_ufunc("less_equal", call_ufunc("absolute", found), np.float64(_EXACT))
    current().record("try_demand", operand(call_ufunc("logical_or", strong, exact)))
    return Mixed(found, flag)


_EXACT_OF_FLOATS = frozenset({"add", "subtract", "multiply"})
_COMPARED = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
for _name, _numpy_name in (BINARY | COMPARISONS).items():
    if _name != "matmul":
        _define(_name, _numpy_name)
