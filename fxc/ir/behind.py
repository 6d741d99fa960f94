"""What runs in Python behind guards that are native code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .records import frozen


@frozen
class Listening:
    """What hears NumPy: ``variable`` of the context is ``hears`` as long as it is called. What it
    says is in ``heard``; then ``told`` is asked whether the call is to be replayed.
    """

    variable: Any
    hears: object
    heard: dict[Any, int]
    told: Callable[[], bool]


@frozen
class Behind:
    """``run`` gives a list of the leaves of the result for the inputs. ``failed`` takes what it
    raises, and raises that, or gives ``MISSED``.
    """

    run: Callable[..., Any]
    failed: Callable[[BaseException], Any]
    listening: Listening | None = None

    @property
    def names(self) -> dict[str, Any]:
        """All that native code mentions of it."""
        listening = self.listening
        if listening is None:
            return {"run": self.run, "failed": self.failed}
        return {
            "listening run": self.run,
            "listening failed": self.failed,
            "variable": listening.variable,
            "hears": listening.hears,
            "heard": listening.heard,
            "told": listening.told,
        }
