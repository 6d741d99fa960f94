"""Calls of what is no code of the program's: NumPy's functions, builtins, libraries in C."""

from __future__ import annotations

import ast
import inspect
import math
import sys
from functools import cache
from types import FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import ITERATOR, OPERAND, UNKNOWN_CALL
from fxc.ir.later import import_later
from fxc.ops.foreign_results import Unlearnable
from fxc.ops.foreign_ufuncs import runs_python

from ..arrays.creation import CREATION
from ..numbers.traced_int import known_ints
from ..outside import purity
from ..outside.generators import read_clock
from ..outside.inputs import Route
from ..session.locations import is_of_program
from ..session.refusing import refusal, refuse
from ..session.session import label_of
from ..session.warned_of import run_now
from ..values.objects import Args, Kwargs
from ..values.operands import TracedValue, has_traced
from ..values.shadows import class_name, is_shadow
from ..values.snapshots import as_constants
from .reads import name_of
from .staged import Staged

for_each = import_later("fxc.capture.forms.several", "for_each")
is_of_several_types = import_later("fxc.capture.forms.several", "is_of_several_types")

is_list = import_later("fxc.capture.lists.list_changes", "is_list")

_KEYS = (bool, int, float, complex, str, bytes, type(None))


# See Note [Rooms with one door].
call_check = import_later("fxc.capture.numpy_api.foreign", "call_check")
call_foreign = import_later("fxc.capture.numpy_api.foreign", "call_foreign")
call_known = import_later("fxc.capture.numpy_api.foreign", "call_known")
call_update = import_later("fxc.capture.numpy_api.foreign", "call_update")
is_listed = import_later("fxc.capture.numpy_api.protocol", "is_listed")
array_function = import_later("fxc.capture.numpy_api.protocol", "array_function")
array_ufunc = import_later("fxc.capture.numpy_api.ufunc_methods", "array_ufunc")
show = import_later("fxc.capture.door.shows", "show")
show_warning = import_later("fxc.capture.door.shows", "show_warning")
array_of_list = import_later("fxc.capture.lists.list_arguments", "array_of_list")
as_numpy = import_later("fxc.capture.lists.list_arguments", "as_numpy")
joined_list = import_later("fxc.capture.lists.list_arguments", "joined_list")
call_function = import_later("fxc.capture.numbers.python_functions", "call_function")

_MAKING = (np.fromfunction, np.fromiter, np.ndarray)  # an array that the program writes


def call_ufunc(door: Staged, f: np.ufunc, method: str, args: Args, kwargs: Kwargs) -> Any:
    args, kwargs = as_numpy(args, kwargs)
    _check_operands(door, args)
    if has_traced(args) or (kwargs and has_traced(kwargs)):
        return array_ufunc(f, method, args, kwargs)
    if runs_python(f):
        raise refuse_call(door, f)
    return eager(door, f if method == "__call__" else getattr(f, method), args, kwargs)


def call_numpy(door: Staged, f: object, args: Args, kwargs: Kwargs) -> object:
    if f is np.array or f is np.asarray:
        found = array_of_list(args, kwargs)
        if found is not None:
            return found
    if (found := joined_list(f, args, kwargs)) is not None:
        return found
    if f is not np.result_type:  # which takes a list for the description of a dtype
        args, kwargs = as_numpy(args, kwargs)
    if any(type(x) is GeneratorType for x in args):
        raise refuse(
            ITERATOR,
            f"np.{getattr(f, '__name__', f)} of a generator, which is one object to it,",
            "give it a list",
        )
    _check_operands(door, args)
    if f in CREATION or f in _MAKING or has_traced(args) or has_traced(kwargs):
        return array_function(f, args, kwargs)
    if f in purity.NUMPY_WITH_EFFECTS:
        raise refuse_call(door, f)
    return eager(door, f, args, kwargs)


def _check_operands(door: Staged, args: tuple[Any, ...]) -> None:
    """Refuse objects of the user's classes among the arguments of a function of NumPy's."""
    for x in args:
        if type(x) in (list, tuple):
            _check_operands(door, x)
        elif is_shadow(type(x)):
            raise refuse(
                OPERAND, f"a function of NumPy's of a {name_of(x)}", "pass the arrays it holds"
            )


def eager(door: Staged, f: Any, args: Args, kwargs: Kwargs) -> Any:
    """Run a pure function now; arrays that come out are constants of the graph."""
    return as_constants(run_now(f, args, kwargs))


def builtin(door: Staged, f: Any, args: Args, kwargs: Kwargs) -> object:
    """Call a builtin function that means here what it means anywhere."""
    if f in CREATION or is_listed(f):
        return call_numpy(door, f, args, kwargs)
    if f in purity.PURE_BUILTINS:
        if f.__self__ is math and any(map(is_of_several_types, args)):
            return for_each(lambda *xs: builtin(door, f, xs, kwargs), args)
        found = call_function(f, args, kwargs) if args else NotImplemented
        if found is not NotImplemented:
            return found
        twin = twin_of(f) if has_traced(args) else None
        if twin is not None and twin.__code__.co_nlocals > len(args):  # operator.countOf
            return door.call(twin, *args, **kwargs)
        if purity.only_computes(f) and any(isinstance(x, TracedValue) for x in args):
            return unknown(door, f, args, kwargs)
        return run_now(door.run_plain, (f, args, kwargs), {})
    if f in purity.PURE_NUMPY and not has_traced((args, kwargs)):
        return eager(door, f, args, kwargs)
    return unknown(door, f, args, kwargs)


