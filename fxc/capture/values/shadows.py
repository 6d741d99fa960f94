"""Classes whose special methods are Python code, and of what class the program's objects are then.

See Note [Special methods].
"""

from __future__ import annotations

import collections
import dataclasses
import inspect
import reprlib
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import ARGUMENT_KIND, ITERATOR

from ..session.refusing import refusal, refuse
from ..session.session import current
from .operands import Traced

# Note [Special methods]
# Python, and code of C, finds a special method (``__add__``, ``__getitem__``, ``__len__``) by the
# class of the object and calls it where the door does not see it. The objects that the program has
# of a class with such methods in Python are therefore of a *shadow* of the class: a subclass in
# which each of these methods goes through the door. Shadows derive from one another as their
# classes do, so that Python's own rules say which operand is asked first and who inherits what.
# ``class_of`` gives the class that the program knows an object by; no object of a shadow leaves the
# capture.

_OF = "__fxc_class__"


def class_of(x: object) -> type:
    """The class of an object as the program knows it."""
    return real_class(type(x))


def seen_class(kind: type) -> type:
    """A class that the program gets. Refuses those of which no program may know."""
    if kind.__module__.startswith("fxc.capture."):
        raise refuse(ITERATOR, "type() of a range or an iterator of unknown numbers")
    return kind


def class_name(x: object) -> str:
    """What the program calls the class of an object, or of what stands for one."""
    return (x._class() if isinstance(x, Traced) else class_of(x)).__name__


def real_class(kind: type) -> type:
    """The class that a shadow stands for; another class itself."""
    found = kind.__dict__.get(_OF)
    return kind if found is None else found()


def is_shadow(kind: type) -> bool:
    """Whether a class is a shadow."""
    return _OF in kind.__dict__


def is_compiled(found: object) -> bool:
    """Whether something is a compiled function, in the place of the one that it holds."""
    return hasattr(type(found), "__fxc_original__")


def has_method(x: object, name: str) -> bool:
    """Whether an object has a special method that is Python code and goes through the door."""
    if isinstance(x, Traced) or not is_shadow(type(x)):
        return False
    found = getattr(type(x), name, None)
    return (
        isinstance(found, FunctionType)
        and not any(found is each for each in _OURS)
        and any(name in vars(each) for each in type(x).__mro__ if is_shadow(each))
    )


def has_methods(kind: type) -> bool:
    """Whether special methods of a class are Python code of the program's."""
    return any(name for each in kind.__mro__ for name in _methods(each))


def shadow_of(kind: type, *, always: bool = False) -> type:
    """The class of the objects that stand for those of ``kind``: itself, if none of its special
    methods is Python code, unless it is to be another one ``always``.
    """
    shadows = _always if always else _shadows
    known = shadows.get(kind)
    found = known() if known is not None else None
    if found is None:
        found = _shadow(kind, always)
        shadows[kind] = weakref.ref(found)
    return found


_shadows: weakref.WeakKeyDictionary[type, weakref.ref[type]] = weakref.WeakKeyDictionary()
_always: weakref.WeakKeyDictionary[type, weakref.ref[type]] = weakref.WeakKeyDictionary()


def tuple_class(kind: type) -> type:
    """The class of what stands for the named tuples of a class."""
    shadow = shadow_of(kind)
    for name in _OF_ITEMS:
        if isinstance(getattr(shadow, name, None), FunctionType):
            raise refuse(ARGUMENT_KIND, f"{kind.__name__} defines {name}, and such tuples")
    return shadow


def tuple_of(kind: type, items: Iterable[object]) -> Any:
    """A named tuple of a class, as the program sees it."""
    return tuple.__new__(tuple_class(kind), items)


# What Python code takes a tuple apart by, the capture's own, too.
_OF_ITEMS = ("__iter__", "__len__", "__getitem__", "__bool__")


def _same(self: object, other: object) -> object:
    if self is not other:
        current().door.places.check_apart(self, other)
    return object.__eq__(self, other)


def _hash(self: object) -> int:
    current().door.places.check_apart(self)
    return object.__hash__(self)


# Of classes that compare objects by identity, see Note [Objects that are joined].
_OF_OBJECT: dict[str, Any] = {"__eq__": _same, "__hash__": _hash}


def _by_fields(name: str) -> Callable[[object, object], Any]:
    def compare(self: object, other: object) -> Any:
        if class_of(self) is not class_of(other):
            return NotImplemented
        door = current().door
        return bool(door.equal(self, other) if name == "eq" else door.compared(name, self, other))

    return compare


def _hash_by_fields(self: object) -> int:
    fields: Any = dataclasses.fields(class_of(self))
    names = (x.name for x in fields if (x.compare if x.hash is None else x.hash))
    return hash(tuple(current().door.attr(self, name) for name in names))


# What dataclasses write; code of C would read the class's defaults of what has no attributes.
_OF_DATACLASSES: dict[str, Any] = {
    **{f"__{name}__": _by_fields(name) for name in ("eq", "lt", "le", "gt", "ge")},
    "__hash__": _hash_by_fields,
}
_OURS = (*_OF_OBJECT.values(), *_OF_DATACLASSES.values())


