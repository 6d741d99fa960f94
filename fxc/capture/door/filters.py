"""Filters of warnings that the program sets for some of its lines: those that ignore.

What NumPy warns of in these lines is dropped with the floating-point flags, see ``SourceLocation``;
what the program warns of itself is not shown.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import WARNS

from ..session.locations import Filtering, ignore_warnings, may_filter
from ..session.refusing import refuse
from .formats import Formats


def _catch_warnings(
    door: Formats,
    *,
    record: object = False,
    module: object = None,
    action: object = None,
    category: object = Warning,
    **options: object,
) -> Filtering:
    if record is not False or module is not None:
        raise refuse(WARNS, "warnings.catch_warnings with a record of them")
    if action is None:
        return Filtering(door.session.region)
    return Filtering(door.session.region, _ignored(door, action, category, **options))


def _simplefilter(
    door: Formats,
    action: object,
    category: object = Warning,
    lineno: object = 0,
    append: object = False,
) -> None:
    if not may_filter(door.session.region):
        raise refuse(WARNS, "a filter of warnings but in warnings.catch_warnings")
    ignore_warnings(_ignored(door, action, category, lineno, append))


def _filterwarnings(
    door: Formats,
    action: object,
    message: object = "",
    category: object = Warning,
    module: object = "",
    *more: object,
    **options: object,
) -> None:
    if (message, module) != ("", ""):
        raise refuse(WARNS, "a filter of warnings by their texts or modules")
    _simplefilter(door, action, category, *more, **options)


def _ignored(
    door: Formats, action: object, category: object, lineno: object = 0, append: object = False
) -> type[Warning]:
    """The warnings that a filter ignores; what of NumPy is no warning, it does not."""
    if (action, lineno, append) != ("ignore", 0, False):
        raise refuse(WARNS, "a filter of warnings with anything but 'ignore'")
    if not (isinstance(category, type) and issubclass(category, Warning)):
        raise refuse(WARNS, f"a filter of warnings of a {type(category).__name__}")
    if "raise" in np.geterr().values():
        raise refuse(WARNS, "a filter of warnings where floating-point errors raise")
    guards = door.outside.guards
    guards.check(f"{guards.constant(_only_warns)}()", "floating-point errors are at most warned of")
    return category


def _only_warns() -> bool:
    return {*np.geterr().values()} <= {"ignore", "warn"}


FILTERS: dict[Any, Callable[..., Any]] = {
    warnings.catch_warnings: _catch_warnings,
    warnings.simplefilter: _simplefilter,
    warnings.filterwarnings: _filterwarnings,
}
