"""Where in fxc an error comes from: lines of fxc alone, without values."""

from __future__ import annotations

import os
import traceback

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MOST = 40  # frames, the last ones


def own_frames(error: BaseException) -> list[str]:
    """The frames of fxc that an error, and what has caused it, came through; the last is the
    innermost.
    """
    found: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(found) <= _MOST:
        for frame, line in traceback.walk_tb(cause.__traceback__):
            name = os.path.abspath(frame.f_code.co_filename)
            if name.startswith(_ROOT):
                file = str(frame.f_globals.get("__file__"))  # code that is hidden has another name
                name = file if file.startswith(_ROOT) else name
                found.append(f"{name[len(_ROOT) :]}:{line} in {frame.f_code.co_name}")
        cause = cause.__cause__
        if cause is not None:
            found.append(f"by {type(cause).__name__}:")
    return found[-_MOST:]
