"""The function that ends a call: it makes the result of the leaves, and the effects.

It is made of its source. What that mentions by name stands here, or in modules that are imported
when a source mentions it.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np


class Epilogue:
    """The function ``finish`` and its source."""

    def __init__(self, source: str, constants: dict[str, object]) -> None:
        self.source = source
        self.constants = constants
        self.code: CodeType | None = None  # of the source, if it is compiled

    @cached_property
    def finish(self) -> Callable[..., Any]:
        """From leaves and objects to the result; makes the effects."""
        code = self.code
        if code is None:
            code = self.code = compile(self.source, "<fxc epilogue>", "exec")
        namespace = {**_NAMESPACE, **self.constants}
        for name in _names_in(code) & _ELSEWHERE.keys():
            namespace[name] = getattr(import_module(_ELSEWHERE[name]), name)
        exec(code, namespace)
        function: Callable[..., Any] = namespace["finish"]
        return function

    def __str__(self) -> str:
        return self.source

    def __reduce__(self) -> tuple[Any, ...]:
        """The function is made again."""
        return Epilogue, (self.source, self.constants)


def _names_in(code: CodeType) -> set[str]:
    """The names that code mentions, and the code within it."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


def rebuild(kind: type, held: dict[str, object], slots: dict[str, object] | None = None) -> Any:
    """A new object of a class with these attributes."""
    made: Any = object.__new__(kind)
    if held:
        made.__dict__.update(held)
    for name, value in (slots or {}).items():
        object.__setattr__(made, name, value)
    return made


def dict_of(kind: type, items: dict[object, object], held: dict[str, object] | None) -> Any:
    """A new dict of a class with these items and attributes; None: which are its items."""
    made: Any = dict.__new__(kind)
    dict.update(made, items)
    if held is None:
        object.__setattr__(made, "__dict__", made)
    else:
        vars(made).update(held)
    return made


_ROOM = "fxc.capture"
_ELSEWHERE = {
    "text_of": f"{_ROOM}.lists.texts",
    "arena_places": f"{_ROOM}.epilogue.listed",
    "rows_of": f"{_ROOM}.epilogue.listed",
    "share_out": f"{_ROOM}.epilogue.listed",
    "show_notes": f"{_ROOM}.outside.effects",
}
_BY_NAME: tuple[Any, ...] = (
    *(Counter, OrderedDict, SimpleNamespace, defaultdict, deque, np.empty),
    *(rebuild, dict_of),
)
_NAMESPACE: dict[str, Any] = {
    **{each.__name__: each for each in _BY_NAME},
    "new_tuple": tuple.__new__,
    "put": object.__setattr__,
}
