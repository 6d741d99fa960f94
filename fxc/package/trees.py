"""Nested tuples, lists, dicts, named tuples and dataclasses, as a manifest describes them.

``"*"`` is a leaf, ``null`` is None; a container is an object. Needs only the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from .values import Shown, named, value_of

LEAF = "*"


def flatten(value: object, spec: Shown, name: str, leaves: list[Any]) -> None:
    """Append the leaves of an argument. Raises ``TypeError`` if it is not as the spec says."""
    if spec == LEAF:
        if value is None or _children(value) is not None:
            raise TypeError(f"{name} must be an array or a number, it is {_described(value)}")
        leaves.append(value)
        return
    if spec is None:
        if value is not None:
            raise TypeError(f"{name} must be None, it is {_described(value)}")
        return
    kind, keys, parts = _container(spec)
    found = None if value is None else _children(value)
    if type(value) is not kind or found is None or found[0] != keys or len(found[1]) != len(parts):
        raise TypeError(f"{name} must be {_wanted(kind, keys, parts)}, it is {_described(value)}")
    for place, (child, part) in enumerate(zip(found[1], parts, strict=True)):
        flatten(child, part, _part_name(kind, keys, place, name), leaves)


def unflatten(spec: Shown, leaves: Iterator[Any]) -> Any:
    """New containers with these leaves."""
    if spec == LEAF:
        return next(leaves)
    if spec is None:
        return None
    kind, keys, parts = _container(spec)
    return _maker(kind, keys)([unflatten(part, leaves) for part in parts])


def maker(spec: Shown) -> Callable[[list[Any]], Any]:
    """What makes a container as the spec says, of a list of its parts."""
    return _maker(*_container(spec)[:2])


def _maker(kind: type, keys: Sequence[Any]) -> Callable[[list[Any]], Any]:
    if kind is tuple or kind is list:
        return kind
    if kind is dict:
        return lambda parts: dict(zip(keys, parts, strict=True))
    if issubclass(kind, tuple):
        return partial(tuple.__new__, kind)

    def record(parts: list[Any]) -> Any:
        made: Any = object.__new__(kind)
        for field, part in zip(keys, parts, strict=True):
            object.__setattr__(made, str(field), part)
        return made

    return record


def leaf_names(spec: Shown, name: str) -> Iterator[str]:
    """What messages call the leaves: ``x``, ``pair[0]``, ``opts['tol']``."""
    if spec == LEAF:
        yield name
    elif spec is not None:
        kind, keys, parts = _container(spec)
        for place, part in enumerate(parts):
            yield from leaf_names(part, _part_name(kind, keys, place, name))


def _container(spec: dict[str, Any]) -> tuple[type, tuple[Any, ...], Sequence[Any]]:
    if "tuple" in spec:
        return tuple, (), spec["tuple"]
    if "list" in spec:
        return list, (), spec["list"]
    if "dict" in spec:
        return dict, tuple(value_of(key, {}) for key in spec["keys"]), spec["dict"]
    return named(spec["class"]), tuple(spec["fields"]), spec["items"]


def _children(value: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    kind = type(value)
    if kind is tuple or kind is list:
        return (), list(value)
    if kind is dict:
        return tuple(value), list(value.values())
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return tuple(kind._fields), list(value)
    if hasattr(kind, "__dataclass_fields__"):
        from dataclasses import fields  # takes long to import

        names = tuple(field.name for field in fields(kind))
        return names, [getattr(value, name) for name in names]
    return None


def _described(value: object) -> str:
    if value is None:
        return "None"
    found = _children(value)
    if found is None:
        return "an array or a number"
    return _wanted(type(value), *found)


def _wanted(kind: type, keys: tuple[Any, ...], parts: Sequence[Any]) -> str:
    if kind is dict:
        return f"a dict with the keys {list(keys)}"
    return f"a {kind.__name__}" if keys else f"a {kind.__name__} of {len(parts)}"


def _part_name(kind: type, keys: tuple[Any, ...], place: int, name: str) -> str:
    if not keys:
        return f"{name}[{place}]"
    return f"{name}[{keys[place]!r}]" if kind is dict else f"{name}.{keys[place]}"
