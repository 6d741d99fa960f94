"""``x.flags`` of a traced array."""

from __future__ import annotations

from typing import Any

from fxc.ir.types import ArrayType
from fxc.ops.metas.layout import is_c_ordered, is_f_ordered

from ..refusing import refuse
from . import sharing

_SHORT = {
    "C": "c_contiguous",
    "F": "f_contiguous",
    "A": "aligned",
    "W": "writeable",
    "X": "writebackifcopy",
    "O": "owndata",
    "CA": "carray",
    "FA": "farray",
    "CONTIGUOUS": "contiguous",
}


class Flags:
    """What ``x.flags`` tells of a traced array."""

    _array: Any

    def __init__(self, array: Any) -> None:
        object.__setattr__(self, "_array", array)

    def __setattr__(self, name: str, value: object) -> None:
        if name != "writeable":
            raise refuse(f"an assignment to x.flags.{name} cannot be captured")
        sharing.set_writeable(self._array, value)

    def __setitem__(self, name: str, value: object) -> None:
        setattr(self, _SHORT.get(name, name.lower()), value)

    @property
    def _kind(self) -> ArrayType:
        kind: ArrayType = self._array._type
        return kind

    @property
    def owndata(self) -> bool:
        return sharing.base_of(self._array) is None

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, _SHORT.get(name, name.lower())))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python asks of any object what it may have
            raise AttributeError(name)
        raise refuse(f"x.flags.{name} cannot be captured")

    @property
    def writeable(self) -> bool:
        return self._kind.writeable

    @property
    def c_contiguous(self) -> bool:
        return is_c_ordered(self._kind)

    @property
    def f_contiguous(self) -> bool:
        return is_f_ordered(self._kind)

    contiguous, fortran = c_contiguous, f_contiguous

    @property
    def fnc(self) -> bool:
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        return self.f_contiguous or self.c_contiguous

    @property
    def aligned(self) -> bool:
        return True

    @property
    def writebackifcopy(self) -> bool:
        return False

    @property
    def behaved(self) -> bool:
        return self.writeable

    @property
    def carray(self) -> bool:
        return self.writeable and self.c_contiguous

    @property
    def farray(self) -> bool:
        return self.writeable and self.fnc
