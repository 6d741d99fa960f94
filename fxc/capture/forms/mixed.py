"""Scalars that are Python's in one case and NumPy's in another. See Note [Mixed scalars]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from fxc.ir.error_kinds import SEVERAL_KINDS
from fxc.ir.graph import Literal, Operand
from fxc.ir.types import PY_FLOAT, PY_INT, ArrayType, ScalarType
from fxc.ops.table import TABLE

from ..arrays.ufuncs import call_ufunc
from ..numbers.python_numbers import cast_to, number_of_kind, to_int, to_python
from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import Traced, is_scalar, operand, variable_of, wrap
from ..values.operator_methods import COMPARISONS
from .form import MixedNumber, Number, OfNumbers
from .operated import Operated
from .options import Option, holds_not

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


class Mixed(Operated):
    """A number that is ``given``, NumPy's, if ``flag`` holds, else Python's of the same value; with
    ``whole`` it is that int else, and ``given`` may be Python's float. Its operators are in
    ``mixed_operators``.
    """

    __slots__ = ("flag", "given", "whole")
    __array_priority__ = 1001.0
    _is_number, _written_by = True, "_mixed"

    def __init__(self, given: Any, flag: Any, whole: Any = None) -> None:
        self.given = given
        self.flag = flag
        self.whole = whole

    def _parts(self) -> Sequence[Any]:
        return self.given, self.flag, self.whole

    def _with_parts(self, parts: Sequence[object]) -> object:
        return Mixed(*parts)

    def _options(self) -> Sequence[Option]:
        other = self.whole
        if other is None:
            known = isinstance(self.given, np.generic)
            other = self.given.item() if known else to_python(self.given)
        return (self.flag, self.given), (holds_not(self.flag), other)

    def _things(self) -> Sequence[Any]:
        return self.given, self.kind(0)

    def _kinds(self) -> frozenset[ScalarType]:
        return frozenset((_kind(self.given), ScalarType(np.dtype(self.kind), weak=True)))

    @property
    def number(self) -> Any:
        """The number, of the type of ``given`` in any case."""
        if self.whole is None:
            return self.given
        exact = self.dtype == np.float32
        whole = variable_of(fitting(operand(self.whole), self.dtype)) if exact else self.whole
        return select(self.flag, self.given, whole)

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

    def decided(self) -> object:
        """The number where its dtype shows: ``given``."""
        return self.number if self.other_dtype is None else self._demanded()

    def _demanded(self) -> object:
        """NumPy's number; native code leaves where it is Python's."""
        current().record("try_demand", operand(self.flag))
        return self.given

    def _operand(self) -> Operand:
        return operand(self.decided())

    def _plain(self) -> Any:
        if self.whole is not None:
            raise unclear("an index")
        return self.number

    def _beside(self, *others: object) -> object:
        return beside_strong(self, others)

    def _stored_as(self, dtype: np.dtype) -> Any:
        """What is stored into an array: Python's int must fit, NumPy's is cast."""
        kinds = "iu" if self.whole is not None else "u" if self.kind is float else ""
        if dtype.kind in kinds:
            raise unclear(f"an assignment to {dtype}")
        if self.kind is int and dtype.kind in "iu" and not np.can_cast(self.dtype, dtype):
            return to_int(self.number) if isinstance(self.number, Traced) else int(self.number)
        return self.number

    def _run(self, name: str, inputs: tuple[object, ...]) -> object:
        """A ufunc: its result is NumPy's."""
        others = [x for x in inputs if type(x) is not Mixed]
        if name in COMPARISONS.values() and any(decides_dtype(self, x) for x in others):
            return _compared(name, self, inputs)
        return call_ufunc(name, *_for_ufunc(TABLE[name].numpy, inputs))

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> object:
        return super().__array_ufunc__(ufunc, method, *_for_ufunc(ufunc, inputs), **kwargs)

    def __bool__(self) -> bool:
        return bool(self.number)

    def __index__(self) -> int:
        return self._plain().__index__()  # type: ignore[no-any-return]

    def __round__(self, digits: int | None = None) -> object:
        if digits is not None or self.kind is bool or self.whole is not None:
            raise unclear("round()")
        return round(self.number)

    @property
    def real(self) -> Any:
        return self._part("real")

    @property
    def imag(self) -> Any:
        return self._part("imag")

    def _part(self, name: str) -> Any:
        if self.kind is not complex:
            raise unclear(f".{name}")
        return Mixed(getattr(self.number, name), self.flag)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise unclear(f".{name}")

    def _class(self) -> type:
        raise unclear("type()")

    def _is_instance(self, kinds: type | tuple[type, ...]) -> bool:
        """It must be the same in both cases."""
        found = {issubclass(each, kinds) for each in (self.kind, _type_of(_kind(self.given)))}
        if len(found) > 1:
            raise unclear("isinstance()")
        return found.pop()

    def to_int(self) -> Any:
        if self.whole is None:
            return to_int(self.number)
        return select(self.flag, to_int(self.given), self.whole)


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
    if isinstance(x, Traced):
        return x._kinds()
    return frozenset((_kind(x),)) if type(x) in _MAY_BE_MIXED else None


