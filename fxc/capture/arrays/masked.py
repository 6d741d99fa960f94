"""Reading and writing by a mask, ``x[m]``, whose length is not known while capturing.

What ``x[m]`` gives is kept as a whole array, of which the mask chooses elements (``MaskedRead``),
as long as that will do: for elementwise arithmetic, writes by the same mask and reductions in
which no order shows. For everything else it becomes an array of a size that is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import COUNTED_SIZE, OVERLAPPING_WRITE
from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.later import import_later
from fxc.ir.records import frozen
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.shapes import is_known_one
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from ..session.refusing import refusal, refuse
from ..session.session import current
from ..values.operands import Traced, TracedValue, kind_of, operand, record, settled, wrap
from . import advanced
from .advanced import fitted, in_dtype
from .counting import chosen, places
from .dtypes import dtype_of
from .history import hold_same, may_overlap
from .indexing import IndexArrays, Mask, check_masked_source
from .reductions import Asked, reduce
from .ufunc_options import quiet
from .ufuncs import call_ufunc, in_place, shortcut
from .unmade import UnmadeArray

# See Note [Rooms with one door].
as_picked = import_later("fxc.capture.session.classes", "as_picked")


@frozen
class Origin:
    """The ufunc that has made a masked read, and its inputs at that time."""

    ufunc: str
    inputs: tuple[Any, ...]
    at: int


class MaskedRead(UnmadeArray):
    """What ``x[m]`` gives: an array of its own, of a length that depends on the data.

    ``whole`` has the elements that the mask leaves out as well; ``behind`` of its axes come after
    those of the mask. The mask is that of the moment ``at`` (see ``Session.now``). What cannot be
    done in this form is done on the array that it stands for, which is made then.
    """

    __slots__ = ("_made", "at", "behind", "mask", "origin", "whole")
    _is_chosen = True
    _made: Any

    def __init__(
        self, whole: Value, mask: Value, behind: int, at: int, origin: Origin | None = None
    ) -> None:
        self.whole = whole
        self.mask = mask
        self.behind = behind
        self.at = at
        self.origin = origin
        self._made = None

    @property
    def array(self) -> Any:
        """The array: from the first time that it is asked for, this is nothing else, but for one
        that a part of an expression has asked for, and left as it was.
        """
        if self._made is None or self._is_gone():
            reason = self._why_not()
            if reason:
                raise refusal(COUNTED_SIZE, reason)
            current().aliases.rely_on(current().aliases.root(self.mask), self.at)
            if self._is_like_whole():
                self._made = wrap(chosen(self.whole, self.mask, self._axis))
                if current().classes:
                    as_picked(current(), self.whole if self.origin is None else None, self._made)
            else:
                assert self.origin is not None
                self._made = call_ufunc(self.origin.ufunc, *map(settled, self.origin.inputs))
        return self._made

    def _is_gone(self) -> bool:
        """Whether the array was made in a region that has ended, and nobody has written to it."""
        session, value = current(), self._made._value
        root = session.aliases.root(value)
        return not session.is_alive(value) and session.aliases.changed.get(root, 0) == 0

    def _is_like_whole(self) -> bool:
        """Whether the array has the layout of what is chosen of ``whole``."""
        in_order = self._axis == 0 and is_c_ordered(kind_of(self.whole))
        return self.origin is None or self.ndim == 1 or in_order

    @property
    def _axis(self) -> int:
        """The first axis of those that the mask chooses from."""
        return int(self.whole.type.rank - self.behind - self.mask.type.rank)

    def _why_not(self) -> str:
        """Why there cannot be an array, if so."""
        session = current()
        if session.aliases.changed.get(session.aliases.root(self.mask), 0) > self.at:
            return (
                "an array that was read by a mask, which was written since, cannot be captured in "
                "this operation; use it before the mask changes, or a copy of the mask"
            )
        if self._is_like_whole():
            return ""
        assert self.origin is not None
        written = session.aliases.changed
        changed = written.get(self.whole, 0) > 0 or any(
            written.get(session.aliases.root(x._value), 0) > self.origin.at
            for x in self.origin.inputs
            if isinstance(x, TracedValue)
        )
        reasons = (x._why_not() for x in self.origin.inputs if type(x) is MaskedRead)
        if changed or any(reasons):
            return (
                "an array computed from one that was read by a mask, in an order of its own, whose "
                "operands were written since, cannot be captured in this operation; use a copy"
            )
        return ""

    def settle(self) -> None:
        """Become the array, if there can be one, while the statements around are as they are."""
        if self._made is None and not self._why_not():
            assert self.array is not None

    @property
    def dtype(self) -> np.dtype:
        found: np.dtype = self.whole.type.dtype
        return found

    @property
    def ndim(self) -> int:
        return int(self.whole.type.rank - self.mask.type.rank + 1)

    # -------------------------------------------------------- elementwise

    def _spread(self, x: object) -> Operand | None:
        """What stands for ``x`` beside ``whole``, where the mask's axes are one; else None."""
        if type(x) is MaskedRead:
            same = x.behind == self.behind and x._made is None
            return x.whole if same and _is_same_mask(self, x.mask, x.at) else None
        return spread(operand(x), self.mask.type.rank, self.behind)

    def _spread_all(self, name: str, inputs: Sequence[object]) -> list[Operand] | None:
        """The operands beside ``whole``, unless one of them has no place there, or the operator may
        raise for an element that the mask leaves out.
        """
        if self._made is not None or TABLE[name].tag is not Tag.POINTWISE:
            return None
        operands: list[Operand] = []
        for x in inputs:
            found = self._spread(x)
            if found is None:
                return None
            operands.append(found)
        return operands if _is_harmless(name, operands) else None

    def _quiet(self, name: str, operands: Sequence[Operand]) -> Sequence[Operand]:
        """Operands that set no flags where the mask is False; not if it has changed."""
        ufunc = TABLE[name].numpy
        if not isinstance(ufunc, np.ufunc) or not _is_same_mask(self, self.mask, current().now):
            return operands
        return quiet(ufunc, spread_mask(self.mask, self.behind), operands)

    def _run(self, name: str, inputs: Sequence[object]) -> object:
        operands = self._spread_all(name, inputs)
        if operands is None:
            return super()._run(name, inputs)
        session = current()
        result: Value = session.record(name, *self._quiet(name, operands))
        origin = Origin(name, tuple(inputs), session.now)
        return MaskedRead(result, self.mask, self.behind, self.at, origin)

    def _run_in_place(self, name: str, other: object) -> None:
        is_known = self._is_like_whole() and (name != "power" or shortcut(self, other) is None)
        operands = self._spread_all(name, (self, other)) if is_known else None
        if operands is None:
            super()._run_in_place(name, other)
            return
        given = self._quiet(name, operands)[1]
        in_place(name, wrap(self.whole), given.value if isinstance(given, Literal) else wrap(given))

    # -------------------------------------------------------- reductions

    def _reduce(self, name: str, asked: Asked) -> Any:
        """A reduction; of the whole array where the order of the elements does not show."""
        neutral, dtype = _NEUTRAL.get(name), asked.dtype
        over_all = asked.axis is None or (asked.axis == 0 and self.ndim == 1)
        plain = asked.out is None and not asked.keepdims and over_all
        exact = self.dtype.kind in "biu" and (dtype is None or dtype_of(dtype).kind in "iu")
        exact = neutral is not None and (exact or name in ("any", "all"))
        same = self._made is None and _is_same_mask(self, self.mask, current().now)
        if not (plain and exact and same):
            return reduce(name, self.array, asked)
        chosen = spread_mask(self.mask, self.behind)
        others = Literal(self.dtype.type(neutral))
        whole = record("where", chosen, self.whole, others)
        return reduce(name, whole, Asked(dtype=dtype))


