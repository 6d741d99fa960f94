"""Whether calls handle objects of Python's alone. See Note [Captures that pay]."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType, ModuleType

from .decisions import is_numpys


def are_of_objects(kinds: object, function: object, given: object = ()) -> bool:
    """Whether calls of these kinds, which are not of NumPy's, have nothing of its, as far as the
    modules of their classes and of the function say; or else whether what is ``given`` and what the
    function names, and all that they hold, are objects of Python's.
    """
    modules = {getattr(function, "__module__", None), *_modules_of(kinds)}
    return not any(map(_knows_numpy, modules)) or _are_objects([function, given])


def _modules_of(kinds: object) -> Iterator[object]:
    if isinstance(kinds, tuple | frozenset):
        for each in kinds:
            yield from _modules_of(each)
    elif isinstance(kinds, type):
        yield vars(kinds).get("__module__")


def _are_objects(todo: list[object]) -> bool:
    """Whether a class of Python's is among these things, or in what they hold or name, and nothing
    of NumPy's, as far as a look at some of it says.
    """
    seen, found = set[int](), False
    while todo:
        value = todo.pop()
        if type(value) in _PLAIN or id(value) in seen:
            continue
        seen.add(id(value))
        of_numpy = type(value) is ModuleType and _knows_numpy(value.__name__)
        if of_numpy or is_numpys(value) or len(seen) == _MOST_SEEN:
            return False
        is_class = issubclass(type(value), type)
        found |= is_class and bool(_flags_of_class(value) & _MADE_AT_RUN_TIME)
        todo += _held_by(value)
    return found


def _held_by(value: object) -> Sequence[object]:
    """What a thing holds; of functions, what their code names. No code of the program's runs."""
    if hasattr(type(value), "__fxc_original__"):
        return [value.__fxc_original__]  # type: ignore[attr-defined]
    if type(value) is FunctionType:
        names = {name for code in _codes_in(value.__code__) for name in code.co_names}
        named = [value.__globals__[name] for name in names & value.__globals__.keys()]
        return [*named, *(value.__closure__ or ()), *(value.__defaults__ or ())]
    if issubclass(type(value), type) and isinstance(value, type):
        return [held for each in value.__mro__[:-1] for held in list(vars(each).values())]
    if type(value) is list or type(value) is tuple:  # which may be long
        return value[:_MOST_HELD]
    return [] if type(value) is ModuleType else gc.get_referents(value)[:_MOST_HELD]


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if type(each) is CodeType:
            yield from _codes_in(each)


def _knows_numpy(name: object) -> bool:
    """Whether a module holds NumPy, something of NumPy's, or a module that does so."""
    module = sys.modules.get(name) if isinstance(name, str) and name != "builtins" else None
    if module is None:
        return False
    key = str(name), len(vars(module))
    if key not in _known:
        held = list(vars(module).values())
        _known[key] = any(map(is_numpys, held)) or any(map(_holds_numpy, held))
    return _known[key]


def _holds_numpy(value: object) -> bool:
    if type(value) is not ModuleType or value.__name__.partition(".")[0] == "fxc":
        return False
    return any(map(is_numpys, list(vars(value).values())))


_flags_of_class = vars(type)["__flags__"].__get__
_known: dict[tuple[str, int], bool] = {}  # by a module's name and how many names it has
_MOST_SEEN, _MOST_HELD = 1000, 50  # things that are looked at, and of what one holds
_MADE_AT_RUN_TIME = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_PLAIN = {int, float, complex, bool, str, bytes, type(None), CodeType}
