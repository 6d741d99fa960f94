"""Shapes on dims that may be symbolic: broadcasting, axes, slices; errors are NumPy's."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.graph import SliceSpec
from fxc.ir.size_functions import hint, minimum
from fxc.ir.size_guards import assuming, guard
from fxc.ir.symbols import Dim, Symbol, SymExpr, counted_in, product, symbols_of

Shape = tuple[Dim, ...]


def hints(shape: Iterable[Dim]) -> tuple[int, ...]:
    """The sizes in the call being captured."""
    return tuple(dim if isinstance(dim, int) else hint(dim) for dim in shape)


def has_hints(*dims: Dim) -> bool:
    """Whether every symbol has a value in the call being captured; loop variables may have none."""
    return all(s.hint is not None for dim in dims for s in symbols_of(dim).values())


def is_negative(dim: Dim) -> bool:
    """Whether a dim is below 0. One that depends on a loop is checked when the loop runs."""
    return dim < 0 if isinstance(dim, int) else has_hints(dim) and guard(dim, "<", 0)


def is_too_big(shape: Iterable[Dim], itemsize: int) -> bool:
    """Whether NumPy refuses each array of this shape, in which it takes 0 for 1, for its bytes."""
    sizes = [dim for dim in shape if not (isinstance(dim, int) and dim == 0)]
    total = product((itemsize, *sizes))
    if isinstance(total, int) or not has_hints(total) or hint(total) <= _MOST_BYTES:
        return decide(total, ">", _MOST_BYTES) is True
    return guard(total, ">", _MOST_BYTES)


_MOST_BYTES = np.iinfo(np.intp).max


def show_shape(shape: Iterable[Dim]) -> str:
    """A shape as NumPy prints it in most of its messages: ``(3,)``, ``(2,3)``."""
    sizes = hints(shape)
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({','.join(map(str, sizes))})"


def is_large(dim: SymExpr) -> bool:
    """Whether the form of a dim shows at a glance that it is at least 2; ``decide`` takes longer.

    It does for the sizes and strides of inputs: products of symbols that are at least 2.
    """
    if len(dim.terms) != 1:
        return False
    atoms, factor = dim.terms[0]
    return factor > 0 and all(
        isinstance(atom, Symbol) and atom.lower is not None and atom.lower > 1 for atom in atoms
    )


def is_one(dim: Dim) -> bool:
    """Whether a dim is 1, by a guard if need be."""
    return dim == 1 if isinstance(dim, int) else not is_large(dim) and _is(dim, 1)


def is_zero(dim: Dim) -> bool:
    """Whether a dim is 0, by a guard if need be."""
    return dim == 0 if isinstance(dim, int) else not is_large(dim) and _is(dim, 0)


def is_known_one(dim: Dim) -> bool:
    """Whether a dim is 1; what depends on a counted size is taken not to be."""
    return is_one(dim) if isinstance(dim, int) or not counted_in(dim) else False


def stretches(dim: Dim, wanted: Dim) -> bool:
    """Whether a dim is 1 where it goes into another one. A counted size is if it cannot be that
    one; else the two are taken to be equal, see ``broadcasts_to``.
    """
    if dim == wanted or isinstance(dim, int) or not counted_in(dim):
        return dim != wanted and is_one(dim)
    with assuming(lambda guard: None):  # capture has checked it
        return not guard(dim, "==", wanted)


def goes_in(dim: Dim, whole: Dim) -> bool:
    """Whether a dim that has been broadcast to another is 1, as capture has found."""
    return dim == 1 or (not _is_same(dim, whole) and stretches(dim, whole))


def _is_same(dim: Dim, whole: Dim) -> bool:
    """Whether a dim that is broadcast to another is equal to it by a guard, as it is not 1."""
    return not counted_in(dim - whole) and 1 != hint(dim) == hint(whole)


def is_known_zero(dim: Dim) -> bool:
    """Whether a dim is 0; what depends on a counted size is taken not to be."""
    return is_zero(dim) if isinstance(dim, int) or not counted_in(dim) else False


def _is(dim: SymExpr, number: int) -> bool:
    """Whether a dim is a number that stands for a case of its own, which is rare."""
    return not guard(dim, "!=", number) if counted_in(dim) else guard(dim, "==", number)


def same_dim(left: Dim, right: Dim) -> bool:
    """Whether two dims are equal, by a guard if their form does not tell."""
    return left == right or guard(left, "==", right)


def same_shape(left: Shape, right: Shape) -> bool:
    """Whether two shapes are equal."""
    return left == right or (len(left) == len(right) and all(map(same_dim, left, right)))


def check_mask(mask: Shape, shape: Shape, first: int = 0) -> None:
    """Raise NumPy's error for a mask that is not of the size of the axes from ``first`` on; NumPy
    does not look at one along which the mask has no elements.
    """
    for axis, size in enumerate(mask, first):
        if size != 0 and not same_dim(size, shape[axis]) and not is_zero(size):
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is "
                f"{hint(shape[axis])} but size of corresponding boolean axis is {hint(size)}"
            )


def _joined(left: Dim, right: Dim) -> Dim | None:
    """The broadcast of two dims, or None if they do not go together."""
    if left == right or (isinstance(right, int) and right == 1):
        return left
    if isinstance(left, int):
        if left == 1:
            return right
        if isinstance(right, int):
            return None
    if counted_in(left) or counted_in(right):
        kept, other = (right, left) if counted_in(left) else (left, right)
        return kept if guard(left, "==", right) or guard(other, "==", 1) else None
    # The guard that is most likely to hold comes first, so that only that one is recorded.
    if hint(left) == hint(right):
        return (left if isinstance(left, int) else right) if guard(left, "==", right) else None
    if hint(right) == 1 and guard(right, "==", 1):
        return left
    if hint(left) == 1 and guard(left, "==", 1):
        return right
    guard(left, "==", right)
    return None


def broadcast_shapes(*shapes: Sequence[Dim]) -> Shape:
    """The shape in which operands of these shapes meet.

    Raises ``ValueError`` with NumPy's text if there is none.

    >>> broadcast_shapes((3, 1), (4,), ())
    (3, 4)
    """
    result: Shape = ()
    for given in shapes:
        shape = tuple(given)
        if shape == result or not shape:
            continue
        if not result:
            result = shape
            continue
        short, long = sorted((result, shape), key=len)
        extra = len(long) - len(short)
        tail = [_joined(a, b) for a, b in zip(long[extra:], short, strict=True)]
        dims = [dim for dim in tail if dim is not None]
        if len(dims) != len(tail):
            texts = "".join(f"{show_shape(shape)} " for shape in shapes)
            raise ValueError(f"operands could not be broadcast together with shapes {texts}")
        result = (*long[:extra], *dims)
    return result


def broadcasts_to(shape: Shape, target: Shape) -> bool:
    """Whether an operand of ``shape`` can be read as if it had the shape ``target``."""
    extra = len(target) - len(shape)
    if extra < 0:
        return False
    for dim, wanted in zip(shape, target[extra:], strict=True):
        if dim == wanted or (isinstance(dim, int) and dim == 1):
            continue
        known = not counted_in(dim) and not counted_in(wanted)
        if known and hint(dim) != hint(wanted) and hint(dim) == 1 and guard(dim, "==", 1):
            continue
        if not guard(dim, "==", wanted) and (known or not guard(dim, "==", 1)):
            return False
    return True


def normalize_axis(axis: int, rank: int) -> int:
    """``axis`` counted from the front.

    Raises ``np.exceptions.AxisError`` if there is no such axis.
    """
    place = operator.index(axis)
    if not -rank <= place < rank:
        raise np.exceptions.AxisError(place, rank)
    return place + rank if place < 0 else place


def normalize_axes_tuple(axes: int | Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes counted from the front.

    Raises ``np.exceptions.AxisError`` if there is no such axis, ``ValueError`` if one is repeated.
    """
    given = (axes,) if isinstance(axes, int) else tuple(axes)
    places: list[int] = []
    for axis in given:
        place = normalize_axis(axis, rank)
        if place in places:
            raise ValueError("duplicate value in 'axis'")
        places.append(place)
    return tuple(places)


