"""Reading and writing by a mask, ``x[m]``, whose length is not known while capturing.

What ``x[m]`` gives has no shape that a graph could know. It is kept as a whole array, of which the
mask chooses elements (``MaskedRead``), and takes part in elementwise arithmetic, in writes by the
same mask and in reductions in which no order shows; everything else is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir.errors import CaptureError
from fxc.ir.graph import Literal, Operand, Value
from fxc.ops.metas.shapes import is_one
from fxc.ops.table import TABLE

from .advanced import fitted, in_dtype
from .history import hold_same, may_overlap
from .indexing import Mask, check_masked_source
from .operands import Traced, operand, record, wrap
from .reductions import reduce
from .session import current, refuse
from .ufuncs import BINARY, COMPARISONS, UNARY, binary, in_place, unary


class MaskedRead(Traced):
    """What ``x[m]`` gives: an array of its own, of a length that depends on the data.

    ``whole`` has the elements that the mask leaves out as well; ``behind`` of its axes come after
    those of the mask. The mask is that of the moment ``at`` (see ``Session.now``).
    """

    __slots__ = ("at", "behind", "mask", "whole")
    __array_priority__ = 1000.0

    def __init__(self, whole: Value, mask: Value, behind: int, at: int) -> None:
        self.whole = whole
        self.mask = mask
        self.behind = behind
        self.at = at

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.ndarray

    def _operand(self) -> Operand:
        raise _refusal("as a result or in this operation")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from .ufunc_methods import array_ufunc  # the methods of ufuncs work on masked reads

        return array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .protocol import array_function  # the table's functions work on masked reads

        return array_function(function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        raise _refusal(f"with .{name}")

    def __len__(self) -> int:
        raise _refusal("with len()")

    def __iter__(self) -> Any:
        raise _refusal("in a loop over it")

    def __getitem__(self, key: Any) -> Any:
        raise _refusal("with an index of its own")

    def __setitem__(self, key: Any, source: Any) -> None:
        raise _refusal("with an index of its own")

    def __bool__(self) -> bool:
        raise _refusal("in a decision (if, while, and, or, not)")

    @property
    def dtype(self) -> np.dtype:
        found: np.dtype = self.whole.type.dtype
        return found

    @property
    def ndim(self) -> int:
        return int(self.whole.type.rank - self.mask.type.rank + 1)

    # -------------------------------------------------------- elementwise

    def _spread(self, x: Any) -> Operand:
        """What stands for ``x`` beside ``whole``, where the axes of the mask stand for one."""
        if type(x) is MaskedRead:
            if x.behind != self.behind or not _is_same_mask(self, x.mask, x.at):
                raise refuse(
                    "arithmetic of arrays that were read by two masks cannot be captured; "
                    "use np.where"
                )
            return x.whole
        return spread(operand(x), self.mask.type.rank, self.behind)

    def _run(self, name: str, inputs: Sequence[Any]) -> Any:
        """A ufunc on ``inputs``, one of which this is."""
        operands = [self._spread(x) for x in inputs]
        _check_harmless(name, operands)
        result = current().record(name, *operands)
        if not isinstance(result, Value):
            raise _refusal(f"in np.{name}")
        return MaskedRead(result, self.mask, self.behind, self.at)

    def _run_in_place(self, name: str, other: Any) -> Any:
        given = self._spread(other)
        _check_harmless(name, (self.whole, given))
        in_place(name, wrap(self.whole), given.value if isinstance(given, Literal) else wrap(given))
        return self

    # -------------------------------------------------------- reductions

    def _reduce(self, name: str, axis: Any, dtype: Any, out: Any, keepdims: Any) -> Any:
        """A reduction over everything in which the order of the elements does not show."""
        neutral = _NEUTRAL.get(name)
        plain = out is None and not keepdims and (axis is None or (axis == 0 and self.ndim == 1))
        exact = self.dtype.kind in "biu" and (dtype is None or np.dtype(dtype).kind in "iu")
        if neutral is None or not plain or not (exact or name in ("any", "all")):
            raise _refusal(f"in np.{name}")
        if not _is_same_mask(self, self.mask, current().now):
            raise refuse(
                "a reduction of an array that was read by a mask, which was written since, cannot "
                "be captured; reduce it before the mask changes"
            )
        chosen = spread_mask(self.mask, self.behind)
        others = Literal(self.dtype.type(neutral))
        return reduce(name, record("where", chosen, self.whole, others), None, dtype)

    def any(self, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        return self._reduce("any", axis, None, out, keepdims)

    def all(self, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        return self._reduce("all", axis, None, out, keepdims)

    def sum(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False
    ) -> Any:
        return self._reduce("sum", axis, dtype, out, keepdims)

    def prod(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False
    ) -> Any:
        return self._reduce("prod", axis, dtype, out, keepdims)


_NEUTRAL = {"any": 0, "all": 1, "sum": 0, "prod": 1}


def _refusal(what: str) -> CaptureError:
    return refuse(
        "an array read by a mask has a size that depends on the data, and cannot be captured "
        f"{what}; use np.where(mask, x, other), or arithmetic and a write by the same mask"
    )


def _is_same_mask(read: MaskedRead, mask: Value, at: int) -> bool:
    return hold_same(read.mask, read.at, mask, at)


def _check_harmless(name: str, operands: Sequence[Operand]) -> None:
    """Refuse what could raise for an element that the mask leaves out."""
    if name == "power" and isinstance(operands[1], Literal) and _is_natural(operands[1].value):
        return
    if TABLE[name].raises and all(x.type.dtype.kind in "biu" for x in operands):
        raise _refusal(f"in np.{name} of integers")


def _is_natural(x: Any) -> bool:
    return not isinstance(x, complex | np.complexfloating) and bool(x >= 0)


# ------------------------------------------------------------------ axes


def spread(given: Operand, rank: int, behind: int) -> Operand:
    """``given`` beside a whole array, where ``rank`` axes stand for the one that is masked."""
    at = given.type.rank - 1 - behind
    if at < 0 or (rank == 1 and is_one(given.type.shape[at])):
        return given
    if not is_one(given.type.shape[at]):
        raise refuse(
            "arithmetic of an array read by a mask and one as long cannot be captured; use "
            "np.where(mask, x, other)"
        )
    session = current()
    value: Operand = session.record("squeeze", given, (at,))
    spread_out: Operand = session.record("expand_dims", value, tuple(range(at, at + rank)))
    return spread_out


def spread_mask(mask: Value, behind: int) -> Value:
    """The mask beside a whole array with ``behind`` axes after the mask's."""
    if not behind:
        return mask
    axes = tuple(range(mask.type.rank, mask.type.rank + behind))
    found: Value = current().record("expand_dims", mask, axes)
    return found


