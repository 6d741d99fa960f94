"""Byte arrays that the program makes: see Note [Bytes of the graph]."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, SupportsIndex

import numpy as np

from ..forms.truths import demand
from ..numbers.python_numbers import to_int
from ..session.session import current
from ..values.limited import refuse_methods
from ..values.operands import taken_for
from .byte_strings import Bytes, array_of, codes_of_ints
from .in_lists import InList, joined
from .texts import refused

_AS_BYTES = frozenset({"find", "index", "count", "startswith", "endswith", "hex", "decode"})


class ByteArray(InList):
    """A ``bytearray``: its bytes are a list of ints, of which is checked that they are bytes."""

    __slots__ = ()
    _written_by = "_byte_array"
    __class__ = taken_for(bytearray)
    refused = staticmethod(refused)

    def as_bytes(self) -> Bytes:
        """What is in it now."""
        codes: Any = current().door.call(np.array, self.held, np.int64)
        return Bytes(codes.astype(np.uint8))

    def __setitem__(self, key: object, x: object) -> None:
        if isinstance(key, slice):
            self._staged(_store, key, _ints(x))
            return
        self._at(_store, key, _byte(x))

    def append(self, x: object) -> None:
        self._staged(_append, _byte(x))

    def extend(self, more: object) -> None:
        self._staged(_extend, _ints(more))

    def __iadd__(self, more: object) -> Self:
        if array_of(more) is None and type(more) is not ByteArray:
            raise refused("+=")
        self.extend(more)
        return self

    def __add__(self, other: object) -> ByteArray:
        if array_of(other) is None and type(other) is not ByteArray:
            raise refused("+")
        return ByteArray(self._staged(joined, _ints(other)))

    def __eq__(self, other: object) -> bool:
        other = other.as_bytes() if isinstance(other, ByteArray) else other
        return self.as_bytes() == other

    def __ne__(self, other: object) -> Any:
        other = other.as_bytes() if isinstance(other, ByteArray) else other
        return self.as_bytes() != other

    def __getattr__(self, name: str) -> object:
        if name in _AS_BYTES:
            return getattr(self.as_bytes(), name)
        if name.startswith("_") or not hasattr(bytearray, name):
            raise AttributeError(f"'bytearray' object has no attribute {name!r}")
        raise refused(f"{name}() of a bytearray")


_REFUSED = {
    "_operand": "an array",
    **dict.fromkeys(("__repr__", "__str__", "__format__"), "the text"),
    **dict.fromkeys(("__mul__", "__rmul__", "__imul__", "__radd__", "__mod__"), "an operator"),
    **dict.fromkeys(("__lt__", "__le__", "__gt__", "__ge__", "__delitem__"), "an operator"),
}
refuse_methods(ByteArray, _REFUSED)


def _byte(x: object) -> object:
    """An int of which is known, or checked, that it is a byte."""
    if type(x) is int:
        if not 0 <= x < 256:
            raise ValueError("byte must be in range(0, 256)")
        return x
    if not isinstance(x, int | np.integer):
        raise refused("what is no int in a bytearray")
    x = to_int(x) if isinstance(x, np.integer) else x
    demand(x >= 0)
    demand(x < 256)
    return x


def _ints(x: object) -> Iterable[int]:
    """A list of the bytes in something."""
    if isinstance(x, ByteArray):
        return x.held[:]  # type: ignore[no-any-return]
    if isinstance(x, Bytes):
        return x.codes().tolist()  # type: ignore[return-value]
    if isinstance(x, bytes):
        return list(x)
    if not isinstance(x, list | tuple):
        raise refused("the bytes in what is no list")
    return codes_of_ints(x).tolist()  # type: ignore[return-value]


# ------------------------------------------------------------------ staged like the user's code


def _store(held: list[int], key: SupportsIndex, x: int) -> None:
    held[key] = x


def _append(held: list[int], x: int) -> None:
    held.append(x)


def _extend(held: list[int], more: Iterable[int]) -> None:
    held.extend(more)
