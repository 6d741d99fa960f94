"""Functions that are made of source: thousands of them may live at once, so they are small."""

from __future__ import annotations

from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import Any


def code_of(source: str, filename: str) -> CodeType:
    """The code of the one function that a source defines.

    >>> code_of("def twice(x): return 2 * x", "<example>").co_name
    'twice'
    """
    whole = compile(source, filename, "exec")
    (found,) = (each for each in whole.co_consts if isinstance(each, CodeType))
    return found


def function_of(code: CodeType, names: Mapping[str, Any]) -> FunctionType:
    """The function with this code; of ``names`` it has those that it mentions.

    >>> function_of(code_of("def f(): return a", "<example>"), {"a": 3, "b": 4})()
    3
    """
    mentioned = names_in(code)
    return FunctionType(code, {name: names[name] for name in names.keys() & mentioned})


def names_in(code: CodeType) -> set[str]:
    """The names that code mentions, and the code within it."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(names_in, inner))
