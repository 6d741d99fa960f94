"""What this Python, or this NumPy, warns of whatever the operands: found by doing it once."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from .session import current


def warning_of(doing: Callable[[], object]) -> Warning | None:
    """The first warning of what is done here; None if there is none."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        doing()
    found = warned[0].message if warned else None
    assert not isinstance(found, str)
    return found


def warn_again(warning: Warning | None) -> None:
    """Record a warning at the program's line, but in a graph without effects."""
    session = current()
    if warning is not None and session.door.outside.derives:
        session.door.warn(str(warning), type(warning))
