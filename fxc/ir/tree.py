"""Pytrees: nested tuples, lists, dicts, namedtuples, dataclasses and registered types of leaves.

>>> leaves, spec = flatten({"a": 1, "b": (2, None)})
>>> leaves, unflatten(spec, [10, 20])
([1, 2], {'a': 10, 'b': (20, None)})
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from .error_kinds import ARGUMENT
from .errors import UsageError
from .records import frozen


@frozen
class TreeSpec:
    """The shape of a pytree: its container's type, what the container keeps, its children.

    ``container`` is None for a leaf. ``keys`` are dict keys or field names; for a registered type
    the one thing that its flatten function keeps.
    """

    container: type | None
    keys: tuple[Hashable, ...] = ()
    children: tuple[TreeSpec, ...] = ()

    @property
    def leaf_count(self) -> int:
        return 1 if self.container is None else sum(c.leaf_count for c in self.children)


LEAF = TreeSpec(None)
NONE = TreeSpec(type(None))


def _is_namedtuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


Flatten = Callable[[Any], tuple[Any, ...]]
Unflatten = Callable[[Any, tuple[Any, ...]], Any]
_BUILTIN = (None, type(None), tuple, list, dict)
_registered: dict[type, tuple[Flatten, Unflatten]] = {}


def register_pytree_node(kind: type, flatten: Flatten, unflatten: Unflatten) -> None:
    """Make the objects of a class containers.

    ``flatten(x)`` gives the children of ``x`` and whatever else is needed to make it again, which
    must be hashable; ``unflatten(rest, children)`` makes it. Both only compute. They are used where
    containers are taken apart: what ``fxc.fori_loop`` carries, results of ``fxc.cond``, arguments
    and results of ``fxc.export``. Types that are registered with optree need not be registered
    again. Arguments of compiled functions need no registration: their attributes are read as the
    function reads them.

    Raises ``ValueError`` for a class that is registered already or is a container anyway.

    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, parts: Pair(*parts))
    >>> flatten([Pair(1, 2), 3])[0]
    [1, 2, 3]
    """
    if kind in _BUILTIN or kind in _registered:
        raise UsageError(ARGUMENT, f"{kind.__name__} is a pytree node already")
    _registered[kind] = flatten, unflatten


def registration(kind: type | None) -> tuple[Flatten, Unflatten] | None:
    """The functions that a class is registered with, here or with optree."""
    found = _registered.get(kind) if kind is not None else None
    optree: Any = sys.modules.get("optree")
    if found is not None or optree is None or kind in _BUILTIN:
        return found
    entry = optree.register_pytree_node.get(kind)
    return None if entry is None else (entry.flatten_func, entry.unflatten_func)


def children_of(tree: Any) -> tuple[tuple[Hashable, ...], list[Any]] | None:
    """Keys and children of a container; None for a leaf.

    Only exact ``tuple``, ``list``, ``dict``, namedtuples, dataclass instances and objects of
    registered types are containers.
    """
    kind = type(tree)
    registered = registration(kind)
    if registered is not None:
        children, rest = registered[0](tree)[:2]
        return (rest,), list(children)
    if kind is tuple or kind is list:
        return (), list(tree)
    if kind is dict:
        return tuple(tree), list(tree.values())
    if _is_namedtuple(kind):
        return tree._fields, list(tree)
    if dataclasses.is_dataclass(kind):
        names = tuple(f.name for f in dataclasses.fields(kind))
        return names, [getattr(tree, name) for name in names]
    return None


def flatten(tree: object) -> tuple[list[Any], TreeSpec]:
    """The leaves of a pytree in order, and its spec. None is a container without children."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: object, leaves: list[Any]) -> TreeSpec:
    if tree is None:
        return NONE
    found = children_of(tree)
    if found is None:
        leaves.append(tree)
        return LEAF
    keys, children = found
    return TreeSpec(type(tree), keys, tuple(_flatten(child, leaves) for child in children))


def unflatten(spec: TreeSpec, leaves: Sequence[Any]) -> Any:
    """The pytree of this spec with these leaves; new containers."""
    return _unflatten(spec, iter(leaves))


def _unflatten(spec: TreeSpec, leaves: Iterator[Any]) -> Any:
    kind = spec.container
    if kind is None:
        return next(leaves)
    if kind is type(None):
        return None
    children = [_unflatten(child, leaves) for child in spec.children]
    registered = registration(kind)
    if registered is not None:
        return registered[1](spec.keys[0], tuple(children))
    if kind is tuple or kind is list:
        return kind(children)
    if kind is dict:
        return dict(zip(spec.keys, children, strict=True))
    if _is_namedtuple(kind):
        return tuple.__new__(kind, children)
    made: Any = object.__new__(kind)
    for name, child in zip(spec.keys, children, strict=True):
        object.__setattr__(made, str(name), child)
    return made
