"""Elementwise operators: each in the dtypes of NumPy's own loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Node, Operand
from fxc.ops.table import TABLE

from . import arithmetic, elementary
from .arithmetic import Function, truth
from .emitter import OnnxEmitter, Write
from .kernels import FLOAT16, FLOAT32, INT64
from .tensors import Tensor
from .writer import ModelWriter


def loop_of(node: Node) -> tuple[np.dtype, ...]:
    """The dtypes of operands and results that NumPy computes in."""
    function: Any = TABLE[node.op].numpy
    kinds = [x.type for x in node.args]
    all_weak = all(kind.weak for kind in kinds)
    operands = [kind.dtype if all_weak else kind.in_loops for kind in kinds]
    found: tuple[np.dtype, ...] = function.resolve_dtypes((*operands, *(None,) * function.nout))
    return found


def given(w: ModelWriter, operand: Operand, dtype: np.dtype) -> Tensor:
    """An operand as another dtype."""
    if isinstance(operand, Literal):
        with np.errstate(all="ignore"):
            return w.constant(np.asarray(operand.value).astype(dtype))
    return w.cast(w.value(operand), dtype)


def by_loop(function: Function) -> Write:
    """As a function of operands in the dtypes of the loop; of float16 in float32, and rounded."""

    def write(w: ModelWriter, node: Node) -> Tensor:
        *dtypes, _ = loop_of(node)
        working = [FLOAT32 if dtype == FLOAT16 else dtype for dtype in dtypes]
        found = function(*map(given, [w] * len(working), node.args, working))
        return w.cast(found, node.output.type.dtype)

    return write


def _power(w: ModelWriter, node: Node) -> Tensor:
    *dtypes, _ = loop_of(node)
    if dtypes[0].kind in "iu":
        exponent = given(w, node.args[1], dtypes[1])
        if dtypes[1].kind == "i":
            w.require(exponent >= 0, node.args[1].type.rank)
    return by_loop(elementary.power)(w, node)  # type: ignore[return-value]


def _cosine(w: ModelWriter, node: Node) -> Tensor:
    return elementary.ROUNDED["cos"](given(w, node.args[0], node.output.type.dtype))


def _where(w: ModelWriter, node: Node) -> Tensor:
    condition, x, y = node.args
    dtype = node.output.type.dtype
    return w.where(truth(w.value(condition)), given(w, x, dtype), given(w, y, dtype))


def _astype(w: ModelWriter, node: Node) -> Tensor:
    x = w.value(node.args[0])
    dtype = node.output.type.dtype
    if dtype.kind in "iu" and x.dtype.kind == "f" and dtype.itemsize < 8:
        return w.cast(w.cast(x, INT64), dtype)  # as processors do it: the low bits
    return w.cast(x, dtype)


def _same(w: ModelWriter, node: Node) -> Tensor:
    return given(w, node.args[0], node.output.type.dtype)


def _reinterpret_problem(node: Node) -> str | None:
    before, after = node.args[0].type.dtype, node.output.type.dtype
    if before == after or (before.kind in "iu" and after.kind in "iu"):
        return None
    return f"it has no way to see the bits of {before} as {after}"


def _modf(w: ModelWriter, node: Node) -> tuple[Tensor, ...]:
    dtype = node.outputs[0].type.dtype
    x = given(w, node.args[0], FLOAT32 if dtype == FLOAT16 else dtype)
    whole = arithmetic.trunc(x)
    rest = w.choose(arithmetic.is_inf(x), 0.0, x - whole)
    return w.cast(arithmetic.copysign(rest, x), dtype), w.cast(whole, dtype)


EMITTERS: dict[str, OnnxEmitter] = {
    **{name: OnnxEmitter(by_loop(function)) for name, function in arithmetic.EXACT.items()},
    **{name: OnnxEmitter(by_loop(f), exact=False) for name, f in elementary.ROUNDED.items()},
    "cosine": OnnxEmitter(_cosine, exact=False),
    "power": OnnxEmitter(_power, exact=False),
    "where": OnnxEmitter(_where),
    "astype": OnnxEmitter(_astype),
    "copy": OnnxEmitter(_same),
    "item": OnnxEmitter(_same),
    "reinterpret": OnnxEmitter(_same, problem=_reinterpret_problem),
    "bitcast_copy": OnnxEmitter(_same, problem=_reinterpret_problem),
    "modf": OnnxEmitter(_modf),
}
