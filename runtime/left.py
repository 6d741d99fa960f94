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

    __slots__ = ("_number", "sites")

    def __init__(self, sites: Sequence[Site]) -> None:
        self.sites = tuple(sites)
        self._number = b""  # until somebody may write it

    @property
    def address(self) -> int:
        """Where the number is written."""
        self._number = self._number or bytes(8)  # a ctypes.c_int64 is three times as large
        return id(self._number) + bytes.__basicsize__ - 1

    def site(self) -> Site | None:
        """The operator of the last call that was left, if it is known; it is forgotten."""
        if not self._number:
            return None
        place = ctypes.c_int64.from_address(self.address)
        number, place.value = place.value, 0
        return self.sites[number - 1] if number else None
