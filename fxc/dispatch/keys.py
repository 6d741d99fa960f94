"""Dispatch keys, sets of them as bit masks, and the thread's included and excluded keys."""

from __future__ import annotations

from _thread import _local
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, IntEnum


class DispatchKey(IntEnum):
    """The columns of the grid, by priority: the highest key of a call decides.

    The numbers leave room for keys between (batching, gradients).
    """

    CPU = 0
    META = 10
    TRACE = 20
    FUNCTIONALIZE = 30


class KeySet(int):
    """An immutable set of dispatch keys: the bit ``1 << key`` for each.

    >>> keys = KeySet.of(DispatchKey.CPU, DispatchKey.TRACE)
    >>> keys.highest.name, DispatchKey.META in keys
    ('TRACE', False)
    """

    @classmethod
    def of(cls, *keys: DispatchKey) -> KeySet:
        """The set of these keys."""
        mask = 0
        for key in keys:
            mask |= 1 << key
        return cls(mask)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, DispatchKey) and bool(self >> key & 1)

    def __iter__(self) -> Iterator[DispatchKey]:
        return (key for key in DispatchKey if key in self)

    @property
    def highest(self) -> DispatchKey:
        """The key with the highest priority; ``ValueError`` for the empty set."""
        return DispatchKey(self.bit_length() - 1)

    def __repr__(self) -> str:
        return f"{{{', '.join(key.name for key in self)}}}"


ALL_KEYS = KeySet.of(*DispatchKey)


def above(key: DispatchKey) -> KeySet:
    """The keys of a higher priority than ``key``."""
    return KeySet(ALL_KEYS >> key + 1 << key + 1)


class AliasKey(Enum):
    """A name for several columns, under which decompositions are registered.

    In the order of precedence; a direct kernel comes before all, the column's fallback after all.
    """

    NON_FUNCTIONAL = "CompositeExplicitNonFunctional"
    EXPLICIT = "CompositeExplicit"
    IMPLICIT = "CompositeImplicit"

    @property
    def writes(self) -> bool:
        """Whether such decompositions may use views and writes."""
        return self is AliasKey.NON_FUNCTIONAL


# Which columns an alias key stands for. Explicit decompositions are for backends, which stand in
# the CPU column, and the operator stays whole in captured graphs; an implicit one hides the
# operator from everything. Those with views and writes come first. A backend that takes neither
# takes them last, functionalized.
ALIAS_COLUMNS = {
    AliasKey.NON_FUNCTIONAL: KeySet.of(DispatchKey.CPU),
    AliasKey.EXPLICIT: KeySet.of(DispatchKey.CPU),
    AliasKey.IMPLICIT: ALL_KEYS,
}


class _ThreadKeys(_local):
    include = 0
    exclude = 0


thread_keys = _ThreadKeys()


@contextmanager
def including(keys: int) -> Iterator[None]:
    """Add keys to every call of this thread inside the block."""
    before = thread_keys.include
    thread_keys.include = before | keys
    try:
        yield
    finally:
        thread_keys.include = before


@contextmanager
def with_keys(include: int, exclude: int) -> Iterator[None]:
    """Add and take away these keys alone, whatever is around the block."""
    before = thread_keys.include, thread_keys.exclude
    thread_keys.include, thread_keys.exclude = include, exclude
    try:
        yield
    finally:
        thread_keys.include, thread_keys.exclude = before


@contextmanager
def excluding(keys: int) -> Iterator[None]:
    """Take keys away from every call of this thread inside the block."""
    before = thread_keys.exclude
    thread_keys.exclude = before | keys
    try:
        yield
    finally:
        thread_keys.exclude = before