def listed_kinds(x: object) -> frozenset[ScalarType] | None:
    """The same of a number that lists of the graph hold: complex numbers of Python's are none."""
    kinds = scalar_kinds(x)
    is_complex = kinds is None or any(each.weak and each.dtype.kind == "c" for each in kinds)
    return None if is_complex else kinds


def form_of_numbers(
    numbers: Iterable[object], kinds: frozenset[ScalarType] = frozenset()
) -> OfNumbers | None:
    """The form of what is one of these numbers, or kinds, in a list of the graph; None for none."""
    for x in numbers:
        known = listed_kinds(x)
        if known is None:
            return None
        kinds |= known
    return number_form(kinds)


def number_form(kinds: frozenset[ScalarType]) -> OfNumbers | None:
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


def _kind(x: object) -> ScalarType:
    kind = operand(x).type
    assert isinstance(kind, ScalarType)
    return kind


def _type_of(kind: ScalarType) -> Any:
    return kind.python_type if kind.weak else kind.dtype.type


_PYTHON_TYPES: dict[str, type] = {"c": complex, "f": float, "i": int, "u": int, "b": bool}
_DTYPES = frozenset(np.dtype(code) for code in "?bhilBHILfdD")
_MAY_BE_MIXED = frozenset((complex, float, int, bool, *(dtype.type for dtype in _DTYPES)))


def fitting(x: Operand, dtype: np.dtype) -> Operand:
    """Python's number as NumPy's; one that is not the same number there leaves native code."""
    if isinstance(x, Literal):
        if not _holds(dtype, x.value):
            raise unclear(f"the value {x.value!r}")
        return cast_to(x, dtype)
    if dtype.kind in "iu" and dtype != np.int64:
        info = np.iinfo(dtype)
        bounds = Literal(int(info.min)), Literal(int(min(info.max, 2**63 - 1)))
        x = current().record("try_fit", x, *bounds)
    number = cast_to(x, dtype)
    if dtype == np.float32:
        wide = np.dtype(np.float64)
        same = variable_of(cast_to(number, wide)) == variable_of(cast_to(x, wide))
        current().record("try_demand", operand(same))
    return number


def _holds(dtype: np.dtype, x: Any) -> bool:
    """Whether a known number is the same in that dtype; others are looked at at run time."""
    if type(x) is int and dtype.kind in "iu":
        info = np.iinfo(dtype)
        return bool(info.min <= x <= info.max)
    if type(x) in (int, float) and dtype == np.float32:
        with np.errstate(over="ignore"):
            return bool(x != x or float(np.float32(x)) == x)
    return True


def select(flag: object, given: object, other: object) -> Any:
    """``given`` if the flag holds, else ``other`` as a number of its type."""
    kind = _kind(given)
    choice = operand(flag), of_numpy(operand(given)), operand(other)
    return number_of_kind(current().value("where", *choice), kind)


