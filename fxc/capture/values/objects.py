"""Objects from outside: which ones the program may use, and what it sees in their place."""

from __future__ import annotations

from abc import ABCMeta
from enum import Enum, EnumMeta
from re import Match
from types import (
    BuiltinFunctionType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodWrapperType,
    ModuleType,
    NoneType,
    SimpleNamespace,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any, TypeGuard
from weakref import ProxyTypes

import numpy as np

from fxc.ir.error_kinds import ARGUMENT_KIND, SEVERAL_KINDS

from ..session.refusing import refuse
from .operands import Traced
from .shadows import is_compiled, shadow_of

Args = tuple[object, ...]  # what a call of the program is given
Kwargs = dict[str, object]

# Note [Stand-ins]
# The program does not get an object from outside but an empty object of the same class. Its
# attributes are read and stored through the door; code that gets at them in another way finds
# nothing, and fails before anything is wrong. What Python compares by identity works as it should.


def is_namedtuple(kind: type) -> bool:
    """Whether a class is a named tuple's."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def stand_in(kind: type) -> object:
    """An empty object of a class. See Note [Stand-ins] and Note [Special methods]."""
    made: Any = kind() if kind is SimpleNamespace else object.__new__(shadow_of(kind))
    return made


# The classes of ``np.mgrid``, ``np.r_`` and their kin.
INDEX_TRICKS: tuple[type, ...] = (type(np.mgrid), type(np.ogrid), type(np.r_), type(np.c_))

_BY_IDENTITY = (
    *INDEX_TRICKS,
    FunctionType,
    BuiltinFunctionType,
    ModuleType,
    type,
    np.ufunc,
    staticmethod,
    classmethod,
    property,
)


def is_custom_op(kind: type) -> bool:
    """Whether it is the class of the user's operators."""
    return class_attribute(kind, "__fxc_operator__") is not MISSING


def source_kind(value: object) -> str | None:
    """The name of the kind of random generators that an object is of; None for others."""
    kind = type(value)
    if kind.__module__ == "random" and kind.__name__ == "Random":
        return "Random"
    is_numpys = kind.__module__.startswith("numpy.random.")
    return kind.__name__ if is_numpys and kind.__name__ in ("Generator", "RandomState") else None


def is_of_random(f: object) -> bool:
    """Whether it is a function or class of ``random`` or ``np.random``."""
    module = str(getattr(f, "__module__", ""))
    return module == "random" or module.startswith("numpy.random")


def is_proxy(kind: type) -> bool:
    """Whether the objects of a class may say that they are of another one."""
    of_object = vars(object)["__class__"]
    return kind in ProxyTypes or class_attribute(kind, "__class__") is not of_object


def has_owner(function: BuiltinFunctionType | MethodWrapperType) -> bool:
    """Whether a builtin is a method of an object that could change: extensions name others."""
    kind = type(function.__self__)
    is_shared = kind is NoneType or issubclass(kind, ModuleType | type)
    return not is_shared and hasattr(kind, function.__name__)


def is_python_class(kind: type) -> bool:
    """Whether a class was made by Python code, has no base of C, and no metaclass with a will."""
    if kind is SimpleNamespace:
        return True
    plain = type(kind) is type or type(kind) is ABCMeta
    return plain and bool(kind.__flags__ & (1 << 9)) and _is_built_as_object(kind)


def _is_built_as_object(kind: type) -> bool:
    if class_attribute(kind, "__del__") is not MISSING:  # an object made here would be deleted here
        return all(each is object or "__module__" in vars(each) for each in kind.__mro__)
    try:
        object.__new__(kind)
    except TypeError:
        return False
    return "__module__" in vars(kind)


def is_dict_class(kind: type) -> bool:
    """Whether a class is made of Python code and ``dict``, which makes its objects; their
    ``__init__`` may be either's.
    """
    bases = [each for each in kind.__mro__ if each not in (dict, object)]
    initialise = class_attribute(kind, "__init__")
    return (
        bool(bases)
        and dict in kind.__mro__
        and all(type(each) is type and each.__flags__ & (1 << 9) for each in bases)
        and class_attribute(kind, "__new__") is vars(dict)["__new__"]
        and (initialise is vars(dict)["__init__"] or is_python_function(initialise))
        and not slot_names(kind)
        and class_attribute(kind, "__del__") is MISSING
    )


_KEEP_ITEMS = frozenset(
    f"__{name}__"
    for name in ("init", "getattr", "setattr", "delattr", "dir", "repr", "str", "setstate")
)


def keeps_items(kind: type) -> bool:
    """Whether the items of a class of dicts are read and stored by code of ``dict`` alone."""
    return is_dict_class(kind) and not any(
        (name in vars(dict) or (name.startswith("__") and callable(each)))
        and name not in _KEEP_ITEMS
        and each is not getattr(dict, name, MISSING)
        for base in kind.__mro__
        if base not in (dict, object)
        for name, each in vars(base).items()
        if name not in ("__module__", "__doc__", "__dict__", "__weakref__")
    )


def is_plain_enum(kind: type) -> bool:
    """Whether the call of a class finds a member of it by its value, by Python's code alone."""
    missing: Any = class_attribute(kind, "_missing_")
    return type(kind) is EnumMeta and missing is vars(Enum)["_missing_"]


# By these Python code gets at what an object holds. What these classes hold does not change; of
# iterators see ``ItemAccess.iterated``, and functions of C are called.
_OF_HOLDERS = ("__getitem__", "__iter__", "__contains__", "__len__")
_UNCHANGING = (str, bytes, tuple, frozenset, range, Match, GenericAlias, UnionType)


def is_by_identity(value: object) -> bool:
    """Whether the program gets the object itself, guarded to be the same in each call.

    Raises ``CaptureError`` for objects of C code that hold something that may change.
    """
    kind = type(value)
    if isinstance(value, _BY_IDENTITY) or is_compiled(value) or is_custom_op(type(value)):
        return True
    if is_python_class(kind):
        return False
    is_run = callable(value) or hasattr(kind, "__next__")
    holds = not is_run and any(has_c_method(kind, each) for each in _OF_HOLDERS)
    if getattr(kind, "__hash__", None) is None or (holds and not isinstance(value, _UNCHANGING)):
        raise refuse(
            ARGUMENT_KIND,
            f"a {kind.__name__} from outside",
            "pass what it holds as arrays, lists or dicts",
        )
    return True


# ------------------------------------------------------------------ attributes


MISSING: Any = object()


def vars_of(owner: object) -> dict[str, Any]:
    """The attributes that an object itself holds."""
    held = getattr(owner, "__dict__", None)
    return held if isinstance(held, dict) else {}


def class_attribute(kind: type, name: str) -> Any:
    """What the class or one of its bases defines under a name; MISSING if none does."""
    for each in kind.__mro__:
        found = vars(each).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


# Classes whose objects have no attributes of their own.
_WITHOUT_OWN = (int, float, complex, str, np.generic)


def has_by_class(owner: Traced, name: str) -> bool | None:
    """Whether what a stand-in stands for has an attribute; None if its class does not say."""
    kinds, is_special = _kinds(owner), name.startswith("__")
    if not kinds:
        return None
    # What a metaclass has, as ``__call__``, is none of the objects'.
    found = {class_attribute(each, name) is not MISSING for each in kinds}
    if len(found) > 1:
        raise refuse(SEVERAL_KINDS, f"whether a number of one type or another has {name}")
    (has,) = found
    if all(issubclass(each, _WITHOUT_OWN) for each in kinds):
        return has
    return True if has and is_special else None


def _kinds(owner: Traced) -> set[type]:
    """The classes that it may be of; none for one of several things that are no numbers."""
    numbers = owner._kinds()
    if numbers:
        return {each.python_type if each.weak else each.dtype.type for each in numbers}
    kind = owner.__class__
    return set() if kind is type(owner) else {kind}


def slots_of(owner: object) -> dict[str, Any]:
    """The attributes that an object holds in slots."""
    found: dict[str, Any] = {}
    for each in type(owner).__mro__:
        for name, member in vars(each).items():
            if isinstance(member, MemberDescriptorType) and name not in found:
                try:
                    found[name] = member.__get__(owner)
                except AttributeError:
                    continue
    return found


def slot_names(kind: type) -> list[str]:
    """The slots of the objects of a class."""
    members = (member for each in kind.__mro__ for member in vars(each).items())
    return [name for name, member in members if isinstance(member, MemberDescriptorType)]


def is_made_by_object(kind: type) -> bool:
    """Whether ``object.__new__`` makes the objects of a class."""
    return class_attribute(kind, "__new__") is vars(object)["__new__"]


def has_c_method(kind: type, name: str) -> bool:
    """Whether a special method of a class is no Python code."""
    return isinstance(class_attribute(kind, name), WrapperDescriptorType)


def is_slot(found: object) -> bool:
    return isinstance(found, MemberDescriptorType | GetSetDescriptorType)


def is_data_descriptor(found: object) -> bool:
    """Whether a class attribute goes before what the object holds."""
    return hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")


def is_watched(found: object) -> bool:
    """Whether a class attribute is told of each assignment, and is no slot."""
    return is_data_descriptor(found) and not is_slot(found)


def sets_by_python(kind: type) -> bool:
    """Whether a class has a ``__setattr__`` in Python, other than that of a frozen dataclass."""
    setter = class_attribute(kind, "__setattr__")
    return isinstance(setter, FunctionType) and setter.__code__.co_filename != "<string>"


def has_python_method(kind: type, name: str) -> bool:
    """Whether a special method of a class is Python code, be it that of a frozen dataclass."""
    return is_python_function(class_attribute(kind, name))


def is_python_function(found: object) -> bool:
    """Whether what a class defines is a function, be it one that is compiled."""
    return isinstance(found, FunctionType) or is_compiled(found)


def has_own_get(found: object) -> bool:
    """Whether Python code of the program says what reading what a class defines gives."""
    return has_python_method(type(found), "__get__") and not is_compiled(found)


def is_property(found: object) -> TypeGuard[property]:
    """Whether it is a property, and of no class that gives something else."""
    return isinstance(found, property) and not has_own_get(found)


def is_frozen(kind: type, name: str) -> bool:
    """Whether the ``__setattr__`` that a frozen dataclass has raises for an attribute."""
    for each in kind.__mro__:
        if "__setattr__" in vars(each):
            params = vars(each).get("__dataclass_params__")
            return getattr(params, "frozen", False) and (
                each is kind or name in each.__dict__["__dataclass_fields__"]
            )
    return False


def put_attribute(owner: object, name: str, value: object) -> None:
    """Set an attribute of an object that the program has made; nobody watches it."""
    if has_python_method(type(owner), "__setattr__"):
        object.__setattr__(owner, name, value)
    else:
        setattr(owner, name, value)
