"""What earlier runs of a script know of its functions, and how long it takes.

See Note [Unchanged scripts].
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Sequence
from types import CodeType
from typing import Protocol

from ..cache import folder
from ..ir.digesting import digest
from ..ir.version import __version__

_ON_DISK = "it is on disk"
NOT_AGAIN = "it was called once"
_TOO_LONG = "compiling takes"  # about so many seconds, for which there was no time
_LASTS = 86400.0  # seconds: it may have been a busy machine, or other data
_NEAR = 0.1  # of the seconds of a script: so much is no news


class TakenUp(Protocol):
    """What a run knows of a function."""

    since: float

    @property
    def is_called_once(self) -> bool:
        """As far as is known."""

    @property
    def verdict(self) -> str | None:
        """Why it has gained nothing; '' if it has, or may; None if that is not known."""

    @property
    def is_on_disk(self) -> bool:
        """Whether later runs find what was compiled for it."""


def verdict(code: CodeType) -> str | None:
    """Why a function was put back of late; '' if there is compiled code for it, None if nothing is
    known.
    """
    found = _read(_key_of(code))
    return "" if found == _ON_DISK else found or None


def verdict_now(
    code: CodeType, before: str | None, found: Sequence[TakenUp], elapsed: float
) -> None:
    """Keep what is known of the functions of a code when a script ends, after so many seconds, if
    it is not what was known before. What is called more than once may not have been called again
    where there was little time for it.
    """
    is_open = any(each.is_called_once and elapsed < 2 * each.since for each in found)
    reasons = [each.verdict for each in found]
    if not found or is_open or None in reasons:
        return
    now = None if "" in reasons else reasons[0]
    if any(each.is_on_disk for each in found):
        now = ""
    if now != before:
        _write(_key_of(code), {None: "", "": _ON_DISK}.get(now, str(now)))


def too_long(seconds: float) -> str:
    """The verdict on what takes about so many seconds to compile, for which there was no time."""
    return f"{_TOO_LONG} {seconds:.2f} s"


def seconds_to_compile(verdict: str) -> float:
    """Of such a verdict; infinity for another."""
    return float(verdict.split()[-2]) if verdict.startswith(_TOO_LONG) else math.inf


def is_in_vain(verdict: str | None) -> bool:
    """Whether it says that a function was compiled, or tried to be, and has gained nothing."""
    return bool(verdict) and verdict != NOT_AGAIN and seconds_to_compile(str(verdict)) == math.inf


def seconds_before() -> float:
    """How many seconds this script took of late with these arguments; 0 if that is not known."""
    return float(_read(_key_of_script()) or 0)


def keep_seconds(seconds: float, before: float) -> None:
    """Keep how long the script took, unless it is about what was known before."""
    if abs(seconds - before) > _NEAR * seconds:
        _write(_key_of_script(), f"{seconds:.3f}")


def _read(key: bytes) -> str | None:
    found = folder.read(key) if folder.is_on() else None
    if found is None:
        return None
    seconds, _, said = found.decode().partition(" ")
    return said if 0 <= time.time() - float(seconds) < _LASTS else None


def _write(key: bytes, said: str) -> None:
    if folder.is_on():
        folder.write(key, f"{time.time()} {said}".encode(errors="replace"))


def _key_of(code: CodeType) -> bytes:
    """Of a function as it is written now."""
    place = os.path.abspath(code.co_filename), code.co_firstlineno, code.co_qualname
    return _key("verdict", place, code.co_code, code.co_names)


def _key_of_script() -> bytes:
    return _key("seconds", os.getcwd(), sys.orig_argv[1:])


def _key(*parts: object) -> bytes:
    return digest(repr((__version__, *parts)).encode(errors="replace"))
