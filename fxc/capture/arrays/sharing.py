"""Questions about the memory of arrays: ``np.shares_memory``, ``x.base``; whether it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import ARRAY_MEMORY
from fxc.ir.graph import SliceSpec, Value
from fxc.ir.size_functions import hint, minimum
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, SymExpr, counted_in, product
from fxc.ir.types import ArrayType
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from ..session.refusing import refusal, refuse
from ..session.session import Session, current
from ..values.operands import TracedValue, constant, kind_of, settled, wrap
from .history import view_of

_MADE_ANEW = frozenset({Tag.POINTWISE, Tag.FACTORY})
_OF_OBJECTS_BETWEEN = frozenset({"as_strided", "broadcast_to"})  # NumPy's base is not the array


def shares_memory(a: object, b: object, /, max_work: object = None) -> bool:
    return _asked(np.shares_memory, a, b, max_work)


def may_share_memory(a: object, b: object, /, max_work: object = None) -> bool:
    return _asked(np.may_share_memory, a, b, max_work)


def _asked(question: Callable[..., bool], a: object, b: object, max_work: object) -> bool:
    session = current()
    left, right = (_array(session, x) for x in (a, b))
    roots = session.aliases.root(left), session.aliases.root(right)
    if roots[0] is roots[1]:
        if left is right and max_work is None:
            return bool(wrap(left).size > 0)
        of_root = _memory(session, roots[0])
        shown = (view_of(of_root, value, session, _known) for value in (left, right))
        return bool(question(*shown, max_work))
    inputs = session.aliases.input_arrays
    if any(root not in inputs for root in roots):
        return False
    sources = [session.door.outside.source_of(wrap(root)) for root in roots]
    found = bool(question(inputs[roots[0]], inputs[roots[1]], max_work))
    if found and (left, right) != roots:
        raise refusal(ARRAY_MEMORY, f"np.{question.__name__} of views of overlapping arguments")
    asked = session.door.outside.guards.constant(question)
    given = f"{sources[0].var}, {sources[1].var}, {max_work!r}"
    session.door.outside.guards.check(
        f"{asked}({given}) is {found}",
        f"{sources[0].text} and {sources[1].text} {'share' if found else 'do not share'} memory",
    )
    return found


def _array(session: Session, x: object) -> Value:
    """An array of which it is known which memory it shows."""
    x = settled(x)
    if isinstance(x, np.ndarray) and not isinstance(x, TracedValue):
        return constant(x)
    if not isinstance(x, TracedValue) or not isinstance(x._object.type, ArrayType):
        raise refuse(ARRAY_MEMORY, "a question about the memory of what is no array")
    value, aliases = x._object, session.aliases
    root = aliases.root(value)
    if _is_unclear(session, value, root):
        raise refuse(
            ARRAY_MEMORY,
            "a question about the memory of an array that is one or another, or is in a list,",
        )
    return value


def _is_unclear(session: Session, value: Value, root: Value) -> bool:
    """Whether an array may be one or another."""
    aliases = session.aliases
    unclear = {*aliases.twins, *aliases.given, *aliases.lent, *session.alternatives}
    return bool(aliases.of_callers) or not unclear.isdisjoint((value, root))


def _memory(session: Session, root: Value) -> np.ndarray:
    """An array of NumPy's in place of one of the graph; nobody looks at its elements."""
    known = session.aliases.input_arrays.get(root)
    if known is not None:
        return known
    kind = kind_of(root)
    shape, strides = tuple(map(_known, kind.shape)), tuple(map(_known, kind.strides))
    steps = (step * (size - 1) for step, size in zip(strides, shape, strict=True))
    room = np.empty(kind.dtype.itemsize + sum(steps) if 0 not in shape else 0, np.uint8)
    return np.ndarray(shape, kind.dtype, room, strides=strides)


def _known(x: object) -> Any:
    """A size or a place as a number, which is guarded."""
    if isinstance(x, Value):
        raise refusal(ARRAY_MEMORY, "a question about the memory of a view at places that vary")
    if isinstance(x, SymExpr):
        guard(x, "==", hint(x))
        return hint(x)
    if isinstance(x, SliceSpec):
        return SliceSpec(_known(x.start), _known(x.stop), _known(x.step))
    return tuple(map(_known, x)) if isinstance(x, tuple) else x


def _without_places(x: object) -> Any:
    """As ``_known``, but that strides do not depend on places, which may vary."""
    match x:
        case SliceSpec(start, stop, step):
            return SliceSpec(_without_places(start), _without_places(stop), _known(step))
        case Value():
            return 0
        case SymExpr():
            return hint(x)
        case tuple():  # slices, or sizes
            return tuple((_without_places if type(y) is SliceSpec else _known)(y) for y in x)
        case _:
            return _known(x)