_NEUTRAL = {"any": 0, "all": 1, "sum": 0, "prod": 1}


def _is_same_mask(read: MaskedRead, mask: Value, at: int) -> bool:
    return hold_same(read.mask, read.at, mask, at)


def _is_harmless(name: str, operands: Sequence[Operand]) -> bool:
    """Whether an operator cannot raise for an element that the mask leaves out."""
    if name == "power" and isinstance(operands[1], Literal) and _is_natural(operands[1].value):
        return True
    return not (TABLE[name].raises and all(x.type.dtype.kind in "biu" for x in operands))


def _is_natural(x: Any) -> bool:
    return not isinstance(x, complex | np.complexfloating) and bool(x >= 0)


# ------------------------------------------------------------------ axes


def spread(given: Operand, rank: int, behind: int) -> Operand | None:
    """``given`` with ``rank`` axes for the masked one; None if it is as long as what is masked."""
    at = given.type.rank - 1 - behind
    if at < 0:
        return given
    if not is_known_one(given.type.shape[at]):
        return None
    if rank == 1:
        return given
    session = current()
    value: Operand = session.record("squeeze", given, (at,))
    return session.value("expand_dims", value, tuple(range(at, at + rank)))


def spread_mask(mask: Value, behind: int) -> Value:
    """The mask beside a whole array with ``behind`` axes after the mask's."""
    if not behind:
        return mask
    axes = tuple(range(mask.type.rank, mask.type.rank + behind))
    return current().value("expand_dims", mask, axes)