def _shadow(kind: type, always: bool) -> type:
    names = [*_methods(kind)]
    bases = [base for base in map(shadow_of, kind.__bases__) if is_shadow(base)]
    written = {name: x for name, x in _OF_DATACLASSES.items() if _is_of_fields(kind, name)}
    if not (names or bases or written):
        if not always:
            return kind
    elif always:
        return shadow_of(kind)
    # The user's ``__init_subclass__`` is not told of a class that the program does not know.
    quiet = type("Quiet", (), {"__slots__": (), "__init_subclass__": classmethod(_do_nothing)})
    space: dict[str, Any] = written | {name: _through_door(name) for name in names}
    space |= {"__slots__": (), "__module__": kind.__module__, _OF: weakref.ref(kind)}
    compared: tuple[Any, ...] = (kind.__eq__, kind.__hash__)
    if compared == (object.__eq__, object.__hash__):
        space |= _OF_OBJECT
    elif "__hash__" not in space and "__hash__" in vars(kind):
        space["__hash__"] = vars(kind)["__hash__"]  # defining __eq__ alone would take it away
    if "__array__" in names:
        space["__array__"] = _as_array
    if "__del__" in names:
        space["__del__"] = _do_nothing  # what stands for an object from outside goes away unnoticed
    try:
        return type(kind)(kind.__name__, (quiet, kind, *bases), space)
    except TypeError as error:
        raise refusal(
            ARGUMENT_KIND,
            f"objects of {kind.__name__}, whose special methods are Python code, cannot be "
            f"captured ({error})",
        ) from None


def _do_nothing(*_: object) -> None:
    return None


_NAMES_BY_DOOR = """
    new init post_init init_subclass class_getitem set_name setattr delattr enter exit copy deepcopy
    replace reduce reduce_ex getstate setstate getnewargs getnewargs_ex sizeof dir get set delete
    instancecheck subclasscheck subclasshook mro_entries prepare annotate annotations fspath buffer
    release_buffer aenter aexit aiter anext await
"""
_NAMES_REFUSED = """
    getattribute array array_ufunc array_function array_wrap array_finalize array_prepare
    array_interface array_struct
"""
# These the door calls itself, or nobody calls but by a call of the program.
_BY_DOOR = frozenset(f"__{name}__" for name in _NAMES_BY_DOOR.split())
# With these NumPy and Python take an object apart in ways that are not followed.
_REFUSED = frozenset(f"__{name}__" for name in _NAMES_REFUSED.split())


# Where the methods that dataclasses and named tuples write are, which only read fields, and what is
# around one of them from Python 3.13 on.
_OF_FIELDS = ("<string>", dataclasses.__file__, collections.__file__)
_AROUND_THEM = reprlib.__file__


def _only_reads_fields(kind: type, method: FunctionType) -> bool:
    """Whether a method of a class itself is one that dataclasses or named tuples write."""
    is_named_tuple = issubclass(kind, tuple) and hasattr(kind, "_fields")
    if not (is_named_tuple or dataclasses.is_dataclass(kind)):
        return False
    if method.__code__.co_filename == _AROUND_THEM:
        method = inspect.unwrap(method)
    return method.__code__.co_filename in _OF_FIELDS


def _is_of_fields(kind: type, name: str) -> bool:
    """Whether a method of a class itself is one that dataclasses write."""
    found = vars(kind).get(name) if dataclasses.is_dataclass(kind) else None
    return isinstance(found, FunctionType) and _only_reads_fields(kind, found)


def _methods(kind: type) -> Iterator[str]:
    """The special methods that a class itself defines by Python code."""
    if kind.__module__ in ("builtins", "typing", "abc"):
        return
    for name, found in vars(kind).items():
        if not (name.startswith("__") and name.endswith("__")) or name in _BY_DOOR:
            continue
        is_function = isinstance(found, FunctionType)
        converts = name == "__array__" and (is_function or is_compiled(found))
        if name in _REFUSED and found is not None and not converts:
            raise _refused(kind, name, "such objects")
        if converts or is_compiled(found) or (is_function and not _only_reads_fields(kind, found)):
            yield name


def _refused(kind: type, name: str, what: str) -> Exception:
    return refuse(
        ARGUMENT_KIND, f"{kind.__name__} defines {name}, and {what}", "pass the arrays they hold"
    )


def _as_array(self: object, *args: object, **kwargs: object) -> np.ndarray:
    """What NumPy makes an array of an object by."""
    raise _refused(type(self), "__array__", "such objects as arrays")


def special_methods(kinds: Iterable[type]) -> dict[str, FunctionType]:
    """The special methods that are Python code of a class with these bases, by name."""
    found: dict[str, Any] = {}
    for each in kinds:
        for name, method in vars(each).items():
            is_special = name.startswith("__") and name.endswith("__") and name not in _BY_DOOR
            is_code = is_special and isinstance(method, FunctionType)
            if is_code and not _only_reads_fields(each, method):
                found.setdefault(name, method)
    return found


def _through_door(name: str) -> Callable[..., Any]:
    convert = _RESULTS.get(name)

    def method(self: object, /, *args: object, **kwargs: object) -> object:
        found = current().door.special(self, name, *args, **kwargs)
        return convert(found) if convert is not None and isinstance(found, Traced) else found

    method.__name__ = name
    return method


def _text(found: Any) -> object:
    is_text = found.__class__ is str
    return found._known() if is_text else found


# What code of C wants to be a number, a bool or a text of Python's.
_RESULTS: dict[str, Callable[[Any], Any]] = {
    "__str__": _text,
    "__repr__": _text,
    "__format__": _text,
    "__bool__": bool,
    "__contains__": bool,
    "__len__": int,
    "__length_hint__": int,
    "__hash__": int,
    "__index__": int,
    "__int__": int,
    "__float__": float,
    "__complex__": complex,
}
