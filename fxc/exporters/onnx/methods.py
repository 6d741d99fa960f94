"""Methods of ufuncs: running results, and reductions with a start and a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.graph import Node
from fxc.ops.foreign_ufuncs import ufunc_named

from . import arithmetic, elementary
from .arithmetic import truth
from .emitter import OnnxEmitter
from .kernels import BOOL, FLOAT16, INT64
from .pointwise import given
from .reductions import extreme, reduced
from .tensors import Tensor
from .views import expanded, from_front, reshaped, to_front
from .writer import ModelWriter

_FUNCTIONS = {**arithmetic.EXACT, **elementary.ROUNDED}


def _accumulate(w: ModelWriter, node: Node) -> Tensor:
    """In a loop along the axis. The first result is the first element."""
    kind = node.output.type
    axis = node.arg("axis") % kind.rank
    function = _FUNCTIONS[node.arg("ufunc")]
    front = to_front(w, given(w, node.args[0], kind.dtype), axis, kind.rank)
    turn = w.tensor("turn", INT64, is_number=True)
    going = w.tensor("going", BOOL, is_number=True)
    before = w.tensor("before", kind.dtype)
    with w.body() as scope:
        element = w.op("Gather", (front, turn), kind.dtype, axis=0)
        now = w.where(turn.equal(0), element, function(before, element))
    body = w.finish(scope, (turn, going, before), (w.constant(True), now, now))
    rest = w.op("Shape", (front,), INT64, start=1)
    start = w.op("ConstantOfShape", (rest,), kind.dtype, value=np.zeros(1, kind.dtype))
    loop = (w.size_of(front, 0), None, start)
    _, found = w.calls("Loop", loop, (kind.dtype, kind.dtype), body=body)
    order = [kind.shape[axis], *(dim for place, dim in enumerate(kind.shape) if place != axis)]
    return from_front(w, reshaped(w, found, order), axis, kind.rank)


def _accumulate_problem(node: Node) -> str | None:
    ufunc, dtype, kind = node.arg("ufunc"), node.output.type.dtype, node.args[0].type
    if ufunc not in _FUNCTIONS or not kind.rank:
        return f"it has no {ufunc}.accumulate"
    is_cut = node.arg("result") is not None and kind.dtype != dtype
    if is_cut or not _is_closed(ufunc, dtype) or dtype == FLOAT16:
        return f"it has no {ufunc}.accumulate to {dtype}"
    return None


def _is_closed(ufunc: str, dtype: np.dtype) -> bool:
    """Whether the function gives numbers of the dtype that it is given."""
    function: Any = ufunc_named(ufunc)
    found: tuple[np.dtype, ...] = function.resolve_dtypes((dtype, dtype, None))
    return set(found) == {dtype}


_KINDS = {
    "add": "ReduceSum",
    "multiply": "ReduceProd",
    "maximum": "ReduceMax",
    "minimum": "ReduceMin",
}


def _reduce(w: ModelWriter, node: Node) -> Tensor:
    x, start, mask = node.args[:3]
    kind, dtype, ufunc = x.type, node.output.type.dtype, node.arg("ufunc")
    first = None if start is None else given(w, start, dtype)
    numbers = given(w, x, dtype)
    if mask is not None:
        neutral = first
        if ufunc in ("add", "multiply"):
            neutral = w.constant(0 if ufunc == "add" else 1, dtype)
        assert neutral is not None
        numbers = w.where(truth(w.value(mask)), numbers, neutral)
        numbers = expanded(w, numbers, kind.shape)
    axes, keepdims = node.arg("axis"), node.arg("keepdims")
    if ufunc in ("maximum", "minimum"):
        found = extreme(w, _KINDS[ufunc], numbers, axes, keepdims)
    else:
        found = reduced(w, _KINDS[ufunc], numbers, axes, keepdims)
    return found if first is None else _FUNCTIONS[ufunc](first, found)


def _reduce_problem(node: Node) -> str | None:
    ufunc, dtype, kind = node.arg("ufunc"), node.output.type.dtype, node.args[0].type
    if ufunc not in _KINDS or not kind.rank:
        return f"it has no {ufunc}.reduce"
    if node.arg("result") is not None or not _is_closed(ufunc, dtype) or dtype in (FLOAT16, BOOL):
        return f"it has no {ufunc}.reduce to {dtype}"
    return None


EMITTERS: dict[str, OnnxEmitter] = {
    "ufunc_accumulate": OnnxEmitter(_accumulate, exact=False, problem=_accumulate_problem),
    "ufunc_reduce": OnnxEmitter(_reduce, exact=False, problem=_reduce_problem),
}
