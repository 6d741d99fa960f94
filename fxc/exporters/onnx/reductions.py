"""Reductions, scans, products of matrices, sorting, joining."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.graph import Node
from fxc.ir.symbols import product

from .arithmetic import is_nan, truth
from .emitter import OnnxEmitter, Write
from .kernels import BOOL, FLOAT16, FLOAT32, INT64, carrier
from .pointwise import given
from .tensors import Tensor
from .views import from_front, reshaped, to_front, transposed
from .writer import ModelWriter

_UINT64 = np.dtype(np.uint64)
_LEAST = -(2**63)

Axes = Sequence[int] | None


def reduced(w: ModelWriter, kind: str, x: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    """A reduction over some axes, or all."""
    if axes is not None and not axes:
        return x
    dtype = x.dtype
    working = carrier(kind, dtype)
    over = None if axes is None else w.ints(*axes)
    found = w.op(kind, (w.cast(x, working), over), working, keepdims=int(keepdims))
    return w.cast(found, dtype)


def _summed(kind: str) -> Write:
    """In another order than NumPy's."""

    def write(w: ModelWriter, node: Node) -> Tensor:
        x, dtype = node.args[0], node.output.type.dtype
        found = given(w, x, FLOAT32 if dtype == FLOAT16 else dtype)
        if dtype == BOOL:
            found = w.cast(found, INT64)
        if x.type.rank:
            found = reduced(w, kind, found, node.arg("axis"), node.arg("keepdims"))
        return truth(found) if dtype == BOOL else w.cast(found, dtype)

    return write


def ordered(w: ModelWriter, x: Tensor) -> Tensor:
    """Numbers that are in the same order, of a dtype that can be compared in reductions."""
    if x.dtype == _UINT64:
        return w.cast(x, INT64) + _LEAST
    return w.cast(x, carrier("ReduceMax", x.dtype))


def _from_ordered(w: ModelWriter, x: Tensor, dtype: np.dtype) -> Tensor:
    if dtype == _UINT64:
        return w.cast(x - w.constant(_LEAST, INT64), dtype)
    return w.cast(x, dtype)


