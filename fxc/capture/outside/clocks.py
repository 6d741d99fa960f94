"""Clocks of Python's: what reads one becomes a node of the graph.

See Note [Operators with effects].
"""

from __future__ import annotations

import time
from types import BuiltinFunctionType
from typing import Any

from ..values.operands import record
from .outside import Outside


def is_clock(f: object) -> bool:
    """Whether a function reads one of the clocks that the module ``time`` knows."""
    if type(f) is not BuiltinFunctionType or f.__module__ != "time":
        return False
    name: Any = f.__name__.removesuffix("_ns")
    try:
        time.get_clock_info(name)
    except ValueError:
        return False
    return True


def read_clock(outside: Outside, f: Any, args: object, kwargs: object) -> Any:
    """What a clock shows, in order with all else that has an effect; NotImplemented for others."""
    if args or kwargs or not is_clock(f):
        return NotImplemented
    return record("clock_", outside.keeper(), which=f.__name__)
