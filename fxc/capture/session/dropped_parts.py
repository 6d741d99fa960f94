"""Casts of complex numbers to real ones, which drop the imaginary part: NumPy warns of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Value
from fxc.ir.types import ArrayType, Type

from .recorder import Recorder

CASTS = frozenset({"astype", "copy_"})
_TEXT = "Casting complex values to real discards the imaginary part"


def of_real_parts(
    session: Recorder, name: str, args: tuple[Any, ...], casting: str
) -> tuple[Any, ...]:
    """The arguments of a cast, of real parts where it drops the others, of which it warns."""
    place = 0 if name == "astype" else 1
    source, target = args[place], args[1 - place]
    dtype = target if isinstance(target, np.dtype) else target.type.dtype
    kind = source.type
    if casting != "unsafe" or not drops_parts(kind, dtype):
        return args
    warn_of_dropped_parts(session)
    real: Literal | Value
    if isinstance(source, Literal):
        real = Literal(source.value.real)
    else:
        real = session.record("real" if isinstance(kind, ArrayType) else "real_number", source)
    return (real, *args[1:]) if place == 0 else (args[0], real)


def drops_parts(kind: Type, dtype: np.dtype) -> bool:
    """Whether a cast drops imaginary parts. One of a Python number raises."""
    if kind.dtype.kind != "c" or dtype.kind not in "iuf":
        return False
    return isinstance(kind, ArrayType) or not kind.weak


def warn_of_dropped_parts(session: Recorder) -> None:
    """Record the warning, but in a graph without effects, which does not warn, as of no flag."""
    if session.door.outside.derives:
        session.door.warn(_TEXT, np.exceptions.ComplexWarning)
