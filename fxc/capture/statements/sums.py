"""``sum`` of numbers, one after the other, as this Python adds them.

From 3.12 on Python corrects sums of floats: it adds up what each addition has lost, and adds that
in the end (Neumaier). It does so from the first of its own floats on to the first number that is
neither a float nor an int of Python's.
"""

from __future__ import annotations

import sys
from typing import Any

from ..session.session import current

CORRECTS = tuple(sys.version_info) >= (3, 12)

# ------------------------------------------------------------------ staged


def total(items: Any, each: Any, test: Any, start: Any) -> Any:
    result = start
    for item in items:
        if test is None or test(item):
            result = result + each(item)
    return result


def corrected_total(items: Any, each: Any, test: Any, start: Any) -> Any:
    result, lost = start, 0.0
    for item in items:
        if test is None or test(item):
            result, lost = one_more(result, lost, each(item))
    return ended((result, lost))


def plus(so_far: Any, value: object) -> Any:
    return so_far + value


def corrected_plus(so_far: Any, value: object) -> Any:
    result, lost = so_far
    return one_more(result, lost, value)


def _ended(so_far: Any) -> Any:
    result, lost = so_far
    if lost != 0.0 and lost - lost == 0.0:  # it is finite
        result = result + lost
    return result


def _corrected(result: Any, lost: object, value: Any) -> Any:
    total = result + value
    if abs(result) >= abs(value):
        lost = lost + ((result - total) + value)
    else:
        lost = lost + ((value - total) + result)
    return total, lost


# ------------------------------------------------------------------ called by what is staged


def one_more(result: Any, lost: object, value: Any) -> tuple[Any, Any]:
    """A sum with one more number, and what has been lost so far."""
    if not _is(result, float) or _is(value, int) or _is(value, bool):
        return result + value, lost
    if type(result) is type(value) is type(lost) is float:
        found: tuple[Any, Any] = _corrected(result, lost, value)
    elif _is(value, float):
        found = current().door.staged(_corrected)(result, lost, value)
    else:
        found = ended((result, lost)) + value, 0.0
    return found


def ended(so_far: tuple[Any, Any]) -> Any:
    """A sum with what has been lost."""
    is_known = all(type(x) is float for x in so_far)
    return _ended(so_far) if is_known else current().door.staged(_ended)(so_far)


def _is(x: object, kind: type) -> bool:
    """Whether the program sees a number of this class of Python's."""
    return getattr(x, "__class__", None) is kind


def sum_of_known(items: Any, start: object = 0) -> Any:
    """``sum`` of a list or tuple that Python has, of numbers that are not all known."""
    result, lost = start, 0.0
    for item in items:
        result, lost = one_more(result, lost, item)
    return ended((result, lost))


TOTAL = corrected_total if CORRECTS else total
