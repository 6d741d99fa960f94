"""The call door: what every call, and every read from outside, of a staged function passes.

See Note [The call door].
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from fxc.ir.types import DTYPE_NAMES

from . import purity
from .control import CONTROL
from .creation import CREATION, is_array
from .guards import Source
from .operands import Traced, TracedValue, constant, has_traced, operand, record, wrap
from .outside import Outside, check_class
from .protocol import FUNCTIONS, array_function
from .session import Session, refuse
from .staging import DOOR, stage
from .traced_int import TracedInt, int_dim, largest, smallest
from .traced_scalar import TracedScalar, numpy_scalar
from .ufuncs import array_ufunc

# Note [The call door]
# Capture has no effects, so whoever calls something must know that it has none. Staged code makes
# no call of its own: the door does, and knows three kinds of callees. NumPy's functions in our
# tables and pure builtins run as they are, the former on traced arrays or, where nothing is
# traced, eagerly (an array that comes out is a constant of the graph, fresh at each call). Python
# functions with source are staged in turn. Everything else is refused before it runs. The same
# for stores: only what was made inside may be changed.

_DISPATCHED = type(np.sum)  # the wrapper of functions with ``__array_function__``
_MISSING: Any = object()


class Scope:
    """What a staged function knows as ``__fxc__``: the door, and the function's own names."""

    def __init__(self, door: Door, function: FunctionType) -> None:
        self._function = function
        self._names: dict[str, Any] = {}
        self._door = door
        self.call = door.call
        self.attr = door.attr
        self.indexed = door.indexed
        self.stored = door.stored
        self.owned = door.owned
        self.iterable = door.iterable
        self.context = door.context

    def outer(self, name: str, value: Any) -> Any:
        """A global or builtin, as the function sees it."""
        seen = self._names.get(name, _MISSING)
        if seen is _MISSING:
            seen = self._names[name] = self._door.read_global(self._function, name, value)
        return seen

    def free(self, name: str, value: Any) -> Any:
        """A variable of an enclosing function."""
        if isinstance(value, Traced):
            return value
        seen = self._names.get(name, _MISSING)
        if seen is _MISSING:
            seen = self._names[name] = self._door.read_cell(self._function, name, value)
        return seen


