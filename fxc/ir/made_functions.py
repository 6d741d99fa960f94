"""Functions that are made of source: thousands of them may live at once, so they are small.

What such a function mentions that others do not are the defaults of its last parameters. So all
that have one text share one code, and one dict of global variables.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

_NONE: dict[str, Any] = {}
_SHARED = 256  # texts whose code is kept, in case that there are more functions of it


def code_of(source: str, filename: str, constants: Iterable[str] = ()) -> CodeType:
    """The code of the one function that a source defines, with parameters for these constants
    behind its own.

    >>> code_of("def twice(x): return 2 * x", "<example>").co_name
    'twice'
    """
    return _code_of(source, filename, tuple(constants))


@lru_cache(_SHARED)
def _code_of(source: str, filename: str, constants: tuple[str, ...]) -> CodeType:
    if constants:
        head, end, body = source.partition("):")
        between = "" if head.endswith("(") else ", "
        source = f"{head}{between}{', '.join(constants)}{end}{body}"
    whole = compile(source, filename, "exec")
    (found,) = (each for each in whole.co_consts if isinstance(each, CodeType))
    return found


def function_of(
    code: CodeType, constants: Mapping[str, Any], names: dict[str, Any] = _NONE
) -> FunctionType:
    """The function with the code that ``code_of`` has given, for values of its constants. What else
    it mentions are ``names``.

    >>> code = code_of("def f(x): return x + a + b", "<example>", ["a"])
    >>> function_of(code, {"a": 3}, {"b": 4})(1)
    8
    """
    names.setdefault("__builtins__", builtins)  # code of C that is called may import something
    taken = code.co_varnames[: code.co_argcount]
    defaults = tuple(constants[name] for name in taken if name in constants)
    return FunctionType(code, names, code.co_name, defaults)


def constants_of(function: Callable[..., Any], names: Iterable[str]) -> dict[str, Any]:
    """Those of these names that ``function_of`` was given."""
    assert isinstance(function, FunctionType)
    code, defaults = function.__code__, function.__defaults__ or ()
    taken = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    known = dict(zip(taken, defaults, strict=True))
    return {name: known[name] for name in names if name in known}


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code object and all those in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def names_in(code: CodeType) -> set[str]:
    """The names that code mentions, and the code within it."""
    return {name for each in codes_in(code) for name in each.co_names}


def code_as_written(code: CodeType) -> CodeType:
    """The code itself, or that of which it is a copy which first asks for a faster way: one of its
    constants says so then, by ``__fxc_asked__``.
    """
    for each in code.co_consts:
        asked = getattr(type(each), "__fxc_asked__", None)
        if asked is not None:
            own: CodeType = asked(each)
            return own
    return code
