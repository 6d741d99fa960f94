"""Functions of which earlier runs of a script know that compiling them gains nothing, and why.

See Note [Unchanged scripts].
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING

from ..cache import folder
from ..ir.digesting import digest
from ..ir.version import __version__

if TYPE_CHECKING:
    from .hot import HotFunction

_LASTS = 86400.0  # seconds: it may have been a busy machine, or other data


def verdict(code: CodeType) -> str:
    """Why a function was put back of late, or ''."""
    found = folder.read(_key(code)) if folder.is_on() else None
    if found is None:
        return ""
    seconds, _, reason = found.decode().partition(" ")
    return reason if 0 <= time.time() - float(seconds) < _LASTS else ""


def verdict_now(code: CodeType, before: str, found: Sequence[HotFunction], elapsed: float) -> None:
    """Keep what is known of the functions of a code when a script ends, after so many seconds, if
    it is not what was known before. What is called more than once may not have been called again
    where there was little time for it.
    """
    is_open = any(each.is_called_once and elapsed < 2 * each.since for each in found)
    reasons = [each.verdict for each in found]
    if not found or is_open or None in reasons:
        return
    now = "" if "" in reasons else str(reasons[0])
    if now != before:
        keep_verdict(code, now)


def keep_verdict(code: CodeType, reason: str) -> None:
    """Keep why a function was put back; '' forgets that it was."""
    if not folder.is_on():
        return
    if reason:
        folder.write(_key(code), f"{time.time()} {reason}".encode(errors="replace"))
    else:
        folder.remove(_key(code))


def _key(code: CodeType) -> bytes:
    """Of a function as it is written now."""
    place = os.path.abspath(code.co_filename), code.co_firstlineno, code.co_qualname
    return digest(repr(("verdict", __version__, place, code.co_code, code.co_names)).encode())
