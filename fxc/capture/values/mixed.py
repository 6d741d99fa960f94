"""Scalars that are Python's in one case and NumPy's in another. See Note [Mixed scalars]."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.types import PY_FLOAT, PY_INT, ArrayType, ScalarType
from fxc.ops.table import TABLE

from ..forms.form import MixedNumber, Number
from ..numpy_api.ufuncs import BINARY, COMPARISONS, call_ufunc
from ..session import current, refuse
from .operands import Traced, operand, variable_of
from .protocols import TakesUfuncs
from .python_numbers import arithmetic, to_float, to_int, to_python
from .traced_int import TracedInt
from .traced_scalar import TracedScalar

# Note [Mixed scalars]
# After ``s = 0.0`` and ``if x[i] > 0: s += x[i]``, s is Python's float or NumPy's float64. The
# bits are the same; what differs is the type of a result, and what the number becomes together with
# arrays of lower precision. Such a number is carried as NumPy's, with a flag beside it that says
# which of the two it is; the epilogue looks at the flag. So are Python's int and one of NumPy's:
# Python's arithmetic leaves native code where it has not NumPy's result (Note [Operators of
# Python numbers]). After ``s = 0`` it is Python's int or a float: both are carried, ``whole`` and
# ``given``, and the flag says which one it is. Operators compute both.
# Where the difference is the dtype of an array (``np.array([s])``) or of what a ufunc gives for
# such numbers alone, native code has one of the dtypes, and leaves where it would be the other.
# Where the difference would change more than that, the program is refused.


class Mixed(TakesUfuncs, Traced):
    """A number that is ``given``, NumPy's, if ``flag`` holds, else Python's of the same value; with
    ``whole`` it is that int else, and ``given`` may be Python's float.
    """

    __slots__ = ("flag", "given", "whole")
    __array_priority__ = 1001.0

    def __init__(self, given: Any, flag: Any, whole: Any = None) -> None:
        self.given = given
        self.flag = flag
        self.whole = whole

    @property
    def number(self) -> Any:
        """The number, of the type of ``given`` in any case."""
        if self.whole is None:
            return self.given
        exact = self.dtype == np.float32
        whole = variable_of(_fitting(operand(self.whole), self.dtype)) if exact else self.whole
        return _select(self.flag, self.given, whole)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        # np.float64 is a float, too
        return bool if self.kind is bool else _type_of(_kind(self.given))

    @property
    def kind(self) -> type:
        """Python's type of it."""
        return _PYTHON_TYPES[self.dtype.kind] if self.whole is None else int

    @property
    def dtype(self) -> np.dtype:
        """NumPy's type of it."""
        found: np.dtype = operand(self.given).type.dtype
        return found

    @property
    def other_dtype(self) -> np.dtype | None:
        """NumPy's type of it where the flag does not hold, if that is another one."""
        found = np.dtype(self.kind)
        return None if found == self.dtype else found

    def decided(self) -> Any:
        """The number where its dtype shows: ``given``."""
        if self.other_dtype is None:
            return self.number
        current().record("try_demand", operand(self.flag))
        return self.given

    def _operand(self) -> Operand:
        return operand(self.decided())

    def _among(self, items: Sequence[Any]) -> Sequence[Any]:
        from .one_dtype import of_one_dtype  # which knows mixed numbers

        return of_one_dtype(items)

    def _plain(self) -> Any:
        if self.whole is not None:
            raise self.unclear("an index")
        return self.number

    def _beside(self, other: object) -> Any:
        return _strong(self, (other,))

    def _stored_as(self, dtype: np.dtype) -> Any:
        """What is stored into an array: Python's int must fit, NumPy's is cast."""
        unclear = "iu" if self.whole is not None else "u" if self.kind is float else ""
        if dtype.kind in unclear:
            raise self.unclear(f"an assignment to {dtype}")
        if self.kind is int and dtype.kind in "iu" and not np.can_cast(self.dtype, dtype):
            return to_int(self.number) if isinstance(self.number, Traced) else int(self.number)
        return self.number

    def _run(self, name: str, inputs: tuple[Any, ...]) -> Any:
        """A ufunc: its result is NumPy's."""
        return call_ufunc(name, *_for_ufunc(TABLE[name].numpy, inputs))

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Any:
        return super().__array_ufunc__(ufunc, method, *_for_ufunc(ufunc, inputs), **kwargs)

    def __bool__(self) -> bool:
        return bool(self.number)

    def __index__(self) -> int:
        return self._plain().__index__()  # type: ignore[no-any-return]

    def __round__(self, digits: int | None = None) -> Any:
        if digits is not None or self.kind is bool or self.whole is not None:
            raise self.unclear("round()")
        return round(self.number)

    def __neg__(self) -> Any:
        if self.whole is not None:
            return _one_of(self.flag, -self.given, -self.whole)
        return self.__rsub__(0) if self.kind is int else Mixed(-self.number, self.flag)

    def __abs__(self) -> Any:
        if self.whole is not None:
            return _one_of(self.flag, abs(self.given), abs(self.whole))
        if self.kind is int:
            return Mixed(_of_python(abs(_python_number(self)), self.dtype), self.flag)
        found = abs(self.number)
        if self.kind is complex:  # Python raises where it is too large
            fits = call_ufunc("isfinite", found)
            current().record("try_demand", operand(call_ufunc("logical_or", self.flag, fits)))
        return Mixed(found, self.flag)

    def __invert__(self) -> Any:
        from .several import for_each  # which knows mixed numbers

        return for_each(operator.invert, (self,))

    def __pos__(self) -> Any:
        return self

    @property
    def real(self) -> Any:
        """The real part of a complex number."""
        return self._part("real")

    @property
    def imag(self) -> Any:
        """The imaginary part of a complex number."""
        return self._part("imag")

    def _part(self, name: str) -> Any:
        if self.kind is not complex:
            raise _refuse(f".{name}")
        return Mixed(getattr(self.number, name), self.flag)

    def unclear(self, what: str) -> Exception:
        """What to raise where it matters which of the two it is."""
        return _refuse(what)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _refuse(f".{name}")

    def is_instance(self, kinds: Any) -> bool:
        """``isinstance(self, kinds)``, which must be the same in both cases."""
        found = {issubclass(each, kinds) for each in (self.kind, _type_of(_kind(self.given)))}
        if len(found) > 1:
            raise self.unclear("isinstance()")
        return found.pop()

    def to_int(self) -> Any:
        """``int(self)``."""
        if self.whole is None:
            return to_int(self.number)
        return _select(self.flag, to_int(self.given), self.whole)


