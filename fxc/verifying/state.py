"""What a call may change, kept, so that the call can be made again."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.objects import is_writeable
from fxc.ir.records import frozen
from fxc.runtime.generators import checkpoint

from .bits import same_bits
from .parts import (
    HEAP_TYPE,
    MOST_OBJECTS,
    generator_state,
    has_attributes,
    is_globals,
    parts_of,
    slots_of,
)


@frozen(eq=False)
class KeptObject:
    """One object: how to bring it back, and whether that is needed."""

    object: object
    is_changed: Callable[[], bool]
    restore: Callable[[], None]


class Snapshot:
    """The objects that can be reached from some, as they are when it is made.

    The objects stay the same: what was in them is brought back into them, so that arrays overlap
    and names mean as before. Arrays are kept with the memory that they are views of. What is kept
    ``alone`` are these objects, without what they refer to, and the elements of these arrays.
    """

    def __init__(self, roots: Iterable[object], *, alone: bool = False) -> None:
        self._kept: list[KeptObject] = []
        known: dict[int, object] = {}
        waiting = [*roots][::-1]
        while waiting:
            x = waiting.pop()
            if id(x) in known:
                continue
            known[id(x)] = x
            self._kept += _kept(x, alone)
            if alone:
                continue
            if isinstance(x, np.ndarray) and isinstance(x.base, np.ndarray):
                waiting.append(x.base)
            inside = None if len(known) > MOST_OBJECTS else parts_of(x)
            if inside is not None:
                waiting += [item for _, item in inside][::-1]

    def restore(self) -> None:
        """Bring all back."""
        for each in self._kept:
            if each.is_changed():
                each.restore()

    def changed(self) -> object:
        """One of the objects that are not as they were; None if all are."""
        return next((each.object for each in self._kept if each.is_changed()), None)


def _kept(x: object, alone: bool) -> list[KeptObject]:
    if isinstance(x, np.ndarray):
        return _array(x, alone)
    match x:
        case list() | deque() | set():
            return [_container(x, _refill)]
        case dict():
            return [_dict(x)]
        case CellType():
            return [_cell(x)]
        case FunctionType() | ModuleType():
            return [_dict(vars(x))]
    if generator_state(x):
        state, restore = generator_state(x), checkpoint(x)
        return [KeptObject(x, lambda: generator_state(x) != state, restore)]
    if isinstance(x, type) and x.__flags__ & HEAP_TYPE:
        return [_class(x)]
    return _attributes(x) if has_attributes(x) else []


def _array(x: np.ndarray, alone: bool) -> list[KeptObject]:
    shape, strides, writeable = x.shape, x.strides, is_writeable(x)

    def is_reshaped() -> bool:
        return (x.shape, x.strides, is_writeable(x)) != (shape, strides, writeable)

    def reshape() -> None:
        if (x.shape, x.strides) != (shape, strides):
            x.shape = shape
        if is_writeable(x) != writeable:
            x.flags.writeable = writeable

    kept = [KeptObject(x, is_reshaped, reshape)]
    in_base = isinstance(x.base, np.ndarray) and is_writeable(x.base) and not alone
    if not writeable or in_base:
        return kept  # it is not written, or its base has all of it
    saved = np.array(x, copy=True, subok=False)
    plain = x.view(np.ndarray)
    kept.append(KeptObject(x, lambda: not same_bits(plain, saved), lambda: np.copyto(plain, saved)))
    return kept


def _container(x: Any, fill: Callable[[Any, Any], None]) -> KeptObject:
    saved = list(x)

    def is_changed() -> bool:
        return len(x) != len(saved) or any(a is not b for a, b in zip(x, saved, strict=True))

    return KeptObject(x, is_changed, lambda: fill(x, saved))


def _refill(x: Any, saved: list[Any]) -> None:
    if isinstance(x, list):
        list.__setitem__(x, slice(None), saved)
        return
    kind: Any = deque if isinstance(x, deque) else set
    kind.clear(x)
    (kind.extend if kind is deque else kind.update)(x, saved)


def _dict(x: dict[Any, Any]) -> KeptObject:
    saved, kind = dict(x), OrderedDict if isinstance(x, OrderedDict) else dict

    def is_changed() -> bool:
        pairs = zip(x.items(), saved.items(), strict=False)
        return len(x) != len(saved) or any(a is not c or b is not d for (a, b), (c, d) in pairs)

    def restore() -> None:
        if is_globals(x):  # other threads may look into it
            for name in x.keys() - saved.keys():
                dict.__delitem__(x, name)
        else:
            kind.clear(x)
        kind.update(x, saved)

    return KeptObject(x, is_changed, restore)


def _cell(x: CellType) -> KeptObject:
    empty = object()

    def now() -> object:
        try:
            return x.cell_contents
        except ValueError:
            return empty

    saved = now()

    def restore() -> None:
        if saved is empty:
            del x.cell_contents
        else:
            x.cell_contents = saved

    return KeptObject(x, lambda: now() is not saved, restore)


def _attributes(x: object) -> list[KeptObject]:
    own = getattr(x, "__dict__", None)
    kept = [_dict(own)] if type(own) is dict else []
    for _, slot in slots_of(type(x)):
        kept.append(_slot(x, slot))
    return kept


def _class(x: type) -> KeptObject:
    saved = dict(vars(x))

    def restore() -> None:
        for name in vars(x).keys() - saved.keys():
            type.__delattr__(x, name)
        for name, old in saved.items():
            if vars(x).get(name, x) is not old:
                type.__setattr__(x, name, old)

    return KeptObject(x, lambda: dict(vars(x)) != saved, restore)


def _slot(x: object, slot: Any) -> KeptObject:
    empty = object()

    def now() -> object:
        try:
            return slot.__get__(x)
        except AttributeError:
            return empty

    saved = now()

    def restore() -> None:
        if saved is empty:
            slot.__delete__(x)
        else:
            slot.__set__(x, saved)

    return KeptObject(x, lambda: now() is not saved, restore)
