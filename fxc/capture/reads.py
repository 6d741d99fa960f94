"""Reads from outside, and stores, of a staged function: globals, attributes, items.

See Note [The call door].
"""

from __future__ import annotations

from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

import numpy as np

from . import purity
from .creation import is_array
from .guards import Source
from .operands import Traced, TracedValue
from .outside import Outside
from .session import Session, refuse

MISSING: Any = object()
_C_METHODS = (BuiltinFunctionType, MethodType, MethodWrapperType)


class Reads:
    """What one capture has read; everything goes through ``Outside.admit``."""

    def __init__(self, session: Session, outside: Outside) -> None:
        self.session = session
        self.outside = outside
        self._attributes: dict[tuple[int, str], Any] = {}
        self._globals: dict[tuple[int, str], Any] = {}

    def call(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call ``f`` through the door."""
        raise NotImplementedError

    # -------------------------------------------------------- reads from outside

    def read(self, value: Any, expression: str, text: str, name: str = "") -> Any:
        if isinstance(value, Traced):
            return value
        source = self.outside.guards.fetch(expression, text)
        label = "".join(c if c.isalnum() or c in "._" else "_" for c in name or text)
        return self.outside.admit(value, source, label)

    def read_global(self, function: FunctionType, name: str, value: Any) -> Any:
        """A name that is no local of ``function``."""
        space = function.__globals__
        key = (id(space), name)
        if key not in self._globals:
            self._globals[key] = self._new_global(space, name, value)
        return self._globals[key]

    def _new_global(self, space: dict[str, Any], name: str, value: Any) -> Any:
        root = self.outside.guards.constant(space, "globals")
        if name not in space:
            self.outside.guards.check(f"{name!r} not in {root}", f"{name} is Python's own")
            return value
        return self.read(value, f"{root}[{name!r}]", name, name)

    def read_cell(self, function: FunctionType, name: str, value: Any) -> Any:
        """A variable of an enclosing function of ``function``."""
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        root = self.outside.guards.constant(cell, "cell")
        return self.read(value, f"{root}.cell_contents", name, name)

    def attr(self, owner: Any, name: str) -> Any:
        """``owner.name``."""
        if isinstance(owner, Traced):
            return getattr(owner, name)
        kind = type(owner)
        if kind is ModuleType:
            return self._module_attr(owner, name)
        if isinstance(owner, type):
            if owner.__module__.partition(".")[0] in purity.TRUSTED_MODULES:
                return getattr(owner, name)
            root = self.outside.root(owner, owner.__name__)
            return self._remembered(owner, name, root, self._class_attr)
        known = self.outside.known.get(id(owner))
        if known is not None and known.is_object:
            return self._remembered(owner, name, known.source, self._object_attr)
        return self._own_attr(owner, kind, name)

    def _own_attr(self, owner: Any, kind: type, name: str) -> Any:
        """An attribute of an object made inside; what its class has is from outside."""
        found = _class_attribute(kind, name)
        if found is MISSING or kind.__module__ == "builtins" or name in vars_of(owner):
            return getattr(owner, name)
        if isinstance(found, property):
            return self.call(found.fget, owner)
        if type(kind) is type and not hasattr(type(found), "__get__"):
            return self.attr(kind, name)
        if isinstance(found, FunctionType) and kind.__module__.partition(".")[0] != "numpy":
            self.attr(kind, name)
        return getattr(owner, name)

    def _remembered(
        self, owner: Any, name: str, source: Source, read: Callable[[Any, str, Source], Any]
    ) -> Any:
        key = (id(owner), name)
        if key not in self._attributes:
            self._attributes[key] = read(owner, name, source)
        seen = self._attributes[key]
        if isinstance(seen, property):
            return self.call(seen.fget, owner)
        return seen

    def _module_attr(self, module: ModuleType, name: str) -> Any:
        value = getattr(module, name)
        if module.__name__.partition(".")[0] in purity.TRUSTED_MODULES:
            return value
        root = self.outside.root(module, module.__name__)
        return self._remembered(module, name, root, self._plain_attr)

    def _plain_attr(self, owner: Any, name: str, source: Source) -> Any:
        label = f"{source.text}.{name}"
        value = getattr(owner, name)
        return self.read(value, f"{source.var}.{name}", label, label)

    def _class_attr(self, owner: Any, name: str, source: Source) -> Any:
        found = _class_attribute(owner, name)
        if isinstance(found, classmethod):
            self._guard_class_attribute(owner, name, found)
            return MethodType(found.__func__, owner)
        if isinstance(found, property) or (
            name.startswith("__") and not isinstance(found, FunctionType)
        ):
            return getattr(owner, name)
        return self._plain_attr(owner, name, source)

    def _guard_class_attribute(self, kind: type, name: str, found: Any) -> None:
        guards = self.outside.guards
        holder = next(each for each in kind.__mro__ if name in vars(each))
        root = guards.constant(holder)
        guards.check(
            f"{root}.__dict__[{name!r}] is {guards.constant(found)}",
            f"{kind.__name__}.{name} is the same",
        )

    def _object_attr(self, owner: Any, name: str, source: Source) -> Any:
        kind = type(owner)
        found = _class_attribute(kind, name)
        held = vars_of(owner)
        if found is MISSING or (name in held and not _is_data_descriptor(found)):
            if found is MISSING and name not in held and hasattr(kind, "__getattr__"):
                raise refuse(f"{source.text}.{name} is computed by __getattr__")
            return self._plain_attr(owner, name, source)
        if isinstance(found, FunctionType | property | classmethod | staticmethod) or hasattr(
            found, "__fxc_original__"
        ):
            self._guard_class_attribute(kind, name, found)
            return _bound(found, owner, kind)
        value = getattr(owner, name)
        if isinstance(value, _C_METHODS):  # a method of C: calls are checked
            return value
        if hasattr(type(found), "__get__") and not _is_slot(found):
            raise refuse(f"{source.text}.{name} is computed by a {type(found).__name__}")
        return self._plain_attr(owner, name, source)

    # -------------------------------------------------------- items, stores

    def _is_foreign(self, owner: Any) -> bool:
        known = self.outside.known.get(id(owner))
        return known is not None and known.seen is owner and known.is_object

    def indexed(self, owner: Any) -> Any:
        """``owner`` in ``owner[key]``."""
        if isinstance(owner, Traced):
            return owner
        if self._is_foreign(owner) and not isinstance(owner, type):
            raise refuse(
                f"reading items of a {type(owner).__name__} cannot be captured; read them outside"
            )
        return owner

    def stored(self, owner: Any) -> Any:
        """``owner`` in ``owner[key] = value``."""
        if not isinstance(owner, Traced) and self._is_foreign(owner):
            raise refuse(
                f"a store into a {type(owner).__name__} from outside of the compiled function "
                "cannot be captured; return the new value instead"
            )
        if not isinstance(owner, Traced):
            self.check_change(owner)
        return owner

    def owned(self, owner: Any) -> Any:
        """``owner`` in ``owner.name = value``."""
        if isinstance(owner, Traced):
            return owner
        if self._is_foreign(owner) or isinstance(owner, type | ModuleType | FunctionType):
            return _Storing(self, owner)
        self.check_change(owner)
        return owner

    def check_change(self, owner: Any) -> None:
        """Refuse changes to Python objects in regions: they would happen once, not as often."""
        if self.session.region:
            raise refuse(
                f"a change to a {type(owner).__name__} inside fxc.cond or fxc.fori_loop cannot be "
                "captured; return the new value instead"
            )

    def iterable(self, x: Any) -> Any:
        """``x`` in ``for _ in x``."""
        if not isinstance(x, Traced) and self._is_foreign(x) and not _is_callable(x):
            raise refuse(
                f"iterating over a {type(x).__name__} from outside of the compiled function "
                "cannot be captured; make it a list or a tuple"
            )
        return x

    def same(self, a: Any, b: Any) -> bool:
        """``a is b``; arrays from outside that are two objects now may be one in another call."""
        if a is not b:
            self.outside.guard_distinct(a, b)
        return a is b

    def context(self, manager: Any) -> Any:
        """``manager`` in ``with manager:``."""
        if type(manager) is np.errstate:
            return manager
        raise refuse(f"a with statement over a {type(manager).__name__} cannot be captured")


class _Storing:
    """Takes the place of an object from outside in ``object.name = value``.

    Storing back what is there already (the end of ``self.u += du``) is no change.
    """

    def __init__(self, door: Reads, owner: Any) -> None:
        object.__setattr__(self, "_parts", (door, owner))

    def __getattribute__(self, name: str) -> Any:
        door, owner = object.__getattribute__(self, "_parts")
        return door.attr(owner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        door, owner = object.__getattribute__(self, "_parts")
        seen = door._attributes.get((id(owner), name), MISSING)
        if value is seen and isinstance(value, TracedValue) and is_array(value):
            return
        kind = owner.__name__ if hasattr(owner, "__name__") else type(owner).__name__
        raise refuse(
            f"an assignment to .{name} of a {kind} from outside of the compiled function cannot be "
            "captured; return the new value instead"
        )

    def __delattr__(self, name: str) -> None:
        raise refuse(f"'del' of .{name} of an object from outside cannot be captured")


# ------------------------------------------------------------------ small questions


def vars_of(owner: Any) -> dict[str, Any]:
    """The attributes that an object itself holds."""
    held = getattr(owner, "__dict__", None)
    return held if isinstance(held, dict) else {}


def _class_attribute(kind: type, name: str) -> Any:
    for each in kind.__mro__:
        found = vars(each).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def _bound(found: Any, owner: Any, kind: type) -> Any:
    original = getattr(found, "__fxc_original__", None)
    if original is not None:
        return MethodType(original, owner)
    match found:
        case FunctionType():
            return MethodType(found, owner)
        case classmethod():
            return MethodType(found.__func__, kind)
        case staticmethod():
            return found.__func__
        case _:
            return found


def _is_data_descriptor(found: Any) -> bool:
    return hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")


def _is_slot(found: Any) -> bool:
    return type(found).__name__ in ("member_descriptor", "getset_descriptor")


def _is_callable(x: Any) -> bool:
    return isinstance(x, type | FunctionType | BuiltinFunctionType | MethodType) or callable(x)