# ------------------------------------------------------------------ x[m] and x[m] = y


def read(view: Value, mask: Mask) -> MaskedRead:
    """``x[m]``, as it is now."""
    if mask.place != mask.axis:
        raise _refusal("in this index")
    session = current()
    whole = session.record("copy", view, order="K")
    return MaskedRead(whole, mask.value, _behind(view, mask), session.now)


def _behind(view: Value, mask: Mask) -> int:
    """How many axes of the result come after the one that stands for those of the mask."""
    return int(view.type.rank - mask.value.type.rank) - mask.place


def write(view: Value, mask: Mask, source: Any) -> None:
    """``x[m] = source``: the whole view is written, from itself where the mask is False."""
    rank, behind = mask.value.type.rank, _behind(view, mask)
    if type(source) is MaskedRead:
        if mask.place != mask.axis or behind != source.behind:
            raise _refusal("in this write")
        if not _is_same_mask(source, mask.value, current().now):
            raise refuse(
                "writing by a mask what was read by another cannot be captured; use np.where"
            )
        _write_where(view, mask, in_dtype(wrap(source.whole), view.type.dtype))
        return
    given = in_dtype(source, view.type.dtype)
    if mask.is_mask:
        check_masked_source(given.type.rank)
        check_apart(view, mask.value, source)
    given = fitted(given, view.type.rank - rank + 1)
    at = given.type.rank - 1 - behind  # the axis of the source along the masked elements
    if at >= 0 and not is_one(given.type.shape[at]):
        _put(view, mask, given, given.type.shape[at])
        return
    if mask.place != mask.axis and given.type.rank:
        raise _refusal("in this write")
    _write_where(view, mask, spread(given, rank, behind))


def check_apart(target: Value, *others: Any) -> None:
    """Refuse a write by a mask that NumPy makes element by element while it reads the target."""
    for other in others:
        read = other._operand() if isinstance(other, Traced) else other
        if may_overlap(target, read):
            raise refuse(
                "a write by a mask to an array that shares memory with the mask or the source "
                "cannot be captured; use a copy of them"
            )


def _write_where(view: Value, mask: Mask, given: Operand) -> None:
    session = current()
    after = view.type.rank - mask.axis - mask.value.type.rank
    updated = session.record("where", spread_mask(mask.value, after), given, view)
    session.record("copy_", view, updated, casting="unsafe")


def _put(view: Value, mask: Mask, given: Operand, count: Any) -> None:
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


# ------------------------------------------------------------------ operators


def _in_place(name: str) -> Callable[[MaskedRead, Any], Any]:
    return lambda self, other: self._run_in_place(name, other)


for _name, _operator in BINARY.items():
    if _name != "matmul":
        _plain, _reflected = binary(_operator)
        setattr(MaskedRead, f"__{_name}__", _plain)
        setattr(MaskedRead, f"__r{_name}__", _reflected)
        setattr(MaskedRead, f"__i{_name}__", _in_place(_operator))
for _name, _operator in COMPARISONS.items():
    setattr(MaskedRead, f"__{_name}__", binary(_operator)[0])
for _name, _operator in UNARY.items():
    setattr(MaskedRead, f"__{_name}__", unary(_operator))
