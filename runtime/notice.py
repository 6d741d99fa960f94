"""What compiled code asks when it has set floating-point flags. See Note [Floating-point flags]."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

from numpy._core import umath

# Where NumPy keeps what ``np.errstate`` says, and what says that it is as NumPy has it at first.
ERRSTATE: contextvars.ContextVar[Any] = umath._extobj_contextvar
DEFAULT: object = contextvars.Context().run(ERRSTATE.get)


class Notice:
    """Called with the bits of the flags; whether the call is to be replayed as plain NumPy.

    Nobody is told if nobody has said who ``decides``.
    """

    __slots__ = ("decides",)

    def __init__(self) -> None:
        self.decides: Callable[[int], bool] | None = None

    def __call__(self, flags: int) -> bool:
        return self.decides is not None and self.decides(flags)
