"""Functions that a module takes along: kernels of fxc that are more than one call of NumPy.

Their source is taken as it stands, with that of the functions of fxc which they call. A kernel that
needs more than NumPy and such functions is none for a module of its own.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from fxc.ops.kernels import kernel_of

# Modules from which names may be imported, for annotations and calls.
_IMPORTED = ("typing", "collections.abc")
_IGNORES = re.compile(r"\s*# type: ignore.*$", re.MULTILINE)


class Helpers:
    """The functions that one module takes along, in the order of their definition."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        self.imports: dict[str, set[str]] = {}

    def of_operator(self, op: str) -> str | None:
        """The name of a helper that is the operator's kernel; None if a module cannot have it."""
        try:
            return self.take(kernel_of(op))
        except KeyError:
            return None

    def take(self, function: Callable[..., Any]) -> str | None:
        """Take a function of fxc along, and what it calls; None if a module cannot have it."""
        if not isinstance(function, FunctionType) or not self.can_be_had(function, seen=set()):
            return None
        name: str = function.__name__
        if name not in self.sources:
            for alias, value in _needed(function):
                self.bring(alias, value)
            self.sources[name] = _IGNORES.sub("", _source(function) or "").rstrip()
        return name

    def can_be_had(self, value: Any, seen: set[Any]) -> bool:
        """Whether a module can have what a function refers to."""
        if value is np or _importable(value) is not None:
            return True
        if not isinstance(value, FunctionType) or not (value.__module__ or "").startswith("fxc."):
            return False
        if value in seen:
            return True
        return all(self.can_be_had(each, seen | {value}) for _, each in _needed(value))

    def bring(self, alias: str, value: Any) -> None:
        home = _importable(value)
        if home is not None:
            self.imports.setdefault(home, set()).add(alias)
        elif value is not np:
            self.take(value)


def _importable(value: Any) -> str | None:
    """The module that a name is imported from."""
    name = getattr(value, "__name__", None) or getattr(value, "_name", None)
    for home in _IMPORTED:
        module = __import__(home, fromlist=["*"])
        if name and getattr(module, name, None) is value:
            return home
    if callable(value) and getattr(np.lib.stride_tricks, str(name), None) is value:
        return "numpy.lib.stride_tricks"
    return None


def _source(function: FunctionType) -> str | None:
    """The text of a function; None where there is none to be read."""
    try:
        return inspect.getsource(function)
    except OSError:  # defined in no file, or the file is gone
        return None


def _needed(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The names from outside that a function refers to; no function of closures has a source."""
    source = _source(function)
    if function.__closure__ or "<" in function.__qualname__ or source is None:
        yield function.__name__, None
        return
    tree = ast.parse(source)
    stored = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    stored |= {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
    stored |= {f.name for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)}
    for name in sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - stored):
        if name in function.__globals__:
            yield name, function.__globals__[name]
        elif not hasattr(builtins, name):
            yield name, None
