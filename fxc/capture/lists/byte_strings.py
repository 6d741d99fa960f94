"""Bytes that are known at run time only. See Note [Bytes of the graph]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import TEXT

from ..arrays.traced_array import TracedArray
from ..forms.form import types_of
from ..forms.truths import demand
from ..numbers.python_numbers import to_bool, to_int, to_python
from ..outside.outside import Outside
from ..regions.counted import Bounded, Counted
from ..session.refusing import refuse
from ..session.session import current
from ..values.limited import refuse_methods
from ..values.operands import Traced, constant, taken_for, wrap
from .list_room import Int, is_unknown
from .texts import Characters, Text, are_equal, refused, together
from .traced_lists import TracedList, plain_list

# Note [Bytes of the graph]
# Bytes from outside are a constant at first, as a text is. When they change from call to call, or
# the program comes to many operations and reads them, the guard program makes an array of uint8
# over their memory, whose size is a symbol: that is one compilation for all bytes. Their items are
# ints, parts and sums are Bytes of other arrays. What needs the value (a key of a dict, a method
# that is not here) starts the capture again with constants: see Note [Texts of the graph].

_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8).astype(np.int32)
_CODECS = frozenset({"utf-8", "utf8", "UTF-8", "ascii", "latin-1", "latin1", "iso-8859-1"})


class Bytes(Characters):
    """Bytes of any length: they stand in an array of uint8, which nobody writes."""

    __slots__ = _held = ("_codes",)
    _written_by = "_bytes"
    __class__ = taken_for(bytes)
    _of, _text = bytes, "bytes"

    def __init__(self, codes: TracedArray) -> None:
        self._codes = codes

    # -------------------------------------------------------- as a value of the capture

    @staticmethod
    def _has_structure(x: object) -> bool:
        return type(x) is bytes

    @staticmethod
    def _structure_items(x: object) -> tuple[Any, ...]:
        return (array_of(x),)

    def _counted(self) -> Counted | Bounded:
        codes = self.codes()
        return Counted(codes._type.shape[0], lambda k: to_int(codes[k]), of=())

    # -------------------------------------------------------- what bytes do

    def codes(self) -> TracedArray:
        return self._codes

    def __getitem__(self, key: object) -> object:
        try:
            found = self.codes()[key]
        except IndexError:
            raise IndexError("index out of range") from None
        return Bytes(found) if isinstance(key, slice) else to_int(found)

    def __add__(self, other: object) -> Bytes:
        return _joined(self, other)

    def __radd__(self, other: object) -> Bytes:
        return _joined(other, self)

    def _has(self, x: object) -> object:
        """``x in self``."""
        return self.find(x) >= 0

    def __eq__(self, other: object) -> bool:
        codes = array_of(other)
        if codes is None:
            return NotImplemented if isinstance(other, bytearray) else False
        return current().door.staged(are_equal)(self.codes(), codes, self.length(), codes.shape[0])  # type: ignore[no-any-return]

    def find(self, x: object, start: Int = 0, *end: Int) -> Int:
        """Where ``x`` is, a byte or some; -1 if it is not there."""
        wanted = _wanted(x)
        if end or wanted is None:
            raise refused("find()")
        return current().door.staged(_place_of)(self.codes(), wanted, start, self.length())  # type: ignore[no-any-return]

    def index(self, x: object, start: Int = 0, *end: Int) -> object:
        """The same; where it is not there Python raises."""
        found = self.find(x, start, *end)
        demand(found >= 0)
        return found

    def count(self, x: object, *bounds: Int) -> object:
        """How often ``x`` is there, without overlaps."""
        wanted = _wanted(x)
        if bounds or wanted is None:
            raise refused("count()")
        return current().door.staged(_times)(self.codes(), wanted, self.length())

    def startswith(self, x: object, *bounds: Int) -> object:
        if bounds or not isinstance(x, bytes):
            raise refused("startswith()")
        return self[: _length(x)] == x

    def endswith(self, x: object, *bounds: Int) -> object:
        if bounds or type(x) is not bytes:
            raise refused("endswith()")
        return self[-len(x) :] == x if x else True

    def is_one_of(self, items: Iterable[object]) -> object:
        """Whether it is one of these constants."""
        return self.place_among([*items])[1]

    def place_among(self, keys: Sequence[object]) -> tuple[object, object]:
        """Its place among these constants; whether it is there."""
        same: Any = current().door.call(np.array, [False, *(self == key for key in keys)])
        return to_python(same[1:].argmax()) if keys else 0, to_bool(same.any())

    def hex(self, *options: object) -> Text:
        """The text of the digits."""
        if options:
            raise refused("hex()")
        codes, digits = self.codes().astype(np.intp), wrap(constant(_DIGITS))
        both = current().door.call(np.stack, (digits[codes >> 4], digits[codes & 15]), axis=1)
        return Text(both.reshape(-1))

    def decode(self, encoding: object = "utf-8", errors: object = "strict") -> object:
        """The text of bytes that are characters of ASCII; others are Python's."""
        if encoding not in _CODECS or type(errors) is not str:
            raise refused("decode()")
        return decoded(self.codes())


