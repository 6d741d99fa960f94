"""Numbers and arrays in bytes, and bytes of numbers: see Note [Bytes of the graph]."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fxc.ir.error_kinds import TEXT

from ..arrays.creation import is_array
from ..arrays.traced_array import TracedArray
from ..forms.truths import demand
from ..lists.byte_arrays import ByteArray
from ..lists.byte_strings import Bytes, codes_of_ints
from ..lists.list_room import Int
from ..lists.texts import is_unknown_text
from ..lists.traced_lists import is_in_graph
from ..numbers.python_numbers import to_bool, to_float
from ..numbers.traced_int import known_ints
from ..regions.counted import Bounded, Counted
from ..session.refusing import refuse
from ..statements.comprehensions import is_long
from ..values.operands import has_traced, settled
from .containers import list_of
from .plain_calls import PlainCalls

_ORDERS = {"<": "little", ">": "big", "!": "big"}
_INTEGERS = frozenset("bBhHiIlLqQnN")
_FLOATS = {"e": np.dtype(np.uint16), "f": np.dtype(np.uint32), "d": np.dtype(np.uint64)}
_NATIVE = "little" if np.little_endian else "big"


def from_buffer(door: PlainCalls, *args: object, **kwargs: object) -> object:
    """``np.frombuffer``; of bytes of the graph a view of their array."""
    if args and isinstance(args[0], ByteArray):
        raise args[0].refused("np.frombuffer")
    if not (args and isinstance(args[0], Bytes)):
        if args and type(args[0]) is bytes:
            door.outside.let_vary(args[0])
        return door.builtin(np.frombuffer, args, kwargs)
    return _view_of_bytes(door, *args, **kwargs)  # type: ignore[arg-type]


def _view_of_bytes(
    door: PlainCalls,
    buffer: Bytes,
    dtype: object = float,
    count: Int = -1,
    offset: Int = 0,
    **options: object,
) -> TracedArray:
    kind, codes = np.dtype(dtype), buffer.codes()  # type: ignore[call-overload]
    size = kind.itemsize
    if options or kind.hasobject or not size:
        raise buffer.refused("np.frombuffer")
    length: Any = buffer.length()
    demand(offset >= 0)
    demand(offset < length)  # of no bytes NumPy raises
    if type(count) is int and count < 0:
        codes = codes[offset:] if type(offset) is not int or offset else codes
        demand((length - offset) % size == 0)
    else:
        demand(offset + count * size <= length)
        codes = codes[offset : offset + count * size]
    codes = codes.view(kind) if kind != np.uint8 else codes
    if not codes._type.writeable:
        return codes
    demand(codes.shape[0] != 1)  # whose stride would be another one
    given = codes, codes.shape, codes.strides
    return door.call(np.lib.stride_tricks.as_strided, *given, writeable=False)  # type: ignore[no-any-return]


def int_from_bytes(
    door: PlainCalls, x: object, byteorder: object = "big", *, signed: object = False
) -> object:
    """``int.from_bytes``."""
    x = x.as_bytes() if isinstance(x, ByteArray) else settled(x)
    if not isinstance(x, Bytes):
        return door.made(int.from_bytes(*door.kept((x, byteorder)), signed=signed))  # type: ignore[arg-type]
    if byteorder not in ("little", "big") or type(signed) is not bool:
        raise x.refused("int.from_bytes")
    return _int_in(door, x.codes(), byteorder, signed)


def _int_in(door: PlainCalls, codes: TracedArray, order: str, signed: bool) -> object:
    codes = codes[::-1] if order == "little" else codes
    return door.staged(_signed if signed else _unsigned)(codes, codes.shape[0])


def _unsigned(codes: TracedArray, count: int) -> int:
    found = 0
    for k in range(count):
        found = found * 256 + int(codes[k])
    return found


def _signed(codes: TracedArray, count: int) -> int:
    if count == 0:
        return 0
    found = int(codes[0])
    if found >= 128:
        found -= 256
    for k in range(1, count):
        found = found * 256 + int(codes[k])
    return found


# ------------------------------------------------------------------ struct


def unpack(door: PlainCalls, layout: object, x: object) -> object:
    """``struct.unpack``."""
    if not (isinstance(x, Bytes) and isinstance(layout, str | bytes)):
        return _of_known(door, struct.unpack, layout, x)
    demand(x.length() == struct.calcsize(layout))
    return _unpacked(door, _text(layout), x, 0)


def unpack_from(door: PlainCalls, layout: object, buffer: object, offset: Int = 0) -> object:
    """``struct.unpack_from``."""
    if not (isinstance(buffer, Bytes) and isinstance(layout, str | bytes)):
        return _of_known(door, struct.unpack_from, layout, buffer, offset)
    demand(offset >= 0)
    demand(offset + struct.calcsize(layout) <= buffer.length())
    return _unpacked(door, _text(layout), buffer, offset)


def _of_known(door: PlainCalls, f: Callable[..., object], *args: object) -> object:
    """The same of bytes that are known; of other memory fxc does not know it."""
    args = known_ints(args)
    are_plain = all(type(x) in (str, bytes, int) for x in args)
    return f(*args) if are_plain else door.unknown(f, args, {})


def _text(layout: str | bytes) -> str:
    return layout if isinstance(layout, str) else layout.decode()


def _unpacked(door: PlainCalls, layout: str, x: Bytes, start: Int) -> tuple[object, ...]:
    order = _ORDERS.get(layout[:1], _NATIVE)
    parts: list[object] = []
    for code, begin, end in _fields(layout):
        part: Any = x[start + begin : start + end]
        if code in "sc":
            parts.append(part)
        elif code == "?":
            parts.append(to_bool(part.codes()[0] != 0))
        elif code in _INTEGERS:
            parts.append(_int_in(door, part.codes(), order, code.islower()))
        elif code in _FLOATS:
            parts.append(_float_in(part.codes(), order, _FLOATS[code]))  # type: ignore[arg-type]
        else:
            raise refuse(TEXT, f"{code!r} in a format of struct")
    return tuple(parts)


def _fields(layout: str) -> Iterator[tuple[str, int, int]]:
    """The letter of each value in a format, and the bytes from where to where it stands."""
    mode = layout[:1] if layout[:1] in "@=<>!" else ""
    before = mode
    for count, code in re.findall(r"(\d*)([^\d\s])", layout[len(mode) :]):
        for each in [f"{count}{code}"] if code in "sp" else [code] * int(count or 1):
            before += each
            end, size = struct.calcsize(before), struct.calcsize(f"{mode}{each}")
            if code != "x":
                yield code, end - size, end


def _float_in(codes: TracedArray, order: str, dtype: np.dtype[Any]) -> object:
    """The float whose bits these bytes are."""
    codes = codes[::-1] if order == "big" else codes
    shifts = np.arange(dtype.itemsize, dtype=dtype) * dtype.type(8)
    bits = (codes.astype(dtype) << shifts).sum(dtype=dtype, keepdims=True)
    return to_float(bits.view(f"f{dtype.itemsize}")[0])


# ------------------------------------------------------------------ new bytes


def bytes_of(door: PlainCalls, *args: object, **kwargs: object) -> object:
    """``bytes(x)``, or of a text, ``bytes(x, encoding)``."""
    if args and is_unknown_text(args[0]) and len(args) + len(kwargs) > 1:
        return door.call(door.attr(args[0], "encode"), *args[1:], **kwargs)
    x: Any = settled(args[0]) if len(args) == 1 and not kwargs else None
    if isinstance(x, Bytes):
        return x
    if isinstance(x, ByteArray):
        return x.as_bytes()
    if is_array(x) and has_traced(x):
        return Bytes(x.reshape(-1).copy().view(np.uint8))
    if type(x) in (map, Counted, Bounded) or is_long(x):
        x = list_of(door, x)
        args = (x,)
    if is_in_graph(x) or (type(x) in (list, tuple) and has_traced(x)):
        return Bytes(codes_of_ints(x))
    return door.made(bytes(*door.kept(args), **door.kept_options(kwargs)))


def byte_array_of(door: PlainCalls, *args: object, **kwargs: object) -> object:
    """``bytearray(x)``."""
    if not args and not kwargs:
        return ByteArray([])
    if len(args) == 1 and isinstance(args[0], int):
        return ByteArray(door.call(_zeros, args[0]))
    if args and type(args[0]) is bytes:
        door.outside.let_vary(args[0])  # else all are put into a list one by one
    made: Any = bytes_of(door, *args, **kwargs)
    return ByteArray(list(made) if type(made) is bytes else made.codes().tolist())


def _zeros(count: int) -> list[int]:
    return [0] * count
