"""What the program raises and handles, its context managers, and what it imports."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import EXCEPTION, STATEMENT
from fxc.ir.errors import FxcError
from fxc.ir.later import import_later
from fxc.ops.operators import COMPUTING
from fxc.ops.table import TABLE

from ..numbers import traced_int
from ..outside.outside import Outside
from ..session.exceptions import CHANGES, check_no_bug, noted
from ..session.locations import OURS, Filtering, Ignoring
from ..session.refusing import hand_on, refuse
from ..session.session import Session
from ..values import objects
from ..values.operands import Traced, TracedValue
from ..values.shadows import class_of
from .attributes import Attributes
from .reads import name_of

# See Note [Rooms with one door].
is_confirmed = import_later("fxc.capture.door.failures", "is_confirmed")
forget = import_later("fxc.capture.statements.raised", "forget")
raises_if = import_later("fxc.capture.statements.raised", "raises_if")
rely_on_text = import_later("fxc.capture.door.failures", "rely_on_text")

_NUMPYS = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
# In these, the program's own Python operations are carried out as they are.
_AS_THEY_ARE = (
    *(os.path.join(OURS, "capture", folder, "") for folder in ("door", "outside")),
    *(str(module.__file__) for module in (objects, traced_int)),
    os.path.join(OURS, "capture", "dicts", "tables.py"),
)
_PLAIN_ERRORS = (
    *(KeyError, IndexError, StopIteration, ZeroDivisionError, OverflowError, AssertionError),
    *(AttributeError, ValueError, UnboundLocalError),
)


class Unsure:
    """What may have been raised, and who waits for it. See Note [Handled in the graph]."""

    def __init__(self) -> None:
        self.tries: list[Any] = []  # frames, depths, ends of bodies, names of what is handled
        self.checks: list[tuple[FrameType | None, int]] = []  # frames and depths
        self.pending: list[tuple[type, Any]] = []  # classes, and flags of the graph
        self.leaving: list[type] = []  # those of the last test
        self.kinds: dict[tuple[FrameType, int], type] = {}  # by the lines that raise


class Catching(Attributes):
    """Exceptions, context managers and imports of one capture."""

    def __init__(self, session: Session, outside: Outside) -> None:
        super().__init__(session, outside)
        self.raised: list[Any] = []  # what the program has raised itself
        self.unsure = Unsure()

    def context(self, manager: object) -> object:
        """``manager`` in ``with manager:``."""
        if isinstance(manager, Ignoring | Filtering):
            return manager
        if objects.has_python_method(class_of(manager), "__enter__"):
            self.session.handles = True
            return Manager(self, manager, self.depth())
        raise refuse(STATEMENT, f"a with statement over a {name_of(manager)}")

    def trying(self, about: tuple[Any, ...]) -> int:
        """Before a try statement: how many branches and loops around it are being captured. It is
        told the last line of the body, and what the handlers are for.
        """
        self.session.handles = True
        if about[0]:
            self.unsure.tries.append((sys._getframe(1), self.depth(), *about))
        return self.depth()

    def raises_if(self, kind: type[Exception], flag: Callable[[], Any]) -> Any:
        """What ``flag`` gives, if what it tells that an operation raises is tested next."""
        return raises_if(self, kind, flag)

    def depth(self) -> int:
        """How many branches and loops around are being captured."""
        return len(self.session.regions) + len(self.session.statements)

    def caught(self, around: int, named: bool = False) -> None:
        """At the start of a handler; the text of a ``named`` exception may be looked at."""
        error = sys.exception()
        if error is not None:
            self.check_caught(error, around)
            if named:
                self.show_error(error)

    def show_error(self, error: Any) -> None:
        """Have an exception that the program may look at, and those before it, tell the truth."""
        while error is not None:
            if not self._is_programs(error) and is_confirmed(error):
                rely_on_text(error)
            error = error.__context__

    def discarded(self, value: object) -> None:
        """``value`` as a statement: NumPy may warn of how it was computed, or raise."""
        if isinstance(value, TracedValue) and not self.session.region:
            made = self.session.made.get(value._value)
            if made is not None and TABLE[made.name].tag in COMPUTING:
                self.session.discarded.append(value)

    def raising(self, error: object) -> Any:
        """``error`` in ``raise error``."""
        if isinstance(error, type) and issubclass(error, BaseException):
            error = self.call(error)
        if isinstance(error, BaseException) and not isinstance(error, Exception):
            # Nobody knows yet that the statement is come to: checks before it may be deferred.
            raise refuse(STATEMENT, f"a raise of {type(error).__name__}")
        self.raised.append(error)
        return error

    def check_caught(self, error: BaseException | None, around: int) -> None:
        """Refuse to handle what NumPy might not have raised, or not in this way."""
        if error is not None:
            check_no_bug(error, self.raised)
            hand_on(error)
        if self.unsure.checks:
            forget(self)
        if self.session.error is not None:
            raise self.session.error
        if not isinstance(error, Exception) or isinstance(error, FxcError):
            raise error or AssertionError("no exception is being handled")
        if self.depth() != around:
            raise refuse(
                EXCEPTION,
                f"a handler for a {type(error).__name__} around a branch or loop that is captured "
                "as a whole, and in which it is raised,",
                "handle it inside",
            )
        if self._is_programs(error) or is_confirmed(error):
            return
        raise refuse(
            EXCEPTION,
            f"a handler for a {type(error).__name__} of an operation that is being captured",
            "check before the operation",
        )

    def _is_programs(self, error: BaseException) -> bool:
        """Whether the program has raised it, or an operation on plain values."""
        return any(error is each for each in self.raised) or is_from_program(error)

    def importing(self, module: str) -> None:
        """``import module``: it must have been imported before."""
        if module not in sys.modules:
            error = refuse(STATEMENT, f"an import of {module}", "import it outside")
            error.may_pass = True
            raise error

    def imported(self, module: str, package: str, name: str) -> object:
        module = importlib.util.resolve_name(module, package)
        self.importing(module)
        try:
            return self.attr(sys.modules[module], name)
        except AttributeError:
            raise refuse(STATEMENT, f"an import of {module}.{name}") from None


class Manager:
    """A context manager whose methods are Python functions, called through the door."""

    def __init__(self, door: Catching, manager: object, around: int) -> None:
        self._door = door
        self._manager = manager
        self._around = around

    def __enter__(self) -> Any:
        return self._door.call(self._door.attr(self._manager, "__enter__"))

    def __exit__(self, kind: object, error: object, traceback: object) -> bool:
        if error is not None and (self._door.session.error or not isinstance(error, Exception)):
            return False
        if error is not None:
            self._door.show_error(error)
        leave = self._door.attr(self._manager, "__exit__")
        handled = self._door.call(leave, kind, error, traceback)
        if error is None or not handled:
            return False
        self._door.check_caught(error, self._around)
        return True


def is_from_program(error: BaseException) -> bool:
    """Whether Python raised it for an operation on plain values, and will raise it again."""
    if type(error) not in _PLAIN_ERRORS:
        return False
    if isinstance(error, AttributeError) and (
        isinstance(error.obj, Traced) or noted(error)[0] in CHANGES
    ):
        return False
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return False
    file = traceback.tb_frame.f_code.co_filename
    return file.startswith(_AS_THEY_ARE) or not file.startswith((OURS, _NUMPYS, "<"))
