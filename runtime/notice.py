"""What compiled code asks when it has set floating-point flags. See Note [Floating-point flags]."""

from __future__ import annotations

import contextvars
from typing import Any, Protocol

from numpy._core import umath

# Where NumPy keeps what ``np.errstate`` says, and what says that it is as NumPy has it at first.
ERRSTATE: contextvars.ContextVar[Any] = umath._extobj_contextvar
DEFAULT: object = contextvars.Context().run(ERRSTATE.get)


class Deciding(Protocol):
    """Who says what becomes of a call."""

    def decides(self, flags: int) -> bool:
        """Whether a call that has set these flags is to be replayed."""


class Notice:
    """Called with the bits of the flags; whether the call is to be replayed as plain NumPy.

    Nobody is told if there is no ``watch``.
    """

    __slots__ = ("watch",)

    def __init__(self) -> None:
        self.watch: Deciding | None = None

    def __call__(self, flags: int) -> bool:
        return self.watch is not None and self.watch.decides(flags)
