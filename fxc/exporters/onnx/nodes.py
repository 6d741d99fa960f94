"""The emitters of all operators that ONNX can say."""

from __future__ import annotations

from functools import cache

from fxc.ir.graph import Node, operands_of
from fxc.ops.operators import Operator

from . import (
    control,
    factories,
    indexed,
    library,
    linear,
    methods,
    pointwise,
    python_numbers,
    reductions,
    sorting,
    views,
)
from .emitter import OnnxEmitter
from .kernels import is_known
from .tensors import Tensor
from .writer import ModelWriter


@cache
def emitters() -> dict[str, OnnxEmitter]:
    """The emitter of each operator that ONNX can say."""
    rooms = (
        pointwise,
        python_numbers,
        views,
        indexed,
        factories,
        reductions,
        sorting,
        linear,
        library,
        methods,
        control,
    )
    return {name: emitter for room in rooms for name, emitter in room.EMITTERS.items()}


def emitter_of(op: Operator) -> OnnxEmitter | None:
    return emitters().get(op.name)


def problem(node: Node) -> str | None:
    """Why a node cannot be written although its operator can."""
    kinds = [x.type for arg in node.args for x in operands_of(arg)]
    kinds += [value.type for value in node.outputs]
    for kind in kinds:
        if not is_known(kind.dtype):
            return f"its operators take no {kind.dtype}"
    return emitters()[node.op].problem(node)


def new_writer() -> ModelWriter:
    """A writer of nodes by their emitters."""

    def emit(w: ModelWriter, node: Node) -> tuple[Tensor, ...]:
        found = emitters()[node.op].write(w, node)
        return found if isinstance(found, tuple) else (found,)

    return ModelWriter(emit)