def number_of(x: object) -> Any:
    """NumPy's number for what may be mixed, where Python's would do the same."""
    return x.number if type(x) is Mixed else x


# ------------------------------------------------------------------ of variables


def mixed_form(left: object, right: object) -> MixedNumber | None:
    """The form of what is one of two numbers; None for what cannot be mixed."""
    kinds, others = scalar_kinds(left), scalar_kinds(right)
    if kinds is None or others is None:
        return None
    found = number_form(kinds | others)
    if not isinstance(found, MixedNumber):
        return None
    fits = found.has_whole or all(_holds(found.given.dtype, x) for x in (left, right))
    return found if fits else None


def scalar_kinds(x: object) -> frozenset[ScalarType] | None:
    """What a number may be; None for what is none, or cannot be mixed with others."""
    return frozenset(_kinds_of(x)) if type(x) in _MAY_BE_MIXED else None


def number_form(kinds: frozenset[ScalarType]) -> Number | MixedNumber | None:
    """The form of a number that may be each of these; None if it cannot be."""
    if len(kinds) == 1:
        return Number(*kinds)
    if kinds == {PY_INT, PY_FLOAT}:
        return MixedNumber(PY_FLOAT, PY_INT)
    if len(kinds) != 2 or not all(kind.dtype in _DTYPES for kind in kinds):
        return None
    weak, strong = sorted(kinds, key=lambda kind: not kind.weak)
    if strong.weak or not weak.weak:
        return None
    is_same = weak.python_type is _PYTHON_TYPES[strong.dtype.kind]
    is_mixed = is_same or (weak == PY_INT and strong.dtype.kind == "f")
    return MixedNumber(strong, weak) if is_mixed else None


def _kind(x: Any) -> ScalarType:
    kind = operand(x).type
    assert isinstance(kind, ScalarType)
    return kind


def _kinds_of(x: object) -> set[ScalarType]:
    """What a number may be."""
    if type(x) is TracedInt:
        return {PY_INT}
    if type(x) is not Mixed:
        return {_kind(x)}
    return {_kind(x.given), ScalarType(np.dtype(x.kind), weak=True)}


def _type_of(kind: ScalarType) -> Any:
    return kind.python_type if kind.weak else kind.dtype.type


_PYTHON_TYPES: dict[str, type] = {"c": complex, "f": float, "i": int, "u": int, "b": bool}
_DTYPES = frozenset(np.dtype(code) for code in "?bhilBHILfdD")
_MAY_BE_MIXED = frozenset(
    (Mixed, complex, float, int, bool, TracedInt, TracedScalar, *(dtype.type for dtype in _DTYPES))
)


def mixed_parts(x: object, form: MixedNumber) -> list[Operand]:
    """The parts of what may be mixed, recorded here."""
    if type(x) is Mixed:
        return [operand(part) for part in (x.given, x.flag, x.whole) if part is not None]
    if form.has_whole:
        if _kind(x) == PY_INT:
            return [Literal(_type_of(form.given)(0)), Literal(np.False_), operand(x)]
        return [operand(x), Literal(np.True_), Literal(0)]
    weak = _is_weak(x)
    given = _fitting(operand(x), form.given.dtype) if weak else operand(x)
    return [given, Literal(np.bool_(not weak))]


