"""How many elements the largest array has that a program meets."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tests.wild.registry import WildProgram
from tests.wild.seen import watch

_DEEP = 3  # objects in objects


def largest_array(program: WildProgram, size: int) -> int:
    """The elements of the largest array that a variable holds, or a thing in one, while plain
    NumPy runs the program, or that it returns.
    """
    largest, met = 0, set[int]()

    def note(value: Any, deep: int = _DEEP) -> None:
        nonlocal largest
        if isinstance(value, np.ndarray):
            largest = max(largest, value.size)
        elif deep and id(value) not in met:
            met.add(id(value))
            for each in _held(value):
                note(each, deep - 1)

    def trace(frame: Any, event: str, result: Any) -> Any:
        if event == "return":
            met.clear()
            note(result)
            note(frame.f_locals)
            frame.f_trace = None
        elif event == "call":
            frame.f_trace_lines = False
        return trace

    def traced(*args: Any) -> None:
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            program.function(*args)
        finally:
            sys.settrace(before)

    watch(traced, program.arguments(0, size))
    return largest


def _held(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.values()]
    if isinstance(value, list | tuple | set):
        return [*value]
    return [*getattr(value, "__dict__", {}).values()]
