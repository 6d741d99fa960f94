"""The call door: what every call, and every read from outside, of a staged function passes.

See Note [The call door].
"""

from __future__ import annotations

import functools
import operator
import os
import re
from collections import deque
from collections.abc import Iterable
from itertools import pairwise
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.errors import CaptureError
from fxc.ir.later import import_class_later, import_later
from fxc.ir.symbols import counted_in
from fxc.ir.types import ArrayType

from ..numbers.traced_int import known_ints
from ..outside import purity
from ..outside.containers import PLAIN, class_seen, plain_key
from ..outside.outside import Outside
from ..session.exceptions import note
from ..session.locations import OURS, is_called_as_it_is, is_of_program
from ..session.session import Session
from ..values.objects import (
    Args,
    Kwargs,
    has_python_method,
    is_custom_op,
    is_made_by_object,
    is_namedtuple,
    is_of_random,
    is_python_class,
    source_kind,
)
from ..values.operands import Traced, TracedValue, has_traced
from .imported_later import ExternalList
from .plain_calls import PlainCalls
from .recursion import Recursion
from .staged import DISPATCHED

if TYPE_CHECKING:
    from ..forms.several import Several
else:
    Several = import_class_later("fxc.capture.forms.several", "Several")

differing_in = import_later("fxc.capture.forms.differing", "differing_in")
each_way = import_later("fxc.capture.forms.differing", "each_way")

if TYPE_CHECKING:
    from fxc.ops.foreign_results import Unlearnable
else:
    Unlearnable = import_class_later("fxc.ops.foreign_results", "Unlearnable")

if TYPE_CHECKING:
    from ..dicts.unknown_items import OneOfItems
    from ..lists.texts import UnknownText
else:
    OneOfItems = import_class_later("fxc.capture.dicts.unknown_items", "OneOfItems")
    UnknownText = import_class_later("fxc.capture.lists.texts", "UnknownText")

# Note [The call door]
# Capture has no effects, so whoever calls something must know that it has none. Staged code makes
# no call of its own: the door does, and knows three kinds of callees. NumPy's functions in our
# tables and pure builtins run as they are, the former on traced arrays or, where nothing is
# traced, eagerly (an array that comes out is a constant of the graph, fresh at each call). Python
# functions with source are staged in turn. Everything else is refused before it runs. Stores into
# what was made inside just happen; for those into objects from outside see Note [Effects].


# See Note [Rooms with one door].
call_custom = import_later("fxc.capture.numpy_api.custom_ops", "call_custom")
ints_of = import_later("fxc.capture.lists.byte_strings", "ints_of")
call_method = import_later("fxc.capture.door.containers", "call_method")
columns = import_later("fxc.capture.statements.iterators", "columns")
is_logging = import_later("fxc.capture.door.log_calls", "is_logging")
is_plain_owner = import_later("fxc.capture.door.containers", "is_plain_owner")
is_listed = import_later("fxc.capture.numpy_api.protocol", "is_listed")
is_code_of_numpys = import_later("fxc.capture.numpy_api.protocol", "is_code_of_numpys")
array_function = import_later("fxc.capture.numpy_api.protocol", "array_function")
show_log = import_later("fxc.capture.door.log_calls", "show_log")
special_of = import_later("fxc.capture.door.special", "special_of")
run_over = import_later("fxc.capture.door.containers", "run_over")
taken_up = import_later("fxc.capture.statements.driven", "taken_up")
is_plain_namedtuple = import_later("fxc.capture.door.instances", "is_plain_namedtuple")
made_by = import_later("fxc.capture.outside.generators", "made_by")
made_of = import_later("fxc.capture.door.instances", "made_of")
known_text = import_later("fxc.capture.values.late", "known_text")
of_this_call = import_later("fxc.capture.values.late", "of_this_call")


def is_special(f: object) -> bool:
    return special_of(f) is not None


