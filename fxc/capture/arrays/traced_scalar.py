"""Scalars that are not known while capturing: Python's (weak) and NumPy's."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from fxc.ir.error_kinds import OPERAND
from fxc.ir.graph import Literal
from fxc.ir.later import import_later
from fxc.ir.size_guards import guard
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.python_numbers import OF_COMPLEX_SCALARS

from ..numbers.traced_int import TracedInt, check_fits
from ..session.exceptions import noting
from ..session.refusing import refuse
from ..session.session import current
from ..session.warned_of import warn_again
from ..values.above import above
from ..values.operands import Traced, TracedValue, is_derived, operand, plain_number, record, wrap
from ..values.operator_methods import BINARY, COMPARISONS, UNARY, give_conversions, give_methods
from ..values.protocols import as_numpys
from .dtypes import CASTINGS, check_real, dtype_of
from .ufuncs import call_ufunc, taken

viewed = import_later("fxc.capture.arrays.memory", "view")
beside_text = import_later("fxc.capture.arrays.deferring", "beside_text")
left_to = import_later("fxc.capture.arrays.deferring", "left_to")
left_to_of_scalar = import_later("fxc.capture.arrays.deferring", "left_to_of_scalar")
complex_scalars = import_later("fxc.capture.arrays.complex_scalars", "computed")
demand_cast = import_later("fxc.capture.arrays.sequences", "demand_cast")
int_of = import_later("fxc.capture.numbers.derived", "int_of")
dim_of = import_later("fxc.capture.numbers.dims", "dim_of")
arithmetic = import_later("fxc.capture.numbers.python_numbers", "arithmetic")
as_scalar = import_later("fxc.capture.numbers.python_numbers", "as_scalar")
bit_count = import_later("fxc.capture.numbers.python_numbers", "bit_count")
rounded = import_later("fxc.capture.numbers.python_numbers", "rounded")
to_int = import_later("fxc.capture.numbers.python_numbers", "to_int")
to_python = import_later("fxc.capture.numbers.python_numbers", "to_python")
warning_of_inverted_bools = import_later(
    "fxc.capture.numbers.python_numbers", "warning_of_inverted_bools"
)

# Note [Python scalars]
# Arithmetic of Python's scalars follows Python's rules, with operators of its own
# (``python_numbers``). What needs the number itself (``if``, an index, ``range``, printing) is done
# with the number of this call: the capture starts again with the argument as a constant, guarded
# by its value. What was computed from elements of arrays has no such number, and the program is
# refused there. A comparison of the counter of a loop is a guard if Python asks whether it holds.


class TracedScalar(TracedValue):
    """A Python float or complex, or a NumPy scalar, given by a Value of the graph."""

    __slots__ = ()
    __array_priority__ = 1000.0
    _is_number = True

    @property
    def _type(self) -> ScalarType:
        kind = self._value.type
        assert isinstance(kind, ScalarType)
        return kind

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self._type.python_type if self._type.weak else self._type.dtype.type

    def _kinds(self) -> frozenset[ScalarType]:
        return frozenset((self._type,))

    def _is_open(self) -> bool:
        return current().stays_open(self._value)

    def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
        return np.asarray(self._known("numpy.asarray"))

    def _known(self, what: str) -> Any:
        return current().specialise(self._value, what)

    # -------------------------------------------------------- what needs the number

    def __bool__(self) -> bool:
        relation = current().relations.get(self._value)
        if relation is not None:
            return guard(*relation)
        if not current().origins.get(self._value):
            expected = current().expected(self._value)
            if expected is not None:
                return expected
        return bool(self._known("a decision (if, while, and, or, not)"))

    def __index__(self) -> int:
        session = current()
        if not session.origins.get(self._value):  # the place of an item of a list, perhaps
            session.door.lists.note_index()
        return operator.index(self._known("an index or a size"))

    def __round__(self, digits: int | None = None) -> object:
        if digits is None:
            return rounded(self)
        if not self._type.weak:
            if self._type.dtype.kind in "bc":
                round(self._type.dtype.type(), digits)  # it raises
            return self.round(digits)
        if self._type.dtype.kind in "bi" and type(digits) is int and digits >= 0:
            return to_int(self)
        if self._type.dtype.kind != "f" or type(digits) is not int:
            return round(self._known("round()"), digits)
        return above().called_as_is(round, (self, digits), {})

    def __trunc__(self) -> object:
        return to_int(self)

    def __divmod__(self, other: Any) -> Any:
        if _is_python_scalar(self) and _is_python_scalar(other):
            return self // other, self % other
        return call_ufunc("divmod", self, other)

    def __rdivmod__(self, other: Any) -> Any:
        if _is_python_scalar(self) and _is_python_scalar(other):
            return other // self, other % self
        return call_ufunc("divmod", other, self)

    # -------------------------------------------------------- NumPy scalars

    @property
    def real(self) -> Any:
        if self._type.dtype.kind == "c":
            return record("real_number", self._value)
        return to_int(self) if self._type.weak and self._type.dtype.kind == "b" else self

    @property
    def imag(self) -> Any:
        if self._type.dtype.kind == "c":
            return record("imaginary_number", self._value)
        if self._type.weak:
            return 0 if self._type.dtype.kind == "b" else self.__class__(0)
        return np.zeros((), self._type.dtype)[()]

    def __getattr__(self, name: str) -> object:
        if name == "_value":
            return self._read()
        if self._type.weak:
            if name == "conjugate" and self._type.dtype.kind == "f":
                return lambda: self
            if name == "bit_length" and self._type.dtype.kind == "i":
                return lambda: int_of("py_bit_length", self._value)
            if name == "bit_count" and self._type.dtype.kind == "i":
                return lambda: bit_count(self)
            if name.startswith("_") or not hasattr(self._type.python_type, name):
                raise AttributeError(
                    f"{self._type.python_type.__name__!r} object has no attribute {name!r}"
                )
            return getattr(self._known(f".{name}"), name)
        found = _NUMPY_ATTRIBUTES.get(name)
        if found is not None:
            return found(self)
        is_method = hasattr(self._type.dtype.type, name)
        method = _NUMPY_METHODS.get(name) if is_method else None
        if method is not None:
            return lambda *args, **kwargs: method(self, *args, **kwargs)
        if name.startswith("__") or not is_method:
            raise AttributeError(
                f"{self._type.dtype.type.__name__!r} object has no attribute {name!r}"
            )
        return getattr(self._known(f".{name}"), name)

    __iter__ = None  # there is none, though elements can be asked for

    @noting
    def __getitem__(self, key: object) -> Any:
        if self._type.weak:
            raise TypeError(f"{self._type.python_type.__name__!r} object is not subscriptable")
        if isinstance(key, tuple) and not key:
            return self
        rank0 = wrap(current().record("copy", self._value, order="K"))
        with suppress(IndexError):
            return rank0[key]
        raise IndexError("invalid index to scalar variable.")

    round = as_numpys("round")


def astype(
    x: TracedScalar,
    dtype: object,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Any:
    """The scalar as another dtype; still a scalar."""
    wanted = dtype_of(dtype)
    if wanted == x._type.dtype and not x._type.weak:
        return x
    if casting not in CASTINGS:
        return above().called_as_is(x._type.dtype.type.astype, (x, wanted, order, casting), {})
    return record("astype", x._value, wanted, casting=casting)


def _item(x: TracedScalar, *args: object) -> object:
    found = to_python(x) if args in ((), (0,), ((),)) else None
    return current().specialise(x._value, ".item()").item(*args) if found is None else found


def _conjugate(x: TracedScalar) -> object:
    """The method: np.conjugate of a bool is an int."""
    return x if x._type.dtype.kind == "b" else call_ufunc("conjugate", x)


def _as_array(name: str) -> Callable[..., Any]:
    """The method of the array of rank 0 that NumPy makes of a scalar."""

    def method(x: TracedScalar, *args: object, **kwargs: object) -> object:
        array = wrap(current().record("copy", x._value, order="K"))
        result = getattr(array, name)(*args, **kwargs)
        return result[()]  # of rank 0 it is a scalar again

    return method


_NUMPY_ATTRIBUTES: dict[str, Callable[[TracedScalar], Any]] = {
    "shape": lambda x: (),
    "strides": lambda x: (),
    "ndim": lambda x: 0,
    "size": lambda x: 1,
    "device": lambda x: "cpu",
    "dtype": lambda x: x._type.dtype,
    "itemsize": lambda x: x._type.dtype.itemsize,
    "nbytes": lambda x: x._type.dtype.itemsize,
    "T": lambda x: x,
}
_NUMPY_METHODS: dict[str, Callable[..., Any]] = {
    "astype": astype,
    "item": _item,
    "copy": lambda x, order="C": x,
    "bit_count": lambda x: bit_count(to_int(x)),
    "view": lambda x, dtype=None, type=None: viewed(x._value, dtype, type),
    **dict.fromkeys(("conj", "conjugate"), _conjugate),
    **{
        name: as_numpys(name)
        for name in ("sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "put")
    },
    **{
        name: _as_array(name)
        for name in (
            *("reshape", "ravel", "flatten", "squeeze", "transpose", "swapaxes"),
            *("clip", "cumsum", "cumprod", "argmin", "argmax", "diagonal"),
        )
    },
}


# ------------------------------------------------------------------ operators


def _is_python_scalar(x: object) -> bool:
    if type(x) is TracedScalar:
        return x._type.weak
    return type(x) in (bool, int, float, complex) or type(x) is TracedInt


def _is_complex(x: object) -> bool:
    return type(x) is TracedScalar and x._type.dtype.kind == "c" and not x._type.weak


def _square(x: TracedScalar) -> object:
    """``x**2`` of a complex number, which NumPy multiplies by itself if it is not zero."""
    zero = Literal(x._type.dtype.type(0))
    product = operator.mul(x, x)
    found = current().value("where", operand(x == zero.value), zero, operand(product))
    return wrap(as_scalar(found))


_OF_COMPLEX = frozenset({"add", "sub", "mul", "truediv", "pow", "eq", "ne"})


def _compute(name: str, left: Any, right: Any) -> object:
    if is_derived(left) and (right._type.weak or _is_float64(right)):
        if isinstance(left, float) and not right._type.weak:  # which is a float to it, too
            raise refuse(OPERAND, f"{name!r} of a {type(left).__name__} and an np.float64")
        left = plain_number(left)
    elif is_derived(right) and left._type.weak:
        right = plain_number(right)
    if name == "mul" and str in (type(left), type(right)):
        return _repeated(*((left, right) if type(left) is str else (right, left)))
    if not taken(right):
        if name in ("eq", "ne") and isinstance(right, str | bytes) and not left._type.weak:
            return beside_text(is_equal=name == "eq")
        return NotImplemented if left._type.weak else left_to_of_scalar(name, left.item, right)
    if not taken(left):
        return NotImplemented if right._type.weak else left_to(left)
    if any(isinstance(x, Traced) and x._run is not None for x in (left, right)):
        return NotImplemented  # the other one knows better
    if type(right) is np.float64 and name in _OF_COMPLEX and _is_python_complex(left):
        right = float(right)  # as it is to Python
    if _is_python_scalar(left) and _is_python_scalar(right):
        return arithmetic(name, left, right)
    if _is_sequence(left) or _is_sequence(right):
        items, scalar = (left, right) if _is_sequence(left) else (right, left)
        if name == "mul":
            return _repeated(items, scalar)
        if _is_python_scalar(scalar):
            return NotImplemented
    if name in _MIRRORED and _is_python_scalar(left):
        return _compute(_MIRRORED[name], right, left)  # Python's numbers do not know NumPy's
    if name == "pow" and type(right) in (int, float) and right == 2 and _is_complex(left):
        return _square(left)
    if _is_python_complex(left) and _is_float64(right):  # which is a float to Python
        if name not in ("add", "sub", "mul", "truediv"):
            raise refuse(OPERAND, f"{name!r} of a complex and an np.float64")
        return arithmetic(name, left, right)
    op = _NUMPYS[name]
    if op in OF_COMPLEX_SCALARS and "c" in (operand(x).type.dtype.kind for x in (left, right)):
        found = complex_scalars(op, left, right)
        if found is not None:
            return found
    return call_ufunc(op, left, right)


_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _is_sequence(x: object) -> bool:
    return isinstance(x, list | tuple | range)


def _repeated(items: object, times: Any) -> Any:
    """``items * times`` of a list, tuple or text; NotImplemented where Python has to make it."""
    if times._type.dtype.kind not in "iu" or type(items) not in (list, str):
        return NotImplemented
    if type(items) is not list:
        from ..values.late import late, repeated

        return late(str, repeated, items, times)
    size = dim_of(times)
    if isinstance(size, int):
        return items * size
    return above().repeated(items, size)


def _is_python_complex(x: object) -> bool:
    return type(x) is complex or (_is_python_scalar(x) and x.__class__ is complex)


def _is_float64(x: object) -> bool:
    return type(x) is TracedScalar and x.__class__ is np.float64


def known_number(x: object, what: str) -> object:
    """The number of a traced Python scalar, from here on a constant."""
    if type(x) is TracedScalar:
        return x._known(f"Python's {what!r}")
    return x._known() if type(x) is TracedInt else x


def _compute_of_one(name: str, x: TracedScalar) -> object:
    if not x._type.weak:
        if name == "abs" and x._type.dtype.kind == "c":
            return record("py_absolute", x._value)
        return call_ufunc(UNARY[name], x)
    if name == "pos":
        return to_int(x) if x._type.dtype.kind == "b" else x
    if name == "invert" and x._type.dtype.kind == "b":
        warn_again(warning_of_inverted_bools())
    return arithmetic(name, x)


_NUMPYS = BINARY | COMPARISONS
give_methods(TracedScalar, _compute, _NUMPYS.keys() - {"matmul"})
give_methods(TracedScalar, _compute_of_one, UNARY)
give_conversions(TracedScalar)

TracedValue._wrappers[ScalarType] = TracedScalar


def numpy_scalar(dtype: type[np.generic], x: object) -> Any:
    """``np.float32(x)`` of a traced scalar or an array: of one of that dtype it is the array."""
    target = dtype_of(dtype)
    x = x._stored_as(target) if isinstance(x, Traced) else x
    value = operand(x)
    if isinstance(value, Literal):
        return dtype(value.value)
    check_fits(x, target)
    check_real(value, target)
    if value.type.weak and value.type.dtype.kind == "f" and target.kind in "iu":
        demand_cast(x, value.type.dtype, target)
    if isinstance(value.type, ArrayType):
        if value.type.rank:
            if isinstance(x, TracedValue) and value.type.dtype == target:
                return x
            return record("astype", value, target, casting="unsafe")
        return astype(record("item", value), dtype)
    return astype(wrap(value), dtype)
