"""``int(x)``, ``str(x)`` and their like, and what computes with Python's numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.error_kinds import OPERAND
from fxc.ir.later import import_later
from fxc.ir.types import ScalarType

from ..dicts.unknown_keys import is_text
from ..forms.mixed import Mixed, number_of
from ..forms.options import is_open_int
from ..forms.several import Several
from ..forms.truths import flag_of, going_on
from ..lists.texts import char_of, code_of, is_char, is_unknown_text
from ..lists.traced_lists import is_in_graph
from ..numbers.python_numbers import scalar_of, to_bool, to_complex, to_float, to_int
from ..numbers.traced_int import scalar_of_int
from ..session.refusing import refuse
from ..session.warned_of import run_now
from ..values.late import Late, is_unknown, known_text, late
from ..values.operands import Traced, array_of, has_traced, operand, record
from ..values.shadows import has_method
from .plain_calls import PlainCalls


def of_number(name: str, convert: Callable[..., object]) -> Callable[..., Any]:
    """``int(x)`` and its like, of an object that says itself which number it is."""

    def converted(door: PlainCalls, *args: object, **kwargs: object) -> object:
        if len(args) == 1 and not kwargs and has_method(args[0], name):
            found = door.special(args[0], name)
            if isinstance(found, Traced) and f"__{found.__class__.__name__}__" != name:
                raise refuse(OPERAND, f"{name} that gives a {found.__class__.__name__}")
            return convert(door, found) if isinstance(found, Traced) else convert(door, *args)
        return convert(door, *args, **kwargs)

    return converted


def _number(kind: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
    """An int or a float of what is known; of NumPy's complex numbers it warns."""
    is_numpys = len(args) == 1 and isinstance(args[0], np.complexfloating)
    return run_now(kind, args, kwargs) if is_numpys else kind(*map(known_text, args), **kwargs)


# See Note [Rooms with one door].
_int_in = import_later("fxc.capture.lists.characters", "int_in")


def int_of(door: PlainCalls, *args: Any, **kwargs: object) -> Any:
    if len(args) == 1 and not kwargs:
        if is_open_int(args[0]):
            return args[0]
        if type(args[0]) is Several:
            return args[0].converted(partial(int_of, door))
        if type(args[0]) is Mixed:
            return args[0].to_int()
        if is_unknown_text(args[0]):
            return _int_in(args[0].codes())
        x = scalar_of(args[0])
        if x is not None and x._type.dtype.kind != "c":
            return to_int(x)
    return _number(int, args, kwargs)


def float_of(door: PlainCalls, *args: object) -> Any:
    if len(args) == 1 and type(args[0]) is Several:
        return args[0].converted(partial(float_of, door))
    if len(args) == 1:
        x = number_of(args[0])
        if is_open_int(x):
            return record("py_float", operand(x))
        scalar = scalar_of(x)
        if scalar is not None and scalar._type.dtype.kind != "c":
            return to_float(scalar)
    return _number(float, args, {})


def complex_of(door: PlainCalls, *args: Any, **kwargs: Any) -> Any:
    parts = [number_of(x) for x in args] if not kwargs else []
    numbers = [x if is_open_int(x) else scalar_of(x) for x in parts]
    if not any(x is not None for x in numbers):
        return complex(*map(known_text, args), **kwargs)
    if len(parts) == 1:
        return to_complex(numbers[0].real, numbers[0].imag)
    if len(parts) != 2 or any(operand(x).type.dtype.kind == "c" for x in parts):
        raise refuse(OPERAND, "complex() of a complex number and another", "use x + y * 1j")
    given = zip(parts, numbers, strict=True)
    return to_complex(*(part if number is None else number for part, number in given))


def bool_of(door: PlainCalls, *args: object) -> Any:
    if len(args) == 1 and has_method(args[0], "__bool__"):
        return going_on(args[0])
    first: Any = args[0] if len(args) == 1 else None
    if array_of(first) is not None:
        first = going_on(first)
    if type(first) is Several or is_in_graph(first) or is_unknown_text(first):
        test = first._is_filled()
        return test if type(test) is bool else to_bool(test)
    x = scalar_of(number_of(first)) if len(args) == 1 else None
    return bool(*args) if x is None else to_bool(x)


