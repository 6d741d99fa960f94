"""What guards speak of, in native code: objects, numbers, flags and sizes of arrays.

See Note [Native calls].
"""

from __future__ import annotations

from typing import Any

from fxc.ir.records import frozen

ENTRY = "fxc.call"  # the function that takes a call


class Untranslated(Exception):
    """Python that stays Python."""


@frozen
class Object:
    """A Python object in a register."""

    register: str


@frozen
class KnownObject:
    """A Python object that is the same at each call."""

    value: Any


@frozen
class WordNumber:
    """A Python int that fits 64 bits: a register or a constant."""

    text: str


@frozen
class ArrayFlags:
    """``array.flags``."""

    register: str


@frozen
class ArraySizes:
    """``shape`` or ``strides`` of an array; ``field`` says where the pointer to them is."""

    array: str
    field: int


Thing = Object | KnownObject | WordNumber | ArrayFlags | ArraySizes
