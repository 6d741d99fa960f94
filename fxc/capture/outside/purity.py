"""Which callables, known by name, do nothing but return a value."""

from __future__ import annotations

import builtins
import cmath
import collections
import functools
import itertools
import math
import operator
import re
import sys
import types
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

# Modules whose attributes are taken as they are: nobody changes them while a program runs.
TRUSTED_MODULES = frozenset(
    {"numpy", "math", "cmath", "operator", "functools", "itertools", "typing", "builtins", "fxc"}
)

_BUILTIN_NAMES = (
    "abs all any ascii bin callable chr divmod format hex isinstance issubclass iter oct ord pow "
    "repr round sorted sum"
)


def _functions_of(module: object) -> set[Any]:
    return {f for f in vars(module).values() if isinstance(f, BuiltinFunctionType)}


_STORES = {operator.setitem, operator.delitem}
# Those that change their first operand where it is a container: ``operator.iadd`` and its like.
IN_PLACE_OPERATORS = frozenset(
    function
    for function in _functions_of(operator)
    if function.__name__[0] == "i" and hasattr(operator, f"__{function.__name__[1:]}__")
)

PURE_BUILTINS: frozenset[Any] = frozenset(
    {getattr(builtins, name) for name in _BUILTIN_NAMES.split()}
    | _functions_of(math)
    | _functions_of(cmath)
    | (_functions_of(operator) - _STORES)
    | {functools.reduce, str.maketrans, bytes.maketrans}
)

PURE_CLASSES: frozenset[type] = frozenset(
    {
        *(bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset),
        *(slice, range, enumerate, zip, reversed, map, filter, object, super),
        *(collections.deque, collections.OrderedDict, collections.Counter),
        collections.defaultdict,
        functools.partial,
        *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
        operator.itemgetter,
        operator.attrgetter,
        operator.methodcaller,
        types.SimpleNamespace,
        np.dtype,
        np.finfo,
        np.iinfo,
    }
)
# What wraps functions changes the wrapper alone, if that is a function that the program has made.
OF_OWN_FUNCTIONS: frozenset[Any] = frozenset({functools.wraps, functools.update_wrapper})
# These make functions that remember, of this class.
WITH_MEMORY: frozenset[Any] = frozenset({functools.cache, functools.lru_cache})
REMEMBERING = type(functools.lru_cache(len))

# Of the pure classes, the ones that take objects as they are, and do not look into them.
DIRECT_CLASSES: frozenset[type] = frozenset(
    {object, super, functools.partial, operator.methodcaller}
)

# Builtin methods of these objects change nothing.
PURE_OWNERS: frozenset[type] = frozenset(
    {str, bytes, int, float, complex, bool, tuple, range, frozenset, slice, np.dtype}
    | {re.Pattern, re.Match}
    | {
        kind
        for kind in vars(np).values()
        if isinstance(kind, type) and issubclass(kind, np.generic)
    }
)
# Containers: whoever holds one that is not from outside may change it.
OWN_CONTAINERS = (list, dict, set, collections.deque)
_CONTAINER_READS = frozenset(
    (
        *("copy", "count", "index", "get", "items", "keys", "values", "fromkeys"),
        *("union", "intersection", "difference", "symmetric_difference"),
        *("isdisjoint", "issubset", "issuperset"),
    )
)
CONTAINER_WRITES = frozenset(
    name
    for kind in (*OWN_CONTAINERS, collections.OrderedDict)
    for name, method in vars(kind).items()
    if callable(method) and not name.startswith("_") and name not in _CONTAINER_READS
)

_NUMPY_WITH_EFFECTS = (
    "save savez savez_compressed savetxt loadtxt genfromtxt fromfile load fromregex put place "
    "putmask fill_diagonal put_along_axis copyto apply_along_axis apply_over_axes piecewise "
    "nditer fromiter fromfunction memmap set_printoptions printoptions seterr seterrcall "
    "setbufsize info show_config show_runtime test"
)
NUMPY_WITH_EFFECTS: frozenset[Any] = frozenset(
    getattr(np, name) for name in _NUMPY_WITH_EFFECTS.split() if hasattr(np, name)
)
_PURE_NUMPY = (
    "result_type promote_types can_cast min_scalar_type issubdtype isscalar broadcast_shapes "
    "iterable array_equal tri tril_indices triu_indices diag_indices indices bartlett blackman "
    "hamming hanning kaiser mintypecode isdtype"
)
PURE_NUMPY: frozenset[Any] = frozenset(
    getattr(np, name) for name in _PURE_NUMPY.split() if hasattr(np, name)
)