def text_of(kind: Callable[..., Any]) -> Any:
    def text(door: PlainCalls, *args: Any, **kwargs: object) -> Any:
        door.check_text(args)
        if len(args) == 1 and kind in (str, repr):
            made = door.as_text(args[0], f"__{kind.__name__}__")
            if made is not args[0]:
                return made
        if args and not kwargs and is_unknown(args):
            is_text = len(args) == 1 and kind is str and args[0].__class__ is str
            return args[0] if is_text and type(args[0]) is Late else late(str, kind, *args)
        return kind(*door.kept(args), **kwargs)

    return text


def ord_of(door: PlainCalls, *args: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], Traced) and is_char(args[0]):
        return code_of(args[0])
    if len(args) == 1 and isinstance(args[0], Traced) and is_text(args[0]):
        return args[0].of_each(ord)  # type: ignore[attr-defined]
    return ord(*args)


def chr_of(door: PlainCalls, *args: Any) -> Any:
    x = scalar_of(number_of(args[0])) if len(args) == 1 else None
    if x is not None and x._type.dtype.kind not in ("iu" if not x._type.weak else "bi"):
        return chr(*args)  # it raises
    if x is None and not (len(args) == 1 and is_open_int(args[0])):
        return chr(*args)
    return char_of(args[0] if x is None else to_int(x))


def pow_of(door: PlainCalls, *args: object, **kwargs: object) -> Any:
    if len(args) != 3 or kwargs or not any(isinstance(x, Traced) for x in args):
        return door.builtin(pow, args, kwargs)
    args = tuple(map(number_of, args))
    if not all(map(_is_python_int, args)):
        raise TypeError("pow() with a modulus takes Python's ints")
    x, n, modulus = map(scalar_of_int, args)
    if type(args[1]) is int and args[1] < 0:
        found, divisor = door.staged(_inverse)(x, modulus)
        for test in (modulus > 1, divisor == 1):  # else Python has rules of its own, or raises
            door.session.record("try_demand", flag_of(test))
        return door.staged(_power_modulo)(found, -args[1], modulus)
    door.session.record("try_demand", flag_of(n >= 0))
    return door.staged(_power_modulo)(x, n, modulus)


def _is_python_int(x: object) -> bool:
    kind = operand(x).type
    return isinstance(kind, ScalarType) and kind.weak and kind.dtype.kind in "bi"


def _power_modulo(x: int, n: int, modulus: int) -> Any:
    result, x = 1 % modulus, x % modulus
    while n > 0:
        if n & 1:
            result = result * x % modulus
        n >>= 1
        if n:
            x = x * x % modulus
    return result


def _inverse(x: int, modulus: int) -> tuple[Any, ...]:
    """By what to multiply for a remainder of 1, and the greatest common divisor."""
    left, right, one, other = modulus, x % modulus, 0, 1
    while right > 0:
        times = left // right
        left, right = right, left - times * right
        one, other = other, one - times * other
    return one % modulus, left


def is_close(
    door: PlainCalls, a: object, b: object, *, rel_tol: object = 1e-9, abs_tol: object = 0.0
) -> Any:
    tolerances = {"rel_tol": rel_tol, "abs_tol": abs_tol}
    if not any(isinstance(x, Traced) for x in (a, b, rel_tol, abs_tol)):
        return door.builtin(math.isclose, (a, b), tolerances)
    return door.staged(_is_close)(*(float_of(door, x) for x in (a, b, rel_tol, abs_tol)))


def _is_close(a: float, b: float, rel_tol: float, abs_tol: float) -> Any:
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    apart = abs(b - a)
    return apart <= abs(rel_tol * b) or apart <= abs(rel_tol * a) or apart <= abs_tol


def distance_of(door: PlainCalls, *points: object) -> Any:
    """What ``math.dist`` does: of two points in a plane, it is what ``math.hypot`` makes of the
    differences. Python computes others.
    """
    found = [_in_plane(x) for x in points]
    if len(found) != 2 or None in found or not has_traced(found):
        return door.builtin(math.dist, points, {})
    return door.staged(_distance)(*(float_of(door, x) for x in (*found[0], *found[1])))


def _in_plane(point: Any) -> Any:
    """The two coordinates of a point; None if these are not two, or no real numbers."""
    if (array := array_of(point)) is not None:
        kind = array.type
        return tuple(point) if kind.shape == (2,) and kind.dtype.kind in "biuf" else None
    return tuple(point) if type(point) in (tuple, list) and len(point) == 2 else None


def _distance(x: float, y: float, other_x: float, other_y: float) -> Any:
    return math.hypot(x - other_x, y - other_y)
