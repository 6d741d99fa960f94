"""Metas of operators that write: they check that NumPy would, and give nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

import numpy as np

from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, Type

from ..operators import Operator, Tag
from .layout import is_c_ordered
from .probing import (
    Key,
    Operand,
    bind,
    key_of,
    keyed,
    quietly,
    sample,
    sampled,
    stand_in,
    stand_in_out,
    type_of,
)
from .shapes import broadcast_shapes, is_zero, same_shape
from .views import check_assignable

Check = Callable[..., tuple[()]]
Meta = Callable[..., Type | tuple[Type, ...]]


# ---------------------------------------------------------------- assignments


def copy_(x: Operand, y: Operand, casting: str) -> tuple[()]:
    """``x[...] = y`` (casting 'unsafe') or ``np.copyto(x, y, casting)``."""
    target = type_of(x)
    if not isinstance(target, ArrayType):
        raise TypeError(f"a scalar ({target}) cannot be written")
    _ask_assignment(target.dtype, target.writeable, key_of(y), casting)
    check_assignable(type_of(y).shape, target.shape)
    return ()


@lru_cache(maxsize=4096)
def _ask_assignment(
    dtype: np.dtype[Any], writeable: bool, source: Key | None, casting: object
) -> None:
    target = np.zeros((1,), dtype)
    target.flags.writeable = writeable
    if casting == "unsafe":
        quietly(target.__setitem__, ..., sample(source))
    else:
        quietly(np.copyto, target, sample(source), casting=casting)


# ---------------------------------------------------------------- in place and out

# Functions of C that take ``out`` and have no signature to say so in every NumPy 2.
_TAKE_OUT = frozenset({np.dot})


def takes_out(op: Operator) -> bool:
    """Whether NumPy itself writes the result of ``op`` into an ``out``."""
    if isinstance(op.numpy, np.ufunc) or op.numpy in _TAKE_OUT:
        return True
    try:
        return op.numpy is not None and "out" in inspect.signature(op.numpy).parameters
    except (TypeError, ValueError, OverflowError):
        return False


def inplace_meta(op: Operator, functional: Operator, meta: Meta) -> Check:
    """The meta of ``add_``: of ``add`` with its first operand as ``out``."""
    into = _into(functional, meta)

    def check(x: Operand, *rest: object) -> tuple[()]:
        return into((x, *rest), x)

    return check


def out_meta(op: Operator, functional: Operator, meta: Meta) -> Check:
    """The meta of ``add.out``."""
    into = _into(functional, meta)

    def check(*args: Any) -> tuple[()]:
        return into(args[:-1], args[-1])

    return check


def _into(op: Operator, meta: Meta) -> Callable[[tuple[Any, ...], Operand], tuple[()]]:
    if not takes_out(op):
        return _copying_into(meta)
    stretches = op.tag is Tag.POINTWISE or op.numpy is np.clip
    keys = _pointwise_keys if stretches else keyed

    def check(args: tuple[Any, ...], out: Operand) -> tuple[()]:
        target = type_of(out)
        if not isinstance(target, ArrayType):
            raise TypeError("return arrays must be of ArrayType")
        try:
            result = meta(*args)
            _ask_out(op, tuple(map(keys, args)), target.dtype, target.writeable)
        except (TypeError, ValueError, OverflowError):
            # Which of several errors comes first, and how it reads, depends on ``out``.
            _check_in_numpy(op, args, target)
            if not is_zero(target.size):
                raise
            result = meta(*args)  # it is an element for which NumPy would raise
        assert not isinstance(result, tuple)
        fits = same_shape(result.shape, target.shape) or (
            stretches and _stretches(result.shape, target.shape)
        )
        if not fits or (op.numpy is np.dot and not is_c_ordered(target)):
            _check_in_numpy(op, args, target)
        return ()

    return check


def _stretches(shape: tuple[Dim, ...], target: tuple[Dim, ...]) -> bool:
    try:
        return same_shape(broadcast_shapes(shape, target), target)
    except ValueError:
        return False


def _copying_into(meta: Meta) -> Callable[[tuple[Any, ...], Operand], tuple[()]]:
    """The result is made first and then copied, as NumPy has no ``out`` for the operator."""

    def check(args: tuple[Any, ...], out: Operand) -> tuple[()]:
        result = meta(*args)
        assert not isinstance(result, tuple)
        return copy_(out, result, "same_kind")

    return check


def _pointwise_keys(arg: Operand | None) -> Hashable:
    return key_of(arg)


@lru_cache(maxsize=16384)
def _ask_out(
    op: Operator, args: tuple[Hashable, ...], dtype: np.dtype[Any], writeable: bool
) -> None:
    """Raise what NumPy raises for an ``out`` of this dtype, on samples."""
    assert op.numpy is not None
    positional, keywords = bind(op, tuple(map(sampled, args)))
    shape: tuple[int, ...] = np.shape(quietly(op.numpy, *positional, **keywords))
    out = np.ones(shape, dtype)
    out.flags.writeable = writeable
    quietly(op.numpy, *positional, **keywords, out=out)


def _check_in_numpy(op: Operator, args: tuple[Any, ...], out: ArrayType) -> None:
    """Raise what NumPy raises for these shapes; if it takes them after all, so do we."""
    assert op.numpy is not None
    if op.tag is Tag.SCAN and out.rank == 0:  # NumPy 2.4 crashes
        raise ValueError("provided out is the wrong size for the accumulation.")
    positional, keywords = bind(op, tuple(map(stand_in, args)))
    quietly(op.numpy, *positional, **keywords, out=stand_in_out(out))


METAS: dict[str, Check] = {"copy_": copy_}
