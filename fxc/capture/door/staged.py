"""Functions of the program as they run here: staged, or allowed to run as they are."""

from __future__ import annotations

import builtins
import functools
import opcode
from collections.abc import Callable, Iterator
from itertools import filterfalse
from operator import attrgetter, methodcaller
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import UNKNOWN_CALL
from fxc.ir.later import import_later
from fxc.ir.made_functions import codes_in

from ..outside import purity
from ..outside.containers import External, settle_all
from ..outside.outside import Outside
from ..session.refusing import refusal
from ..session.session import Session
from ..staging.continuations import asked
from ..staging.nodes import DOOR
from ..staging.staging import Driven, StagedCode, stage
from ..values.maybe_set import contents_of
from ..values.objects import MISSING, Args, Kwargs, class_attribute, has_owner
from ..values.operands import Traced
from ..values.shadows import is_compiled, special_methods
from .imported_later import Late
from .reads import name_of
from .scope import Scope
from .stores import Stores

plain_list = import_later("fxc.capture.lists.traced_lists", "plain_list")

DISPATCHED = type(np.sum)  # the wrapper of functions with ``__array_function__``
_STORES = frozenset(
    number
    for name, number in opcode.opmap.items()
    if name in ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL")
)


# What code of C would call, with what it finds in an object, behind the door's back.
_CALLED_BY_DOOR = (FunctionType, MethodType, functools.partial, attrgetter, methodcaller)


