"""The widths of the columns of NumPy's ziggurats, found by asking its functions.

See Note [Quick draws].
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace

from fxc.lowering.emission.quick_draws import Ziggurat

_COLUMNS = 256
_MARGIN = 2**12  # places; the edges are computed from rounded widths
_WORD = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)
_REAL = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)


class _Interface(ctypes.Structure):
    """What functions in C take as a bit generator."""

    _fields_ = (
        ("state", ctypes.c_void_p),
        ("next_uint64", _WORD),
        ("next_uint32", ctypes.c_void_p),
        ("next_double", _REAL),
        ("next_raw", _WORD),
    )


def of_function(function: int, form: Ziggurat) -> Ziggurat | None:
    """The ziggurat of a function in C at an address; None if it has not this form."""
    draw = _asking(function)

    def at(column: int, place: int) -> float | None:
        return draw(column << form.column | place << form.place)

    unit = 2**20  # places; a power of 2 leaves the bits of a width as they are
    widths = []
    for column in range(_COLUMNS):
        found = at(column, unit)
        # Of one column no place is safe; nothing needs its width.
        widths.append(0.0 if found is None else found / unit)
    if widths.count(0.0) > 1 or not widths[0]:
        return None
    safe = [_safe(form, widths, column) for column in range(_COLUMNS)]
    for column, most in enumerate(safe):
        if most and at(column, most - 1) != (most - 1) * widths[column]:
            return None
    return replace(form, widths=tuple(widths), safe=tuple(safe))


def _safe(form: Ziggurat, widths: list[float], column: int) -> int:
    """How many places of a column are under the column above it, or nearly as many."""
    if not widths[column]:
        return 0
    above = widths[column - 1]  # of the lowest one, the widest
    return max(int(above / widths[column] * form.places) - _MARGIN, 0)


def _asking(function: int) -> Callable[[int], float | None]:
    """What the function makes of one word; None if it asks for more."""
    left: list[int] = []
    asked: list[int] = []

    def next_word(_: int | None) -> int:
        asked.append(1)
        return left.pop() if left else 0  # the first place, which all functions take

    def next_real(_: int | None) -> float:
        asked.append(1)
        return 0.5

    word, real = _WORD(next_word), _REAL(next_real)
    interface = _Interface(None, word, None, real, word)
    draw = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)(function)

    def draw_of(word: int) -> float | None:
        left[:], asked[:] = [word], []
        found: float = draw(ctypes.addressof(interface))
        return found if len(asked) == 1 else None

    return draw_of
