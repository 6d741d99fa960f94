"""Calls of classes: what the program makes of them."""

from __future__ import annotations

import dataclasses
import inspect
from collections import deque, namedtuple
from types import FunctionType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import OBJECT

from ..arrays.traced_scalar import numpy_scalar
from ..numbers.traced_int import known_ints
from ..outside import purity
from ..outside.containers import is_plain
from ..outside.generators import made_by
from ..session.locations import user_frame, user_location
from ..session.refusing import refusal
from ..session.warned_of import run_now
from ..values.objects import (
    Args,
    Kwargs,
    class_attribute,
    has_python_method,
    is_dict_class,
    is_plain_enum,
    is_python_class,
    is_python_function,
)
from ..values.operands import has_traced
from ..values.shadows import shadow_of, tuple_of
from .plain_calls import PlainCalls


def made_of(door: PlainCalls, f: type, args: Args, kwargs: Kwargs) -> object:
    """``f(*args, **kwargs)`` of a class that means here what it means anywhere."""
    if issubclass(f, np.generic):
        if not has_traced((args, kwargs)):
            return run_now(f, args, kwargs)
        if len(args) == 1 and not kwargs:
            return numpy_scalar(f, *args)
        raise door.refuse_call(f)
    if f in purity.DIRECT_CLASSES:
        return f(*args, **kwargs)
    if f in purity.PURE_CLASSES:
        return door.made(door.run_plain(f, args, kwargs))
    if issubclass(f, BaseException):
        if _is_made_by_python(f):
            door.check_methods(f)
            return f(*args, **kwargs)
    elif f.__new__ is object.__new__ and is_python_class(f):
        return _construct(door, f, args, kwargs)
    elif is_dict_class(f):
        return _construct_dict(door, f, args, kwargs)
    elif is_plain_namedtuple(f):
        made: Any = f(*args, **kwargs)
        return tuple_of(f, made)
    elif is_plain_enum(f) and len(args) == 1 and not kwargs:
        door.check_methods(f)
        known = known_ints(args)
        return door.staged(_member)(f, *known) if has_traced(known) else f(*known)
    elif (found := made_by(door.outside, f, args, kwargs)) is not NotImplemented:
        return found
    raise door.refuse_call(f)


def _member(kind: Any, value: object) -> object:
    """The member of an enum of a value that is known at run time only."""
    if value not in kind._value2member_map_:
        raise ValueError("%r is not a valid %s" % (value, kind.__qualname__))  # noqa: UP031
    return kind._value2member_map_[value]


def _is_made_by_python(f: type) -> bool:
    """Whether no class of the program has a part in how such an exception is made."""
    makers = (base for base in f.__mro__ if not {"__init__", "__new__"}.isdisjoint(vars(base)))
    return type(f) is type and next(makers).__module__ in ("builtins", "numpy.exceptions")


def _construct(door: PlainCalls, f: type, args: Args, kwargs: Kwargs) -> object:
    """An instance of a class of the user's, its ``__init__`` staged."""
    if getattr(f, "__abstractmethods__", None):
        return f(*args, **kwargs)  # Python says what is missing
    init = class_attribute(f, "__init__")
    if not is_python_function(init) and init is not vars(object)["__init__"]:  # Cython's
        raise door.refuse_call(f)
    made = _empty(door, f)
    if is_python_function(init):
        door.guard_class_attribute(f, "__init__", init)
        if dataclasses.is_dataclass(f) and _is_written(init):
            _fill(door, f, made, init, args, kwargs)
        else:
            door.call(init, made, *args, **kwargs)
    elif args or kwargs:
        raise TypeError(f"{f.__name__}() takes no arguments")
    return door.pools.taken(made)


def _empty(door: PlainCalls, kind: type) -> object:
    """An instance of a class of the user's that has no attributes yet."""
    if has_python_method(kind, "__del__"):
        what = f"{kind.__name__} defines __del__, and its objects cannot be made here"
        raise refusal(OBJECT, what)
    made: Any = object.__new__(shadow_of(kind))
    door.places.note_made(made)
    return made


def new_object(door: PlainCalls, *args: Any, **kwargs: Any) -> Any:
    """``object.__new__(kind)``."""
    made = object.__new__(*args, **kwargs)
    return _empty(door, type(made)) if is_python_class(type(made)) else made


def _is_written(init: object) -> bool:
    """Whether dataclass wrote an ``__init__``."""
    return isinstance(init, FunctionType) and init.__code__.co_filename == "<string>"


def _construct_dict(door: PlainCalls, f: type, args: Args, kwargs: Kwargs) -> object:
    """An instance of a class of the user's that is a dict."""
    made = door.made(dict.__new__(shadow_of(f)))
    init = class_attribute(f, "__init__")
    if is_python_function(init):
        door.guard_class_attribute(f, "__init__", init)
        door.call(init, made, *args, **kwargs)
    else:
        dict.__init__(made, *door.kept(args), **door.kept_options(kwargs))
    return made


def _fill(
    door: PlainCalls,
    f: Any,
    made: object,
    init: FunctionType,
    args: Args,
    kwargs: Kwargs,
) -> None:
    """What the ``__init__`` that dataclass wrote does."""
    given = inspect.signature(init).bind(made, *args, **kwargs).arguments
    rest: list[Any] = []
    for name, field in f.__dataclass_fields__.items():
        kind = field._field_type.name
        if kind == "_FIELD_CLASSVAR":
            continue
        if name in given and field.init:
            value = given[name]
        elif field.default_factory is not dataclasses.MISSING:
            value = _made(door, field.default_factory, f"{f.__qualname__}.{name}")
        elif field.default is not dataclasses.MISSING:
            root = door.outside.guards.constant(field)
            value = door.read(field.default, f"{root}.default", f"{f.__name__}.{name}")
        else:
            continue
        if kind == "_FIELD_INITVAR":
            rest.append(value)
        elif f.__dataclass_params__.frozen:
            object.__setattr__(made, name, value)
        else:
            door.store_attr(made, name, value)
    if hasattr(f, "__post_init__"):
        door.call(door.attr(made, "__post_init__"), *rest)


def _made(door: PlainCalls, factory: object, field: str) -> object:
    """What a field has where nothing is given: a list may be one of the graph."""
    made = door.call(factory)
    if factory is not list and factory is not deque:
        return made
    return door.lists.made(made, f"of field {field} {user_location()}")


def new_class(door: PlainCalls, *args: object, **options: object) -> type:
    """``collections.namedtuple(name, fields)``: a class that is another one in each call. What
    leaves the function has one that the epilogue makes.
    """
    given = [tuple(x) if type(x) is list else x for x in (*args, *options.values())]
    frame = user_frame()
    if door.session.region or frame is None or not is_plain(given):
        raise door.refuse_call(namedtuple)
    if options.get("module") is None:
        options["module"] = frame.f_globals.get("__name__", "__main__")
    made: type = run_now(namedtuple, args, options)
    door.outside.guards.no_constant(made)
    return made


def is_plain_namedtuple(f: type) -> bool:
    """Whether a class is a named tuple's, and making one just makes it."""
    if not (issubclass(f, tuple) and hasattr(f, "_fields")):
        return False
    new: Any = class_attribute(f, "__new__")
    code = getattr(getattr(new, "__func__", new), "__code__", None)
    made = code is not None and code.co_filename.startswith("<string>")
    return made and f.__init__ is object.__init__ and type(f) is type