class Staged(Stores):
    """The functions of one capture."""

    def __init__(self, session: Session, outside: Outside) -> None:
        super().__init__(session, outside)
        self.staged_functions: dict[FunctionType, FunctionType] = {}
        self._inner_codes: set[Any] = set()
        self._in_question: set[type] = set()  # classes whose methods are being looked at

    def staged(self, f: Any) -> Any:
        """The staged form of a Python function in this capture."""
        found = self.staged_functions.get(f)
        if found is not None:
            return found
        staged = stage(f, asked(self.session.requests, f.__code__.co_filename))
        if staged is None:
            why = f"the source of {f.__name__} cannot be read"
            self._check_unstaged(f, why)
            return functools.partial(self._call_unstaged, f, why)
        root = self._root(f)
        code = self.outside.guards.constant(f.__code__)
        self.outside.guards.check(f"{root}.__code__ is {code}", f"{f.__name__} has the same code")
        made = self._made_of(f, staged, Scope(self, f))
        # Defaults are read from outside like globals.
        if f.__defaults__:
            text = f"{root}.__defaults__"
            made.__defaults__ = self.read(f.__defaults__, text, f"{f.__name__}.__defaults__")
        if f.__kwdefaults__:
            text = f"{root}.__kwdefaults__"
            seen = self.read(f.__kwdefaults__, text, f"{f.__name__}.__kwdefaults__")
            made.__kwdefaults__ = dict(seen)
        self.staged_functions[f] = made
        return made

    def driving(self, f: FunctionType, took: Callable[[object], object], leaves: bool) -> object:
        """A generator of the program as a function that hands to ``took`` what it yields, which may
        say that it ``leaves``; None if it cannot be one. See Note [Generators that are driven].
        """
        whole = asked(self.session.requests, f.__code__.co_filename)
        how = Driven.LEFT if leaves else Driven.TO_ITS_END
        staged = None if self.is_made_inside(f) else stage(f, whole, how)
        if staged is None:
            return None
        scope, known = Scope(self, f), self.staged(f)
        vars(scope)["took"] = functools.partial(self.call, took)
        made = self._made_of(f, staged, scope)
        made.__defaults__, made.__kwdefaults__ = known.__defaults__, known.__kwdefaults__
        return made

    def _made_of(self, f: FunctionType, staged: StagedCode, scope: Scope) -> FunctionType:
        """A function with this code, which finds the door in ``scope``."""
        self._inner_codes |= staged.inner
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        closure = tuple(
            CellType(scope) if name == DOOR else cells[name] for name in staged.code.co_freevars
        )
        return FunctionType(staged.code, f.__globals__, f.__name__, None, closure)

    def _root(self, f: FunctionType) -> str:
        """What the guard program calls a function."""
        if (known := self.outside.object_of(f)) is not None and not known.is_fixed:
            return known.source.var
        self.outside.functions.uses(f)
        return self.outside.guards.constant(f)

    def _check_unstaged(self, f: FunctionType, why: str) -> None:
        """Allow a function to run as it is, if no effect can escape us; ``why`` it has to.

        Its reads are guarded; it may use NumPy, math, pure builtins and plain values.
        """
        self._root(f)
        for code in codes_in(f.__code__):
            if any(code.co_code[::2].count(number) for number in _STORES):
                raise refusal(UNKNOWN_CALL, f"{why}, and it makes stores")
            for name in code.co_names:
                value = f.__globals__.get(name, vars(builtins).get(name, MISSING))
                if value is not MISSING:
                    self.read_global(f, name)
                if name in purity.IMPURE_NAMES or not _is_harmless(value):
                    raise refusal(UNKNOWN_CALL, f"{why}, and it uses {name}")
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            if not _is_harmless(contents_of(cell)):
                raise refusal(UNKNOWN_CALL, f"{why}, and it uses {name}")
            self.read_cell(f, name)

    def _call_unstaged(self, f: FunctionType, why: str, *args: object, **kwargs: object) -> object:
        """Run a function as it is. It may not look at objects: what stands for them has no
        attributes, and their methods may do anything.
        """
        given = () if _hands_on(f.__code__) else _things_in((args, kwargs))
        for x in (*given, *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
            if not (_is_harmless(x) or isinstance(x, External)):
                raise refusal(UNKNOWN_CALL, f"{why}, and it is given a {name_of(x)}")
        return f(*args, **kwargs)

    def check_methods(self, kind: type) -> None:
        """Allow objects that stand for themselves, whose special methods Python calls itself."""
        if kind in self._in_question:
            return  # one of their methods reads such an object
        self._in_question.add(kind)
        try:
            self._check_special_methods(kind)
        finally:
            self._in_question.discard(kind)

    def _check_special_methods(self, kind: type) -> None:
        for name, method in special_methods(filterfalse(_is_trusted, kind.__mro__)).items():
            if name == "__call__" or _is_trusted(method):  # enums have enum's methods as their own
                continue
            text = f"{kind.__name__}.{name} is called by Python"
            self._check_unstaged(method, text)
            for code in codes_in(method.__code__):
                for used in code.co_names:
                    if isinstance(class_attribute(kind, used), FunctionType | property):
                        raise refusal(UNKNOWN_CALL, f"{text}, and it uses {used}")

    def is_made_inside(self, f: object) -> bool:
        """Whether a function was made by the program, or is a method of such an object."""
        if isinstance(f, FunctionType):
            return f.__code__ in self._inner_codes
        return isinstance(f, BuiltinFunctionType) and has_owner(f)

    def runnable(self, f: object) -> object:
        """``f`` for code that calls it without the door: as a function that goes through it."""
        if isinstance(f, Late):
            return f._known()
        if is_compiled(f) or isinstance(f, _CALLED_BY_DOOR):
            return functools.partial(self.call, f)
        return f

    def kept(self, args: Args) -> list[Any]:
        """Arguments for code of C that shows them, keeps them or runs over them, and calls none."""
        settle_all(args)
        there = (arg._known() if isinstance(arg, Late) else arg for arg in args)
        return [self.iterated(plain_list(arg)) for arg in there]

    def kept_options(self, kwargs: Kwargs) -> dict[str, Any]:
        return {name: x._known() if isinstance(x, Late) else x for name, x in kwargs.items()}

    def runnables(self, args: Args) -> list[Any]:
        settle_all(args)
        return [self.iterated(self.runnable(plain_list(arg))) for arg in args]

    def runnable_options(self, kwargs: Kwargs) -> dict[str, Any]:
        return {name: self.runnable(value) for name, value in kwargs.items()}

    def run_plain(self, f: Callable[..., object], args: Args, kwargs: Kwargs) -> object:
        """Run code of C that calls, and iterates over, what it is given without the door."""
        return f(*self.runnables(args), **self.runnable_options(kwargs))


def _is_trusted(x: type | FunctionType) -> bool:
    """Whether the methods of a class, or a method, only look at objects."""
    module = (x.__module__ or "").partition(".")[0]
    return module in purity.TRUSTED_MODULES or module in ("enum", "scipy")


def _things_in(x: object) -> Iterator[object]:
    """What containers hold, and themselves if they are none of Python's own."""
    if type(x) is dict:
        x = (*x, *x.values())
    if type(x) in (tuple, list, set, frozenset):
        for each in x:  # type: ignore[attr-defined]
            yield from _things_in(each)
    else:
        yield x


def _hands_on(code: CodeType) -> bool:
    """Whether code does no more than to return what it is given, in a tuple perhaps."""
    return all(opcode.opname[number] in _HANDING_ON for number in code.co_code[::2])


_HANDING_ON = frozenset(
    (
        *("CACHE", "NOP", "RESUME", "EXTENDED_ARG", "RETURN_VALUE", "RETURN_CONST", "LOAD_CONST"),
        *("LOAD_FAST", "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_SMALL_INT", "BUILD_TUPLE"),
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
    )
)


def _is_harmless(value: object) -> bool:
    """Whether code without source may use this: it can change nothing by it."""
    if value is MISSING or isinstance(value, Traced):
        return True
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in ("numpy", "math", "cmath")
    if isinstance(value, np.ufunc) or type(value) in (DISPATCHED, np.dtype):
        return value not in purity.NUMPY_WITH_EFFECTS if callable(value) else True
    if isinstance(value, type):
        return value in purity.PURE_CLASSES or issubclass(value, np.generic | BaseException)
    if callable(value):
        return value in purity.PURE_BUILTINS or value in (len, min, max)
    if value is None or value is NotImplemented:
        return True
    return isinstance(value, bool | int | float | complex | str | bytes)
