"""Pytrees: nested tuples, lists, dicts, namedtuples and dataclasses of leaves.

>>> leaves, spec = flatten({"a": 1, "b": (2, None)})
>>> leaves, unflatten(spec, [10, 20])
([1, 2], {'a': 10, 'b': (20, None)})
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from .records import frozen


@frozen
class TreeSpec:
    """The shape of a pytree: its container's type, what the container keeps, its children.

    ``container`` is None for a leaf. ``keys`` are dict keys or field names.
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


def children_of(tree: Any) -> tuple[tuple[Hashable, ...], list[Any]] | None:
    """Keys and children of a container; None for a leaf.

    Only exact ``tuple``, ``list``, ``dict``, namedtuples and dataclass instances are containers.
    """
    kind = type(tree)
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


def flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """The leaves of a pytree in order, and its spec. None is a container without children."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: Any, leaves: list[Any]) -> TreeSpec:
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
    if kind is tuple or kind is list:
        return kind(children)
    if kind is dict:
        return dict(zip(spec.keys, children, strict=True))
    if _is_namedtuple(kind):
        return kind(*children)
    made: Any = object.__new__(kind)
    for name, child in zip(spec.keys, children, strict=True):
        object.__setattr__(made, str(name), child)
    return made
