"""What is known of arrays while they are captured: their elements, and which hold the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fxc.dispatch.bind import bind
from fxc.ir.graph import Literal, Operand, Region, SliceSpec, Value
from fxc.ir.objects import address_of
from fxc.ir.symbols import Dim, SymExpr
from fxc.ir.types import ArrayType
from fxc.ops.identities import DISTINCT
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from ..session.session import Session, current
from .assignments import memory_like

_PURE = frozenset(
    {Tag.FACTORY, Tag.POINTWISE, Tag.VIEW, Tag.REDUCTION, Tag.SCAN, Tag.JOIN, Tag.COMPOSITE}
)
_LARGE = 1 << 16  # elements


class _Unknown(Exception):
    """Something follows from the inputs, or is large."""


def known_array(value: Value) -> np.ndarray | None:
    """The elements of an array if they follow from the program alone; None for a large one.

    ``np.arange(4) % 2 == 0`` is known; what was written in place is not.
    """
    try:
        return np.asarray(_known(value, current()))
    except _Unknown:
        return None


def _known(arg: object, session: Session) -> Any:
    """The real argument for one of a recorded call."""
    if isinstance(arg, tuple):
        return tuple(_known(item, session) for item in arg)
    if isinstance(arg, Literal):
        return arg.value
    if isinstance(arg, SymExpr | Region):
        raise _Unknown
    if isinstance(arg, SliceSpec):
        _check_known((arg.start, arg.stop, arg.step))
    if not isinstance(arg, Value):
        return arg
    call, root = session.made.get(arg), session.aliases.root(arg)
    if call is None or root in session.aliases.changed or not session.aliases.may_rely_on(root):
        raise _Unknown
    if not _is_small(arg):
        raise _Unknown
    op = TABLE[call.name]
    if op.tag not in _PURE or op.raises or op.name in DISTINCT:
        raise _Unknown
    args = [_known(each, session) for each in bind(op, call.args, call.kwargs)]
    session.aliases.rely_on(root, call.at)
    with np.errstate(all="ignore"):
        return kernel_of(op.name)(*args)


def _check_known(dims: tuple[Dim, ...]) -> None:
    if any(isinstance(dim, SymExpr) for dim in dims):
        raise _Unknown


def _is_small(value: Value) -> bool:
    kind = value.type
    if not isinstance(kind, ArrayType):
        return True
    return all(isinstance(dim, int) for dim in kind.shape) and kind.size < _LARGE  # type: ignore[operator]


def hold_same(left: Value, at: int, right: Value, later: int) -> bool:
    """Whether ``left`` is known to have held at one time what ``right`` held at another.

    It is if they are one value that was not written since, or come of the same operator on operands
    of which the same is known. Times are those of ``Session.now``.
    """
    session = current()
    if left is right:
        roots = session.aliases.roots(left)
        if not all(map(session.aliases.may_rely_on, roots)):
            return False
        for root in roots:
            session.aliases.rely_on(root, min(at, later))
        return all(session.aliases.changed.get(root, 0) <= min(at, later) for root in roots)
    first, second = session.made.get(left), session.made.get(right)
    if first is None or second is None or first.name != second.name or first.name in DISTINCT:
        return False
    if TABLE[first.name].schema.is_view:  # its elements are those of its base at each time
        times = (at, later)
    else:
        times = (first.at, second.at)
        if any(session.aliases.changed.get(value, 0) for value in (left, right)):
            return False
    return first.kwargs == second.kwargs and _agree(
        first.args, second.args, lambda a, b: hold_same(a, times[0], b, times[1])
    )


def _agree(left: object, right: object, same: Callable[[Value, Value], bool]) -> bool:
    """Whether two arguments agree, where ``same`` tells of two values whether they do."""
    if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
        return all(_agree(a, b, same) for a, b in zip(left, right, strict=True))
    if isinstance(left, Value) and isinstance(right, Value):
        return same(left, right)
    return type(left) is type(right) and bool(left == right)


def may_overlap(left: Value, right: Operand) -> bool:
    """Whether two arrays may have elements in common, but are not the same view."""
    session = current()
    if not isinstance(right, Value) or left is right:
        return False
    for one, other in ((left, right), (right, left)):
        if one in session.alternatives:
            either = session.alternatives[one]
            return may_overlap(either.left, other) or may_overlap(either.right, other)
    root = session.aliases.root(left)
    if root is not session.aliases.root(right):
        return session.aliases.root(right) in session.aliases.overlapping(root)
    try:
        kind = root.type
        assert isinstance(kind, ArrayType)
        _check_known((*kind.shape, *kind.strides))
        memory, known = memory_like(kind), partial(_known, session=session)
        first, second = (view_of(memory, each, session, known) for each in (left, right))
        if _place_of(first) == _place_of(second):
            return False
        return np.may_share_memory(first, second)
    except _Unknown:
        return True


def _place_of(x: np.ndarray) -> tuple[Any, ...]:
    return address_of(x), x.dtype, x.shape, x.strides


def view_of(
    memory: np.ndarray, value: Value, session: Session, known: Callable[[Any], Any]
) -> np.ndarray:
    """The part of its root's memory that an array shows; ``known`` makes dims numbers."""
    if value not in session.aliases.bases:
        return memory
    call = session.made[value]
    base, *args = bind(TABLE[call.name], call.args, call.kwargs)
    whole = view_of(memory, base, session, known)
    view: np.ndarray = kernel_of(call.name)(whole, *map(known, args))
    return view