# Packages whose functions do nothing but compute what they return, see Note [Foreign calls].
_COMPUTING = ("numpy", "scipy", "math", "cmath", "statistics")
_BUT = (
    *("numpy.random", "numpy.testing", "numpy.f2py", "numpy.rec", "numpy.ma", "numpy.ctypeslib"),
    *("scipy.io", "scipy.datasets"),
)
_CHECKING = "numpy.testing"


def only_computes(f: object) -> bool:
    """Whether a function is one of these, and a public one.

    Others need not look at their arguments: of a sample they might read what is no memory of it.
    """
    name = getattr(f, "__name__", "")
    is_named = not name.startswith("_") and any(
        getattr(module, name, None) is f for module in _public(_home_of(f))
    )
    return is_named and f not in NUMPY_WITH_EFFECTS


def only_checks(f: object) -> bool:
    """Whether a function is one of NumPy's that raise an exception, or give None."""
    name = getattr(f, "__name__", "")
    return name.startswith("assert_") and getattr(sys.modules.get(_CHECKING), name, None) is f


def only_writes_arguments(f: Any) -> bool:
    """Whether a function is C code of one of these packages that is no public name: all that it
    does is what it returns, or makes of the arrays that it is given.
    """
    parts, kind = _home_of(f), type(f)
    is_c = kind is BuiltinFunctionType or kind.__module__.startswith("_cython_")
    is_found = is_c and f is getattr(sys.modules.get(".".join(parts)), f.__name__, None)
    return is_found and not only_computes(f) and f not in NUMPY_WITH_EFFECTS


def _home_of(f: object) -> list[str]:
    """The module of a function of these packages, name by name; nothing of another one."""
    return _parts(getattr(f, "__module__", None)) if callable(f) and not isinstance(f, type) else []


def _parts(module: object) -> list[str]:
    """A module of these packages, name by name; nothing of another one."""
    parts = module.split(".") if isinstance(module, str) else [""]
    computing = parts[0] in _COMPUTING and all(parts[:2] != each.split(".") for each in _BUT)
    return parts if computing else []


def _public(parts: list[str]) -> list[types.ModuleType]:
    """The modules that show what is in one: itself, if it has a public name, or the one of which it
    is a part, and its namesake in public (``numpy.strings`` for ``numpy._core.strings``).
    """
    first = itertools.takewhile(lambda x: not x.startswith("_"), parts)
    named = (x for x in parts if not x.startswith("_"))
    return [sys.modules[name] for name in {".".join(first), ".".join(named)} if name in sys.modules]


# Of these modules, those whose functions compute with the items of a list as they are: of an array
# they give numbers of NumPy's.
_OF_ITEMS = ("statistics",)


def gives_items(f: object) -> bool:
    """Whether the types of what a function gives are those of the items of a list."""
    return any(part in _OF_ITEMS for part in _home_of(f)[:1])


# Modules whose functions do nothing but compute what they return of texts.
_OF_TEXTS = ("re", "textwrap")


def computes_of_texts(f: FunctionType) -> bool:
    """Whether a function is a public one of a module that works on texts."""
    return f.__module__ in _OF_TEXTS and getattr(sys.modules[f.__module__], f.__name__, None) is f


def public_method(owner: object, f: MethodType) -> MethodType | None:
    """A public method of an object that is a public name of one of these packages; else None."""
    modules = _public(_parts(type(owner).__module__))
    named = any(x is owner for module in modules for x in vars(module).values())
    if f.__name__.startswith("_") or not named:
        return None
    return _methods.setdefault((id(owner), f.__name__), getattr(owner, f.__name__, None))


_methods: dict[tuple[int, str], Any] = {}  # one object for each, as functions are


# Attributes that lead to effects, for code whose calls cannot be seen.
IMPURE_NAMES: frozenset[str] = frozenset(
    {"random", "seterr", "seterrcall", "setbufsize", "set_printoptions", "errstate", "testing"}
    | set(_NUMPY_WITH_EFFECTS.split())
    | {"tofile", "append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault"}
)
