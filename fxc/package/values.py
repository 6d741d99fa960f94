"""Objects and sizes as a manifest has them, in JSON.

A size is a number, the name of a symbol, or a list: an operation and its operands. Needs only NumPy
beside the standard library.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

Size = int | str | list[Any]
Shown = Any  # JSON


def _total(*terms: int) -> int:
    return sum(terms)


def _product(*factors: int) -> int:
    found = 1
    for each in factors:
        found *= each
    return found


_OPERATIONS: dict[str, Callable[..., int]] = {
    "+": _total,
    "*": _product,
    "floordiv": lambda left, right: left // right,
    "mod": lambda left, right: left % right,
    "min": min,
    "max": max,
}


def size_of(size: Size, known: Mapping[str, int]) -> int:
    """The value of a size, for these values of the symbols."""
    if isinstance(size, int):
        return size
    if isinstance(size, str):
        return known[size]
    operation, *operands = size
    return _OPERATIONS[operation](*[size_of(each, known) for each in operands])


def sizes_of(sizes: list[Size], known: Mapping[str, int]) -> tuple[int, ...]:
    """The values of several sizes."""
    return tuple([x if type(x) is int else size_of(x, known) for x in sizes])


def value_of(shown: Shown, known: Mapping[str, int]) -> Any:
    """The object that a manifest shows, for these values of the symbols."""
    if not isinstance(shown, dict):
        return shown
    ((kind, content),) = shown.items()
    if kind in _PARTS:
        return _PARTS[kind](*[value_of(each, known) for each in content])
    return _KINDS[kind](content, known)


def _array(content: Shown, known: Mapping[str, int]) -> np.ndarray:
    dtype, shape, data = content
    return np.frombuffer(a2b_base64(data), np.dtype(dtype)).reshape(shape)


_PARTS: dict[str, Callable[..., Any]] = {
    "tuple": lambda *parts: parts,
    "list": lambda *parts: [*parts],
    "range": range,
    "slice": slice,
}
_KINDS: dict[str, Callable[[Any, Mapping[str, int]], Any]] = {
    "float": lambda text, known: float.fromhex(text),
    "complex": lambda parts, known: complex(*map(float.fromhex, parts)),
    "bytes": lambda text, known: a2b_base64(text),
    "scalar": lambda parts, known: np.frombuffer(bytes.fromhex(parts[1]), np.dtype(parts[0]))[0],
    "dtype": lambda text, known: np.dtype(text),
    "ellipsis": lambda content, known: Ellipsis,
    "size": size_of,
    "array": _array,
    "object": lambda name, known: named(name),
}


def named(name: str) -> Any:
    """What is called ``module:name``."""
    module, _, path = name.partition(":")
    found: Any = import_module(module)
    for part in path.split(".") if path else ():
        found = getattr(found, part)
    return found
