"""The function that ends a call: it makes the result of the leaves, and the effects.

It is made of its source. What that mentions by name stands here, or in modules that are imported
when a source mentions it.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import CodeType, MethodType, SimpleNamespace
from typing import Any

import numpy as np

from fxc.ir.made_functions import names_in
from fxc.ir.records import computed_once


class Epilogue:
    """The function ``finish`` and its source; ``shown`` are the constants that are functions which
    show something: see Note [Late effects].
    """

    def __init__(
        self, source: str, constants: dict[str, object], shown: tuple[str, ...] = ()
    ) -> None:
        self.source = source
        self.constants = constants
        self.shown = shown
        self.code: CodeType | None = None  # of the source, if it is compiled

    @computed_once
    def finish(self) -> Callable[..., Any]:
        """From leaves and objects to the result; makes the effects."""
        return self._made({})

    @computed_once
    def finish_silently(self) -> Callable[..., Any]:
        """The same, but nothing is shown."""
        return self._made(dict.fromkeys(self.shown, _show_nothing))

    def _made(self, others: dict[str, object]) -> Callable[..., Any]:
        code = self.code
        if code is None:
            code = self.code = compile(self.source, "<fxc epilogue>", "exec")
        namespace = {**_NAMESPACE, **self.constants, **others}
        for name in names_in(code) & _ELSEWHERE.keys():
            namespace[name] = getattr(import_module(_ELSEWHERE[name]), name)
        exec(code, namespace)
        function: Callable[..., Any] = namespace["finish"]
        return function

    def __str__(self) -> str:
        return self.source

    def __reduce__(self) -> tuple[Any, ...]:
        """The function is made again."""
        return Epilogue, (self.source, self.constants, self.shown)


def _show_nothing(*args: object, **kwargs: object) -> None:
    """Stands for what shows something."""


def rebuild(kind: type, held: dict[str, object], slots: dict[str, object] | None = None) -> object:
    """A new object of a class with these attributes."""
    made: Any = object.__new__(kind)
    if held:
        made.__dict__.update(held)
    for name, value in (slots or {}).items():
        object.__setattr__(made, name, value)
    return made


def dict_of(kind: type, items: dict[object, object], held: dict[str, object] | None) -> object:
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
    "scalars": f"{_ROOM}.epilogue.listed",
    "share_out": f"{_ROOM}.epilogue.listed",
    "as_array": f"{_ROOM}.guards.facts",
    "as_new_memmap": f"{_ROOM}.epilogue.classed",
    "as_new_like": f"{_ROOM}.epilogue.classed",
    "as_part_of": f"{_ROOM}.epilogue.classed",
    "show_notes": f"{_ROOM}.outside.effects",
    "kept_by": "fxc.ir.handles",
}
_BY_NAME: tuple[Any, ...] = (
    *(Counter, OrderedDict, SimpleNamespace, defaultdict, deque, namedtuple, np.empty),
    *(partial, MethodType, rebuild, dict_of),
)
_NAMESPACE: dict[str, Any] = {
    **{each.__name__: each for each in _BY_NAME},
    "new_tuple": tuple.__new__,
    "put": object.__setattr__,
    "wrapped_as": np.ndarray.__array_wrap__,
}
