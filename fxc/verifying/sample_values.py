"""Arguments and results of custom operators as checks compare them; see ``fxc.testing``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.error_kinds import CHECK_FAILED
from fxc.ir.errors import NumberedError, a_kind
from fxc.ir.size_functions import evaluate
from fxc.ir.symbols import Dim, symbol
from fxc.ir.types import ArrayType, Type, array_type, normal_strides, scalar_type_of
from fxc.ops.kernels.copies import strided_copy


class CheckFailed(NumberedError, AssertionError):
    """Something registered of an operator is not as its function behaves; the text says what."""

    __module__ = "fxc.testing"  # where users find it
    kind = CHECK_FAILED


def difference(found: object, wanted: object, rtol: float) -> str:
    """How a result differs from what it should be."""
    kinds = type_of_result(found), type_of_result(wanted)
    if kinds[0] != kinds[1]:
        return f"is {kinds[0]}, it should be {kinds[1]}"
    if bits_of(found) == bits_of(wanted):
        return ""
    mine, theirs = np.asarray(found), np.asarray(wanted)
    equal_nan = theirs.dtype.kind in "fc"
    if np.array_equal(mine, theirs, equal_nan=equal_nan) and not _signs_differ(mine, theirs):
        return ""
    if rtol and np.allclose(mine, theirs, rtol=rtol, atol=0.0, equal_nan=equal_nan):
        return ""
    unequal = ~((mine == theirs) | ((mine != mine) & (theirs != theirs)))
    unequal |= np.signbit(mine) != np.signbit(theirs) if theirs.dtype.kind == "f" else False
    index = tuple(int(each[0]) for each in np.nonzero(np.atleast_1d(unequal)))
    index = index if theirs.ndim else ()
    return f"has {mine[index]!r} at {index}, it should be {theirs[index]!r}"


def _signs_differ(mine: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether there is -0.0 in place of 0.0."""
    if theirs.dtype.kind != "f":
        return False
    return bool(((np.signbit(mine) != np.signbit(theirs)) & (mine == mine)).any())


def in_layout_of(found: object, wanted: object) -> object:
    """A result with the strides of another, if they are arrays of one dtype and shape."""
    if not isinstance(found, np.ndarray) or not isinstance(wanted, np.ndarray):
        return found
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return found
    made = strided_copy(wanted)
    made[...] = found
    return made


def is_literal(arg: object) -> bool:
    """Whether an operand is a part of graphs: ints, flags, None."""
    return not isinstance(arg, np.ndarray | np.generic | float | complex)


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments in memory of their own, gaps and all; those that are one array stay one."""
    made: dict[int, Any] = {}

    def own(x: object) -> object:
        if isinstance(x, tuple):
            return tuple(map(own, x))
        if not isinstance(x, np.ndarray):
            return x
        if id(x) not in made:
            made[id(x)] = strided_copy(x)
        return made[id(x)]

    return tuple(map(own, args))


def arrays_in(arg: object) -> list[np.ndarray]:
    if isinstance(arg, tuple):
        return [array for each in arg for array in arrays_in(each)]
    return [arg] if isinstance(arg, np.ndarray) else []


def bits_of(x: object) -> object:
    if isinstance(x, tuple):
        return tuple(map(bits_of, x))
    return x.tobytes() if isinstance(x, np.ndarray | np.generic) else repr(x)


def type_of_argument(is_value: bool, x: object) -> Any:
    """The type of an argument that is an operand; other arguments themselves."""
    if not is_value or x is None:
        return x
    if isinstance(x, tuple):
        return tuple(type_of_argument(True, each) for each in x)
    if isinstance(x, np.ndarray):
        return array_type(x.dtype, x.shape, x.strides)
    return scalar_type_of(x)


def type_of_result(x: object) -> Type:
    try:
        return type_of_argument(True, x) if isinstance(x, np.ndarray) else scalar_type_of(x)
    except TypeError:
        raise CheckFailed(f"it gives {a_kind(x)}, which is neither an array nor a number") from None


def opened(kind: object, name: str, known: dict[str, int]) -> object:
    """A type with symbols in place of sizes of 2 and more, whose values go to ``known``."""
    if isinstance(kind, tuple):
        return tuple(opened(each, f"{name}.{place}", known) for place, each in enumerate(kind))
    if not isinstance(kind, ArrayType) or any(dim == 0 for dim in kind.shape):
        return kind
    in_order = kind == array_type(kind.dtype, kind.shape)

    def new(dim: Dim, place: str) -> Dim:
        assert isinstance(dim, int)
        known[f"{name}.{place}"] = dim
        return symbol(f"{name}.{place}", hint=dim, lower=2)

    shape = [dim if dim == 1 else new(dim, str(a)) for a, dim in enumerate(kind.shape)]
    if in_order:
        return array_type(kind.dtype, shape)
    return array_type(kind.dtype, shape, kind.strides)


def check_agreement(what: str, said: Type, found: Type, known: dict[str, int]) -> None:
    if isinstance(said, ArrayType):
        shape = tuple(evaluate(dim, known) for dim in said.shape)
        strides = tuple(evaluate(dim, known) for dim in said.strides)
        said = ArrayType(said.dtype, shape, normal_strides(shape, strides, said.dtype.itemsize))
    if said != found:
        raise CheckFailed(f"{what} says {said}, the function gives {found}")