def _any_nan(w: ModelWriter, x: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    return truth(reduced(w, "ReduceMax", w.cast(is_nan(x), INT64), axes, keepdims))


def extreme(w: ModelWriter, kind: str, x: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    """The largest or the smallest; nan, if there is one."""
    numbers = ordered(w, x)
    found = reduced(w, kind, numbers, axes, keepdims)
    if x.dtype.kind == "f":
        found = w.where(_any_nan(w, numbers, axes, keepdims), np.nan, found)
    return _from_ordered(w, found, x.dtype)


def _extreme(kind: str) -> Write:
    def write(w: ModelWriter, node: Node) -> Tensor:
        x, axes, keepdims = node.args
        return extreme(w, kind, w.value(x), axes, keepdims) if x.type.rank else w.value(x)

    return write


def _holding(of_all: bool) -> Write:
    def write(w: ModelWriter, node: Node) -> Tensor:
        x, axes, keepdims = node.args
        holds = truth(w.value(x))
        if not x.type.rank or axes == ():
            return holds
        counted = w.cast(~holds if of_all else holds, INT64)
        found = reduced(w, "ReduceSum", counted, axes, keepdims)
        return found.equal(0) if of_all else ~found.equal(0)

    return write


def _place(kind: str) -> Write:
    """The first place of the largest or the smallest, or of nan."""

    def write(w: ModelWriter, node: Node) -> Tensor:
        x, axis, keepdims = node.args
        numbers = ordered(w, w.value(x))
        if axis is None or not x.type.rank:
            numbers = w.op("Reshape", (numbers, w.ints(-1)), numbers.dtype)
        options = {"axis": 0 if axis is None else axis, "keepdims": int(keepdims)}
        if axis is None or not x.type.rank:
            options["keepdims"] = 0
        found = w.op(kind, (numbers,), INT64, **options)
        if numbers.dtype.kind == "f":
            nans = w.cast(is_nan(numbers), INT64)
            first = w.op("ArgMax", (nans,), INT64, **options)
            over = None if axis is None or not x.type.rank else (axis,)
            exists = _any_nan(w, numbers, over, bool(options["keepdims"]))
            found = w.where(exists, first, found)
        return reshaped(w, found, node.output.type.shape) if axis is None and keepdims else found

    return write


# ---------------------------------------------------------------- scans


def _line(w: ModelWriter, node: Node) -> tuple[Tensor, int]:
    """The operand in the dtype of the result, and the axis; flat where no axis is given."""
    x, axis, dtype = node.args[0], node.arg("axis"), node.output.type.dtype
    found = given(w, x, FLOAT32 if dtype == FLOAT16 else dtype)
    if axis is None or not x.type.rank:
        return w.op("Reshape", (found, w.ints(-1)), found.dtype), 0
    return found, axis % x.type.rank


def _cumsum(w: ModelWriter, node: Node) -> Tensor:
    x, axis = _line(w, node)
    working = carrier("CumSum", x.dtype)
    found = w.op("CumSum", (w.cast(x, working), w.constant(axis, INT64)), working)
    return w.cast(found, node.output.type.dtype)


def _cumprod(w: ModelWriter, node: Node) -> Tensor:
    """In a loop along the axis: onnxruntime's Scan ends the process where a size is 0."""
    x, axis = _line(w, node)
    kind = node.output.type
    working = carrier("Mul", x.dtype)
    front = to_front(w, w.cast(x, working), axis, kind.rank)
    rest = w.op("Shape", (front,), INT64, start=1)
    one = w.op("ConstantOfShape", (rest,), working, value=np.ones(1, working))
    turn = w.tensor("turn", INT64, is_number=True)
    going = w.tensor("going", BOOL, is_number=True)
    before = w.tensor("before", working)
    with w.body() as scope:
        product = before * w.op("Gather", (front, turn), working, axis=0)
    body = w.finish(scope, (turn, going, before), (w.constant(True), product, product))
    count = w.size_of(front, 0)
    _, found = w.calls("Loop", (count, None, one), (working, working), body=body)
    order = [kind.shape[axis], *(dim for place, dim in enumerate(kind.shape) if place != axis)]
    found = reshaped(w, found, order)  # where there was no turn nobody knows the sizes
    return w.cast(from_front(w, found, axis, kind.rank), kind.dtype)


# ---------------------------------------------------------------- contractions


def _products(w: ModelWriter, x: Tensor, y: Tensor, node: Node) -> Tensor:
    """Products of matrices. A vector on the right is a column: onnxruntime 1.32 makes one node of a
    transposition and a product, which takes a vector for another matrix.
    """
    dtype, ranks = node.output.type.dtype, [each.type.rank for each in node.args]
    working = carrier("MatMul", INT64 if dtype == BOOL else dtype)
    left, right = w.cast(x, working), w.cast(y, working)
    is_column = ranks[0] > 1 and ranks[1] == 1
    if is_column:
        right = w.op("Unsqueeze", (right, w.ints(1)), working)
    found = w.op("MatMul", (left, right), working)
    if is_column:
        found = w.op("Squeeze", (found, w.ints(-1)), working)
    return truth(found) if dtype == BOOL else w.cast(found, dtype)


def _matmul(w: ModelWriter, node: Node) -> Tensor:
    dtype = node.output.type.dtype
    x, y = (given(w, operand, dtype) for operand in node.args)
    return _products(w, x, y, node)


def _dot(w: ModelWriter, node: Node) -> Tensor:
    dtype = node.output.type.dtype
    left, right = node.args
    x, y = (given(w, operand, dtype) for operand in node.args)
    if not left.type.rank or not right.type.rank:
        return x & y if dtype == BOOL else x * y
    if right.type.rank <= 2:
        return _products(w, x, y, node)
    rank = right.type.rank
    order = [rank - 2, *range(rank - 2), rank - 1]
    *others, rows, columns = right.type.shape
    flat = reshaped(w, transposed(w, y, order), (rows, product(others) * columns))
    return reshaped(w, _products(w, x, flat, node), node.output.type.shape)


def _einsum(w: ModelWriter, node: Node) -> Tensor:
    dtype = node.output.type.dtype
    working = carrier("Einsum", dtype)
    xs = [given(w, x, working) for x in node.arg("xs")]
    equation = node.arg("subscripts")
    return w.cast(w.op("Einsum", xs, working, equation=equation), dtype)


def _einsum_problem(node: Node) -> str | None:
    return "it has no einsum of booleans" if node.output.type.dtype == BOOL else None


# ---------------------------------------------------------------- joining


def _concatenate(w: ModelWriter, node: Node) -> Tensor:
    dtype, axis = node.output.type.dtype, node.arg("axis")
    xs = [given(w, x, dtype) for x in node.arg("xs")]
    if axis is None:
        xs = [w.op("Reshape", (x, w.ints(-1)), dtype) for x in xs]
    return w.joined(xs, 0 if axis is None else axis)


EMITTERS: dict[str, OnnxEmitter] = {
    "sum": OnnxEmitter(_summed("ReduceSum"), exact=False),
    "prod": OnnxEmitter(_summed("ReduceProd"), exact=False),
    "max": OnnxEmitter(_extreme("ReduceMax")),
    "min": OnnxEmitter(_extreme("ReduceMin")),
    "any": OnnxEmitter(_holding(of_all=False)),
    "all": OnnxEmitter(_holding(of_all=True)),
    "argmax": OnnxEmitter(_place("ArgMax")),
    "argmin": OnnxEmitter(_place("ArgMin")),
    "cumsum": OnnxEmitter(_cumsum),
    "cumprod": OnnxEmitter(_cumprod),
    "concatenate": OnnxEmitter(_concatenate),
    "matmul": OnnxEmitter(_matmul, exact=False),
    "dot": OnnxEmitter(_dot, exact=False),
    "einsum": OnnxEmitter(_einsum, exact=False, problem=_einsum_problem),
}
