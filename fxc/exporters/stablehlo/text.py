"""MLIR's spelling of types, numbers and places."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.location import SourceLocation
from fxc.ir.symbols import Dim
from fxc.ir.types import DTYPE_NAMES, PART_DTYPES

_FEW = 256  # elements that are written one by one


def element_type(dtype: np.dtype) -> str:
    """``f64``, ``i1``, ``ui8``, ``complex<f32>``."""
    if dtype in PART_DTYPES:
        return f"complex<{element_type(PART_DTYPES[dtype])}>"
    name = DTYPE_NAMES[dtype]
    return "i1" if name == "bool" else f"ui{name[1:]}" if dtype.kind == "u" else name


def tensor_type(dtype: np.dtype, shape: Sequence[Dim]) -> str:
    """``tensor<3x?xf64>``: sizes that are no numbers are known when the program runs."""
    sizes = "".join(f"{dim}x" if isinstance(dim, int) else "?x" for dim in shape)
    return f"tensor<{sizes}{element_type(dtype)}>"


def number(value: Any, dtype: np.dtype) -> str:
    """One number in a ``dense<…>``."""
    match dtype.kind:
        case "b":
            return "true" if value else "false"
        case "c":
            part = PART_DTYPES[dtype]
            return f"({number(value.real, part)}, {number(value.imag, part)})"
        case "f":
            return _float(np.asarray(value, dtype)[()])
        case _:
            return str(int(value))


def _float(value: Any) -> str:
    if not math.isfinite(value):
        bits = int.from_bytes(value.tobytes(), sys.byteorder)
        return f"0x{bits:0{2 * value.itemsize}X}"
    digits, _, exponent = str(value).partition("e")
    digits = digits if "." in digits else f"{digits}.0"
    return f"{digits}e{exponent}" if exponent else digits


def dense(array: np.ndarray) -> str:
    """``dense<[1.0, 2.0]>``; of many elements their bytes, of equal ones one."""
    if array.size == 0:
        return "dense<>"
    first = array.reshape(-1)[:1]
    if first.tobytes() * array.size == array.tobytes():
        return f"dense<{number(first[0], array.dtype)}>"
    if array.size > _FEW and array.dtype.kind != "b":
        data = array.astype(array.dtype.newbyteorder("<")).tobytes()
        return f'dense<"0x{data.hex().upper()}">'
    return f"dense<{_nested(array)}>"


def _nested(array: np.ndarray) -> str:
    if array.ndim == 0:
        return number(array[()], array.dtype)
    return f"[{', '.join(map(_nested, array))}]"


def location(loc: SourceLocation | None) -> str:
    """``loc("heat.py":9:0)``: the user's line, by the name of the file without its folder."""
    if loc is None:
        return ""
    file, _, line = str(loc).rpartition(":")
    return f" loc({quoted(file)}:{line}:0)"


def quoted(text: str) -> str:
    """A string of MLIR."""
    escaped = "".join(
        c if 32 <= ord(c) < 127 and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode())
        for c in text
    )
    return f'"{escaped}"'


def identifier(name: str) -> str:
    """A name as MLIR takes it: Python's may have letters that it does not know."""
    plain = re.sub(r"[^A-Za-z0-9_$.-]", lambda c: f"${ord(c[0]):x}", name)
    return plain if plain.isdigit() or not plain[0].isdigit() else f"_{plain}"