def strides_of(x: TracedValue) -> tuple[Dim, ...]:
    """As ``x.strides``. Types do not know those of axes of size 1, and of arrays without elements,
    see Note [Layout in types]: a view has them from its base.
    """
    session, value = current(), x._object
    kind, root = kind_of(x._value), session.aliases.root(value)
    real = session.aliases.input_arrays.get(root)
    if root is value and real is None:
        return _new_strides(kind)
    if not any(dim in (0, 1) for dim in kind.shape) or _is_unclear(session, value, root):
        return kind.strides
    if real is None:
        memory = np.empty(tuple(map(_known, kind_of(root).shape)), kind_of(root).dtype)
        memory = _memory(session, root) if memory.size else memory
    else:
        memory = real
        source = session.door.outside.source_of(wrap(root))
        for axis, (size, step) in enumerate(zip(real.shape, real.strides, strict=True)):
            if size == 1 or not real.size:
                text = f"strides[{axis}] == {step}"
                session.door.outside.guards.check(f"{source.var}.{text}", f"{source.text}.{text}")
    shown = view_of(memory, value, session, _without_places).strides
    dims = zip(kind.shape, kind.strides, shown, strict=True)
    is_empty = 0 in kind.shape
    return tuple(step if is_empty or size == 1 else said for size, said, step in dims)


def _new_strides(kind: ArrayType) -> tuple[Dim, ...]:
    """Those of a new array: from NumPy 2.4 on they are 0 if it has no elements."""
    if np.empty(0).strides != (0,):
        return kind.strides
    sizes = (dim for dim in kind.shape if dim == 0 or counted_in(dim))
    some = product([minimum(dim, 1) for dim in sizes])
    return tuple(stride * some for stride in kind.strides)


def base_of(x: TracedValue) -> object:
    """As ``x.base``."""
    session = current()
    value = _array(session, x)
    aliases, outside = session.aliases, session.door.outside
    root = aliases.root(value)
    for each in (value, root):
        session.check_ndarray(each, "x.base")
    real = aliases.input_arrays.get(root)
    view = value
    while view in aliases.bases:
        if session.made[view].name in _OF_OBJECTS_BETWEEN:
            raise refuse(ARRAY_MEMORY, "x.base of a view by strides")
        view = aliases.bases[view]
    if real is None:
        made = session.made.get(root)
        is_constant = made is not None and made.name == "constant"  # it may show other memory
        if made is None or is_constant or TABLE[made.name].tag not in _MADE_ANEW:
            raise refuse(ARRAY_MEMORY, "x.base of what this function of NumPy's has made")
        return None if value is root else wrap(root)
    source = outside.source_of(wrap(root))
    base, text = f"{source.var}.base", f"{source.text}.base"
    if real.base is None:
        outside.guards.check(f"{base} is None", f"{text} is None")
        return None if value is root else wrap(root)
    if type(real.base) is not np.ndarray:
        raise refusal(
            ARRAY_MEMORY, f"{text} is a {type(real.base).__name__}, which cannot be captured"
        )
    return session.door.read(real.base, base, text, text)


def set_writeable(x: TracedValue, flag: object) -> None:
    """As ``x.flags.writeable = flag``; the caller's object is told behind the call."""
    session = current()
    if session.region:
        raise refuse(ARRAY_MEMORY, "a change of x.flags.writeable in a branch or a loop")
    if x._object in session.alternatives:
        raise refusal(
            ARRAY_MEMORY, "x.flags.writeable of one array or another cannot be set; use a copy"
        )
    wanted, original = bool(flag), x._object
    session.check_ndarray(original, "setting x.flags.writeable")
    if wanted == kind_of(x._value).writeable:
        return
    before = session.flagged.get(original)
    if wanted:
        if before is None:
            raise refuse(ARRAY_MEMORY, "setting x.flags.writeable of a read-only array")
        x._value = before[1]
        session.flagged[original] = (x, x._value, True)
        return
    session.flagged[original] = (x, x._value, False)
    x._show(session.value("broadcast_to", x._value, kind_of(x._value).shape))


def setflags(
    x: TracedValue, write: object = None, align: object = None, uic: object = None
) -> None:
    if align is not None or uic is not None:
        raise refuse(ARRAY_MEMORY, "x.setflags but of write=")
    if write is not None:
        set_writeable(x, write)