class Door:
    """The door of one capture."""

    def __init__(self, session: Session, outside: Outside) -> None:
        self.session = session
        self.outside = outside
        self._staged: dict[FunctionType, FunctionType] = {}
        self._inner_codes: set[Any] = set()
        self._attributes: dict[tuple[int, str], Any] = {}
        self._globals: dict[tuple[int, str], Any] = {}

    # -------------------------------------------------------- calls

    def call(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call ``f`` in the only way it may be called here."""
        kind = type(f)
        if kind is np.ufunc:
            return self._call_ufunc(f, "__call__", args, kwargs)
        if kind is FunctionType:
            return self._call_function(f, args, kwargs)
        if kind is MethodType:
            if isinstance(f.__self__, Traced):
                return f(*args, **kwargs)
            return self.call(f.__func__, f.__self__, *args, **kwargs)
        if kind is _DISPATCHED:
            return self._call_numpy(f, args, kwargs)
        if isinstance(f, type):
            return self._call_class(f, args, kwargs)
        special = _SPECIAL.get(f) if kind is BuiltinFunctionType else None
        if special is not None:
            return special(self, *args, **kwargs)
        if kind is BuiltinFunctionType:
            return self._call_builtin(f, args, kwargs)
        return self._call_object(f, kind, args, kwargs)

    def _call_ufunc(self, f: np.ufunc, method: str, args: Any, kwargs: Any) -> Any:
        if has_traced(args) or (kwargs and has_traced(kwargs)):
            return array_ufunc(f, method, args, kwargs)
        return self._eager(f if method == "__call__" else getattr(f, method), args, kwargs)

    def _call_numpy(self, f: Any, args: Any, kwargs: Any) -> Any:
        if f in CREATION or has_traced(args) or (kwargs and has_traced(kwargs)):
            return array_function(f, args, kwargs)
        if f in purity.NUMPY_WITH_EFFECTS:
            raise self._refuse_call(f)
        return self._eager(f, args, kwargs)

    def _eager(self, f: Any, args: Any, kwargs: Any) -> Any:
        """Run a pure function now; arrays that come out are constants of the graph."""
        return _as_constants(f(*args, **kwargs))

    def _call_function(self, f: FunctionType, args: Any, kwargs: Any) -> Any:
        function: Any = f
        if function in FUNCTIONS:
            return self._call_numpy(f, args, kwargs)
        if function in CONTROL:
            return f(*args, **kwargs)
        module = f.__module__ or ""
        if module.startswith("numpy"):
            if f in purity.PURE_NUMPY and not has_traced((args, kwargs)):
                return self._eager(f, args, kwargs)
            raise self._refuse_call(f)
        if f.__code__ in self._inner_codes or f.__code__.co_filename.startswith(_OUR_FILES):
            return f(*args, **kwargs)
        original = getattr(f, "__fxc_original__", None)
        if original is not None:
            return self.call(original, *args, **kwargs)
        return self.staged(f)(*args, **kwargs)

    def _call_class(self, f: type, args: Any, kwargs: Any) -> Any:
        special = _SPECIAL.get(f)
        if special is not None:
            return special(self, *args, **kwargs)
        if issubclass(f, np.generic):
            return numpy_scalar(f, *args) if has_traced(args) else f(*args, **kwargs)
        if f in purity.PURE_CLASSES:
            return f(*args, **kwargs)
        if issubclass(f, BaseException):
            if f.__init__ is Exception.__init__ or f.__module__ in ("builtins", "numpy.exceptions"):
                return f(*args, **kwargs)
        elif type(f) is type and f.__new__ is object.__new__ and f.__module__ != "builtins":
            return self._construct(f, args, kwargs)
        elif issubclass(f, tuple) and hasattr(f, "_fields"):
            return f(*args, **kwargs)
        elif f is np.errstate:
            return _errstate(**kwargs)
        raise self._refuse_call(f)

    def _construct(self, f: type, args: Any, kwargs: Any) -> Any:
        """An instance of a class of the user's, its ``__init__`` staged."""
        check_class(f)
        init = f.__init__  # type: ignore[misc]
        made: Any = object.__new__(f)
        if isinstance(init, FunctionType):
            if init.__code__.co_filename == "<string>":  # a dataclass wrote it
                if hasattr(f, "__post_init__"):
                    raise refuse(f"{f.__name__}, which has a __post_init__, cannot be captured")
                init(made, *args, **kwargs)
            else:
                self.call(init, made, *args, **kwargs)
        elif args or kwargs:
            raise TypeError(f"{f.__name__}() takes no arguments")
        return made

    def _call_builtin(self, f: Any, args: Any, kwargs: Any) -> Any:
        owner = f.__self__
        if isinstance(owner, ModuleType) or owner is None:
            if f in CREATION or f in FUNCTIONS:
                return self._call_numpy(f, args, kwargs)
            if f in purity.PURE_BUILTINS:
                return f(*self._runnable(args), **self._runnable_options(kwargs))
            if f in purity.PURE_NUMPY and not has_traced((args, kwargs)):
                return self._eager(f, args, kwargs)
        elif isinstance(owner, np.ufunc):
            return self._call_ufunc(owner, f.__name__, args, kwargs)
        elif type(owner) in purity.PURE_OWNERS or isinstance(owner, purity.OWN_CONTAINERS):
            if id(owner) not in self.outside.known or type(owner) in purity.PURE_OWNERS:
                return f(*self._runnable(args), **self._runnable_options(kwargs))
        elif isinstance(owner, type) and owner in purity.PURE_CLASSES:
            return f(*args, **kwargs)
        raise self._refuse_call(f)

    def _call_object(self, f: Any, kind: type, args: Any, kwargs: Any) -> Any:
        if kind is functools.partial:
            known = self.outside.known.get(id(f))
            first, options = f.args, f.keywords
            if known is not None:
                first = self._read(f.args, f"{known.source.var}.args", f"{known.source.text}.args")
                options = self._read(
                    f.keywords, f"{known.source.var}.keywords", f"{known.source.text}.keywords"
                )
            return self.call(self._callee_of(f), *first, *args, **{**options, **kwargs})
        if kind is MethodDescriptorType and f.__objclass__ is np.ndarray and has_traced(args):
            return getattr(args[0], f.__name__)(*args[1:], **kwargs)
        original = getattr(f, "__fxc_original__", None)
        if original is not None:
            return self.call(original, *args, **kwargs)
        if kind in purity.PURE_CALLABLES:
            return f(*args, **kwargs)
        method = getattr(kind, "__call__", None)  # noqa: B004
        if isinstance(method, FunctionType):
            return self.call(self.attr(f, "__call__"), *args, **kwargs)
        if method is None:
            raise TypeError(f"{kind.__name__!r} object is not callable")
        raise self._refuse_call(f)

    def _callee_of(self, f: functools.partial[Any]) -> Any:
        return f.func

    def _refuse_call(self, f: Any) -> Exception:
        name = getattr(f, "__qualname__", None) or getattr(f, "__name__", repr(type(f)))
        owner = getattr(f, "__self__", None)
        module = getattr(f, "__module__", None) or ""
        if owner is not None and not isinstance(owner, ModuleType):
            name = f"{type(owner).__name__}.{getattr(f, '__name__', name)}"
        elif module and module != "builtins":
            name = f"{module}.{name}".replace("numpy.", "np.", 1)
        return refuse(
            f"a call of {name} cannot be captured: fxc does not know what it does besides "
            "returning a value; call it outside of the compiled function"
        )

    # -------------------------------------------------------- staged functions

    def staged(self, f: FunctionType) -> Callable[..., Any]:
        """The staged form of a Python function in this capture."""
        found = self._staged.get(f)
        if found is not None:
            return found
        staged = stage(f)
        if staged is None:
            return f
        self._inner_codes |= staged.inner
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        scope = Scope(self, f)
        closure = tuple(
            CellType(scope) if name == DOOR else cells[name] for name in staged.code.co_freevars
        )
        made = FunctionType(staged.code, f.__globals__, f.__name__, None, closure)
        # Defaults are read from outside like globals.
        if f.__defaults__:
            text = f"{self.outside.guards.constant(f)}.__defaults__"
            made.__defaults__ = self._read(f.__defaults__, text, f"the defaults of {f.__name__}")
        if f.__kwdefaults__:
            text = f"{self.outside.guards.constant(f)}.__kwdefaults__"
            seen = self._read(f.__kwdefaults__, text, f"the defaults of {f.__name__}")
            made.__kwdefaults__ = dict(seen)
        self._staged[f] = made
        return made

    def runnable(self, f: Any) -> Any:
        """``f`` for code that calls it without the door: as a function that goes through it."""
        if isinstance(f, FunctionType | MethodType | functools.partial):
            return functools.partial(self.call, f)
        return f

    def _runnable(self, args: tuple[Any, ...]) -> list[Any]:
        return [self.iterable(self.runnable(arg)) for arg in args]

    def _runnable_options(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        return {name: self.runnable(value) for name, value in kwargs.items()}

    # -------------------------------------------------------- reads from outside

    def _read(self, value: Any, expression: str, text: str, name: str = "") -> Any:
        if isinstance(value, Traced):
            return value
        source = self.outside.guards.fetch(expression, text)
        label = name or "".join(c if c.isalnum() else "_" for c in text)
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
        return self._read(value, f"{root}[{name!r}]", name, name)

    def read_cell(self, function: FunctionType, name: str, value: Any) -> Any:
        """A variable of an enclosing function of ``function``."""
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        root = self.outside.guards.constant(cell, "cell")
        return self._read(value, f"{root}.cell_contents", name, name)

    def attr(self, owner: Any, name: str) -> Any:
        """``owner.name``."""
        if isinstance(owner, Traced):
            return getattr(owner, name)
        kind = type(owner)
        if kind is ModuleType:
            return self._module_attr(owner, name)
        known = self.outside.known.get(id(owner))
        if known is not None and known.is_object:
            return self._remembered(owner, name, known.source, self._object_attr)
        if isinstance(owner, type) and owner.__module__ not in ("builtins", "numpy"):
            root = self.outside.root(owner, owner.__name__)
            return self._remembered(owner, name, root, self._class_attr)
        found = _class_attribute(kind, name)
        if isinstance(found, property):
            return self.call(found.fget, owner)
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
        return self._read(value, f"{source.var}.{name}", label, label)

    def _class_attr(self, owner: Any, name: str, source: Source) -> Any:
        found = _class_attribute(owner, name)
        if isinstance(found, classmethod):
            self._guard_class_attribute(owner, name, found)
            return MethodType(found.__func__, owner)
        if name.startswith("__") or isinstance(found, property):
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
        held = getattr(owner, "__dict__", {})
        if found is _MISSING or (name in held and not _is_data_descriptor(found)):
            if found is _MISSING and name not in held and hasattr(kind, "__getattr__"):
                raise refuse(f"{source.text}.{name} is computed by __getattr__")
            return self._plain_attr(owner, name, source)
        if isinstance(found, FunctionType | property | classmethod | staticmethod) or hasattr(
            found, "__fxc_original__"
        ):
            self._guard_class_attribute(kind, name, found)
            return _bound(found, owner, kind)
        value = getattr(owner, name)
        if isinstance(value, BuiltinFunctionType | MethodType):  # a method of C: calls are checked
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
        return owner

    def owned(self, owner: Any) -> Any:
        """``owner`` in ``owner.name = value``."""
        if isinstance(owner, Traced):
            return owner
        if self._is_foreign(owner) or isinstance(owner, type | ModuleType | FunctionType):
            return _Storing(self, owner)
        return owner

    def iterable(self, x: Any) -> Any:
        """``x`` in ``for _ in x``."""
        if not isinstance(x, Traced) and self._is_foreign(x) and not _is_callable(x):
            raise refuse(
                f"iterating over a {type(x).__name__} from outside of the compiled function "
                "cannot be captured; make it a list or a tuple"
            )
        return x

    def context(self, manager: Any) -> Any:
        """``manager`` in ``with manager:``."""
        if type(manager) is np.errstate:
            return manager
        raise refuse(f"a with statement over a {type(manager).__name__} cannot be captured")


class _Storing:
    """Takes the place of an object from outside in ``object.name = value``.

    Storing back what is there already (the end of ``self.u += du``) is no change.
    """

    def __init__(self, door: Door, owner: Any) -> None:
        object.__setattr__(self, "_parts", (door, owner))

    def __getattribute__(self, name: str) -> Any:
        door, owner = object.__getattribute__(self, "_parts")
        return door.attr(owner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        door, owner = object.__getattribute__(self, "_parts")
        seen = door._attributes.get((id(owner), name), _MISSING)
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

_OUR_FILES = __file__.rpartition("capture")[0]


def _class_attribute(kind: type, name: str) -> Any:
    for each in kind.__mro__:
        found = vars(each).get(name, _MISSING)
        if found is not _MISSING:
            return found
    return _MISSING


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


def _as_constants(result: Any) -> Any:
    if isinstance(result, np.ndarray):
        if result.dtype not in DTYPE_NAMES:
            raise refuse(f"an array of dtype {result.dtype} cannot be captured")
        return wrap(constant(result))
    if type(result) in (tuple, list):
        return type(result)(map(_as_constants, result))
    return result


def _errstate(**options: Any) -> Any:
    if any(value != "ignore" for value in options.values()):
        raise refuse("np.errstate with anything but 'ignore' cannot be captured")
    return np.errstate(**options)


# ------------------------------------------------------------------ builtins on traced values


def _len(door: Door, x: Any) -> Any:
    if is_array(x) and x.ndim:
        return x.shape[0]
    return len(door.indexed(x))


def _int(door: Door, *args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and type(args[0]) is TracedInt:
        return args[0]
    return int(*args, **kwargs)


def _float(door: Door, *args: Any) -> Any:
    if len(args) == 1:
        (x,) = args
        if type(x) is TracedInt:
            return record("py_multiply", operand(x), operand(1.0))
        if type(x) is TracedScalar and x._type.weak and x._type.dtype.kind == "f":
            return x
    return float(*args)


def _type(door: Door, x: Any, *rest: Any) -> Any:
    if rest:
        raise refuse("making a class with type() cannot be captured")
    return x.__class__ if isinstance(x, Traced) else type(x)


def _extreme(plain: Any, symbolic: Any) -> Any:
    def extreme(door: Door, *args: Any, **kwargs: Any) -> Any:
        items = list(args[0]) if len(args) == 1 and isinstance(args[0], tuple | list) else args
        if not kwargs and items and all(int_dim(x) is not None for x in items):
            return symbolic(list(items))
        return plain(*door._runnable(args), **door._runnable_options(kwargs))

    return extreme


def _getattr(door: Door, owner: Any, name: str, *default: Any) -> Any:
    try:
        return door.attr(owner, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def _hasattr(door: Door, owner: Any, name: str) -> bool:
    try:
        door.attr(owner, name)
    except AttributeError:
        return False
    return True


def _setattr(door: Door, owner: Any, name: str, value: Any) -> None:
    setattr(door.owned(owner), name, value)


def _next(door: Door, iterator: Any, *default: Any) -> Any:
    return next(door.iterable(iterator), *default)


_SPECIAL: dict[Any, Callable[..., Any]] = {
    len: _len,
    int: _int,
    float: _float,
    type: _type,
    min: _extreme(min, smallest),
    max: _extreme(max, largest),
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    next: _next,
}