def _fitting(x: Operand, dtype: np.dtype) -> Operand:
    """Python's number as NumPy's; one that is not the same number there leaves native code."""
    if isinstance(x, Literal):
        if not _holds(dtype, x.value):
            raise _refuse(f"the value {x.value!r}")
        return _cast(x, dtype)
    if dtype.kind in "iu" and dtype != np.int64:
        info = np.iinfo(dtype)
        bounds = Literal(int(info.min)), Literal(int(min(info.max, 2**63 - 1)))
        x = current().record("try_fit", x, *bounds)
    number = _cast(x, dtype)
    if dtype == np.float32:
        same = variable_of(_float64(number)) == variable_of(_float64(x))
        current().record("try_demand", operand(same))
    return number


def _holds(dtype: np.dtype, x: Any) -> bool:
    """Whether a known number of Python's is the same number of that dtype; others are looked at
    at run time.
    """
    if type(x) is int and dtype.kind in "iu":
        info = np.iinfo(dtype)
        return bool(info.min <= x <= info.max)
    if type(x) in (int, float) and dtype == np.float32:
        with np.errstate(over="ignore"):
            return bool(x != x or float(np.float32(x)) == x)
    return True


def mixed(given: Operand, flag: Operand, whole: Operand | None = None) -> Any:
    """The variable for these parts."""
    if isinstance(flag, Literal) and (flag.value or whole is not None):
        return variable_of(given if flag.value or whole is None else whole)
    return Mixed(
        variable_of(given),
        variable_of(flag),
        None if whole is None else variable_of(whole),
    )


def _select(flag: object, given: object, other: object) -> Any:
    """``given`` if the flag holds, else ``other`` as a number of its type."""
    kind = _kind(given)
    choice = operand(flag), of_numpy(operand(given)), operand(other)
    found: Value = current().record("where", *choice)
    number = variable_of(_cast(found, kind.dtype))
    return to_python(number) if kind.weak else number


def or_one(flag: object, x: object) -> Any:
    """A number where the flag holds, else one: nothing that is asked of ``x`` raises there."""
    if type(x) is not TracedScalar or type(flag) in (bool, np.bool_):
        return x
    kind = _kind(x)
    return _select(flag, x, kind.python_type(1) if kind.weak else kind.dtype.type(1))


def _one_of(flag: object, given: object, other: object) -> Any:
    """``given`` if the flag holds, else ``other``."""
    if operand(given).type == operand(other).type:
        return _select(flag, given, other)
    form = mixed_form(given, other)
    if form is None:
        raise _refuse("arithmetic")
    if form.has_whole:
        return Mixed(given, flag, other)
    return Mixed(_select(flag, given, other), flag)


def as_dtype(x: object, dtype: np.dtype) -> Any:
    """A number as NumPy's of that dtype."""
    return variable_of(_cast(operand(x), dtype))


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


def _is_weak(x: object) -> bool:
    kind = operand(x).type
    return isinstance(kind, ScalarType) and kind.weak


def _refuse(what: str) -> Exception:
    return refuse(
        f"{what} of a number that is Python's in one case and NumPy's in another cannot be "
        "captured; begin with np.float64(…) or np.int64(…)"
    )


# ------------------------------------------------------------------ arithmetic


def _strong(x: object, among: Iterable[Any]) -> Any:
    """The number to compute with, beside arrays or numbers of NumPy's."""
    if type(x) is not Mixed:
        return x
    strong = [other for other in among if _is_strong(other)]
    if not strong:
        return x.decided()
    for other in strong:
        if _decides_dtype(x, other):
            raise _refuse(f"arithmetic with {operand(other).type.dtype}")
    return x.number


def _is_strong(x: object) -> bool:
    """Whether ``x`` is an array, or a number of NumPy's for sure."""
    return type(x) is not Mixed and not _is_weak(x)


def _decides_dtype(x: Mixed, other: object) -> bool:
    """Whether the dtype of a result with ``other`` depends on which of the two ``x`` is."""
    dtype = operand(other).type.dtype
    given = x.kind(0), float(0) if _is_weak(x.given) else x.dtype
    return np.result_type(dtype, given[0]) != np.result_type(dtype, given[1])