class Door(PlainCalls):
    """The door of one capture: its calls. Below it, floor by floor: ``PlainCalls`` (of what is no
    code of the program's), ``Staged`` (functions), ``Stores`` (names, attributes),
    ``ItemAccess``, ``Formats`` (texts), ``Catching`` (exceptions), ``Attributes``, ``Reads``.
    """

    def __init__(self, session: Session, outside: Outside) -> None:
        super().__init__(session, outside)
        self._recursion = Recursion(session)

    def call(self, f: object, /, *args: object, **kwargs: object) -> object:
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

    def call_with(self, f: object, items: Any) -> object:
        """``f(*items)``."""
        found = columns(self, items) if f is zip else None
        return self.call(f, *items) if found is None else self.made(found)

    def _call(self, f: Any, args: Args, kwargs: Kwargs) -> object:
        kind = type(f)
        if kind is np.ufunc:
            return self.call_ufunc(f, "__call__", args, kwargs)
        if kind is MethodType:
            return self._call_method(f, args, kwargs)
        if kind is DISPATCHED:
            return self.call_numpy(f, args, kwargs)
        if isinstance(f, OneOfItems):
            return f.called(*args, **kwargs)
        is_class = isinstance(f, type)
        if is_class and f is not str and not _keeps(f):
            args = tuple(map(of_this_call, args))
        if kind is FunctionType and is_of_program(f):
            return self._call_function(f, args, kwargs)
        if is_class or kind is FunctionType or kind is BuiltinFunctionType:
            special = special_of(f)
            if special is not None:
                return special(self, *(self._items_for(f, x) for x in args), **kwargs)
        if is_class:
            making = self.call_numpy if is_listed(f) else functools.partial(made_of, self)
            return making(f, args, kwargs)
        if kind is FunctionType:
            return self._call_function(f, args, kwargs)
        if kind is BuiltinFunctionType:
            return self._call_builtin(f, args, kwargs)
        return self._call_object(f, kind, args, kwargs)

    def _items_for(self, f: object, x: object) -> object:
        """An argument of a builtin: a list of numbers from outside as one of the graph, the items
        of a generator that is driven as a list.
        """
        if f in _OF_ALL_ITEMS and f is not bytes and (items := ints_of(x)) is not None:
            return items
        if isinstance(x, ExternalList) and f in _OVER_ITEMS:
            made = x.as_list()
            return x if made is None else made
        made = taken_up(self, x) if type(x) is GeneratorType and f in _OF_ALL_ITEMS else None
        return x if made is None else made

    def _call_method(self, f: MethodType, args: Args, kwargs: Kwargs) -> object:
        owner = f.__self__
        if source_kind(owner) is not None:
            return getattr(self.outside.generator(owner), f.__name__)(*args, **kwargs)
        of_generator = isinstance(owner, Traced) and f.__func__.__module__ == "random"
        if not of_generator:
            if isinstance(owner, Traced) and not owner._is_object:
                return f(*args, **kwargs)
            if f.__name__ in ("_replace", "_asdict") and is_plain_namedtuple(type(owner)):
                return self.made(f(*args, **kwargs))
            found = self.method_of_library(f, args, kwargs)
            if found is not NotImplemented:
                return found
        return self.call(f.__func__, owner, *args, **kwargs)

    def _call_builtin(self, f: Any, args: Args, kwargs: Kwargs) -> object:
        owner = f.__self__
        if owner is None or isinstance(owner, ModuleType):
            return self.builtin(f, args, kwargs)
        if isinstance(owner, np.ufunc):
            return self.call_ufunc(owner, f.__name__, args, kwargs)
        if isinstance(owner, re.Pattern) and _are_texts(args):
            return self.made(f(*map(known_text, args), **kwargs))
        if is_plain_owner(self, owner):
            return call_method(self, f, args, kwargs)
        if isinstance(owner, type) and owner in purity.PURE_CLASSES:
            return self.made(f(*args, **kwargs))
        return self.unknown(f, args, kwargs)

    def _call_function(self, f: FunctionType, args: Args, kwargs: Kwargs) -> object:
        if not is_of_program(f) and is_listed(f):
            return self.call_numpy(f, args, kwargs)
        module = f.__module__ or ""
        if module.partition(".")[0] == "numpy":
            if f is np.isscalar and any(isinstance(x, Several) for x in args):
                raise self.refuse_call(f)  # it asks for a type, which is another in each case
            if is_code_of_numpys(f) and has_traced((args, kwargs)):
                return array_function(f, args, kwargs)
            if f in purity.PURE_NUMPY and not has_traced(known := known_ints((args, kwargs))):
                return self.eager(f, *known)
            if purity.only_computes(f):
                return self.unknown(f, args, kwargs)
        if f.__code__ in self._inner_codes:
            return self._run(f, f, args, kwargs)
        if is_called_as_it_is(f, _CAPTURE):
            return f(*args, **kwargs)
        if os.path.dirname(f.__code__.co_filename) + os.sep == OURS and f.__name__ != "compile":
            raise self.refuse_call(f)  # fxc.export and its kin run a capture of their own
        if is_called_as_it_is(f, OURS):
            return f(*args, **kwargs)
        if f in purity.OF_OWN_FUNCTIONS:
            if f is functools.update_wrapper and not self._is_made_here(args):
                raise self.refuse_call(f)
            return f(*args, **kwargs)
        if f in purity.WITH_MEMORY:
            raise self.refuse_call(f)
        if f.__module__ == "logging" and is_logging(f):
            return show_log(self, f, args, kwargs)
        if purity.computes_of_texts(f) and _are_texts((*args, *kwargs.values())):
            options = {name: known_text(x) for name, x in kwargs.items()}
            return self.made(f(*map(known_text, args), **options))
        checks = purity.only_checks(f) and any(isinstance(x, TracedValue) for x in args)
        if checks or purity.only_computes(f):
            found = self.foreign(f, args, kwargs)
            if not isinstance(found, Unlearnable):
                return found
        return self._run(f, self.staged(f), args, kwargs)

    def _is_made_here(self, args: Args) -> bool:
        """Whether the first argument is a function that the program has made."""
        first = args[0] if args else None
        return type(first) is FunctionType and first.__code__ in self._inner_codes

    def _run(self, f: FunctionType, staged: Any, args: Args, kwargs: Kwargs) -> object:
        """Run a function of the program; one that calls itself, as long as that is not too much."""
        self.session.note_call()
        self._recursion.begins(f.__code__, (*args, *kwargs.values()))
        region = self.session.region
        try:
            result = staged(*args, **kwargs)
        except CaptureError as error:
            given = (*args, *kwargs.values())
            is_alone = not region and all(map(_is_as_from_outside, given))
            error.alone = error.alone - {f} | ({f} if is_alone else set())
            raise
        finally:
            self._recursion.ends(f.__code__)
        if type(result) is GeneratorType and not self.is_foreign(result):
            self.session.generators.setdefault(result, (f, args, kwargs))
        return result

    def begun(self, f: FunctionType, args: Args, kwargs: Kwargs) -> object:
        """A generator of this function, which does in Python what code of C does."""
        return self._run(f, self.staged(f), tuple(run_over(self, args)), kwargs)

    def _call_object(self, f: Any, kind: type, args: tuple[Any, ...], kwargs: Kwargs) -> object:
        if is_custom_op(kind):
            return call_custom(f, args, kwargs)
        if kind is functools.partial:
            return self.call(f.func, *f.args, *args, **{**f.keywords, **kwargs})
        if kind is MethodDescriptorType and f.__objclass__ is np.ndarray and has_traced(args):
            return getattr(args[0], f.__name__)(*args[1:], **kwargs)
        if kind is MethodDescriptorType and args and class_seen(args[0]) is f.__objclass__:
            method = self.attr(args[0], f.__name__)  # str.upper(s)
            return self.call(method, *args[1:], **kwargs)
        if hasattr(kind, "__fxc_original__"):
            return self.call(f.__fxc_original__, *args, **kwargs)
        if kind is operator.itemgetter:
            return f(*args, **kwargs)
        if kind is operator.attrgetter and len(args) == 1 and not kwargs:
            read = [functools.reduce(self.attr, each.split("."), args[0]) for each in _names_in(f)]
            return read[0] if len(read) == 1 else tuple(read)
        if kind is operator.methodcaller and len(args) == 1 and not kwargs:
            name, given, options = _asked_method(f)
            return self.call(self.attr(args[0], name), *given, **options)
        if kind is purity.REMEMBERING:
            return self.remembered(f, args, kwargs)
        if kind in _OF_SLOTS and f.__objclass__ in (dict, object):
            owners = () if kind is WrapperDescriptorType else (f.__self__,)
            if (found := self._call_slot(f, (*owners, *args), kwargs)) is not NotImplemented:
                return found
        if is_of_random(f):
            made = made_by(self.outside, f, args, kwargs)
            if made is not NotImplemented:
                return made
        method = getattr(kind, "__call__", None)  # noqa: B004
        if isinstance(method, FunctionType):
            return self.call(self.attr(f, "__call__"), *args, **kwargs)
        if method is None:
            raise TypeError(f"{kind.__name__!r} object is not callable")
        return self.unknown(f, args, kwargs)

    def _call_slot(self, f: Any, args: tuple[Any, ...], kwargs: Kwargs) -> Any:
        """``super().__init__(…)`` of a dict, and what all objects have; or NotImplemented."""
        if f.__objclass__ is dict:
            if f.__name__ != "__init__" or not (args and self.places.is_made(args[0])):
                return NotImplemented
            self.check_change(args[0])
            dict.__init__(args[0], *self.kept(args[1:]), **self.kept_options(kwargs))
            return None
        if f.__name__ == "__setattr__" and len(args) == 3 and not kwargs:
            return self.store_plain_attr(*args)
        if f.__name__ == "__init__" and len(args) == 1 and not kwargs:
            return None  # it is the last of a chain of ``super().__init__()``
        if f.__name__ == "__getattribute__" and len(args) == 2 and not kwargs:
            kind = class_seen(args[0])
            if not any(has_python_method(kind, name) for name in (f.__name__, "__getattr__")):
                return self.attr(args[0], plain_key(args[1]))
        if len(args) == 3:
            raise self.refuse_call(f)
        return NotImplemented