# ------------------------------------------------------------------ x[m] and x[m] = y


def read(view: Value, mask: Mask) -> object:
    """``x[m]``, as it is now."""
    session = current()
    if mask.place != mask.axis:
        return wrap(advanced.read(view, _index_arrays(mask)))
    whole = session.record("copy", view, order="K")
    return MaskedRead(whole, mask.value, _behind(view, mask), session.now)


def _index_arrays(mask: Mask) -> IndexArrays:
    axes = tuple(range(mask.axis, mask.axis + mask.value.type.rank))
    return IndexArrays(places(mask.value), axes, mask.place, mask.is_mask, in_bounds=True)


def _behind(view: Value, mask: Mask) -> int:
    """How many axes of the result come after the one that stands for those of the mask."""
    return int(view.type.rank - mask.value.type.rank) - mask.place


def write(view: Value, mask: Mask, source: object) -> None:
    """``x[m] = source``: the whole view is written, from itself where the mask is False."""
    rank, behind = mask.value.type.rank, _behind(view, mask)
    if type(source) is MaskedRead and source._made is None:
        same = _is_same_mask(source, mask.value, current().now)
        if same and mask.place == mask.axis and behind == source.behind:
            _write_where(
                view, mask, in_dtype(wrap(source.whole), view.type.dtype, wrap(mask.value).any)
            )
            return
    given = in_dtype(source, view.type.dtype, wrap(mask.value).any if mask.is_mask else None)
    if mask.is_mask:
        check_masked_source(given.type.rank)
        check_apart(view, mask.value, source)
    given = fitted(given, view.type.rank - rank + 1)
    beside = spread(given, rank, behind)
    if beside is None:
        at = given.type.rank - 1 - behind  # the axis of the source along the masked elements
        _put(view, mask, given, given.type.shape[at])
        return
    if mask.place != mask.axis and given.type.rank:
        raise refusal(
            COUNTED_SIZE,
            "an array read by a mask has a size that depends on the data, and cannot be captured "
            "in this write; use np.where(mask, x, other), or arithmetic and a write by the same "
            "mask",
        )
    _write_where(view, mask, beside)


def check_apart(target: Value, *others: Any) -> None:
    """Refuse a write by a mask that NumPy makes element by element while it reads the target."""
    for other in others:
        read = other._operand() if isinstance(other, Traced) else other
        if may_overlap(target, read):
            raise refuse(
                OVERLAPPING_WRITE,
                "a write by a mask to an array that shares memory with the mask or the source",
                "use a copy of them",
            )


def _write_where(view: Value, mask: Mask, given: Operand) -> None:
    session = current()
    after = view.type.rank - mask.axis - mask.value.type.rank
    updated = session.record("where", spread_mask(mask.value, after), given, view)
    session.record("copy_", view, updated, casting="unsafe")


def _put(view: Value, mask: Mask, given: Operand, count: object) -> None:
    """``x[m] = source`` with an element of the source for each that the mask chooses."""
    session = current()
    rank = mask.value.type.rank
    masked = tuple(range(mask.axis, mask.axis + rank))
    others = tuple(axis for axis in range(view.type.rank) if axis not in masked)
    rest = [view.type.shape[axis] for axis in others]
    whole = (*rest[: mask.place], count, *rest[mask.place :])
    if whole != given.type.shape:
        given = session.record("broadcast_to", given, whole)
    source = session.record(
        "transpose", given, (mask.place, *(a for a in range(len(whole)) if a != mask.place))
    )
    session.record(
        "masked_put_", session.record("transpose", view, masked + others), mask.value, source
    )
