"""Whether a compilation means the same in another process, whatever its guards say."""

from __future__ import annotations

import dis
import os
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

from fxc.by_reference import NotStored

# The order of a set, and what hash() gives, differ from process to process, and a capture has made
# constants of them.
_SETS = {dis.opmap[name] for name in ("BUILD_SET", "SET_ADD", "SET_UPDATE") if name in dis.opmap}
_HASHES = {"set", "frozenset", "hash", "__hash__"}


def check_lasting(functions: Iterable[object], since: float) -> None:
    """Raise ``NotStored`` for functions and classes of which another process may make something
    else: one whose file has changed ``since`` then may not be what the file says.
    """
    told = [*functions]
    for file in {code.co_filename for each in told for code in codes_of(each)}:
        if _has_changed(file, since):
            raise NotStored(f"{os.path.basename(file)} has changed since this process began")
    called = [each for each in told if isinstance(each, FunctionType)]
    for code in (code for each in called for code in codes_of(each)):
        if not _HASHES.isdisjoint(code.co_names) or not _SETS.isdisjoint(code.co_code[::2]):
            raise NotStored(f"{code.co_name} has sets, or hashes")


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