def or_one(flag: object, x: object) -> object:
    """A number where the flag holds, else one: nothing that is asked of ``x`` raises there, nor of
    others with it: of what is known, an int raised to a negative power would.
    """
    may_raise = is_scalar(x) or ((type(x) is int or type(x) is np.int64) and x < 0)
    if not may_raise or type(flag) in (bool, np.bool_):
        return x
    return select(flag, x, _kind(x).one)


def as_dtype(x: object, dtype: np.dtype) -> object:
    """A number as NumPy's of that dtype."""
    return variable_of(cast_to(operand(x), dtype))


def of_numpy(x: Operand) -> Operand:
    """A Python number as NumPy's scalar."""
    if isinstance(x.type, ArrayType) or not x.type.weak:
        return x
    return cast_to(x, x.type.dtype)


def is_weak(x: object) -> bool:
    """Whether ``x`` is a number of Python's."""
    kind = operand(x).type
    return isinstance(kind, ScalarType) and kind.weak


def unclear(what: str) -> Exception:
    """What to raise where it matters which of the two it is."""
    return refuse(
        SEVERAL_KINDS,
        f"{what} of a number that is Python's in one case and NumPy's in another",
        "begin with np.float64(…) or np.int64(…)",
    )


# ------------------------------------------------------------------ beside other numbers


def beside_strong(x: object, among: Iterable[object]) -> object:
    """The number to compute with, beside arrays or numbers of NumPy's."""
    if type(x) is not Mixed:
        return x
    strong = [other for other in among if is_strong(other)]
    if not strong:
        return x.decided()
    return x._demanded() if any(decides_dtype(x, other) for other in strong) else x.number


def _compared(name: str, x: Mixed, inputs: tuple[object, ...]) -> object:
    """A comparison with an array, for each of the two numbers."""
    sides = ([option if each is x else each for each in inputs] for _, option in x._options())
    given, other = (call_ufunc(name, *side) for side in sides)
    if isinstance(operand(given).type, ScalarType):
        return select(x.flag, given, other)
    return wrap(current().value("where", *map(operand, (x.flag, given, other))))


def is_strong(x: object) -> bool:
    """Whether ``x`` is an array, or a number of NumPy's for sure."""
    return type(x) is not Mixed and not is_weak(x)


def decides_dtype(x: Mixed, other: object) -> bool:
    """Whether the dtype of a result with ``other`` depends on which of the two ``x`` is."""
    dtype = operand(other).type.dtype
    given = x.kind(0), float(0) if is_weak(x.given) else x.dtype
    return np.result_type(dtype, given[0]) != np.result_type(dtype, given[1])


def _for_ufunc(ufunc: object, inputs: tuple[object, ...]) -> tuple[Any, ...]:
    """The numbers to compute a ufunc of, or ``np.where``."""
    if ufunc is np.where:
        test, *sides = inputs
        return number_of(test), *(beside_strong(x, sides) for x in sides)
    kinds = [_ufunc_types(x) for x in inputs]
    if () not in kinds:
        loops = {_loop_of(ufunc, types) for types in product(*kinds)}
        if len(loops) == 1:
            return tuple(map(number_of, inputs))
    return tuple(beside_strong(x, inputs) for x in inputs)


def _ufunc_types(x: object) -> tuple[Any, ...]:
    """What a ufunc may see ``x`` as; nothing for NumPy's own."""
    if type(x) is Mixed:
        return float if is_weak(x.given) else x.dtype, x.kind
    kind = operand(x).type
    return (kind.python_type,) if isinstance(kind, ScalarType) and kind.weak else ()


def _loop_of(ufunc: Any, types: tuple[object, ...]) -> tuple[np.dtype, ...] | None:
    try:
        found: tuple[np.dtype, ...] = ufunc.resolve_dtypes((*types, *(None,) * ufunc.nout))
    except TypeError:
        return None
    return found
