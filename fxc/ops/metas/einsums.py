"""The meta of ``np.einsum``, and how it walks its operands: the axes of its iterator."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from fxc.ir.records import frozen
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, ScalarType, Type, ordered_strides

from .layout import iteration_order
from .probing import Operand, type_of
from .shapes import same_dim

# Note [How NumPy walks an einsum]
# Labels are the axes of one iterator: those of the result in its order, then the others, sorted as
# characters. An operand moves along a label by the sum of its strides there, so a label that it has
# twice is a diagonal; a size of 1 goes into any other. Axes are sorted by the strides of the
# operands, as for a ufunc, and the result is allocated in that order. Neighbours along which all
# operands, and the result, move as along one axis become one.
# What the innermost axis is decides how a sum is added up: see ``einsum_order``.


@frozen
class Walk:
    """The axes of an iterator, outermost first, without those of size 1.

    ``steps`` has for each operand, and then for the result, the bytes from one index to the next.
    """

    labels: tuple[str, ...]
    sizes: tuple[Dim, ...]
    steps: tuple[tuple[Dim, ...], ...]
    kept: tuple[bool, ...]  # whether the result has the axis


def sizes_of(subscripts: str, kinds: Sequence[Type]) -> dict[str, Dim]:
    """The size of each label.

    Raises:
        ValueError: If an operand has another number of axes than labels, or sizes differ.
    """
    sizes: dict[str, Dim] = {}
    for labels, kind in zip(subscripts.split("->")[0].split(","), kinds, strict=True):
        shape = kind.shape if isinstance(kind, ArrayType) else ()
        if len(labels) != len(shape):
            raise ValueError(f"einsum operand of {kind.rank} axes for the subscripts {labels}")
        for label, size in zip(labels, shape, strict=True):
            if sizes.setdefault(label, size) == 1:
                sizes[label] = size
            elif size != 1 and not same_dim(sizes[label], size):
                raise ValueError(f"einsum operands do not agree on the size of {label}")
    return sizes


def walk(subscripts: str, kinds: Sequence[Type], itemsize: int) -> tuple[Walk, tuple[Dim, ...]]:
    """How the iterator goes, and the strides of the result that it allocates."""
    inputs, output = subscripts.split("->")
    sizes = sizes_of(subscripts, kinds)
    labels = output + "".join(sorted(set(inputs) - {",", *output}))
    steps = [
        _steps(labels, each, kind) for each, kind in zip(inputs.split(","), kinds, strict=True)
    ]
    shape = tuple(sizes[label] for label in labels)
    views = [
        ArrayType(kind.dtype, _moving(shape, step), step)
        for kind, step in zip(kinds, steps, strict=True)
    ]
    order = iteration_order(len(labels), views)
    strides = ordered_strides(
        shape[: len(output)], [axis for axis in order if axis < len(output)], itemsize
    )
    steps.append((*strides, *(0 for _ in labels[len(output) :])))
    order = tuple(axis for axis in order if shape[axis] != 1)
    found = Walk(
        tuple(labels[axis] for axis in order),
        tuple(shape[axis] for axis in order),
        tuple(tuple(step[axis] for axis in order) for step in steps),
        tuple(axis < len(output) for axis in order),
    )
    return found, strides


def _steps(labels: str, own: str, kind: Type) -> tuple[Dim, ...]:
    steps: dict[str, Dim] = dict.fromkeys(labels, 0)
    if isinstance(kind, ArrayType):
        for label, size, stride in zip(own, kind.shape, kind.strides, strict=True):
            if size != 1:
                steps[label] = steps[label] + stride
    return tuple(steps[label] for label in labels)


def _moving(shape: Sequence[Dim], steps: Sequence[Dim]) -> tuple[Dim, ...]:
    return tuple(1 if step == 0 else size for size, step in zip(shape, steps, strict=True))


def coalesced(walked: Walk) -> Walk:
    """The same with neighbours as one axis where all operands and the result move so."""
    axes: list[tuple[str, Dim, list[Dim], bool]] = []  # innermost first
    columns = list(zip(*walked.steps, strict=True))
    places = range(len(walked.labels) - 1, -1, -1)
    for place in places:
        label, size, steps = walked.labels[place], walked.sizes[place], list(columns[place])
        if axes:
            labels, inner, moved, kept = axes[-1]
            if all(
                outer == 0 == step or (0 not in (outer, step) and guard(outer, "==", step * inner))
                for outer, step in zip(steps, moved, strict=True)
            ):
                axes[-1] = (label + labels, size * inner, moved, kept)
                continue
        axes.append((label, size, steps, walked.kept[place]))
    axes.reverse()
    return Walk(
        tuple(labels for labels, *_ in axes),
        tuple(size for _, size, *_ in axes),
        tuple(zip(*(steps for *_, steps, _ in axes), strict=True)) or ((),) * len(walked.steps),
        tuple(kept for *_, kept in axes),
    )


def einsum(xs: tuple[Operand, ...], subscripts: str) -> Type:
    """``np.einsum``."""
    kinds = [type_of(x) for x in xs]
    sizes = sizes_of(subscripts, kinds)
    shape = tuple(sizes[label] for label in subscripts.split("->")[1])
    dtype = _einsum_dtype(subscripts, tuple(kind.dtype for kind in kinds))
    if not shape:
        return ScalarType(dtype)
    _, strides = walk(subscripts, kinds, dtype.itemsize)
    return ArrayType(dtype, shape, strides)


@lru_cache(maxsize=256)
def _einsum_dtype(subscripts: str, dtypes: tuple[np.dtype, ...]) -> np.dtype:
    inputs, _ = subscripts.split("->")
    given = zip(inputs.split(","), dtypes, strict=True)
    xs = [np.ones([1] * len(each), dtype) for each, dtype in given]
    return np.asarray(np.einsum(subscripts, *xs)).dtype