def unknown(door: Staged, f: object, args: Args, kwargs: Kwargs) -> Any:
    """A call of a function that is no Python code, or none that is to be staged."""
    twin = twin_of(f)
    if twin is not None:
        return door.call(twin, *args, **kwargs)
    if (shown := read_clock(door.outside, f, args, kwargs)) is not NotImplemented:
        return shown
    found = foreign(door, f, args, kwargs)
    if isinstance(found, Unlearnable):
        raise refuse_call(door, f, found if purity.only_computes(f) else None)
    return found


def foreign(door: Staged, f: object, args: Args, kwargs: Kwargs) -> object:
    """What a function gives that only computes; why that is not known."""
    try:
        if purity.only_checks(f):
            return call_check(f, *as_numpy(args, kwargs))
        if purity.only_writes_arguments(f):
            return call_update(f, args, kwargs)
        if not purity.only_computes(f):
            return Unlearnable("it may do more than return a value")
        if purity.gives_items(f) and any(map(is_list, (*args, *kwargs.values()))):
            return Unlearnable("it gives items of a list, which are no elements of an array")
        args, kwargs = as_numpy(args, kwargs)
        if has_traced(known := known_ints((args, kwargs))):
            return call_foreign(f, args, kwargs)
        return call_known(f, *known)
    except Unlearnable as reason:
        return reason.with_traceback(None)  # it holds this frame, and who asks holds it


def method_of_library(door: Staged, f: MethodType, args: Args, kwargs: Kwargs) -> object:
    """What a method gives of an object that SciPy defines, ``scipy.stats.norm.cdf``: by a call
    of it as it is. NotImplemented if that is not known.
    """
    owner, source = door.outside.real(f.__self__), door.outside.source_of(f.__self__)
    if source is None or not has_traced((args, kwargs)):
        return NotImplemented
    method = purity.public_method(owner, f)
    if method is None or any(each.owner == source for each in door.outside.effects.entries):
        return NotImplemented
    try:
        found = call_foreign(method, *as_numpy(args, kwargs))
    except Unlearnable:
        return NotImplemented
    door.outside.guards.check_identity(source, owner)
    return found


def remembered(door: Staged, f: Any, args: Args, kwargs: Kwargs) -> object:
    """What a function with a memory (``functools.lru_cache``) gives for known arguments.

    It is asked at each call, with the guards, and is read from outside like a global: what it
    gives is one object for all that ask it. A library's function is asked even if the branch
    that calls it does not run.
    """
    args, kwargs = known_ints((args, kwargs))
    given = (*args, *kwargs.values())
    would_raise, is_own = door.session.would_raise, is_of_program(f.__wrapped__)
    if (door.session.region and is_own) or not all(map(_is_key, given)) or would_raise is None:
        raise refuse_call(door, f)
    if is_own and would_raise(f.__wrapped__, args, kwargs):
        raise refuse_call(door, f)  # Python runs it, so that what it does happens once
    guards = door.outside.guards
    root, each = guards.constant(f), guards.constant(args)
    options = f", **{guards.constant(kwargs)}" if kwargs else ""
    text = f"{getattr(f, '__name__', 'function')}({', '.join(map(repr, given))})"
    text = label_of(text)
    source = guards.fetch(f"{root}(*{each}{options})", text)
    try:
        found = f(*args, **kwargs)
    except Exception:
        if door.session.region:
            raise refuse_call(door, f) from None
        raise
    return door.outside.admit(found, Route(source, text))


def refuse_call(door: Staged, f: object, reason: Unlearnable | None = None) -> Exception:
    if isinstance(f, TracedValue):
        return TypeError(f"{class_name(f)!r} object is not callable")
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", repr(type(f)))
    owner = getattr(f, "__self__", None)
    module = getattr(f, "__module__", None) or ""
    if owner is not None and not isinstance(owner, ModuleType):
        of = owner if isinstance(owner, type) else type(owner)  # datetime.now, dict.update
        name = f"{of.__name__}.{getattr(f, '__name__', name)}"
    elif module and module != "builtins":
        name = f"{module}.{name}".replace("numpy.", "np.", 1)
    why = reason or "fxc does not know what it does besides returning a value"
    return refusal(
        UNKNOWN_CALL,
        f"a call of {name} cannot be captured: {why}; call it outside of the compiled function",
    )


def _is_key(x: object) -> bool:
    """Whether a function that remembers knows an argument again at the next call."""
    if type(x) is tuple:
        return all(map(_is_key, x))
    return isinstance(x, type | ModuleType | FunctionType | np.dtype) or type(x) in _KEYS


# ------------------------------------------------------------------ Python code beside C

# ``heapq.heappush`` is C; the same function stands in ``heapq.py``, for interpreters without that C
# code. What it does is then known from there, and it is staged like a function of the program.


def twin_of(f: object) -> FunctionType | None:
    """The Python function that a C function of the standard library stands for, if there is one."""
    module, name = getattr(f, "__module__", None), getattr(f, "__name__", "")
    if not isinstance(module, str) or module[:1] != "_" or module[1:] not in _LIBRARY:
        return None
    public = sys.modules.get(module[1:])
    if public is None or getattr(public, name, None) is not f:
        return None
    return _functions(public).get(name)


_LIBRARY = sys.stdlib_module_names


@cache
def _functions(module: ModuleType) -> dict[str, FunctionType]:
    """The functions that a module's text defines, also those that C code has taken over."""
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return {}
    tree.body = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    space = dict(vars(module))
    exec(compile(tree, module.__file__ or "", "exec"), space)
    names = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    return {name: space[name] for name in names if isinstance(space[name], FunctionType)}
