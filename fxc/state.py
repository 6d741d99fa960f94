"""How a function is compiled, and what is known of it so far."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from fxc.ir.errors import OverlapError
from fxc.ir.records import frozen, mutable

from .decisions import Captures, Refused
from .leaves import Leaves
from .variants import Variant

if TYPE_CHECKING:
    from fxc.capture.guards import GuardProgram

    from .splits import Split
    from .stages import Backend

_BACKENDS = ("llvm", "numpy")


@frozen
class Options:
    """How a function is compiled; see ``fxc.compile``."""

    fullgraph: bool = False
    backend: str | Backend = "llvm"
    dynamic: bool | None = None

    def __post_init__(self) -> None:
        if not callable(self.backend) and self.backend not in _BACKENDS:
            raise ValueError(
                f"backend must be a callable or one of {_BACKENDS}, not {self.backend!r}"
            )


@mutable
class State:
    """What all bindings of one compiled function share."""

    variants: list[Variant] = field(default_factory=list)
    refused: dict[object, Refused] = field(default_factory=dict)
    # What to call instead, by the types of arguments, where nothing else decides about it.
    instead: dict[object, Callable[..., Any]] = field(default_factory=dict)
    split: Split | None = None
    overlaps: list[OverlapError] = field(default_factory=list)
    raised: list[GuardProgram] = field(default_factory=list)  # of calls that raised in capture
    captures: dict[object, Captures] = field(default_factory=dict)  # like ``refused``
    warned: set[str] = field(default_factory=set)
    leaves: Leaves = field(default_factory=Leaves)
    varying: set[str] = field(default_factory=set)  # see Note [Numbers from outside]
    eager_calls: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    process: int = field(default_factory=os.getpid)

    def guard(self) -> threading.RLock:
        """The lock for compiling; in a forked process a new one, for the old one may be held by a
        thread that is not there.
        """
        if self.process != os.getpid():
            self.lock, self.process = threading.RLock(), os.getpid()
        return self.lock
