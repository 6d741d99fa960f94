"""What functions and classes say, as digests: the same in every process that has the same source.

See Note [Stored compilations].
"""

from __future__ import annotations

import enum
import functools
import os
import pickle
from collections.abc import Callable, Iterator
from types import CodeType, DynamicClassAttribute, FunctionType
from typing import TYPE_CHECKING, Any

from fxc.ir.digesting import new_digest
from fxc.ir.made_functions import code_as_written

if TYPE_CHECKING:
    from dataclasses import Field  # takes long to import

_Tell = Callable[[object], None]
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
_HEAP_TYPE = 1 << 9  # of classes that are made while the process runs
ALIKE = ("fxc", "numpy")  # of one version; classes of fxc get their methods when they are used
# What comes to be there with time, is told apart, or is nothing that a program does.
_NOT_TOLD = ("__doc__", "__annotations__", "__slotnames__", "__signature__", "__firstlineno__")
_VALUES = ("_fields", "__match_args__", "__slots__")  # where more than the name counts


def digest_of(told: CodeType | FunctionType | type) -> bytes:
    """What a function does, as far as it says itself, or what a class and its bases define.

    Attributes of classes are told by name and kind: guards look at their values.
    """
    made = new_digest()

    def tell(what: object) -> None:
        made.update(repr(what).encode() + b"\n")

    if isinstance(told, type):
        _tell_class(told, tell)
    elif isinstance(told, FunctionType):
        _tell_function(told, tell)
    else:
        _tell_code(told, tell)
    found: bytes = made.digest()
    return found


def is_made_by_python(kind: type) -> bool:
    """Whether a class, or one of its bases, may be another one in another process."""
    return any(map(_is_told, (*kind.__mro__, type(kind))))


def _is_told(kind: type) -> bool:
    is_made = bool(kind.__flags__ & _HEAP_TYPE)
    return is_made and kind.__module__.partition(".")[0] not in ALIKE


def _tell_code(code: CodeType, tell: _Tell) -> None:
    code = code_as_written(code)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    tell((code.co_qualname, counts, names))
    tell((code.co_code, code.co_exceptiontable, code.co_firstlineno, code.co_linetable))
    for each in code.co_consts:
        if isinstance(each, CodeType):
            _tell_code(each, tell)
        else:
            tell(sorted(each, key=repr) if type(each) is frozenset else each)


def _tell_function(function: FunctionType, tell: _Tell) -> None:
    _tell_code(function.__code__, tell)
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items())
    tell([_shown(each) for each in defaults])


def _tell_class(kind: type, tell: _Tell) -> None:
    tell([(each.__module__, each.__qualname__) for each in kind.__mro__])
    for each in kind.__mro__:
        if _is_told(each):
            tell(vars(each).get("__doc__"))
            tell([(name, _shown(kind)) for name, kind in _annotations(each).items()])
            for name in sorted(vars(each).keys() - set(_NOT_TOLD)):
                tell(name)
                _tell_attribute(name, vars(each)[name], tell)
    if isinstance(kind, enum.EnumMeta):
        members: dict[str, Any] = dict(kind.__members__)
        tell([(name, _shown(member.value)) for name, member in members.items()])
    if type(kind) is not type:
        _tell_class(type(kind), tell)


def _tell_attribute(name: str, value: Any, tell: _Tell) -> None:
    tell(_name_of(type(value)))
    for function in functions_of(value):
        _tell_function(function, tell)
    if name == "__dataclass_fields__":
        tell([_field(each) for each in value.values()])
    elif name == "_field_defaults":
        tell([(each, _content(item)) for each, item in value.items()])
    elif name in _VALUES or name == "__dataclass_params__":
        tell(value)


def functions_of(value: Any) -> Iterator[FunctionType]:
    """The functions that an attribute of a class consists of."""
    if isinstance(value, FunctionType):
        yield value
    elif isinstance(value, staticmethod | classmethod):
        yield from functions_of(value.__func__)
    elif isinstance(value, property | DynamicClassAttribute):
        for each in (value.fget, value.fset, value.fdel):
            yield from functions_of(each)
    elif isinstance(value, functools.cached_property):
        yield from functions_of(value.func)
    elif hasattr(type(value), "__fxc_original__"):
        yield from functions_of(value.__fxc_original__)


def _annotations(kind: type) -> dict[str, Any]:
    """Those of a class, which come to be there when they are asked for."""
    found: dict[str, Any] = vars(kind).get("__annotations__", {})
    return found


def _content(value: Any) -> object:
    """What no guard looks at: the default of a named tuple, say."""
    try:
        return pickle.dumps(value)
    except Exception:  # of another process it is another one
        return os.getpid(), id(value)


def _field(field: Field[Any]) -> tuple[object, ...]:
    factory = field.default_factory
    code = digest_of(factory) if isinstance(factory, FunctionType) else b""
    kind = getattr(field, "_field_type").name  # noqa: B009
    return field.name, kind, field.init, field.kw_only, _name_of(factory), code


def _name_of(value: Any) -> str:
    kind = value if hasattr(value, "__qualname__") else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _shown(value: Any) -> str:
    """A plain value, or one of several; of all else its type."""
    if type(value) is tuple:
        return f"({', '.join(map(_shown, value))})"
    return repr(value) if type(value) in _PLAIN else _name_of(type(value))