# ------------------------------------------------------------------ small questions


def _keeps(kind: type) -> bool:
    """Whether an object of a class has its arguments, or what the program makes of them."""
    return is_namedtuple(kind) or (is_python_class(kind) and is_made_by_object(kind))


def _is_as_from_outside(x: object) -> bool:
    """Whether an argument would be the same if the function were captured by itself."""
    if not isinstance(x, TracedValue):
        return not isinstance(x, Traced)
    if x._later is not None:
        return False
    kind = x._value.type
    return type(kind) is ArrayType and not any(map(counted_in, kind.shape))


def _sees_types(f: object) -> bool:
    """Whether a function is no code of the program's, and does not just keep its arguments."""
    if isinstance(f, BuiltinFunctionType | MethodType):
        owner = f.__self__
        return owner is None or isinstance(owner, ModuleType | TracedValue | str | np.ufunc)
    if isinstance(f, FunctionType):
        function: Any = f
        known = is_listed(function) or (f.__module__ or "").partition(".")[0] in (
            "numpy",
            "scipy",
        )
        return known or is_special(f)
    return isinstance(f, np.ufunc) or type(f) is DISPATCHED or is_special(f) or f in _CONVERTING


_OF_SLOTS = (MethodWrapperType, WrapperDescriptorType)
_CONVERTING = (tuple, set, frozenset, np.bool_)


def _are_texts(xs: Iterable[object]) -> bool:
    kinds = (UnknownText, re.Pattern, re.RegexFlag)
    return all(type(x) in PLAIN or isinstance(x, kinds) for x in xs)


def _names_in(f: object) -> tuple[str, ...]:
    """The names of the attributes that an ``operator.attrgetter`` reads."""
    reduced: Any = f.__reduce__()
    names: tuple[str, ...] = reduced[1]
    return names


def _asked_method(f: object) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """The name and the arguments of what an ``operator.methodcaller`` calls."""
    reduced: Any = f.__reduce__()
    maker, given = reduced[:2]
    asked: tuple[Any, ...] = (*getattr(maker, "args", ()), *given)
    return asked[0], asked[1:], dict(getattr(maker, "keywords", {}))


_CAPTURE = os.path.join(OURS, "capture")
# What takes up the items of what it is given, and nothing else of it.
_OVER_ITEMS = frozenset(
    {zip, enumerate, reversed, map, iter, pairwise, sum, any, all, min, max, sorted}
)
_OF_ALL_ITEMS = frozenset({list, sorted, sum, min, max, set, dict, deque, bytes})
