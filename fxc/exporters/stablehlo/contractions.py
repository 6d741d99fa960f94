"""Products of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.graph import Node, Operand

from .builder import BOOL, I64, Val
from .emission import Emission
from .problems import Unsayable


def matmul(e: Emission, node: Node) -> list[Val]:
    """NumPy's rules: a vector is a row or a column, all axes before the last two are stacks."""
    x, y = (_operand(e, node, number) for number in (0, 1))
    kind = node.output.type
    shape = e.held(kind)
    stacks = len(shape) - (x.rank > 1) - (y.rank > 1)
    lead = list(shape[:stacks])
    if stacks:
        x = e.broadcast(x, [*lead, *x.shape[-2:]]) if x.rank > 1 else x
        y = e.broadcast(y, [*lead, *y.shape[-2:]]) if y.rank > 1 else y
    batch = stacks if x.rank > 1 and y.rank > 1 else 0
    found = _product(e, x, y, (x.rank - 1, max(y.rank - 2, 0)), batch)
    if stacks and not batch and x.rank == 1:  # a row times stacked matrices is what it should be
        found = e.reshape(found, shape)
    return [_as(e, found, node)]


def dot(e: Emission, node: Node) -> list[Val]:
    """Sums over the last axis of x and the last but one of y."""
    kind = node.output.type
    if not node.args[0].type.rank or not node.args[1].type.rank:
        x, y = (e.spread(operand, kind.dtype, kind) for operand in node.args)
        return [e.b.same("and" if kind.dtype == BOOL else "multiply", x, y)]
    x, y = (_operand(e, node, number) for number in (0, 1))
    return [_as(e, _product(e, x, y, (x.rank - 1, max(y.rank - 2, 0)), 0), node)]


def _operand(e: Emission, node: Node, number: int) -> Val:
    """An operand in the dtype of the product; what is nobody's along the summed axis is 0."""
    operand: Operand = node.args[number]
    dtype = node.output.type.dtype
    x = e.cast(operand, I64 if dtype == BOOL else dtype)
    summed = x.rank - 1 if number == 0 else max(x.rank - 2, 0)
    return e.filled(x, operand.type, [summed], 0)


def _as(e: Emission, found: Val, node: Node) -> Val:
    """A product of bools was one of integers."""
    return e.truth(found) if node.output.type.dtype == BOOL else found


def _product(e: Emission, x: Val, y: Val, summed: tuple[int, int], batch: int) -> Val:
    left, right = summed
    y = e.fitted(y, [x.shape[left] if a == right else size for a, size in enumerate(y.shape)])
    shape = [
        *x.shape[:batch],
        *(size for axis, size in enumerate(x.shape) if axis >= batch and axis != left),
        *(size for axis, size in enumerate(y.shape) if axis >= batch and axis != right),
    ]
    axes: Sequence[int] = range(batch)
    batching = f"batching_dims = {list(axes)} x {list(axes)}, " if batch else ""
    rest = f"{batching}contracting_dims = [{left}] x [{right}]"
    return e.b.op("dot_general", [x, y], x.dtype, shape, rest)


# ---------------------------------------------------------------- einsum


def einsum(e: Emission, node: Node) -> list[Val]:
    """From left to right: what only one operand has is summed first, products do the rest."""
    kind = node.output.type
    inputs, output = node.arg("subscripts").split("->")
    labels = inputs.split(",")
    if any(len(set(each)) < len(each) for each in labels):
        raise Unsayable("einsum along a diagonal")
    if any(e.changing(x.type) for x in node.args[0]) or kind.dtype == BOOL:
        raise Unsayable("einsum of arrays of which the sizes change, or of bools")
    terms = [(e.cast(x, kind.dtype), names) for x, names in zip(node.args[0], labels, strict=True)]
    while len(terms) > 1:
        (x, left), (y, right), *rest = terms
        kept = output + "".join(names for _, names in rest)
        terms = [_joined(e, (x, left), (y, right), kept), *rest]
    x, names = _summed(e, *terms[0], output)
    found = e.transpose(x, [names.index(label) for label in output])
    return [e.broadcast(found, e.held(kind))]


def _summed(e: Emission, x: Val, names: str, kept: str) -> tuple[Val, str]:
    """The sum over axes that nobody needs."""
    axes = [axis for axis, label in enumerate(names) if label not in kept]
    if axes:
        x = e.b.reduce(x, e.b.scalar(0, x.dtype), "add", axes)
    return x, "".join(label for label in names if label in kept)


def _joined(
    e: Emission, first: tuple[Val, str], second: tuple[Val, str], kept: str
) -> tuple[Val, str]:
    """The product of two terms, with the axes that ``kept`` has."""
    x, left = _summed(e, *first, kept + second[1])
    y, right = _summed(e, *second, kept + left)
    batch = [label for label in left if label in right and label in kept]
    summed = [label for label in left if label in right and label not in kept]
    sizes = {**dict(zip(right, y.shape, strict=True)), **dict(zip(left, x.shape, strict=True))}
    for label, size in zip(right, y.shape, strict=True):  # an axis of size 1 is broadcast
        if sizes[label] == 1:
            sizes[label] = size
    x = e.broadcast(x, [sizes[label] for label in left])
    y = e.broadcast(y, [sizes[label] for label in right])
    names = [*batch, *(c for c in left if c not in right), *(c for c in right if c not in left)]
    pairs = [
        f"{word}_dims = {[left.index(c) for c in axes]} x {[right.index(c) for c in axes]}"
        for word, axes in (("batching", batch), ("contracting", summed))
        if axes or word == "contracting"
    ]
    shape = [sizes[label] for label in names]
    return e.b.op("dot_general", [x, y], x.dtype, shape, ", ".join(pairs)), "".join(names)


EMITTERS = {"matmul": matmul, "dot": dot, "einsum": einsum}
