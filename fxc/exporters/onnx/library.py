"""Functions of NumPy's library that are several steps."""

from __future__ import annotations

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.graph import Literal, Node, Operand
from fxc.ir.symbols import Dim, product

from .arithmetic import is_nan
from .emitter import OnnxEmitter
from .kernels import FLOAT16, FLOAT64, INT64
from .pointwise import given
from .sorting import in_order, searched
from .tensors import Tensor
from .views import expanded
from .writer import ModelWriter


def _flat(w: ModelWriter, x: Tensor) -> Tensor:
    return w.op("Reshape", (x, w.ints(-1)), x.dtype)


def _picked(w: ModelWriter, line: Tensor, places: Tensor) -> Tensor:
    return w.op("Gather", (line, places), line.dtype, axis=0)


# ---------------------------------------------------------------- members


def _isin(w: ModelWriter, node: Node) -> Tensor:
    """Each is looked for among the sorted ones; nan is none of them."""
    x, y = node.args[:2]
    common = np.result_type(x.type.dtype, y.type.dtype)
    wanted = given(w, x, common)
    line = in_order(w, _flat(w, given(w, y, common)), 0)
    count = w.size_of(line, 0)
    place = searched(w, line, wanted, right=False)
    spare = w.joined([line, w.constant(np.zeros(1, common))])
    found = (place < count) & _picked(w, spare, place).equal(wanted)
    return ~found if node.arg("invert") else found


def _isin_problem(node: Node) -> str | None:
    kinds = [x.type.dtype for x in node.args[:2]]
    common = np.result_type(*kinds)
    if any(isinstance(x, Literal) or x.type.weak for x in node.args[:2]):
        return "it looks for elements of arrays only"
    return None if common in kinds and common != FLOAT16 else f"it compares no {common}"


# ---------------------------------------------------------------- counts


def _counted(w: ModelWriter, node: Node, bins: Tensor) -> Tensor:
    """Added up one after the other into so many bins."""
    x, weights = node.args[:2]
    dtype = node.outputs[0].type.dtype
    places = w.cast(w.value(x), INT64)
    fits = (places >= 0) & (places < bins)
    w.require(fits, 1)
    places = w.where(fits, places, 0)
    empty = w.op("ConstantOfShape", (w.listed(bins),), dtype, value=np.zeros(1, dtype))
    if weights is None or dtype == INT64:
        more = expanded(w, w.constant(1, dtype), x.type.shape)
    else:
        more = given(w, weights, dtype)
    return w.op("ScatterElements", (empty, places, more), dtype, axis=0, reduction="add")


def _bincount(w: ModelWriter, node: Node) -> Tensor:
    return _counted(w, node, w.size(node.arg("minlength")))


def _bincount_all(w: ModelWriter, node: Node) -> tuple[Tensor, ...]:
    places = w.joined([w.cast(w.value(node.args[0]), INT64), w.ints(-1)])
    bins = w.op("ReduceMax", (places, None), INT64, keepdims=0) + 1
    w.require(bins <= w.size(node.arg("most")))
    return (_counted(w, node, bins),)


# ---------------------------------------------------------------- between samples


def _interp(w: ModelWriter, node: Node) -> Tensor:
    """As NumPy's loop: by the slope from the left, from the right if that gives nan."""
    wanted, xs, ys = (given(w, x, FLOAT64) for x in node.args[:3])
    left, right = node.args[3:5]
    count = w.size_of(xs, 0)
    last = count - 1
    after = searched(w, xs, wanted, right=True)
    place = w.same("Max", after - 1, w.constant(0, INT64))
    following = w.same("Min", place + 1, last)
    x0, x1 = _picked(w, xs, place), _picked(w, xs, following)
    y0, y1 = _picked(w, ys, place), _picked(w, ys, following)
    slope = (y1 - y0) / (x1 - x0)
    found = slope * (wanted - x0) + y0
    again = slope * (wanted - x1) + y1
    again = w.where(is_nan(again) & y0.equal(y1), y0, again)
    found = w.where(is_nan(found), again, found)
    found = w.where(x0.equal(wanted) | place.equal(last), y0, found)
    ends = [
        _picked(w, ys, at) if end is None else given(w, end, FLOAT64)
        for end, at in ((left, w.constant(0, INT64)), (right, last))
    ]
    found = w.where(after.equal(0), ends[0], found)
    found = w.where(wanted > _picked(w, xs, last), ends[1], found)
    return w.where(is_nan(wanted), wanted, found)


def _interp_problem(node: Node) -> str | None:
    if node.arg("period") is not None:
        return "it interpolates without a period only"
    return _unless_some(node.args[1].type.shape[0])


def _unless_some(*dims: Dim) -> str | None:
    if all(decide(dim, ">", 0) for dim in dims):
        return None
    return "nothing says that there is an element"


# ---------------------------------------------------------------- medians


def _median(w: ModelWriter, node: Node) -> Tensor:
    """The mean of the two in the middle; nan, if there is one."""
    x, axis = node.args
    dtype = node.output.type.dtype
    numbers, length = _line_of(w, x, dtype, axis)
    place = 0 if axis is None else axis % x.type.rank
    line = in_order(w, numbers, place)
    middle = (w.size(length) - 1) / 2
    other = w.size(length) / 2
    low, high = (w.op("Gather", (line, each), dtype, axis=place) for each in (middle, other))
    found = w.where(middle.equal(other), low, (low + high) / 2)
    last = w.op("Gather", (line, w.size(length) - 1), dtype, axis=place)
    return w.where(is_nan(last), np.nan, found)


def _line_of(w: ModelWriter, x: Operand, dtype: np.dtype, axis: int | None) -> tuple[Tensor, Dim]:
    numbers = given(w, x, dtype)
    if axis is None:
        return _flat(w, numbers), product(x.type.shape)
    return numbers, x.type.shape[axis]


def _median_problem(node: Node) -> str | None:
    if not node.args[0].type.rank or node.output.type.dtype == FLOAT16:
        return "it has no median of such numbers"
    return _unless_some(*node.args[0].type.shape)


EMITTERS: dict[str, OnnxEmitter] = {
    "isin": OnnxEmitter(_isin, problem=_isin_problem),
    "bincount": OnnxEmitter(_bincount),
    "bincount_all": OnnxEmitter(_bincount_all),
    "interp": OnnxEmitter(_interp, problem=_interp_problem),
    "median": OnnxEmitter(_median, problem=_median_problem),
}