def _for_ufunc(ufunc: object, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The numbers to compute a ufunc of, or ``np.where``."""
    if ufunc is np.where:
        test, *sides = inputs
        return number_of(test), *(_strong(x, sides) for x in sides)
    kinds = [_ufunc_types(x) for x in inputs]
    if () not in kinds:
        loops = {_loop_of(ufunc, types) for types in product(*kinds)}
        if len(loops) == 1:
            return tuple(map(number_of, inputs))
    return tuple(_strong(x, inputs) for x in inputs)


def _ufunc_types(x: object) -> tuple[Any, ...]:
    """What a ufunc may see ``x`` as; nothing for NumPy's own."""
    if type(x) is Mixed:
        return float if _is_weak(x.given) else x.dtype, x.kind
    kind = operand(x).type
    return (kind.python_type,) if isinstance(kind, ScalarType) and kind.weak else ()


def _loop_of(ufunc: Any, types: tuple[Any, ...]) -> tuple[np.dtype, ...] | None:
    try:
        found: tuple[np.dtype, ...] = ufunc.resolve_dtypes((*types, *(None,) * ufunc.nout))
    except TypeError:
        return None
    return found


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
    return variable_of(_cast(found, dtype) if found.type.dtype.kind == "i" else of_numpy(found))


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
        strong = [x for x in both if _is_strong(x)]
        if strong:
            is_scalar = isinstance(operand(strong[0]).type, ScalarType)
            mixed = [x for x in both if type(x) is Mixed]
            if is_scalar and any(_decides_dtype(x, strong[0]) for x in mixed):
                return _by_cases(name, both)
            return call_ufunc(numpy_name, *(_strong(x, both) for x in both))
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
            x.number if type(x) is Mixed else variable_of(_float64(operand(x))) for x in both
        ]
        return Mixed(call_ufunc(numpy_name, *numbers), flag)

    setattr(Mixed, f"__{name}__", lambda self, other: compute(self, other))
    if name not in _COMPARED:
        setattr(Mixed, f"__r{name}__", lambda self, other: compute(other, self))


def _of_words(name: str, numpy_name: str, both: tuple[Any, Any], flag: object) -> Any:
    """Arithmetic of int64, which wraps, and Python's, which leaves native code where that would."""
    zero = np.int64(0)
    given = [to_int(_select(flag, zero, x.number)) if type(x) is Mixed else x for x in both]
    _arithmetic(name, *given)
    return Mixed(call_ufunc(numpy_name, *map(number_of, both)), flag)


def _by_cases(name: str, both: tuple[Any, Any]) -> Any:
    """What an operator gives for each thing that the two may be."""
    from .several import for_each  # which knows mixed numbers

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
        raise _refuse(f"{name!r} with {right!r}")
    return found


_WRAPPING = frozenset({"add", "sub", "mul", "lshift"})
_DIVIDING = frozenset({"truediv", "floordiv", "mod", "pow"})


def _of_ints(name: str, numpy_name: str, left: object, right: object) -> Any:
    """Arithmetic of what may be an int with a number of Python's, or another such: what it gives
    for ints, and for what else it may be.
    """
    mixed = [x for x in (left, right) if type(x) is Mixed]
    if any(isinstance(x, complex) for x in (left, right)):
        raise _refuse(f"{name!r}")
    if any(_kinds_of(x) != _kinds_of(mixed[0]) for x in mixed):
        return _by_cases(name, (left, right))
    alone = len(mixed) == 1
    wholes = [x.whole if type(x) is Mixed else x for x in (left, right)]
    givens = [(x.given if alone else x.number) if type(x) is Mixed else x for x in (left, right)]
    if name in _DIVIDING and alone:
        (only,) = mixed
        none = call_ufunc("logical_not", only.flag)
        wholes = [or_one(none, x) if x is only.whole else x for x in wholes]
        givens = [or_one(only.flag, x) if x is only.given else x for x in givens]
    if _is_weak(mixed[0].given):
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
    strong = [x for x in both if type(x) is not Mixed and not _is_weak(x)]
    is_float = bool(strong) and _kind_or_none(right) == ScalarType(np.dtype(np.float64))
    if strong and not is_float:
        return compute(*(_strong(x, both) for x in both))
    if name == "pow" and type(left) is Mixed and type(right) in (int, float) and right == 2:
        return _square(left)
    mixed = [x for x in both if type(x) is Mixed]
    if numpy_name not in _EXACT_OF_FLOATS or any(x.dtype != np.complex128 for x in mixed):
        raise _refuse(f"{name!r}")
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
    return Mixed(_select(x.flag, x.number**2, found), x.flag)


def _kind_or_none(x: object) -> Any:
    return None if type(x) is Mixed else operand(x).type


def _complex128(x: object) -> Any:
    return variable_of(_cast(operand(x), np.dtype(np.complex128)))


_EXACT_OF_FLOATS = frozenset({"add", "subtract", "multiply"})
_OF_BITS = frozenset({"and", "or", "xor", "lshift", "rshift"})  # which floats do not have
_COMPARED = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
for _name, _numpy_name in (BINARY | COMPARISONS).items():
    if _name != "matmul":
        _define(_name, _numpy_name)
