"""When a ``CaptureWarning`` is given, and at which line.

The program may catch warnings, and look at what it has caught: ours are not for it. So what there
is to say while Python runs a function is kept until the function has ended.
"""

from __future__ import annotations

import sys
import warnings
from _thread import _local
from typing import Any

from .errors import CaptureWarning
from .records import frozen
from .tracebacks import is_of_fxc


@frozen
class _Kept:
    text: str
    file: str
    line: int
    names: dict[str, Any]  # the global ones of the program


class _Thread(_local):
    kept: list[_Kept] | None = None


_thread = _Thread()


def warn(text: str) -> None:
    """Warn at the line of the user's program that called into fxc: now, or when that has ended."""
    frame = sys._getframe()
    while frame.f_back is not None and is_of_fxc(frame.f_code):
        frame = frame.f_back
    kept = _Kept(text, frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    if _thread.kept is None:
        _give(kept)
    else:
        _thread.kept.append(kept)


def keep() -> bool:
    """Keep warnings from now on; False if that is so already. Else ``give`` has to follow."""
    if _thread.kept is not None:
        return False
    _thread.kept = []
    return True


def give() -> None:
    """Give what has been kept."""
    kept, _thread.kept = _thread.kept or (), None
    for each in kept:
        _give(each)


def _give(kept: _Kept) -> None:
    registry = kept.names.setdefault("__warningregistry__", {})
    module = kept.names.get("__name__") or "<unknown>"
    warning = CaptureWarning(kept.text)
    warnings.warn_explicit(warning, None, kept.file, kept.line, module, registry)