def normalize_slice(start: Dim | None, stop: Dim | None, step: Dim | None, dim: Dim) -> SliceSpec:
    """``slice(start, stop, step).indices(dim)``, on dims; clamps are decided by guards.

    Raises ``ValueError`` for a step of zero.

    >>> str(normalize_slice(1, -1, None, 10)), str(normalize_slice(None, None, -1, 10))
    ('1:9:1', '9:-1:-1')
    """
    step = 1 if step is None else step
    if is_zero(step):
        raise ValueError("slice step cannot be zero")
    forward = guard(step, ">", 0)
    low: Dim = 0 if forward else -1
    high = dim if forward else dim - 1

    def clamped(bound: Dim | None, default: Dim) -> Dim:
        if bound is None:
            return default
        if bound == high:
            return bound
        if guard(bound, "<", 0):
            bound = bound + dim
            if _is_open(bound, low):
                return bound + low - _least(bound, low)
            return low if guard(bound, "<", low) else bound
        if _is_open(bound, high):
            return _least(bound, high)
        return high if guard(bound, ">", high) else bound

    if forward:
        return SliceSpec(clamped(start, low), clamped(stop, high), step)
    return SliceSpec(clamped(start, high), clamped(stop, low), step)


def _is_open(left: Dim, right: Dim) -> bool:
    """Whether it depends on a size yet to be counted which of two dims is smaller."""
    return bool(counted_in(left - right)) and decide(left, "<=", right) is None


def _least(left: Dim, right: Dim) -> Dim:
    """The smaller dim; what is added to a symbol stands outside of it, so that equal lengths are
    equal expressions.
    """
    terms = next(dim.terms for dim in (left, right) if isinstance(dim, SymExpr))
    shift = sum(factor for monomial, factor in terms if not monomial)
    return minimum(left - shift, right - shift) + shift


def slice_length(spec: SliceSpec) -> Dim:
    """The number of elements a normalised slice takes."""
    start, stop, step = spec.start, spec.stop, spec.step
    if step == 1:
        return stop - start if guard(start, "<=", stop) else 0
    if guard(step, ">", 0):
        return (stop - start + step - 1) // step if guard(start, "<=", stop) else 0
    if not guard(stop, "<=", start):
        return 0
    return start - stop if step == -1 else (start - stop - step - 1) // -step
