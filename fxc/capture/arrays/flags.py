"""``x.flags`` of a traced array."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fxc.ir.error_kinds import ARRAY_MEMORY, TEXT
from fxc.ir.types import ArrayType
from fxc.ops.metas.layout import is_c_ordered, is_f_ordered

from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import TracedValue, kind_of
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
}


def _is_fortran_alone(kind: ArrayType) -> bool:
    return is_f_ordered(kind) and not is_c_ordered(kind)


# What a flag says of an array of a type; ``owndata`` is no matter of the type.
_BY_TYPE: Mapping[str, Callable[[ArrayType], bool]] = {
    "writeable": lambda kind: kind.writeable,
    "behaved": lambda kind: kind.writeable,
    "aligned": lambda kind: True,
    "writebackifcopy": lambda kind: False,
    "c_contiguous": is_c_ordered,
    "contiguous": is_c_ordered,
    "f_contiguous": is_f_ordered,
    "fortran": is_f_ordered,
    "forc": lambda kind: is_f_ordered(kind) or is_c_ordered(kind),
    "fnc": _is_fortran_alone,
    "carray": lambda kind: kind.writeable and is_c_ordered(kind),
    "farray": lambda kind: kind.writeable and _is_fortran_alone(kind),
}

_OF_PLACES = frozenset({"aligned", "behaved", "carray", "farray"})


class Flags:
    """What ``x.flags`` tells of a traced array."""

    _array: TracedValue

    def __init__(self, array: TracedValue) -> None:
        object.__setattr__(self, "_array", array)

    def __setattr__(self, name: str, value: object) -> None:
        if name != "writeable":
            raise refuse(ARRAY_MEMORY, f"an assignment to x.flags.{name} cannot be captured")
        sharing.set_writeable(self._array, value)

    def __setitem__(self, name: str, value: object) -> None:
        setattr(self, _SHORT.get(name, name.lower()), value)

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, _SHORT.get(name, name.lower())))

    def __repr__(self) -> str:
        raise refuse(TEXT, "the text of x.flags cannot be captured")

    def __getattr__(self, name: str) -> Any:
        if name == "owndata":
            return sharing.base_of(self._array) is None
        found = _BY_TYPE.get(name)
        if found is not None:
            kind = kind_of(self._array._value)
            root = kind_of(current().aliases.root(self._array._object))
            if name in _OF_PLACES and root.dtype.alignment < kind.dtype.alignment:
                raise refuse(
                    ARRAY_MEMORY,
                    f"x.flags.{name} of a view with larger elements cannot be captured",
                )
            return found(kind)
        if name.startswith("__"):  # Python asks of any object what it may have
            raise AttributeError(name)
        raise refuse(ARRAY_MEMORY, f"x.flags.{name} cannot be captured")
