"""Containers and objects in the header of a saved program, as JSON and back."""

from __future__ import annotations

import base64
import dataclasses
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.atoms import AtomParser
from fxc.ir.error_kinds import NOT_SAVED
from fxc.ir.errors import ParseError, UsageError
from fxc.ir.text import show_scalar
from fxc.ir.tree import LEAF, NONE, TreeSpec, registration
from fxc.ir.types import DTYPE_NAMES

# Objects that are saved by their name.
NAMED = (FunctionType, BuiltinFunctionType, ModuleType, type, np.ufunc, type(np.sum))


_SEQUENCES: dict[str, type] = {"tuple": tuple, "list": list}


def show_spec(spec: TreeSpec, show_key: Callable[[object], Any] | None = None) -> Any:
    """A TreeSpec as JSON: ``"*"`` is a leaf, ``null`` is None, a container is an object.

    Keys of dicts are shown as ``show_object`` does, or by ``show_key``. Raises ``ValueError`` for a
    registered container, and for a class that is not found by its name.
    """
    kind, key_text = spec.container, show_key or show_object
    if spec == LEAF:
        return "*"
    if spec == NONE:
        return None
    assert kind is not None
    children = [show_spec(child, show_key) for child in spec.children]
    if kind in _SEQUENCES.values():
        return {kind.__name__: children}
    if registration(kind) is not None:
        raise UsageError(
            NOT_SAVED, f"{kind.__name__} is a registered pytree node, which cannot be saved"
        )
    if kind is dict:
        return {"dict": children, "keys": [key_text(key) for key in spec.keys]}
    return {"class": name_of(kind), "fields": spec.keys, "items": children}


def parse_spec(shown: object) -> TreeSpec:
    match shown:
        case "*":
            return LEAF
        case None:
            return NONE
        case {"tuple": children}:
            return TreeSpec(tuple, (), tuple(map(parse_spec, children)))
        case {"list": children}:
            return TreeSpec(list, (), tuple(map(parse_spec, children)))
        case {"dict": children, "keys": keys}:
            spec = TreeSpec(dict, tuple(map(parse_object, keys)), tuple(map(parse_spec, children)))
            if len(set(spec.keys)) != len(spec.children):
                raise ParseError("a dict in its header has not one key for each value")
            return spec
        case {"class": name, "fields": fields, "items": children}:
            kind = _record_class(str(name), tuple(map(str, fields)))
            return TreeSpec(kind, tuple(fields), tuple(map(parse_spec, children)))
        case _:
            raise ParseError(f"its header holds {str(shown)[:40]!r}, which is no container")


def _record_class(name: str, fields: tuple[str, ...]) -> type:
    """The named tuple or dataclass of this name, if it still has these fields."""
    kind = _found(name)
    found: tuple[str, ...] | None = None
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        found = tuple(kind._fields)
    elif isinstance(kind, type) and dataclasses.is_dataclass(kind):
        found = tuple(field.name for field in dataclasses.fields(kind))
    if found is None:
        raise ParseError(f"{name} is no named tuple and no dataclass any more")
    assert isinstance(kind, type)
    if found != fields:
        had, has = ", ".join(fields), ", ".join(found)
        raise ParseError(f"{name} had the fields {had} when this was saved, and now has {has}")
    return kind


# ------------------------------------------------------------------ objects


def show_object(value: object) -> Any:
    """A plain object as JSON; numbers as in graphs, so that their bits are kept."""
    match value:
        case None | str():
            return value
        case bool() | int() | float() | complex() | np.generic() if _has_text(value):
            return {"number": show_scalar(value)}
        case bytes():
            return {"bytes": base64.b64encode(value).decode()}
        case tuple():
            return {"tuple": [show_object(item) for item in value]}
        case range() | slice():
            parts = (value.start, value.stop, value.step)
            return {type(value).__name__: [show_object(part) for part in parts]}
        case np.dtype() if value.fields is None and np.dtype(value.str) == value:
            return {"dtype": value.str}
        case _ if isinstance(value, NAMED):
            return {"object": name_of(value)}
        case _ if value is Ellipsis:
            return {"ellipsis": True}
        case _:
            raise UsageError(NOT_SAVED, f"a program with {value!r} in it cannot be saved")


def _has_text(value: object) -> bool:
    if isinstance(value, np.generic):
        return value.dtype in DTYPE_NAMES
    return type(value) in (bool, int, float, complex)


def parse_object(shown: object) -> Any:
    match shown:
        case None | str():
            return shown
        case {"number": str(text)}:
            return AtomParser(text).scalar()
        case {"bytes": str(text)}:
            return base64.b64decode(text, validate=True)
        case {"tuple": list(items)}:
            return tuple(map(parse_object, items))
        case {"range": [start, stop, step]}:
            return range(*map(parse_object, (start, stop, step)))
        case {"slice": [start, stop, step]}:
            return slice(*map(parse_object, (start, stop, step)))
        case {"dtype": str(text)}:
            return np.dtype(text)
        case {"object": str(name)}:
            return _found(name)
        case {"ellipsis": True}:
            return Ellipsis
        case _:
            raise ParseError(f"its header holds {str(shown)[:40]!r}, which is no object")


def name_of(thing: Any) -> str:
    """``module:name``, by which a class, a function or a module is found when loading."""
    if isinstance(thing, ModuleType):
        return f"{thing.__name__}:"
    module = "numpy" if isinstance(thing, np.ufunc) else getattr(thing, "__module__", None)
    name = f"{module}:{getattr(thing, '__qualname__', thing.__name__)}"
    try:
        found = _found(name)
    except ParseError:
        found = None
    if found is not thing:
        raise UsageError(
            NOT_SAVED,
            f"a program that depends on {thing!r} cannot be saved: it would not be found again "
            f"as {name}; define it at the top of a module",
        )
    return name


def _found(name: str) -> Any:
    """The object of a name in a module that the process has: none is imported for a file, and no
    code of a module or a class is asked for it.
    """
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    if not isinstance(found, ModuleType):
        raise ParseError(f"it needs {name}; import {module[:80]} before you load it")
    for part in path.split(".") if path else ():
        namespace = vars(found) if isinstance(found, ModuleType | type) else {}
        if part not in namespace:
            raise ParseError(f"it needs {name}, which is not there")
        found = namespace[part]
    return found
