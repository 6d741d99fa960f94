"""New arrays by shape and content."""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Node
from fxc.ir.symbols import Dim

from .emitter import OnnxEmitter, Write
from .kernels import INT64
from .pointwise import given
from .tensors import Tensor
from .views import counted, expanded
from .writer import ModelWriter


def _filled(number: int) -> Write:
    def write(w: ModelWriter, node: Node) -> Tensor:
        dtype = node.output.type.dtype
        shape = w.sizes(node.arg("shape"))
        return w.op("ConstantOfShape", (shape,), dtype, value=np.full(1, number, dtype))

    return write


def _full(w: ModelWriter, node: Node) -> Tensor:
    value = given(w, node.arg("value"), node.output.type.dtype)
    return expanded(w, value, node.arg("shape"))


def _arange(w: ModelWriter, node: Node) -> Tensor:
    """NumPy's recipe: the first two elements are sums, the others follow from these."""
    dtype = node.output.type.dtype
    length: Dim = node.arg("length")
    places = counted(w, w.size(length))
    start, step = node.arg("start"), node.arg("step")
    first = given(w, start, dtype)
    working = np.result_type(start.type.dtype, step.type.dtype)
    second = w.cast(given(w, start, working) + given(w, step, working), dtype)
    delta = second - first
    numbers = first + w.cast(places, dtype) * delta
    if dtype.kind != "f":
        return numbers
    return w.where(places.equal(0), first, w.where(places.equal(1), second, numbers))


def _constant(w: ModelWriter, node: Node) -> Tensor:
    return w.constant(node.arg("value").array())


def _int_value(w: ModelWriter, node: Node) -> Tensor:
    return w.size(node.arg("value"))


def _bind_size(w: ModelWriter, node: Node) -> Tensor:
    return w.cast(w.value(node.arg("number")), INT64)


EMITTERS: dict[str, OnnxEmitter] = {
    "zeros": OnnxEmitter(_filled(0)),
    "empty": OnnxEmitter(_filled(0)),
    "ones": OnnxEmitter(_filled(1)),
    "full": OnnxEmitter(_full),
    "arange": OnnxEmitter(_arange),
    "constant": OnnxEmitter(_constant),
    "int_value": OnnxEmitter(_int_value),
    "bind_size": OnnxEmitter(_bind_size),
}
