"""Arrays that are part of a program."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from fxc.ir.graph import ArrayConstant

from .code import Code, call, dtype_name, plain_number
from .naming import Names
from .operators import NATURAL

_LISTED = 64  # elements; more of them stand as text at the top of the module


def constant_code(value: ArrayConstant, tables: dict[ArrayConstant, str], names: Names) -> Code:
    """A constant: in place if it is short, else a name of the module."""
    array = value.array()
    if array.size <= _LISTED and _has_text(array):
        keywords = {}
        if value.dtype not in NATURAL or not array.size:
            keywords["dtype"] = dtype_name(value.dtype)
        return call("np.array", [Code(_nested(array))], keywords)
    if value not in tables:
        tables[value] = names.free("TABLE")
    return Code(f"{tables[value]}.copy()")


def table_lines(value: ArrayConstant, name: str) -> list[str]:
    """The definition of a constant at the top of a module."""
    text = base64.b64encode(value.data).decode()
    rows = [f'    "{text[at : at + 80]}"' for at in range(0, len(text), 80)] or ['    ""']
    if len(rows) == 1:
        first = [f"    base64.b64decode({rows[0].strip()}),"]
    else:
        first = ["    base64.b64decode(", *[f"    {row}" for row in rows], "    ),"]
    shape = f"({', '.join(map(str, value.shape))}{',' * (len(value.shape) == 1)})"
    return [
        f"{name} = np.frombuffer(",
        *first,
        f"    dtype={dtype_name(value.dtype)},",
        f").reshape({shape})",
    ]


def _has_text(array: np.ndarray) -> bool:
    if array.dtype.kind == "f":
        usual = np.full(array.shape, np.nan, array.dtype)
        return bool(((array == array) | _same_bits(array, usual)).all())
    if array.dtype.kind == "c":
        return bool(np.isfinite(array).all())
    return array.dtype.kind != "b" or bool((array.view(np.uint8) < 2).all())


def _same_bits(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    whole = np.dtype(f"u{left.itemsize}")
    found: np.ndarray = left.view(whole) == right.view(whole)
    return found


def _nested(array: np.ndarray) -> str:
    if array.ndim:
        return f"[{', '.join(_nested(row) for row in array)}]"
    element: Any = array[()]
    return repr(bool(element)) if array.dtype.kind == "b" else plain_number(element).text