_REFUSED = {
    "_operand": "an array",
    "__hash__": "a key, or hash(),",
    **dict.fromkeys(("__repr__", "__str__"), "the text"),
    "__format__": "format()",
    **dict.fromkeys(("__mul__", "__rmul__", "__mod__", "__rmod__"), "an operator"),
    **dict.fromkeys(("__lt__", "__le__", "__gt__", "__ge__"), "an order"),
}
refuse_methods(Bytes, _REFUSED)


def array_of(x: object) -> TracedArray | None:
    """The array of some bytes; None for what is none."""
    if isinstance(x, Bytes):
        return x.codes()
    return wrap(constant(np.frombuffer(x, np.uint8))) if type(x) is bytes else None


class ReadBytes:
    """Known bytes in ``x[key]``: where the place is not known, those from outside are to vary."""

    __slots__ = ("_items", "_outside")

    def __init__(self, outside: Outside, items: bytes) -> None:
        self._outside = outside
        self._items = items

    def __getitem__(self, key: Any) -> object:
        if not is_unknown(key):
            return self._items[key]
        self._outside.let_vary(self._items)
        return Bytes(array_of(self._items))[key]  # type: ignore[arg-type]


def is_unknown_bytes(x: object) -> bool:
    """Whether these are bytes that are known at run time only."""
    return isinstance(x, Bytes)


def ints_of(x: object) -> object:
    """A list of what is in Bytes; None for other things."""
    return x.codes().tolist() if isinstance(x, Bytes) else None


def codes_of_ints(items: list[Any] | tuple[Any, ...] | TracedList) -> TracedArray:
    """An array of the bytes that are the items of a list; what is no byte is Python's."""
    known = items.few_items() if isinstance(items, TracedList) else items
    form = items.form if isinstance(items, TracedList) and known is None else None
    kinds = set() if form is None else {each.dtype.kind for each in types_of(form)}
    are_ints = known is not None and all(isinstance(x, int | np.integer) for x in known)
    if not (are_ints or (kinds and kinds <= {*"iub"})):
        raise refused("what is no list of ints as bytes")
    made: Any = current().door.call(np.array, items, np.int64)
    demand((made >= 0).all())
    demand((made < 256).all())
    return made.astype(np.uint8)  # type: ignore[no-any-return]


def searchable(x: object, items: object) -> object:
    """Known bytes in which something unknown is looked for, as Bytes of the graph."""
    is_open = type(x) is Bytes or (isinstance(x, Traced) and isinstance(x, int))
    return Bytes(array_of(items)) if is_open and type(items) is bytes else items  # type: ignore[arg-type]


def joined_bytes(items: Iterable[object]) -> object:
    """``b"".join(items)``; None where Python does it."""
    items = plain_list(items)
    if type(items) not in (list, tuple) or not any(type(x) is Bytes for x in items):
        return None
    parts = [array_of(x) for x in items]
    return None if any(part is None for part in parts) else Bytes(together(parts))


def decoded(x: TracedArray) -> object:
    """``x.tobytes().decode()`` of bytes that are characters of ASCII; others are Python's."""
    codes = x.reshape(-1)
    if codes.dtype.itemsize != 1:
        raise refuse(TEXT, "the text in the bytes of an array of numbers")
    codes = codes.view(np.uint8)
    demand((codes < 128).all())
    return Text(codes.astype(np.int32))


def _length(x: Bytes | bytes) -> object:
    return x.length() if isinstance(x, Bytes) else len(x)


def _wanted(x: object) -> TracedArray | None:
    """What is looked for, as an array; None for what is neither an int nor bytes."""
    if x.__class__ is not int:
        return array_of(x)
    demand(x >= 0)
    demand(x < 256)
    return current().door.call(np.array, [x], np.int64)  # type: ignore[no-any-return]


def _joined(left: object, right: object) -> Bytes:
    """``left + right``."""
    parts = [array_of(x) for x in (left, right)]
    if any(part is None for part in parts):
        other = left if parts[0] is None else right
        if isinstance(other, bytearray):
            raise refused("+")
        raise TypeError(f"can't concat {type(other).__name__} to bytes")
    return Bytes(together(parts))


# ------------------------------------------------------------------ staged like the user's code


def _place_of(codes: TracedArray, wanted: TracedArray, start: int, stop: int) -> int:
    if start < 0:
        start = max(start + stop, 0)
    for k in range(start, stop - len(wanted) + 1):
        if all(codes[k + j] == wanted[j] for j in range(len(wanted))):
            return k
    return -1


def _times(codes: TracedArray, wanted: TracedArray, stop: int) -> int:
    found, k = 0, 0
    while k <= stop - len(wanted):
        if all(codes[k + j] == wanted[j] for j in range(len(wanted))):
            found += 1
            k += max(len(wanted), 1)
        else:
            k += 1
    return found
