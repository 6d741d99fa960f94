"""The call door: what every call, and every read from outside, of a staged function passes.

See Note [The call door].
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import inspect
import math
import opcode
import operator
import os
import re
import warnings
import weakref
from collections.abc import Callable, Iterable
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

import numpy as np

from fxc.ops.foreign_calls import Unlearnable
from fxc.ops.foreign_ufuncs import runs_python

from ..locations import OURS, Ignoring, is_of_program
from ..noted import note
from ..numpy_api.creation import CREATION
from ..numpy_api.protocol import FUNCTIONS, array_function
from ..numpy_api.ufunc_methods import array_ufunc
from ..outside.clocks import read_clock
from ..outside.containers import PLAIN, settle_all
from ..outside.generators import TracedGenerator, made_by, source_kind
from ..outside.lists import ExternalList
from ..outside.objects import (
    MISSING,
    class_attribute,
    has_owner,
    is_dict_class,
    is_plain_enum,
    is_python_class,
)
from ..outside.outside import Outside
from ..outside.shadows import is_shadow, shadow_of
from ..session import Session, label_of, refuse
from ..staging.continuations import asked
from ..staging.nodes import DOOR, KEEPERS
from ..staging.staging import codes_in, stage
from ..statements import choices
from ..statements.control import CONTROL
from ..statements.counted import Bounded, Counted
from ..statements.differing import differing_in, each_way
from ..statements.folds import list_of_items
from ..statements.for_loops import ForLoop
from ..values.late import Late, is_unknown, late, used_up
from ..values.list_arguments import array_of_list, as_numpy, joined_list
from ..values.operands import Traced, TracedValue, as_constants, has_traced, settled
from ..values.python_numbers import call_function
from ..values.records import Record
from ..values.several import for_each, is_of_several_types
from ..values.tables import KeyedTable
from ..values.texts import UnknownText, joined
from ..values.traced_int import known_ints
from ..values.traced_lists import plain_list
from ..values.traced_scalar import numpy_scalar
from ..values.unknown_items import OneOfItems
from ..values.unknown_keys import is_unknown_key
from . import purity
from .copies import COPIES
from .foreign import call_foreign, call_known, call_update
from .numpy_source import SOURCES, has_source
from .reads import name_of
from .recursion import Recursion
from .scope import Scope
from .shows import is_logging, show, show_log, show_warning
from .special import SPECIAL, is_run_over
from .stores import Stores
from .twins import twin_of

# Note [The call door]
# Capture has no effects, so whoever calls something must know that it has none. Staged code makes
# no call of its own: the door does, and knows three kinds of callees. NumPy's functions in our
# tables and pure builtins run as they are, the former on traced arrays or, where nothing is
# traced, eagerly (an array that comes out is a constant of the graph, fresh at each call). Python
# functions with source are staged in turn. Everything else is refused before it runs. Stores into
# what was made inside just happen; for those into objects from outside see Note [Effects].

_DISPATCHED = type(np.sum)  # the wrapper of functions with ``__array_function__``


class Door(Stores):
    """The door of one capture: its calls. Below it, floor by floor: ``Stores`` (names, attributes),
    ``Comparisons``, ``ItemAccess``, ``Formats`` (texts), ``Catching`` (exceptions), ``Reads``.
    """

    def __init__(self, session: Session, outside: Outside) -> None:
        super().__init__(session, outside)
        self.staged_functions: dict[FunctionType, FunctionType] = {}
        self._inner_codes: set[Any] = set()
        self._recursion = Recursion(session)

    # -------------------------------------------------------- what the program shows

    def show(self, what: str, function: Callable[..., Any], *args: Any) -> None:
        """Record that ``function(*args)`` is to be called; ``what`` is its name."""
        show(self, what, function, *args)

    def warn(self, message: str, category: type[Warning]) -> None:
        """Record a warning at the program's line."""
        show_warning(self, message, category)

    # -------------------------------------------------------- calls

    def call(self, f: Any, /, *args: object, **kwargs: Any) -> Any:
        """Call ``f`` in the only way it may be called here."""
        try:
            differs = self.session.has_differing and differing_in((args, kwargs)) is not None
            if differs and _sees_types(f):
                return each_way(lambda *xs: self._call(f, xs[:-1], xs[-1]), *args, kwargs)
            return self._call(f, args, kwargs)
        except Exception as error:
            owner = (f.__self__,) if type(f) is MethodType else ()
            note(error, f, (*owner, *args), kwargs)
            raise

    def _call(self, f: Any, args: Any, kwargs: Any) -> Any:
        kind = type(f)
        if kind is np.ufunc:
            return self._call_ufunc(f, "__call__", args, kwargs)
        if kind is FunctionType:
            return self._call_function(f, args, kwargs)
        if kind is MethodType:
            if source_kind(f.__self__) is not None:
                generator = self.outside.generator(f.__self__)
                return getattr(generator, f.__name__)(*args, **kwargs)
            if type(f.__self__) is TracedGenerator and f.__func__.__module__ == "random":
                return self.call(f.__func__, f.__self__, *args, **kwargs)
            if isinstance(f.__self__, Traced) and type(f.__self__) is not Record:
                return f(*args, **kwargs)
            if f.__name__ in ("_replace", "_asdict") and is_plain_namedtuple(type(f.__self__)):
                return self.made(f(*args, **kwargs))
            found = self._method_of_library(f, args, kwargs)
            if found is not NotImplemented:
                return found
            return self.call(f.__func__, f.__self__, *args, **kwargs)
        if kind is _DISPATCHED:
            return self._call_numpy(f, args, kwargs)
        if kind is OneOfItems:
            return f.called(*args, **kwargs)
        if isinstance(f, type):
            return self._call_class(f, args, kwargs)
        special = SPECIAL.get(f) if kind is BuiltinFunctionType else None
        if special is not None:
            return special(self, *map(functools.partial(_items_for, f), args), **kwargs)
        if kind is BuiltinFunctionType:
            return self.builtin(f, args, kwargs)
        return self._call_object(f, kind, args, kwargs)

    def _call_ufunc(self, f: np.ufunc, method: str, args: Any, kwargs: Any) -> Any:
        args, kwargs = as_numpy(args, kwargs)
        self._check_operands(args)
        if has_traced(args) or (kwargs and has_traced(kwargs)):
            return array_ufunc(f, method, args, kwargs)
        if runs_python(f):
            raise self._refuse_call(f)
        return self._eager(f if method == "__call__" else getattr(f, method), args, kwargs)

    def _call_numpy(self, f: Any, args: Any, kwargs: Any) -> Any:
        if f is np.array or f is np.asarray:
            found = array_of_list(args, kwargs)
            if found is not None:
                return found
        if (found := joined_list(f, args, kwargs)) is not None:
            return found
        args, kwargs = as_numpy(args, kwargs)
        self._check_operands(args)
        if f in CREATION or f is np.fromfunction or has_traced(args) or has_traced(kwargs):
            return array_function(f, args, kwargs)
        if f in purity.NUMPY_WITH_EFFECTS:
            raise self._refuse_call(f)
        return self._eager(f, args, kwargs)

    def _check_operands(self, args: Any) -> None:
        """Refuse objects of the user's classes among the arguments of a function of NumPy's."""
        for x in args:
            if type(x) in (list, tuple):
                self._check_operands(x)
            elif is_shadow(type(x)):
                raise refuse(
                    f"a function of NumPy's of a {name_of(x)} cannot be captured; pass the arrays "
                    "it holds"
                )

    def _eager(self, f: Any, args: Any, kwargs: Any) -> Any:
        """Run a pure function now; arrays that come out are constants of the graph."""
        with warnings.catch_warnings(record=True) as warned:  # no errors: other threads warn, too
            warnings.simplefilter("always")
            found = f(*args, **kwargs)
        if warned:
            what = warned[0].message
            raise refuse(
                f"an operation of which NumPy warns ({what}), on known values, is not captured"
            )
        return as_constants(found)

    def _call_function(self, f: FunctionType, args: Any, kwargs: Any) -> Any:
        function: Any = f
        if function in FUNCTIONS:
            return self._call_numpy(f, args, kwargs)
        if function in CONTROL:
            return f(*args, **kwargs)
        if function in COPIES:
            return COPIES[function](self, *args, **kwargs)
        module = f.__module__ or ""
        if module.partition(".")[0] == "numpy":
            if (function in SOURCES or has_source(function)) and has_traced((args, kwargs)):
                return array_function(function, args, kwargs)
            if f in purity.PURE_NUMPY and not has_traced(known := known_ints((args, kwargs))):
                return self._eager(f, *known)
            if purity.only_computes(f):
                return self._unknown(f, args, kwargs)
        if f.__code__ in self._inner_codes:
            return self._run(f, f.__code__, args, kwargs)
        if f.__code__.co_filename.startswith(_CAPTURE):
            return f(*args, **kwargs)
        if os.path.dirname(f.__code__.co_filename) + os.sep == OURS and f.__name__ != "compile":
            raise self._refuse_call(f)  # fxc.export and its kin run a capture of their own
        if f.__code__.co_filename.startswith(OURS):
            return f(*args, **kwargs)
        if f in purity.OF_OWN_FUNCTIONS:
            return f(*args, **kwargs)
        if f in purity.WITH_MEMORY:
            raise self._refuse_call(f)
        if is_logging(f):
            return show_log(self, f, args, kwargs)
        if purity.computes_of_texts(f) and _are_texts((*args, *kwargs.values())):
            options = {name: _known_text(x) for name, x in kwargs.items()}
            return self.made(f(*map(_known_text, args), **options))
        if purity.only_computes(f):
            found = self._foreign(f, args, kwargs)
            if not isinstance(found, Unlearnable):
                return found
        return self._run(self.staged(f), f.__code__, args, kwargs)

    def _foreign(self, f: Any, args: Any, kwargs: Any) -> Any:
        """What a function gives that only computes; why that is not known."""
        try:
            if purity.only_writes_arguments(f):
                return call_update(f, args, kwargs)
            if not purity.only_computes(f):
                return Unlearnable("it may do more than return a value")
            args, kwargs = as_numpy(args, kwargs)
            call = call_foreign if has_traced((args, kwargs)) else call_known
            return call(f, args, kwargs)
        except Unlearnable as reason:
            return reason

    def _method_of_library(self, f: MethodType, args: Any, kwargs: Any) -> Any:
        """What a method gives of an object that SciPy defines, ``scipy.stats.norm.cdf``: by a call
        of it as it is. NotImplemented if that is not known.
        """
        owner, source = self.outside.real(f.__self__), self.outside.source_of(f.__self__)
        if source is None or not has_traced((args, kwargs)):
            return NotImplemented
        method = purity.public_method(owner, f)
        if method is None or any(each.owner == source for each in self.outside.effects.entries):
            return NotImplemented
        try:
            found = call_foreign(method, *as_numpy(args, kwargs))
        except Unlearnable:
            return NotImplemented
        self.outside.guards.check_identity(source, owner)
        return found

    def _run(self, f: Callable[..., Any], code: Any, args: Any, kwargs: Any) -> Any:
        """Run a function of the program; one that calls itself, as long as that is not too much."""
        is_outermost = self._recursion.begins(code, args)
        try:
            result = f(*args, **kwargs)
        finally:
            if is_outermost:
                self._recursion.ends(code)
        if type(result) is GeneratorType:
            self.session.generators.append(weakref.ref(result))
        return result

    def _call_class(self, f: type, args: Any, kwargs: Any) -> Any:
        special = SPECIAL.get(f)
        if f is not str and any(type(x) is Late for x in args):
            args = tuple(x._known() if type(x) is Late else x for x in args)
        if special is not None:
            return special(self, *map(functools.partial(_items_for, f), args), **kwargs)
        if issubclass(f, np.generic):
            return numpy_scalar(f, *args) if has_traced(args) else f(*args, **kwargs)
        if f in purity.DIRECT_CLASSES:
            return f(*args, **kwargs)
        if f in purity.PURE_CLASSES:
            return self.made(f(*self.runnables(args), **self.runnable_options(kwargs)))
        if issubclass(f, BaseException):
            if f.__init__ is Exception.__init__ or f.__module__ in ("builtins", "numpy.exceptions"):
                return f(*args, **kwargs)
        elif f is np.errstate:
            return _errstate(**kwargs)
        elif f.__new__ is object.__new__ and f.__module__ != "builtins" and is_python_class(f):
            return self._construct(f, args, kwargs)
        elif is_dict_class(f):
            return self._construct_dict(f, args, kwargs)
        elif is_plain_namedtuple(f):
            return f(*args, **kwargs)
        elif is_plain_enum(f) and len(args) == 1 and not kwargs:
            return f(*known_ints(args))
        elif (found := made_by(self.outside, f, args, kwargs)) is not NotImplemented:
            return found
        raise self._refuse_call(f)

    def _construct(self, f: type, args: Any, kwargs: Any) -> Any:
        """An instance of a class of the user's, its ``__init__`` staged."""
        if getattr(f, "__abstractmethods__", None):
            return f(*args, **kwargs)  # Python says what is missing
        if isinstance(class_attribute(f, "__del__"), FunctionType):
            raise refuse(f"{f.__name__} defines __del__, and its objects cannot be made here")
        init = class_attribute(f, "__init__")
        made: Any = object.__new__(shadow_of(f))
        self.places.note_made(made)
        if isinstance(init, FunctionType):
            self.guard_class_attribute(f, "__init__", init)
            if dataclasses.is_dataclass(f) and init.__code__.co_filename == "<string>":
                self._fill(f, made, init, args, kwargs)
            else:
                self.call(init, made, *args, **kwargs)
        elif args or kwargs:
            raise TypeError(f"{f.__name__}() takes no arguments")
        return self.pools.taken(made)

    def _construct_dict(self, f: type, args: Any, kwargs: Any) -> Any:
        """An instance of a class of the user's that is a dict."""
        made = self.made(dict.__new__(shadow_of(f)))
        init = class_attribute(f, "__init__")
        if isinstance(init, FunctionType):
            self.guard_class_attribute(f, "__init__", init)
            self.call(init, made, *args, **kwargs)
        else:
            dict.__init__(made, *self.runnables(args), **self.runnable_options(kwargs))
        return made

    def _fill(self, f: Any, made: object, init: FunctionType, args: Any, kwargs: Any) -> None:
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
                value = self.call(field.default_factory)
            elif field.default is not dataclasses.MISSING:
                root = self.outside.guards.constant(field)
                value = self.read(field.default, f"{root}.default", f"{f.__name__}.{name}")
            else:
                continue
            if kind == "_FIELD_INITVAR":
                rest.append(value)
            elif f.__dataclass_params__.frozen:
                object.__setattr__(made, name, value)
            else:
                self.store_attr(made, name, value)
        if hasattr(f, "__post_init__"):
            self.call(self.attr(made, "__post_init__"), *rest)

    def builtin(self, f: Any, args: Any, kwargs: Any) -> Any:
        """Call a builtin that means here what it means anywhere."""
        owner = f.__self__
        if isinstance(owner, ModuleType) or owner is None:
            if f in CREATION or f in FUNCTIONS:
                return self._call_numpy(f, args, kwargs)
            if f in purity.PURE_BUILTINS:
                if owner is math and any(map(is_of_several_types, args)):
                    return for_each(lambda *xs: self.builtin(f, xs, kwargs), args)
                found = call_function(f, args, kwargs) if args else NotImplemented
                if found is not NotImplemented:
                    return found
                if purity.only_computes(f) and any(isinstance(x, TracedValue) for x in args):
                    return self._unknown(f, args, kwargs)
                return f(*self.runnables(args), **self.runnable_options(kwargs))
            if f in purity.PURE_NUMPY and not has_traced((args, kwargs)):
                return self._eager(f, args, kwargs)
        elif isinstance(owner, np.ufunc):
            return self._call_ufunc(owner, f.__name__, args, kwargs)
        elif isinstance(owner, re.Pattern) and _are_texts(args):
            return self.made(f(*map(_known_text, args), **kwargs))
        elif type(owner) in purity.PURE_OWNERS or isinstance(owner, purity.OWN_CONTAINERS):
            if type(owner) in purity.PURE_OWNERS or not self.is_foreign(owner):
                if type(owner) is str:
                    self.check_text((args, kwargs))
                    if f.__name__ == "join":
                        found = self._joined(owner, args)
                        if found is not None:
                            return found
                        args = used_up(args)
                    if f.__name__ in ("format", "join") and is_unknown((args, kwargs)):
                        return late(str, getattr(str, f.__name__), owner, *args, **kwargs)
                is_searched = f.__name__ in ("index", "count") and type(owner) in (list, tuple)
                if is_searched and len(args) == 1:
                    return choices.searched(self, owner, f.__name__, *args)
                if f.__name__ in purity.CONTAINER_WRITES:
                    self.places.check_apart(owner)
                takes_key = f.__name__ in ("add", "setdefault") and isinstance(owner, set | dict)
                takes_more = f.__name__ == "update" and isinstance(owner, set)
                if (takes_key and any(map(is_unknown_key, args[:1]))) or (
                    takes_more and (self.session.region or any(map(is_run_over, args)))
                ):
                    self.dicts.ask(owner)
                if f.__name__ == "get" and type(owner) is dict and not kwargs:
                    return KeyedTable(owner).get(*args)
                if f.__name__ == "sort" and type(owner) is list:
                    items = SPECIAL[sorted](self, owner, *args, **kwargs)
                    self.lists.note_change(owner)
                    self.check_change(owner)
                    owner[:] = items
                    return None
                if self._is_growing(f, owner, args):
                    return None
                self.lists.note_change(owner)
                if f.__name__ == "update" and type(owner) is dict and self.session.region:
                    for key, value in dict(*args, **kwargs).items():
                        self.store_item(owner, key, value)
                    return None
                if f.__name__ in purity.CONTAINER_WRITES and type(owner) not in purity.PURE_OWNERS:
                    self.check_change(owner)
                if f.__name__ in KEEPERS:
                    settle_all(args)
                    return f(*(self.iterated(plain_list(arg)) for arg in args), **kwargs)
                return self.made(f(*self.runnables(args), **self.runnable_options(kwargs)))
        elif isinstance(owner, type) and owner in purity.PURE_CLASSES:
            return self.made(f(*args, **kwargs))
        return self._unknown(f, args, kwargs)

    def _joined(self, between: str, args: Any) -> Any:
        """``between.join(items)`` of characters that are not known; None where Python does it."""
        if between or len(args) != 1:
            return None
        items = settled(args[0])
        if type(items) in (Counted, Bounded):
            items = list_of_items(self, items)
        return joined(items)

    def _is_growing(self, f: Any, owner: object, args: Any) -> bool:
        """Whether a loop that is being captured appends to the list, see Note [Lists that grow]."""
        if not self.session.region or f.__name__ != "append" or type(owner) is not list:
            return False
        loop = self.session.statements[-1] if self.session.statements else None
        return isinstance(loop, ForLoop) and len(args) == 1 and loop.takes(owner, args[0])

    def _call_object(self, f: Any, kind: type, args: Any, kwargs: Any) -> Any:
        if kind is functools.partial:
            return self.call(f.func, *f.args, *args, **{**f.keywords, **kwargs})
        if kind is MethodDescriptorType and f.__objclass__ is np.ndarray and has_traced(args):
            return getattr(args[0], f.__name__)(*args[1:], **kwargs)
        if hasattr(kind, "__fxc_original__"):
            return self.call(f.__fxc_original__, *args, **kwargs)
        if kind in purity.PURE_CALLABLES:
            return f(*args, **kwargs)
        if kind is operator.methodcaller and len(args) == 1 and not kwargs:
            name, given, options = _asked_method(f)
            return self.call(self.attr(args[0], name), *given, **options)
        if kind is _REMEMBERING:
            return self._remembered(f, args, kwargs)
        if f is object.__setattr__ and len(args) == 3 and not kwargs:
            return self.store_plain_attr(*args)
        fills = kind is MethodWrapperType and f.__objclass__ is dict and f.__name__ == "__init__"
        owner = f.__self__ if fills else args[0] if f is dict.__init__ and args else None
        if isinstance(owner, dict) and self.places.is_made(owner):  # super().__init__(…)
            self.check_change(owner)
            given = args if fills else args[1:]
            dict.__init__(owner, *self.runnables(given), **self.runnable_options(kwargs))
            return None
        if kind is MethodWrapperType and f.__objclass__ is object and len(args) == 2:
            if f.__name__ != "__setattr__":
                raise self._refuse_call(f)
            return self.store_plain_attr(f.__self__, *args)  # super().__setattr__
        if (made := made_by(self.outside, f, args, kwargs)) is not NotImplemented:
            return made
        method = getattr(kind, "__call__", None)  # noqa: B004
        if isinstance(method, FunctionType):
            return self.call(self.attr(f, "__call__"), *args, **kwargs)
        if method is None:
            raise TypeError(f"{kind.__name__!r} object is not callable")
        return self._unknown(f, args, kwargs)

    def _unknown(self, f: Any, args: Any, kwargs: Any) -> Any:
        """A call of a function that is no Python code, or none that is to be staged."""
        twin = twin_of(f)
        if twin is not None:
            return self.call(twin, *args, **kwargs)
        if (shown := read_clock(self.outside, f, args, kwargs)) is not NotImplemented:
            return shown
        found = self._foreign(f, args, kwargs)
        if isinstance(found, Unlearnable):
            raise self._refuse_call(f, found if purity.only_computes(f) else None)
        return found

    def _remembered(self, f: Any, args: Any, kwargs: Any) -> Any:
        """What a function with a memory (``functools.lru_cache``) gives for known arguments.

        It is asked at each call, with the guards, and is read from outside like a global: what it
        gives is one object for all that ask it.
        """
        args, kwargs = known_ints((args, kwargs))
        given = (*args, *kwargs.values())
        would_raise = self.session.would_raise
        if self.session.region or not all(map(_is_key, given)) or would_raise is None:
            raise self._refuse_call(f)
        if is_of_program(f.__wrapped__) and would_raise(f.__wrapped__, args, kwargs):
            raise self._refuse_call(f)  # Python runs it, so that what it does happens once
        guards = self.outside.guards
        root, each = guards.constant(f), guards.constant(args)
        options = f", **{guards.constant(kwargs)}" if kwargs else ""
        text = f"{getattr(f, '__name__', 'function')}({', '.join(map(repr, given))})"
        text = label_of(text)
        source = guards.fetch(f"{root}(*{each}{options})", text)
        return self.outside.admit(f(*args, **kwargs), source, text)

    def _refuse_call(self, f: object, reason: Unlearnable | None = None) -> Exception:
        name = getattr(f, "__qualname__", None) or getattr(f, "__name__", repr(type(f)))
        owner = getattr(f, "__self__", None)
        module = getattr(f, "__module__", None) or ""
        if owner is not None and not isinstance(owner, ModuleType):
            name = f"{type(owner).__name__}.{getattr(f, '__name__', name)}"
        elif module and module != "builtins":
            name = f"{module}.{name}".replace("numpy.", "np.", 1)
        why = reason or "fxc does not know what it does besides returning a value"
        return refuse(
            f"a call of {name} cannot be captured: {why}; call it outside of the compiled function"
        )

    # -------------------------------------------------------- staged functions

    def staged(self, f: Any) -> Any:
        """The staged form of a Python function in this capture."""
        found = self.staged_functions.get(f)
        if found is not None:
            return found
        staged = stage(f, asked(self.session.static, f.__code__.co_filename))
        if staged is None:
            self._check_unstaged(f)
            self._inner_codes.add(f.__code__)
            return f
        self._inner_codes |= staged.inner
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        scope = Scope(self, f)
        root = self.outside.guards.constant(f)
        code = self.outside.guards.constant(f.__code__)
        self.outside.guards.check(f"{root}.__code__ is {code}", f"{f.__name__} has the same code")
        closure = tuple(
            CellType(scope) if name == DOOR else cells[name] for name in staged.code.co_freevars
        )
        made = FunctionType(staged.code, f.__globals__, f.__name__, None, closure)
        # Defaults are read from outside like globals.
        if f.__defaults__:
            text = f"{root}.__defaults__"
            made.__defaults__ = self.read(f.__defaults__, text, f"the defaults of {f.__name__}")
        if f.__kwdefaults__:
            text = f"{root}.__kwdefaults__"
            seen = self.read(f.__kwdefaults__, text, f"the defaults of {f.__name__}")
            made.__kwdefaults__ = dict(seen)
        self.staged_functions[f] = made
        return made

    def _check_unstaged(self, f: FunctionType) -> None:
        """Allow a function without source to run as it is, if no effect can escape us.

        Its reads are guarded; it may use NumPy, math, pure builtins and plain values.
        """
        for code in codes_in(f.__code__):
            if any(code.co_code[::2].count(number) for number in _STORES):
                raise refuse(f"the source of {f.__name__} is not to be had, and it makes stores")
            for name in code.co_names:
                value = f.__globals__.get(name, getattr(builtins, name, MISSING))
                if value is not MISSING:
                    self.read_global(f, name)
                if name in purity.IMPURE_NAMES or not _is_harmless(value):
                    raise refuse(f"the source of {f.__name__} is not to be had, and it uses {name}")
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            value = cell.cell_contents
            if not _is_harmless(value):
                raise refuse(f"the source of {f.__name__} is not to be had, and it uses {name}")
            self.read_cell(f, name)

    def runnable(self, f: Any) -> Any:
        """``f`` for code that calls it without the door: as a function that goes through it."""
        if type(f) is Late:
            return f._known()
        if isinstance(f, FunctionType | MethodType | functools.partial):
            return functools.partial(self.call, f)
        return f

    def runnables(self, args: tuple[Any, ...]) -> list[Any]:
        settle_all(args)
        return [self.iterated(self.runnable(plain_list(arg))) for arg in args]

    def runnable_options(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        return {name: self.runnable(value) for name, value in kwargs.items()}

    def is_made_inside(self, f: object) -> bool:
        """Whether a function was made by the program, or is a method of such an object."""
        if isinstance(f, FunctionType):
            return f.__code__ in self._inner_codes
        return isinstance(f, BuiltinFunctionType) and has_owner(f)


# ------------------------------------------------------------------ small questions


def _are_texts(xs: Iterable[Any]) -> bool:
    """Whether these are texts and constants."""
    kinds = (UnknownText, re.Pattern, re.RegexFlag)
    return all(type(x) in PLAIN or isinstance(x, kinds) for x in xs)


def _known_text(x: object) -> Any:
    """A text as a constant of the capture."""
    return x._known() if isinstance(x, UnknownText) else x


def _sees_types(f: object) -> bool:
    """Whether a function is no code of the program's, and does not just keep its arguments."""
    if isinstance(f, BuiltinFunctionType | MethodType):
        owner = f.__self__
        return owner is None or isinstance(owner, ModuleType | TracedValue | str | np.ufunc)
    if isinstance(f, FunctionType):
        function: Any = f
        known = function in FUNCTIONS or (f.__module__ or "").partition(".")[0] in (
            "numpy",
            "scipy",
        )
        return (known and function not in CONTROL) or function in COPIES
    return isinstance(f, np.ufunc) or type(f) is _DISPATCHED or f in SPECIAL or f in _CONVERTING


_CONVERTING = (tuple, set, frozenset, np.bool_)

_REMEMBERING = type(functools.lru_cache(len))
_KEYS = (bool, int, float, complex, str, bytes, type(None))


def _is_key(x: object) -> bool:
    """Whether a function that remembers knows an argument again at the next call."""
    return isinstance(x, type | ModuleType | FunctionType | np.dtype) or type(x) in _KEYS


def _asked_method(f: object) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """The name and the arguments of what an ``operator.methodcaller`` calls."""
    reduced: Any = f.__reduce__()
    maker, given = reduced[:2]
    asked: tuple[Any, ...] = (*getattr(maker, "args", ()), *given)
    return asked[0], asked[1:], dict(getattr(maker, "keywords", {}))


_CAPTURE = os.path.join(OURS, "capture")
_STORES = frozenset(
    number
    for name, number in opcode.opmap.items()
    if name in ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL")
)


def is_plain_namedtuple(f: type) -> bool:
    """Whether a class is a named tuple's, and making one just makes it."""
    if not (issubclass(f, tuple) and hasattr(f, "_fields")):
        return False
    new: Any = class_attribute(f, "__new__")
    code = getattr(getattr(new, "__func__", new), "__code__", None)
    made = code is not None and code.co_filename.startswith("<string>")
    return made and f.__init__ is object.__init__ and type(f) is type


# What takes up the items of what it is given, and nothing else of it.
_OVER_ITEMS = frozenset({zip, enumerate, reversed, sum, any, all, min, max, sorted})


def _items_for(f: object, x: object) -> Any:
    """An argument of a builtin: a list of numbers from outside as one of the graph."""
    if type(x) is ExternalList and f in _OVER_ITEMS:
        made = x.as_list()
        return x if made is None else made
    return x


def _is_harmless(value: object) -> bool:
    """Whether code without source may use this: it can change nothing by it."""
    if value is MISSING or isinstance(value, Traced):
        return True
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in ("numpy", "math", "cmath")
    if isinstance(value, np.ufunc) or type(value) in (_DISPATCHED, np.dtype):
        return value not in purity.NUMPY_WITH_EFFECTS if callable(value) else True
    if isinstance(value, type):
        return value in purity.PURE_CLASSES or issubclass(value, np.generic | BaseException)
    if callable(value):
        return value in purity.PURE_BUILTINS or value in (len, min, max)
    return value is None or isinstance(value, bool | int | float | complex | str | bytes)


def _errstate(**options: Any) -> Any:
    if any(value != "ignore" for value in options.values()):
        raise refuse("np.errstate with anything but 'ignore' cannot be captured")
    np.errstate(**options)  # its own exception for other names
    kinds = ("divide", "over", "under", "invalid")
    return Ignoring(*(kind for kind in kinds if kind in options or "all" in options))
