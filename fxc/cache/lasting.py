"""Whether a compilation means the same in another process, whatever its guards say."""

from __future__ import annotations

import dis
import os
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

from .by_reference import NotStored

# The order of a set, and what hash() gives, differ from process to process, and a capture has made
# constants of them.
_SETS = {"BUILD_SET", "SET_ADD", "SET_UPDATE"}
_HASHES = {"set", "frozenset", "hash", "__hash__"}
_MAKING = (set, frozenset, hash)  # by whatever name
_VIEWS = ("keys", "items")  # with which ``-`` and others make sets,
_METHODS = ("LOAD_METHOD", "LOAD_ATTR")
_HARMLESS = ("GET_ITER", "CALL", "LIST_EXTEND")  # but not where these follow at once


def check_lasting(functions: Iterable[object], since: float) -> None:
    """Raise ``NotStored`` for functions and classes of which another process may make something
    else: one whose file has changed ``since`` then may not be what the file says.
    """
    told = [*functions]
    for file in {code.co_filename for each in told for code in codes_of(each)}:
        if _has_changed(file, since):
            raise NotStored(f"{os.path.basename(file)} has changed since this process began")
    for each in told:
        if isinstance(each, FunctionType):
            for code in codes_of(each):
                if _has_hashes(code, each) or _has_sets(code):
                    raise NotStored(f"{code.co_name} has sets, or hashes")


def _has_hashes(code: CodeType, function: FunctionType) -> bool:
    """Whether a code names what makes sets or hashes."""
    values = (function.__globals__.get(name) for name in code.co_names)
    return not _HASHES.isdisjoint(code.co_names) or any(x is y for x in values for y in _MAKING)


def _has_sets(code: CodeType) -> bool:
    """Whether a code makes sets, or has one of which it does more than look for something."""
    steps = [each for each in dis.get_instructions(code) if each.opname != "CACHE"]
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        follows = "" if after is None else after.opname
        if step.opname in _SETS:
            return True
        if type(step.argval) is frozenset and follows != "CONTAINS_OP":
            return True
    return any(_makes_set(steps[place : place + 5]) for place in range(len(steps)))


def _makes_set(steps: Sequence[dis.Instruction]) -> bool:
    """Whether a view of a dict is made here that may become a set."""
    if steps[0].opname not in _METHODS or steps[0].argval not in _VIEWS:
        return False
    names = [each.opname for each in steps[1:] if each.opname != "PRECALL"]
    return names[0] != "CALL" or names[1] not in _HARMLESS


def _has_changed(file: str, since: float) -> bool:
    try:
        return os.stat(file).st_mtime > since
    except OSError:  # a notebook's, say
        return False


def codes_of(told: object) -> Iterator[CodeType]:
    """The code of a function, or of the methods of a class, and what is inside."""
    codes: list[Any] = []
    if isinstance(told, FunctionType):
        codes = [told.__code__]
    elif isinstance(told, type):
        codes = [each.__code__ for each in vars(told).values() if isinstance(each, FunctionType)]
    while codes:
        code = codes.pop()
        yield code
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
