"""``and``, ``or``, ``not`` and ``a if test else b`` in staged code.

What is not computed in Python is computed in a region of its own, or beside the rest if it is
cheap. See Note [Structured statements].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.errors import CaptureError
from fxc.ir.graph import Literal

from ..session import refuse
from ..values.operands import record
from ..values.python_numbers import logical_not
from .arms import Either, Kinds, paired, record_cond
from .structured import (
    Recording,
    flag_of,
    is_same,
    joint_kinds,
    kind_text,
    of_parts,
    optional_kinds,
    truth,
)

Later = Callable[[], Any]


def both(door: Any, left: Any, right: Later) -> Any:
    """``left and right()``."""
    test = truth(left)
    if type(test) is bool:
        return right() if test else left
    return _one_of(door, test, right, lambda: left, "and")


def either(door: Any, left: Any, right: Later) -> Any:
    """``left or right()``."""
    test = truth(left)
    if type(test) is bool:
        return left if test else right()
    return _one_of(door, test, lambda: left, right, "or")


def both_true(door: Any, left: Any, right: Later) -> Any:
    """Whether ``left and right()`` counts as true."""
    return _joined(door, left, right, True)


def either_true(door: Any, left: Any, right: Later) -> Any:
    """Whether ``left or right()`` counts as true."""
    return _joined(door, left, right, False)


def negated(door: Any, x: Any) -> Any:
    """``not x``."""
    test = truth(x)
    return not test if type(test) is bool else logical_not(test)


def chosen(door: Any, test: Any, then: Later, orelse: Later) -> Any:
    """``then() if test else orelse()``."""
    found = truth(test)
    if type(found) is bool:
        return then() if found else orelse()
    return _one_of(door, found, then, orelse, "if")


def _recorded(region: Recording, function: Later) -> Any:
    """What the function gives, recorded in the region; refuses what raises, as it need not run."""
    with region:
        try:
            return function()
        except CaptureError:
            raise
        except Exception:
            raise refuse(
                "an exception in a part of an expression that is evaluated by a condition cannot "
                "be captured; check before"
            ) from None


def _joined(door: Any, left: Any, right: Later, wanted: bool) -> Any:
    """``and`` if True is ``wanted`` of both, ``or`` if False is."""
    test = truth(left)
    if type(test) is bool:
        return truth(right()) if test is wanted else test
    first = flag_of(test)
    region = Recording(door.session)

    def computed_flag() -> Any:
        found = truth(right())
        return found, flag_of(found)

    other, second = _recorded(region, computed_flag)
    if region.is_harmless():
        region.spill()
        if type(other) is bool:
            return of_parts([first]) if other is wanted else other
        return record("logical_and" if wanted else "logical_or", first, second)
    rest = Recording(door.session)
    known = rest.finished((), [Literal(np.bool_(not wanted))])
    computed = region.finished((), [second])
    arms = (computed, known) if wanted else (known, computed)
    (found,) = door.session.record("cond", first, (), on_true=arms[0], on_false=arms[1])
    return of_parts([found])


def _one_of(door: Any, test: Any, then: Later, orelse: Later, what: str) -> Any:
    """One of two values, by a test that is not known."""
    arms: list[tuple[Recording, Any]] = []
    for function in (then, orelse):
        region = Recording(door.session)
        arms.append((region, _recorded(region, function)))
    (_, left), (_, right) = arms
    regions = arms[0][0], arms[1][0]
    if is_same(left, right) and all(region.is_empty for region in regions):
        return left

    def kinds(one: Any, other: Any) -> Kinds:
        found = joint_kinds(one, other) or optional_kinds(one, other)
        if found is None:
            raise refuse(
                f"{what!r} gives {kind_text(one)} or {kind_text(other)}, which cannot be captured; "
                "make it the same kind of value in both cases"
            )
        return found

    values: list[Either] = []
    joined = paired(left, right, kinds, values)
    return joined(record_cond(door.session, flag_of(test), regions, values))
