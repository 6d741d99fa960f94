"""For which operator native code has left a call to NumPy. See Note [Leaves]."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from fxc.ir.location import Site


class Left:
    """Memory where native code writes down the number of a site, from 1 on.

    Another thread that runs the same code may overwrite it before it is read: who reads it must
    not rely on it for what is right.
    """

    def __init__(self, sites: Sequence[Site]) -> None:
        self._sites = tuple(sites)
        self._number = ctypes.c_int64(0)

    @property
    def address(self) -> int:
        """Where the number is written."""
        return ctypes.addressof(self._number)

    def site(self) -> Site | None:
        """The operator of the last call that was left, if it is known; it is forgotten."""
        number, self._number.value = self._number.value, 0
        return self._sites[number - 1] if number else None
